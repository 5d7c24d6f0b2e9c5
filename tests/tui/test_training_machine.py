"""Whatever a worker says and a user asks, in any order: the run is that of the newest training, its steps learned."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import replace
from math import expm1
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from scope import TEXT

from bpe_core import Tokenizer, Trainer
from bpe_core.corpus import Skipped
from bpe_core.trainer import Merges
from bpe_core.trainer.conditions import Condition, condition
from bpe_core.worker.messages import (
    Checkpoint,
    Counted,
    Done,
    Failed,
    Saved,
    Started,
    WorkProgress,
)
from tests.core.worker_process import merges_of
from tui.features import shown
from tui.features.course import Course, TrainingTask
from tui.features.shown import Shown, growth
from tui.features.training import TrainingFeature
from tui.panes.training import status_line
from tui.screen import MainScreen
from tui.state import Loaded, Run, TrainingOptions

TRAINER = Trainer(TEXT, vocab_size=300)

LEARNED = list(TRAINER)
BYTES = Tokenizer(TRAINER.tokenizer().at(0).vocabulary, "gpt4")
GOALS = ("step >= 3", "ratio >= 2", "length > 3")
EVENTS = st.sampled_from(
    (
        WorkProgress("counting", 40, 80, "book.txt"),
        WorkProgress("preparing", 1, 2, "pairs"),
        Counted(1, 11, 11, 1, 1),
        Skipped(Path("image.png"), "binary"),
        Checkpoint("The disk is full."),
        Checkpoint(),
        Saved("out.json"),
        Done("vocabulary size reached", 2, 1.25),
        Done("stopped", 0, 1.0),
        Failed("There is no such thing."),
    )
)


class Trainings(RuleBasedStateMachine):
    """One training after the other on a screen without widgets; workers are what a test says they are."""

    courses = Bundle("courses")

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.totals: list[object] = []
        say = lambda sentence, severity="": self.said.append(sentence)  # noqa: E731
        self.screen = SimpleNamespace(
            at_end=ExitStack(),
            run=Run(),
            pace=0,
            remember=lambda **changes: None,
            say=say,
        )
        others = SimpleNamespace(
            go_on=lambda: None,
            leave_to_training=lambda task, totals: self.totals.append(totals),
            begin_training=lambda *_: None,
            set_clock=lambda: None,
        )
        self.feature = TrainingFeature(
            cast(MainScreen, self.screen), *(cast(Any, others) for _ in range(4))
        )

    @rule(target=courses, goal=st.none() | st.sampled_from(GOALS).map(condition))
    def begin(self, goal: Condition | None) -> Course:
        course = self.feature.newest = Course(
            TrainingTask("book", TrainingOptions()), goal=goal
        )
        self.screen.run = course.run
        return course

    def hear(self, course: Course, event: object) -> None:
        self.feature._publish(course, self.feature._hear(course, course.run, event))

    @rule(course=courses, event=EVENTS)
    def a_worker_says(self, course: Course, event: object) -> None:
        before, said = self.screen.run, len(self.said)
        was_unkept = course.unkept
        self.hear(course, event)
        if course is not self.feature.newest:
            assert self.screen.run is before, (
                "an older training changes nothing on the screen"
            )
        match event:
            case Failed(sentence):
                assert course.run.phase == "failed" and self.said[said:] == [sentence]
            case Done(reason):
                assert course.run.phase == "showing" and course.ended
                assert course.ended.phase == (
                    "stopped" if reason == "stopped" else "done"
                )
            case Checkpoint(problem=problem):
                assert len(self.said) - said == bool(problem and not was_unkept), (
                    "a full disk is said once"
                )

    @rule(course=courses)
    def learning_begins(self, course: Course) -> None:
        course.merges = Merges()
        self.hear(course, Started(TRAINER.record, len(LEARNED)))
        assert (course.run.phase, course.run.done, course.run.total) == (
            "merging",
            0,
            len(LEARNED),
        )

    @rule(course=courses, n=st.integers(1, 9))
    def merges_come(self, course: Course, n: int) -> None:
        some = LEARNED[len(course.merges) : len(course.merges) + n]
        if course.tokenizer is not None and some:
            self.hear(course, merges_of(some))
            assert course.run.done == len(course.merges) == course.tokenizer.step
            assert course.tokenizer.merges == [
                (merge.left, merge.right, merge.token) for merge in course.merges
            ]

    @invariant()
    def the_screen_has_the_newest(self) -> None:
        if self.feature.newest is not None:
            assert self.screen.run is self.feature.newest.run

    @invariant()
    def the_run_is_sound(self) -> None:
        run = self.screen.run
        assert 0 <= run.fraction <= 1 and isinstance(status_line(run), str)
        assert run.phase != "preparing" or ("%" in status_line(run)) == bool(
            run.total
        ), "a share of nothing is not said"


class Plays(RuleBasedStateMachine):
    """A training that is shown on a screen without widgets, by a clock that a test turns: merges come when they come,
    and keys move the step."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.rows, self.drawn = (
            0.0,
            Merges(),
            list[Callable[[], Coroutine[Any, Any, None]]](),
        )
        area = SimpleNamespace(call_later=lambda callback: callback() or True)
        self.screen = cast(
            Any,
            SimpleNamespace(
                **dict.fromkeys(
                    ("audit", "token_lines", "explained", "in_force", "path")
                ),
                **{
                    "run": Run(),
                    "pace": 20,
                    "playing": False,
                    "on_stage": False,
                    "goal": "",
                    "step": 0,
                    "tokenizer": None,
                    "said": [],
                },
                remember=lambda **changes: None,
                workers=SimpleNamespace(cancel_group=lambda *_: None),
                editor=SimpleNamespace(
                    status_lines=SimpleNamespace(forget_edits=lambda: None), area=area
                ),
                training=SimpleNamespace(
                    begin=lambda merges, *_: None, learned=self.rows_come
                ),
                set_interval=lambda seconds, call: SimpleNamespace(stop=lambda: None),
                call_after_refresh=self.drawn.append,
            ),
        )
        self.shown = Shown(self.screen)
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(shown, "monotonic", lambda: self.now)
        self.course = Course(TrainingTask("book", TrainingOptions(vocab_size=300)))
        self.course.tokenizer = BYTES
        self.course.run = self.screen.run = Run("merging", 0, len(LEARNED))
        self.course.begun = TRAINER.record
        self.shown.start()
        self.shown.begin_training(self.course)

    def teardown(self) -> None:
        self.patch.undo()

    def rows_come(self, merges: Merges) -> None:
        self.rows.extend(merges.columns)

    def do(self, deed: Coroutine[Any, Any, None] | None) -> None:
        if deed is not None:
            asyncio.run(deed)
        while self.drawn:
            asyncio.run(self.drawn.pop()())

    @rule(n=st.integers(1, 20))
    def merges_come(self, n: int) -> None:
        some = LEARNED[len(self.course.merges) : len(self.course.merges) + n]
        if some and self.course.tokenizer is not None:
            self.course.merges.extend(merges_of(some).columns)
            self.course.tokenizer = self.course.tokenizer.with_merges(
                (m.left, m.right, m.token) for m in some
            )
            self.screen.run = replace(self.screen.run, done=len(self.course.merges))

    @rule()
    def the_worker_ends(self) -> None:
        self.course.ended = replace(self.screen.run, phase="done")

    @rule(seconds=st.sampled_from((0.05, 0.5, 3.0, 9.0)))
    def time_passes(self, seconds: float) -> None:
        before, was_playing = self.screen.step, self.screen.playing
        self.now += seconds
        if was_playing:
            self.do(self.shown._advance())
            assert self.screen.step >= before, "time does not run backwards"
        if (
            was_playing
            and before == 0
            and seconds <= 0.5
            and self.screen.pace == 20
            and not self.shown._in_haste
        ):
            assert self.screen.step <= 2 or self.screen.goal, (
                "the first come one by one"
            )

    @rule(by=st.sampled_from((-50, -10, -1, 1, 3, 50)))
    def a_key_travels(self, by: int) -> None:
        step = min(max(0, self.screen.step + by), len(self.course.merges))
        self.do(self.shown.travel(by))
        assert self.screen.step == step and not self.screen.playing

    @rule()
    def it_goes_on(self) -> None:
        self.shown.start()

    @rule()
    def it_is_held(self) -> None:
        step = self.screen.step
        self.shown.stop()
        self.now += 100
        assert (self.screen.step, self.screen.playing, self.course.goal) == (
            step,
            False,
            None,
        )

    @rule(by=st.sampled_from((-1, 1)))
    def another_pace(self, by: int) -> None:
        before, due = self.screen.step, min(self.shown._due, self.shown.n_steps)
        self.shown.change_pace(by)
        if (
            self.screen.playing
            and due == before
            and self.screen.pace
            and not self.shown._in_haste
        ):
            assert self.shown._due <= before + 1 or self.screen.goal, (
                "nothing jumps at another pace"
            )

    @rule()
    def all_is_shown(self) -> None:
        self.do(self.shown.show_all())
        self.do(self.shown._advance())
        assert self.screen.goal or self.screen.step == len(self.course.merges)

    @rule(goal=st.sampled_from(GOALS).map(condition))
    def a_goal_is_set(self, goal: Condition) -> None:
        n_shown = len(self.rows)
        self.shown.start(goal=goal)
        self.do(self.shown._advance())
        found = goal.first_step(self.course.merges, len(TEXT), n_shown)
        if found:
            assert (self.screen.step, self.screen.playing, self.course.goal) == (
                found,
                False,
                None,
            )

    @invariant()
    def what_is_shown_is_the_beginning_of_what_was_learned(self) -> None:
        n = len(self.rows)
        assert list(self.rows) == LEARNED[:n] and n <= len(self.course.merges)
        assert (
            self.screen.tokenizer.step
            == n
            >= self.screen.step
            == self.screen.in_force.step
        )
        assert self.screen.in_force.merges == [
            (m.left, m.right, m.token) for m in LEARNED[: self.screen.step]
        ]

    @invariant()
    def it_ends_only_where_all_is_shown(self) -> None:
        if self.course.all_shown.is_set():
            assert self.course.ended


