"""Shown: the tokenizer on the screen, how many of its merges are applied, and how fast more of them are shown."""

import asyncio
import gc
from bisect import bisect_left, bisect_right
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
from tui.widgets.kept_merges import KeptMerges
from tui.widgets.step_line import StepLine

_SECONDS_FOR_TEXT: Final = 0.1
"""How long a step waits for the text to find its changed rows. After that, it is drawn without them."""
_FIRST_STEPS: Final = 30
"""Merges that would be shown in all if the pace did not grow: 1.5 a second if all take 20 seconds."""
_FIRST_STEPS_ON_STAGE: Final = 5
"""The same on the stage, where captions explain the first merges: one every 2.5 s if all take 20 seconds."""
_FRAMES_PER_SECOND: Final = 10
"""How often another step is shown at most, so that keys do not wait. A faster pace skips steps."""
_LONGEST_OF_LESSON: Final = 10_000
"""Characters of the longest lesson text in which `travel_or_skip` looks for changes."""
_MOST_SEARCHED: Final = 5000
"""Merges that are searched for the one that meets a goal, from one frame to the next."""


def growth(total: int, first_steps: int = _FIRST_STEPS) -> float:
    """Return the exponent x by which the pace grows until `total` merges are shown; 0 if it need not grow.

    The pace grows exponentially. After the share u of the time, `first_steps / x * (exp(x * u) - 1)` merges have been
    shown. x is chosen such that this is `total` for u = 1.

    >>> [round(growth(total), 2) for total in (20, 768, 32_512, 200_000)]
    [0.0, 4.82, 9.21, 11.22]
    """
    exponent = 1.0
    # Enough to converge for each vocabulary size.
    for _ in range(200):
        exponent = log1p(total * exponent / first_steps)
    if exponent < 1e-3:
        return 0.0
    return exponent


