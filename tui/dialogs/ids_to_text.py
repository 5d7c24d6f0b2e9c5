"""IdsToText: decodes typed ids token by token, and shows whether encoding their text gives the same ids."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Label, Static, TextArea

from bpe_core.errors import BpeError
from bpe_core.explain.decoding import DecodedSpan, decoded_spans, round_trip_difference
from bpe_core.pictures import choose_colors
from bpe_core.token_ids import Misfit, ids_in
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted, visible
from tui.drawing.palette import palette_of
from tui.drawing.token_labels import token_labels
from tui.terminal.background import in_thread
from tui.terminal.guards import Dialog
from tui.text.views import lay_out
from tui.widgets.colored_rows import ColoredRows
from tui.widgets.token_area import TokenArea

_PAUSE: Final = 0.12
"""Seconds after a key before the ids are decoded."""
_MOST_LISTED: Final = 3
"""Ids or words that are listed as invalid; further ones are counted."""


class DecodedIds(NamedTuple):
    """The answer of the dialog."""

    typed: str
    """The text of the field, to be offered again the next time."""
    text: str | None
    """The decoded text if it should go into the editor."""


class IdsToText(Dialog[DecodedIds]):
    """A field for ids, and their text below it. F4 puts the text into the editor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close"),
        Binding("f4", "to_editor", "To the editor"),
    ]

    def __init__(self, tokenizer: Tokenizer, name: str, typed: str) -> None:
        super().__init__()
        self._tokenizer = tokenizer
        self._tokenizer_name = name
        self._typed = typed
        # Kept as attributes: when the dialog closes, they are removed while a decoding still uses them.
        self._area = TokenArea(id="typed-ids")
        self._view = ColoredRows(id="decoded")
        self._about = Static(id="about-decoded", markup=False)
        self._last_seconds = 0.0
        """How long the last decoding took. The next one waits for a pause of that length."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="ids-to-text") as box:
            box.border_title = "Turn ids into text"
            name = visible(self._tokenizer_name).replace("[", r"\[")
            box.border_subtitle = f"{name}, {self._tokenizer.n_tokens:,} tokens"
            yield self._area
            yield self._view
            yield self._about
            yield Label(
                "F4: put the text into the editor   Tab: go to the text   Esc: close",
                classes="dialog--hint",
            )

    def on_mount(self) -> None:
        area = self._area
        first, second = self._tokenizer.vocabulary.ids()[-2:]
        area.placeholder = (
            f"Type or paste ids, e.g. {first} {second} or [{first}, {second}] "
            f'or {{"ids": [{first}]}}'
        )
        area.load_text(self._typed)
        area.select_all()
        area.focus()
        self._decode()

    @on(TextArea.Changed, "#typed-ids")
    def decode_soon(self) -> None:
        self._decode(max(_PAUSE, self._last_seconds))

    @work(exclusive=True)
    async def _decode(self, pause: float = 0.0) -> None:
        await asyncio.sleep(pause)
        started_at = monotonic()
        tokenizer = self._tokenizer
        # All in threads: a hundred thousand ids take a second.
        ids, misfits = await in_thread(ids_in, self._area.text)
        spans = await in_thread(lambda: list(decoded_spans(tokenizer, ids)))
        palette = palette_of(self.app, self._view.rich_style)
        colors = await in_thread(choose_colors, spans, len(palette.tokens))
        layout = partial(lay_out, spans, colors, tokenizer.token_bytes)
        self._view.show(layout, palette)
        notes = _notes(ids, misfits, spans)
        self._about.update(Text("\n").join(notes))
        if ids:
            notes.append(await self._round_trip_note(ids, spans))
            self._about.update(Text("\n").join(notes))
        self._last_seconds = monotonic() - started_at

    async def _round_trip_note(self, ids: list[int], spans: list[DecodedSpan]) -> Text:
        """Describe the first difference between the ids and those that encoding their text gives."""
        tokenizer = self._tokenizer
        try:
            difference = await in_thread(round_trip_difference, tokenizer, ids, spans)
        except BpeError as error:
            sentence = f"This text could not be encoded again: {visible(str(error))}"
            return Text(sentence, "dim")
        if difference is None:
            return Text("Encoding this text gives the same ids.", "dim")
        n_ids = counted(difference.n_ids, "id")
        if difference.n_ids == len(ids):
            n_ids = "the same number of ids"
        place = difference.index + 1
        return Text.assemble(
            (
                f"Encoding this text gives {n_ids}; the first difference is at place {place:,}:  ",
                "bold",
            ),
            self._labels(difference.given),
            "  becomes  ",
            self._labels(difference.encoded),
            f"\n{visible(difference.why)}",
        )

    def _labels(self, ids: Sequence[int]) -> Text:
        """Draw the tokens with these ids in half of the width."""
        tokenizer = self._tokenizer
        return token_labels(
            [id for id in ids if id in tokenizer.vocabulary],
            tokenizer.token_bytes,
            palette_of(self.app, self._view.rich_style),
            max(20, self._view.room // 2 - 4),
        )

    def action_leave(self) -> None:
        self.dismiss(DecodedIds(self._area.text, None))

    def action_to_editor(self) -> None:
        typed = self._area.text
        ids, _ = ids_in(typed)
        self.dismiss(DecodedIds(typed, self._tokenizer.decode(ids)))


def _notes(
    ids: Sequence[int], misfits: Sequence[Misfit], spans: Sequence[DecodedSpan]
) -> list[Text]:
    """Return the amounts, then a sentence for each kind of invalid input."""
    if ids:
        n_bytes = sum(len(span.text.encode()) for span in spans)
        amounts = [counted(len(ids), "id"), counted(n_bytes, "byte")]
        if spans:
            amounts.append(counted(spans[-1].end, "character"))
        notes = [Text("  ".join(amounts))]
    else:
        notes = [Text("No ids yet.", "dim")]
    unknown: list[str] = []
    n_invalid = 0
    place = 1
    for span in spans:
        if span.kind == "unknown":
            unknown.append(f"{span.ids[0]} at place {place:,}")
        elif span.kind == "invalid":
            n_invalid += 1
        place += len(span.ids)
    if misfits:
        words = [
            f"{quoted(misfit.word)} after {counted(misfit.position, 'id')}"
            for misfit in misfits
        ]
        notes.append(_list_note("Ignored (not ids)", words))
    if unknown:
        notes.append(_list_note("Not in this vocabulary", unknown))
    if n_invalid:
        places = counted(n_invalid, "place")
        notes.append(
            Text(
                f"Not valid UTF-8: {places}; the bytes are shown as \\xNN.",
                "bold",
            )
        )
    return notes


def _list_note(title: str, entries: Sequence[str]) -> Text:
    listed = ", ".join(entries[:_MOST_LISTED])
    if len(entries) > _MOST_LISTED:
        listed += f" and {len(entries) - _MOST_LISTED:,} more"
    return Text(f"{title}: {listed}.", "bold")
