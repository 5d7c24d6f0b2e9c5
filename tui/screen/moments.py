"""Moments: a step that is asked for in words is gone to where it has been learned, and trained for where it has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Final

from bpe_core.plurals import counted
from bpe_core.trainer.conditions import Condition
from bpe_core.worker.messages import Command
from tui.dialogs.questions import AskCondition
from tui.state.training import PACES
from tui.terminal.background import SlicedWork, Steps

if TYPE_CHECKING:
    from bpe_core.trainer import Merge
    from tui.owners.training import Training
    from tui.screen.main import MainScreen
    from tui.screen.shown_tokenizer import ShownTokenizer

_SLICE: Final = 1024
"""Merges that are looked at in one go, in a few milliseconds."""


class Moments:
    """How fast a training goes, where it pauses, and which step is gone to, as the user says it."""

    def __init__(
        self, screen: MainScreen, shown: ShownTokenizer, training: Training, train: Callable[[Command], None]
    ) -> None:
        self._screen = screen
        self._shown = shown
        self._training = training
        self._train = train
        self._search = SlicedWork[int](screen)

    def change_pace(self, by: int) -> None:
        """The next faster pace (1), or the next slower (-1)."""
        here = PACES.index(self._screen.pace)
        self._screen.pace = PACES[max(0, min(here + by, len(PACES) - 1))]
        self._training.keep_pace(self._screen.pace)

    async def ask_step(self) -> None:
        """Ask for a step and go there; a training goes on to it if it is still to come."""
        wanted = await self._screen.ask(AskCondition("Go to which step, or to the first where what is so?"))
        if wanted is not None:
            self._find(wanted, self._go_or_train)

    async def ask_goal(self) -> None:
        """Ask for what should be so, and learn until it is: in the training that is under way, or in a new one."""
        wanted = await self._screen.ask(AskCondition("Train until what is so? Then it waits."))
        if wanted is None:
            return
        if not self._screen.run.busy:
            self._train(Command("until", condition=wanted))
        else:
            self._find(wanted, self._train_unless_it_is)

    def _find(self, wanted: Condition, then: Callable[[Condition, int], None]) -> None:
        """Call `then` with the first step after which it is so; with 0 if that has not been learned."""
        log = self._screen.training.log_of_merges
        self._search.run(first_step(log.merges, wanted, log.n_bytes), lambda step: then(wanted, step))

    def _go_or_train(self, wanted: Condition, step: int) -> None:
        screen = self._screen
        if step:
            self._shown.go_to(step)
        elif screen.run.busy and screen.training.log_of_merges.merges:
            self._train_on(wanted)
        elif screen.tokenizer is not None:
            known = counted(len(screen.training.log_of_merges.merges), "merge")
            screen.say(f"“{wanted}” is so at no step of the {known} learned.")

    def _train_unless_it_is(self, wanted: Condition, step: int) -> None:
        if step:
            self._screen.say(f"That is so since step {step:,}; g in the merge log goes there.")
        else:
            self._train_on(wanted)

    def _train_on(self, wanted: Condition) -> None:
        self._shown.go_to(len(self._screen.training.log_of_merges.merges))  # it is followed on the way
        self._training.tell(Command("until", condition=wanted))


def first_step(merges: Sequence[Merge], wanted: Condition, n_bytes: int) -> Steps[int]:
    """The first step after which `wanted` holds, 0 if none; a pause after each slice."""
    is_far = wanted.field == "step" and ">" in wanted.op
    for begin in range(max(0, ceil(wanted.number) - 1) if is_far else 0, len(merges), _SLICE):
        for merge in merges[begin : begin + _SLICE]:
            if wanted.holds(merge, n_bytes):
                return merge.step
        yield
    return 0
