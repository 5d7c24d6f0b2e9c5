"""The status lines under the editor: totals, the last edits, the pinned text, pitfalls, and lanes."""

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from bpe_core.explain.pitfalls import Pitfall
from bpe_core.live.baseline import BaselineDiff, Hunk
from bpe_core.live.live_text import Change, LiveText
from bpe_core.metrics import ratio
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible
from tui.drawing.lines import cut
from tui.drawing.palette import Palette, Ways
from tui.drawing.token_labels import token_labels
from tui.text.edited_text import Lane
from tui.text.strips import Columns

_MOST_IDS: Final = 20
"""Ids of a selection that are listed."""
_LISTED_FROM: Final = 1_000
"""Characters of a selection whose ids are looked up."""
_ARROW: Final = " → "
_GONE: Final = Style(strike=True)
"""Added to tokens that an edit removed."""
_LEAST_EXCHANGE: Final = 12
"""Cells needed to show which tokens were removed and inserted."""


class RememberedEdit(NamedTuple):
    """An edit, or several that were undone or redone at once, under the tokenizer of that time."""

    changes: tuple[Change | None, ...]
    """The change of each edit; None for one with too many tokens to compare."""
    tokenizer: Tokenizer


def totals_line(
    n_tokens: int | None, n_bytes: int, n_characters: int, tokenizer: Tokenizer | None
) -> Text:
    line = _line(_token_count(n_tokens), "bold")
    line.append(f"  {counted(n_bytes, 'byte')}")
    if n_tokens:
        line.append(f"  {n_bytes / n_tokens:.2f} bytes/token")
    line.append(f"  {counted(n_characters, 'character')}")
    if tokenizer is not None and tokenizer.splitter.lossy:
        line.append("  drops whitespace", "italic")
    return line


def _token_count(n_tokens: int | None) -> str:
    return "counting tokens" if n_tokens is None else counted(n_tokens, "token")


def selection_line(live: LiveText, first: int, last: int) -> Text:
    """Count the tokens, bytes and characters of a selection, and list the first ids.

    Tokens that are only partly selected count too.
    """
    spans = live.spans(first, min(last, first + _LISTED_FROM))
    ids = list(islice(chain.from_iterable(span.ids for span in spans), _MOST_IDS))
    n_tokens = live.n_tokens_between(first, last)
    n_bytes = len(live.between(first, last).encode())
    line = _line("selected", "dim")
    line.append(f"  {_token_count(n_tokens)}", "bold")
    line.append(f"  {counted(n_bytes, 'byte')}  {counted(last - first, 'character')}")
    line.append("  ids ", "dim")
    line.append(" ".join(map(str, ids)))
    if len(ids) != n_tokens:
        line.append(" …", "dim")
    return line


def edit_line(
    edits: Sequence[RememberedEdit], back: int, palette: Palette, width: int
) -> Text:
    """Show how an edit changed the tokens: the last one, or the one `back` before it."""
    if not edits:
        return _line("last edit  nothing yet", "dim")
    line = _line(f"{back + 1} edits ago  " if back else "last edit  ", "dim")
    room = width - line.cell_len
    return line.append_text(_edit_effect(edits[-1 - back], palette, room))


def _edit_effect(edit: RememberedEdit, palette: Palette, room: int) -> Text:
    """The tokens that an edit removed and inserted, and by how much the text grew."""
    changes = [change for change in edit.changes if change is not None]
    if len(changes) < len(edit.changes):
        return _line("too large to compare its tokens", "dim")
    growth = _growth(*changes)
    if len(changes) > 1:
        return _line(f"{len(changes):,} edits at once  {growth}")
    change = changes[0]
    if not change.removed and not change.inserted:
        return _line("no token changed", "dim")
    numbers = f"  {growth}"
    if change.ripple:
        numbers += f"  ripple {counted(change.ripple, 'byte')}"
    exchange = _exchange(change, edit.tokenizer, palette, room - len(numbers))
    return _line("").append_text(exchange).append(numbers)


