"""The lines around a screen: what this is and what is in force, the steps, what has the focus, what the keys do."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import ActiveBinding, BindingType
from textual.content import Content
from textual.events import Click, MouseDown, MouseMove, MouseScrollDown, MouseScrollUp
from textual.reactive import reactive, var
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from bpe_core.visible import counted, token_label, visible
from tui.commands.command import features_of, in_background, main_screen
from tui.commands.key_names import short_name
from tui.commands.keys import HasCommands, PartBindings, action_of
from tui.commands.panes import PANES
from tui.commands.table import COMMANDS, LEAVE_LESSON, NEXT_STEP, STEP_BACK
from tui.drawing.lines import cut, fit
from tui.state import Run, name_of, pace_told, steps_known

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

ONE_PANE: Final = (
    "-narrow",
    "-low",
    "-fill",
)  # classes of a screen that shows one pane at a time
ALWAYS: Final = tuple(
    action_of(command)
    for commands in COMMANDS.values()
    for command in commands
    if command.always
)
_LESSON_LINKS: Final = {"next": NEXT_STEP, "back": STEP_BACK, "leave": LEAVE_LESSON}
_DOING: Final = {
    "counting": "counting",
    "preparing": "counting pairs",
    "merging": "learning",
}
"""Phase of a training -> what is told with the share that is done."""
_LEAST_NAME: Final = 6  # characters of a tokenizer's name that still tell something
_ENOUGH: Final = 24  # cells for the facts at the right; where the tabs leave fewer, the app's own name gives way
_GAP: Final = 2
_LABEL: Final = 18  # cells for the token that a step made, so that the slider does not move with its length
_INKS: Final = ("label", "step", "done", "rest", "thumb")


class TitleLine(Widget):
    """One line: the app's name, the panes as tabs, at the right the tokenizer and its training."""

    run: reactive[Run] = reactive(Run())
    tokenizer: "reactive[Tokenizer | None]" = reactive(None, always_update=True)
    active: reactive[str] = reactive("editor")
    path: reactive[str] = reactive("")
    notice: reactive[str] = reactive("")  # what is being read or fetched

    _tabs: tuple[
        tuple[int, int, str], ...
    ] = ()  # first cell of each tab, the cell behind it, and its pane

    def render(self) -> Text:
        tabs = [(f"{short_name(pane.key)} ", pane.title, pane.id) for pane in PANES]
        width, of_tabs = (
            self.size.width,
            sum(len(key) + len(title) + 1 for key, title, _ in tabs),
        )
        line, places = Text(no_wrap=True, end=""), []
        if width - len("bpescope  ") - of_tabs >= _ENOUGH:
            line.append("bpescope  ", "bold")
        for key, title, pane in tabs:
            start, active = line.cell_len, pane == self.active
            line.append(key, "bold reverse" if active else "dim").append(
                title, "bold reverse" if active else ""
            )
            places.append((start, line.cell_len, pane))
            line.append(" ")
        self._tabs = tuple(places)
        right = visible(self._facts(width - line.cell_len - 2))
        room = width - line.cell_len - Text(right).cell_len
        return line.append(" " * room + right) if room >= 1 else line

    def _facts(self, room: int) -> str:
        tokenizer = self.tokenizer
        if room < _LEAST_NAME:
            return ""
        if tokenizer is None:
            return cut(self.notice, room, "ends")
        name = (
            name_of(Path(self.path))
            if self.path
            else ""
            if self.run.busy
            else "not saved"
        )
        is_known = self.run.phase in _DOING and self.run.total
        progress = (
            f"{_DOING[self.run.phase]} {self.run.fraction:.0%}" if is_known else ""
        )
        facts = [
            *filter(None, (self.notice, progress, name)),
            counted(tokenizer.n_tokens, "token"),
            tokenizer.pattern or "none",
        ]
        if tokenizer.record is not None:
            facts.append(f"ties {tokenizer.record.ties}")
        while len(facts) > 1 and len(" · ".join(facts)) > room:
            facts.pop()
        return cut(" · ".join(facts), room, "ends")

    def on_click(self, event: Click) -> None:
        if (offset := event.get_content_offset(self)) is not None:
            for start, end, pane in self._tabs:
                if start <= offset.x < end:
                    main_screen(self).action_show(pane)


