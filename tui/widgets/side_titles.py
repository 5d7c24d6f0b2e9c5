"""SideTitles: the titles of sides that share a place, in one row, such as "Why · Pairs · Code  w".

A click on a title chooses its side. The key turns the sides.
"""

from collections.abc import Mapping
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup
from textual.events import Click
from textual.message import Message
from textual.widgets import Static, Tab, Tabs

_PREFIX: Final = "title-"
"""Distinguishes the id of a title from the id of its side."""


class SideTitles(HorizontalGroup):
    """Textual's `Tabs` without the focus and the underline, then the key that turns the sides, then a note."""

    class Chosen(Message):
        """A title was clicked."""

        def __init__(self, side: str) -> None:
            self.side = side
            super().__init__()

    class NoteClicked(Message):
        """The note was clicked."""

    def __init__(self, sides: Mapping[str, str], key: str) -> None:
        """Prepare the titles of `sides`, by their names, and the key that turns them."""
        super().__init__()
        self._sides = sides
        self._key = key
        self._seen = next(iter(sides))
        """The side whose title is marked."""

    def compose(self) -> ComposeResult:
        titles: list[Tab] = []
        for side, title in self._sides.items():
            label = f"[dim not bold]·[/] {title}" if titles else title
            titles.append(Tab(label, id=_PREFIX + side, classes="side-title"))
        tabs = Tabs(*titles)
        tabs.can_focus = False
        yield tabs
        yield Static(self._key, classes="side-key", markup=False)
        yield Static(classes="side-note", markup=False)

    def show(self, side: str) -> None:
        """Mark the title of the visible side."""
        self._seen = side
        self.query_one(Tabs).active = _PREFIX + side

    def show_note(self, note: str) -> None:
        """Show a note at the right. It fills what the titles leave, so it costs no layout."""
        self.query_one(".side-note", Static).update(note, layout=False)

    @on(Click, ".side-note")
    def _note_clicked(self) -> None:
        self.post_message(self.NoteClicked())

    @on(Tabs.TabActivated)
    def _choose(self, event: Tabs.TabActivated) -> None:
        # This message is also sent after `show`, and then the side has been chosen already.
        event.stop()
        title = event.tab.id or ""
        side = title.removeprefix(_PREFIX)
        if side != self._seen and title == event.tabs.active:
            self.post_message(self.Chosen(side))
