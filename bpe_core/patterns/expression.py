"""Untrusted regular expressions, from users and files: limited in memory and in time.

The `regex` module runs them, since it has timeouts; the standard library's `re` has none. Nothing else in this project
compiles an expression that is not its own.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import process_time
from typing import Final, TypeVar

import regex

from bpe_core.errors import PatternError
from bpe_core.visible import visible

MOST_CHARACTERS: Final = 20_000
"""Maximum number of characters of an expression, with the least number of each repetition written
out: `a{9}` counts as nine. Compiling this many takes half a second and 30 MB. The longest published
expression has a few hundred."""

_PARTS: Final = re.compile(
    r"""
    (?P<call> \(\?(?:R|[+-]?\d+|&\w+|P>\w+)\))     # the whole expression, or a group of it
    | (?P<open> \()
    | (?P<close> \))
    | \{\s*(?P<least>\d+)\s*(?:,\s*\d*\s*)?\}
    | (?P<atom> \\. | \[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\] | .)
    """,
    re.VERBOSE | re.DOTALL,
)
T = TypeVar("T")


@dataclass(slots=True)
class _Budget:
    """The processor time for untrusted expressions, in seconds."""

    granted: float
    left: float


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Let all untrusted expressions together run for `seconds` of processor time; then they raise `PatternError`.

    A `patience` inside another one has no effect.
    """
    outer = _budget.get()
    try:  # it is set inside, so that an interrupt can't leave the budget in place
        _budget.set(outer or _Budget(seconds, seconds))
        yield
    finally:
        _budget.set(outer)


def enough_for(n_characters: int) -> float:
    """Return the usual budget for a text, in seconds: fifty times the time that a usual pattern needs."""
    return 2.0 + n_characters / 100_000


class Expression:
    """An untrusted regular expression, compiled. A call that takes longer than `patience` raises `PatternError`."""

    def __init__(self, source: str, what: str = "split pattern") -> None:
        """Compile an expression.

        Args:
            source: The expression in the syntax of the `regex` module.
            what: The name of the expression in errors.

        Raises:
            PatternError: The expression is not valid, calls groups, or exceeds `MOST_CHARACTERS`.
        """
        self.source: Final = source
        self._what: Final = what
        problem = _reason_to_refuse(source)
        if problem:
            raise PatternError(f"The {what} {problem}.")
        try:
            # Python warns about "[[", which may get a new meaning; that is not a problem here.
            with warnings.catch_warnings(action="ignore"):
                self._compiled: Final = regex.compile(source, cache_pattern=False)
        except regex.error as error:
            raise PatternError(_invalid(what, source, error.msg, error.pos)) from None
        except (RecursionError, OverflowError, MemoryError, ValueError):
            reason = "it is too large or too deeply nested"
            raise PatternError(_invalid(what, source, reason, None)) from None
        self.has_groups: Final = self._compiled.groups > 0

    def findall(self, text: str) -> list[str]:
        """Return the texts of all matches, in order. Only for an expression without groups."""
        return self._run(
            lambda seconds: self._compiled.findall(text, timeout=seconds), text
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of all matches in code points, ascending."""

        def find(seconds: float) -> list[tuple[int, int]]:
            matches = self._compiled.finditer(text, timeout=seconds)
            return [match.span() for match in matches]

        return sorted(self._run(find, text))  # with (?r) the last match comes first

    def _run(self, find: Callable[[float], T], text: str) -> T:
        """Call `find(seconds)` with the seconds left of the budget, or with the usual seconds for `text`."""
        budget = _budget.get()
        if budget is None:
            seconds = enough_for(len(text))
            budget = _Budget(seconds, seconds)
        # Processor time, as in the regex module: a process that waits for its turn is not slow.
        start = process_time()
        try:
            if budget.left > 0:
                return find(budget.left)
        except TimeoutError:
            pass
        except MemoryError:
            raise PatternError(
                f"The {self._what} needs too much memory on {len(text):,} characters; make it simpler."
            ) from None
        finally:
            budget.left -= process_time() - start
        raise PatternError(
            f"The {self._what} took more than {budget.granted:.1f} s on {len(text):,} characters: it tries too many "
            "ways to match (nested or neighboring repetitions of the same characters); make it simpler."
        )


def _invalid(what: str, source: str, reason: str, position: int | None) -> str:
    """Return an error message about an expression that the regex module refuses."""
    advice = "; correct it"
    if position is not None:
        nearby = visible(source[max(0, position - 20) : position + 20])
        advice = f" at character {position + 1}, near '{nearby}'; correct it there"
    return f"The {what} is not a valid regular expression: {visible(reason)}{advice}."


def _reason_to_refuse(source: str) -> str:
    """Return why an expression is refused, as a part of a sentence; "" if it is accepted.

    The size of an expression counts its least repetitions as written out: (ab{3}){2} is abbbabbb and two groups.
    """
    sizes = [0]  # of the whole expression, and of each group that is open
    size_of_last = 0  # of the item that a repetition would repeat
    for part in _PARTS.finditer(source):
        match part.lastgroup:
            case "call":
                return f"may not call itself or one of its groups, as {visible(part[0])} does: write the group out"
            case "open":
                sizes.append(0)
            case "close":
                size_of_last = 1  # of the group itself, or of a ")" that closes none
                if len(sizes) > 1:
                    size_of_last += sizes.pop()
                sizes[-1] += size_of_last
            case "atom":
                size_of_last = len(part[0])
                sizes[-1] += size_of_last
            case "least":
                digits = part["least"]
                n_more = MOST_CHARACTERS
                # A number of more digits is over the limit anyway, and could take long to read.
                if len(digits) < 12:
                    n_more = max(int(digits) - 1, 0)
                added = size_of_last * n_more
                sizes[-1] += added
                size_of_last += added
    size = sum(sizes)
    if size <= MOST_CHARACTERS:
        return ""
    return (
        f"is too large: with its least repetitions written out it has {size:,} characters or more, and at most "
        f"{MOST_CHARACTERS:,} are allowed; ask for fewer repetitions"
    )
