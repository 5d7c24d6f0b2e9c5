"""KeyLine: the keys that do something now, in the last line of the screen."""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual.content import Content
from textual.events import Click, MouseMove
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from bpe_core.visible import visible
from tui.commands import COMMANDS, short_name


class HintLine(Static):
    """Shows the `hint` of whatever has the focus.

    A widget tells something of itself by an attribute `hint`, reactive where it changes; one that has none, by its
    tooltip; one without either has what is said of the part of the screen it stands in.
    """

    DEFAULT_CSS = """
    HintLine { height: 1; padding: 0 1; background: $panel; color: $text; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._follow)

    def _follow(self, focused: Widget | None) -> None:
        if focused is None:  # as while another window has the keyboard: it will come back to where it was
            return
        for node in focused.ancestors_with_self:
            self.watch(node, "hint", self._show, init=False)
        self._show()

    def _show(self) -> None:
        if (focused := self.screen.focused) is not None:
            self.update(Content(visible(hint_of(focused))), layout=False)


def hint_of(widget: Widget) -> str:
    """What `widget` says of itself, or else what is said of the part of the screen around it."""
    for node in widget.ancestors_with_self:
        hint = getattr(node, "hint", "") or (isinstance(node, Widget) and node.tooltip)
        if hint and isinstance(hint, str):
            return hint
    return ""


ALWAYS: Final = tuple(command.action for commands in COMMANDS.values() for command in commands if command.always)
"""The actions of the keys at the right end, which are there however little room there is: the ways on, and out."""
_GAP: Final = 2


class Key(NamedTuple):
    """A key as it is shown."""

    key: str
    shown: str
    """The key's name for people, such as ^q."""
    label: str
    tooltip: str
    enabled: bool

    @property
    def width(self) -> int:
        """Cells it takes."""
        return len(self.shown) + 1 + len(self.label)


class KeyLine(Widget):
    """At the left what the focused part of the screen does, then what works everywhere, as far as there is room."""

    DEFAULT_CSS = """
    KeyLine {
        height: 1;
        padding: 0 0 0 1;
        background: $footer-background;
        &> .key-line--key { color: $footer-key-foreground; background: $footer-background; text-style: bold; }
        &> .key-line--label { color: $footer-description-foreground; background: $footer-background; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--label"}

    _keys: tuple[Key, ...] = ()
    _always: tuple[Key, ...] = ()
    _places: tuple[tuple[int, Key], ...] = ()
    """First cell of each key that is seen."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._update_keys)
        self._update_keys(self.screen)

    def _update_keys(self, screen: Screen[object]) -> None:
        keys, always = [], {}
        for _, binding, enabled, tooltip in screen.active_bindings.values():
            action = binding.action.rpartition(".")[2]
            key = Key(binding.key, short_name(binding.key), binding.description, tooltip or binding.tooltip, enabled)
            if action in ALWAYS:
                always[action] = key
            elif binding.show:
                keys.append(key)
        seen = tuple(keys), tuple(always[action] for action in ALWAYS if action in always)
        if seen != (self._keys, self._always):
            self._keys, self._always = seen
            self.refresh()

    def render(self) -> Text:
        # Keys and labels, without those that would not fit; the ones at the left are the last to go.
        width = self.content_size.width
        end = sum(key.width + _GAP for key in self._always) - _GAP
        places, x = [], 0
        for key in self._keys:
            if x + key.width + _GAP + end > width:
                break
            places.append((x, key))
            x += key.width + _GAP
        x = max(x, width - end)
        for key in self._always:
            places.append((x, key))
            x += key.width + _GAP
        self._places = tuple(places)
        line = Text(no_wrap=True, end="")
        name, label = (self.get_component_rich_style(f"key-line--{part}") for part in ("key", "label"))
        for start, key in places:
            line.append(" " * (start - line.cell_len), label)
            line.append(key.shown, name).append(f" {key.label}", label)
            if not key.enabled:
                line.stylize("dim", start)
        return line

    def _at(self, x: int) -> Key | None:
        return next((key for start, key in self._places if start <= x < start + key.width), None)

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and (key := self._at(offset.x)) is not None and key.enabled:
            self.app.simulate_key(key.key)

    def on_mouse_move(self, event: MouseMove) -> None:
        offset = event.get_content_offset(self)
        key = self._at(offset.x) if offset is not None else None
        if self.tooltip != (tooltip := key.tooltip or None if key else None):
            self.tooltip = tooltip
