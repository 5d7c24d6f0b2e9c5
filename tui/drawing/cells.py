"""Text cut to the cells it takes, not to characters: a CJK character or an emoji takes two, a combining mark none."""

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
    if text and cell_len(text[0]) == 0:
        text = "◌" + text
    used = cell_len(text)
    if used > width:
        text = set_cell_size(text, max(0, width - 1)).rstrip(" ") + "…" if width > 0 else ""
        used = cell_len(text)
    padding = " " * (width - used)
    return padding + text if right else text + padding
