"""Whether a pattern may match nothing: behind such a match, every library goes on in a way of its own."""

from bpe_core.errors import PatternError
from bpe_core.patterns import Splitter
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.syntax import Atomic, Chain, Chars, Choice, End, Look, Node, NotPlain, Repeat, parse


def may_match_nothing(splitter: Splitter) -> bool:
    """True unless it is plain that each match has a character; what is too involved is tried on a few texts."""
    try:
        return _least(parse(splitter.source)) == 0
    except (NotPlain, RecursionError):
        pass
    try:
        expression = Expression(splitter.source)
        kinds = splitter.kinds
        texts = ("", *kinds, *(one + other for one in kinds for other in kinds))
        return any(start == end for text in texts for start, end in expression.spans(text))
    except PatternError:
        return True


def _least(node: Node) -> int:
    """Characters of the shortest match."""
    match node:
        case Chars():
            return 1
        case Chain(items):
            return sum(map(_least, items))
        case Choice(options):
            return min(map(_least, options))
        case Repeat(item, least):
            return least * _least(item)
        case Atomic(item):
            return _least(item)
        case Look() | End():
            return 0
