"""Moments: a step that is asked for in words is gone to where it has been learned, and trained for where it has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from bpe_core.cli.wire import Command
from bpe_core.patterns import splitter
from bpe_core.plurals import counted
from bpe_core.trainer.conditions import Condition, PowerOfTwo, Step, Token
from bpe_core.visible import token_label
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
            self._find(wanted, self._screen.step if isinstance(wanted, PowerOfTwo) else 0, self._go_or_train)

    async def ask_goal(self) -> None:
        """Ask for what should be so, and learn until it is: in the training that is under way, or in a new one."""
        wanted = await self._screen.ask(AskCondition("Train until what is so? Then it waits."))
        if wanted is None or self._is_never_made(wanted, self._screen.options.pattern):
            return
        if not self._screen.run.busy:
            self._train(Command("until", condition=wanted))
        else:
            known = self._screen.training.log_of_merges.merges
            self._find(wanted, len(known) if isinstance(wanted, PowerOfTwo) else 0, self._train_unless_it_is)

    def _find(self, wanted: Condition, start: int, then: Callable[[Condition, int], None]) -> None:
        """Call `then` with the first step behind `start` after which it is so; with 0 if that has not been learned."""
        log = self._screen.training.log_of_merges
        self._search.run(first_step(log.merges, wanted, log.n_bytes, start), lambda step: then(wanted, step))

    def _go_or_train(self, wanted: Condition, step: int) -> None:
        screen = self._screen
        if step:
            self._shown.go_to(step)
        elif screen.run.busy and screen.training.log_of_merges.merges:
            self._train_on(wanted)
        elif screen.tokenizer is not None and not self._is_never_made(wanted, screen.tokenizer.pattern):
            known = counted(len(screen.training.log_of_merges.merges), "merge")
            screen.say(f"{wanted.told[:1].upper()}{wanted.told[1:]}: not within the {known} that were learned.")

    def _train_unless_it_is(self, wanted: Condition, step: int) -> None:
        if step:
            self._screen.say(f"That is so since step {step:,}; g in the merge log goes there.")
        else:
            self._train_on(wanted)

    def _train_on(self, wanted: Condition) -> None:
        tokenizer = self._screen.tokenizer
        if tokenizer is None or not self._is_never_made(wanted, tokenizer.pattern):
            self._shown.go_to(len(self._screen.training.log_of_merges.merges))  # it is followed on the way
            self._training.tell(Command("until", condition=wanted))

    def _is_never_made(self, wanted: Condition, pattern: str) -> bool:
        """Whether a token is wanted that no merge can make: a byte, or a text that is split; that is told."""
        if isinstance(wanted, Token) and len(wanted.token) == 1:
            self._screen.say(f"{token_label(wanted.token)} is a byte, and one token from the beginning.")
            return True
        if not isinstance(wanted, Token) or not pattern:
            return False
        try:
            pieces = splitter(pattern).split(wanted.token.decode())
        except UnicodeDecodeError:  # part of a character
            return False
        if len(pieces) > 1:
            self._screen.say(f"That never becomes one token: the pattern cuts it into {len(pieces)} pieces.", "warning")
        return len(pieces) > 1


def first_step(merges: Sequence[Merge], wanted: Condition, n_bytes: int, start: int) -> Steps[int]:
    """The first step behind `start` after which `wanted` holds, 0 if none; a pause after each slice."""
    if isinstance(wanted, Step):
        return wanted.step if wanted.step <= len(merges) else 0
    for begin in range(start, len(merges), _SLICE):
        for merge in merges[begin : begin + _SLICE]:
            if wanted.holds(merge, n_bytes):
                return merge.step
        yield
    return 0
