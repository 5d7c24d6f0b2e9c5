"""Lanes: the tokenizers whose tokens the editor shows under those of the one in force."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bpe_core.errors import BpeError
from bpe_core.visible import visible
from tui.owners.owner import Host, Owner, sentence_of
from tui.state.tokenizers import LaneChoice, ShownLane, name_of, steps_known

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

MOST: Final = 3
"""Lanes beside the first."""


class Lanes(Owner[tuple[ShownLane, ...]]):
    """Loads the tokenizers that are chosen, and keeps those of the one on the screen at their steps.

    `read` gives the tokenizer in a file, or None if it is not to be had after all; `changed` is told of each change of
    what is chosen, to remember it.
    """

    def __init__(
        self,
        host: Host,
        publish: Callable[[tuple[ShownLane, ...]], None],
        read: Callable[[Path], Awaitable[Tokenizer | None]],
        changed: Callable[[tuple[LaneChoice, ...]], None],
    ) -> None:
        super().__init__(host, (), publish)
        self._read = read
        self._changed = changed
        self._chosen: tuple[LaneChoice, ...] = ()
        self._followed: Tokenizer | None = None
        self._loaded: dict[str, Tokenizer] = {}
        """By the paths of those that are chosen."""

    @property
    def chosen(self) -> tuple[LaneChoice, ...]:
        """The lanes that are shown, or will be once they are loaded."""
        return self._chosen

    def choose(self, chosen: Iterable[LaneChoice]) -> None:
        """Show these lanes, of more than `MOST` the first, in the place of those of before."""
        self._chosen = tuple(dict.fromkeys(chosen))[:MOST]
        self._changed(self._chosen)
        self._loaded = {lane.path: self._loaded[lane.path] for lane in self._chosen if lane.path in self._loaded}
        self._show()
        self._begin(self._load)

    def toggle(self, lane: LaneChoice) -> None:
        """Add a lane, or drop it if it is shown."""
        if lane in self._chosen:
            self.choose(other for other in self._chosen if other != lane)
        elif len(self._chosen) == MOST:
            self._host.say(f"{MOST + 1} lanes are the most there can be: drop one first.", "warning")
        else:
            self.choose((*self._chosen, lane))

    def follow(self, tokenizer: Tokenizer | None) -> None:
        """Take note that this tokenizer is on the screen now, or has learned more: lanes at its steps follow."""
        self._followed = tokenizer
        if any(not lane.path for lane in self._chosen):
            self._show()

    def drop_missing(self) -> None:
        """Drop the lanes whose files are not there any more, and say so."""
        missing = [lane for lane in self._chosen if lane.path and not os.path.exists(lane.path)]
        if missing:
            self.choose(lane for lane in self._chosen if lane not in missing)
        for lane in missing:
            name = visible(name_of(Path(lane.path)))
            self._host.say(f"The lane of {name} is gone: there is no {visible(lane.path)} any more.", "warning")

    async def _load(self) -> None:
        self.drop_missing()
        for lane in self._chosen:
            if not lane.path or lane.path in self._loaded:
                continue
            tokenizer = None
            try:
                tokenizer = await self._read(Path(lane.path))
            except (BpeError, OSError) as error:
                self._host.say(f"There is no lane of {visible(lane.path)}. {sentence_of(error)}", "error")
            if tokenizer is not None:
                self._loaded[lane.path] = tokenizer
                self._show()
            else:
                self.choose(other for other in self._chosen if other != lane)
                return

    def _show(self) -> None:
        shown = tuple(filter(None, map(self._shown, self._chosen)))
        if shown != self._value:
            self._replace(shown)

    def _shown(self, choice: LaneChoice) -> ShownLane | None:
        whole = self._loaded.get(choice.path) if choice.path else self._followed
        if whole is None:
            return None
        steps = steps_known(whole)
        step = steps if choice.step is None else min(choice.step, steps)
        tokenizer = whole if step == steps else whole.at(step)
        before = next((lane.tokenizer for lane in self._value if lane.choice == choice), None)
        if before is not None and _is_alike(before, tokenizer):  # its tokens stay, while more merges are learned
            tokenizer = before
        return ShownLane(choice, tokenizer)


def _is_alike(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers, such as two versions of one that is being trained, give the same ids of any text.

    Of a rank file whose merges are not recovered no merge is asked for: that would take seconds.
    """
    old, new = one.vocabulary, other.vocabulary
    if one is other or not (old.knows_merges and new.knows_merges):
        return one is other
    if one.step != other.step or one.splitter is not other.splitter or one.preparation is not other.preparation:
        return False
    same_tokens = old.base == new.base and old.special_tokens == new.special_tokens
    return same_tokens and list(old.merges) == list(new.merges)
