"""LessonSteps: shows a step of a lesson in the real panes, and does what it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bpe_core.trainer import Merges
from bpe_core.trainer.conditions import condition
from tui.disk.lesson_fields import THE_TEXT, LessonStep, path_of_text
from tui.disk.lessons import Lesson
from tui.disk.locked import ScratchFolder
from tui.disk.sources import title_of
from tui.features.course import TrainingTask
from tui.features.feature import StateScreen
from tui.state import EDITORS_TEXT, Corpus, TrainingOptions
from tui.terminal.background import in_thread
from tui.widgets.kept_merges import KeptMerges

if TYPE_CHECKING:
    from tui.features.all import Features

_SECONDS_OF_POLL: Final = 0.02
"""How often a lesson checks how far its training is."""


class LessonSteps:
    """Calls the other features, like keys do."""

    def __init__(self, screen: StateScreen, features: Features) -> None:
        self.screen = screen
        self._features = features
        self._n_edits = 0
        """The edits of the text when the step was shown."""

    # Show

    async def show(
        self,
        lesson: Lesson,
        number: int,
        folder: ScratchFolder,
        *,
        follows: bool,
        is_wanted: Callable[[], bool],
    ) -> bool:
        """Show a step. Unless it `follows` the step shown before, first repeat the steps since the last training.

        If `is_wanted` becomes false while a training learns, stop the training and return False.
        """
        first = number
        if not follows:
            first = self._prepare_jump(lesson, number)
        for step in lesson.steps[first : number + 1]:
            await self._put_and_train(step, folder, is_wanted)
            if not is_wanted():
                await self._features.training.finish()
                return False
            await self._show_merges_and_panes(step)
        self._n_edits = self.screen.editor.area.document.n_edits
        return True

    def _prepare_jump(self, lesson: Lesson, number: int) -> int:
        """Show the text before the last training up to a step. Return the step of that training."""
        first = 0
        for earlier, step in enumerate(lesson.steps[: number + 1]):
            if "train" in step:
                first = earlier
        text = ""
        for step in lesson.steps[:first]:
            text = step.get("text", text)
        self._put(text)
        return first

    async def _put_and_train(
        self, step: LessonStep, folder: ScratchFolder, is_wanted: Callable[[], bool]
    ) -> None:
        self._put(step.get("text", ""))
        if "train" in step:
            await self._train(step, folder, is_wanted)

    async def _show_merges_and_panes(self, step: LessonStep) -> None:
        """Show the merges, the cursor and the pane of a step."""
        editor = self.screen.editor
        if "merges" in step:
            await self._go_to_merges(step["merges"], is_paused="train" in step)
        if "specials" in step:
            editor.specials = step["specials"]
        if "at" in step:
            self._move_to(step["at"], 0)
        if "after" in step:
            self._move_to(step["after"], len(step["after"]))
        if "pane" in step:
            self._show_pane(step["pane"])
        if "side" in step:
            self._show_side(step.get("pane", self.screen.active), step["side"])

    def _put(self, text: str) -> None:
        editor = self.screen.editor
        if text and text != editor.area.text:
            # Texts of the lesson need not be remembered.
            editor.put_last = editor.area.text
            editor.put(text)

    def _move_to(self, part: str, by: int) -> None:
        area = self.screen.editor.area
        index = area.text.find(part)
        if index >= 0:
            area.move_cursor(area.document.get_location_from_index(index + by))

    def _show_pane(self, pane: str) -> None:
        """Show a pane, and give the focus to the part to look at first."""
        screen = self.screen
        if pane == "training":
            screen.active = pane
            screen.set_focus(screen.training.log_of_merges)
        elif pane == "audit":
            screen.active = pane
            screen.set_focus(screen.audit_pane.table)
        elif pane == "editor":
            screen.editor.view = "text"
            screen.active = pane
            screen.set_focus(screen.editor.area)
        else:
            screen.action_show(pane)

    def _show_side(self, pane: str, side: str) -> None:
        screen = self.screen
        # On a small screen, the training pane has no side otherwise.
        screen.training.set_class(pane == "training", "-with-why")
        if pane == "training":
            screen.training.remove_class("-without-why")
            screen.training.why.seen = side
            screen.training.why.ask()
        elif pane == "audit":
            screen.audit_pane.panel.side = side
        else:
            screen.editor.side.seen = side

    # Train

    @property
    def merges(self) -> Merges | KeptMerges:
        """The merges of the lesson's training, also those that are not shown yet."""
        course = self._features.shown.course
        if course is not None:
            return course.merges
        return self.screen.training.log_of_merges.merges

    async def _go_to_merges(self, step: int, *, is_paused: bool) -> None:
        """Go to a step. A new training is paused before its first merge already."""
        if is_paused and not step:
            return
        shown = self._features.shown
        shown.stop()
        shown.go_to(step)
        if step >= shown.n_steps:
            # The training ends, and its tokenizer is kept.
            await shown.show_all()

    async def _train(
        self, step: LessonStep, folder: ScratchFolder, is_wanted: Callable[[], bool]
    ) -> None:
        """Train on the text of the lesson or of a file.

        If the step goes to a number of merges, return once all are learned, else once learning begins. Return earlier
        if `is_wanted` becomes false.
        """
        screen = self.screen
        corpus = self._features.corpus
        training = self._features.training
        await training.finish()
        # Special tokens are plain text unless the lesson changes that.
        screen.editor.specials = False
        path = path_of_text(step["train"])
        if step["train"] == THE_TEXT:
            text = screen.editor.area.text
            path = str(await in_thread(folder.write, EDITORS_TEXT, text))
        options = replace(TrainingOptions(), **step.get("options", {}))
        special_tokens = tuple(options.special_tokens)
        corpus.choose_options(replace(options, special_tokens=special_tokens))
        reference: tuple[str, ...] = ()
        if "reference" in step:
            reference = (path_of_text(step["reference"]),)
        corpus.choose(Corpus((path,), reference, title_of((path,))))
        task = TrainingTask(
            screen.corpus.title, screen.options, (path,), folder=str(folder.path)
        )
        training.start(task)
        unfinished_phases = ["counting", "preparing"]
        if "merges" in step:
            self._features.shown.stop()
            unfinished_phases.append("merging")
        while screen.run.phase in unfinished_phases and is_wanted():
            await asyncio.sleep(_SECONDS_OF_POLL)

    # Wait

    def is_met(self, step: LessonStep, key: str) -> bool:
        """Whether what a step waits for has happened, if `key` was pressed."""
        kind, _, wanted = step.get("wait", "").partition(" ")
        if kind == "key":
            return bool(wanted == key)
        if kind == "edit":
            return self.screen.editor.area.document.n_edits > self._n_edits
        if kind in ("step", "until"):
            return 0 < self._first_step(wanted) <= self.screen.step
        return False

    def _first_step(self, goal: str) -> int:
        """Return the first step at which a condition holds; 0 if it does not hold at any."""
        merges = self.merges
        n_bytes = self.screen.training.log_of_merges.n_bytes
        return condition(goal).first_step(merges, n_bytes, 0, len(merges))

    def perform(self, step: LessonStep) -> bool:
        """Do what a step waits for. Return False if there is nothing to do."""
        kind, _, wanted = step.get("wait", "").partition(" ")
        if kind == "key":
            self._show_pane(step.get("pane", self.screen.active))
            self.screen.app.simulate_key(wanted)
            return True
        if kind == "edit" and "type" in step:
            self._show_pane("editor")
            self.screen.editor.area.insert(step["type"])
            return True
        if kind in ("step", "until"):
            goal = self._first_step(wanted)
            if goal:
                self._features.shown.stop()
                self._features.shown.go_to(goal)
            return goal > 0
        return False
