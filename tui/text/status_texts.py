"""The lines under the editor's text, in words and numbers: totals, the last edits, the baseline, pitfalls, lanes."""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from bpe_core.explain.pitfalls import Pitfall
from bpe_core.live.baseline import BaselineDiff
from bpe_core.live.live_text import Change, LiveText
from bpe_core.metrics import ratio
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible
from tui.drawing.lines import cut
from tui.drawing.palette import Palette, token_labels
from tui.text.edited_text import Lane
from tui.text.strips import Columns

_MOST_IDS: Final = 20  # ids of a selection that are listed
_LISTED_FROM: Final = 1_000  # characters of a selection in which these are looked for
_ARROW: Final = " → "
_GONE: Final = Style(strike=True)  # laid over tokens that are no longer there
_LEAST_EXCHANGE: Final = (
    12  # cells from which on it is worth to show which tokens went and came
)


class RememberedEdit(NamedTuple):
    """An edit, or several that were undone or redone at once, under the tokenizer of that time."""

    changes: tuple[Change | None, ...]  # None: too many tokens to compare
    tokenizer: Tokenizer


def totals_line(
    n_tokens: int | None, n_bytes: int, n_characters: int, tokenizer: Tokenizer | None
) -> Text:
    line = _line(
        "counting tokens" if n_tokens is None else counted(n_tokens, "token"), "bold"
    )
    line.append(f"  {counted(n_bytes, 'byte')}")
    if n_tokens:
        line.append(f"  {n_bytes / n_tokens:.2f} bytes/token")
    line.append(f"  {counted(n_characters, 'character')}")
    if tokenizer is not None and tokenizer.splitter.lossy:
        line.append("  whitespace is dropped by this pattern", "italic")
    return line


def selection_line(live: LiveText, first: int, last: int) -> Text:
    """Tokens, bytes and characters between two code points, tokens that reach beyond them too; and the first ids."""
    spans = live.spans(first, min(last, first + _LISTED_FROM))
    ids = [*islice(chain.from_iterable(span.ids for span in spans), _MOST_IDS)]
    n_tokens, n_bytes = (
        live.n_tokens_between(first, last),
        len(live.between(first, last).encode()),
    )
    line = _line("selected", "dim")
    line.append(
        "  counting tokens" if n_tokens is None else f"  {counted(n_tokens, 'token')}",
        "bold",
    )
    line.append(f"  {counted(n_bytes, 'byte')}  {counted(last - first, 'character')}")
    line.append("  ids ", "dim").append(" ".join(map(str, ids)))
    return line.append(" …", "dim") if len(ids) != n_tokens else line


def edit_line(
    edits: Sequence[RememberedEdit], back: int, palette: Palette, width: int
) -> Text:
    """What one of the last edits did to the tokens: the newest, or the one `back` before it."""
    if not edits:
        return _line(
            "last edit  type, and see here which tokens go and which come", "dim"
        )
    line = _line("last edit  " if not back else f"{back + 1} edits ago  ", "dim")
    return line.append_text(_edited(edits[-1 - back], palette, width - line.cell_len))


def _edited(
    edit: RememberedEdit, palette: Palette, room: int, *, brief: bool = False
) -> Text:
    """What an edit did in `room` cells; if `brief` without bytes, and without the tokens where these do not fit."""
    changes = [change for change in edit.changes if change is not None]
    if len(changes) < len(edit.changes):
        return _line("too large" if brief else "too large to compare its tokens", "dim")
    text = (
        signed(sum(change.n_tokens for change in changes))
        if brief
        else _grown(*changes)
    )
    if len(changes) > 1:
        return _line(text if brief else f"{len(changes):,} edits at once  {text}")
    (change,) = changes
    if not change.removed and not change.inserted:
        return _line("no token changed", "dim")
    text = (
        f" {text}"
        if brief
        else f"  {text}" + (f"  ripple {change.ripple:,}" if change.ripple else "")
    )
    room -= len(text)
    if room >= _LEAST_EXCHANGE or not brief:
        exchange = _exchange(
            change.removed, change.inserted, edit.tokenizer, palette, room
        )
        if exchange.cell_len <= room or not brief:
            return _line("").append_text(exchange).append(text)
    return _line(text.strip())


def baseline_line(
    comparison: BaselineDiff | None,
    tokenizer: Tokenizer | None,
    palette: Palette,
    width: int,
) -> Text:
    line = _line("pinned     ", "dim")
    if comparison is None or tokenizer is None:
        return line.append("too much has changed to compare it token by token", "dim")
    if not comparison.hunks:
        return line.append("no token differs", "dim")
    first, n_more = comparison.hunks[0], len(comparison.hunks) - 1
    text = (
        f"  and {counted(n_more, 'other place')}" if n_more else ""
    ) + f"  {_grown(comparison)}"
    room = width - line.cell_len - len(text)
    return line.append_text(
        _exchange(first.removed, first.inserted, tokenizer, palette, room)
    ).append(text)


def pitfall_line(n_pitfalls: int, shown: Pitfall | None, number: int | None) -> Text:
    """How many pitfalls there are, and one of them: the one gone to, with its `number` from 1, or the worst."""
    if not n_pitfalls or shown is None:
        return _line("no pitfalls", "dim")
    which = (
        f"{number:,} of {n_pitfalls:,}"
        if number is not None
        else counted(n_pitfalls, "pitfall")
    )
    return _line(f"{which}  ", "bold").append(visible(shown.reason))


def signed(number: float) -> str:
    return f"{'−' if number < 0 else '+' if number else '±'}{abs(number):,}"


