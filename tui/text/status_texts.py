"""The status lines under the editor: totals, the last edits, the pinned text, and pitfalls."""

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from rich.style import Style
from rich.text import Text

from bpe_core.explain.pitfalls import Pitfall
from bpe_core.live.baseline import BaselineDiff, Hunk
from bpe_core.live.live_text import Change, LiveText
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible
from tui.drawing.palette import Palette, Ways
from tui.drawing.token_labels import token_labels

_MOST_IDS: Final = 20
"""Ids of a selection that are listed."""
_LISTED_FROM: Final = 1_000
"""Characters of a selection whose ids are looked up."""
_ARROW: Final = " → "
_GONE: Final = Style(strike=True)
"""Added to tokens that an edit removed."""


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
    exchange = exchange_text(change, edit.tokenizer, palette, room - len(numbers))
    return _line("").append_text(exchange).append(numbers)


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
    exchange = exchange_text(first, tokenizer, palette, room)
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


def exchange_text(
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
