"""Goals: a condition is gone to at the first step where it holds, and trained for if there is none yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Final

from bpe_core.plurals import counted
from bpe_core.trainer.conditions import EXAMPLES, Condition, condition
from bpe_core.worker.messages import JobCommand
from tui.dialogs.questions import Ask
from tui.features.feature import Feature
from tui.terminal.background import SlicedWork, Steps

if TYPE_CHECKING:
    from bpe_core.trainer import Merge
    from tui.features.shown import Shown
    from tui.features.training import TrainingFeature
    from tui.state_screen import StateScreen

_SLICE: Final = 1024
"""Merges that are searched in one go, in a few milliseconds."""


class Goals(Feature):
    """Replaces nothing itself: it asks, and steers the training or the step shown."""

    def __init__(self, screen: StateScreen, shown: Shown, training: TrainingFeature) -> None:
        super().__init__(screen)
        self._shown = shown
        self._training = training
        self._search = SlicedWork[int](screen)

    async def go_to(self) -> None:
        """Ask for a condition and go to its step; a training goes on to it if it is still to come."""
        wanted = await self.screen.ask(_ask_condition("Go to which step, or to the first where what is so?"))
        if wanted is not None:
            self._find(wanted, partial(self._go_or_train, wanted))

    async def train_until(self) -> None:
        """Ask for a condition, and learn until it holds: in the training that is under way, or in a new one."""
        wanted = await self.screen.ask(_ask_condition("Train until what is so? Then it waits."))
        if wanted is None:
            return
        if not self.screen.run.busy:
            await self._training.train(JobCommand("until", condition=wanted))
        else:
            self._find(wanted, partial(self._train_unless_it_is, wanted))

    def _find(self, wanted: Condition, then: Callable[[int], None]) -> None:
        """Call `then` with the first step after which it holds; with 0 if that has not been learned."""
        log = self.screen.training.log_of_merges
        self._search.run(first_step(log.merges, wanted, log.n_bytes), then)

    def _go_or_train(self, wanted: Condition, step: int) -> None:
        screen = self.screen
        if step:
            self._shown.go_to(step)
        elif screen.run.busy and screen.training.log_of_merges.merges:
            self._train_on(wanted)
        elif screen.tokenizer is not None:
            known = counted(len(screen.training.log_of_merges.merges), "merge")
            screen.say(f"“{wanted}” is so at no step of the {known} learned.")

    def _train_unless_it_is(self, wanted: Condition, step: int) -> None:
        if step:
            self.screen.say(f"That is so since step {step:,}; g in the merge log goes there.")
        else:
            self._train_on(wanted)

    def _train_on(self, wanted: Condition) -> None:
        self._shown.go_to(len(self.screen.training.log_of_merges.merges))  # it is followed on the way
        self._training.tell(JobCommand("until", condition=wanted))


def first_step(merges: Sequence[Merge], wanted: Condition, n_bytes: int) -> Steps[int]:
    """The first step after which `wanted` holds, 0 if none; a pause after each slice."""
    is_far = wanted.field == "step" and ">" in wanted.op
    for begin in range(max(0, ceil(wanted.number) - 1) if is_far else 0, len(merges), _SLICE):
        for merge in merges[begin : begin + _SLICE]:
            if wanted.holds(merge, n_bytes):
                return merge.step
        yield
    return 0


def _ask_condition(question: str) -> Ask[Condition]:
    """Asks for a step, or for what should be so after it."""
    hint = f"{', '.join(EXAMPLES)}. A number alone is a step. Tab completes."
    return Ask(question, condition, hint=hint, example="512, or: ratio >= 3.5", suggest=EXAMPLES)
