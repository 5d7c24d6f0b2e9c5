"""Texts: open texts in the editor, save them, and export or convert the tokenizer."""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core.formats import WRITABLE, save
from bpe_core.runs import exported
from bpe_core.visible import visible
from tui.dialogs.answers import one_of
from tui.dialogs.ask import Ask
from tui.dialogs.ask_path import AskPath, existing_file, place_of_file
from tui.dialogs.confirm import Confirm
from tui.disk.config import write_file
from tui.disk.sources import file_source, text_of, whole_text
from tui.features.feature import NO_TOKENIZER, Feature, StateScreen
from tui.features.tokenizers import Tokenizers
from tui.state import EDITORS_TEXT, PlaceInText, TextSource, known_name
from tui.terminal.background import in_thread

_MOST_KEPT: Final = 9
"""How many replaced texts are remembered. 10 MB of them delay the start by 0.12 s."""
_LONGEST_KEPT: Final = 2_000_000
"""Characters of the longest text that is remembered."""


class _Export(NamedTuple):
    """The words of the question where to save an export."""

    called: str
    file_name: str


_EXPORTS: Final = {
    "merges": _Export("the merges", "merges.tsv"),
    "curve": _Export("the curve", "curve.csv"),
    "record": _Export("the training record", "training.json"),
}
"""What can be exported -> what the question calls it."""


