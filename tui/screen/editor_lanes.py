"""EditorLanes: which tokenizers are lanes of the editor, which could be, and that it is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bpe_core.visible import visible
from tui.dialogs.lanes import AskLanes, LaneOffer
from tui.drawing.tokenizer_texts import names_told_apart, shortened_within
from tui.owners.lanes import Lanes
from tui.owners.loading import read
from tui.state.tokenizers import LaneChoice, known_name, steps_known

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer
    from tui.screen.main import MainScreen
    from tui.screen.shown_tokenizer import ShownTokenizer

_LONGEST: Final = 36
"""Cells of a name among those that are offered: there is room for what else is told of them, at 80 columns too."""


class EditorLanes:
    """Replaces the screen's `lanes`, which nobody else does. For the arguments see `tui.owners.loading.Loading`."""

    def __init__(
        self,
        screen: MainScreen,
        shown: ShownTokenizer,
        pattern_for: Callable[[Path], str | None],
        remember: Callable[[Path, str], None],
    ) -> None:
        self._screen = screen
        self._shown = shown
        self._pattern_for = pattern_for
        self._remember = remember
        self.owner = Lanes(screen, partial(setattr, screen, "lanes"), self._read, self._changed)
        screen.watch(screen, "tokenizer", self.owner.follow)

    def bring_back(self, remembered: Iterable[str]) -> None:
        """Show the lanes of the last run, as far as they are still there."""
        self.owner.choose(map(LaneChoice.parse, remembered))

    def recovered(self) -> None:
        """The merges of the tokenizer on the screen have become known: lanes can be at steps of it from now on."""
        self.owner.follow(self._screen.tokenizer)
        self._screen.editor.tell_names()

    def ask(self) -> None:
        """Show which tokenizers are lanes, and which could be."""
        offers = self._offers()
        if offers:
            self._screen.app.push_screen(AskLanes(self._first(), offers, lambda: self.owner.chosen, self.owner.toggle))
        else:
            self._screen.say("There is no other tokenizer yet: train one (F6), open one or fetch one (Ctrl+P).")

    def _first(self) -> str:
        """What the first lane shows, in words for a sentence."""
        screen = self._screen
        if screen.path:
            return f"{screen.editor.first_name}, as it is on the screen"
        return "what is being trained" if screen.run.busy else "the tokenizer in force, as soon as there is one"

    def _offers(self) -> list[LaneOffer]:
        screen, chosen = self._screen, self.owner.chosen
        offers = {}
        names = names_told_apart(screen.kept)
        for known in screen.kept:
            if known.path != screen.path and not known.trouble:
                note = f"{known.n_vocab:,} tokens" if known.n_vocab else ""
                offers[LaneChoice(known.path)] = shortened_within(visible(names[known.path]), _LONGEST), note
        for lane in chosen:
            if lane.path:
                name = shortened_within(known_name(lane.path, screen.kept), _LONGEST)
                offers.setdefault(lane, (name, "opened earlier"))
        if steps := steps_known(screen.tokenizer):
            fixed = {lane.step for lane in chosen if not lane.path and lane.step is not None}
            for step in sorted({*fixed, screen.step}):
                note = "the step in force, kept" if step == screen.step else ""
                offers[LaneChoice("", step)] = f"lane 1 at step {step:,}", note
            offers[LaneChoice()] = "lane 1 with all its merges", f"{steps:,} by now"
        return [LaneOffer(choice, name, note) for choice, (name, note) in offers.items()]

    async def _read(self, path: Path) -> Tokenizer | None:
        shown = self._shown.loaded
        if shown is not None and shown.path == path:
            return shown.tokenizer
        loaded = await read(self._screen, path, self._pattern_for, self._remember)
        return None if loaded is None else loaded.tokenizer

    def _changed(self, chosen: tuple[LaneChoice, ...]) -> None:
        self._screen.remember(lanes=tuple(map(str, chosen)))
