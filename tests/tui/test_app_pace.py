"""Steering a training in the app: its pace, how far it goes, and the way to a step that is told in words."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scope import TEXT

from bpe_core import Trainer
from bpe_core.trainer.conditions import Condition, condition
from bpe_core.worker.messages import JobCommand
from tui.dialogs.questions import Ask
from tui.features.shown import Shown
from tui.features.training import TrainingFeature, first_step
from tui.screen import MainScreen

pytestmark = pytest.mark.usefixtures("no_process_left")

TRAINER = Trainer(TEXT, vocab_size=300)
MERGES = list(TRAINER)


def first_of(length: int) -> int:
    """The step of the first token that is longer."""
    return next(merge.step for merge in MERGES if len(merge.token_bytes) > length)


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

    async def ask(self, dialog: Ask[Condition]) -> Condition:
        return dialog.parse(self.answer)

    def say(self, sentence: str, severity: str = "") -> None:
        self.done.append(sentence)

    @property
    def goals(self) -> TrainingFeature:
        shown = SimpleNamespace(go_to=self.done.append, forgets=[])
        others = (cast(Any, None) for _ in range(3))
        feature = TrainingFeature(cast(MainScreen, self), cast(Shown, shown), *others)
        feature.tell, feature.train = self._told, self._train  # type: ignore[method-assign]
        return feature

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


@pytest.mark.parametrize("text", ["step >= 9", "step > 9", "step <= 9", "ratio >= 2", "count < 20", "tokens < 1"])
def test_the_first_step_of_which_something_is_so(text: str) -> None:
    wanted = condition(text)
    held = [merge.step for merge in MERGES if wanted.holds(merge, len(TEXT))]
    assert first_step(MERGES, wanted, len(TEXT)) == next(iter(held), 0)