class Texts(Feature):
    def __init__(self, screen: StateScreen, tokenizers: Tokenizers) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self._typed_ids = ""
        """The ids that were typed last."""

    def show(self, text: str, *, own: bool = False) -> None:
        self.screen.editor.put(text, own=own)
        self.screen.action_show("editor")

    def set_aside(self, text: str, by_own: bool) -> None:
        """Remember a text of the user that was replaced in the editor.

        `by_own` is true if another text of the user replaced it. Then it is the last to be brought back, so that
        Alt+Z, pressed again and again, shows all of them. Otherwise it is the first.
        """
        texts = [other for other in self.screen.remembered.texts if other != text]
        if by_own:
            texts.append(text)
        else:
            texts.insert(0, text)
        short = [one for one in texts if len(one) <= _LONGEST_KEPT]
        kept = tuple(short[:_MOST_KEPT])
        self.screen.remember(texts=kept)
        if text not in kept:
            self.screen.say("Ctrl+Z in the editor brings your text back.")
        elif not by_own:
            sentence = "Alt+Z brings your text back."
            if len(short) > _MOST_KEPT:
                sentence += f" An older text was forgotten: only the last {_MOST_KEPT} are kept."
            self.screen.say(sentence)

    def bring_back(self) -> None:
        """Show the text that was replaced most recently. Called again, show the one replaced before it."""
        texts = self.screen.remembered.texts
        if not texts or not texts[0]:
            self.screen.say(
                "None of your texts was replaced. Ctrl+Z in the editor undoes the last change."
            )
            return
        others = texts[1:]
        if len(texts) < _MOST_KEPT:
            self.screen.remember(texts=(*others, texts[0]))
        else:
            # Make room for the text in the editor. This one is remembered again when it is replaced.
            self.screen.remember(texts=others)
        self.show(texts[0], own=True)

    def open(self, source: TextSource | None = None) -> None:
        """Open a text of the corpus pane; None: ask for a path."""
        self.begin(partial(self._open, source))

    async def _open(self, source: TextSource | None) -> None:
        if source is None:
            question = "Which text do you want to open in the editor?"
            path = await self.screen.ask(AskPath(question, parse=existing_file))
            if path is None:
                return
            source = await in_thread(file_source, path)
        label = "" if source.is_folder else "Read it as a text"
        path = Path(source.path)
        if source.preset or await self._tokenizers.path_if_text(path, label):
            self.show(await in_thread(text_of, source))

    async def save_text(self) -> None:
        text = self.screen.editor.area.text
        await self.save_picture(lambda: text, "the text", "")

    async def save_picture(self, draw: Callable[[], str], what: str, name: str) -> None:
        """Draw and save in a thread, because the SVG of a long text takes a second."""
        await self.save(
            f"Save {what} to which file?", lambda path: _write(path, [draw()]), name
        )

    async def save(
        self,
        question: str,
        write: Callable[[Path], object],
        name: str = "",
        suffixes: Sequence[str] = (),
    ) -> Path | None:
        """Ask for a path with one of these suffixes, if any, and call `write` with it in a thread.

        `name` is the proposed file name. Return the path if the file was written.
        """
        path = await self.screen.ask(
            AskPath(question, name, parse=partial(place_of_file, suffixes))
        )
        if path is not None and await in_thread(os.path.exists, path):
            replaces = await self.screen.ask(
                Confirm(f"Replace {visible(str(path))}?", "Replace")
            )
            if not replaces:
                return None
        if path is not None:
            try:
                await in_thread(write, path)
                self.screen.say(f"Saved as {path}.")
            except OSError as error:
                self.failed(f"{path} could not be written: {error.strerror}.")
                return None
        return path

    async def export(self, what: str) -> None:
        screen = self.screen
        tokenizer = screen.tokenizer
        if tokenizer is None or not tokenizer.vocabulary.knows_merges:
            screen.say("There are no merges to export yet.", "warning")
            return
        name = known_name(screen.path, screen.kept) if screen.path else "training"
        words = _EXPORTS[what]
        parts = await in_thread(exported, what, [tokenizer], [name])
        await self.save(
            f"Save {words.called} to which file?",
            lambda path: _write(path, parts),
            words.file_name,
        )

    async def convert(self) -> None:
        """Save the tokenizer at the current step in the format of another library."""
        screen = self.screen
        tokenizer = screen.in_force
        if tokenizer is None:
            screen.say(NO_TOKENIZER, "warning")
            return
        form = await self.ask_format(
            "For which library do you want to save this tokenizer?"
        )
        if form is not None:
            await self.save(
                "In which file?", lambda path: save(tokenizer, path, format=form)
            )

    async def ask_format(
        self, question: str, proposed: str | None = None
    ) -> str | None:
        """Ask for a format to write; None if the user cancels. `proposed` may be a format that is only read."""
        start = proposed if proposed in WRITABLE else ""
        return await self.screen.ask(
            Ask(
                question,
                partial(one_of, WRITABLE),
                start,
                hint=f"{', '.join(WRITABLE)}. Tab completes.",
                suggest=WRITABLE,
            )
        )

    async def ids_to_text(self) -> None:
        """Ask for ids and show their text. Start with the ids of the editor's selection, or with those of last time."""
        from tui.dialogs.ids_to_text import IdsToText

        screen = self.screen
        if screen.in_force is None:
            screen.say(NO_TOKENIZER, "warning")
            return
        name = known_name(screen.path, screen.kept) if screen.path else "in training"
        area = screen.editor.area
        ids = self._typed_ids
        if not area.selection.is_empty:
            ids = str(area.edited.ids(area.selected) or ids)
        answer = await screen.ask(IdsToText(screen.in_force, name, ids))
        self._typed_ids = answer.typed
        if answer.text is not None:
            self.show(answer.text)

    # Places

    def open_place(self, place: PlaceInText) -> None:
        """Show a place in a text. Put the text into the editor, if it is not there yet."""
        self.begin(partial(self._open_place, place))

    async def _open_place(self, place: PlaceInText) -> None:
        screen = self.screen
        path = Path(place.path)
        editor = screen.editor
        area = editor.area
        text = area.text
        comparison = screen.comparison
        if path.name != EDITORS_TEXT:
            text = await in_thread(partial(whole_text, is_document=True), path)
        elif any(compared.path == place.path for compared in comparison.texts[:1]):
            text = comparison.text
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
    """Write a file in one step, so that a full disk does not destroy an old file."""
    write_file(path, (part.encode("utf-8", "replace") for part in parts))
