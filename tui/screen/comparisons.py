"""Comparisons: what can be asked for about several tokenizers, on what, and where a row of the answer leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tui.drawing.tokenizer_texts import names_told_apart
from tui.owners.comparison import EDITORS_TEXT, ComparisonRun
from tui.state.comparison import Compared
from tui.workers.comparing import Kind, Task

if TYPE_CHECKING:
    from tui.messages import PlaceOpened
    from tui.owners.text_files import TextFiles
    from tui.screen.main import MainScreen
    from tui.state.tokenizers import KnownTokenizer

_NO_TEXT = "No text is chosen: press F2, go to one, and mark it with the space bar; or compare on the editor's text."
_NO_TOKENIZER = "No tokenizer is chosen: mark two to four in the compare pane with the space bar."
_NOT_SAVED = "There is no tokenizer in force that is in a file: train one (F6), or open one."


class Comparisons:
    """Begins comparisons and measures, and shows in the editor what their rows tell of."""

    def __init__(self, screen: MainScreen, files: TextFiles, pattern_for: Callable[[Path], str | None]) -> None:
        self._screen = screen
        self._files = files
        self._pattern_for = pattern_for
        self._run = ComparisonRun(screen, partial(setattr, screen, "comparison"))

    def compare(self) -> None:
        """Compare the tokenizers that are marked on the texts that are chosen for it, or stop doing so."""
        screen, pane = self._screen, self._screen.compare_pane
        if screen.comparison.running:
            self._run.stop()
            return
        subject = pane.subject
        tokenizers = self._compared(pane.picker.chosen)
        if not tokenizers:
            screen.say(_NO_TOKENIZER, "warning")
        elif subject == "editor's text":
            self._run.start(Task(tokenizers, (), EDITORS_TEXT), screen.editor.area.text)
        elif not screen.corpus.paths:
            screen.say(_NO_TEXT, "warning")
        else:
            of: Kind = "sections" if subject == "their sections" else "texts"
            self._run.start(Task(tokenizers, screen.corpus.paths, screen.corpus.title, of))
        screen.action_show("compare")

    def measure_text(self) -> None:
        """All metrics of the tokenizer in force on the editor's text."""
        if tokenizers := self._in_force():
            self._screen.compare_pane.look_at("metrics")
            self._run.start(Task(tokenizers, (), EDITORS_TEXT), self._screen.editor.area.text)
            self._screen.action_show("compare")

    def _in_force(self) -> tuple[Compared, ...]:
        screen = self._screen
        known = [one for one in screen.kept if one.path == screen.path]
        if not known:
            screen.say(_NOT_SAVED, "warning")
        return self._compared(known)

    def _compared(self, known: Sequence[KnownTokenizer]) -> tuple[Compared, ...]:
        names = names_told_apart(self._screen.kept)
        return tuple(
            Compared(one.path, names.get(one.path, one.name), self._pattern_for(Path(one.path)) or "") for one in known
        )

    # What a row leads to

    def open_place(self, place: PlaceOpened) -> None:
        """Show a place of a text in the editor, which gets that text if it does not hold it."""
        path = Path(place.path)
        if path.name == EDITORS_TEXT:
            self._show_place(place, self._screen.editor.area.text)
        else:
            self._files.read(path, partial(self._show_place, place))

    def _show_place(self, place: PlaceOpened, text: str) -> None:
        screen = self._screen
        editor, area = screen.editor, screen.editor.area
        if area.text != text:
            editor.put(text)
            screen.say(f"The text is in the editor; Ctrl+Z there brings yours back. {place.way_back}")
        editor.view = "text"
        document = area.document
        row = max(0, min(place.line - 1, document.line_count - 1))
        start = (row, min(place.column, len(document[row])))
        area.move_cursor(start)
        if place.length:
            end = document.get_location_from_index(document.get_index_from_location(start) + place.length)
            area.move_cursor(end, select=True)
        area.scroll_cursor_visible(center=True, animate=False)
        screen.action_show("editor")
