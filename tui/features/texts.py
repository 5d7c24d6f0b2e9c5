"""Texts: from disk into the editor and back, from ids, from examples; and what was learned, saved for others."""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from bpe_core.formats import WRITABLE, save
from bpe_core.runs import exported
from bpe_core.visible import visible
from tui.dialogs.questions import (
    Ask,
    AskPath,
    Confirm,
    existing_file,
    one_of,
    place_of_file,
)
from tui.disk.config import write_file
from tui.disk.sources import file_source, text_of, whole_text
from tui.features.feature import NO_TOKENIZER, Feature, StateScreen
from tui.features.tokenizers import Tokenizers
from tui.state import EDITORS_TEXT, PlaceInText, TextSource, name_of
from tui.terminal.background import in_thread

_MOST_ASIDE, _LONGEST_ASIDE = (
    9,
    2_000_000,
)  # texts that are set aside, and characters of one: 10 MB cost a start 0.12 s
_NAMES = {
    "merges": ("the merges", "merges.tsv"),
    "curve": ("the curve", "curve.csv"),
    "record": ("the training record", "training.json"),
}
"""What can be exported -> what the question calls it, and the name that is proposed."""


class Texts(Feature):
    def __init__(self, screen: StateScreen, tokenizers: Tokenizers) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self._typed_ids = ""  # ids whose text was looked at last

    def show(self, text: str, *, own: bool = False) -> None:
        self.screen.editor.put(text, own=own)
        self.screen.action_show("editor")

    def set_aside(self, text: str, last: bool) -> None:
        """Keep a text of the user's that another takes the place of, to come back next, or as the last."""
        others = [other for other in self.screen.remembered.texts if other != text]
        texts = [*others, text] if last else [text, *others]
        kept = tuple(one for one in texts if len(one) <= _LONGEST_ASIDE)[:_MOST_ASIDE]
        self.screen.remember(texts=kept)
        if not last:
            self.screen.say(
                f"{'Alt+Z' if text in kept else 'Ctrl+Z in the editor'} brings your text back."
            )

    def bring_back(self) -> None:
        """Put the text into the editor that was set aside last, or once more the one before."""
        first, *others = self.screen.remembered.texts or [""]
        if not first:
            return self.screen.say(
                "No text of yours was replaced; Ctrl+Z in the editor undoes the last change."
            )
        self.screen.remember(texts=(*others, first))
        self.show(first, own=True)

    def open(self, source: TextSource | None = None) -> None:
        """Open `source`, a text of the corpus pane; None: ask for a path."""
        self.begin(partial(self._open, source))

    async def _open(self, source: TextSource | None) -> None:
        if source is None:
            path = await self.screen.ask(
                AskPath(
                    "Which text should be opened in the editor?", parse=existing_file
                )
            )
            if path is None:
                return
            source = await in_thread(file_source, path)
        choice = "" if source.is_folder else "Read it as a text"
        if source.preset or await self._tokenizers.as_text(Path(source.path), choice):
            self.show(await in_thread(text_of, source))

    async def save_text(self) -> None:
        text = self.screen.editor.area.text
        await self.save_picture(lambda: text, "the text", "")

    async def save_picture(self, draw: Callable[[], str], what: str, name: str) -> None:
        """Save what `draw` gives, in a thread: an SVG of a long text takes a second."""
        await self.save(
            f"Where should {what} be saved?", lambda path: _write(path, (draw(),)), name
        )

    async def save(
        self,
        question: str,
        write: Callable[[Path], object],
        name: str = "",
        suffixes: Sequence[str] = (),
    ) -> None:
        """Ask for a path, `name` being proposed, whose suffix is one of these, if any; `write` there, in a thread."""
        path = await self.screen.ask(
            AskPath(question, name, parse=partial(place_of_file, suffixes))
        )
        if path is not None and await in_thread(os.path.exists, path):
            replaces = await self.screen.ask(
                Confirm(f"Replace {visible(str(path))}?", "Replace")
            )
            path = path if replaces else None
        if path is not None:
            try:
                await in_thread(write, path)
                self.screen.say(f"Saved as {path}.")
            except OSError as error:
                self.failed(f"{path} could not be written: {error.strerror}.")

    async def export(self, what: str) -> None:
        screen, tokenizer = self.screen, self.screen.tokenizer
        if tokenizer is None or not tokenizer.vocabulary.knows_merges:
            return screen.say("There are no merges to export yet.", "warning")
        name = name_of(Path(screen.path)) if screen.path else "training"
        called, file = _NAMES[what]
        parts = await in_thread(exported, what, [tokenizer], [name])
        await self.save(
            f"Where should {called} be saved?", lambda path: _write(path, parts), file
        )

    async def convert(self) -> None:
        screen, tokenizer = self.screen, self.screen.in_force
        if tokenizer is None:
            return screen.say(NO_TOKENIZER, "warning")
        question = (
            "For which library should this tokenizer be saved, as it is in force?"
        )
        hint = f"{', '.join(WRITABLE)}. Tab completes."
        form = await screen.ask(
            Ask(question, partial(one_of, WRITABLE), hint=hint, suggest=WRITABLE)
        )
        if form is not None:
            await self.save(
                "In which file?", lambda path: save(tokenizer, path, format=form)
            )

    async def ids_to_text(self) -> None:
        """Show the text of ids: of those that were typed before, or of the editor's selection."""
        from tui.dialogs.ids_to_text import IdsToText

        screen = self.screen
        if screen.in_force is None:
            return screen.say(NO_TOKENIZER, "warning")
        name = name_of(Path(screen.path)) if screen.path else "in training"
        area = screen.editor.area
        selected = area.edited.ids(area.selected) if not area.selection.is_empty else []
        typed = str(selected) if selected else self._typed_ids
        self._typed_ids, text = await screen.ask(
            IdsToText(screen.in_force, name, typed)
        )
        if text is not None:
            self.show(text)

    # Places

    def open_place(self, place: PlaceInText) -> None:
        """Show a place of a text in the editor, which gets that text if it does not hold it."""
        self.begin(partial(self._open_place, place))

    async def _open_place(self, place: PlaceInText) -> None:
        screen, path = self.screen, Path(place.path)
        editor, area = screen.editor, screen.editor.area
        text = (
            area.text
            if path.name == EDITORS_TEXT
            else await in_thread(partial(whole_text, is_document=True), path)
        )
        if area.text != text:
            editor.put(text)
            screen.say(f"The text is in the editor. {place.way_back}")
        editor.view = "text"
        document = area.document
        row = max(0, min(place.line - 1, document.line_count - 1))
        start = (row, min(place.column, len(document[row])))
        area.move_cursor(start)
        if place.length:
            end = document.get_location_from_index(
                document.get_index_from_location(start) + place.length
            )
            area.move_cursor(end, select=True)
        area.scroll_cursor_visible(center=True, animate=False)
        screen.action_show("editor")


def _write(path: Path, parts: Iterable[str]) -> None:
    """In one step: a disk that is full must not cost what stood there before."""
    write_file(path, (part.encode("utf-8", "replace") for part in parts))
