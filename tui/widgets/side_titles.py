"""SideTitles: the titles of sides that share a place, in one row. A click on a title chooses its side."""

from collections.abc import Mapping
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup
from textual.message import Message
from textual.widgets import Static, Tab, Tabs

_PREFIX: Final = "title-"
"""Distinguishes the id of a title from the id of its side."""


class SideTitles(HorizontalGroup):
    """Textual's `Tabs` without the focus and the underline, then a note, then the key that turns the sides."""

    class Chosen(Message):
        """A title was clicked."""

        def __init__(self, side: str) -> None:
            self.side = side
            super().__init__()

    def __init__(self, sides: Mapping[str, str], keys: str = "") -> None:
        """`sides` is the id of each side -> its title. `keys` is shown at the right end."""
        super().__init__()
        self._sides = sides
        self._keys = keys
        self._seen = next(iter(sides))
        """The side whose title is marked."""

    def compose(self) -> ComposeResult:
        titles = [
            Tab(title, id=_PREFIX + side, classes="side-title")
            for side, title in self._sides.items()
        ]
        tabs = Tabs(*titles)
        tabs.can_focus = False
        yield tabs
        yield Static(classes="side-note", markup=False)
        yield Static(self._keys, classes="side-keys", markup=False)

    def show(self, side: str) -> None:
        """Mark the title of the visible side."""
        self._seen = side
        self.query_one(Tabs).active = _PREFIX + side

    def show_note(self, note: str, keys: str) -> None:
        """Change the note and the keys on the right. Only other keys need a new layout."""
        self.query_one(".side-note", Static).update(note, layout=False)
        if keys != self._keys:
            self._keys = keys
            self.query_one(".side-keys", Static).update(keys)

    @on(Tabs.TabActivated)
    def _choose(self, event: Tabs.TabActivated) -> None:
        # This message is also sent after `show`, and then the side has been chosen already.
        event.stop()
        title = event.tab.id or ""
        side = title.removeprefix(_PREFIX)
        if side != self._seen and title == event.tabs.active:
            self.post_message(self.Chosen(side))
