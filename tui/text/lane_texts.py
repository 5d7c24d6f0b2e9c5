"""What is told of several lanes: a label before each row, and a line for each below the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.plurals import counted
from tui.drawing.palette import Palette
from tui.drawing.token_labels import token_labels
from tui.text.lane import Lane
from tui.text.status_texts import RememberedEdit, short_edit, signed
from tui.text.strips import Columns
from tui.text.tokens import UnderCursor

_LABEL_CELLS: Final = ((120, 16), (80, 10), (60, 8), (0, 7))
"""Cells of an area from which on a label may have so many."""
_HERE_CELLS: Final = 18
"""Cells of the token under the cursor, at most."""
_GAP: Final = "  "
_LEAST_EDIT: Final = len("  edit +1")
"""Cells that are kept for what the edit did."""


@dataclass(frozen=True, slots=True)
class LaneFacts:
    """What is told of a lane."""

    label: str
    n_tokens: int | None
    """Of the text, or of what is selected; None as long as that is not known."""
    n_bytes: int
    """Of the same, in UTF-8."""
    under: UnderCursor | None
    edit: RememberedEdit | None
    """What the edit that is told of did; None if there is none."""
    why_none: str = ""
    """Why there are no tokens: a sentence, or nothing."""


def lane_facts(label: str, lane: Lane, edit: RememberedEdit | None, selection: Columns) -> LaneFacts:
    """What is told of a lane: of its tokens that meet a selection, or of all if that is empty."""
    first, last = selection
    if first < last:
        n_tokens = lane.ask(lambda live: live.n_tokens_between(first, last), None)
        n_bytes = lane.ask(lambda live: len(live.between(first, last).encode()), 0)
    else:
        n_tokens, n_bytes = lane.n_tokens, lane.document.n_bytes
    return LaneFacts(label, n_tokens, n_bytes, lane.under_cursor, edit, lane.why_none)


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Names cut to what an area of `width` cells has room for before its rows, no two alike.

    >>> short_names(["a-story-in-english", "gpt2", "gpt2"], 60)
    ['a-story…', '2 gpt2', '3 gpt2']
    """
    most = next(cells for least, cells in _LABEL_CELLS if width >= least)
    cut = [_cut(name, most) for name in names]
    return [_cut(f"{number} {name}", most) if cut.count(name) > 1 else name for number, name in enumerate(cut, 1)]


def _cut(name: str, cells: int) -> str:
    text = Text(name)
    text.truncate(cells, overflow="ellipsis")
    return text.plain


def labels(names: Sequence[str]) -> list[str]:
    """What stands before the rows of each lane: its name, and a bracket around the rows of the same text.

    >>> labels(["gpt2", "o200k"])
    ['╭ gpt2  ', '╰ o200k ']
    """
    if len(names) < 2:
        return []
    width = max(map(cell_len, names))
    ends = ("╭", *"│" * (len(names) - 2), "╰")
    return [f"{end} {set_cell_size(name, width)} " for end, name in zip(ends, names, strict=True)]


def lane_lines(lanes: Sequence[LaneFacts], palette: Palette, width: int, *, selected: bool = False) -> list[Text]:
    """A line for each lane: tokens, how many more than the first has, bytes a token, the token here, the last edit.

    `selected` says that the numbers are those of a selection. Where there is little room words are left out first, then
    percentages, then columns from the right; what the edit did stays.
    """
    wanted = ((True, True), (False, True), (False, False))
    ways = [_columns(lanes, palette, selected=selected, words=words, shares=shares) for words, shares in wanted]
    columns = next((way for way in ways if _width(way) + _LEAST_EDIT <= width), ways[-1])
    lines = []
    for index, lane in enumerate(lanes):
        line = Text(no_wrap=True, overflow="ellipsis")
        if lane.why_none:
            lines.append(line.append_text(columns[0][index]).append(_GAP + lane.why_none, "dim"))
            continue
        for column in columns:
            if line.cell_len + len(_GAP) + column[index].cell_len + _LEAST_EDIT <= width:
                line.append(_GAP if line else "").append_text(column[index])
        if lane.edit is not None and (room := width - line.cell_len - len(f"{_GAP}edit ")) > 0:
            line.append(f"{_GAP}edit ", "dim").append_text(short_edit(lane.edit, palette, room))
        lines.append(line)
    return lines


def _columns(
    lanes: Sequence[LaneFacts], palette: Palette, *, selected: bool, words: bool, shares: bool
) -> list[list[Text]]:
    return [
        _column([Text(lane.label, "bold") for lane in lanes]),
        _column([Text(_n_tokens(lane, selected)) for lane in lanes], right=True),
        _column([Text(_difference(lane, lanes[0], shares) if i else _n_bytes(lane)) for i, lane in enumerate(lanes)]),
        _column([Text(_ratio(lane)) for lane in lanes], right=True),
        _column([_here(lane, palette, words) for lane in lanes]),
    ]


def _width(columns: list[list[Text]]) -> int:
    """Cells of each line, whose columns are as wide in one as in the others."""
    return sum(column[0].cell_len + len(_GAP) for column in columns)


def _column(cells: list[Text], *, right: bool = False) -> list[Text]:
    """Cells of equal width."""
    width = max(cell.cell_len for cell in cells)
    for cell in cells:
        (cell.pad_left if right else cell.pad_right)(width - cell.cell_len)
    return cells


def _n_tokens(lane: LaneFacts, selected: bool) -> str:
    if lane.n_tokens is None:
        return "counting"
    return f"{lane.n_tokens:,} selected" if selected else counted(lane.n_tokens, "token")


def _n_bytes(lane: LaneFacts) -> str:
    return counted(lane.n_bytes, "byte")


def _difference(lane: LaneFacts, first: LaneFacts, with_share: bool) -> str:
    if lane.n_tokens is None or not first.n_tokens:
        return ""
    grown = lane.n_tokens - first.n_tokens
    share = f" {signed(round(1000 * grown / first.n_tokens) / 10)}%" if with_share else ""
    return signed(grown) + share


def _ratio(lane: LaneFacts) -> str:
    return f"{bytes_per_token(lane.n_bytes, lane.n_tokens):.2f} bytes/token" if lane.n_tokens else ""


def _here(lane: LaneFacts, palette: Palette, with_word: bool) -> Text:
    """The token under the cursor, with its id."""
    under = lane.under
    here = Text(no_wrap=True)
    if under is None:
        return here
    here.append("here " if with_word else "", "dim")
    data = dict(zip(under.ids, under.tokens, strict=True))
    here.append_text(token_labels(under.ids, data.__getitem__, palette, room=_HERE_CELLS))
    return here.append(f" {under.ids[0]:,}", "dim") if len(under.ids) == 1 else here
