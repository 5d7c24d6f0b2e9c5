"""Excerpts: copy the editor's text or its ids, and save pictures of its tokens."""

from typing import Final

from bpe_core.errors import BpeError
from bpe_core.visible import counted
from tui.features.feature import Feature, StateScreen
from tui.features.texts import Texts
from tui.text import excerpts
from tui.text.excerpts import PICTURES
from tui.text.strips import Columns

_MOST_DRAWN: Final = 20_000
"""Characters of a picture, at most."""


class Excerpts(Feature):
    def __init__(self, screen: StateScreen, texts: Texts) -> None:
        super().__init__(screen)
        self._texts = texts

    def copy_text(self) -> None:
        """Copy the selection, or the whole text."""
        area = self.screen.editor.area
        self.screen.app.copy_to_clipboard(area.selected_text or area.text)
        self.screen.say("Copied the text.")

    def copy_ids(self) -> None:
        """Copy the ids of the selection or of the whole text, with spaces between them."""
        ids = self._ids()
        if ids is not None:
            self.screen.app.copy_to_clipboard(" ".join(map(str, ids)))
            self.screen.say(f"Copied {counted(len(ids), 'id')}.")

    def copy_list(self) -> None:
        """Copy the ids of the selection or of the whole text as a Python list."""
        ids = self._ids()
        if ids is not None:
            self.screen.app.copy_to_clipboard(str(ids))
            self.screen.say(f"Copied {counted(len(ids), 'id')} as a Python list.")

    def _ids(self) -> list[int] | None:
        """Return the ids to copy; None after showing why they can't be copied."""
        area = self.screen.editor.area
        problem = excerpts.why_no_ids(area.edited, area.selected)
        if problem:
            self.screen.say(problem, "warning")
            return None
        return excerpts.ids_of(area.edited, area.selected)

    async def save_picture(self, kind: str) -> None:
        """Save a picture of the selection, or of as much of the text as fits; `kind` is one of `PICTURES`."""
        editor = self.screen.editor
        edited = editor.area.edited
        first, last = self._part_to_draw()
        if last - first > _MOST_DRAWN:
            self.screen.say(
                f"A picture holds {_MOST_DRAWN:,} characters at most: select fewer.",
                "warning",
            )
            return
        if edited.live is None:
            problem = edited.why_none or "The tokens are not known yet. Wait a moment."
            self.screen.say(problem, "warning")
            return
        picture = PICTURES[kind]
        try:
            draw = excerpts.picture(edited, editor.titles(), (first, last), kind)
        except BpeError as error:
            self.failed(f"This part of the text can't be drawn: {error}")
            return
        await self._texts.save_picture(draw, picture.name, f"editor{picture.suffix}")

    def _part_to_draw(self) -> Columns:
        area = self.screen.editor.area
        first, last = area.selected
        if first < last:
            return first, last
        if area.document.n_characters <= _MOST_DRAWN:
            return 0, area.document.n_characters
        return area.in_view
