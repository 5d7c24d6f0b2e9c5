"""Tour: lessons on the real panes. They replace the user's text, corpus and tokenizer, and restore them at the end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.visible import shortened
from tui.disk.lesson_fields import LONGEST_SENTENCE, LessonStep
from tui.disk.lessons import Lesson, own_lessons, read_lesson
from tui.disk.locked import ScratchFolder
from tui.features.feature import Feature, StateScreen, sentence_of
from tui.features.lesson_steps import LessonSteps
from tui.features.own_work import OwnWork
from tui.features.questions import Questions
from tui.terminal.background import in_thread

if TYPE_CHECKING:
    from tui.features.all import Features


class _Place(NamedTuple):
    """A step of a lesson, counted from 0."""

    lesson: Lesson
    number: int

    @property
    def is_last(self) -> bool:
        return self.number + 1 == len(self.lesson.steps)

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.number]

    @property
    def title(self) -> str:
        return f"{self.lesson.title} · {self.number + 1} of {len(self.lesson.steps)}"


class Tour(Feature):
    """Replaces the screen's `caption` and `question`."""

    def __init__(self, screen: StateScreen, features: Features) -> None:
        super().__init__(screen)
        self._steps = LessonSteps(screen, features)
        self._own_work = OwnWork(screen, features)
        self._questions = Questions(features.quantities)
        self._place: _Place | None = None
        """The step to show."""
        self._moved = asyncio.Event()
        """Set when another step is to be shown."""
        self._waits = False
        """Whether the step is shown, and what it waits for has not happened yet."""
        self._has_tried = False
        """Whether F12 has done what the step waits for."""
        screen.watch(screen, "step", lambda: self.hear(), init=False)

    # Commands

    async def open(self, name: str) -> None:
        """Start a lesson of bpescope or of a file, or resume it at the step that was shown last."""
        lesson = await in_thread(_find_lesson, name)
        place = self._remembered(lesson)
        if place.is_last:
            place = _Place(lesson, 0)
        self._begin(place)

    async def resume(self) -> None:
        """Show the step of any lesson that was shown last. At first, or after the last step, begin the tour."""
        tour = await in_thread(own_lessons)
        place = _Place(tour[0], 0)
        names = list(self.screen.remembered.lessons)
        if names:
            # A lesson's file may no longer exist.
            with suppress(BpeError):
                place = self._remembered(await in_thread(_find_lesson, names[-1]))
        if place.is_last and place.lesson not in tour[:-1]:
            place = _Place(tour[0], 0)
        self._begin(place)

    def _remembered(self, lesson: Lesson) -> _Place:
        number = 0
        remembered = self.screen.remembered.lessons.get(lesson.name, "")
        if remembered.isdecimal():
            number = min(int(remembered), len(lesson.steps) - 1)
        return _Place(lesson, number)

    def _begin(self, place: _Place) -> None:
        self._go(place)
        if not self.is_working:
            self.begin(self._teach)

    async def next(self) -> None:
        """Show the answer, do what the step waits for, or go to the next step or lesson."""
        place = self._place
        if place is None:
            return
        if self.screen.question:
            self.screen.question = ""
            reason = await self._questions.answer(place.step)
            if place == self._place:
                self._show_reason(place, f"Answer: {reason}")
        elif not self._try_to_perform(place):
            self._go_on(place)

    def _try_to_perform(self, place: _Place) -> bool:
        """Do what the step waits for, once. Return False if there is nothing to do, or it was tried before."""
        if not self._waits or self._has_tried:
            return False
        self._has_tried = True
        return self._steps.perform(place.step)

    def _go_on(self, place: _Place) -> None:
        if place.is_last:
            self._go(_beside(place.lesson, 1))
        else:
            self._go(_Place(place.lesson, place.number + 1))

    def back(self) -> None:
        """Go to the step before, or to the last step of the lesson before. Show the first step again."""
        place = self._place
        if place is None:
            return
        if place.number:
            self._go(_Place(place.lesson, place.number - 1))
            return
        before = _beside(place.lesson, -1)
        if before is None:
            self._go(place)
        else:
            self._go(_Place(before.lesson, len(before.lesson.steps) - 1))

    def leave(self) -> None:
        self._go(None)

    def _go(self, place: _Place | None) -> None:
        self._place = place
        self._waits = False
        self._has_tried = False
        self._moved.set()

    def hear(self, key: str = "") -> None:
        """Go on if the step waits for this key, for an edit, or for a merge that is now applied.

        The last sentence of a lesson stays.
        """
        place = self._place
        if place is not None and self._waits and self._steps.is_met(place.step, key):
            self._waits = False
            if not place.is_last:
                self._go_on(place)

    async def judge(self, typed: str) -> None:
        """Judge the answer to the question of the step, and show the reason."""
        place = self._place
        if place is None or not self.screen.question:
            return
        verdict = await self._questions.judge(place.step, typed)
        if place != self._place:
            return
        if verdict.is_right:
            self._show_reason(place, f"Right. {verdict.reason}")
            self.screen.question = ""
        else:
            reason = shortened(verdict.reason, LONGEST_SENTENCE - 20)
            self._show_reason(place, f"Not yet. {reason} Try again, or press F12.")

    def _show_reason(self, place: _Place, reason: str) -> None:
        sentence = shortened(reason, LONGEST_SENTENCE)
        self.screen.caption = f"{place.title}\n{sentence}"

    # A lesson

    async def _teach(self) -> None:
        """Show the steps, then restore the user's text, corpus and tokenizer."""
        before: _Place | None = None
        with ScratchFolder() as folder:
            try:
                while place := self._place:
                    if not await self._own_work.set_aside():
                        break
                    self._moved.clear()
                    before = await self._show(place, before, folder)
                    await self._moved.wait()
            except (BpeError, OSError) as error:
                self.failed(sentence_of(error))
            self._place = None
            self.screen.question = ""
            self.screen.caption = ""
            await self._own_work.give_back()
        if self._place:
            # The user has opened another lesson meanwhile.
            await self._teach()

    async def _show(
        self, place: _Place, before: _Place | None, folder: ScratchFolder
    ) -> _Place | None:
        """Show a step. Return its place, or None if its training was stopped because the user went elsewhere."""
        screen = self.screen
        self._waits = False
        screen.question = ""
        screen.caption = f"{place.title}\n{place.step['say']}"
        # The lesson shown last is at the end.
        lessons = dict(screen.remembered.lessons)
        lessons.pop(place.lesson.name, None)
        lessons[place.lesson.name] = str(place.number)
        screen.remember(lessons=lessons)
        follows = before == _Place(place.lesson, place.number - 1)
        after = _Place(place.lesson, place.number + 1)

        def is_wanted() -> bool:
            # The next step goes on with the training of this one.
            return self._place in (place, after)

        is_shown = await self._steps.show(
            place.lesson,
            place.number,
            folder,
            follows=follows,
            is_wanted=is_wanted,
        )
        if not is_shown:
            return None
        if place == self._place:
            screen.question = place.step.get("ask", "")
            self._waits = True
            self.hear()
        return place


def _find_lesson(name: str) -> Lesson:
    """Return a lesson of bpescope, or read the file with this path. Raise `BpeError`."""
    for lesson in own_lessons():
        if lesson.name == name:
            return lesson
    return read_lesson(Path(name))


def _beside(lesson: Lesson, by: int) -> _Place | None:
    """Return the beginning of the next lesson (1) or of the one before (-1); None if there is none."""
    lessons = own_lessons()
    if lesson not in lessons:
        return None
    number = lessons.index(lesson) + by
    if not 0 <= number < len(lessons):
        return None
    return _Place(lessons[number], 0)