@pytest.mark.parametrize("kept", [5, 2])
def test_a_training_that_is_begun_while_the_one_before_is_being_kept_is_not_held_by_it(
    kept: int,
) -> None:
    play = Plays()
    play.merges_come(5)
    play.the_worker_ends()
    play.all_is_shown()
    learned = play.screen.tokenizer
    play.course.run, play.screen.run = Run("stopped"), Run("counting")
    play.shown.start()
    play.time_passes(9.0)
    play.shown.keep(Loaded(learned.at(kept), Path("book.json")))
    play.teardown()
    assert play.screen.playing


@pytest.mark.parametrize("total", [1, 20, 768, 32_512, 200_000])
def test_all_is_shown_in_the_time_of_its_pace_and_the_first_one_by_one(
    total: int,
) -> None:
    x, first_steps = growth(total), shown._FIRST_STEPS
    after = [first_steps * (expm1(x * u) / x if x else u) for u in (0.05, 0.1, 0.25, 1)]
    assert after[0] <= 3 and after[1] <= 6 and after[2] <= 50, (
        "one and a half a second at first"
    )
    assert total * 0.999 <= after[3] <= max(total, first_steps) * 1.001


TestTrainings, TestPlays = Trainings.TestCase, Plays.TestCase
TestTrainings.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None
)
TestPlays.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
