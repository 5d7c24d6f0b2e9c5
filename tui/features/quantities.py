"""Quantities: counts of the text, the merges and the corpus on the screen, for the lessons."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bpe_core.errors import BpeError
from bpe_core.explain.merge_choice import PairRanking, PairRow
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label
from bpe_core.weighted import formatted
from tui.disk.quantities import MeasuredQuantity
from tui.features.explaining import Explaining
from tui.features.feature import StateScreen
from tui.features.shown import Shown
from tui.terminal.background import in_thread

_SECONDS_OF_POLL: Final = 0.02
_LONGEST_WAIT: Final = 3_000
"""Maximum number of checks whether the pairs have been counted: one minute in all."""


class Quantities:
    """Measures what `tui.disk.quantities` names."""

    def __init__(
        self, screen: StateScreen, shown: Shown, explaining: Explaining
    ) -> None:
        self._screen = screen
        self._shown = shown
        self._explaining = explaining

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the editor, at the current step. Raise `BpeError` without one."""
        tokenizer = self._screen.editor.area.tokenizer
        if tokenizer is None:
            raise BpeError("There is no tokenizer yet.")
        return tokenizer

    async def measure(self, quantity: MeasuredQuantity) -> int | str:
        """Return a number, or a text such as "a + b". Raise `BpeError` if it can't be measured."""
        area = self._screen.editor.area
        part = quantity.part
        match quantity.name:
            case "tokens":
                return len(self.ids_of(area.text))
            case "bytes":
                return len(area.text.encode())
            case "ids":
                return " ".join(map(str, self.ids_of(area.text)))
            case "step":
                return self._screen.step
            case "merges":
                return self._shown.n_steps
            case "tokens of":
                return len(self.ids_of(part))
            case "split of":
                return " ".join(self.labels(self.ids_of(part)))
            case "bytes of":
                return len(part.encode())
            case "pieces of":
                return len(self.pieces_of(part))
            case "occurrences of":
                return await self._occurrences(part)
        ranking = await self.pairs()
        if quantity.name == "next pair":
            return self.written(ranking.rows[0]) if ranking.rows else "none"
        row = self.find_pair(part, ranking)
        return formatted_count(row)

    # The text

    def holds(self, part: str) -> bool:
        """Whether the text contains `part`."""
        return part in self._screen.editor.area.text

    def ids_of(self, part: str) -> list[int]:
        """Return the ids that meet the first place of a part in the text, or those of the part by itself."""
        area = self._screen.editor.area
        start = area.text.find(part)
        tokenizer = self.tokenizer
        if start < 0:
            return tokenizer.encode_ordinary(part)
        live = area.edited.live
        if live is None:
            raise BpeError("The text has no tokens yet.")
        ids: list[int] = []
        for span in live.spans(start, start + len(part)):
            ids += span.ids
        return ids

    def pieces_of(self, part: str) -> list[str]:
        """Return the pieces that overlap the first occurrence of a part in the text, or those of the part alone."""
        text = self._screen.editor.area.text
        start = text.find(part)
        if start < 0:
            text = part
            start = 0
        end = start + len(part)
        pieces = []
        for place in self.tokenizer.splitter.places(text):
            if place[0] < end and place[1] > start:
                pieces.append(text[place[0] : place[1]])
        return pieces

    def labels(self, ids: Sequence[int]) -> list[str]:
        return [token_label(self.tokenizer.token_bytes(id)) for id in ids]

    # The corpus

    async def _occurrences(self, text: str) -> int:
        paths = self._screen.corpus.paths
        n_occurrences = 0
        for path in paths:
            data = await in_thread(Path(path).read_bytes)
            n_occurrences += data.count(text.encode())
        return n_occurrences

    async def pairs(self) -> PairRanking:
        """Return the pairs of the corpus at the current step, the next one first."""
        step = self._screen.step
        self._explaining.explain(step)
        for _ in range(_LONGEST_WAIT):
            explained = self._screen.explained
            if explained.problem:
                raise BpeError(explained.problem)
            if explained.step == step and explained.explanation is not None:
                return explained.explanation.table
            await asyncio.sleep(_SECONDS_OF_POLL)
        raise BpeError("Counting the pairs took longer than a minute.")

    def written(self, pair: PairRow) -> str:
        return " + ".join(self.labels([pair.left, pair.right]))

    def find_pair(self, typed: str, ranking: PairRanking) -> PairRow | None:
        """Find a pair written as "a + b", "a b" or "ab"; return None if it does not occur."""
        parts = _parts(typed)
        for row in ranking.rows:
            labels = [_bare(label) for label in self.labels([row.left, row.right])]
            if parts in (labels, ["".join(labels)]):
                return row
        return None


def formatted_count(row: PairRow | None) -> int | str:
    """Return the count of a pair: 0 for None, and a string if it is not a whole number."""
    if row is None:
        return 0
    if isinstance(row.times, int):
        return row.times
    return formatted(row.times)


def _parts(typed: str) -> list[str]:
    """Divide a typed pair at a plus, comma or space. The word "space" is the space."""
    parts = [part for part in re.split(r"[+,\s]+", typed) if part]
    return [_bare("␣" if part == "space" else part) for part in parts]


def _bare(label: str) -> str:
    """Return a label without the sign of a space, which keyboards lack."""
    return label.replace("␣", "").strip() or "␣"
