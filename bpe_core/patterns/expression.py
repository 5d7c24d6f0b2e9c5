"""Regular expressions that a person or a file brings along: bounded in what they may ask for, in memory and in time.

They are run by the `regex` module, which can be told to give up; the standard library's `re` cannot. Nothing else in
this project compiles an expression that it did not write itself.
"""

import re
import warnings
from typing import Any, Final

import regex

from bpe_core.errors import PatternError
from bpe_core.patterns.patience import in_time
from bpe_core.visible import visible

MOST_CHARACTERS: Final = 20_000
"""Characters of an expression with its least repetitions written out, as it is compiled: half a second and 30 MB at
most. The longest published one has some hundreds."""

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
    """A regular expression that nobody has checked."""

    __slots__ = ("_compiled", "_what")

    def __init__(self, source: str, what: str = "split pattern") -> None:
        """`what` is the name that errors give it. `PatternError` if it is not a valid one, or asks for too much."""
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
        """As it was given."""
        return str(self._compiled.pattern)

    @property
    def has_groups(self) -> bool:
        """Whether there are groups that capture."""
        return bool(self._compiled.groups)

    def findall(self, text: str) -> list[str]:
        """What matches, one after another, if there are no groups. `PatternError` if it takes too long."""
        found: list[str] = self._run(lambda seconds: self._compiled.findall(text, timeout=seconds), text)
        return found

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where matches begin and end, in order. `PatternError` if it takes too long."""
        # With (?r) the last one is found first.
        return sorted(
            self._run(lambda seconds: [m.span() for m in self._compiled.finditer(text, timeout=seconds)], text)
        )

    def matches(self, text: str) -> bool:
        """Whether a match is all of the text. `PatternError` if it takes too long."""
        return self._run(lambda seconds: self._compiled.fullmatch(text, timeout=seconds), text) is not None

    def _run(self, find: Any, text: str) -> Any:
        try:
            return in_time(find, self._what, text)
        except MemoryError:
            raise PatternError(
                f"The {self._what} needs too much memory on {len(text):,} characters; make it simpler."
            ) from None


def _too_much(source: str) -> str | None:
    """What an expression asks for that is too much; None if nothing is."""
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
    """What `regex` says of an expression."""
    position = getattr(error, "pos", None)
    reason = getattr(error, "msg", None) or "it is too large or too deeply nested"
    if position is None:
        return f"is not a valid regular expression: {visible(str(reason))}; correct it."
    around = visible(source[max(0, position - 20) : position + 20])
    return (
        f"is not a valid regular expression: {visible(str(reason))} at character {position + 1}, near '{around}'; "
        "correct it there."
    )
