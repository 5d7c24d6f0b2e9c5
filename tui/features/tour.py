"""Tour: lessons on the real panes. They replace the user's text, corpus and tokenizer, and restore them at the end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.trainer.conditions import condition
from tui.disk.lessons import (
    THE_TEXT,
    Lesson,
    LessonStep,
    own_lessons,
    path_of_text,
    read_lesson,
)
from tui.disk.locked import ScratchFolder
from tui.disk.sources import title_of
from tui.features.course import TrainingTask
from tui.features.feature import Feature, StateScreen, sentence_of
from tui.state import EDITORS_TEXT, Corpus, TrainingOptions
from tui.terminal.background import in_thread

if TYPE_CHECKING:
    from tui.features.all import Features

FIRST_START: Final = "0-first-start"
"""The name of a lesson that has captions only, and replaces nothing."""
_SECONDS_OF_POLL: Final = 0.02
"""How often a lesson checks whether its training has learned all merges."""


class _Place(NamedTuple):
    """A step of a lesson, counted from 0."""

    lesson: Lesson
    number: int

    @property
    def is_last(self) -> bool:
        return self.number + 1 == len(self.lesson.steps)


class _OwnView(NamedTuple):
    """The user's view of the editor, apart from the text and the place in it."""

    put_last: str
    specials: bool
    side: str


