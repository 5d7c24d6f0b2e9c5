"""Lanes: other tokenizers, or other steps of the one on the screen, under the editor's text."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bpe_core.errors import BpeError
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from tui.dialogs.lanes import AskLanes, LaneOffer
from tui.drawing.lines import cut
from tui.features.feature import Feature, StateScreen, sentence_of
from tui.features.tokenizers import Tokenizers, give_same_ids
from tui.state import LaneChoice, ShownLane, known_name, steps_known
from tui.widgets.tokenizer_names import distinct_names

MOST: Final = 3
"""How many lanes can be added to the first."""
_LONGEST_NAME: Final = 36
"""Cells of a name in the dialog. At 80 columns, this leaves room for its note."""


class Lanes(Feature):
    """Replaces the screen's `lanes`. Loads the chosen tokenizers, and keeps fixed steps of the shown one."""

    def __init__(self, screen: StateScreen, tokenizers: Tokenizers) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self.chosen: tuple[LaneChoice, ...] = ()
        """The lanes that are shown, or will be once they are loaded."""
        self._loaded: dict[str, Tokenizer] = {}
        """Path of a chosen lane -> its tokenizer."""
        self._preview: ShownLane | None = None
        """A tokenizer that is not saved, shown instead of the chosen lanes."""

    def preview(self, lane: ShownLane | None) -> None:
        """Show a tokenizer that is not saved instead of the chosen lanes, or show these again."""
        self._preview = lane
        self._update()

    def _swap_with_first(self, old_path: str, path: str) -> None:
        """If the first lane gets the tokenizer of another lane, give that lane the tokenizer of before."""
        lane = LaneChoice(path)
        if not path or lane not in self.chosen:
            return
        lanes = list(self.chosen)
        index = lanes.index(lane)
        if any(known.path == old_path for known in self.screen.kept):
            lanes[index] = LaneChoice(old_path)
        else:
            del lanes[index]
        if self.screen.tokenizer:
            self._loaded[old_path] = self.screen.tokenizer
        self.choose(lanes)

    def choose(self, chosen: Iterable[LaneChoice]) -> None:
        """Show the first `MOST` of these lanes instead of the current ones."""
        self.chosen = tuple(dict.fromkeys(chosen))[:MOST]
        self._preview = None
        screen = self.screen
        screen.remember(lanes=self.chosen)
        if self.chosen:
            screen.watch(screen, "path", self._swap_with_first, init=False)
        if any(not lane.path for lane in self.chosen):
            # These lanes are steps of the tokenizer on the screen.
            screen.watch(screen, "tokenizer", self._update, init=False)
        paths = {lane.path for lane in self.chosen}
        self._loaded = {
            path: tokenizer for path, tokenizer in self._loaded.items() if path in paths
        }
        self._update()
        self.begin(self._load)

    def toggle(self, lane: LaneChoice) -> None:
        """Add a lane, or remove it."""
        if lane in self.chosen:
            self._remove(lane)
        elif len(self.chosen) == MOST:
            self.screen.say(
                f"There is room for {MOST + 1} lanes. Remove one first.", "warning"
            )
        else:
            self.choose([*self.chosen, lane])

    def _remove(self, lane: LaneChoice) -> None:
        self.choose(other for other in self.chosen if other != lane)

    async def _load(self) -> None:
        for lane in self.chosen:
            if not lane.path or lane.path in self._loaded:
                continue
            loaded = None
            try:
                loaded = await self._tokenizers.read(Path(lane.path))
            except (BpeError, OSError) as error:
                self.screen.say(
                    f"{visible(lane.path)} cannot be shown as a lane. {sentence_of(error)}",
                    "error",
                )
            if loaded is None:
                self._remove(lane)
                return
            self._loaded[lane.path] = loaded.tokenizer
            self._update()

    def _update(self) -> None:
        lanes = []
        for choice in self.chosen:
            lane = self._lane(choice)
            if lane is not None:
                lanes.append(lane)
        if self._preview:
            lanes = [self._preview]
        if tuple(lanes) != self.screen.lanes:
            self.screen.lanes = tuple(lanes)

    def _lane(self, choice: LaneChoice) -> ShownLane | None:
        """Return the lane with its tokenizer; None until that is loaded."""
        tokenizer = self.screen.tokenizer
        if choice.path:
            tokenizer = self._loaded.get(choice.path)
        if tokenizer is None:
            return None
        n_steps = steps_known(tokenizer)
        if choice.step is not None:
            step = max(0, min(choice.step, n_steps))
            if step < n_steps:
                tokenizer = tokenizer.at(step)
        for lane in self.screen.lanes:
            if lane.choice == choice and give_same_ids(lane.tokenizer, tokenizer):
                # Keep the same object, so that the lane need not be split again.
                return ShownLane(choice, lane.tokenizer)
        return ShownLane(choice, tokenizer)

    # The dialog

    def ask(self) -> None:
        """Let the user choose the lanes. They are shown at once; Escape restores the lanes of before."""
        screen = self.screen
        offers = self._offers()
        if not offers:
            screen.say(
                "There is no other tokenizer yet. Train one (F6), or open or fetch one (Ctrl+P)."
            )
            return
        if screen.path:
            first = f"{screen.editor.first_name}, as shown on the screen"
        elif screen.run.busy:
            first = "the tokenizer in training"
        else:
            first = "the tokenizer on the screen, once there is one"
        before = self.chosen

        def close(keeps: bool | None) -> None:
            if not keeps:
                self.choose(before)

        question = AskLanes(first, offers, lambda: self.chosen, self.toggle)
        screen.app.push_screen(question, close)

    def _offers(self) -> dict[LaneChoice, LaneOffer]:
        """Return the lanes to choose from: the listed tokenizers, chosen ones that left the list, and steps."""
        screen = self.screen
        offers: dict[LaneChoice, LaneOffer] = {}
        names = distinct_names(screen.kept)
        for known in screen.kept:
            if known.path != screen.path and not known.trouble:
                note = f"{known.n_vocab:,} tokens" if known.n_vocab else ""
                name = _shortened(visible(names[known.path]))
                offers[LaneChoice(known.path)] = LaneOffer(name, note)
        for lane in self.chosen:
            if lane.path:
                name = _shortened(known_name(lane.path, screen.kept))
                offers.setdefault(lane, LaneOffer(name, "opened earlier"))
        n_steps = steps_known(screen.tokenizer)
        if n_steps:
            steps = {screen.step}
            for lane in self.chosen:
                if not lane.path and lane.step is not None:
                    steps.add(lane.step)
            for step in sorted(steps):
                note = "stays at this step" if step == screen.step else ""
                offers[LaneChoice("", step)] = LaneOffer(
                    f"lane 1 at step {step:,}", note
                )
            offers[LaneChoice()] = LaneOffer(
                "lane 1 with all its merges", f"{n_steps:,} so far"
            )
        return offers


def _shortened(name: str) -> str:
    return cut(name, _LONGEST_NAME, keep="ends")
