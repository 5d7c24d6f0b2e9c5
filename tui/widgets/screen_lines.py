"""The lines around a screen: its title with the panes, a hint for the focused part, and the keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual.binding import ActiveBinding
from textual.content import Content
from textual.events import Click, MouseMove
from textual.reactive import reactive, var
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from bpe_core.visible import counted, visible
from tui.commands.command import main_screen
from tui.commands.key_names import short_name
from tui.commands.keys import action_of
from tui.commands.panes import PANES
from tui.commands.table import COMMANDS, LEAVE_LESSON, NEXT_STEP, STEP_BACK
from tui.drawing.lines import cut
from tui.state import KnownTokenizer, Run, known_name

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

ONE_PANE: Final = ("-narrow", "-low", "-fill")
"""The classes of a screen that shows one pane at a time."""
ALWAYS: Final = tuple(
    action_of(command)
    for commands in COMMANDS.values()
    for command in commands
    if command.always
)
"""The actions whose keys are always shown."""
_PHASES: Final = {
    "counting": "counting",
    "preparing": "counting pairs",
    "merging": "learning",
}
"""Phase of a training -> its name on the screen."""
_LEAST_CUT: Final = 24
"""Cells in which a long name is cut in the middle, so that the size is shown, too."""
_LEAST_NAME: Final = 6
"""A name that is cut to fewer characters is left out."""
_LEAST_FACTS: Final = 24
"""Cells for the facts on the right. If the tabs leave fewer, the app's name is left out."""
_GAP: Final = 2


class Tab(NamedTuple):
    """The cells of a tab, from `start` to before `end`, and the id of its pane."""

    start: int
    end: int
    pane: str


class TitleLine(Widget):
    """One line: the app's name, the panes as tabs, and on the right the tokenizer and its training."""

    run: reactive[Run] = reactive(Run())
    tokenizer: "reactive[Tokenizer | None]" = reactive(None, always_update=True)
    active: reactive[str] = reactive("editor")
    path: reactive[str] = reactive("")
    kept: reactive[tuple[KnownTokenizer, ...]] = reactive(())
    notice: reactive[str] = reactive("")
    """The file that is being read or fetched."""

    tabs: Sequence[Tab] = ()
    """The tabs as they were drawn last."""

    def render(self) -> Text:
        width = self.size.width
        keys = [f"{short_name(pane.key)} " for pane in PANES]
        of_tabs = sum(
            len(key) + len(pane.title) + 1
            for key, pane in zip(keys, PANES, strict=True)
        )
        line = Text(no_wrap=True, end="")
        if width - len("bpescope  ") - of_tabs >= _LEAST_FACTS:
            line.append("bpescope  ", "bold")
        tabs = []
        for key, pane in zip(keys, PANES, strict=True):
            start = line.cell_len
            is_active = pane.id == self.active
            line.append(key, "bold reverse" if is_active else "dim")
            line.append(pane.title, "bold reverse" if is_active else "")
            tabs.append(Tab(start, line.cell_len, pane.id))
            line.append(" ")
        self.tabs = tabs
        room = width - line.cell_len
        facts = visible(self._facts(room - 2))
        room -= cell_len(facts)
        if room >= 1:
            line.append(" " * room + facts)
        return line

    def _facts(self, room: int) -> str:
        """Return the facts about the tokenizer, in `room` cells; the last ones are left out first."""
        tokenizer = self.tokenizer
        if room < _LEAST_NAME:
            return ""
        if tokenizer is None:
            return cut(self.notice, room, keep="ends")
        n_tokens = counted(tokenizer.n_tokens, "token")
        name = self._tokenizer_name
        room_of_name = room - cell_len(f" · {n_tokens}")
        if room_of_name >= _LEAST_CUT:
            name = cut(name, room_of_name, keep="ends")
        facts = [
            self.notice,
            self._progress,
            name,
            n_tokens,
            f"pattern {tokenizer.pattern or 'none'}",
        ]
        if tokenizer.record is not None:
            facts.append(f"ties {tokenizer.record.ties}")
        facts = [fact for fact in facts if fact]
        while len(facts) > 1 and cell_len(" · ".join(facts)) > room:
            facts.pop()
        return cut(" · ".join(facts), room, keep="ends")

    @property
    def _tokenizer_name(self) -> str:
        if self.path:
            return known_name(self.path, self.kept)
        return "" if self.run.busy else "not saved"

    @property
    def _progress(self) -> str:
        if self.run.phase in _PHASES and self.run.total:
            return f"{_PHASES[self.run.phase]} {self.run.fraction:.0%}"
        return ""

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        for tab in self.tabs:
            if tab.start <= offset.x < tab.end:
                main_screen(self).action_show(tab.pane)


