"""Untrusted regular expressions, from users and files: bounded in memory and in time.

They are run by the `regex` module, which has timeouts; the standard library's `re` has none. Nothing else in this
project compiles an expression that is not its own.
"""

import re
import warnings
from typing import Any, Final

import regex

from bpe_core.errors import PatternError
from bpe_core.patterns.patience import in_time
from bpe_core.visible import visible

MOST_CHARACTERS: Final = 20_000
"""The longest expression, in characters, with the least number of each repetition written out (`a{9}` counts as nine);
compiling this much takes half a second and 30 MB. The longest published one has some hundreds."""

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


class Expression:
    """An untrusted regular expression, compiled; every call is bounded in time, see `bpe_core.patterns.patience`."""

    __slots__ = ("_compiled", "_what")

    def __init__(self, source: str, what: str = "split pattern") -> None:
        """`what` names it in errors. `PatternError` if `source` is not valid, calls groups, or exceeds
        `MOST_CHARACTERS`."""
        self._what: Final = what
        if (problem := _too_much(source)) is not None:
            raise PatternError(f"The {what} {problem}.")
        try:
            with warnings.catch_warnings(action="ignore"):  # a future meaning of "[[" is no concern of who types it
                self._compiled: Final = regex.compile(source, cache_pattern=False)
        except (regex.error, RecursionError, OverflowError, MemoryError, ValueError) as error:
            raise PatternError(f"The {what} {_what_is_wrong(source, error)}") from None

    @property
    def source(self) -> str:
        """The expression as it was given."""
        return str(self._compiled.pattern)

    @property
    def has_groups(self) -> bool:
        """Whether it has capturing groups."""
        return bool(self._compiled.groups)

    def findall(self, text: str) -> list[str]:
        """The texts of all matches, in order; only for an expression without groups. `PatternError` on timeout."""
        found: list[str] = self._run(lambda seconds: self._compiled.findall(text, timeout=seconds), text)
        return found

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of all matches in code points, ascending. `PatternError` on timeout."""
        # With (?r) the last one is found first.
        return sorted(
            self._run(lambda seconds: [m.span() for m in self._compiled.finditer(text, timeout=seconds)], text)
        )

    def matches(self, text: str) -> bool:
        """Whether it matches the whole text. `PatternError` on timeout."""
        return self._run(lambda seconds: self._compiled.fullmatch(text, timeout=seconds), text) is not None

    def _run(self, find: Any, text: str) -> Any:
        try:
            return in_time(find, self._what, text)
        except MemoryError:
            raise PatternError(
                f"The {self._what} needs too much memory on {len(text):,} characters; make it simpler."
            ) from None


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
                more = max(int(found["least"]) - 1, 0) if len(found["least"]) < 12 else MOST_CHARACTERS
                sums[-1] += last * more
                last += last * more
                continue
        sums[-1] += last
    size = sum(sums)
    if size <= MOST_CHARACTERS:
        return None
    return (
        f"is too large: with its least repetitions written out it has {size:,} characters or more, and "
        f"{MOST_CHARACTERS:,} is the most; ask for fewer repetitions"
    )


def _what_is_wrong(source: str, error: Exception) -> str:
    """The error that `regex` reports of an expression, as a part of a sentence."""
    position = getattr(error, "pos", None)
    reason = getattr(error, "msg", None) or "it is too large or too deeply nested"
    if position is None:
        return f"is not a valid regular expression: {visible(str(reason))}; correct it."
    around = visible(source[max(0, position - 20) : position + 20])
    return (
        f"is not a valid regular expression: {visible(str(reason))} at character {position + 1}, near '{around}'; "
        "correct it there."
    )
