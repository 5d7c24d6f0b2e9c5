"""Make text safe and visible: replace characters that are invisible or control a terminal by glyphs.

All text from outside is written to a terminal through this module only.
"""

from functools import lru_cache
from typing import Final
from unicodedata import category, name

from bpe_core.weighted import Count, formatted

_DIRECTIONS: Final = (
    0x061C,
    0x200E,
    0x200F,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_WITHOUT_WIDTH: Final = (
    0x00AD,
    0x180E,
    0x200B,
    0x2060,
    0xFEFF,
    *range(0xE0000, 0xE0080),
)
_SEPARATORS: Final = (0x2028, 0x2029, 0x0085)
_REFUSED_BY_XML: Final = (*range(0xD800, 0xE000), 0xFFFE, 0xFFFF)

CONTROLS: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "␡",
    **dict.fromkeys(range(0x80, 0xA0), "¤"),
    **dict.fromkeys(_DIRECTIONS, "¬"),
    **dict.fromkeys(_WITHOUT_WIDTH, "·"),
    **dict.fromkeys(_SEPARATORS, "¶"),
    **dict.fromkeys(_REFUSED_BY_XML, "�"),
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
_NAMELESS: Final = {
    "Cc": "control character",
    "Co": "private use",
    "Cs": "half of a pair of code units",
}
"""Unicode category -> name for its characters, which have no names in Unicode. Other characters without a name are
unassigned, except some ideographs whose names Python does not know."""
_ONE_SCRIPT: Final = {
    "HIRAGANA": "KANA",
    "KATAKANA": "KANA",
    "KATAKANA-HIRAGANA": "KANA",
    "IDEOGRAPHIC": "CJK",
}
"""First word of the name of a letter -> the script it counts as."""
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
"""First words of names of letters that don't name a script."""
_MARKDOWN: Final = frozenset("\\`*_[]<>|#~&$")
"""Characters with a meaning inside a line of Markdown."""


def visible(text: str) -> str:
    """Replace the characters in `CONTROLS` by glyphs: safe to write to a terminal, and of equal length."""
    return text.translate(CONTROLS)


def shortened(text: str, most: int) -> str:
    """Return `text` with at most `most` characters: its beginning, an ellipsis and its end if it is longer."""
    if len(text) <= most:
        return text
    n_last = most // 3
    return f"{text[: most - n_last - 1]}…{text[len(text) - n_last :]}"


def quoted(text: str, most: int = 40) -> str:
    """Return `text`, `shortened` and `visible`, in single quotation marks, for use in a sentence."""
    return f"'{visible(shortened(text, most))}'"


def character_name(character: str) -> str:
    """Return the Unicode name of a character in lower case; its kind if it has no name."""
    kind = _NAMELESS.get(category(character), "unassigned")
    return name(character, kind).lower()


@lru_cache(maxsize=1 << 14)
def letter_script(letter: str) -> str:
    """Return the script of a letter, by the first word of its name in Unicode; "" if that is not a script.

    Unlike in `script_runs`, letters that several scripts share have one, such as the Ohm sign.
    """
    first_word = name(letter, "").partition(" ")[0]
    if first_word in _NO_SCRIPTS:
        return ""
    return _ONE_SCRIPT.get(first_word, first_word).lower()


@lru_cache(maxsize=1 << 16)
def token_label(token: bytes) -> str:
    r"""Return a token's bytes as a label: valid UTF-8 as text with visible white space, other bytes as `\xNN`."""
    return token.decode("utf-8", "backslashreplace").translate(_LABELS)


def code(text: str) -> str:
    """Return a text as code for a cell of a Markdown table, where backticks and bars are shown as they are."""
    text = visible(text)
    fence = "`"
    while fence in text:
        fence += "`"
    touches_fence = text.startswith("`") or text.endswith("`")
    space = " " if touches_fence else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


def plain_markdown(text: str) -> str:
    """Escape a text for one line or one cell of Markdown, so that nothing in it is read as Markdown or HTML."""
    one_line = visible(text).replace("\n", " ")
    return "".join(f"\\{sign}" if sign in _MARKDOWN else sign for sign in one_line)


def counted(number: Count, noun: str, plural: str = "") -> str:
    """Return a number with thousands separators and a noun, whose plural is noun + "s" by default.

    >>> counted(1, "token"), counted(1200, "token"), counted(2, "byte has", "bytes have")
    ('1 token', '1,200 tokens', '2 bytes have')
    """
    if number == 1:
        return f"{formatted(number)} {noun}"
    return f"{formatted(number)} {plural or noun + 's'}"


def cells(text: str) -> int:
    """Return the width of `text` in a terminal: 2 cells for wide characters and most emoji, 0 for marks, 1 otherwise."""
    from rich.cells import cell_len  # imported late: most commands draw nothing

    return cell_len(text)


def fitted(text: str, most: int) -> str:
    """Return `text` in at most `most` cells: its beginning and an ellipsis if it is wider."""
    from rich.cells import chop_cells

    if cells(text) <= most:
        return text
    return chop_cells(text, most - 1)[0] + "…"


def duration(seconds: float) -> str:
    """Return a time for people, not more precise than it is exact."""
    if seconds < 1:
        return "under 1 s"
    minutes, seconds_left = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {seconds_left} s" if minutes else f"{seconds_left} s"
