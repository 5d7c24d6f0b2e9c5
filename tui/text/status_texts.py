"""The lines under the editor's text, in words and numbers: totals, the last edits, the baseline, the pitfalls."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, Self

from rich.text import Text

from bpe_core.explain.pitfall_detectors import Pitfall
from bpe_core.live.baseline import Comparison
from bpe_core.live.live_text import Change, LiveText
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from tui.drawing.palette import Palette
from tui.drawing.token_labels import GONE, changed, token_labels

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
        """By how many bytes."""
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
    told = f"  {_grown(change.n_tokens, change.n_bytes)}"
    if change.ripple:
        told += f"  ripple {change.ripple:,}"
    room = width - line.cell_len - len(told)
    exchange = _exchange(change.removed_ids, change.inserted_ids, edited.tokenizer, palette, room)
    return line.append_text(exchange).append(told)


def short_edit(edited: RememberedEdit, palette: Palette, room: int) -> Text:
    """The same of one of several lanes in `room` cells: the exchanged tokens if they fit, and how many more there are.

    Bytes are left out, as they are those of every lane.
    """
    compared = edited.compared
    if compared is None:
        return _line("too large", "dim")
    if len(compared) == 1 and not compared[0].removed_ids and not compared[0].inserted_ids:
        return _line("no token changed", "dim")
    told = signed(edited.n_tokens)
    if len(compared) > 1 or room < len(told) + 1 + _LEAST_EXCHANGE:
        return _line(told)
    (change,) = compared
    exchange = _exchange(change.removed_ids, change.inserted_ids, edited.tokenizer, palette, room - len(told) - 1)
    return exchange.append(f" {told}") if exchange.cell_len + 1 + len(told) <= room else _line(told)


def baseline_line(comparison: Comparison | None, tokenizer: Tokenizer | None, palette: Palette, width: int) -> Text:
    """How the text differs from what it was when it was pinned."""
    line = _line("pinned     ", "dim")
    if comparison is None or tokenizer is None:
        return line.append("too much has changed to compare it token by token", "dim")
    if not comparison.hunks:
        return line.append("no token differs", "dim")
    first, n_more = comparison.hunks[0], len(comparison.hunks) - 1
    told = f"  and {counted(n_more, 'other place')}" if n_more else ""
    told += f"  {_grown(comparison.n_tokens, comparison.n_bytes)}"
    room = width - line.cell_len - len(told)
    removed, inserted = comparison.removed(first), comparison.inserted(first)
    return line.append_text(_exchange(removed, inserted, tokenizer, palette, room)).append(told)


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

    def gone(cells: int) -> Text:
        return token_labels(removed, tokenizer.token_bytes, palette, over=GONE, room=cells) if removed else _nothing()

    def came(cells: int) -> Text:
        labels = token_labels(inserted, tokenizer.token_bytes, palette, way=changed, room=cells)
        return labels if inserted else _nothing()

    room -= len(_ARROW)
    right = came(room - min(gone(room).cell_len, room // 2))
    return Text(_ARROW, "bold").join((gone(room - right.cell_len), right))


def _nothing() -> Text:
    return Text("nothing", "dim italic")
