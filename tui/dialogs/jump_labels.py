"""JumpLabels: a letter on each part of the screen. Press the letter, or click it, to go there."""

from collections.abc import Iterator
from string import ascii_lowercase
from typing import Any, ClassVar, Final, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from tui.terminal.guards import Dialog, stop_outdated_resize
from tui.widgets.pane import Pane
from tui.widgets.screen_lines import TitleLine
from tui.widgets.step_line import StepLine

_NEAR: Final = "asdfghjkl"
"""Home-row letters, used first."""
_LETTERS: Final = _NEAR + "".join(sorted(set(ascii_lowercase) - set(_NEAR)))
_WIDTH: Final = 3
"""Cells of a label."""


class JumpTarget(NamedTuple):
    """A part of the screen with its label."""

    offset: Offset
    """The place of the label."""
    pane: str
    """The id of the pane; "" outside of the panes."""
    part: Widget | None
    """The part that gets the focus; None for a pane that is not on the screen."""


class JumpLabels(Dialog[JumpTarget | None]):
    """Labels over another screen. Escape or the same key again closes them."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,alt+j,ctrl+f", "dismiss(None)", "Cancel")
    ]

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__()
        found = sorted(_targets(screen), key=_reading_order)
        self._targets = dict(zip(_LETTERS, found, strict=False))
        """The targets by their letters, from the top left to the bottom right."""
        self._size_of_screen = screen.app.size

    def compose(self) -> ComposeResult:
        for letter, target in self._targets.items():
            label = Static(f" {letter} ", classes="jump-label", id=f"jump-{letter}")
            x = min(target.offset.x, self._size_of_screen.width - _WIDTH)
            label.styles.offset = (x, target.offset.y)
            yield label

    def on_key(self, event: events.Key) -> None:
        target = self._targets.get(event.key)
        if target is not None:
            event.stop()
            self.dismiss(target)

    def on_click(self, event: events.Click) -> None:
        label = event.widget
        if label is not None and label.has_class("jump-label") and label.id:
            self.dismiss(self._targets[label.id.removeprefix("jump-")])
        else:
            self.dismiss(None)

    def on_resize(self, event: events.Resize) -> bool:
        if event.size != self._size_of_screen:
            # The parts have moved.
            self.dismiss(None)
        return stop_outdated_resize(self, event)


def _reading_order(target: JumpTarget) -> tuple[int, int]:
    return target.offset.y, target.offset.x


def _targets(screen: Screen[Any]) -> Iterator[JumpTarget]:
    """Yield the parts that are on the screen, the line of steps, and the tabs of panes that are not on it."""
    hidden = set()
    for pane in screen.query(Pane):
        name = pane.id or ""
        if not pane.region:
            hidden.add(name)
            continue
        for part in pane.parts():
            yield JumpTarget(_place_of(part, screen), name, part)
    steps = screen.query_one(StepLine)
    yield JumpTarget(steps.region.offset, "", steps)
    title = screen.query_one(TitleLine)
    for tab in title.tabs:
        if tab.pane in hidden:
            place = title.content_region.offset + Offset(tab.start, 0)
            yield JumpTarget(place, tab.pane, None)


def _place_of(part: Widget, screen: Screen[Any]) -> Offset:
    """Return the upper left corner of a part, or of what it is folded into."""
    for node in part.ancestors_with_self:
        if isinstance(node, Widget):
            region = screen.find_widget(node).visible_region
            if region:
                return region.offset
    return Offset()