def _grown(*changes: Change | BaselineDiff) -> str:
    n_tokens, n_bytes = (
        sum(one.n_tokens for one in changes),
        sum(one.n_bytes for one in changes),
    )
    tokens, bytes_ = ("" if abs(number) == 1 else "s" for number in (n_tokens, n_bytes))
    return f"{signed(n_tokens)} token{tokens}  {signed(n_bytes)} byte{bytes_}"


def _line(text: str, style: str = "") -> Text:
    return Text.assemble((text, style), no_wrap=True, overflow="ellipsis")


def _exchange(
    removed: Sequence[int],
    inserted: Sequence[int],
    tokenizer: Tokenizer,
    palette: Palette,
    room: int,
) -> Text:
    """The tokens that went, an arrow, those that came, in so many cells: what one side leaves, the other may take."""

    def side(ids: Sequence[int], cells: int) -> Text:
        if not ids:
            return Text("nothing", "dim italic")
        draws = (
            (lambda ways, _: ways.usual + _GONE)
            if ids is removed
            else (lambda ways, _: ways.changed)
        )
        return token_labels(ids, tokenizer.token_bytes, palette, cells, draws)

    room -= len(_ARROW)
    right = side(inserted, room - min(side(removed, room).cell_len, room // 2))
    return Text(_ARROW, "bold").join((side(removed, room - right.cell_len), right))


_NUMBERS: Final = (1, 3)  # the columns of numbers: tokens, and bytes a token
_LABEL_CELLS: Final = (
    (120, 16),
    (80, 10),
    (60, 8),
    (0, 7),
)  # cells of an area from which on a label may have so many
_HERE_CELLS: Final = 18  # cells of the token under the cursor, at most
_GAP: Final = "  "
_EDIT: Final = f"{_GAP}edit "
_LEAST_EDIT: Final = len(f"{_EDIT}+1")  # cells that are kept for what the edit did


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Names cut to what an area of `width` cells has room for before its rows, no two alike.

    >>> short_names(["a-story-in-english", "gpt2", "gpt2"], 60)
    ['a-story…', '2 gpt2', '3 gpt2']
    """
    most = next(cells for least, cells in _LABEL_CELLS if width >= least)
    short = [cut(name, most) for name in names]
    return [
        cut(f"{number} {name}", most) if short.count(name) > 1 else name
        for number, name in enumerate(short, 1)
    ]


def labels(names: Sequence[str]) -> list[str]:
    """What stands before the rows of each lane: its name, and a bracket around the rows of the same text.

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


Amounts = tuple[
    int | None, int
]  # tokens, None as long as they are not counted, and bytes


def amounts_of(lane: Lane, selection: Columns) -> Amounts:
    """Of the tokens that meet a selection, or of all if it is empty."""
    first, last = selection
    if first == last:
        return lane.n_tokens, lane.document.n_bytes
    n_tokens = lane.ask(lambda live: live.n_tokens_between(first, last), None)
    return n_tokens, lane.ask(lambda live: len(live.between(first, last).encode()), 0)


def lane_lines(
    lanes: Sequence[tuple[str, Lane, RememberedEdit | None, Amounts]],
    is_part: bool,
    palette: Palette,
    width: int,
) -> list[Text]:
    """A line for each lane, by its name, its `amounts_of` a selection, if `is_part`, and what an edit did there.

    It tells the tokens, how many more than the first lane has, bytes a token, and the token under the cursor. Where
    there is little room words are left out first, then percentages, then columns from the right; the edit stays.
    """
    first = lanes[0][3][0]

    def cells(number: int, words: bool, shares: bool) -> list[Text]:
        name, lane, _, (n_tokens, n_bytes) = lanes[number]
        tokens, beside, compression = (
            "counting",
            counted(n_bytes, "byte") if number == 0 else "",
            "",
        )
        if n_tokens is not None:
            tokens = f"{n_tokens:,} selected" if is_part else counted(n_tokens, "token")
            if number and first:
                grown = n_tokens - first
                beside = signed(grown) + (
                    f" {signed(round(1000 * grown / first) / 10)}%" if shares else ""
                )
        if n_tokens:
            compression = f"{ratio(n_bytes, n_tokens):.2f} bytes/token"
        here = Text(no_wrap=True)
        if (under := lane.under_cursor) is not None and lane.tokenizer is not None:
            here.append("here " if words else "", "dim")
            here.append_text(
                token_labels(
                    under.ids, lane.tokenizer.token_bytes, palette, _HERE_CELLS
                )
            )
            here.append(f" {under.ids[0]:,}" if len(under.ids) == 1 else "", "dim")
        return [Text(name, "bold"), Text(tokens), Text(beside), Text(compression), here]

    rows: list[list[Text]] = []
    for words, shares in ((True, True), (False, True), (False, False)):
        rows = [cells(number, words, shares) for number in range(len(lanes))]
        for number, column in enumerate(zip(*rows, strict=True)):
            widest = max(cell.cell_len for cell in column)
            for cell in column:
                (cell.pad_left if number in _NUMBERS else cell.pad_right)(
                    widest - cell.cell_len
                )
        if sum(cell.cell_len + len(_GAP) for cell in rows[0]) + _LEAST_EDIT <= width:
            break
    lines = []
    for (_, lane, edit, _), row in zip(lanes, rows, strict=True):
        line = Text(no_wrap=True, overflow="ellipsis")
        lines.append(line)
        if lane.why_none:
            line.append_text(row[0]).append(_GAP + lane.why_none, "dim")
            continue
        for cell in row:
            if line.cell_len + len(_GAP) + cell.cell_len + _LEAST_EDIT <= width:
                line.append(_GAP if line else "").append_text(cell)
        if edit is not None and (room := width - line.cell_len - len(_EDIT)) > 0:
            line.append(_EDIT, "dim").append_text(
                _edited(edit, palette, room, brief=True)
            )
    return lines
