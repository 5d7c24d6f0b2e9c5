"""The main screen: four panes, what is seen of them, and what comes back at the next start.

First come the frames and the editor's text, which takes keys at once; what fills the other panes is loaded behind it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, TypeVar, cast

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.reactive import var
from textual.screen import Screen

from bpe_core.errors import LONGEST
from bpe_core.visible import shortened, visible
from tui import config, messages
from tui.kept_text import KeptText
from tui.panes.editor import EditorPane
from tui.state import Audit, Corpus, Kept, Run, Totals, TrainingOptions
from tui.widgets.hint_line import HintLine
from tui.widgets.key_line import KeyLine
from tui.widgets.pane import PANES, Pane
from tui.widgets.step_line import StepLine
from tui.widgets.title_line import ONE_PANE, TitleLine

if TYPE_CHECKING:
    from pathlib import Path

    from textual.notifications import SeverityLevel

    from bpe_core.tokenizer import Tokenizer
    from tui.panes.audit import AuditPane
    from tui.panes.corpus import CorpusPane
    from tui.panes.training import TrainingPane
    from tui.screen.session import Session

_LATER: Final = ("tui.screen.furniture", "tui.screen.session", "bpe_core.formats")
"""What is imported once the first frame is on the screen."""

Answer = TypeVar("Answer")


class Memory(Protocol):
    """What the screen needs of the app: something that remembers."""

    configuration: config.Configuration
    """What comes back at the next start, as it is now."""

    def remember(self, **changes: object) -> None:
        """Change the configuration, and write it."""

    def tell_at_the_end(self, sentence: str) -> None:
        """Say it in the terminal once the app has left it."""


class MainScreen(Screen[None]):
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

    # What the panes are bound to; `tui.screen.session` tells who replaces it.

    corpus: var[Corpus] = var(Corpus())
    """The texts chosen."""
    options: var[TrainingOptions] = var(TrainingOptions())
    """What the next training is asked for; by their pattern texts are previewed and counted."""
    totals: var[Totals | None] = var(None)
    """What the chosen texts amount to; None while that is not known."""
    run: var[Run] = var(Run())
    """How far the training is, or how the last one ended."""
    notice: var[str] = var("")
    """What is being fetched, loaded or recovered, in a few words; empty while nothing is."""
    tokenizer: var[Tokenizer | None] = var(None)
    """The tokenizer on the screen with all of its merges; while a training runs, those it has learned so far."""
    path: var[str] = var("")
    """Where that tokenizer is kept; empty while it is being trained."""
    step: var[int] = var(0)
    """How many of its merges are in force."""
    in_force: var[Tokenizer | None] = var(None)
    """The tokenizer after that many merges: what the editor shows."""
    audit: var[Audit] = var(Audit())
    """How far the audit of this tokenizer is, and what it found."""
    kept: var[tuple[Kept, ...]] = var(())
    """The tokenizers that can be put in force."""

    session: Session
    """Holds the owners; there once the panes are."""

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
        yield TitleLine(PANES).data_bind(state.tokenizer, state.path, state.active)
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

    def on_resize(self) -> None:
        """On a small screen there is nothing to fill."""
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
        self.update_classes(classes)  # all at once: each update styles every widget of the screen anew

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
        self.toggle_class("-fill")

    def action_help(self) -> None:
        """What the keys do and the words mean."""
        from tui.help import Help

        self.app.push_screen(Help())

    # What the owners need

    def say(self, sentence: str, severity: SeverityLevel = "information") -> None:
        """Tell the user, whatever characters are in it, and however many."""
        self.notify(visible(shortened(sentence, LONGEST)), severity=severity, markup=False)

    async def ask(self, question: Screen[Answer]) -> Answer:
        """Show a question and wait for the answer; to be called in a worker."""
        return await self.app.push_screen_wait(question)

    @property
    def remembered(self) -> config.Configuration:
        """What comes back at the next start, as it is now."""
        return cast("Memory", self.app).configuration

    def remember(self, **changes: object) -> None:
        """Change what comes back at the next start."""
        cast("Memory", self.app).remember(**changes)

    def tell_at_the_end(self, sentence: str) -> None:
        """Say it in the terminal once the app has left it; nothing, if it is empty."""
        if sentence:
            cast("Memory", self.app).tell_at_the_end(sentence)

    def open_in_editor(self, text: str) -> None:
        """Show a text in the editor, in the place of the one that is there."""
        self.editor.put(text)
        self.action_show("editor")

    # What the keys do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """F6 is one key with three meanings; the footer shows the one it has now."""
        phase = self.run.phase
        match action:
            case "train":
                return not self.run.busy
            case "pause":
                return phase in ("counting", "preparing", "merging")
            case "resume":
                return phase == "paused"
            case "stop":
                return self.run.busy
            case "fill":
                return not (self.has_class("-narrow") or self.has_class("-low"))  # there, each pane does so anyway
        return True

    def watch_run(self, old: Run, new: Run) -> None:
        """Keys mean something else in another phase."""
        if old.phase != new.phase:
            self.refresh_bindings()

    async def action_train_or_pause(self) -> None:
        """What the first button does now."""
        action = "resume" if self.run.phase == "paused" else "pause" if self.run.busy else "train"
        await self.run_action(f"screen.{action}")

    def action_train(self) -> None:
        """Learn from the chosen texts with the chosen options."""
        self.session.train()

    def action_pause(self) -> None:
        """Let the worker wait."""
        self.session.training.tell("pause")

    def action_resume(self) -> None:
        """Let the worker go on."""
        self.session.training.tell("run")

    def action_step_once(self) -> None:
        """One merge and wait; without a training, begin one that waits."""
        if self.run.busy:
            self.session.training.tell("step 1")
        else:
            self.session.train(stepping=True)

    def action_stop(self) -> None:
        """End the training; the worker saves what it learned."""
        self.session.training.tell("stop")

    def action_travel(self, by: int) -> None:
        """A step back or on."""
        self.session.stage.go_to(self.step + by)

    def action_audit(self) -> None:
        """Audit the tokenizer on the screen, or stop doing so."""
        self.session.audit()

    @work
    async def action_change_pattern(self) -> None:
        """Ask anew how the tokenizer on the screen splits a text."""
        await self.session.change_pattern()

    def action_stop_waiting(self) -> None:
        """Do without the tokenizer that is being fetched or loaded."""
        self.session.stop_waiting()

    @work
    async def action_open_tokenizer(self) -> None:
        """Ask for a tokenizer file and put it in force."""
        await self.session.ask_tokenizer()

    @work
    async def action_fetch_tokenizer(self) -> None:
        """Ask for a name and fetch the tokenizer."""
        await self.session.ask_name()

    @work
    async def action_add_path(self) -> None:
        """Ask for a path and choose it."""
        await self.session.ask_path()

    def action_open_text(self) -> None:
        """Ask for a text and open it in the editor."""
        self.session.files.open()

    def action_save_text(self) -> None:
        """Ask for a path and write the editor's text there, byte for byte."""
        self.session.files.save(self._area.text)

    def action_open_example(self, number: int = 0) -> None:
        """Put an example into the editor."""
        self.action_show("editor")
        self.editor.show_example(number)

    # What the panes tell

    @on(messages.CorpusChosen)
    def take_corpus(self, event: messages.CorpusChosen) -> None:
        """Other texts."""
        self.session.choose_corpus(event.corpus)

    @on(messages.PatternChosen)
    def take_pattern(self, event: messages.PatternChosen) -> None:
        """Another pattern."""
        self.session.choose_pattern(event.pattern)

    @on(messages.PatternWanted)
    @work
    async def ask_pattern(self) -> None:
        """A pattern that is not in the list."""
        await self.session.ask_pattern()

    @on(messages.TextWanted)
    def open_source(self, event: messages.TextWanted) -> None:
        """A text of the corpus pane."""
        self.session.files.open(event.source)

    @on(messages.PresetChosen)
    def run_preset(self, event: messages.PresetChosen) -> None:
        """A founding example."""
        self.session.run_preset(event.name, stepping=event.stepping)

    @on(messages.TokenizerChosen)
    def use_kept(self, event: messages.TokenizerChosen) -> None:
        """A tokenizer of the list."""
        self.session.use(event.path)

    @on(messages.TokenizerDiscarded)
    @work
    async def discard(self, event: messages.TokenizerDiscarded) -> None:
        """A tokenizer that is no longer wanted."""
        await self.session.discard(event.path)

    @on(messages.StepRequested)
    @on(StepLine.StepChosen)
    def travel_to(self, event: messages.StepRequested | StepLine.StepChosen) -> None:
        """Another step."""
        self.session.stage.go_to(event.step)

    @on(messages.FindingOpened)
    def open_finding(self, event: messages.FindingOpened) -> None:
        """A finding."""
        self.session.open_finding(event.finding)


def _text(kept: KeptText) -> str:
    """The editor's text of the last run; a greeting where there was none."""
    if kept.beginning is not None:
        return kept.beginning
    from bpe_core.samples import editor_greeting

    return editor_greeting()
