"""Untrusted regular expressions, from users and files: bounded in memory and in time.

They are run by the `regex` module, which has timeouts; the standard library's `re` has none. Nothing else in this
project compiles an expression that is not its own.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import process_time
from typing import Final, TypeVar

import regex

from bpe_core.errors import PatternError
from bpe_core.visible import visible

MOST_CHARACTERS: Final = 20_000
"""With the least number of each repetition written out (`a{9}` counts as nine); compiling this much takes half a second
and 30 MB. The longest published expression has some hundreds."""

_PARTS: Final = re.compile(
    r"""
    (?P<call> \(\?(?:R|[+-]?\d+|&\w+|P>\w+)\))     # the whole, or a group of it, again
    | (?P<open> \()
    | (?P<close> \))
    | \{\s*(?P<least>\d+)\s*(?:,\s*\d*\s*)?\}
    | (?P<atom> \\. | \[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\] | .)
    """,
    re.VERBOSE | re.DOTALL,
)
T = TypeVar("T")


_budget: ContextVar[list[float] | None] = ContextVar(
    "patience", default=None
)  # [seconds granted, seconds left]


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """A context in which all untrusted expressions together may run for `seconds` of the processor's time, which only
    they spend; then they raise `PatternError`. Inside another `patience` this one has no effect."""
    outside = _budget.get()
    try:  # before it is set: an interrupt as soon as it is would leave what has been used up in force
        _budget.set(outside or [seconds, seconds])
        yield
    finally:
        _budget.set(outside)


def enough_for(n_characters: int) -> float:
    """The usual budget, in seconds, for a text of so many characters: fifty times what a usual pattern needs."""
    return 2.0 + n_characters / 100_000


class Expression:
    """An untrusted regular expression, compiled; a call that takes longer than `patience` raises `PatternError`."""

    def __init__(self, source: str, what: str = "split pattern") -> None:
        """`what` names it in errors. `PatternError` if it is invalid, calls groups, or exceeds `MOST_CHARACTERS`."""
        self.source: Final = source
        self._what: Final = what
        if (problem := _too_much(source)) is not None:
            raise PatternError(f"The {what} {problem}.")
        try:
            with warnings.catch_warnings(
                action="ignore"
            ):  # a future meaning of "[[" is no concern of who types it
                self._compiled: Final = regex.compile(source, cache_pattern=False)
        except (
            regex.error,
            RecursionError,
            OverflowError,
            MemoryError,
            ValueError,
        ) as error:
            reason = visible(
                str(
                    getattr(error, "msg", None)
                    or "it is too large or too deeply nested"
                )
            )
            place = "; correct it"
            if (position := getattr(error, "pos", None)) is not None:
                around = visible(source[max(0, position - 20) : position + 20])
                place = (
                    f" at character {position + 1}, near '{around}'; correct it there"
                )
            raise PatternError(
                f"The {what} is not a valid regular expression: {reason}{place}."
            ) from None
        self.has_groups: Final = self._compiled.groups > 0

    def findall(self, text: str) -> list[str]:
        """The texts of all matches, in order; only for an expression without groups."""
        return self._run(
            lambda seconds: self._compiled.findall(text, timeout=seconds), text
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of all matches in code points, ascending."""
        find = self._compiled.finditer
        spans = self._run(
            lambda seconds: [match.span() for match in find(text, timeout=seconds)],
            text,
        )
        return sorted(spans)  # with (?r) the last one is found first

    def _run(self, find: Callable[[float], T], text: str) -> T:
        """`find(seconds)`, with the seconds left of the budget in force, or with the usual ones for `text`."""
        budget = _budget.get() or [enough_for(len(text))] * 2
        begin = (
            process_time()
        )  # which regex, too, goes by: a process that waits for its turn is not slow
        try:
            if budget[1] > 0:
                return find(budget[1])
        except TimeoutError:
            pass
        except MemoryError:
            problem = (
                f"needs too much memory on {len(text):,} characters; make it simpler"
            )
            raise PatternError(f"The {self._what} {problem}.") from None
        finally:
            budget[1] -= process_time() - begin
        raise PatternError(
            f"The {self._what} took more than {budget[0]:.1f} s on {len(text):,} characters: it tries too many "
            "ways to match (nested or neighboring repetitions of the same characters); make it simpler."
        )


def _too_much(source: str) -> str | None:
    """What is refused about an expression, as a part of a sentence; None if nothing is."""
    sums, last = [0], 0
    for found in _PARTS.finditer(source):
        match found.lastgroup:
            case "call":
                return f"may not call itself or a group of its own, as {visible(found[0])} does: write the group out"
            case "open":
                sums.append(0)
                continue
            case "close":
                last = sums.pop() + 1 if len(sums) > 1 else 1
            case "atom":
                last = len(found[0])
            case "least":
                more = (
                    max(int(found["least"]) - 1, 0)
                    if len(found["least"]) < 12
                    else MOST_CHARACTERS
                )
                sums[-1] += last * more
                last += last * more
                continue
        sums[-1] += last
    size = f"with its least repetitions written out it has {sum(sums):,} characters or more"
    problem = f"is too large: {size}, and {MOST_CHARACTERS:,} is the most; ask for fewer repetitions"
    return problem if sum(sums) > MOST_CHARACTERS else None
