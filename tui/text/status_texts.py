"""The lines under the editor's text, in words and numbers: totals, the last edits, the baseline, the pitfalls."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, Self

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from bpe_core.explain.pitfall_detectors import Pitfall
from bpe_core.live.baseline import Comparison
from bpe_core.live.live_text import Change, LiveText
from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from tui.drawing.cells import cut
from tui.drawing.palette import Palette
from tui.drawing.token_labels import REMOVED, changed, token_labels
from tui.text.lane import Lane
from tui.text.strips import Columns
from tui.text.tokens import UnderCursor

_MOST_IDS: Final = 20
"""Ids of a selection that are listed."""
_LISTED_FROM: Final = 1_000
"""Characters of a selection in which these are looked for."""
_ARROW: Final = " → "
_LEAST_EXCHANGE: Final = 12
"""Cells from which on it is worth to show which tokens went and came."""

Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class RememberedEdit:
    """An edit, or several that were undone or redone at once."""

    changes: tuple[Change | None, ...]
    """None: too many tokens to compare."""
    tokenizer: Tokenizer
    """The one of that time."""

    @property
    def compared(self) -> tuple[Change, ...] | None:
        """The changes, if all edits were compared."""
        compared = tuple(change for change in self.changes if change is not None)
        return compared if len(compared) == len(self.changes) else None

    @property
    def n_tokens(self) -> int:
        """By how many tokens the text has grown; negative if it has shrunk."""
        return sum(change.n_tokens for change in self.compared or ())

    @property
    def n_bytes(self) -> int:
        return sum(change.n_bytes for change in self.compared or ())


@dataclass(frozen=True, slots=True)
class SelectionTotals:
    """What a selection holds."""

    ids: tuple[int, ...]
    """Its first tokens."""
    n_tokens: int | None
    """None as long as they are not counted."""
    n_bytes: int
    n_characters: int

    @classmethod
    def of(cls, live: LiveText, first: int, last: int) -> Self:
        """What stands between two code points; tokens that reach beyond them count."""
        spans = live.spans(first, min(last, first + _LISTED_FROM))
        ids = tuple(islice(chain.from_iterable(span.ids for span in spans), _MOST_IDS))
        return cls(ids, live.n_tokens_between(first, last), len(live.between(first, last).encode()), last - first)


def totals_line(n_tokens: int | None, n_bytes: int, n_characters: int, tokenizer: Tokenizer | None) -> Text:
    """Tokens, bytes, characters, and how much one token covers."""
    line = _line("counting tokens" if n_tokens is None else counted(n_tokens, "token"), "bold")
    line.append(f"  {counted(n_bytes, 'byte')}")
    if n_tokens:
        line.append(f"  {n_bytes / n_tokens:.2f} bytes/token")
    line.append(f"  {counted(n_characters, 'character')}")
    if tokenizer is not None and tokenizer.splitter.lossy:
        line.append("  whitespace is dropped by this pattern", "italic")
    return line


def selection_line(selected: SelectionTotals) -> Text:
    """Tokens, bytes and characters of what is selected, and its first ids."""
    n_tokens = selected.n_tokens
    line = _line("selected", "dim")
    line.append("  counting tokens" if n_tokens is None else f"  {counted(n_tokens, 'token')}", "bold")
    line.append(f"  {counted(selected.n_bytes, 'byte')}  {counted(selected.n_characters, 'character')}")
    line.append("  ids ", "dim").append(" ".join(map(str, selected.ids)))
    return line.append(" …", "dim") if len(selected.ids) != n_tokens else line


def edit_line(edits: Sequence[RememberedEdit], back: int, palette: Palette, width: int) -> Text:
    """What one of the last edits did to the tokens: the newest, or the one `back` before it."""
    if not edits:
        return _line("last edit  ", "dim").append("none yet: type, and see here which tokens go and which come", "dim")
    edited = edits[-1 - back]
    line = _line("last edit  " if not back else f"{back + 1} edits ago  ", "dim")
    compared = edited.compared
    if compared is None:
        return line.append("too large to compare its tokens", "dim")
    if len(compared) > 1:
        return line.append(f"{len(compared):,} edits at once  {_grown(edited.n_tokens, edited.n_bytes)}")
    (change,) = compared
    if not change.removed_ids and not change.inserted_ids:
        return line.append("no token changed", "dim")
    text = f"  {_grown(change.n_tokens, change.n_bytes)}"
    if change.ripple:
        text += f"  ripple {change.ripple:,}"
    room = width - line.cell_len - len(text)
    exchange = _exchange(change.removed_ids, change.inserted_ids, edited.tokenizer, palette, room)
    return line.append_text(exchange).append(text)


def short_edit(edited: RememberedEdit, palette: Palette, room: int) -> Text:
    """The same of one of several lanes in `room` cells: the exchanged tokens if they fit, and how many more there are.

    Bytes are left out, as they are those of every lane.
    """
    compared = edited.compared
    if compared is None:
        return _line("too large", "dim")
    if len(compared) == 1 and not compared[0].removed_ids and not compared[0].inserted_ids:
        return _line("no token changed", "dim")
    text = signed(edited.n_tokens)
    if len(compared) > 1 or room < len(text) + 1 + _LEAST_EXCHANGE:
        return _line(text)
    (change,) = compared
    exchange = _exchange(change.removed_ids, change.inserted_ids, edited.tokenizer, palette, room - len(text) - 1)
    return exchange.append(f" {text}") if exchange.cell_len + 1 + len(text) <= room else _line(text)


def baseline_line(comparison: Comparison | None, tokenizer: Tokenizer | None, palette: Palette, width: int) -> Text:
    """How the text differs from what it was when it was pinned."""
    line = _line("pinned     ", "dim")
    if comparison is None or tokenizer is None:
        return line.append("too much has changed to compare it token by token", "dim")
    if not comparison.hunks:
        return line.append("no token differs", "dim")
    first, n_more = comparison.hunks[0], len(comparison.hunks) - 1
    text = f"  and {counted(n_more, 'other place')}" if n_more else ""
    text += f"  {_grown(comparison.n_tokens, comparison.n_bytes)}"
    room = width - line.cell_len - len(text)
    removed, inserted = comparison.removed(first), comparison.inserted(first)
    return line.append_text(_exchange(removed, inserted, tokenizer, palette, room)).append(text)


def pitfall_line(n_pitfalls: int, shown: Pitfall | None, number: int | None) -> Text:
    """How many pitfalls there are, and one of them: the one gone to, with its `number` from 1, or the worst."""
    if not n_pitfalls or shown is None:
        return _line("no pitfalls", "dim")
    which = f"{number:,} of {n_pitfalls:,}" if number is not None else counted(n_pitfalls, "pitfall")
    return _line(f"{which}  ", "bold").append(visible(shown.reason))


def signed(number: float) -> str:
    """A difference, with its sign."""
    return f"{'−' if number < 0 else '+' if number else '±'}{abs(number):,}"


def _grown(n_tokens: int, n_bytes: int) -> str:
    """The differences of two numbers, with as few words as possible."""
    tokens = "token" if abs(n_tokens) == 1 else "tokens"
    return f"{signed(n_tokens)} {tokens}  {signed(n_bytes)} {'byte' if abs(n_bytes) == 1 else 'bytes'}"


def _line(text: str, style: str = "") -> Text:
    return Text.assemble((text, style), no_wrap=True, overflow="ellipsis")


def _exchange(removed: Ids, inserted: Ids, tokenizer: Tokenizer, palette: Palette, room: int) -> Text:
    """The tokens that went, an arrow, those that came, in so many cells: what one side leaves, the other may take."""

    def before(cells: int) -> Text:
        labels = token_labels(removed, tokenizer.token_bytes, palette, over=REMOVED, room=cells)
        return labels if removed else _nothing()

    def after(cells: int) -> Text:
        labels = token_labels(inserted, tokenizer.token_bytes, palette, way=changed, room=cells)
        return labels if inserted else _nothing()

    room -= len(_ARROW)
    right = after(room - min(before(room).cell_len, room // 2))
    return Text(_ARROW, "bold").join((before(room - right.cell_len), right))


def _nothing() -> Text:
    return Text("nothing", "dim italic")


_LABEL_CELLS: Final = ((120, 16), (80, 10), (60, 8), (0, 7))
"""Cells of an area from which on a label may have so many."""
_HERE_CELLS: Final = 18
"""Cells of the token under the cursor, at most."""
_GAP: Final = "  "
_LEAST_EDIT: Final = len("  edit +1")
"""Cells that are kept for what the edit did."""


@dataclass(frozen=True, slots=True)
class LaneFacts:
    """What is written of a lane."""

    label: str
    n_tokens: int | None
    """Of the text, or of what is selected; None as long as that is not known."""
    n_bytes: int
    """Of the same, in UTF-8."""
    under: UnderCursor | None
    edit: RememberedEdit | None
    """What the edit in question did; None if there is none."""
    why_none: str = ""
    """Why there are no tokens: a sentence, or nothing."""


def lane_facts(label: str, lane: Lane, edit: RememberedEdit | None, selection: Columns) -> LaneFacts:
    """What is written of a lane: of its tokens that meet a selection, or of all if that is empty."""
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
    short = [cut(name, most) for name in names]
    return [cut(f"{number} {name}", most) if short.count(name) > 1 else name for number, name in enumerate(short, 1)]


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
