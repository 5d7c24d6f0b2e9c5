"""Syntax trees of *plain* regular expressions, from which safe cuts and kinds of characters are derived.

Split patterns are nearly always plain: sets of characters, concatenation, alternation, repetition, atomic groups,
look-ahead and the end of the text.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Repeat:
    """`item` from `least` to `most` times (None: no limit); `mode`: "" greedy, "?" lazy, "+" possessive or atomic."""

    item: "Node"
    least: int
    most: int | None
    mode: str


@dataclass(frozen=True, slots=True)
class Lookaround:
    """A look-ahead, `(?=item)` or `(?!item)`."""

    item: "Node"


Node = str | tuple["Node", ...] | list["Node"] | Repeat | Lookaround
"""A str is a regular expression of one character: `a`, `[^\\s]`, `\\p{L}`, `(?i:s)`; a tuple is a concatenation, which
may be empty; a list is an alternation, of which the first option counts with which the whole pattern matches."""

_END: Final = Lookaround("(?s:.)")  # the end of the text: no character follows
_CHARS: Final = re.compile(
    r"""
    \\[pP](?:\{\^?[\w\ =:-]+\}|[A-Z])                   # a property
    | \\(?:[sSdDwWrntfa]|[^\w\s]|\ )                     # a kind of character, a control, an escaped sign
    | \\x[0-9a-fA-F]{2} | \\u[0-9a-fA-F]{4} | \\U[0-9a-fA-F]{8}
    | \[\^?\]?(?:[^][\\]|\\[pP]\{[^}]*\}|\\[^bBAZzGKRXLNmM0-9])*+\]     # a set that holds no set
    | [^][\\^$|?*+(){}]                                 # itself, or the dot
    """,
    re.VERBOSE | re.DOTALL,
)
_QUANTIFIER: Final = re.compile(r"(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})([?+]?)")
_GROUP: Final = re.compile(r"\((?:\?(i?:|=|!|>))?(?![?*])")
_SHORT: Final[dict[str, tuple[int, int | None]]] = {
    "*": (0, None),
    "+": (1, None),
    "?": (0, 1),
}


def parse(source: str) -> Node:
    """The tree of an expression that the `regex` module has accepted; groups that capture are plain. ValueError for
    what is not: look-behind, a back-reference, `\\b`, a flag, ..."""
    reader = _Reader(source)
    node = reader.choice(ignore_case=False)
    if reader.at != len(source):
        raise ValueError
    return node


class _Reader:
    """A recursive-descent parser: choice > chain > repeat > group or set of characters."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def choice(self, ignore_case: bool) -> Node:
        options = [self.chain(ignore_case)]
        while self.accept("|"):
            options.append(self.chain(ignore_case))
        return options[0] if len(options) == 1 else options

    def chain(self, ignore_case: bool) -> Node:
        items = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            items.append(self.repeat(ignore_case))
        return items[0] if len(items) == 1 else tuple(items)

    def repeat(self, ignore_case: bool) -> Node:
        item = self.item(ignore_case)
        if not (found := self.read(_QUANTIFIER)):
            return item
        if isinstance(item, Lookaround):
            raise ValueError
        short, least, comma, most, mode = found.groups()
        if short:
            return Repeat(item, *_SHORT[short], mode)
        return Repeat(
            item, int(least), int(most) if most else None if comma else int(least), mode
        )

    def item(self, ignore_case: bool) -> Node:
        if self.accept("$"):  # the end of the text, or a newline there and then the end
            return Lookaround((Repeat(r"\n", 0, 1, ""), _END))
        if self.accept(r"\Z"):
            return _END
        if opening := self.read(_GROUP):
            kind = opening[1] or ":"
            inner = self.choice(ignore_case or kind == "i:")
            if not self.accept(")"):
                raise ValueError
            if kind == ">":
                return Repeat(inner, 1, 1, "+")
            return inner if kind.endswith(":") else Lookaround(inner)
        chars = self.read(_CHARS)
        if not chars or (
            chars[0][0] == "[" and re.search(r"--|&&|\|\||~~", chars[0])
        ):  # an operator of sets
            raise ValueError
        return f"(?i:{chars[0]})" if ignore_case else chars[0]

    def accept(self, text: str) -> bool:
        found = self.source.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def read(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.source, self.at)
        self.at = found.end() if found else self.at
        return found
