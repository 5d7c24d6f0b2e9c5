"""The main screen: it loads the panes, shows those that have room, and ends what runs in the background.

The first update of the screen shows the empty frames of the panes, and the editor's text, which accepts keys at once.
The other panes are loaded after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.reactive import Reactive
from textual.theme import Theme
from textual.worker import Worker, WorkerError

from bpe_core.visible import visible
from tui.commands.command import Work
from tui.commands.keys import HasCommands, PartBindings
from tui.commands.panes import PANE_BY_ID, PANES, PaneEntry
from tui.disk.config import Configuration
from tui.disk.locked import checkpoint_of
from tui.features.feature import StateScreen, guarded
from tui.features.text_keeper import TextKeeper
from tui.panes.editor import EditorPane
from tui.state import Arguments, Run
from tui.terminal.background import in_thread
from tui.terminal.guards import stop_outdated_resize
from tui.terminal.selective import SelectiveCompositor
from tui.widgets.pane import Pane
from tui.widgets.question_line import QuestionLine
from tui.widgets.screen_lines import ONE_PANE, HintLine, KeyLine, TitleLine
from tui.widgets.step_line import StepLine

if TYPE_CHECKING:
    from tui.dialogs.jump_labels import JumpTarget

SECONDS_TO_END: Final = 1.5
"""How long the app waits at its end for background work, and for what is being written."""
_WIDTHS: Final = ((0, "-narrow"), (100, "-tight"), (120, "-wide"), (170, "-huge"))
_HEIGHTS: Final = ((0, "-low"), (30, "-middling"), (36, "-high"))
"""The class of the screen from this many columns or rows on."""
_ABOVE: Final = "above"
"""The place above the editor if there is room for one pane only."""
_FIRST_IMPORTS: Final = (
    "tui.widgets.status_lines",
    "tui.widgets.token_side",
    "tui.widgets.colored_rows",
    "tui.features.all",
    "bpe_core.formats",
)
"""Modules that are imported after the first frame."""


class MainScreen(HasCommands, StateScreen):
    """Five panes and the line of steps under them. The `features` do what the user asks for."""

    # The editor is focused by `on_mount`. Focusing another pane first would hide the editor on a small screen.
    AUTO_FOCUS = ""
    # With True, Textual would redraw the screen at each press of a mouse button and each drag.
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Everywhere")
    text_keeper: TextKeeper

    def __init__(
        self,
        configuration: Configuration,
        loaded: asyncio.Event,
        arguments: Arguments,
    ) -> None:
        super().__init__(configuration)
        self._compositor: SelectiveCompositor = SelectiveCompositor()
        self.loaded = loaded
        """Set once all panes are loaded."""
        self._arguments = arguments
        self._in_front: dict[str, str] = {
            pane.place: pane.id for pane in reversed(PANES)
        }
        """Place -> the pane that is shown there."""
        self._in_front[_ABOVE] = self._in_front["upper"]

    def compose(self) -> ComposeResult:
        state = MainScreen
        yield TitleLine().data_bind(
            state.run,
            state.tokenizer,
            state.path,
            state.kept,
            state.active,
            state.notice,
        )
        with Horizontal(id="panes"):
            yield from map(Pane, _panes_at("left"))
            with Container(id="work"):
                yield from map(Pane, _panes_at("upper", "side"))
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
        yield HintLine().data_bind(state.caption, state.question)
        yield QuestionLine().data_bind(state.question)
        yield KeyLine()

    # Start and end

    def on_mount(self) -> None:
        from tui.features.stage import Stage, first_sentence

        self.text_keeper = TextKeeper(self)
        self.stage = Stage(self)
        text = self.text_keeper.last_text
        if text is None:
            from bpe_core.content.samples import EDITOR_GREETING

            text = EDITOR_GREETING
            if self._seems_to_be_first:
                self.stage.open()
            if self.on_stage:
                text = first_sentence()
            self.editor.put_last = text
        area = self.editor.area
        area.load_text(text)
        area.show_place(self.text_keeper.last_place)
        if self.on_stage:
            area.move_cursor(area.document.end)
        self.set_focus(area)
        self.call_after_refresh(self._load)

    @property
    def _seems_to_be_first(self) -> bool:
        """Whether the app was probably never started before, and now without arguments."""
        return not (self.remembered.tokenizer or any(self._arguments))

    async def _load(self) -> None:
        """Import the engine in a thread, then replace the empty frames by the panes, in one update of the screen."""
        try:
            await in_thread(_import_all)
            from tui.features.all import Features

            with self.app.batch_update():
                await self._mount_panes()
                # Features hear of a change first: they reset what no longer holds before the panes show it.
                self.features = Features(self)
                self.show_panes()
                self.bind_panes()
                self.training.why.follow(self.editor.area)
                self.editor.side.merge_log = self.training.log_of_merges
                self._color_tables()
            await self.features.bring_back(self._arguments)
        finally:
            self.loaded.set()

    async def _mount_panes(self) -> None:
        work = self.query_one("#work")
        await self.query(".frame").remove()
        left_panes = [pane.load()(pane) for pane in _panes_at("left")]
        await self.query_one("#panes").mount_all(left_panes, before=work)
        other_panes = [pane.load()(pane) for pane in _panes_at("upper", "side")]
        await work.mount_all(other_panes, before=self.editor)
        for name in ("corpus_pane", "training", "audit_pane", "compare_pane"):
            selector = f"#{name.removesuffix('_pane')}"
            setattr(self, name, self.query_one(selector))
        await self.editor.load()

    def _color_tables(self) -> None:
        """Give a token the same color in tables as in the editor, also after a change of the theme."""
        for table in (self.training.log_of_merges, self.audit_pane.table):
            table.token_style = self.editor.area.style_of

        def redraw(_theme: Theme) -> None:
            # The editor gets the colors of the new theme after this signal.
            for table in (self.training.log_of_merges, self.audit_pane.table):
                table.call_after_refresh(table.refresh)

        self.app.theme_changed_signal.subscribe(self, redraw)

    async def on_unmount(self) -> None:
        self._say_last(self.text_keeper.keep_at_end())
        is_training = self.run.busy and self.own_text is None
        await self._cancel_workers()
        if is_training:
            course = self.features.training.newest
            if course is not None:
                self._say_last(await self._leave_training(course.output))
        if self._writing is not None:
            await asyncio.wait([self._writing], timeout=SECONDS_TO_END)
        self.at_end.close()

    def _say_last(self, sentence: str) -> None:
        if sentence:
            self.last_words.append(visible(sentence))

    async def _cancel_workers(self) -> None:
        running = [
            worker
            for worker in self.workers
            if worker.node is self and not worker.is_finished
        ]
        for worker in running:
            worker.cancel()
        if running:
            # A process that takes longer keeps its merges when it finds its pipes closed.
            ends = asyncio.gather(*map(_wait_for, running))
            await asyncio.wait([ends], timeout=SECONDS_TO_END)

    async def _leave_training(self, output: Path) -> str:
        """Let the next start restore what a training has learned. Return a sentence if that is nothing."""
        if await in_thread(output.is_file):
            self.remember(tokenizer=str(output))
        elif not await in_thread(checkpoint_of(output).is_file):
            return "The training had not learned any merge yet, so nothing is kept. F6 starts it again."
        return ""

    def on_stage_view_ended(self) -> None:
        self.stage.close(gently=True)

    def on_text_area_changed(self) -> None:
        self.hear()
        self.text_keeper.keep_soon()

    # Events

    def run_in_background(self, work: Work) -> None:
        """Run a coroutine of a feature. An expected error is shown as a sentence."""
        failed = partial(self.say, severity="error")
        self.run_worker(guarded(self, lambda: work, failed))

    def hear(self, key: str = "") -> None:
        """Tell a lesson that a key was pressed, or that something has changed."""
        if self.caption:
            self.features.tour.hear(key)

    def watch_run(self, old: Run, new: Run) -> None:
        if old.phase != new.phase:
            self.refresh_bindings()  # F6 trains, pauses or goes on.

    watch_playing = StateScreen.refresh_bindings

    def on_resize(self, event: events.Resize) -> None:
        if stop_outdated_resize(self, event):
            return
        # Set the classes first: else Textual draws the new size with the old layout, and then again.
        width = _class_of(event.size.width, _WIDTHS)
        height = _class_of(event.size.height, _HEIGHTS)
        names = [name for _, name in (*_WIDTHS, *_HEIGHTS)]
        self.update_classes({name: name in (width, height) for name in names})
        self.stage.resized()
        self.show_panes()
        self.call_after_refresh(self.refresh_bindings)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if self.focused is not event.widget:
            return
        for node in event.widget.ancestors_with_self:
            if isinstance(node, Pane) and node.id:
                self.active = node.id
                return

    # Panes

    def action_show(self, pane: str) -> None:
        self.active = pane
        self.query_one(f"#{pane}", Pane).focus_next_part()

    def watch_active(self, pane: str) -> None:
        place = PANE_BY_ID[pane].place
        self._in_front[place] = pane
        if place in ("upper", "side"):
            self._in_front[_ABOVE] = pane
        self.show_panes()

    @property
    def panes_in_front(self) -> dict[str, str]:
        return dict(self._in_front)

    def put_in_front(self, panes: dict[str, str]) -> None:
        self._in_front = dict(panes)
        self.show_panes()

    def show_panes(self) -> None:
        """Show the panes that fit on the screen, and hide the others."""
        hidden_places = self.stage.hidden_places
        shown = {
            pane
            for pane in self._panes_to_show()
            if PANE_BY_ID[pane].place not in hidden_places
        }
        for pane in self.query(Pane):
            pane.display = pane.id in shown
            self._update_pane(pane)
        places = {PANE_BY_ID[pane].place for pane in shown}
        for container in self.query("#work"):
            container.display = places != {"left"}

    def _panes_to_show(self) -> set[str]:
        """Return the ids of one pane, of two with one of them above the editor, or of one pane at each place.

        On a screen without a side, a focused side pane also takes the room of the editor.
        """
        if self._shows_one:
            return {self.active}
        if self._shows_all:
            return set(self._in_front.values())
        shown = {self._in_front[_ABOVE], self._in_front["left"]}
        if PANE_BY_ID[self.active].place != "side":
            shown.add(self._in_front["lower"])
        return shown

    def bind_panes(self) -> None:
        """Pass each change of the screen's values to the panes that have a variable of the same name."""
        variables = vars(StateScreen)
        names = [name for name in variables if isinstance(variables[name], Reactive)]
        for pane in self.query(Pane):
            pane.facts = tuple(name for name in names if name in vars(type(pane)))
            for name in pane.facts:
                pane.watch(self, name, partial(self._update_pane, pane), init=False)
            self._update_pane(pane)

    def _update_pane(self, pane: Pane) -> None:
        """Copy the screen's values to a pane, unless it is hidden and can wait."""
        if pane.display or not pane.RESTS:
            for name in pane.facts:
                setattr(pane, name, getattr(self, name))

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
            self._in_front[_ABOVE] = "training"
            self.show_panes()

    def go_to_log(self) -> bool:
        if self._shows_all:
            return False
        self.active = "training"
        self.set_focus(self.training.log_of_merges)
        return True

    # Conditions of commands

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
    def is_without_lesson(self) -> bool:
        return not self.caption

    @property
    def has_room(self) -> bool:
        """Whether the screen is large enough for several panes."""
        return not (self.has_class("-narrow") or self.has_class("-low"))

    def action_fill(self) -> None:
        self.update_classes({"-fill": not self.has_class("-fill")})
        self.show_panes()

    def action_jump(self) -> None:
        """Show a letter on each part of the screen, and go to the part whose letter is pressed."""
        from tui.dialogs.jump_labels import JumpLabels

        if self.loaded.is_set():
            self.app.push_screen(JumpLabels(self), self._jump_to)

    def _jump_to(self, target: JumpTarget | None) -> None:
        if target is None:
            return
        if target.part is None:
            self.action_show(target.pane)
        else:
            self.set_focus(target.part)

    def action_help(self) -> None:
        from tui.dialogs.help import Help

        self.app.push_screen(Help(self))


def _class_of(n_cells: int, classes: Sequence[tuple[int, str]]) -> str:
    """Return the class of a screen with this many columns or rows."""
    return [name for least, name in classes if n_cells >= least][-1]


async def _wait_for(worker: Worker[Any]) -> None:
    # Without this, the event loop would print the error at its end.
    with suppress(WorkerError):
        await worker.wait()


def _panes_at(*places: str) -> Iterator[PaneEntry]:
    return (pane for place in places for pane in PANES if pane.place == place)


def _import_all() -> None:
    """Import what the panes need, and look for texts on the disk."""
    for pane in PANES:
        pane.load()
    for module in _FIRST_IMPORTS:
        import_module(module)
    sources = import_module("tui.disk.sources")
    sources.sample_sources()
    sources.computer_sources()
