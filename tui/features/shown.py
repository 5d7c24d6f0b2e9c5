"""Shown: the tokenizer on the screen, how many of its merges are in force, and travelling and playing through them."""

import asyncio
import gc
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from textual.timer import Timer

from bpe_core.explain.trace import steps_seen
from bpe_core.tokenizer import Tokenizer
from bpe_core.worker.messages import Merges
from tui.features.course import TrainingTask
from tui.features.feature import ABOUT_TOKENIZER, Feature, StateScreen
from tui.state import PACES, Audit, Loaded, Run, StepExplained, TokenLines, steps_known
from tui.widgets.merge_log import KeptMerges
from tui.widgets.screen_lines import StepLine

_PATIENCE: Final = 0.1  # seconds that a step waits for the text before it is drawn without it
PLAYED: Final = 100_000  # characters: of a longer text its beginning decides which steps are played
_SECONDS: Final = 20  # how long a play takes about, until another pace is chosen
_FRAMES: Final = 20  # steps that are shown in a second at most; a faster pace skips some


def alike(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers, such as two versions of one that is being trained, give the same ids of any text.

    Of a rank file whose merges are not recovered no merge is asked for: that would take seconds.
    """
    old, new = one.vocabulary, other.vocabulary
    if one is other or not (old.knows_merges and new.knows_merges):
        return one is other
    if one.step != other.step or one.splitter is not other.splitter or one.preparation is not other.preparation:
        return False
    same_tokens = old.base == new.base and old.special_tokens == new.special_tokens
    return same_tokens and old.merges == new.merges


def same(shown: Loaded, loaded: Loaded) -> bool:
    """Whether a file holds the tokenizer that is on the screen, so that what is known of it can stay."""
    if shown.path != loaded.path or shown.tokenizer.pattern != loaded.tokenizer.pattern:
        return False
    return shown.digest == loaded.digest if shown.digest else alike(shown.tokenizer, loaded.tokenizer)


class Shown(Feature):
    """Replaces the screen's `tokenizer`, `path`, `step`, `in_force` and `playing`, and fills the log.

    Where another tokenizer takes the screen, what others said of the one before is emptied.
    """

    def __init__(self, screen: StateScreen) -> None:
        super().__init__(screen)
        self.loaded: Loaded | None = None  # the tokenizer, unless it is being trained
        self.task: TrainingTask | None = None  # what it was trained for, if that was in this session
        self._before: Loaded | None = None  # the one that was shown before the training that is under way
        self.is_drawn = True  # whether the step that was gone to last has been drawn
        self._next: int | None = None  # the step to go to once it has
        self._timer: Timer | None = None
        self._steps: list[int] = []  # those that are played, `_n_played` of them so far
        self._n_played = 0
        self._pace = 0  # steps a second of the last play, with which it goes on after a pause; 0 before the first
        self._since, self._n_before = 0.0, 0  # when the present pace began, and how many had been played then

    # Which tokenizer

    def _forget(self, task: TrainingTask | None = None) -> None:
        """Know nothing any more of the tokenizer on the screen: another one comes, which is trained for `task`."""
        self.stop()
        self.task = task  # before it is seen: who sees it asks what it is learned from
        screen = self.screen
        screen.workers.cancel_group(screen, ABOUT_TOKENIZER)
        screen.audit, screen.token_lines, screen.explained = Audit(), TokenLines(), StepExplained()
        if not screen.run.busy:  # how the last training ended is no longer of interest
            screen.run = Run()
        screen.editor.status_lines.forget_edits()
        gc.collect()  # 40 ms; what reads a live text is a cycle, and ten trainings left 50 MB of them

    def show(self, loaded: Loaded) -> None:
        """Show another tokenizer, all of its merges in force, as far as they are known."""
        self._forget()
        tokenizer, record = loaded.tokenizer, loaded.tokenizer.record
        self.loaded, self._before = loaded, None
        merges = KeptMerges(tokenizer) if tokenizer.vocabulary.knows_merges else Merges()
        self.screen.training.begin(merges, record.n_tokens_start if record else 0, record.n_bytes if record else 0)
        self._put(tokenizer, str(loaded.path), steps_known(tokenizer))

    def recovered(self) -> None:
        """Show the merges of the tokenizer on the screen, which were recovered from its ranks."""
        if self.loaded is not None:
            tokenizer = self.loaded.tokenizer
            self.screen.training.begin(KeptMerges(tokenizer), 0, 0)
            self._put(tokenizer, str(self.loaded.path), tokenizer.step)
            self.screen.mutate_reactive(StateScreen.tokenizer)
            self.screen.editor.tell_names()
            self.screen.editor.side.show_token()

    def begin_training(
        self, task: TrainingTask, tokenizer: Tokenizer, merges: Merges, n_tokens: int, n_bytes: int
    ) -> None:
        """Show a tokenizer that is being trained on a corpus of this size, and has none of the merges yet to come."""
        self._forget(task)
        self._before, self.loaded = self.loaded or self._before, None
        self.screen.training.begin(merges, n_tokens, n_bytes)
        self._put(tokenizer, "", 0)

    def grow(self, tokenizer: Tokenizer, lengths: Sequence[int]) -> None:
        """Show the trained tokenizer with more merges, and the lengths of the corpus after these; the step in force
        follows if it was the newest."""
        screen = self.screen
        following = screen.tokenizer is not None and self.asked_for == screen.tokenizer.step
        screen.training.learned(lengths)
        screen.tokenizer = tokenizer
        if following:  # else what is in force stays as it is: the editor need not split its text anew
            self.go_to(tokenizer.step)

    def keep(self, learned: Loaded) -> None:
        """Show the tokenizer that was trained, whole, and from now on the one in its file."""
        self.loaded, self._before = learned, None
        self._put(learned.tokenizer, str(learned.path), self.asked_for)

    def take_back(self) -> None:
        """Show the tokenizer of before a training that learned nothing, if that training was ever shown."""
        before, self._before = self._before, None
        if before is not None and self.loaded is None:
            self.show(before)

    def _put(self, tokenizer: Tokenizer, path: str, step: int) -> None:
        self.screen.path, self.screen.tokenizer = path, tokenizer
        self.go_to(step)

    # Which step

    async def travel(self, by: int) -> None:
        await self.travel_to(self.asked_for + by)

    async def travel_to(self, step: int) -> None:
        """Another step; whoever chooses one has seen enough of a play."""
        self.stop()
        await self.go_to_soon(step)

    async def go_to_soon(self, step: int) -> None:
        """Go to a step once the one before has been drawn: of those that are asked for meanwhile, only the last counts.

        A mouse tells of more places in a second than can be drawn.
        """
        if not self.is_drawn:
            self._next = self._nearest(step)
            return
        self.go_to(step)
        self.is_drawn = False
        # Textual draws what first says that it has changed, and all else in another frame; this waits until the text
        # knows which of its rows have, so that all of a step is in one.
        painted = asyncio.Event()
        try:
            if self.screen.editor.area.call_later(painted.set):
                with suppress(TimeoutError):
                    async with asyncio.timeout(_PATIENCE):
                        await painted.wait()
        finally:  # a play that is stopped here is cancelled, and the next step must not wait for it
            self.screen.call_after_refresh(self._drawn)

    async def _drawn(self) -> None:
        self.is_drawn = True
        if self._next is not None:
            await self.go_to_soon(self._next)

    @property
    def asked_for(self) -> int:
        """The step that was asked for last; it is in force, or will be soon."""
        return self.screen.step if self._next is None else self._next

    def _nearest(self, step: int) -> int:
        return max(0, min(step, steps_known(self.screen.tokenizer)))

    def go_to(self, step: int) -> None:
        """Put another step of the tokenizer in force: the nearest that there is."""
        self._next = None
        screen, tokenizer = self.screen, self.screen.tokenizer
        if tokenizer is not None:
            screen.step = step = self._nearest(step)
            screen.in_force = tokenizer if step == steps_known(tokenizer) else tokenizer.at(step)

    # Playing

    async def play(self) -> None:
        """Play the editor's text through the steps that change it, from the first merge if the last is in force; or
        pause, and go on from there."""
        if self._timer is not None:
            return self.stop()
        screen, tokenizer = self.screen, self.screen.tokenizer
        if tokenizer is None or not tokenizer.vocabulary.knows_merges:
            return screen.say("There are no merges to play yet.", "warning")
        self._steps = steps_seen(tokenizer, screen.editor.area.text[:PLAYED])
        if not self._steps:
            return screen.say("No merge changes this text: each of its tokens is one byte.", "warning")
        at_end = screen.step >= self._steps[-1]
        if at_end:
            await self.go_to_soon(0)
        self._n_played = 0 if at_end else bisect_right(self._steps, screen.step)
        usual = next((pace for pace in PACES if pace * _SECONDS >= len(self._steps)), PACES[-2])
        self._play(usual if at_end or not self._pace else self._pace)
        # The keys of the line of steps pause it and change its pace; from elsewhere, the text is shown too.
        line = screen.query_one(StepLine)
        if screen.focused is not line:
            screen.active = "editor"
            screen.set_focus(line)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.screen.playing = 0

    def change_play(self, by: int) -> None:
        """The next faster pace (1), or the next slower (-1), while it plays."""
        if self._timer is not None:
            paces = PACES[:-1]
            self._play(paces[max(0, min(paces.index(self.screen.playing) + by, len(paces) - 1))])

    def _play(self, pace: int) -> None:
        self.stop()
        self.screen.playing = self._pace = pace
        self._since, self._n_before = monotonic(), self._n_played
        self._timer = self.screen.set_interval(max(1 / pace, 1 / _FRAMES), self._advance)

    async def _advance(self) -> None:
        """Go to the step whose time has come; a screen that was late skips some."""
        due = round((monotonic() - self._since) * self.screen.playing)
        self._n_played = min(max(self._n_played + 1, self._n_before + due), len(self._steps))
        step = self._steps[self._n_played - 1]
        if self._n_played == len(self._steps):
            self.stop()
        await self.go_to_soon(step)
