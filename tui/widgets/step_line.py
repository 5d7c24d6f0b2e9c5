"""StepLine: one line to go back and forth in the merges, and what the step in force made."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.widget import Widget

from bpe_core.visible import token_label
from tui.commands import applies, bindings
from tui.drawing.cells import fit
from tui.state import do, pace_told, steps_known

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

_LABEL = 18  # cells for the token made, so that the slider does not move with its length
_INKS = ("label", "step", "done", "rest", "thumb")


class StepLine(Widget, can_focus=True):
    """A slider from no merge to all that there are; it keeps no step of its own."""

    DEFAULT_CSS = """
    StepLine {
        height: 1;
        &> .step-line--label { color: $text-muted; }
        &> .step-line--step { color: $text; }
        &> .step-line--done { color: $accent; }
        &> .step-line--rest { color: $foreground 25%; }
        &> .step-line--thumb { color: $text-accent; }
        &:focus > .step-line--thumb { color: $text-accent; background: $accent 35%; text-style: bold; }
    }
    StepLine:ansi:focus > .step-line--thumb { background: ansi_default; text-style: reverse; }
    StepLine:ansi > .step-line--rest { color: ansi_default; text-style: dim; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"step-line--{ink}" for ink in _INKS}
    BINDINGS: ClassVar[list[BindingType]] = bindings("Line of steps")

    HINT: ClassVar[str] = "Merges in force: ← → by one, with shift by ten. Space plays the text."
    PLAYING: ClassVar[str] = "Plays the merges that change the editor's text; + and - change the pace."
    hint: var[str] = var(HINT)  # what the keys do now
    step: reactive[int] = reactive(0)  # how many merges are in force; the screen's, to which it is bound
    playing: reactive[int] = reactive(0)  # merges a second that are played; 0 while they are not
    tokenizer: reactive[Tokenizer | None] = reactive(None)  # the tokenizer on the screen with all of its merges

    def watch_playing(self, old: int, new: int) -> None:
        if bool(old) != bool(new):
            self.hint = self.PLAYING if new else self.HINT
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return applies("Line of steps", self, action)

    @property
    def n_steps(self) -> int:
        return steps_known(self.tokenizer)

    async def _travel(self, by: int) -> None:
        # At once, and from where the screen is by now: of several in a batch each is to count.
        await self.run_action(f"screen.do('shown.travel', {by})")

    async def action_leap(self, by: int) -> None:
        """A twentieth of the way back or forth."""
        await self._travel(by * max(1, self.n_steps // 20))

    async def action_play(self) -> None:
        await self.run_action("screen.do('shown.play')")

    action_pause = action_play

    async def action_change_play(self, by: int) -> None:
        await self.run_action(f"screen.do('shown.change_play', {by})")

    def action_go_to_end(self, end: int) -> None:
        do(self, "shown.travel_to", self.n_steps * end)

    # The mouse

    async def on_mouse_down(self, event: events.MouseDown) -> None:
        start, room = self._track
        x = event.x - self.gutter.left
        if x == start - 1:
            await self._travel(-1)
        elif x == start + room:
            await self._travel(1)
        elif start <= x < start + room:
            self.capture_mouse()
            self._drag(x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._drag(event.x - self.gutter.left)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    async def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        await self._travel(-1)

    async def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        await self._travel(1)

    def _drag(self, x: int) -> None:
        start, room = self._track
        step = round((x - start) / max(1, room - 1) * self.n_steps)
        do(self, "shown.travel_to", max(0, min(step, self.n_steps)))

    # Drawing

    @property
    def _says(self) -> str:
        """Where we are, as wide for every step."""
        total = f"{self.n_steps:,}"
        playing = f"▶ {pace_told(self.playing)} " if self.playing else ""
        return f" step {self.step:>{len(total)},} of {total} {playing}"

    @property
    def _track(self) -> tuple[int, int]:
        """First cell of the slider and its cells; there is none where no room is left for one."""
        start = len(self._says) + 1
        room = self.size.width - start - 1 - (_LABEL + 2 if self.size.width >= 60 else 1)
        return start, room if room >= 5 else 0

    def render_line(self, y: int) -> Strip:
        width, tokenizer = self.size.width, self.tokenizer
        inks = {ink: self.get_component_rich_style(f"step-line--{ink}") for ink in _INKS}
        if not self.n_steps:
            known = tokenizer is None or tokenizer.vocabulary.knows_merges
            says = "No merges yet: every token is one byte." if known else "The merges are not known yet."
            return Strip([Segment(fit(f" {says}", width), inks["label"])])
        says, (start, room) = self._says, self._track
        parts = [(says[:6], "label"), (says[6:], "step")]
        if room:
            thumb = round(self.step / self.n_steps * (room - 1))
            parts += [("◂", "label"), ("━" * thumb, "done"), ("●", "thumb"), ("─" * (room - 1 - thumb), "rest")]
            parts.append(("▸", "label"))
        segments = [Segment(text, inks[ink]) for text, ink in parts]
        if room and width - start - room > 2 and tokenizer is not None and 0 < self.step <= self.n_steps:
            made = token_label(tokenizer.token_bytes(tokenizer.vocabulary.merges[self.step - 1][2]))
            segments.append(Segment(" " + fit(made, width - start - room - 2), inks["step"] + Style(bold=True)))
        return Strip(segments).adjust_cell_length(width, inks["label"])
