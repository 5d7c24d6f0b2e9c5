"""Steering a training in the app: its pace, how far it goes, and the way to a step that is told in words."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scope import TEXT, Opened
from textual.widgets import Button

from bpe_core import Trainer
from bpe_core.trainer.conditions import Condition, condition
from bpe_core.worker.messages import JobCommand
from tui.dialogs.questions import AskCondition
from tui.features.goals import Goals, first_step
from tui.features.shown import Shown
from tui.features.training import Course, TrainingFeature
from tui.panes.training import status_line
from tui.screen.main import MainScreen
from tui.state.training import Run, TrainingOptions
from tui.terminal.background import Steps
from tui.workers.process import WorkerProcess
from tui.workers.training_task import TrainingTask

pytestmark = pytest.mark.usefixtures("no_process_left")

TRAINER = Trainer(TEXT, vocab_size=300)
MERGES = list(TRAINER)


def first_of(length: int) -> int:
    """The step of the first token that is longer."""
    return next(merge.step for merge in MERGES if len(merge.token_bytes) > length)


async def test_a_training_goes_as_far_and_as_fast_as_it_is_told(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        screen.set_focus(scope.training.log_of_merges)
        assert scope.shown("#pace") == "full" and scope.training.query_one("#faster", Button).disabled
        await scope.press("minus", "minus", "minus", "plus", "u")
        assert scope.shown("#pace") == "500/s" and not scope.training.query_one("#faster", Button).disabled
        await scope.asked(AskCondition)
        await scope.answer("12")
        await scope.until(lambda: screen.run.phase == "paused" and screen.run.done == 12, "it waits there")
        assert "reached step >= 12" in scope.shown("#status")
        await scope.press("g")
        await scope.answer("length > 6")  # which is still to come
        step = first_of(6)
        await scope.until(lambda: screen.run.phase == "paused" and screen.run.done == step > 12, "it waits there, too")
        assert screen.step == step


@dataclass
class StandIn:
    """A screen that asks nobody, with a training that only notes what it is told."""

    answer: str
    busy: bool = False
    known: int = len(MERGES)
    step: int = 0
    pace: int = 0
    done: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokenizer = TRAINER.tokenizer()
        self.run = SimpleNamespace(busy=self.busy)
        self.options = SimpleNamespace(pattern="gpt4")
        log = SimpleNamespace(merges=MERGES[: self.known], n_bytes=len(TEXT))
        self.training = SimpleNamespace(log_of_merges=log)

    async def ask(self, dialog: AskCondition) -> Condition:
        return dialog.understood(self.answer)

    def say(self, sentence: str, severity: str = "") -> None:
        self.done.append(sentence)

    @property
    def goals(self) -> Goals:
        training = SimpleNamespace(tell=self._told, train=self._train)
        shown = SimpleNamespace(go_to=self.done.append)
        return Goals(cast(MainScreen, self), cast(Shown, shown), cast(TrainingFeature, training))

    async def _train(self, first: JobCommand) -> None:
        assert first.condition is not None
        self.done.append(f"new: {first.condition}")

    def _told(self, command: JobCommand) -> None:
        assert command.verb == "until" and command.condition is not None
        self.done.append(str(command.condition))


async def test_a_step_in_words_is_gone_to_or_trained_for() -> None:
    async def asked(answer: str, *, busy: bool = False, known: int = len(MERGES), step: int = 0) -> list[object]:
        screen = StandIn(answer, busy, known, step)
        await screen.goals.go_to()
        return screen.done

    assert await asked("length > 3") == [first_of(3)]
    assert await asked("ratio >= 900") == [f"“ratio >= 900” is so at no step of the {len(MERGES)} merges learned."]
    assert await asked("20", busy=True, known=12, step=3) == [12, "step >= 20"], "the newest is followed on the way"


async def test_a_goal_in_words_is_trained_for_unless_it_is_reached() -> None:
    async def asked(answer: str, *, busy: bool) -> list[object]:
        screen = StandIn(answer, busy, known=12)
        await screen.goals.train_until()
        return screen.done

    assert await asked("ratio >= 2", busy=False) == ["new: ratio >= 2"]
    assert await asked("length > 3", busy=True) == [
        f"That is so since step {first_of(3)}; g in the merge log goes there."
    ]
    assert await asked("step > 12", busy=True) == [12, "step > 12"]


def result(steps: Steps[int]) -> int:
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return int(stop.value)


@pytest.mark.parametrize("text", ["step >= 9", "step > 9", "step <= 9", "ratio >= 2", "count < 20", "tokens < 1"])
def test_the_first_step_of_which_something_is_so(text: str) -> None:
    wanted = condition(text)
    held = [merge.step for merge in MERGES if wanted.holds(merge, len(TEXT))]
    assert result(first_step(MERGES, wanted, len(TEXT))) == next(iter(held), 0)


def test_what_is_trained_for_is_said_until_it_holds_or_the_end_comes_first() -> None:
    screen = SimpleNamespace(run=Run(), pace=0)
    needed = SimpleNamespace(forgets=[], go_on=lambda: None)
    training = TrainingFeature(cast(MainScreen, screen), *(cast(Any, needed) for _ in range(4)))
    course = training.newest = Course(TrainingTask("book", TrainingOptions()), Run("merging"), merges=MERGES[:12])
    course.worker = cast(WorkerProcess, SimpleNamespace(send=lambda command: None))
    publish, towards = training._publish, training._towards_goal
    training.tell(JobCommand("until", condition=condition("length > 6")))
    training.change_pace(-6)
    assert screen.run.goal == "length > 6" and status_line(screen.run).endswith("until length > 6")
    ended = Run("done", detail="no pair is left")
    assert towards(course, ended).detail == "not reached: length > 6; no pair is left"
    course.merges = MERGES[: first_of(6)]
    assert towards(course, ended).detail == "no pair is left"
    publish(course, towards(course, Run("paused", detail="length > 6")))
    assert course.goal is None and not screen.run.goal
    publish(course, Run("merging"))
    training.tell(JobCommand("until", condition=condition("ratio >= 9")))
    training.tell(JobCommand("pause"))
    assert not screen.run.goal, "whoever pauses gives it up, as the worker does"
    assert status_line(screen.run) == "pausing …", "before the worker has heard of it"
    publish(course, Run("merging", done=99))  # merges that were under way
    assert screen.run.pausing
    publish(course, Run("paused"))
    assert not screen.run.pausing
    training.tell(JobCommand("run"))
    screen.pace = 2
    publish(course, Run("merging", done=4, total=104, rate=90.0))
    assert status_line(screen.run) == "4% · 2 merges/s · 50 s left", "no more than was asked for"
