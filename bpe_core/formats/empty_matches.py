"""Patterns with empty matches, which are not exported: libraries differ in how they continue after an empty match."""

from bpe_core.errors import PatternError
from bpe_core.patterns import splitter
from bpe_core.patterns.automaton import Automaton
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Split
from bpe_core.patterns.syntax import NotPlain, parse


def may_match_nothing(split: Split) -> bool:
    """Whether the expression can match the empty text, as far as known.

    Decided by its automaton; an expression that is not plain is tried on texts of up to two characters of its kinds.
    """
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
