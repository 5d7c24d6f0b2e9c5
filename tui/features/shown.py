"""Shown: the tokenizer on the screen, how many of its merges are in force, and the pace at which more of them are."""

import asyncio
import gc
from contextlib import suppress
from math import expm1, log1p
from time import monotonic
from typing import Final

from textual.timer import Timer

from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merges
from bpe_core.trainer.conditions import Condition
from tui.features.course import Course, TrainingTask
from tui.features.feature import ABOUT_TOKENIZER, Feature, StateScreen
from tui.state import (
    PACES,
    USUAL_PACE,
    Audit,
    Loaded,
    Run,
    StepExplained,
    TokenLines,
    steps_known,
)
from tui.widgets.merge_log import KeptMerges
from tui.widgets.screen_lines import StepLine

_PATIENCE: Final = (
    0.1  # seconds that a step waits for the text before it is drawn without it
)
_SLOWLY: Final = 30  # merges that would be shown at a pace if it never grew: one and a half a second in 20 seconds
_FRAMES: Final = 10  # steps that are shown in a second at most, lest keys wait; a faster pace skips some
_SEARCHED: Final = 5000  # merges between two frames that are looked through for one where a condition holds


def growth(total: int) -> float:
    """By what factor of e the pace grows until `total` merges are shown; 0 for so few that it need not grow.

    Of merges shown from the first on at a pace that grows evenly, `_SLOWLY / x * (exp(x * u) - 1)` have been after the
    share u of the time; here that is `total` for u = 1.

    >>> [round(growth(total), 2) for total in (20, 768, 32_512, 200_000)]
    [0.0, 4.82, 9.21, 11.22]
    """
    x = 1.0
    for _ in range(200):  # it converges for all that a training may have
        x = log1p(total * x / _SLOWLY)
    return x if x > 1e-3 else 0.0


