"""The main screen: four panes, what is seen of them, and what comes back at the next start.

First come the frames and the editor's text, which takes keys at once; what fills the other panes is loaded behind it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.reactive import var

from tui.disk import config
from tui.disk.autosave import KeptText
from tui.panes.editor import EditorPane
from tui.screen.requests import RequestScreen
from tui.widgets.hint_line import HintLine
from tui.widgets.key_line import KeyLine
from tui.widgets.pane import PANES, Pane
from tui.widgets.step_line import StepLine
from tui.widgets.title_line import ONE_PANE, TitleLine

if TYPE_CHECKING:
    from pathlib import Path

    from tui.panes.audit import AuditPane
    from tui.panes.corpus import CorpusPane
    from tui.panes.training import TrainingPane

_LATER: Final = ("tui.screen.furniture", "tui.screen.session", "bpe_core.formats")
"""What is imported once the first frame is on the screen."""


class MainScreen(RequestScreen):
    """Four panes, the line of steps under them, and everything they show; what is done is done by its `session`."""

    AUTO_FOCUS = ""  # the editor gets it: passing through another pane would hide the editor on a small screen

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help", tooltip="What the keys do, what the words mean", key_display="F1"),
        # Before the keys that follow them, which are for the pane they lead to.
        Binding("f2", "show('corpus')", "Corpus", show=False, priority=True, key_display="F2"),
        Binding("f3", "show('training')", "Training", show=False, priority=True, key_display="F3"),
        Binding("f4", "show('editor')", "Editor", show=False, priority=True, key_display="F4"),
        Binding("f5", "show('audit')", "Audit", show=False, priority=True, key_display="F5"),
        Binding("f6", "train", "Train", tooltip="Learn merges from the chosen texts", key_display="F6"),
        Binding("f6", "pause", "Pause", tooltip="Let the training wait", key_display="F6"),
        Binding("f6", "resume", "Run", tooltip="Let the training go on", key_display="F6"),
        Binding("f7", "step_once", "Step", tooltip="Learn one merge and wait", key_display="F7"),
        Binding("f8", "stop", "Stop", tooltip="End the training and keep what was learned", key_display="F8"),
        Binding("f9", "fill", "Zoom", tooltip="Let this pane fill the screen, and back", key_display="F9"),
        Binding("ctrl+o", "open_text", "Open", show=False),
        Binding("ctrl+s", "save_text", "Save", show=False),
        Binding("escape", "stop_waiting", show=False),
        Binding("alt+left", "travel(-1)", "Step back", show=False),
        Binding("alt+right", "travel(1)", "Step on", show=False),
    ]

    active: var[str] = var("editor", init=False)
    """The pane that has the focus, or had it last."""

    def __init__(self, configuration: config.Configuration) -> None:
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-tight"), (120, "-wide"), (170, "-huge")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-middling"), (36, "-high")]
        super().__init__(classes="-active-editor -training-above")
        self._configuration = configuration
        self._not_kept = ""
        self.furnished = asyncio.Event()
        """Set once all panes are there; a key that is for them has to wait until then."""

    def compose(self) -> ComposeResult:
        """Title, frames of panes and the editor in its own, steps, a hint, keys; state flows down by binding."""
        state = MainScreen
        yield TitleLine(PANES).data_bind(state.run, state.tokenizer, state.path, state.active)
        with Horizontal(id="panes"):
            yield Pane(id="corpus")
            with Container(id="work"):
                yield Pane(id="training")
                yield Pane(id="audit")
                yield EditorPane(id="editor").data_bind(state.in_force)
        yield StepLine(id="steps").data_bind(state.step)
        yield HintLine()
        yield KeyLine()

    # Beginning and end

    def on_mount(self) -> None:
        """Show the text of the last run; all the rest comes after the first frame."""
        self._area = self.editor.area  # still at hand when the screen is taken down
        self._kept_text = KeptText(partial(self.say, severity="warning"))
        self._area.load(_text(self._kept_text))
        self._kept_text.take(self._area.document.lines)
        self.set_focus(self._area)
        self.call_after_refresh(self._furnish)

    async def _furnish(self) -> None:
        """Import the engine and the panes beside the screen, and put the panes into their frames, all in one frame."""
        try:
            furniture, session, *_ = await asyncio.to_thread(list, map(import_module, _LATER))
            with self.app.batch_update():
                await furniture.furnish(self)
                self.session = session.Session(self)
                self._bring_back()
        finally:
            self.furnished.set()

    def _bring_back(self) -> None:
        """Bring back what was there at the end of the last run."""
        self.session.bring_back(self._configuration)
        # One color for one token, wherever it is seen.
        self.training.log_of_merges.token_style = self.audit_pane.table.token_style = self._area.style_of
        self.app.theme_changed_signal.subscribe(self, lambda _: self.call_after_refresh(self._recolor))
        self.set_interval(10, self._keep_text)

    async def on_unmount(self) -> None:
        """Keep the text; let each worker process keep what it has, and end."""
        try:
            self.tell_at_the_end(self._kept_text.keep_somewhere(self._area.document.lines))
        except OSError as error:
            self.tell_at_the_end(f"The text could not be kept for the next start: {error.strerror}.")
        self._kept_text.release()
        is_training = self.run.busy
        working = [worker for worker in self.workers if worker.node is self and not worker.is_finished]
        for worker in working:
            worker.cancel()
        await asyncio.gather(*(worker.wait() for worker in working), return_exceptions=True)
        if is_training:
            self._leave_training(self.session.training.output)

    def _leave_training(self, output: Path) -> None:
        """What it has learned is what comes back at the next start."""
        if output.is_file():
            self.remember(tokenizer=str(output))
        else:
            self.tell_at_the_end("The training had not learned anything yet, so nothing of it is kept; F6 begins anew.")

    def _recolor(self) -> None:
        """Draw the lists again: they take the colors of tokens from the editor, which may learn later of a theme."""
        self.training.log_of_merges.refresh()
        self.audit_pane.table.refresh()

    @work(exclusive=True, group="text")
    async def _keep_text(self) -> None:
        """Now and then, so that no accident costs more than some seconds; that it cannot be done is told once."""
        refused = await self.why_not_kept()
        if refused and refused != self._not_kept:
            self.say(f"The text cannot be kept for the next start: {refused}. Ctrl+S saves it elsewhere.", "warning")
        self._not_kept = refused

    async def why_not_kept(self) -> str:
        """Keep the text beside the screen; what is in the way of that, in a few words, empty if nothing."""
        try:
            await self._kept_text.keep(self._area.document.lines)
        except OSError as error:
            return str(error.strerror)
        return ""

    # Which pane is seen

    def on_resize(self, event: events.Resize) -> None:
        """On a small screen there is nothing to fill.

        Classes come first: Textual would lay out and draw the new size as the old one, and then once more.
        """
        across, down = self.HORIZONTAL_BREAKPOINTS or [], self.VERTICAL_BREAKPOINTS or []
        width, height = event.size
        fitting = self._get_breakpoint_classes(width, across) | self._get_breakpoint_classes(height, down)
        self.update_classes({name: name in fitting for _, name in across + down})
        self.call_after_refresh(self.refresh_bindings)

    @property
    def corpus_pane(self) -> CorpusPane:
        """The pane of texts."""
        return cast("CorpusPane", self.query_one("#corpus"))

    @property
    def training(self) -> TrainingPane:
        """The pane of merges."""
        return cast("TrainingPane", self.query_one("#training"))

    @property
    def editor(self) -> EditorPane:
        """The pane of text."""
        return self.query_one(EditorPane)

    @property
    def audit_pane(self) -> AuditPane:
        """The pane of findings."""
        return cast("AuditPane", self.query_one("#audit"))

    def action_show(self, pane: str) -> None:
        """Bring a pane to the front and put the cursor into it."""
        self.active = pane
        self.query_one(f"#{pane}", Pane).land()

    def watch_active(self, old: str, new: str) -> None:
        """Classes say what the style sheet shows; training and audit take turns above the editor."""
        classes = {f"-active-{pane}": pane == new for pane in PANES}
        if new in ("training", "audit"):
            classes |= {"-training-above": new == "training", "-audit-above": new == "audit"}
        self.update_classes(classes)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Whatever gets the focus makes its pane the active one."""
        for node in event.widget.ancestors_with_self:
            if node.id in PANES:
                self.active = node.id
                return

    @property
    def _shows_all(self) -> bool:
        return self.has_class("-huge") and self.has_class("-high") and not self.has_class("-fill")

    @property
    def _shows_one(self) -> bool:
        return any(map(self.has_class, ONE_PANE))

    def show_log(self, *, even_alone: bool = False) -> None:
        """Let the merge log be seen, the focus staying where it is; where only one pane is seen, with `even_alone`."""
        if self.active == "audit" or (self._shows_one and even_alone):
            self.go_to_log()
        elif not self._shows_one:
            self.update_classes({"-training-above": True, "-audit-above": False})

    def go_to_log(self) -> bool:
        """Put the cursor into the merge log, unless that is seen beside the audit; whether it was put there."""
        if not self._shows_all:
            self.active = "training"
            self.set_focus(self.training.log_of_merges)
        return not self._shows_all

    def action_fill(self) -> None:
        """One pane fills the screen, or no longer."""
        self.update_classes({"-fill": not self.has_class("-fill")})

    def action_save_text(self) -> None:
        """Ask for a path and write the editor's text there, byte for byte."""
        self.session.files.save(self._area.text)

    def action_open_example(self, number: int = 0) -> None:
        """Put an example into the editor."""
        self.action_show("editor")
        self.editor.show_example(number)

    def open_in_editor(self, text: str) -> None:
        """Show a text in the editor, in the place of the one that is there."""
        self.editor.put(text)
        self.action_show("editor")

    def action_help(self) -> None:
        """What the keys do and the words mean."""
        from tui.dialogs.help import Help

        self.app.push_screen(Help())


def _text(kept: KeptText) -> str:
    """The editor's text of the last run; a greeting where there was none."""
    if kept.beginning is not None:
        return kept.beginning
    from bpe_core.content.samples import editor_greeting

    return editor_greeting()
