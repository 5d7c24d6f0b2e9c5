"""Steering a training in the app: its pace, how far it goes, and the way to a step that is told in words."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from scope import TEXT, Opened
from textual.widgets import Button

from bpe_core import Trainer
from bpe_core.trainer.conditions import Condition, condition
from bpe_core.worker.messages import Command
from tui.dialogs.questions import AskCondition
from tui.drawing.training_status import status_line
from tui.owners.owner import Host
from tui.owners.training import Follower, Training, _Course
from tui.screen.main import MainScreen
from tui.screen.moments import Moments, first_step
from tui.screen.shown_tokenizer import ShownTokenizer
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
    def moments(self) -> Moments:
        training = SimpleNamespace(tell=self._told)
        shown = SimpleNamespace(go_to=self.done.append)
        return Moments(cast(MainScreen, self), cast(ShownTokenizer, shown), cast("object", training), self._train)

    def _train(self, first: Command) -> None:
        assert first.condition is not None
        self.done.append(f"new: {first.condition}")

    def _told(self, command: Command) -> None:
        assert command.verb == "until" and command.condition is not None
        self.done.append(str(command.condition))


async def test_a_step_in_words_is_gone_to_or_trained_for() -> None:
    async def asked(answer: str, *, busy: bool = False, known: int = len(MERGES), step: int = 0) -> list[object]:
        screen = StandIn(answer, busy, known, step)
        await screen.moments.ask_step()
        return screen.done

    assert await asked("length > 3") == [first_of(3)]
    assert await asked("ratio >= 900") == [f"“ratio >= 900” is so at no step of the {len(MERGES)} merges learned."]
    assert await asked("20", busy=True, known=12, step=3) == [12, "step >= 20"], "the newest is followed on the way"


async def test_a_goal_in_words_is_trained_for_unless_it_is_reached() -> None:
    async def asked(answer: str, *, busy: bool) -> list[object]:
        screen = StandIn(answer, busy, known=12)
        await screen.moments.ask_goal()
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


def test_what_is_trained_for_is_told_until_it_is_so_or_the_end_comes_first() -> None:
    told: list[Run] = []
    training = Training(cast(Host, None), told.append, cast(Follower, None))
    course = training._newest = _Course(TrainingTask("book", TrainingOptions()), Run("merging"), merges=MERGES[:12])
    sent: list[Command] = []
    course.worker = cast(WorkerProcess, SimpleNamespace(send=sent.append))
    training.tell(Command("until", condition=condition("length > 6")))
    training.tell(Command("pace", 5))
    assert told[-1].goal == "length > 6" and status_line(told[-1]).endswith("until length > 6")
    assert training._towards_goal(course, Run("done", detail="no pair is left")).detail == (
        "not reached: length > 6; no pair is left"
    )
    course.merges = MERGES[: first_of(6)]
    assert training._towards_goal(course, Run("done", detail="no pair is left")).detail == "no pair is left"
    training._tell_of(course, training._towards_goal(course, Run("paused", detail="length > 6")))
    assert course.goal is None and not told[-1].goal
    training._tell_of(course, Run("merging"))
    training.tell(Command("until", condition=condition("ratio >= 9")))
    training.tell(Command("pause"))
    assert not told[-1].goal, "whoever pauses gives it up, as the worker does"
    assert status_line(told[-1]) == "pausing …", "before the worker has heard of it"
    training._tell_of(course, Run("merging", done=99))  # merges that were under way
    assert told[-1].pausing
    training._tell_of(course, Run("paused"))
    assert not told[-1].pausing
    training.tell(Command("run"))
    training._tell_of(course, Run("merging"))
    assert not told[-1].pausing
    training.keep_pace(2)
    training._tell_of(course, Run("merging", done=4, total=104, rate=90.0))
    assert status_line(told[-1]) == "4% · 2 merges/s · 50 s left", "no more than was asked for"
