"""Lanes: other tokenizers, or other steps of the one on the screen, under the editor's text."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bpe_core.errors import BpeError
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from tui.dialogs.lists import AskLanes
from tui.drawing.lines import cut
from tui.features.feature import Feature, StateScreen, sentence_of
from tui.features.shown import give_same_ids
from tui.features.tokenizers import Tokenizers
from tui.state import LaneChoice, ShownLane, known_name, steps_known
from tui.widgets.tokenizer_lists import distinct_names

MOST: Final = 3  # lanes beside the first
_LONGEST: Final = 36  # cells of a name that is offered: at 80 columns there is room for what else is told of it


class Lanes(Feature):
    """Replaces the screen's `lanes`: loads what is chosen, and keeps the shown tokenizer at steps of its own."""

    def __init__(self, screen: StateScreen, tokenizers: Tokenizers) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self.chosen: tuple[
            LaneChoice, ...
        ] = ()  # the lanes that are shown, or will be once they are loaded
        self._loaded: dict[str, Tokenizer] = {}  # by the paths of those that are chosen

    def _change_places(self, before: str, path: str) -> None:
        """Where the tokenizer of a lane comes to be that of the first lane, the lane gets the one before."""
        if path and (lane := LaneChoice(path)) in self.chosen:
            lanes, at = [*self.chosen], self.chosen.index(lane)
            lanes[at : at + 1] = [LaneChoice(before)] * (
                before in {one.path for one in self.screen.kept}
            )
            if self.screen.tokenizer:
                self._loaded[before] = self.screen.tokenizer
            self.choose(lanes)

    def choose(self, chosen: Iterable[LaneChoice]) -> None:
        """Show these lanes, of more than `MOST` the first, in the place of those of before."""
        self.chosen = tuple(dict.fromkeys(chosen))[:MOST]
        self.screen.remember(lanes=self.chosen)
        if self.chosen:
            self.screen.watch(self.screen, "path", self._change_places, init=False)
        if any(
            not lane.path for lane in self.chosen
        ):  # at steps of the tokenizer on the screen, which they follow
            self.screen.watch(self.screen, "tokenizer", self._update, init=False)
        self._loaded = {
            lane.path: self._loaded[lane.path]
            for lane in self.chosen
            if lane.path in self._loaded
        }
        self._update()
        self.begin(self._load)

    def toggle(self, lane: LaneChoice) -> None:
        if lane in self.chosen:
            self.choose(other for other in self.chosen if other != lane)
        elif len(self.chosen) == MOST:
            self.screen.say(
                f"{MOST + 1} lanes are the most there can be: drop one first.",
                "warning",
            )
        else:
            self.choose((*self.chosen, lane))

    async def _load(self) -> None:
        for lane in self.chosen:
            if not lane.path or lane.path in self._loaded:
                continue
            loaded = None
            try:
                loaded = await self._tokenizers.read(Path(lane.path))
            except (BpeError, OSError) as error:
                self.screen.say(
                    f"{visible(lane.path)} cannot be a lane. {sentence_of(error)}",
                    "error",
                )
            if loaded is None:
                return self.choose(other for other in self.chosen if other != lane)
            self._loaded[lane.path] = loaded.tokenizer
            self._update()

    def _update(self) -> None:
        shown = tuple(filter(None, map(self._lane, self.chosen)))
        if shown != self.screen.lanes:
            self.screen.lanes = shown

    def _lane(self, choice: LaneChoice) -> ShownLane | None:
        whole = self._loaded.get(choice.path) if choice.path else self.screen.tokenizer
        if whole is None:
            return None
        steps = steps_known(whole)
        step = steps if choice.step is None else max(0, min(choice.step, steps))
        tokenizer = whole if step == steps else whole.at(step)
        before = next(
            (lane.tokenizer for lane in self.screen.lanes if lane.choice == choice),
            None,
        )
        if before is not None and give_same_ids(
            before, tokenizer
        ):  # its tokens stay, while more merges are learned
            tokenizer = before
        return ShownLane(choice, tokenizer)

    # What can be chosen

    def ask(self) -> None:
        screen, offers = self.screen, self._offers()
        first = (
            "what is being trained"
            if screen.run.busy
            else "the tokenizer in force, as soon as there is one"
        )
        if screen.path:
            first = f"{screen.editor.first_name}, as it is on the screen"
        if offers:
            question, before = (
                AskLanes(first, offers, lambda: self.chosen, self.toggle),
                self.chosen,
            )
            screen.app.push_screen(
                question, lambda keeps: None if keeps else self.choose(before)
            )
        else:
            screen.say(
                "There is no other tokenizer yet: train one (F6), open one or fetch one (Ctrl+P)."
            )

    def _offers(self) -> dict[LaneChoice, tuple[str, str]]:
        screen = self.screen
        offers: dict[LaneChoice, tuple[str, str]] = {}
        names = distinct_names(screen.kept)
        for known in screen.kept:
            if known.path != screen.path and not known.trouble:
                note = f"{known.n_vocab:,} tokens" if known.n_vocab else ""
                offers[LaneChoice(known.path)] = (
                    cut(visible(names[known.path]), _LONGEST, "ends"),
                    note,
                )
        for lane in filter(lambda lane: lane.path, self.chosen):
            offers.setdefault(
                lane,
                (
                    cut(known_name(lane.path, screen.kept), _LONGEST, "ends"),
                    "opened earlier",
                ),
            )
        if steps := steps_known(screen.tokenizer):
            fixed = {
                lane.step
                for lane in self.chosen
                if not lane.path and lane.step is not None
            }
            for step in sorted({*fixed, screen.step}):
                note = "stays at this step" if step == screen.step else ""
                offers[LaneChoice("", step)] = f"lane 1 at step {step:,}", note
            offers[LaneChoice()] = "lane 1 with all its merges", f"{steps:,} so far"
        return offers
