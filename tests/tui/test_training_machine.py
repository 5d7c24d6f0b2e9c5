"""Whatever a worker says and a user asks, in any order: the screen's run is that of the newest training, and sound."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from scope import TEXT

from bpe_core import Trainer
from bpe_core.corpus import Skipped
from bpe_core.trainer.conditions import condition
from bpe_core.worker.messages import (
    Checkpoint,
    Counted,
    Done,
    Failed,
    JobCommand,
    Merges,
    Saved,
    Started,
    State,
    WorkProgress,
)
from tui.features.course import Course, TrainingTask
from tui.features.training import TrainingFeature
from tui.panes.training import status_line
from tui.process import WorkerProcess
from tui.screen import MainScreen
from tui.state import Run, TrainingOptions

LEARNED = list(Trainer(TEXT, vocab_size=300))
GOALS = ("step >= 3", "ratio >= 2", "length > 3")
EVENTS = st.sampled_from(
    (
        WorkProgress("counting", 40, 80, "book.txt"),
        WorkProgress("preparing", 1, 2, "pairs"),
        Counted(1, 11, 11, 1, 1),
        Skipped(Path("image.png"), "binary"),
        State("counting"),
        State("running"),
        State("paused"),
        Checkpoint("The disk is full."),
        Checkpoint(),
        Saved("out.json"),
        Done("vocabulary size reached", 2, 1.25),
        Done("stopped", 0, 1.0),
        Failed("There is no such thing."),
    )
)
VERBS = [JobCommand(verb) for verb in ("run", "pause", "stop")]
COMMANDS = st.sampled_from([*VERBS, JobCommand("step", 1)]) | st.builds(
    lambda goal: JobCommand("until", condition=condition(goal)), st.sampled_from(GOALS)
)


class Trainings(RuleBasedStateMachine):
    """One training after the other on a screen without widgets; workers are what a test says they are."""

    courses = Bundle("courses")

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.totals: list[object] = []
        self.sent: dict[int, list[JobCommand]] = {}
        self.asked: dict[int, list[JobCommand]] = {}
        say = lambda sentence, severity="": self.said.append(sentence)  # noqa: E731
        self.screen = SimpleNamespace(run=Run(), pace=0, remember=lambda **changes: None, say=say)
        others = SimpleNamespace(
            go_on=lambda: None,
            leave_to_training=lambda task, totals: self.totals.append(totals),
            begin_training=lambda *_: None,
            grow=lambda tokenizer, merges: None,
        )
        self.feature = TrainingFeature(cast(MainScreen, self.screen), *(cast(Any, others) for _ in range(4)))

    @rule(target=courses, has_worker=st.booleans())
    def begin(self, has_worker: bool) -> Course:
        course = self.feature.newest = Course(TrainingTask("book", TrainingOptions()))
        self.screen.run = course.run
        self.sent[id(course)], self.asked[id(course)] = [], []
        if has_worker:
            self.worker_comes(course)
        return course

    @rule(course=courses)
    def worker_comes(self, course: Course) -> None:
        if course.worker is None:
            for command in course.unsent:
                self.sent[id(course)].append(command)
            course.worker = cast(WorkerProcess, SimpleNamespace(send=self.sent[id(course)].append))

    def hear(self, course: Course, event: object) -> None:
        run = self.feature._hear(course, course.run, event)
        self.feature._publish(course, self.feature._towards_goal(course, run))

    @rule(course=courses, event=EVENTS)
    def a_worker_says(self, course: Course, event: object) -> None:
        before, said = self.screen.run, len(self.said)
        was_unkept = course.unkept
        self.hear(course, event)
        if course is not self.feature.newest:
            assert self.screen.run is before, "an older training changes nothing on the screen"
        match event:
            case Failed(sentence):
                assert course.run.phase == "failed" and self.said[said:] == [sentence]
            case Done(reason):
                assert course.run.phase == ("stopped" if reason == "stopped" else "done")
            case Checkpoint(problem=problem):
                assert len(self.said) - said == bool(problem and not was_unkept), "a full disk is said once"
            case State("counting"):
                assert course.run.phase == "counting", "what goes on after a pause says what it is"
            case State("paused"):
                assert course.run.phase == "paused" and course.run.rate == 0

    @rule(course=courses)
    def learning_begins(self, course: Course) -> None:
        course.merges = Merges()
        self.hear(course, Started(len(TEXT), len(LEARNED), 0, (), len(TEXT)))
        assert (course.run.phase, course.run.done, course.run.total) == ("merging", 0, len(LEARNED))

    @rule(course=courses, n=st.integers(1, 9))
    def merges_come(self, course: Course, n: int) -> None:
        some = LEARNED[len(course.merges) : len(course.merges) + n]
        if course.tokenizer is not None and some:
            self.hear(course, Merges(some))
            assert course.run.done == len(course.merges) == course.tokenizer.step
            assert course.tokenizer.merges == [(merge.left, merge.right, merge.token) for merge in course.merges]

    @rule(command=COMMANDS)
    def a_user_asks(self, command: JobCommand) -> None:
        course = self.feature.newest
        was_busy = course is not None and course.run.busy
        self.feature.tell(command)
        if course is not None and was_busy:
            self.asked[id(course)].append(command)

    @rule(by=st.sampled_from((-1, 1)))
    def another_pace(self, by: int) -> None:
        course = self.feature.newest
        was_busy = course is not None and course.run.busy
        self.feature.change_pace(by)
        if course is not None and was_busy:
            self.asked[id(course)].append(JobCommand("pace", self.screen.pace))

    @invariant()
    def the_screen_has_the_newest(self) -> None:
        if self.feature.newest is not None:
            assert self.screen.run is self.feature.newest.run

    @invariant()
    def no_command_is_lost(self) -> None:
        for course in () if self.feature.newest is None else (self.feature.newest,):
            sent = self.sent[id(course)] if course.worker is not None else course.unsent
            assert sent == self.asked[id(course)]

    @invariant()
    def the_run_is_sound(self) -> None:
        run = self.screen.run
        assert not run.goal or run.busy, "a goal is only pursued"
        assert not run.pausing or (run.busy and run.phase != "paused")
        assert not run.goal or run.goal in GOALS
        assert 0 <= run.fraction <= 1 and isinstance(status_line(run), str)
        if self.screen.pace and run.phase == "merging":
            assert run.rate <= self.screen.pace, "no more is said than was asked for"


TestTrainings = Trainings.TestCase
TestTrainings.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
