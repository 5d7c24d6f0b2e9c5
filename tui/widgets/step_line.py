"""StepLine: the slider below the panes, which chooses how many merges are applied."""

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.events import MouseDown, MouseMove, MouseScrollDown, MouseScrollUp
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.widget import Widget

from bpe_core.visible import token_label
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.drawing.lines import fit
from tui.state import Run, pace_told, steps_known

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

_LABEL: Final = 18
"""Cells for the token that a step made, so that the slider does not move with its length."""
_INKS: Final = ("label", "step", "done", "rest", "thumb")


class _Track(NamedTuple):
    """The cells of the slider between its arrows; the width is 0 if it has no room."""

    start: int
    width: int


class StepLine(HasCommands, Widget, can_focus=True):
    """A slider from no merge to all of them. The step is the screen's, to which it is bound."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"step-line--{ink}" for ink in _INKS}
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Line of steps")

    HINT: ClassVar[str] = (
        "Merges applied to the text: ← → one, with shift ten. Space plays them."
    )
    PLAYING: ClassVar[str] = (
        "Playing merge after merge: + and - change the pace, End shows all."
    )
    hint: var[str] = var(HINT)
    """A sentence about the keys that work now."""
    step: reactive[int] = reactive(0)
    """How many merges are applied."""
    playing: reactive[bool] = reactive(False)
    pace: reactive[int] = reactive(0)
    run: reactive[Run] = reactive(Run())
    notice: reactive[str] = reactive("")
    """Shown while the tokenizer is missing."""
    tokenizer: "reactive[Tokenizer | None]" = reactive(None, always_update=True)
    """The tokenizer on the screen, with all its merges."""

    def watch_playing(self, playing: bool) -> None:
        self.hint = self.PLAYING if playing else self.HINT
        self.refresh_bindings()

    @property
    def is_held(self) -> bool:
        return not self.playing

    @property
    def n_steps(self) -> int:
        known = steps_known(self.tokenizer)
        if self.run.phase in ("merging", "showing"):
            return max(known, self.run.total)
        return known

    def _travel(self, by: int) -> None:
        # `travel` starts from the step of the screen, so that each of several keys in a row counts.
        in_background(self, features_of(self).shown.travel(by))

    def action_leap(self, by: int) -> None:
        self._travel(by * max(1, self.n_steps // 20))

    # The mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        track = self._track
        x = event.x - self.gutter.left
        if x == track.start - 1:
            self._travel(-1)
        elif x == track.start + track.width:
            self._travel(1)
        elif track.start <= x < track.start + track.width:
            self.capture_mouse()
            self._drag(x)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._drag(event.x - self.gutter.left)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self._travel(-1)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self._travel(1)

    def _drag(self, x: int) -> None:
        track = self._track
        share = (x - track.start) / max(1, track.width - 1)
        step = max(0, min(round(share * self.n_steps), self.n_steps))
        in_background(self, features_of(self).shown.travel_to(step))

    # Drawing

    @property
    def _steps_text(self) -> str:
        """The step and the number of steps, as wide for every step."""
        total = f"{self.n_steps:,}"
        text = f" step {self.step:>{len(total)},} of {total} "
        if self.playing:
            text += f"▶ {pace_told(self.pace)} "
        return text

    @property
    def _track(self) -> _Track:
        start = len(self._steps_text) + 1
        width = self.size.width - start - 2
        if self.size.width >= 60:
            width -= _LABEL + 1
        return _Track(start, width if width >= 5 else 0)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        inks = {
            ink: self.get_component_rich_style(f"step-line--{ink}") for ink in _INKS
        }
        if not self.n_steps:
            remark = Segment(fit(f" {self._remark}", width), inks["label"])
            return Strip([remark])
        text = self._steps_text
        parts = [(" step ", "label"), (text.removeprefix(" step "), "step")]
        track = self._track
        if track.width:
            thumb = round(self.step / self.n_steps * (track.width - 1))
            parts += [
                ("◂", "label"),
                ("━" * thumb, "done"),
                ("●", "thumb"),
                ("─" * (track.width - 1 - thumb), "rest"),
                ("▸", "label"),
            ]
        segments = [Segment(text, inks[ink]) for text, ink in parts]
        room = width - track.start - track.width - 2
        if track.width and room > 0:
            label = self._made_token
            if label:
                style = inks["step"] + Style(bold=True)
                segments.append(Segment(f" {fit(label, room)}", style))
        return Strip(segments).adjust_cell_length(width, inks["label"])

    @property
    def _remark(self) -> str:
        """The sentence shown instead of a slider without steps."""
        tokenizer = self.tokenizer
        if tokenizer is None and self.notice:
            return self.notice
        if tokenizer is None or tokenizer.vocabulary.knows_merges:
            return "No merges yet: every token is one byte."
        return "The merges are not known yet."

    @property
    def _made_token(self) -> str:
        """The token that the merge of this step makes; empty if it is not known."""
        tokenizer = self.tokenizer
        if tokenizer is None or not 0 < self.step <= tokenizer.step:
            return ""
        token = tokenizer.vocabulary.merge_of(self.step)[2]
        return token_label(tokenizer.token_bytes(token))