class Tour(Feature):
    """Replaces the screen's `caption` and `own_text`. To show a step it uses the other features."""

    def __init__(self, screen: StateScreen, features: Features) -> None:
        super().__init__(screen)
        self._features = features
        self._place: _Place | None = None
        """The step to show."""
        self._moved = asyncio.Event()
        """Set when another step is to be shown."""
        self._wait = ""
        """What leads to the next step, such as "key f6", "edit" or "until step >= 5"."""
        self._n_edits = 0
        """The edits of the text when the step was shown."""
        screen.watch(screen, "step", lambda: self.hear(), init=False)

    # Commands

    async def open(self, name: str) -> None:
        """Start a lesson of bpescope or of a file, or resume it at the step that was shown last."""
        for lesson in await in_thread(own_lessons):
            if lesson.name == name:
                break
        else:
            lesson = await in_thread(read_lesson, Path(name))
        number = 0
        remembered = self.screen.remembered.lessons.get(name, "")
        if remembered.isdecimal():
            number = min(int(remembered), len(lesson.steps) - 1)
        self._go(_Place(lesson, number))
        if not self.is_working:
            self.begin(self._teach)

    def next(self) -> None:
        """Go to the next step, or to the next lesson."""
        place = self._place
        if place is None:
            return
        if not place.is_last:
            self._go(_Place(place.lesson, place.number + 1))
            return
        next_place = None
        for lesson, next_lesson in pairwise(own_lessons()):
            if lesson == place.lesson:
                next_place = _Place(next_lesson, 0)
        self._go(next_place)

    def back(self) -> None:
        place = self._place
        if place is not None:
            self._go(_Place(place.lesson, max(0, place.number - 1)))

    def leave(self) -> None:
        self._go(None)

    def _go(self, place: _Place | None) -> None:
        self._place = place
        self._wait = ""
        self._moved.set()

    def hear(self, key: str = "") -> None:
        """Go on if the step waits for this key, for an edit, or for a merge that is now applied."""
        place = self._place
        if place is None or not self._is_met(key):
            return
        if place.is_last:
            self.leave()
        else:
            self.next()

    def _is_met(self, key: str) -> bool:
        kind, _, wanted = self._wait.partition(" ")
        if kind == "key":
            return wanted == key
        if kind == "edit":
            return self.screen.editor.area.document.n_edits > self._n_edits
        if kind in ("step", "until"):
            log = self.screen.training.log_of_merges
            goal = condition(wanted)
            return goal.first_step(log.merges, log.n_bytes, 0, self.screen.step) > 0
        return False

    # A lesson

    async def _teach(self) -> None:
        """Show the steps, then restore the user's text, corpus and tokenizer."""
        before: _Place | None = None
        with ScratchFolder() as folder:
            try:
                while place := self._place:
                    has_captions_only = place.lesson.name == FIRST_START
                    if not has_captions_only and not await self._set_aside():
                        break
                    self._moved.clear()
                    await self._show(place, before, folder)
                    before = place
                    await self._moved.wait()
            except (BpeError, OSError) as error:
                self.failed(sentence_of(error))
            self._place = None
            self.screen.caption = ""
            if self.screen.own_text is not None:
                await self._give_back(self.screen.own_text)
        if self._place:
            # The user has opened another lesson meanwhile.
            await self._teach()

    async def _set_aside(self) -> bool:
        """Save the user's text and view. Return False if a training or invalid options prevent it."""
        screen = self.screen
        editor = screen.editor
        if screen.own_text is None:
            is_learning = screen.run.phase != "showing" and self.refuse_while_training()
            if is_learning or self._features.corpus.chosen_options() is None:
                return False
            await self._features.training.finish()
            self._own_view = _OwnView(
                editor.put_last,
                editor.specials,
                editor.side.seen,
            )
            screen.own_place = editor.area.place
            screen.own_text = editor.area.text
        return True

    async def _give_back(self, text: str) -> None:
        editor = self.screen.editor
        await self._features.training.finish()
        # The text of the lesson is set aside as the last one.
        editor.put(text, own=True)
        view = self._own_view
        editor.put_last = view.put_last
        editor.specials = view.specials
        editor.side.seen = view.side
        editor.area.show_place(self.screen.own_place)
        self.screen.own_text = None
        await self._features.bring_back()
        self.screen.action_show("editor")

    async def _show(
        self, place: _Place, before: _Place | None, folder: ScratchFolder
    ) -> None:
        """Show a step. After a jump, first repeat the steps since the last training before it."""
        screen = self.screen
        lesson = place.lesson
        self._wait = ""
        step = lesson.steps[place.number]
        progress = f"{place.number + 1} of {len(lesson.steps)}"
        screen.caption = f"{lesson.title} · {progress}\n{step['say']}"
        left_at = place.number
        if place.is_last:
            # The lesson starts again the next time.
            left_at = 0
        lessons = dict(screen.remembered.lessons)
        lessons[lesson.name] = str(left_at)
        screen.remember(lessons=lessons)
        first = place.number
        if before != _Place(lesson, place.number - 1):
            first = self._prepare_jump(place)
        for earlier_or_this in lesson.steps[first : place.number + 1]:
            await self._do(earlier_or_this, folder)
        self._n_edits = screen.editor.area.document.n_edits
        self._wait = step.get("wait", "")
        self.hear()

    def _prepare_jump(self, place: _Place) -> int:
        """Show the text before the last training up to a step. Return the step of that training."""
        first = 0
        for number, step in enumerate(place.lesson.steps[: place.number + 1]):
            if "train" in step:
                first = number
        text = ""
        for step in place.lesson.steps[:first]:
            text = step.get("text", text)
        self._put(text)
        return first

    async def _do(self, step: LessonStep, folder: ScratchFolder) -> None:
        """Show what one step says: its text, training, merges, cursor and pane."""
        screen = self.screen
        area = screen.editor.area
        self._put(step.get("text", ""))
        if "train" in step:
            await self._train(step, folder)
        if "merges" in step:
            await self._go_to_merges(step["merges"], is_paused="train" in step)
        if "at" in step:
            index = area.text.find(step["at"])
            if index >= 0:
                area.move_cursor(area.document.get_location_from_index(index))
        pane = step.get("pane")
        if pane == "training":
            screen.active = pane
            screen.set_focus(screen.training.log_of_merges)
        elif pane:
            screen.action_show(pane)
        if "side" in step:
            # On a small screen, the training pane has no side otherwise.
            screen.training.set_class(pane == "training", "-with-why")
            if pane == "training":
                screen.training.why.seen = step["side"]
            else:
                screen.editor.side.seen = step["side"]

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

    def _put(self, text: str) -> None:
        editor = self.screen.editor
        if text and text != editor.area.text:
            # Texts of the lesson need not be remembered.
            editor.put_last = editor.area.text
            editor.put(text)

    async def _train(self, step: LessonStep, folder: ScratchFolder) -> None:
        """Train on the text of the lesson or of a file. Return once all merges are learned."""
        screen = self.screen
        corpus = self._features.corpus
        training = self._features.training
        await training.finish()
        # Special tokens are plain text unless the lesson changes that.
        screen.editor.specials = False
        path = path_of_text(step["train"])
        if step["train"] == THE_TEXT:
            path = str(folder.path / EDITORS_TEXT)
            text = screen.editor.area.text.encode("utf-8", "replace")
            await in_thread(Path(path).write_bytes, text)
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
        while screen.run.phase in unfinished_phases:
            await asyncio.sleep(_SECONDS_OF_POLL)