class Shown(Feature):
    """Replaces the screen's `tokenizer`, `path`, `step`, `in_force`, `playing` and `goal`, and fills the merge log.

    Every change of the step happens here, whether a training, a play, a key, the mouse or a condition asks for it.
    During a training, the screen shows the merges up to the furthest step that was shown. The others are its lead.
    """

    def __init__(self, screen: StateScreen) -> None:
        super().__init__(screen)
        self.loaded: Loaded | None = None
        """The tokenizer on the screen; None while it is being trained."""
        self.course: Course | None = None
        """The training on the screen; None once its tokenizer is saved."""
        self.task: TrainingTask | None = None
        """How the tokenizer on the screen was trained, if that was in this session."""
        self._before: Loaded | None = None
        """The tokenizer that was shown before the running training."""
        self.is_drawn = True
        """Whether the screen has drawn the current step."""
        self._next: int | None = None
        """The step to show after that."""
        self._timer: Timer | None = None
        self._in_haste = False
        """Whether merges are shown as soon as they are learned, at each pace."""
        self._started_at = 0.0
        """When playing started, or the pace changed, in seconds of `monotonic`."""
        self._start_share = 0.0
        """The share of the playing time that had passed at `_started_at`."""

    # The tokenizer

    def _forget(self, task: TrainingTask | None = None) -> None:
        """Drop everything about the tokenizer on the screen. Another one is shown next; `task` trains it."""
        if self.course is not None:
            # The end of its training may wait for this.
            self.course.all_shown.set()
        # Set before the new tokenizer is shown: its watchers read the task.
        self.task = task
        self.course = None
        screen = self.screen
        screen.workers.cancel_group(screen, ABOUT_TOKENIZER)
        screen.audit = Audit()
        screen.token_lines = TokenLines()
        screen.explained = StepExplained()
        if not screen.run.busy:
            screen.run = Run()
        screen.editor.status_lines.forget_edits()
        # Reading a live text leaves a cycle. Without this, ten trainings keep 50 MB; it takes 40 ms.
        gc.collect()

    def show(self, loaded: Loaded) -> None:
        """Show another tokenizer with all merges that are known."""
        if not self.screen.run.busy:
            # While a training runs, its merges are about to be shown.
            self.stop()
        self._forget()
        self.loaded = loaded
        self._before = None
        tokenizer = loaded.tokenizer
        merges: Merges | KeptMerges = Merges()
        if tokenizer.vocabulary.knows_merges:
            merges = KeptMerges(tokenizer)
        record = tokenizer.record
        if record is None:
            self.screen.training.begin(merges, 0, 0)
        else:
            self.screen.training.begin(merges, record.n_tokens_start, record.n_bytes)
        self._put(tokenizer, str(loaded.path), steps_known(tokenizer))

    def show_recovered_merges(self) -> None:
        """Show the merges that were recovered from the ranks of the tokenizer on the screen."""
        if self.loaded is not None:
            tokenizer = self.loaded.tokenizer
            self.screen.training.begin(KeptMerges(tokenizer), 0, 0)
            self._put(tokenizer, str(self.loaded.path), tokenizer.step)
            # The tokenizer is the same object as before, but it knows its merges now.
            self.screen.mutate_reactive(StateScreen.tokenizer)
            self.screen.editor.show_names()
            self.screen.editor.side.show_token()

    def begin_training(self, course: Course) -> None:
        """Show a tokenizer that is being trained, with none of its new merges yet."""
        tokenizer = course.tokenizer
        record = course.begun
        assert tokenizer is not None and record is not None
        self._forget(course.task)
        self._before = self.loaded or self._before
        self.loaded = None
        self.course = course
        self.screen.training.begin(Merges(), record.n_tokens_start, record.n_bytes)
        self._put(tokenizer, "", 0)
        self._set_goal(course.goal)
        self.set_clock()

    def _reveal(self, step: int) -> None:
        """Show the merges of a training up to `step`, if they are not shown yet."""
        course = self.course
        n_shown = steps_known(self.screen.tokenizer)
        if course is None or course.tokenizer is None or step <= n_shown:
            return
        self.screen.training.learned(course.merges[n_shown:step])
        tokenizer = course.tokenizer
        if step < len(course.merges):
            tokenizer = tokenizer.at(step)
        self.screen.tokenizer = tokenizer

    def keep(self, learned: Loaded) -> None:
        """Show all merges of the trained tokenizer, which is now saved as the file `learned.path`."""
        if learned.tokenizer.step < steps_known(self.screen.tokenizer):
            # The training was stopped at an earlier step than the furthest one shown.
            self.show(learned)
            return
        self._reveal(learned.tokenizer.step)
        self.loaded = learned
        self._before = None
        self.course = None
        self._put(learned.tokenizer, str(learned.path), self.requested_step)

    def take_back(self) -> None:
        """After a training without merges, show the tokenizer that was on the screen before."""
        before = self._before
        self._before = None
        if before is not None and self.loaded is None:
            self.show(before)

    def _put(self, tokenizer: Tokenizer, path: str, step: int) -> None:
        self.screen.path = path
        self.screen.tokenizer = tokenizer
        self.go_to(step)

    # The step

    async def travel(self, by: int) -> None:
        """Go forward by some steps, or back if `by` is negative."""
        await self.travel_to(self.requested_step + by)

    async def travel_or_skip(self, by: int) -> None:
        """Go one step forward (1) or back (-1). In a lesson, go to the nearest step that changes the text."""
        is_in_lesson = self.screen.own_text is not None
        if is_in_lesson and len(self.screen.editor.area.text) <= _LONGEST_OF_LESSON:
            await self.travel_to(self._next_change(self.requested_step, by))
        else:
            await self.travel(by)

    def _next_change(self, step: int, by: int) -> int:
        """Return the nearest step whose merge changes the text; if there is none, the last step or the first."""
        tokenizer = self.course.tokenizer if self.course else self.screen.tokenizer
        text = self.screen.editor.area.text
        if tokenizer is None or not steps_known(tokenizer):
            return step + by

        def length_at(step: int) -> int:
            return len(tokenizer.at(step).encode_ordinary(text))

        def first_with(length: int) -> int:
            return bisect_left(steps, -length, key=lambda step: -length_at(step))

        # A merge never makes a text longer, so the steps with one length are a range.
        steps = range(self.n_steps + 1)
        if by > 0:
            length = -length_at(step)
            after = bisect_right(steps, length, key=lambda step: -length_at(step))
            return min(after, self.n_steps)
        before = first_with(length_at(step)) - 1
        return first_with(length_at(before)) if before > 0 else 0

    async def travel_to(self, step: int) -> None:
        """Stop playing and go to a step."""
        self.stop()
        await self.go_to_soon(step)

    async def travel_to_end(self, end: int) -> None:
        """Go to the start (0), or to the last merge (1), and follow a training."""
        if end:
            await self.show_all()
        else:
            await self.travel_to(0)

    async def go_to_soon(self, step: int) -> None:
        """Go to a step after the current one has been drawn. Only the last requested step counts.

        The mouse can ask for more steps than can be drawn.
        """
        if not self.is_drawn:
            self._next = self._nearest(step)
            return
        self.go_to(step)
        self.is_drawn = False
        # Wait until the text has found its changed rows, so that one frame shows all of the step.
        painted = asyncio.Event()
        try:
            if self.screen.editor.area.call_later(painted.set):
                with suppress(TimeoutError):
                    async with asyncio.timeout(_SECONDS_FOR_TEXT):
                        await painted.wait()
        finally:
            # Also if this is cancelled: the next step waits for it.
            self.screen.call_after_refresh(self._drawn)

    async def _drawn(self) -> None:
        self.is_drawn = True
        if self._next is not None:
            await self.go_to_soon(self._next)

    @property
    def requested_step(self) -> int:
        """The last step asked for, which is shown now or soon."""
        if self._next is None:
            return self.screen.step
        return self._next

    @property
    def n_steps(self) -> int:
        """The number of merges of the tokenizer, or of those learned so far."""
        if self.course:
            return len(self.course.merges)
        return steps_known(self.screen.tokenizer)

    def _nearest(self, step: int) -> int:
        return max(0, min(step, self.n_steps))

    def go_to(self, step: int) -> None:
        """Apply the merges up to a step, or up to the nearest step that exists."""
        self._next = None
        step = self._nearest(step)
        self._reveal(step)
        tokenizer = self.screen.tokenizer
        if tokenizer is not None:
            self.screen.step = step
            if step < steps_known(tokenizer):
                tokenizer = tokenizer.at(step)
            self.screen.in_force = tokenizer

    # Playing

    async def play(self) -> None:
        """Advance the step with time, from the first merge if the last is shown. If it is playing already, pause."""
        if self.screen.playing:
            self.stop()
            return
        screen = self.screen
        tokenizer = screen.tokenizer
        if not screen.run.busy:
            if tokenizer is None or not tokenizer.vocabulary.knows_merges:
                screen.say("This tokenizer has no merges to play yet.", "warning")
                return
            if screen.step >= self.n_steps:
                await self.go_to_soon(0)
        self.start()
        # Focus the line of steps, whose keys pause and change the pace, and show the text.
        line = screen.query_one(StepLine)
        if screen.focused is not line and not screen.run.busy:
            screen.active = "editor"
            screen.set_focus(line)

    def start(self, *, goal: Condition | None = None, in_haste: bool = False) -> None:
        """Advance the step with time; with a goal or `in_haste`, go to the last merge in each frame."""
        self.screen.playing = True
        self._in_haste = in_haste
        self._set_goal(goal)
        self.set_clock()
        if self._timer is None:
            self._timer = self.screen.set_interval(
                1 / _FRAMES_PER_SECOND, self._advance
            )

    def stop(self) -> None:
        """Pause at the current step."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.screen.playing = False
        self._set_goal(None)

    def _set_goal(self, goal: Condition | None) -> None:
        """Set the condition at which playing pauses. It is shown, unless the user goes step by step."""
        self.screen.goal = ""
        is_stepped = self.course is not None and self.course.stepped
        if goal and not is_stepped:
            self.screen.goal = f"until {goal}"
        if self.course is not None:
            self.course.goal = goal

    async def show_all(self) -> None:
        """Go to the last merge. During a training, stay at the newest one."""
        if self.screen.run.busy:
            self.start(in_haste=True)
        else:
            await self.travel_to(self.n_steps)

    def change_pace(self, by: int) -> None:
        """Choose the next faster pace (1) or the next slower one (-1), and remember it."""
        screen = self.screen
        index = PACES.index(screen.pace) + by
        last_index = len(PACES) - 1
        screen.pace = PACES[max(0, min(index, last_index))]
        screen.remember(pace=screen.pace)
        self.set_clock()

    @property
    def n_expected(self) -> int:
        """The number of merges there will be at the end of the training."""
        if self.course and not self.course.ended:
            return max(self.n_steps, self.screen.run.total)
        return self.n_steps

    @property
    def _first_steps(self) -> int:
        return _FIRST_STEPS_ON_STAGE if self.screen.on_stage else _FIRST_STEPS

    def set_clock(self) -> None:
        """Let the current pace go on from the current step."""
        self._started_at = monotonic()
        share = self.requested_step / self._first_steps
        exponent = growth(self.n_expected, self._first_steps)
        if exponent:
            share = log1p(share * exponent) / exponent
        self._start_share = share

    @property
    def _due(self) -> int:
        """The step to show now; it may be beyond the last."""
        course = self.course
        pace = self.screen.pace
        if not pace and course is None:
            # A pace of 0 is for trainings. A play that shows all merges at once would show nothing.
            pace = USUAL_PACE
        if not pace or self._in_haste or (course and course.goal):
            return self.n_steps
        share = self._start_share + (monotonic() - self._started_at) / pace
        exponent = growth(self.n_expected, self._first_steps)
        if exponent:
            # The limit prevents an overflow.
            share = expm1(min(exponent * share, 40)) / exponent
        step = int(self._first_steps * share)
        if course is not None:
            # Merges of an earlier training are shown at once.
            step = max(step, course.n_known)
        return step

    async def _advance(self) -> None:
        """Show the step that is due, or the first one at which the goal is met. A slow screen skips steps."""
        course = self.course
        if self.screen.run.busy and not (course and course.run.busy):
            # Another training is still counting, and has no merges to show.
            return
        step = min(self._due, self.n_steps)
        if course is not None:
            step = self._stop_at_goal(course, step)
        if step != self.requested_step:
            await self.go_to_soon(step)
        if step < self.n_steps:
            return
        if course is None:
            self.stop()
        elif course.ended:
            missed_goal = course.goal
            self.stop()
            # The result of the training reports it.
            course.goal = missed_goal
            course.all_shown.set()

    def _stop_at_goal(self, course: Course, step: int) -> int:
        """Return how far to go, at most to `step`. Stop playing if the goal is met there."""
        goal = course.goal
        if goal is None or course.begun is None:
            return step
        first = steps_known(self.screen.tokenizer)
        step = min(step, first + _MOST_SEARCHED)
        met_at = goal.first_step(course.merges, course.begun.n_bytes, first, step)
        if not met_at:
            return step
        self.stop()
        if not course.stepped:
            self.screen.goal = f"reached {goal}"
        return met_at
