"""The width of text in a terminal, in cells (columns), as rich measures it, and text cut to a width."""


def cells(text: str) -> int:
    """The width of `text` in cells: 2 for wide characters and most emoji, 0 for marks, 1 for others."""
    from rich.cells import cell_len  # late: most commands draw nothing

    return cell_len(text)


def fitted(text: str, most: int) -> str:
    """`text` if its width is at most `most` cells; else as much of its beginning as fits, and an ellipsis."""
    from rich.cells import chop_cells

    return text if cells(text) <= most else chop_cells(text, most - 1)[0] + "…"