def give_same_ids(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers, such as two versions of one that is being trained, give the same ids of any text.

    Of a rank file whose merges are not recovered no merge is asked for: that would take seconds.
    """
    old, new = one.vocabulary, other.vocabulary
    if one is other or not (old.knows_merges and new.knows_merges):
        return one is other
    if (
        one.step != other.step
        or one.splitter is not other.splitter
        or one.preparation is not other.preparation
    ):
        return False
    same_tokens = old.base == new.base and old.special_tokens == new.special_tokens
    return same_tokens and old.merges == new.merges


def same(shown: Loaded, loaded: Loaded) -> bool:
    """Whether a file holds the tokenizer that is on the screen, so that what is known of it can stay."""
    if shown.path != loaded.path or shown.tokenizer.pattern != loaded.tokenizer.pattern:
        return False
    return (
        shown.digest == loaded.digest
        if shown.digest
        else give_same_ids(shown.tokenizer, loaded.tokenizer)
    )


class Shown(Feature):
    """Replaces the screen's `tokenizer`, `path`, `step`, `in_force`, `playing` and `goal`, and fills the log.

    Whatever moves the step in force, a training, a play, a key, the mouse or a condition, moves it here. A training is
    shown as far as somebody has seen it: what it has learned beyond that is its lead.
    """

    def __init__(self, screen: StateScreen) -> None:
        super().__init__(screen)
        self.loaded: Loaded | None = None  # the tokenizer, unless it is being trained
        self.course: Course | None = (
            None  # the training that is shown, until all of it is kept
        )
        self.task: TrainingTask | None = (
            None  # what the tokenizer was trained for, if that was in this session
        )
        self._before: Loaded | None = (
            None  # the one that was shown before the training that is under way
        )
        self.is_drawn = True  # whether the step that was gone to last has been drawn
        self._next: int | None = None  # the step to go to once it has
        self._timer: Timer | None = None
        self._in_haste = (
            False  # whether all is shown as soon as it is learned, whatever the pace
        )
        self._since, self._from = (
            0.0,
            0.0,
        )  # when the step in force began to follow the time, and at which share of it

    # Which tokenizer

    def _forget(self, task: TrainingTask | None = None) -> None:
        """Know nothing any more of the tokenizer on the screen: another one comes, which is trained for `task`."""
        if self.course is not None:
            self.course.all_shown.set()
        self.task, self.course = (
            task,
            None,
        )  # before it is seen: who sees it asks what it is learned from
        screen = self.screen
        screen.workers.cancel_group(screen, ABOUT_TOKENIZER)
        screen.audit, screen.token_lines, screen.explained = (
            Audit(),
            TokenLines(),
            StepExplained(),
        )
        if not screen.run.busy:  # how the last training ended is no longer of interest
            screen.run = Run()
        screen.editor.status_lines.forget_edits()
        gc.collect()  # 40 ms; what reads a live text is a cycle, and ten trainings left 50 MB of them

    def show(self, loaded: Loaded) -> None:
        """Show another tokenizer, all of its merges in force, as far as they are known."""
        if (
            not self.screen.run.busy
        ):  # else it is of the training before, and the next one is to be seen
            self.stop()
        self._forget()
        tokenizer, record = loaded.tokenizer, loaded.tokenizer.record
        self.loaded, self._before = loaded, None
        merges = (
            KeptMerges(tokenizer) if tokenizer.vocabulary.knows_merges else Merges()
        )
        self.screen.training.begin(
            merges,
            record.n_tokens_start if record else 0,
            record.n_bytes if record else 0,
        )
        self._put(tokenizer, str(loaded.path), steps_known(tokenizer))

    def recovered(self) -> None:
        """Show the merges of the tokenizer on the screen, which were recovered from its ranks."""
        if self.loaded is not None:
            tokenizer = self.loaded.tokenizer
            self.screen.training.begin(KeptMerges(tokenizer), 0, 0)
            self._put(tokenizer, str(self.loaded.path), tokenizer.step)
            self.screen.mutate_reactive(StateScreen.tokenizer)
            self.screen.editor.tell_names()
            self.screen.editor.side.show_token()

    def begin_training(self, course: Course) -> None:
        """Show a tokenizer that is being trained, of whose merges none is seen yet but those known before."""
        tokenizer = course.tokenizer
        assert tokenizer is not None and course.begun is not None
        self._forget(course.task)
        self._before, self.loaded, self.course = (
            self.loaded or self._before,
            None,
            course,
        )
        self.screen.training.begin(
            Merges(), course.begun.n_tokens_start, course.begun.n_bytes
        )
        self._put(tokenizer, "", 0)
        self._aim(course.goal)
        self.set_clock()

    def _reveal(self, step: int) -> None:
        """Show as many merges of the lead of a training."""
        screen, course = self.screen, self.course
        if (
            course is None
            or course.tokenizer is None
            or step <= (n_shown := steps_known(screen.tokenizer))
        ):
            return
        screen.training.learned(course.merges[n_shown:step])
        screen.tokenizer = (
            course.tokenizer
            if step == len(course.merges)
            else course.tokenizer.at(step)
        )

    def keep(self, learned: Loaded) -> None:
        """Show the tokenizer that was trained, whole, and from now on the one in its file."""
        if learned.tokenizer.step < steps_known(self.screen.tokenizer):
            return self.show(
                learned
            )  # it was stopped at an earlier step than others that had been seen
        self._reveal(learned.tokenizer.step)
        self.loaded, self._before, self.course = learned, None, None
        self._put(learned.tokenizer, str(learned.path), self.requested_step)

    def take_back(self) -> None:
        """Show the tokenizer of before a training that learned nothing, if that training was ever shown."""
        before, self._before = self._before, None
        if before is not None and self.loaded is None:
            self.show(before)

    def _put(self, tokenizer: Tokenizer, path: str, step: int) -> None:
        self.screen.path, self.screen.tokenizer = path, tokenizer
        self.go_to(step)

    # Which step

    async def travel(self, by: int) -> None:
        await self.travel_to(self.requested_step + by)

    async def travel_to(self, step: int) -> None:
        """Another step; whoever chooses one has seen enough of a play."""
        self.stop()
        await self.go_to_soon(step)

    async def go_to_soon(self, step: int) -> None:
        """Go to a step once the one before has been drawn: of those that are asked for meanwhile, only the last counts.

        A mouse tells of more places in a second than can be drawn.
        """
        if not self.is_drawn:
            self._next = self._nearest(step)
            return
        self.go_to(step)
        self.is_drawn = False
        # Textual draws what first says that it has changed, and all else in another frame; this waits until the text
        # knows which of its rows have, so that all of a step is in one.
        painted = asyncio.Event()
        try:
            if self.screen.editor.area.call_later(painted.set):
                with suppress(TimeoutError):
                    async with asyncio.timeout(_PATIENCE):
                        await painted.wait()
        finally:  # a play that is stopped here is cancelled, and the next step must not wait for it
            self.screen.call_after_refresh(self._drawn)

    async def _drawn(self) -> None:
        self.is_drawn = True
        if self._next is not None:
            await self.go_to_soon(self._next)

    @property
    def requested_step(self) -> int:
        """The step that was asked for last; it is in force, or will be soon."""
        return self.screen.step if self._next is None else self._next

    @property
    def n_steps(self) -> int:
        """Merges there are: those learned so far, or those of the tokenizer."""
        return (
            len(self.course.merges)
            if self.course
            else steps_known(self.screen.tokenizer)
        )

    def _nearest(self, step: int) -> int:
        return max(0, min(step, self.n_steps))

    def go_to(self, step: int) -> None:
        """Put another step of the tokenizer in force: the nearest that there is."""
        self._next, step = None, self._nearest(step)
        self._reveal(step)
        screen, tokenizer = self.screen, self.screen.tokenizer
        if tokenizer is not None:
            screen.step = step
            screen.in_force = (
                tokenizer if step == steps_known(tokenizer) else tokenizer.at(step)
            )

    # The time

    async def play(self) -> None:
        """Let the step in force follow the time, from the first merge on if the last is in force; or hold it."""
        if self.screen.playing:
            return self.stop()
        screen, tokenizer = self.screen, self.screen.tokenizer
        if not screen.run.busy:
            if tokenizer is None or not tokenizer.vocabulary.knows_merges:
                return screen.say("There are no merges to play yet.", "warning")
            if screen.step >= self.n_steps:
                await self.go_to_soon(0)
        self.start()
        # The keys of the line of steps hold it and change its pace; from elsewhere, the text is shown too.
        line = screen.query_one(StepLine)
        if screen.focused is not line and not screen.run.busy:
            screen.active = "editor"
            screen.set_focus(line)

    def start(self, *, goal: Condition | None = None, in_haste: bool = False) -> None:
        """Let the step in force follow the time; with a goal, or `in_haste`, it is the last that there is by then."""
        self.screen.playing, self._in_haste = True, in_haste
        self._aim(goal)
        self.set_clock()
        if self._timer is None:
            self._timer = self.screen.set_interval(1 / _FRAMES, self._advance)

    def stop(self) -> None:
        """Hold the step in force."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.screen.playing = False
        self._aim(None)

    def _aim(self, goal: Condition | None) -> None:
        stepped = self.course is not None and self.course.stepped
        self.screen.goal = f"until {goal}" if goal and not stepped else ""
        if self.course is not None:
            self.course.goal = goal

    async def show_all(self) -> None:
        """Put the last merge in force; while more of them are learned, each as it comes."""
        if self.screen.run.busy:
            self.start(in_haste=True)
        else:
            await self.travel_to(self.n_steps)

    def change_pace(self, by: int) -> None:
        """The next faster pace (1), or the next slower (-1), now and from now on."""
        here = PACES.index(self.screen.pace)
        self.screen.pace = PACES[max(0, min(here + by, len(PACES) - 1))]
        self.screen.remember(pace=self.screen.pace)
        self.set_clock()

    @property
    def _total(self) -> int:
        return max(
            self.n_steps,
            self.screen.run.total if self.course and not self.course.ended else 0,
        )

    def set_clock(self) -> None:
        """The pace goes on from the step in force."""
        x, done = growth(self._total), self.requested_step / _SLOWLY
        self._since, self._from = monotonic(), log1p(done * x) / x if x else done

    @property
    def _due(self) -> int:
        """The step whose time has come."""
        course, pace = self.course, self.screen.pace
        if not pace and course is None:
            pace = USUAL_PACE  # nobody plays what is learned to see it jump
        if not pace or self._in_haste or (course and course.goal):
            return self.n_steps
        x, u = growth(self._total), self._from + (monotonic() - self._since) / pace
        due = int(_SLOWLY * (expm1(min(x * u, 40)) / x if x else u))
        return max(due, course.n_known if course else 0)

    async def _advance(self) -> None:
        """Go to the step whose time has come; a screen that was late skips some."""
        course, step = self.course, min(self._due, self.n_steps)
        if self.screen.run.busy and not (course and course.run.busy):
            return  # another one counts, and there is no merge of it yet
        if course is not None and course.goal is not None and course.begun is not None:
            first = steps_known(self.screen.tokenizer)
            step = min(step, first + _SEARCHED)
            if found := course.goal.first_step(
                course.merges, course.begun.n_bytes, first, step
            ):
                reached, step = (
                    "" if course.stepped else f"reached {course.goal}",
                    found,
                )
                self.stop()
                self.screen.goal = reached
        if step != self.requested_step:
            await self.go_to_soon(step)
        if step >= self.n_steps and (course is None or course.ended):
            self.stop()
            if course is not None:
                course.all_shown.set()