class HintLine(Static):
    """The `hint` of the focused part, or else its tooltip, or else the hint of the part around it.

    In a lesson: the step, the keys that lead through the lesson, and its sentence.
    """

    caption: var[str] = var("", init=False)
    """The step and the sentence of a lesson, on two lines."""
    question: var[str] = var("", init=False)
    """What the lesson asks; "" if nothing is to be answered."""

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._follow)

    def watch_caption(self) -> None:
        self.screen.set_class(bool(self.caption), "-lesson")
        labels = {NEXT_STEP: "next", STEP_BACK: "back", LEAVE_LESSON: "leave"}
        if self.question:
            labels[NEXT_STEP] = "answer"
        links = "  ".join(
            f"[@click=screen.{action_of(command)}][b]{short_name(command.keys)}[/b] {label}[/]"
            for command, label in labels.items()
        )
        place, _, sentence = self.caption.partition("\n")
        content = Content.from_markup(
            f"$place   {links}\n$sentence",
            place=visible(place),
            sentence=visible(sentence),
        )
        self.update(content, layout=False)
        self._show()

    watch_question = watch_caption

    def _follow(self, focused: Widget | None) -> None:
        if focused is None:
            return  # another window has the keyboard; the focus will return
        for node in focused.ancestors_with_self:
            self.watch(node, "hint", self._show, init=False)
        self._show()

    def _show(self) -> None:
        focused = self.screen.focused
        if focused is not None and not self.caption:
            self.update(Content(visible(_hint_of(focused))), layout=False)


def _hint_of(focused: Widget) -> str:
    for node in focused.ancestors_with_self:
        hint = getattr(node, "hint", "")
        if not hint and isinstance(node, Widget):
            hint = node.tooltip
        if hint and isinstance(hint, str):
            return hint
    return ""


class _PlacedKey(NamedTuple):
    start: int
    key: ActiveBinding


def _width(key: ActiveBinding) -> int:
    return len(short_name(key.binding.key)) + 1 + len(key.binding.description)


def _is_f6(key: ActiveBinding) -> bool:
    return key.binding.key == "f6"


class KeyLine(Widget):
    """Shows the keys of the focused part on the left, and those that work everywhere on the right."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--label"}

    _keys: Sequence[ActiveBinding] = ()
    _always: Sequence[ActiveBinding] = ()
    _places: Sequence[_PlacedKey] = ()
    """The keys that have room."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._update_keys)
        self._update_keys(self.screen)

    def _update_keys(self, screen: Screen[object]) -> None:
        if self.app.screen is not screen:
            return  # a dialog covers the screen, and would be asked which keys apply
        keys = []
        by_action = {}
        for key in screen.active_bindings.values():
            if key.binding.action in ALWAYS:
                by_action[key.binding.action] = key
            elif key.binding.show:
                keys.append(key)
        # F6 comes first: it is shown even if there is little room.
        keys.sort(key=_is_f6, reverse=True)
        always = [by_action[action] for action in ALWAYS if action in by_action]
        if keys != self._keys or always != self._always:
            self._keys = keys
            self._always = always
            self.refresh()

    def _place_keys(self) -> list[_PlacedKey]:
        """Place the keys that fit; the last ones on the left are left out first."""
        width = self.content_size.width
        width_of_always = sum(_width(key) + _GAP for key in self._always) - _GAP
        places = []
        x = 0
        for key in self._keys:
            if x + _width(key) + _GAP + width_of_always > width:
                break
            places.append(_PlacedKey(x, key))
            x += _width(key) + _GAP
        x = max(x, width - width_of_always)
        for key in self._always:
            places.append(_PlacedKey(x, key))
            x += _width(key) + _GAP
        return places

    def render(self) -> Text:
        self._places = self._place_keys()
        key_style = self.get_component_rich_style("key-line--key")
        label_style = self.get_component_rich_style("key-line--label")
        line = Text(no_wrap=True, end="")
        for start, key in self._places:
            line.append(" " * (start - line.cell_len), label_style)
            line.append(short_name(key.binding.key), key_style)
            line.append(f" {key.binding.description}", label_style)
            if not key.enabled:
                line.stylize("dim", start)
        return line

    def _key_under(self, event: Click | MouseMove) -> ActiveBinding | None:
        offset = event.get_content_offset(self)
        if offset is None:
            return None
        for start, key in self._places:
            if start <= offset.x < start + _width(key):
                return key
        return None

    def on_click(self, event: Click) -> None:
        key = self._key_under(event)
        if key is not None and key.enabled:
            self.app.simulate_key(key.binding.key)

    def on_mouse_move(self, event: MouseMove) -> None:
        key = self._key_under(event)
        tooltip = None
        if key is not None:
            tooltip = key.tooltip or key.binding.tooltip or None
        if self.tooltip != tooltip:
            self.tooltip = tooltip
