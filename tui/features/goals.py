"""Goals: train one merge at a time or until a condition holds, and go to the first step where one holds."""

from bpe_core.trainer.conditions import EXAMPLES, Condition, condition
from tui.dialogs.ask import Ask
from tui.features.feature import Feature, StateScreen
from tui.features.shown import Shown
from tui.features.training import NO_MORE_MERGES, TrainingFeature
from tui.terminal.background import in_thread


class Goals(Feature):
    """Lets a training pause where the user wants it to."""

    def __init__(
        self, screen: StateScreen, shown: Shown, training: TrainingFeature
    ) -> None:
        super().__init__(screen)
        self._shown = shown
        self._training = training

    # Step by step

    async def step_once(self) -> None:
        """Show one more merge and pause. Without a training, start one."""
        if self.screen.run.busy:
            await self._step()
        elif not self._reports_end():
            await self._training.train(stepping=True)

    async def step_preset(self, name: str) -> None:
        """Show one more merge of the running training, or start to train a preset."""
        if self.screen.run.busy:
            await self._step()
        elif not self._reports_end():
            self._training.run_preset(name, stepping=True)

    async def _step(self) -> None:
        course = self._training.newest
        shown = self._shown
        assert course is not None
        is_shown = shown.course is course
        if is_shown and (shown.requested_step < shown.n_steps or course.ended):
            course.stepped = True
            await shown.travel(1)
            if course.ended and shown.requested_step == shown.n_steps:
                # The user has stepped to the last merge, and need not press the key again.
                course.all_shown.set()
            return
        # The next merge is not learned yet. Several key presses ask for several merges.
        waits_for = 0
        if course.goal is not None and course.stepped:
            waits_for = int(course.goal.number)
        if is_shown:
            waits_for = max(waits_for, shown.requested_step)
        self._train_on(condition(str(waits_for + 1)), stepped=True)

    def _reports_end(self) -> bool:
        """If the user has just stepped to the last merge, report it once, and return True.

        A new training replaces the merges on the screen, so F7 must not start one unexpectedly.
        """
        course = self._training.newest
        if course is None or not course.stepped or self.screen.run.phase != "done":
            return False
        course.stepped = False
        self.screen.say(NO_MORE_MERGES)
        return True

    # Until a condition holds

    async def go_to(self) -> None:
        screen = self.screen
        question = "Go to which step, or to the first step where which condition holds?"
        wanted = await screen.ask(_ask_condition(question))
        if wanted is None:
            return
        step = await self._first_step(wanted)
        if step:
            screen.training.log_of_merges.reveal(step - 1, tell=True)
        elif screen.run.busy:
            self._train_on(wanted)
        elif screen.tokenizer is not None:
            last = self._shown.n_steps
            screen.say(f"“{wanted}” does not hold at any step up to {last:,}.")

    async def train_until(self) -> None:
        wanted = await self.screen.ask(
            _ask_condition("Train until which condition holds? Then it pauses.")
        )
        if wanted is None:
            return
        if not self.screen.run.busy:
            await self._training.train(goal=wanted)
            return
        step = await self._first_step(wanted)
        if step:
            self.screen.say(
                f"This first holds at step {step:,}. Press g in the merge log to go there."
            )
        else:
            self._train_on(wanted)

    async def _first_step(self, wanted: Condition) -> int:
        log = self.screen.training.log_of_merges
        return await in_thread(wanted.first_step, log.merges, log.n_bytes)

    def _train_on(self, wanted: Condition, *, stepped: bool = False) -> None:
        course = self._training.newest
        if course is not None:
            # Also before the training is shown.
            course.goal = wanted
            course.stepped = stepped
        self._shown.start(goal=wanted)


def _ask_condition(question: str) -> Ask[Condition]:
    """Return the question for a step or a condition."""
    hint = f"{', '.join(EXAMPLES)}. A number alone is a step. Tab completes."
    return Ask(
        question,
        condition,
        hint=hint,
        example="512, or: ratio >= 3.5",
        suggest=EXAMPLES,
    )
