"""IdsToText: ids in, text out, token by token; and what encoding that text gives, where it is something else."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Label, Static, TextArea

from bpe_core.errors import BpeError
from bpe_core.explain.decoding import DecodedSpan, RoundTripDifference, decoded_spans, round_trip_difference
from bpe_core.ids_in_text import FoundIds, ids_in
from bpe_core.pictures.colors import choose_colors
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted, visible
from tui.drawing.token_labels import token_labels
from tui.terminal.background import in_thread
from tui.terminal.guards import Dialog
from tui.widgets.colored_rows import DecodedView
from tui.widgets.token_area import TokenArea

_SOON: Final = 0.12
"""Seconds after a key before the ids are decoded."""
_MOST_TOLD: Final = 3
"""Ids, or words, of which is told that they are none."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What has become of the question."""

    typed: str
    """What was typed, to be there again the next time."""
    text: str | None = None
    """The text for the editor; None if it is not wanted there."""


class IdsToText(Dialog[Decoded]):
    """A field for ids above, their text below; F4 puts that into the editor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close"),
        Binding("f4", "to_editor", "To the editor"),
    ]
    PLACEHOLDER: ClassVar[str] = 'ids, typed or pasted: [9906, 1917] or 9906 1917 or {"ids": [9906, 1917]}'

    def __init__(self, tokenizer: Tokenizer, name: str, typed: str) -> None:
        super().__init__()
        # One of its own, for a tokenizer must not be used by two threads.
        self._tokenizer = Tokenizer(
            tokenizer.vocabulary, tokenizer.pattern, name=tokenizer.name, preparation=tokenizer.preparation
        )
        self._encoding = threading.Lock()
        """Held while it encodes: a thread whose answer is no longer waited for runs on beside the next."""
        self._called = name
        self._typed = typed
        self._soon: Timer | None = None
        self._seconds = 0.0
        """How long decoding took the last time: so long nothing must be typed before it is done again."""

    def compose(self) -> ComposeResult:
        """Ids, text, what there is to say of both, and the keys."""
        with Vertical(classes="dialog", id="ids-to-text"):
            yield TokenArea(id="typed-ids")
            yield DecodedView(id="decoded")
            yield Static(id="about-decoded", markup=False)
            yield Label("F4 puts the text into the editor  Tab to the text  Esc closes", classes="dialog--hint")

    def on_mount(self) -> None:
        """Begin with what was typed before."""
        box, area = self.query_one("#ids-to-text"), self._area
        box.border_title = "Ids in, text out"
        box.border_subtitle = f"{visible(self._called)}, {self._tokenizer.n_vocab:,} tokens".replace("[", r"\[")
        area.placeholder = self.PLACEHOLDER
        area.load(self._typed)
        area.select_all()
        area.focus()
        self._decode()

    @property
    def _area(self) -> TokenArea:
        return self.query_one("#typed-ids", TokenArea)

    @on(TextArea.Changed, "#typed-ids")
    def decode_soon(self, event: TextArea.Changed) -> None:
        """Decode once nothing is typed for a moment."""
        event.stop()
        if self._soon is not None:
            self._soon.stop()
        self._soon = self.set_timer(max(_SOON, self._seconds), self._decode)

    @work(exclusive=True)
    async def _decode(self) -> None:
        """Beside the screen: a hundred thousand ids take a second."""
        began = monotonic()
        tokenizer, view, about = self._tokenizer, self.query_one(DecodedView), self.query_one("#about-decoded", Static)
        found = await in_thread(ids_in, self._area.text)
        n_colors = len(view.current_palette.tokens)
        spans, colors = await in_thread(_decoded, tokenizer, found.ids, n_colors)
        view.show(spans, colors, tokenizer.token_bytes)
        told = [_totals(found, spans), *_not_understood(found, spans)]
        about.update(Text("\n").join(told))
        if found.ids:
            told.append(await self._difference(found.ids, spans))
            about.update(Text("\n").join(told))
        self._seconds = monotonic() - began

    async def _difference(self, ids: list[int], spans: list[DecodedSpan]) -> Text:
        try:
            other = await in_thread(self._encoded_otherwise, ids, spans)
        except BpeError as error:
            return Text(f"What encoding this text gives is not known: {visible(str(error))}", "dim")
        if other is None:
            return Text("Encoding this text gives the same ids.", "dim")
        return self._told(ids, other)

    def _encoded_otherwise(self, ids: list[int], spans: list[DecodedSpan]) -> RoundTripDifference | None:
        with self._encoding:
            return round_trip_difference(self._tokenizer, ids, spans)

    def _told(self, ids: list[int], other: RoundTripDifference) -> Text:
        view, tokenizer = self.query_one(DecodedView), self._tokenizer
        room = max(20, view.room // 2 - 4)

        def labels(tokens: Sequence[int]) -> Text:
            known = [token for token in tokens if token in tokenizer.vocabulary]
            return token_labels(known, tokenizer.token_bytes, view.current_palette, room=room)

        number = "as many ids" if other.n_ids == len(ids) else counted(other.n_ids, "id")
        begins = f"Encoding this text gives {number}, other ones from place {other.index + 1:,} on:  "
        given, encoded = labels(other.given), labels(other.encoded)
        return Text.assemble((begins, "bold"), given, "  becomes  ", encoded, "\n", visible(other.why))

    # What the keys do

    def action_leave(self) -> None:
        """Close; what was typed is there again the next time."""
        self.dismiss(Decoded(self._area.text))

    def action_to_editor(self) -> None:
        """Put the text into the editor."""
        typed = self._area.text
        self.dismiss(Decoded(typed, self._tokenizer.decode(ids_in(typed).ids)))


def _decoded(tokenizer: Tokenizer, ids: list[int], n_colors: int) -> tuple[list[DecodedSpan], list[int]]:
    spans = list(decoded_spans(tokenizer, ids))
    return spans, choose_colors(spans, n_colors)


def _totals(found: FoundIds, spans: Sequence[DecodedSpan]) -> Text:
    if not found.ids:
        return Text("No ids yet.", "dim")
    n_bytes = sum(len(span.text.encode()) for span in spans)
    return Text(f"{counted(len(found.ids), 'id')}  {counted(n_bytes, 'byte')}  {counted(spans[-1].end, 'character')}")


def _not_understood(found: FoundIds, spans: Sequence[DecodedSpan]) -> list[Text]:
    """Words that are no ids, ids that there are not, bytes that are no text: which, and where."""
    told = []
    if found.odd:
        words = ", ".join(f"{quoted(word)} behind {counted(before, 'id')}" for before, word in found.odd[:_MOST_TOLD])
        told.append(f"No id, and left out: {words}{_more(found.odd)}.")
    at = 0
    unknown, invalid = [], 0
    for span in spans:
        if span.kind == "unknown":
            unknown.append(f"{span.ids[0]} at place {at + 1:,}")
        invalid += span.kind == "invalid"
        at += len(span.ids)
    if unknown:
        told.append(f"Not in this vocabulary: {', '.join(unknown[:_MOST_TOLD])}{_more(unknown)}.")
    if invalid:
        told.append(f"{counted(invalid, 'invalid place')}: bytes that are no text stand as \\xNN.")
    return [Text(sentence, "bold") for sentence in told]


def _more(of: Sequence[object]) -> str:
    return f" and {len(of) - _MOST_TOLD:,} more" if len(of) > _MOST_TOLD else ""