class StepLine(HasCommands, Widget, can_focus=True):
    """A slider from no merge to all that there are; it keeps no step of its own."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"step-line--{ink}" for ink in _INKS}
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Line of steps")

    HINT: ClassVar[str] = (
        "Merges in force: ← → by one, with shift by ten. Space plays the text."
    )
    PLAYING: ClassVar[str] = (
        "Merge after merge comes into force; + and - change the pace, End shows all."
    )
    hint: var[str] = var(HINT)  # what the keys do now
    step: reactive[int] = reactive(
        0
    )  # how many merges are in force; the screen's, to which it is bound
    playing: reactive[bool] = reactive(False)  # whether the step follows the time
    pace: reactive[int] = reactive(0)
    run: reactive[Run] = reactive(Run())
    notice: reactive[str] = reactive("")  # shown as long as there is no tokenizer
    tokenizer: "reactive[Tokenizer | None]" = reactive(
        None, always_update=True
    )  # that on the screen, with all merges

    def watch_playing(self, playing: bool) -> None:
        self.hint = self.PLAYING if playing else self.HINT
        self.refresh_bindings()

    @property
    def is_held(self) -> bool:
        return not self.playing

    @property
    def n_steps(self) -> int:
        known = steps_known(self.tokenizer)
        return (
            max(known, self.run.total)
            if self.run.phase in ("merging", "showing")
            else known
        )

    def _travel(self, by: int) -> None:
        # From where the screen is by then: of several in a batch each counts.
        in_background(self, features_of(self).shown.travel(by))

    def action_leap(self, by: int) -> None:
        self._travel(by * max(1, self.n_steps // 20))

    # The mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        start, room = self._track
        x = event.x - self.gutter.left
        if x in (start - 1, start + room):
            self._travel(-1 if x < start else 1)
        elif start <= x < start + room:
            self.capture_mouse()
            self._drag(x)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._drag(event.x - self.gutter.left)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    def on_mouse_scroll_up(self, event: MouseScrollUp | MouseScrollDown) -> None:
        event.stop()
        self._travel(-1 if isinstance(event, MouseScrollUp) else 1)

    on_mouse_scroll_down = on_mouse_scroll_up

    def _drag(self, x: int) -> None:
        start, room = self._track
        step = round((x - start) / max(1, room - 1) * self.n_steps)
        step = max(0, min(step, self.n_steps))
        in_background(self, features_of(self).shown.travel_to(step))

    # Drawing

    @property
    def _says(self) -> str:  # as wide for every step
        total = f"{self.n_steps:,}"
        playing = f"▶ {pace_told(self.pace)} " if self.playing else ""
        return f" step {self.step:>{len(total)},} of {total} {playing}"

    @property
    def _track(self) -> tuple[int, int]:
        """First cell of the slider and its cells; there is none where no room is left for one."""
        start = len(self._says) + 1
        room = (
            self.size.width - start - 1 - (_LABEL + 2 if self.size.width >= 60 else 1)
        )
        return start, room if room >= 5 else 0

    def render_line(self, y: int) -> Strip:
        width, tokenizer = self.size.width, self.tokenizer
        inks = {
            ink: self.get_component_rich_style(f"step-line--{ink}") for ink in _INKS
        }
        if not self.n_steps:
            if tokenizer is None and self.notice:
                says = self.notice
            elif tokenizer is None or tokenizer.vocabulary.knows_merges:
                says = "No merges yet: every token is one byte."
            else:
                says = "The merges are not known yet."
            return Strip([Segment(fit(f" {says}", width), inks["label"])])
        says, (start, room) = self._says, self._track
        parts = [(says[:6], "label"), (says[6:], "step")]
        if room:
            thumb = round(self.step / self.n_steps * (room - 1))
            parts += [
                ("◂", "label"),
                ("━" * thumb, "done"),
                ("●", "thumb"),
                ("─" * (room - 1 - thumb), "rest"),
            ]
            parts.append(("▸", "label"))
        segments = [Segment(text, inks[ink]) for text, ink in parts]
        if (
            room
            and width - start - room > 2
            and tokenizer is not None
            and 0 < self.step <= tokenizer.step
        ):
            made = token_label(
                tokenizer.token_bytes(tokenizer.vocabulary.merge_of(self.step)[2])
            )
            segments.append(
                Segment(
                    " " + fit(made, width - start - room - 2),
                    inks["step"] + Style(bold=True),
                )
            )
        return Strip(segments).adjust_cell_length(width, inks["label"])


class HintLine(Static):
    """Shows the `hint` of whatever has the focus, its tooltip where it has none, or that of what it stands in.

    In a lesson: how far that is, the keys that lead through it, and what it says.
    """

    caption: var[str] = var("", init=False)  # of a lesson

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._follow)

    def watch_caption(self, caption: str) -> None:
        self.screen.set_class(bool(caption), "-lesson")
        place, _, says = map(visible, caption.partition("\n"))
        links = (
            f"[@click=screen.{action_of(command)}][b]{short_name(command.keys)}[/b] {label}[/]"
            for label, command in _LESSON_LINKS.items()
        )
        self.update(
            Content.from_markup(
                f"$place    {'   '.join(links)}\n$says", place=place, says=says
            ),
            layout=False,
        )
        self._show()

    def _follow(self, focused: Widget | None) -> None:
        if (
            focused is None
        ):  # as while another window has the keyboard: it will come back to where it was
            return
        for node in focused.ancestors_with_self:
            self.watch(node, "hint", self._show, init=False)
        self._show()

    def _show(self) -> None:
        if (focused := self.screen.focused) is None or self.caption:
            return
        hints = (
            getattr(node, "hint", "") or (isinstance(node, Widget) and node.tooltip)
            for node in focused.ancestors_with_self
        )
        hint = next((hint for hint in hints if hint and isinstance(hint, str)), "")
        self.update(Content(visible(hint)), layout=False)


def _width(key: ActiveBinding) -> int:
    return len(short_name(key.binding.key)) + 1 + len(key.binding.description)


class KeyLine(Widget):
    """At the left what the focused part of the screen does, then what works everywhere, as far as there is room."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--label"}

    _keys: Sequence[Sequence[ActiveBinding]] = (
        [],
        [],
    )  # those as far as there is room, and those of `ALWAYS`
    _places: tuple[
        tuple[int, ActiveBinding], ...
    ] = ()  # first cell of each key that is seen

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._update_keys)
        self._update_keys(self.screen)

    def _update_keys(self, screen: Screen[object]) -> None:
        keys, always = [], {}
        for key in screen.active_bindings.values():
            action = key.binding.action
            if action in ALWAYS:
                always[action] = key
            elif key.binding.show:
                keys.append(key)
        keys.sort(
            key=lambda key: key.binding.key != "f6"
        )  # whatever has the focus, and however little room there is
        seen = keys, [always[action] for action in ALWAYS if action in always]
        if (
            seen != self._keys and self.app.screen is screen
        ):  # not a dialog over it, of which it would ask what applies
            self._keys = seen
            self.refresh()

    def render(self) -> Text:
        # Keys and labels, without those that would not fit; the ones at the left are the last to go.
        keys, always = self._keys
        width, end = (
            self.content_size.width,
            sum(_width(key) + _GAP for key in always) - _GAP,
        )
        places, x = [], 0
        for key in keys:
            if x + _width(key) + _GAP + end > width:
                break
            places.append((x, key))
            x += _width(key) + _GAP
        x = max(x, width - end)
        for key in always:
            places.append((x, key))
            x += _width(key) + _GAP
        self._places = tuple(places)
        line = Text(no_wrap=True, end="")
        name, label = (
            self.get_component_rich_style(f"key-line--{part}")
            for part in ("key", "label")
        )
        for x, (_, binding, enabled, _) in places:
            line.append(" " * (x - line.cell_len), label)
            line.append(short_name(binding.key), name).append(
                f" {binding.description}", label
            )
            if not enabled:
                line.stylize("dim", x)
        return line

    def _key_under(self, event: Click | MouseMove) -> ActiveBinding | None:
        if (offset := event.get_content_offset(self)) is None:
            return None
        return next(
            (
                key
                for start, key in self._places
                if start <= offset.x < start + _width(key)
            ),
            None,
        )

    def on_click(self, event: Click) -> None:
        if (key := self._key_under(event)) is not None and key.enabled:
            self.app.simulate_key(key.binding.key)

    def on_mouse_move(self, event: MouseMove) -> None:
        key = self._key_under(event)
        if self.tooltip != (
            tooltip := key.tooltip or key.binding.tooltip or None if key else None
        ):
            self.tooltip = tooltip
