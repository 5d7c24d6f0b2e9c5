"""Excerpts: copy the editor's text or its ids, and save pictures of its tokens."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.live.live_text import LiveText
from bpe_core.pictures.drawing import TextLanes, document, drawing, page
from bpe_core.visible import counted
from tui.features.feature import Feature, StateScreen
from tui.features.texts import Texts
from tui.text.edited_text import EditedText
from tui.text.lane import impatient
from tui.text.strips import Columns

_MOST_COPIED: Final = 200_000
"""Ids that are copied without a selection, at most: no clipboard takes megabytes."""
_MOST_DRAWN: Final = 20_000
"""Characters of a picture, at most."""


class _PictureKind(NamedTuple):
    name: str
    """The name of the picture in the question."""
    suffix: str
    draw: Callable[[list[TextLanes]], str]


_PICTURES: Final = {
    "html": _PictureKind("a page", ".html", page),
    "svg": _PictureKind("a drawing", ".svg", drawing),
    "markdown": _PictureKind("Markdown", ".md", document),
}


class Excerpts(Feature):
    def __init__(self, screen: StateScreen, texts: Texts) -> None:
        super().__init__(screen)
        self._texts = texts

    def copy_text(self) -> None:
        """Copy the selection, or the whole text."""
        area = self.screen.editor.area
        self._copy(area.selected_text or area.text, "the text")

    def copy_ids(self) -> None:
        """Copy the ids of the selection or of the whole text, with spaces between them."""
        ids = self._ids()
        if ids is not None:
            self._copy(" ".join(map(str, ids)), counted(len(ids), "id"))

    def copy_list(self) -> None:
        """Copy the ids of the selection or of the whole text as a Python list."""
        ids = self._ids()
        if ids is not None:
            self._copy(str(ids), f"{counted(len(ids), 'id')} as a Python list")

    def _copy(self, text: str, name: str) -> None:
        self.screen.app.copy_to_clipboard(text)
        self.screen.say(f"Copied {name}.")

    def _ids(self) -> list[int] | None:
        """Return the ids to copy; None after showing why they can't be copied."""
        area = self.screen.editor.area
        edited = area.edited
        n_tokens = edited.n_tokens
        problem = edited.why_none
        if n_tokens is None:
            problem = problem or (
                "The tokens are still being counted. Wait a moment and copy again."
            )
        elif area.selection.is_empty and n_tokens > _MOST_COPIED:
            problem = f"{n_tokens:,} ids don't fit the clipboard. Select a part, or run bpescope encode."
        if problem:
            self.screen.say(problem, "warning")
            return None
        return edited.ids(area.selected)

    async def save_picture(self, kind: str) -> None:
        """Save a picture of the selection, or of as much of the text as fits; `kind` is a key of `_PICTURES`."""
        editor = self.screen.editor
        edited = editor.area.edited
        first, last = self._part_to_draw()
        problem = ""
        if last - first > _MOST_DRAWN:
            problem = (
                f"A picture holds {_MOST_DRAWN:,} characters at most. Select fewer."
            )
        elif edited.live is None:
            problem = edited.why_none or "The tokens are not known yet. Wait a moment."
        if problem:
            self.screen.say(problem, "warning")
            return
        picture = _PICTURES[kind]
        try:
            drawn = drawn_lanes(edited, editor.titles(), (first, last))
        except BpeError as error:
            self.failed(f"This part of the text can't be drawn: {error}")
            return
        draw = partial(picture.draw, [drawn])
        await self._texts.save_picture(draw, picture.name, f"editor{picture.suffix}")

    def _part_to_draw(self) -> Columns:
        area = self.screen.editor.area
        if not area.selection.is_empty:
            return area.selected
        if area.document.n_characters <= _MOST_DRAWN:
            return 0, area.document.n_characters
        return area.in_view


def drawn_lanes(edited: EditedText, titles: Sequence[str], part: Columns) -> TextLanes:
    """Return a part of the text under all lanes with tokens, to be drawn as `bpescope show` does.

    Splitting and encoding errors are raised: a part can be hard to split even if the whole text is not.
    """
    lanes = [
        (title, lane.live)
        for title, lane in zip(titles, edited.lanes, strict=False)
        if lane.live is not None
    ]
    with impatient():
        if len(lanes) > 1:
            return TextLanes.of(lanes, *part)
        # Encode the part separately, so that its first and last tokens are not cut.
        title, live = lanes[0]
        part_alone = LiveText(live.tokenizer, live.between(*part))
        return TextLanes.of([(title, part_alone)])