def _brief_edit_effect(edit: RememberedEdit, palette: Palette, room: int) -> Text:
    """By how many tokens the text grew, and which tokens changed if there is room for that."""
    changes = [change for change in edit.changes if change is not None]
    if len(changes) < len(edit.changes):
        return _line("too large", "dim")
    growth = signed(sum(change.n_tokens for change in changes))
    if len(changes) > 1:
        return _line(growth)
    change = changes[0]
    if not change.removed and not change.inserted:
        return _line("no token changed", "dim")
    room -= len(f" {growth}")
    if room >= _LEAST_EXCHANGE:
        exchange = _exchange(change, edit.tokenizer, palette, room)
        if exchange.cell_len <= room:
            return _line("").append_text(exchange).append(f" {growth}")
    return _line(growth)


def baseline_line(
    comparison: BaselineDiff | None,
    tokenizer: Tokenizer | None,
    palette: Palette,
    width: int,
) -> Text:
    line = _line("pinned     ", "dim")
    if comparison is None or tokenizer is None:
        return line.append("too many changes to compare the tokens", "dim")
    if not comparison.hunks:
        return line.append("no token differs", "dim")
    first = comparison.hunks[0]
    n_more = len(comparison.hunks) - 1
    text = f"  {_growth(comparison)}"
    if n_more:
        text = f"  and {counted(n_more, 'other place')}{text}"
    room = width - line.cell_len - len(text)
    exchange = _exchange(first, tokenizer, palette, room)
    return line.append_text(exchange).append(text)


def pitfall_line(n_pitfalls: int, shown: Pitfall | None, number: int | None) -> Text:
    """Count the pitfalls and describe the pitfall at the cursor, which has a `number`, or the worst."""
    if not n_pitfalls or shown is None:
        return _line("no pitfalls", "dim")
    which = counted(n_pitfalls, "pitfall")
    if number is not None:
        which = f"{number:,} of {n_pitfalls:,}"
    return _line(f"{which}  ", "bold").append(visible(shown.reason))


def signed(number: float) -> str:
    sign = "±"
    if number < 0:
        sign = "−"
    elif number > 0:
        sign = "+"
    return f"{sign}{abs(number):,}"


def _signed_count(number: int, noun: str) -> str:
    plural = "" if abs(number) == 1 else "s"
    return f"{signed(number)} {noun}{plural}"


def _growth(*changes: Change | BaselineDiff) -> str:
    n_tokens = sum(change.n_tokens for change in changes)
    n_bytes = sum(change.n_bytes for change in changes)
    return f"{_signed_count(n_tokens, 'token')}  {_signed_count(n_bytes, 'byte')}"


def _line(text: str, style: str = "") -> Text:
    return Text.assemble((text, style), no_wrap=True, overflow="ellipsis")


def _exchange(
    change: Change | Hunk, tokenizer: Tokenizer, palette: Palette, room: int
) -> Text:
    """The removed tokens, an arrow and the inserted tokens.

    Each side gets half of the room, and cells that the other side does not need.
    """

    def removed_style(ways: Ways, token: int) -> Style:
        return ways.usual + _GONE

    def inserted_style(ways: Ways, token: int) -> Style:
        return ways.changed

    def side(
        ids: Sequence[int], cells: int, style: Callable[[Ways, int], Style]
    ) -> Text:
        if not ids:
            return Text("nothing", "dim italic")
        return token_labels(ids, tokenizer.token_bytes, palette, cells, style)

    room -= len(_ARROW)
    left_need = side(change.removed, room, removed_style).cell_len
    right = side(change.inserted, room - min(left_need, room // 2), inserted_style)
    left = side(change.removed, room - right.cell_len, removed_style)
    return Text(_ARROW, "bold").join((left, right))


_LABEL_CELLS: Final = ((120, 16), (80, 10), (60, 8), (0, 7))
"""How wide an area must be for labels of how many cells."""
_HERE_CELLS: Final = 18
"""Cells for the token under the cursor, at most."""
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
    """None until they are counted."""
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
    """What the line of a lane shows."""

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
