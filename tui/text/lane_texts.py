"""The lines of several lanes under the editor, and the labels before their rows."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from bpe_core.metrics import ratio
from bpe_core.visible import counted
from tui.drawing.lines import cut
from tui.drawing.palette import Palette
from tui.drawing.token_labels import token_labels
from tui.text.lane import Lane
from tui.text.status_texts import RememberedEdit, exchange_text, signed
from tui.text.strips import Columns

_LEAST_EXCHANGE: Final = 12
"""Cells needed to show which tokens were removed and inserted."""
_LABEL_CELLS: Final = ((120, 16), (80, 10), (60, 8), (0, 7))
"""How wide an area must be for labels of how many cells."""
_HERE_CELLS: Final = 18
"""The largest width of the token under the cursor, in cells."""
_GAP: Final = "  "
_EDIT: Final = f"{_GAP}edit "
_LEAST_EDIT: Final = len(f"{_EDIT}+1")
"""Cells that are reserved for the effect of an edit."""


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Cut names to the room before the rows of an area of `width` cells, and keep them distinct.

    >>> short_names(["a-story-in-english", "gpt2", "gpt2"], 60)
    ['a-story…', '2 gpt2', '3 gpt2']
    """
    most = next(cells for least, cells in _LABEL_CELLS if width >= least)
    short = [cut(name, most) for name in names]
    distinct = []
    for number, name in enumerate(short, 1):
        if short.count(name) > 1:
            name = cut(f"{number} {name}", most)
        distinct.append(name)
    return distinct


def labels(names: Sequence[str]) -> list[str]:
    """Label the rows of each lane with its name, and join the rows of the same text by a bracket.

    >>> labels(["gpt2", "o200k"])
    ['╭ gpt2  ', '╰ o200k ']
    """
    if len(names) < 2:
        return []
    width = max(map(cell_len, names))
    ends = ("╭", *"│" * (len(names) - 2), "╰")
    return [
        f"{end} {set_cell_size(name, width)} "
        for end, name in zip(ends, names, strict=True)
    ]


class LaneAmounts(NamedTuple):
    n_tokens: int | None
    """The number of tokens; None until it is known."""
    n_bytes: int


def amounts_of(lane: Lane, selection: Columns) -> LaneAmounts:
    """Count the tokens that meet a selection, and its bytes; if it is empty, count the whole text."""
    first, last = selection
    if first == last:
        return LaneAmounts(lane.n_tokens, lane.document.n_bytes)
    n_tokens = lane.ask(lambda live: live.n_tokens_between(first, last), None)
    n_bytes = lane.ask(lambda live: len(live.between(first, last).encode()), 0)
    return LaneAmounts(n_tokens, n_bytes)


class LaneStatus(NamedTuple):
    """The values on the line of a lane."""

    name: str
    lane: Lane
    edit: RememberedEdit | None
    amounts: LaneAmounts


class _LaneCells(NamedTuple):
    """The columns of a lane's line."""

    name: Text
    tokens: Text
    comparison: Text
    compression: Text
    here: Text


def lane_lines(
    lanes: Sequence[LaneStatus], is_part: bool, palette: Palette, width: int
) -> list[Text]:
    """Describe each lane in a line.

    A line has the name, the tokens (of the selection if `is_part`), the difference to the first lane, the compression,
    the token under the cursor, and the effect of the last edit. If they do not fit, words are left out first, then
    percentages, then columns from the right; the edit stays.
    """
    rows: list[_LaneCells] = []
    for words, shares in ((True, True), (False, True), (False, False)):
        first = lanes[0].amounts.n_tokens
        rows = [
            _LaneCells(
                Text(status.name, "bold"),
                _lane_tokens(status.amounts.n_tokens, is_part),
                _lane_comparison(status.amounts, number, first, shares),
                _lane_compression(status.amounts),
                _lane_token_here(status.lane, palette, words),
            )
            for number, status in enumerate(lanes)
        ]
        _align(rows)
        needed = sum(cell.cell_len + len(_GAP) for cell in rows[0])
        if needed + _LEAST_EDIT <= width:
            break
    return [
        _lane_line(status, cells, palette, width)
        for status, cells in zip(lanes, rows, strict=True)
    ]


