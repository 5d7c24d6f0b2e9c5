"""Text for people, safe and visible: every character that is invisible, or that controls a terminal, becomes a glyph.

All text from outside is written to a terminal through this module only.
"""

from functools import lru_cache
from typing import Final
from unicodedata import category, name

CONTROLS: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "␡",
    **{code: "¤" for code in range(0x80, 0xA0)},
    **{
        code: "¬"
        for code in (
            0x061C,
            0x200E,
            0x200F,
            *range(0x202A, 0x202F),
            *range(0x2066, 0x206A),
        )
    },  # directions
    **{
        code: "·"
        for code in (0x00AD, 0x180E, 0x200B, 0x2060, 0xFEFF, *range(0xE0000, 0xE0080))
    },  # of no width
    **{0x2028: "¶", 0x2029: "¶", 0x0085: "¶"},
    **{
        code: "�" for code in (*range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
    },  # refused by XML, too
}
"""Code point -> a glyph of one cell, for every character that is invisible in a terminal or controls it."""

_LABELS: Final[dict[int, str]] = {
    **CONTROLS,
    0x20: "␣",
    0x0A: "↵",
    0x09: "⇥",
    0x200C: "·",
    0x200D: "·",
    0xA0: "⍽",
}
# Unicode category -> name for its characters, which have no names in Unicode; other nameless ones are unassigned,
# but for some ideographs that Python has no names for.
_NAMELESS: Final = {
    "Cc": "control character",
    "Co": "private use",
    "Cs": "half of a pair of code units",
}
# Scripts that count as one, by the first words of the names of their letters.
_TOGETHER: Final = {
    "HIRAGANA": "KANA",
    "KATAKANA": "KANA",
    "KATAKANA-HIRAGANA": "KANA",
    "IDEOGRAPHIC": "CJK",
}
_NO_SCRIPTS: Final = frozenset(
    {
        "FULLWIDTH",
        "HALFWIDTH",
        "MODIFIER",
        "FEMININE",
        "MASCULINE",
        "MICRO",
        "MATHEMATICAL",
    }
)
_MARKDOWN: Final = frozenset("\\`*_[]<>|#~&$")  # what Markdown would obey inside a line


def visible(text: str) -> str:
    """`text` with glyphs for the characters in `CONTROLS`, safe to write to a terminal; of equal length."""
    return text.translate(CONTROLS)


def shortened(text: str, most: int) -> str:
    """`text` if it has at most `most` characters; else `most` in all of its beginning, an ellipsis, and its end."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 1]}…{text[len(text) - end :]}"


def quoted(text: str, most: int = 40) -> str:
    """`text` in single quotation marks, `shortened` to `most` characters and `visible`, for use in a sentence."""
    return f"'{visible(shortened(text, most))}'"


def character_name(character: str) -> str:
    """The Unicode name of a character in lower case; for one without a name, its kind."""
    return name(character, _NAMELESS.get(category(character), "unassigned")).lower()


@lru_cache(maxsize=1 << 14)
def letter_script(letter: str) -> str:
    """The script of a letter, by the first word of its name in Unicode; "" if that is none. Letters that several
    scripts share have one, unlike in `script_runs`: the Ohm sign, say."""
    first = name(letter, "").partition(" ")[0]
    return "" if first in _NO_SCRIPTS else _TOGETHER.get(first, first).lower()


@lru_cache(maxsize=1 << 16)
def token_label(token: bytes) -> str:
    r"""A token's bytes as a label: valid UTF-8 as text with its whitespace made visible, other bytes as `\xNN`."""
    return token.decode("utf-8", "backslashreplace").translate(_LABELS)


def code(text: str) -> str:
    """A text as code in a table of Markdown, its backticks and bars kept."""
    text, fence = visible(text), "`"
    while fence in text:
        fence += "`"
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


def plain_markdown(text: str) -> str:
    """Escape a text for one line or one cell of Markdown, so that nothing in it is
    read as Markdown or HTML."""
    one_line = visible(text).replace("\n", " ")
    return "".join(f"\\{sign}" if sign in _MARKDOWN else sign for sign in one_line)


def counted(number: int, noun: str, several: str = "") -> str:
    """`number` with thousands separators, and the noun; `several` is its plural where that is not noun + "s"."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def cells(text: str) -> int:
    """The width of `text` in a terminal, in cells: 2 for wide characters and most emoji, 0 for marks, 1 for others."""
    from rich.cells import cell_len  # late: most commands draw nothing

    return cell_len(text)


def fitted(text: str, most: int) -> str:
    """`text` if its width is at most `most` cells; else as much of its beginning as fits, and an ellipsis."""
    from rich.cells import chop_cells

    return text if cells(text) <= most else chop_cells(text, most - 1)[0] + "…"


def duration(seconds: float) -> str:
    """A time for reading, never longer than it is exact."""
    if seconds < 1:
        return "under 1 s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
