"""Text cut to the cells it takes, not to characters: a CJK character or an emoji takes two, a combining mark none."""

from typing import Literal

from rich.cells import cell_len, set_cell_size

from bpe_core.visible import visible


def fit(text: str, width: int, *, right: bool = False) -> str:
    """`text`, safe to show, in exactly `width` cells: padded, or cut with an ellipsis.

    A combining mark that begins a text gets the dotted circle to stand on, as in a table of characters.

    >>> fit("merge", 7), fit("merge", 7, right=True), fit("日本語", 5)
    ('merge  ', '  merge', '日本…')
    """
    if not text.isprintable():
        text = visible(text)
    if text.isascii() and len(text) <= width:  # most texts: nothing to measure
        return text.rjust(width) if right else text.ljust(width)
    if text and cell_len(text[0]) == 0:
        text = "◌" + text
    text = cut(text, width)
    padding = " " * (width - cell_len(text))
    return padding + text if right else text + padding


def cut(text: str, width: int, keep: Literal["start", "ends", "end"] = "start") -> str:
    """`text`, or as much of its start, its end or both as `width` cells hold with an ellipsis.

    >>> cut("python-library-gpt4-2", 14, "ends"), cut("merges", 4), cut("merges", 4, "end")
    ('python-…gpt4-2', 'mer…', '…ges')
    """
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    behind = {"start": 0, "ends": (width - 1) // 2, "end": width - 1}[keep]
    first = set_cell_size(text, width - 1 - behind)  # where half of a wide character would fit, a space
    last = set_cell_size(text[::-1], behind)[::-1]
    return f"{first.rstrip(' ')}…" if keep == "start" else f"{first}…{last}"