def _lane_tokens(n_tokens: int | None, is_part: bool) -> Text:
    if n_tokens is None:
        return Text("counting")
    if is_part:
        return Text(f"{n_tokens:,} selected")
    return Text(counted(n_tokens, "token"))


def _lane_comparison(
    amounts: LaneAmounts, number: int, first_n_tokens: int | None, shares: bool
) -> Text:
    """The bytes in the first lane; in the others, how many tokens more than the first they have."""
    if number == 0:
        return Text(counted(amounts.n_bytes, "byte"))
    if amounts.n_tokens is None or not first_n_tokens:
        return Text()
    difference = amounts.n_tokens - first_n_tokens
    text = signed(difference)
    if shares:
        percentage = round(1000 * difference / first_n_tokens) / 10
        text += f" {signed(percentage)}%"
    return Text(text)


def _lane_compression(amounts: LaneAmounts) -> Text:
    if not amounts.n_tokens:
        return Text()
    return Text(f"{ratio(amounts.n_bytes, amounts.n_tokens):.2f} bytes/token")


def _lane_token_here(lane: Lane, palette: Palette, words: bool) -> Text:
    """The token under the cursor, with its id."""
    here = Text(no_wrap=True)
    under = lane.under_cursor
    if under is None or lane.tokenizer is None:
        return here
    if words:
        here.append("here ", "dim")
    here.append_text(
        token_labels(under.ids, lane.tokenizer.token_bytes, palette, _HERE_CELLS)
    )
    if len(under.ids) == 1:
        here.append(f" {under.ids[0]:,}", "dim")
    return here


def _align(rows: Sequence[_LaneCells]) -> None:
    """Pad the cells of each column to one width; the numbers of tokens and the compression to the right."""
    for column_number, column in enumerate(zip(*rows, strict=True)):
        name = _LaneCells._fields[column_number]
        widest = max(cell.cell_len for cell in column)
        for cell in column:
            if name in ("tokens", "compression"):
                cell.pad_left(widest - cell.cell_len)
            else:
                cell.pad_right(widest - cell.cell_len)


def _lane_line(
    status: LaneStatus, cells: _LaneCells, palette: Palette, width: int
) -> Text:
    line = Text(no_wrap=True, overflow="ellipsis")
    if status.lane.why_none:
        return line.append_text(cells.name).append(_GAP + status.lane.why_none, "dim")
    for cell in cells:
        if line.cell_len + len(_GAP) + cell.cell_len + _LEAST_EDIT > width:
            continue
        if line:
            line.append(_GAP)
        line.append_text(cell)
    room = width - line.cell_len - len(_EDIT)
    if status.edit is not None and room > 0:
        line.append(_EDIT, "dim")
        line.append_text(_brief_edit_effect(status.edit, palette, room))
    return line


def _brief_edit_effect(edit: RememberedEdit, palette: Palette, room: int) -> Text:
    """By how many tokens the text grew, and which tokens changed if there is room for that."""
    changes = [change for change in edit.changes if change is not None]
    if len(changes) < len(edit.changes):
        return Text("too large", "dim")
    growth = signed(sum(change.n_tokens for change in changes))
    if len(changes) > 1:
        return Text(growth)
    change = changes[0]
    if not change.removed and not change.inserted:
        return Text("no token changed", "dim")
    room -= len(f" {growth}")
    if room >= _LEAST_EXCHANGE:
        exchange = exchange_text(change, edit.tokenizer, palette, room)
        if exchange.cell_len <= room:
            return Text("").append_text(exchange).append(f" {growth}")
    return Text(growth)
