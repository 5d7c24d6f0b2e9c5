"""Steering a training in the app: its pace, how far it goes, and the way to a step that is told in words."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from scope import TEXT, Opened
from textual.widgets import Button

from bpe_core import Trainer
from bpe_core.cli.wire import Command
from bpe_core.trainer.conditions import Condition, condition
from tui.dialogs.questions import AskCondition
from tui.drawing.training_status import status_line
from tui.owners.owner import Host
from tui.owners.training import Follower, Training, _Course
from tui.screen.main import MainScreen
from tui.screen.moments import Moments, first_step
from tui.screen.shown_tokenizer import ShownTokenizer
from tui.state.training import Run, TrainingOptions
from tui.terminal.background import Steps
from tui.workers.process import Job
from tui.workers.training_task import TrainingTask

pytestmark = pytest.mark.usefixtures("no_process_left")

TRAINER = Trainer(TEXT, vocab_size=300)
MERGES = list(TRAINER)


def step_of(token: bytes) -> int:
    return next(merge.step for merge in MERGES if merge.token_bytes == token)


async def test_a_training_goes_as_far_and_as_fast_as_it_is_told(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        screen.set_focus(scope.training.log_of_merges)
        assert scope.shown("#pace") == "full" and scope.training.query_one("#faster", Button).disabled
        await scope.press("minus", "minus", "minus", "plus", "u")
        assert scope.shown("#pace") == "500/s" and not scope.training.query_one("#faster", Button).disabled
        await scope.asked(AskCondition)
        await scope.answer("step 12")
        await scope.until(lambda: screen.run.phase == "paused" and screen.run.done == 12, "it waits there")
        assert "reached step 12" in scope.shown("#status")
        await scope.press("g")
        await scope.answer("token ␣thesis")  # which is still to come
        step = step_of(b" thesis")
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
        self.done.append(f"new: {first.condition.words}")

    def _told(self, command: Command) -> None:
        assert command.verb == "until" and command.condition is not None
        self.done.append(command.condition.words)


async def test_a_step_in_words_is_gone_to_or_trained_for() -> None:
    async def asked(answer: str, *, busy: bool = False, known: int = len(MERGES), step: int = 0) -> list[object]:
        screen = StandIn(answer, busy, known, step)
        await screen.moments.ask_step()
        return screen.done

    assert await asked("token ␣the") == [step_of(b" the")]
    assert await asked("power of two", step=5) == [8]
    assert await asked("ratio 900") == [f"900 bytes per token: not within the {len(MERGES)} merges that were learned."]
    assert await asked("token the thing") == ["That never becomes one token: the pattern cuts it into 2 pieces."]
    assert await asked("step 20", busy=True, known=12, step=3) == [12, "step 20"], "the newest is followed on the way"
    assert await asked("power of two", busy=True, known=12, step=8) == [12, "power of two"]


async def test_a_goal_in_words_is_trained_for_unless_it_is_reached() -> None:
    async def asked(answer: str, *, busy: bool) -> list[object]:
        screen = StandIn(answer, busy, known=12)
        await screen.moments.ask_goal()
        return screen.done

    assert await asked("ratio 2", busy=False) == ["new: ratio 2.0"]
    assert await asked("token ␣the", busy=True) == [
        f"That is so since step {step_of(b' the')}; g in the merge log goes there."
    ]
    assert await asked("power of two", busy=True) == [12, "power of two"]
    assert await asked("token a", busy=True) == ["a is a byte, and one token from the beginning."]
    assert await asked("token the thing", busy=False) == [
        "That never becomes one token: the pattern cuts it into 2 pieces."
    ]


def result(steps: Steps[int]) -> int:
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return int(stop.value)


@pytest.mark.parametrize("words", ["power of two", "ratio 2", "longer than 4", "count below 20", "tokens 1"])
@pytest.mark.parametrize("start", [0, 9])
def test_the_first_step_of_which_something_is_so(words: str, start: int) -> None:
    wanted = condition(words)
    held = [merge.step for merge in MERGES if wanted.holds(merge, len(TEXT)) and merge.step > start]
    assert result(first_step(MERGES, wanted, len(TEXT), start)) == next(iter(held), 0)


def test_what_is_trained_for_is_told_until_it_is_so_or_the_end_comes_first() -> None:
    told: list[Run] = []
    training = Training(cast(Host, None), told.append, cast(Follower, None))
    course = training._newest = _Course(TrainingTask("book", TrainingOptions()), Run("merging"), merges=MERGES[:12])
    sent: list[Command] = []
    training.job = cast(Job, SimpleNamespace(send=sent.append))
    training.tell(Command("until", condition=condition("token ␣thesis")))
    training.tell(Command("pace", 5))
    assert told[-1].goal == "the token ␣thesis" and status_line(told[-1]).endswith("until the token ␣thesis")
    assert training._towards_goal(course, Run("done", detail="no pair is left")).detail == (
        "not reached: the token ␣thesis; no pair is left"
    )
    course.merges = MERGES[: step_of(b" thesis")]
    assert training._towards_goal(course, Run("done", detail="no pair is left")).detail == "no pair is left"
    training._tell_of(course, training._towards_goal(course, Run("paused", detail="the token ␣thesis")))
    assert course.goal is None and not told[-1].goal
    training._tell_of(course, Run("merging"))
    training.tell(Command("until", condition=condition("ratio 9")))
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
