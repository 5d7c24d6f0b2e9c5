"""Time budgets for untrusted regular expressions, so that catastrophic backtracking ends in an error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Final, TypeVar

from bpe_core.errors import PatternError

PATIENCE: Final = 2.0
"""Seconds that an expression may take on a short text where no `patience` is in force."""

_CHARACTERS_A_SECOND: Final = 100_000
"""A text adds one second for so many characters, fifty times what a usual pattern needs."""

T = TypeVar("T")


class _Rest:
    """A budget: the seconds granted and those left."""

    __slots__ = ("seconds", "seconds_left")

    def __init__(self, seconds: float) -> None:
        self.seconds = self.seconds_left = seconds


_rest: ContextVar[_Rest | None] = ContextVar("patience", default=None)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """A context in which all untrusted expressions together may run for `seconds`; then they raise `PatternError`.

    Only the time spent in expressions counts. Inside another `patience` this one has no effect: the outer is in force.
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
    """The usual budget, in seconds, for a text of so many characters."""
    return PATIENCE + n_characters / _CHARACTERS_A_SECOND


def in_time(find: Callable[[float], T], what: str, text: str) -> T:
    """The result of `find(seconds)`, with the seconds left of the budget in force, or of the usual one for `text`.

    `find` raises TimeoutError when they are over; that becomes a `PatternError`, which calls the expression `what`.
    """
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
