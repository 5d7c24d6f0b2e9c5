"""The main screen: five panes, what is seen of them, and what comes back at the next start.

First come the frames and the editor's text, which takes keys at once; what fills the other panes is loaded behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.reactive import Reactive
from textual.worker import Worker, WorkerError

from bpe_core.visible import visible
from tui.commands.command import Work
from tui.commands.keys import HasCommands, PartBindings
from tui.commands.panes import PANE_BY_ID, PANES, PaneEntry
from tui.disk.config import Configuration
from tui.disk.locked import Autosave, checkpoint_of
from tui.features.feature import StateScreen, guarded
from tui.panes.editor import EditorPane
from tui.state import Arguments, Run
from tui.terminal.background import in_thread
from tui.terminal.guards import outdated
from tui.terminal.selective import SelectiveCompositor
from tui.widgets.pane import Pane
from tui.widgets.screen_lines import ONE_PANE, HintLine, KeyLine, TitleLine
from tui.widgets.step_line import StepLine

if TYPE_CHECKING:
    from tui.features.all import Features

SECONDS_TO_END: Final = 1.5  # how long the app waits at its end for what runs beside it, and for what is written
_SECONDS_TO_KEEP: Final = 0.5  # from an edit to the moment when the text is kept


class MainScreen(HasCommands, StateScreen):
    """Five panes, the line of steps under them, and everything they show; what is done is done by its `features`."""

    AUTO_FOCUS = ""  # the editor gets it: passing through another pane would hide the editor on a small screen

    # Else Textual draws all of it again wherever a mouse button goes down, or the mouse is dragged.
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Everywhere")

    features: Features  # there once the panes are

    def __init__(
        self,
        configuration: Configuration,
        loaded: asyncio.Event,
        arguments: Arguments,
    ) -> None:
        self.HORIZONTAL_BREAKPOINTS = [
            (0, "-narrow"),
            (100, "-tight"),
            (120, "-wide"),
            (170, "-huge"),
        ]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-middling"), (36, "-high")]
        super().__init__(configuration)
        self._compositor: SelectiveCompositor = SelectiveCompositor()
        self._is_keeping = False  # whether the text is newer than what is kept of it
        self.loaded = loaded  # set once all panes are there
        self._arguments = arguments
        self._in_front = {pane.place: pane.id for pane in reversed(PANES)}
        """Place -> which of its panes is seen."""
        self._above = self._in_front["upper"]
        """The one above the editor where there is no room for more."""

    def compose(self) -> ComposeResult:
        state = MainScreen
        yield TitleLine().data_bind(
            state.run, state.tokenizer, state.path, state.active, state.notice
        )
        with Horizontal(id="panes"):
            yield from map(Pane, _at("left"))
            with Container(id="work"):
                yield from map(Pane, _at("upper", "side"))
                self.editor = EditorPane(PANE_BY_ID["editor"])
                yield self.editor
        yield StepLine(id="steps").data_bind(
            state.step,
            state.tokenizer,
            state.playing,
            state.pace,
            state.run,
            state.notice,
        )
        yield HintLine().data_bind(state.caption)
        yield KeyLine()

    # Beginning and end

    def on_mount(self) -> None:
        self._area = self.editor.area  # still at hand when the screen is taken down
        self._autosave = Autosave(partial(self.say, severity="warning"))
        text = self._autosave.beginning
        if text is None:
            from bpe_core.content.samples import EDITOR_GREETING

            text = self.editor.put_last = EDITOR_GREETING
        self._area.load_text(text)
        self.set_focus(self._area)
        self.call_after_refresh(self._load)

    async def _load(self) -> None:
        """Import the engine and the panes beside the screen, and put the panes into their frames, all in one frame."""
        try:
            await in_thread(_import_all)
            from tui.features.all import Features

            with self.app.batch_update():
                work = self.query_one("#work")
                await self.query(".frame").remove()
                await self.query_one("#panes").mount(
                    *(pane.load()(pane) for pane in _at("left")), before=work
                )
                await work.mount(
                    *(pane.load()(pane) for pane in _at("upper", "side")),
                    before=self.editor,
                )
                for name in ("corpus_pane", "training", "audit_pane", "compare_pane"):
                    setattr(
                        self, name, self.query_one(f"#{name.removesuffix('_pane')}")
                    )
                await self.editor.load()
                self.show_panes()
                self.bind_panes()
                self.training.why.follow(self._area)
                self.features = Features(self)
                for table in (self.training.log_of_merges, self.audit_pane.table):
                    table.token_style = (
                        self._area.style_of
                    )  # one color for one token; it knows a new theme later
                    self.app.theme_changed_signal.subscribe(
                        table, lambda _, it=table: it.call_after_refresh(it.refresh)
                    )
            await self.features.bring_back(self._arguments)
        finally:
            self.loaded.set()

    async def on_unmount(self) -> None:
        try:
            sentence = self._autosave.keep_somewhere(
                self._own_lines, self._area.document.n_edits
            )
        except OSError as error:
            sentence = (
                f"The text could not be kept for the next start: {error.strerror}."
            )
        self._autosave.release()
        is_training = self.run.busy and self.own_text is None
        working = [
            worker
            for worker in self.workers
            if worker.node is self and not worker.is_finished
        ]
        for worker in working:
            worker.cancel()
        if working:  # a process that needs longer keeps what it has when it finds its pipes closed
            await asyncio.wait(
                [asyncio.gather(*map(_end_of, working))], timeout=SECONDS_TO_END
            )
        course = self.features.training.newest if is_training else None
        sentences = [
            sentence,
            await self._leave_training(course.output) if course else "",
        ]
        self.last_words += [visible(said) for said in sentences if said]
        if self._writing is not None:
            await asyncio.wait([self._writing], timeout=SECONDS_TO_END)

    async def _leave_training(self, output: Path) -> str:
        """What it has learned is what comes back at the next start; else what to say of it."""
        if await in_thread(output.is_file):
            self.remember(tokenizer=str(output))
        elif not await in_thread(checkpoint_of(output).is_file):
            return "The training had not learned anything yet, so nothing of it is kept; F6 begins anew."
        return ""

    @property
    def _own_lines(self) -> Sequence[str]:
        return (
            (*self._area.document.lines,)
            if self.own_text is None
            else self.own_text.split("\n")
        )

    def on_text_area_changed(self) -> None:
        self.hear()
        if not self._is_keeping:
            self._is_keeping = True
            self._keep_text()

    @work
    async def _keep_text(self) -> None:
        """Soon after each edit, so that no accident costs more than a second; again and again while it is refused."""
        while self._area.document.n_edits > self._autosave.n_kept:
            await asyncio.sleep(_SECONDS_TO_KEEP)
            refused = await self.why_not_kept()
            if refused and refused != self.editor.not_kept:
                tells = f"The text cannot be kept for the next start: {refused}. Ctrl+S saves it elsewhere."
                self.say(tells, "warning")
            self.editor.not_kept = refused
        self._is_keeping = False

    async def why_not_kept(self) -> str:
        """Keep the text beside the screen; what is in the way of that, in a few words, empty if nothing."""
        try:
            await in_thread(
                self._autosave.keep, self._own_lines, self._area.document.n_edits
            )
        except OSError as error:
            return str(error.strerror)
        return ""

    # What is asked for

    def run_in_background(self, work: Work) -> None:
        """Start what a key, a button, a pane or the palette asks of a feature; it runs in the background."""
        failed = partial(self.say, severity="error")
        self.run_worker(guarded(self, lambda: work, failed))

    def hear(self, key: str = "") -> None:
        """Tell a lesson of a key, or that something has changed."""
        if self.caption:
            self.features.tour.hear(key)

    def watch_run(self, old: Run, new: Run) -> None:
        if old.phase != new.phase:
            self.refresh_bindings()  # F6 is one key with three meanings

    watch_playing = StateScreen.refresh_bindings

    def on_resize(self, event: events.Resize) -> None:
        if outdated(self, event):
            return
        # Classes come first: Textual would lay out and draw the new size as the old one, and then once more.
        across, down = (
            self.HORIZONTAL_BREAKPOINTS or [],
            self.VERTICAL_BREAKPOINTS or [],
        )
        width, height = event.size
        fitting = self._get_breakpoint_classes(
            width, across
        ) | self._get_breakpoint_classes(height, down)
        self.update_classes({name: name in fitting for _, name in across + down})
        self.show_panes()
        self.call_after_refresh(self.refresh_bindings)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        panes = (
            node
            for node in event.widget.ancestors_with_self
            if isinstance(node, Pane) and node.id
        )
        if self.focused is event.widget and (pane := next(panes, None)):
            self.active = pane.id or ""

    # The panes

    def action_show(self, pane: str) -> None:
        self.active = pane
        self.query_one(f"#{pane}", Pane).focus_next_part()

    def watch_active(self, pane: str) -> None:
        place = PANE_BY_ID[pane].place
        self._in_front[place] = pane
        if place in ("upper", "side"):
            self._above = pane
        self.show_panes()

    def show_panes(self) -> None:
        """Show the panes that there is room for."""
        shown = self._panes_to_show()
        for pane in self.query(Pane):
            pane.display = pane.id in shown
            self._tell(pane)
        for container in self.query("#work"):
            container.display = any(PANE_BY_ID[pane].place != "left" for pane in shown)

    def _panes_to_show(self) -> set[str]:
        """Return the ids of one pane, one above the editor, or one at each place.

        Where there is no side, a pane that belongs there takes the editor's room too, while it has the focus.
        """
        if self._shows_one:
            return {self.active}
        if self._shows_all:
            return set(self._in_front.values())
        shown = {self._above, self._in_front["left"]}
        if PANE_BY_ID[self.active].place != "side":
            shown.add(self._in_front["lower"])
        return shown

    def bind_panes(self) -> None:
        """Let panes have the values of this screen, those that rest while they are seen."""
        facts = [
            name
            for name, value in vars(StateScreen).items()
            if isinstance(value, Reactive)
        ]
        for pane in self.query(Pane):
            pane.facts = tuple(fact for fact in facts if fact in vars(type(pane)))
            for fact in pane.facts:
                pane.watch(self, fact, partial(self._tell, pane), init=False)
            self._tell(pane)

    def _tell(self, pane: Pane) -> None:
        if pane.display or not pane.RESTS:
            for fact in pane.facts:
                setattr(pane, fact, getattr(self, fact))

    @property
    def _shows_all(self) -> bool:
        return self.has_class("-huge", "-high") and not self.has_class("-fill")

    @property
    def _shows_one(self) -> bool:
        return any(map(self.has_class, ONE_PANE))

    def show_log(self, *, even_alone: bool) -> None:
        if PANE_BY_ID[self.active].place == "side" or (self._shows_one and even_alone):
            self.go_to_log()
        elif not self._shows_one:
            self._above = "training"
            self.show_panes()

    def go_to_log(self) -> bool:
        if self._shows_all:
            return False
        self.active = "training"
        self.set_focus(self.training.log_of_merges)
        return True

    # When commands apply

    @property
    def is_idle(self) -> bool:
        return not self.run.busy

    @property
    def is_playing(self) -> bool:
        return self.run.busy and self.playing

    @property
    def is_held(self) -> bool:
        return self.run.busy and not self.playing

    @property
    def has_room(self) -> bool:
        """Whether it shows several panes; else each pane fills the screen anyway."""
        return not (self.has_class("-narrow") or self.has_class("-low"))

    def action_fill(self) -> None:
        self.update_classes({"-fill": not self.has_class("-fill")})
        self.show_panes()

    def action_help(self) -> None:
        from tui.dialogs.help import Help

        self.app.push_screen(Help(self))


async def _end_of(worker: Worker[Any]) -> None:
    with suppress(
        WorkerError
    ):  # at the end of the event loop nobody would take it, and it would be printed
        await worker.wait()


def _at(*places: str) -> Iterator[PaneEntry]:
    return (pane for place in places for pane in PANES if pane.place == place)


def _import_all() -> None:
    """What is needed once the first frame is on the screen."""
    for pane in PANES:
        pane.load()
    for module in (
        "tui.widgets.text_facts",
        "tui.widgets.colored_rows",
        "tui.features.all",
        "bpe_core.formats",
    ):
        import_module(module)
    sources = import_module("tui.disk.sources")
    for asks_the_disk in (sources.sample_sources, sources.computer_sources):
        asks_the_disk()
