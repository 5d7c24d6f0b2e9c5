"""Tour: lessons on the real panes. What is the user's is set aside for them, and comes back when they are left."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

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

FIRST_START: Final = "0-first-start"  # it says something, but shows nothing
_POLL: Final = 0.02  # seconds between two looks at whether all is learned

Place = tuple[Lesson, int]  # a lesson, and a step of it, from 0


class Tour(Feature):
    """Replaces the screen's `caption` and `own_text`; what a step shows is done by other features, as for a key."""

    def __init__(self, screen: StateScreen, features: Features) -> None:
        super().__init__(screen)
        self._of = features
        self._place: Place | None = None  # what is to be shown
        self._moved = asyncio.Event()  # whether that is another one than is shown
        self._wait = ""  # for what, once all of a step is shown
        self._n_edits = 0  # of the text by then
        screen.watch(screen, "step", lambda: self.hear(), init=False)

    # What can be asked for

    async def open(self, name: str) -> None:
        """Begin a lesson of bpescope, or one in a file, or take it up where it was left."""
        own = {lesson.name: lesson for lesson in await in_thread(own_lessons)}
        lesson = own[name] if name in own else await in_thread(read_lesson, Path(name))
        left = self.screen.remembered.lessons.get(name, "")
        self._go(
            (lesson, min(int(left) if left.isdecimal() else 0, len(lesson.steps) - 1))
        )
        if not self.is_working:
            self.begin(self._teach)

    def next(self) -> None:
        if self._place is not None:
            (lesson, number), tour = self._place, own_lessons()
            follows = tour[tour.index(lesson) + 1 :] if lesson in tour else ()
            after = (follows[0], 0) if follows else None
            self._go((lesson, number + 1) if number + 1 < len(lesson.steps) else after)

    def back(self) -> None:
        if self._place is not None:
            self._go((self._place[0], max(0, self._place[1] - 1)))

    def leave(self) -> None:
        self._go(None)

    def _go(self, place: Place | None) -> None:
        self._place, self._wait = place, ""
        self._moved.set()

    def hear(self, key: str = "") -> None:
        """A key was pressed, the text edited, or another step is in force: that may be what is waited for."""
        (kind, _, what), log = (
            self._wait.partition(" "),
            self.screen.training.log_of_merges,
        )
        met = kind == "key" and what == key
        if kind == "edit":
            met = self.screen.editor.area.document.n_edits > self._n_edits
        elif kind in ("step", "until"):
            met = (
                condition(what).first_step(log.merges, log.n_bytes, 0, self.screen.step)
                > 0
            )
        if met and self._place:
            self.next() if self._place[1] + 1 < len(
                self._place[0].steps
            ) else self.leave()

    # A lesson

    async def _teach(self) -> None:
        """Show one step after the other, as they are asked for; then give back what is the user's."""
        before = None
        with ScratchFolder() as folder:
            try:
                while (place := self._place) and (
                    place[0].name == FIRST_START or await self._set_aside()
                ):
                    self._moved.clear()
                    await self._show(place, before, folder)
                    before = place
                    await self._moved.wait()
            except (BpeError, OSError) as error:
                self.failed(sentence_of(error))
            self._place, self.screen.caption = None, ""
            if self.screen.own_text is not None:
                await self._give_back(self.screen.own_text)
        if self._place:  # another was asked for meanwhile
            await self._teach()

    async def _set_aside(self) -> bool:
        """Let what is the user's be as it is until it is given back; whether that can be."""
        screen, editor = self.screen, self.screen.editor
        if screen.own_text is None:
            learns = screen.run.phase != "showing" and self.refuse_while_training()
            if learns or self._of.corpus.chosen_options() is None:
                return False
            await self._of.training.finish()
            self._own = (
                editor.area.cursor_location,
                editor.put_last,
                editor.specials,
                editor.side.seen,
            )
            screen.own_text = editor.area.text
        return True

    async def _give_back(self, text: str) -> None:
        editor = self.screen.editor
        await self._of.training.finish()
        editor.put(
            text, own=True
        )  # what was typed in the lesson is set aside behind other texts
        cursor, editor.put_last, editor.specials, editor.side.seen = self._own
        editor.area.move_cursor(cursor)
        self.screen.own_text = None
        await self._of.bring_back()
        self.screen.action_show("editor")

    async def _show(
        self, place: Place, before: Place | None, folder: ScratchFolder
    ) -> None:
        """Show a step: after another than the one before it, all since the training that it needs."""
        (lesson, number), screen = place, self.screen
        steps, first, n_steps, self._wait = (
            lesson.steps[: number + 1],
            number,
            len(lesson.steps),
            "",
        )
        screen.caption = (
            f"{lesson.title} · {number + 1} of {n_steps}\n{steps[-1]['say']}"
        )
        left = str(
            (number + 1) % n_steps and number
        )  # from its last step on it begins anew
        screen.remember(lessons={**screen.remembered.lessons, lesson.name: left})
        if before != (lesson, number - 1):
            first = max(
                (at for at, step in enumerate(steps) if "train" in step), default=0
            )
            self._put(
                next(
                    (
                        step["text"]
                        for step in reversed(steps[:first])
                        if "text" in step
                    ),
                    "",
                )
            )
        for step in steps[first:]:
            await self._do(step, folder)
        self._n_edits, self._wait = (
            screen.editor.area.document.n_edits,
            steps[-1].get("wait", ""),
        )
        self.hear()

    async def _do(self, step: LessonStep, folder: ScratchFolder) -> None:
        screen, area, shown, pane = (
            self.screen,
            self.screen.editor.area,
            self._of.shown,
            step.get("pane"),
        )
        self._put(step.get("text", ""))
        if "train" in step:
            await self._train(step, folder)
        if "merges" in step and (
            step["merges"] or "train" not in step
        ):  # a training is held before its first
            shown.stop()
            shown.go_to(step["merges"])
            if step["merges"] >= shown.n_steps:
                await shown.show_all()  # so that it comes to its end, and is kept
        if (at := area.text.find(step.get("at", "\0"))) >= 0:
            area.move_cursor(area.document.get_location_from_index(at))
        if pane == "training":
            screen.active = pane
            screen.set_focus(screen.training.log_of_merges)
        elif pane:
            screen.action_show(pane)
        if "side" in step:
            screen.training.set_class(
                pane == "training", "-with-why"
            )  # else there is none on a small screen
            (
                screen.training.why if pane == "training" else screen.editor.side
            ).seen = step["side"]

    def _put(self, text: str) -> None:
        editor = self.screen.editor
        if text and text != editor.area.text:
            editor.put_last = editor.area.text  # it is of the lesson
            editor.put(text)

    async def _train(self, step: LessonStep, folder: ScratchFolder) -> None:
        screen, corpus, training, held = (
            self.screen,
            self._of.corpus,
            self._of.training,
            "merges" in step,
        )
        await training.finish()
        screen.editor.specials = False  # text is text at first
        path = path_of_text(step["train"])
        if step["train"] == THE_TEXT:
            path = str(folder.path / EDITORS_TEXT)
            await in_thread(
                Path(path).write_bytes,
                screen.editor.area.text.encode("utf-8", "replace"),
            )
        options = replace(TrainingOptions(), **step.get("options", {}))
        corpus.choose_options(
            replace(options, special_tokens=tuple(options.special_tokens))
        )
        reference = (path_of_text(step["reference"]),) if "reference" in step else ()
        corpus.choose(Corpus((path,), reference, title_of((path,))))
        training.start(
            TrainingTask(
                screen.corpus.title, screen.options, (path,), folder=str(folder.path)
            )
        )
        if held:
            self._of.shown.stop()
        while screen.run.phase in ("counting", "preparing", "merging" if held else ""):
            await asyncio.sleep(_POLL)
