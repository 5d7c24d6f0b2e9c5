"""Whether a pattern may match nothing: behind such a match, every library goes on in a way of its own."""

from bpe_core.errors import PatternError
from bpe_core.patterns import splitter
from bpe_core.patterns.automaton import Automaton
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Split
from bpe_core.patterns.syntax import NotPlain, parse


def may_match_nothing(split: Split) -> bool:
    """True unless it is plain that each match has a character; what is too involved is tried on a few texts."""
    try:
        return Automaton(parse(split.source)).matches_empty
    except (NotPlain, RecursionError):
        pass
    try:
        expression, kinds = Expression(split.source), splitter(str(split)).kinds
        texts = ("", *kinds, *(one + other for one in kinds for other in kinds))
        return any(start == end for text in texts for start, end in expression.spans(text))
    except PatternError:
        return True
