"""Patience: how long the expressions that people and files bring along may take before they are given up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Final, TypeVar

from bpe_core.errors import PatternError

PATIENCE: Final = 2.0
"""Seconds that an expression may take on a short text where nobody has said otherwise."""

_CHARACTERS_A_SECOND: Final = 100_000
"""What a long text adds to that: fifty times as long as a usual pattern takes."""

T = TypeVar("T")


class _Rest:
    """What is left of somebody's patience."""

    __slots__ = ("seconds", "seconds_left")

    def __init__(self, seconds: float) -> None:
        self.seconds = self.seconds_left = seconds


_rest: ContextVar[_Rest | None] = ContextVar("patience", default=None)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Inside, all expressions together may take so many seconds; then `PatternError` is raised.

    Only their own time counts. Of one inside another, the outer one is in force: whoever waits for all of it decides.
    """
    if _rest.get() is not None:
        yield
        return
    outside = _rest.set(_Rest(seconds))
    try:
        yield
    finally:
        _rest.reset(outside)


def enough_for(n_characters: int) -> float:
    """Seconds that any reasonable expression needs far less than, for a text of so many characters."""
    return PATIENCE + n_characters / _CHARACTERS_A_SECOND


def in_time(find: Callable[[float], T], what: str, text: str) -> T:
    """What `find(seconds)` gives, which raises TimeoutError then; `what` names the expression in the `PatternError`."""
    rest = _rest.get() or _Rest(enough_for(len(text)))
    begin = perf_counter()
    try:
        if rest.seconds_left > 0:
            return find(rest.seconds_left)
    except TimeoutError:
        pass
    finally:
        rest.seconds_left -= perf_counter() - begin
    raise PatternError(
        f"The {what} took more than {rest.seconds:.1f} s on {len(text):,} characters: it tries too many ways to "
        "match (nested or neighboring repetitions of the same characters); make it simpler or more specific."
    )
