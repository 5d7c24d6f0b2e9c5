"""IdsToText: ids in, text out, token by token; and what encoding that text gives, where it is something else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from time import monotonic
from typing import ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Label, Static, TextArea

from bpe_core.errors import BpeError
from bpe_core.explain.decoding import DecodedSpan, decoded_spans, round_trip_difference
from bpe_core.pictures import choose_colors
from bpe_core.token_ids import ids_in
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted, visible
from tui.drawing.palette import palette_of, token_labels
from tui.terminal.background import in_thread
from tui.terminal.guards import Dialog
from tui.text.views import lay_out
from tui.widgets.colored_rows import ColoredRows
from tui.widgets.token_area import TokenArea

_SOON: Final = 0.12  # seconds after a key before the ids are decoded
_MOST_LISTED: Final = 3  # ids, or words, that are not understood


class IdsToText(Dialog[tuple[str, str | None]]):
    """A field for ids above, their text below; F4 puts that into the editor.

    Gives what was typed, to be there again the next time, and the text for the editor; None if it is not wanted there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close"),
        Binding("f4", "to_editor", "To the editor"),
    ]

    def __init__(self, tokenizer: Tokenizer, name: str, typed: str) -> None:
        super().__init__()
        self._tokenizer, self._called, self._typed = tokenizer, name, typed
        # Not to be asked for: what was typed last is still being decoded when the dialog goes, and they before it.
        self._area, self._view = TokenArea(id="typed-ids"), ColoredRows(id="decoded")
        self._about = Static(id="about-decoded", markup=False)
        self._seconds = (
            0.0  # of the last decoding: so long nothing must be typed before the next
        )

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="ids-to-text") as box:
            box.border_title = "Turn ids into text"
            box.border_subtitle = (
                f"{visible(self._called)}, {self._tokenizer.n_tokens:,} tokens".replace(
                    "[", r"\["
                )
            )
            yield self._area
            yield self._view
            yield self._about
            yield Label(
                "F4 puts the text into the editor  Tab to the text  Esc closes",
                classes="dialog--hint",
            )

    def on_mount(self) -> None:
        area = self._area
        area.placeholder = (
            'ids, typed or pasted: [9906, 1917] or 9906 1917 or {"ids": [9906, 1917]}'
        )
        area.load_text(self._typed)
        area.select_all()
        area.focus()
        self._decode()

    @on(TextArea.Changed, "#typed-ids")
    def decode_soon(self) -> None:
        self._decode(max(_SOON, self._seconds))

    @work(exclusive=True)
    async def _decode(self, rest: float = 0.0) -> None:
        await asyncio.sleep(rest)
        began = monotonic()
        tokenizer, view, about = self._tokenizer, self._view, self._about
        ids, odd = await in_thread(
            ids_in, self._area.text
        )  # a hundred thousand ids take a second
        spans = await in_thread(lambda: [*decoded_spans(tokenizer, ids)])
        palette = palette_of(self.app, view.rich_style)
        colors = await in_thread(choose_colors, spans, len(palette.tokens))
        view.show(partial(lay_out, spans, colors, tokenizer.token_bytes), palette)
        notes = [*_notes(ids, odd, spans)]
        about.update(Text("\n").join(notes))
        if ids:
            notes.append(await self._difference(ids, spans))
            about.update(Text("\n").join(notes))
        self._seconds = monotonic() - began

    async def _difference(self, ids: list[int], spans: list[DecodedSpan]) -> Text:
        view, tokenizer = self._view, self._tokenizer
        try:
            other = await in_thread(round_trip_difference, tokenizer, ids, spans)
        except BpeError as error:
            return Text(
                f"What encoding this text gives is not known: {visible(str(error))}",
                "dim",
            )
        if other is None:
            return Text("Encoding this text gives the same ids.", "dim")
        palette, room = (
            palette_of(self.app, view.rich_style),
            max(20, view.room // 2 - 4),
        )
        known = (
            list(filter(tokenizer.vocabulary.__contains__, ids))
            for ids in (other.given, other.encoded)
        )
        given, encoded = (
            token_labels(tokens, tokenizer.token_bytes, palette, room)
            for tokens in known
        )
        number = (
            "as many ids" if other.n_ids == len(ids) else counted(other.n_ids, "id")
        )
        begins = f"Encoding this text gives {number}, different from place {other.index + 1:,} on:  "
        return Text.assemble(
            (begins, "bold"), given, "  becomes  ", encoded, "\n", visible(other.why)
        )

    def action_leave(self) -> None:
        self.dismiss((self._area.text, None))

    def action_to_editor(self) -> None:
        typed = self._area.text
        self.dismiss((typed, self._tokenizer.decode(ids_in(typed)[0])))


def _notes(
    ids: Sequence[int], words: Sequence[tuple[int, str]], spans: Sequence[DecodedSpan]
) -> Iterator[Text]:
    """How much it is; which words are no ids, which ids there are not, which bytes are no text, and where."""
    amounts = ((len(ids), "id"), (sum(len(one.text.encode()) for one in spans), "byte"))
    said = [
        counted(*amount)
        for amount in (*amounts, *((one.end, "character") for one in spans[-1:]))
    ]
    yield Text("  ".join(said)) if ids else Text("No ids yet.", "dim")
    odd = [f"{quoted(word)} behind {counted(before, 'id')}" for before, word in words]
    at, n_invalid, unknown = 0, 0, []
    for span in spans:
        if span.kind == "unknown":
            unknown.append(f"{span.ids[0]} at place {at + 1:,}")
        n_invalid += span.kind == "invalid"
        at += len(span.ids)
    for what, listed in (
        ("Not an id, ignored", odd),
        ("Not in this vocabulary", unknown),
    ):
        more = (
            f" and {len(listed) - _MOST_LISTED:,} more"
            if len(listed) > _MOST_LISTED
            else ""
        )
        if listed:
            yield Text(f"{what}: {', '.join(listed[:_MOST_LISTED])}{more}.", "bold")
    if n_invalid:
        yield Text(
            f"{counted(n_invalid, 'invalid place')}: bytes that are not text are shown as \\xNN.",
            "bold",
        )
