"""Syntax trees of *plain* regular expressions, from which safe cuts and kinds of characters are derived.

Split patterns are nearly always plain: sets of characters, concatenation, alternation, repetition, atomic groups,
look-ahead and the end of the text.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Repeat:
    """An item, repeated."""

    item: "Node"
    least: int
    most: int | None  # None for no limit
    mode: str  # "" greedy, "?" lazy, "+" possessive or atomic


@dataclass(frozen=True, slots=True)
class Lookaround:
    """A look-ahead, `(?=item)` or `(?!item)`."""

    item: "Node"
    is_negative: bool


Node = str | tuple["Node", ...] | list["Node"] | Repeat | Lookaround
"""A str is a regular expression of one character: `a`, `[^\\s]`, `\\p{L}`, `(?i:s)`. A tuple is a concatenation, possibly
empty. A list is an alternation: the first option wins with which the whole pattern matches."""

_END: Final = Lookaround("(?s:.)", True)  # the end of the text: no character follows
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
    """Return the tree of an expression that the `regex` module has accepted. Capturing groups are read as plain ones.

    Raises:
        ValueError: The expression is not plain: it has a look-behind, a back-reference, `\\b`, a flag, ...
    """
    reader = _Reader(source)
    node = reader.choice(ignore_case=False)
    if reader.position != len(source):
        raise ValueError
    return node


class _Reader:
    """A recursive-descent parser: choice > chain > repeat > group or set of characters."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0

    def choice(self, ignore_case: bool) -> Node:
        options = [self.chain(ignore_case)]
        while self.accept("|"):
            options.append(self.chain(ignore_case))
        return options[0] if len(options) == 1 else options

    def chain(self, ignore_case: bool) -> Node:
        items = []
        while (
            self.position < len(self.source) and self.source[self.position] not in "|)"
        ):
            items.append(self.repeat(ignore_case))
        return items[0] if len(items) == 1 else tuple(items)

    def repeat(self, ignore_case: bool) -> Node:
        item = self.item(ignore_case)
        quantifier = self.read(_QUANTIFIER)
        if not quantifier:
            return item
        if isinstance(item, Lookaround):
            raise ValueError
        sign, least, comma, most, mode = quantifier.groups()
        if sign:
            return Repeat(item, *_SHORT[sign], mode)
        if most:
            return Repeat(item, int(least), int(most), mode)
        return Repeat(item, int(least), None if comma else int(least), mode)

    def item(self, ignore_case: bool) -> Node:
        if self.accept("$"):  # the end of the text, or a newline and then the end
            return Lookaround((Repeat(r"\n", 0, 1, ""), _END), False)
        if self.accept(r"\Z") or self.accept(r"\z"):
            return _END
        opening = self.read(_GROUP)
        if opening:
            return self.rest_of_group(opening[1] or ":", ignore_case)
        characters = self.read(_CHARS)
        if not characters:
            raise ValueError
        source = characters[0]
        has_set_operator = source[0] == "[" and re.search(r"--|&&|\|\||~~", source)
        if has_set_operator:
            raise ValueError
        return f"(?i:{source})" if ignore_case else source

    def rest_of_group(self, kind: str, ignore_case: bool) -> Node:
        """Read the rest of a group that begins with "(?" and its kind; ":" for a plain or capturing group."""
        inner = self.choice(ignore_case or kind == "i:")
        if not self.accept(")"):
            raise ValueError
        if kind == ">":
            return Repeat(inner, 1, 1, "+")
        if kind.endswith(":"):
            return inner
        return Lookaround(inner, is_negative=kind == "!")

    def accept(self, text: str) -> bool:
        """Read `text` if it comes next. Return whether it did."""
        if not self.source.startswith(text, self.position):
            return False
        self.position += len(text)
        return True

    def read(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read what matches `pattern` at the position; None if nothing does."""
        match = pattern.match(self.source, self.position)
        if match:
            self.position = match.end()
        return match
