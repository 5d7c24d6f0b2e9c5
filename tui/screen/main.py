"""The main screen: four panes, what is seen of them, and what comes back at the next start.

First come the frames and the editor's text, which takes keys at once; what fills the other panes is loaded behind it.
"""

import asyncio
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.reactive import var

from tui import config
from tui.panes.editor import EditorPane
from tui.screen.audits import AuditsScreen
from tui.screen.fetches import FetchesScreen
from tui.screen.state import StateScreen
from tui.screen.texts import TextsScreen
from tui.screen.training import TrainingScreen
from tui.state import Corpus
from tui.widgets.key_line import KeyLine
from tui.widgets.pane import PANES, Pane
from tui.widgets.step_line import StepLine
from tui.widgets.title_line import TitleLine

_LATER: Final = ("tui.screen.furniture", "tui.jobs", "bpe_core.formats")
"""What is imported once the first frame is on the screen."""


class MainScreen(TextsScreen, TrainingScreen, FetchesScreen, AuditsScreen):
    """Four panes, the line of steps under them, and everything they show."""

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

    def __init__(self, configuration: config.Configuration, opened: tuple[str, ...] = ()) -> None:
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (170, "-huge")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]
        super().__init__(classes="-active-editor -training-above")
        self._configuration = configuration
        self._opened = opened
        self._text_kept = ""
        self.furnished = asyncio.Event()
        """Set once all panes are there; a key that is for them has to wait until then."""

    def compose(self) -> ComposeResult:
        """Title, frames of panes and the editor in its own, steps, keys; state flows down by binding."""
        state = StateScreen
        yield TitleLine(PANES).data_bind(state.tokenizer, state.path, MainScreen.active)
        with Horizontal(id="panes"):
            yield Pane(id="corpus")
            with Container(id="work"):
                yield Pane(id="training")
                yield Pane(id="audit")
                yield EditorPane(id="editor").data_bind(state.findings, tokenizer=state.in_force)
        yield StepLine(id="steps")
        yield KeyLine()

    # Beginning and end

    def on_mount(self) -> None:
        """Show the text of the last run; all the rest comes after the first frame."""
        self._area = self.editor.area  # still at hand when the screen is taken down
        self._area.load(_text())
        self.set_focus(self._area)
        self.call_after_refresh(self._furnish)

    async def _furnish(self) -> None:
        """Import the engine and the panes beside the screen, and put the panes into their frames, all in one frame."""
        try:
            furniture, *_ = await asyncio.to_thread(list, map(import_module, _LATER))
            with self.app.batch_update():
                await furniture.furnish(self)
                self._bring_back()
        finally:
            self.furnished.set()

    def _bring_back(self) -> None:
        """Bring back what was there at the end of the last run; the first time, train on the samples."""
        from tui.options import possible
        from tui.sources import sample_corpus, title_of

        self.options = possible(self._configuration.options)
        self.pattern = self.options.pattern
        self.kept = self._shelf()
        self._find()
        paths = tuple(filter(os.path.exists, self._configuration.corpus))
        reference = tuple(filter(os.path.exists, self._configuration.reference))
        first_time = not self._configuration.tokenizer and not self.kept
        if not paths and first_time:
            paths = sample_corpus().paths
        self.corpus = Corpus(paths, reference, title_of(paths))
        # One color for one token, wherever it is seen.
        self.training.log_of_merges.token_style = self.audit_pane.table.token_style = self._area.style_of
        self.app.theme_changed_signal.subscribe(self, lambda _: self.call_after_refresh(self._recolor))
        self._count()
        self.set_interval(10, self._keep_text)
        if os.path.exists(self._configuration.tokenizer):
            self._take_from(Path(self._configuration.tokenizer))
        elif self.kept:
            self._take_from(Path(self.kept[0].path))
        elif first_time:
            from tui.jobs import Task

            samples = sample_corpus()
            self._train(Task(samples.title, replace(self.options, vocab_size=1024), samples.paths))

    async def on_unmount(self) -> None:
        """Keep the text; let each worker process keep what it has, and end."""
        self._keep_text()
        working = [worker for worker in self.workers if worker.node is self and not worker.is_finished]
        for worker in working:
            worker.cancel()
        await asyncio.gather(*(worker.wait() for worker in working), return_exceptions=True)

    def _recolor(self) -> None:
        """Draw the lists again: they take the colors of tokens from the editor, which may learn later of a theme."""
        self.training.log_of_merges.refresh()
        self.audit_pane.table.refresh()

    def _keep_text(self) -> None:
        text = self._area.text
        if text != self._text_kept:
            try:
                config.save_text(text)
                self._text_kept = text
            except OSError as error:
                self._say(f"The text could not be kept for the next start: {error.strerror}.", "warning")

    # Which pane is seen

    def action_show(self, pane: str) -> None:
        """Bring a pane to the front and put the cursor into it."""
        self.active = pane
        self.query_one(f"#{pane}", Pane).land()

    def watch_active(self, old: str, new: str) -> None:
        """Classes say what the style sheet shows; training and audit take turns above the editor."""
        classes = {f"-active-{pane}": pane == new for pane in PANES}
        if new in ("training", "audit"):
            classes |= {"-training-above": new == "training", "-audit-above": new == "audit"}
        self.update_classes(classes)  # all at once: each update styles every widget of the screen anew

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Whatever gets the focus makes its pane the active one."""
        for node in event.widget.ancestors_with_self:
            if node.id in PANES:
                self.active = node.id
                return

    def action_fill(self) -> None:
        """One pane fills the screen, or no longer."""
        self.toggle_class("-fill")

    def action_help(self) -> None:
        """What the keys do and the words mean."""
        from tui.help import Help

        self.app.push_screen(Help())


def _text() -> str:
    """The editor's text of the last run; a greeting where there was none."""
    text = config.load_text()
    if text is None:
        from bpe_core.samples import editor_greeting

        text = editor_greeting()
    return text
