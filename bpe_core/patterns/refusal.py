"""Why a pattern is refused: what is wrong with it, or that it takes too long."""

from collections.abc import Callable
from typing import Any, Final

from bpe_core.errors import PatternError
from bpe_core.visible import visible

PATIENCE: Final = 2.0
"""Seconds that a pattern may take on a short text before it is given up; a long text has more."""


def in_time(find: Callable[[float], list[Any]], text: str) -> list[Any]:
    """What `find(seconds)` gives; PatternError when it needs more time than any reasonable pattern would."""
    seconds = PATIENCE + len(text) / 100_000
    try:
        return find(seconds)
    except TimeoutError:
        raise PatternError(
            f"The split pattern took more than {seconds:.1f} s on {len(text):,} characters: it tries too many ways to "
            "match (nested or neighboring repetitions of the same characters); make it simpler or more specific."
        ) from None


def what_is_wrong(source: str, error: Exception) -> str:
    """The sentence for what `regex` says of a pattern."""
    position = getattr(error, "pos", None)
    reason = getattr(error, "msg", None) or "it is too large or too deeply nested"
    if position is None:
        return f"The split pattern is not a valid regular expression: {visible(str(reason))}; correct it."
    around = visible(source[max(0, position - 20) : position + 20])
    return (
        f"The split pattern is not a valid regular expression: {visible(str(reason))} at character {position + 1}, "
        f"near '{around}'; correct it there."
    )
