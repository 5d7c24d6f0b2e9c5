"""A sample of a large corpus: stretches of its files, chosen by a seed, and read in the order of the corpus."""

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

from bpe_core.corpus.portions import Portion, portions
from bpe_core.corpus.progress import Document, Reading
from bpe_core.corpus.reading import TextFile
from bpe_core.errors import OptionError
from bpe_core.patterns import Splitter

STRETCH: Final = 1 << 16
"""Bytes on disk of a stretch, about: small files together, large ones in parts, cut where no piece lies across."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Which part of a corpus is read. `OptionError` if the share is not above 0 and at most 1."""

    share: Fraction
    """Of the bytes on disk."""
    seed: int = 0
    """The same seed chooses the same stretches of the same files, on every computer."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise OptionError(f"A sample of {self.share} is no part of a corpus; a share is above 0 and at most 1.")

    def __str__(self) -> str:
        return f"{self.share} of the bytes, seed {self.seed}"

    @classmethod
    def told(cls, words: str) -> "Sample | None":
        """The sample that `str` tells so; None for other words.

        >>> Sample.told(str(Sample(Fraction(1, 10), 7)))
        Sample(share=Fraction(1, 10), seed=7)
        """
        found = re.fullmatch(r"(\d+(?:/\d+)?) of the bytes, seed (-?\d+)", words)
        return cls(Fraction(found[1]), int(found[2])) if found else None

    def documents(self, files: Iterable[TextFile], splitter: Splitter, reading: Reading) -> Iterator[Document]:
        """The documents of the stretches: each whole file, and each part of one. Sets the total of `reading`."""
        stretches = self.stretches(files, splitter)
        reading.total = sum(stretch.size for stretch in stretches)
        return (reading.document(file, stretch.start, stretch.end) for stretch in stretches for file in stretch.files)

    def stretches(self, files: Iterable[TextFile], splitter: Splitter) -> list[Portion]:
        """The chosen stretches in the order of the corpus: in random order, until they have the share of the bytes.

        A file that cannot be cut (packed, in another encoding, or split by a pattern without safe cuts) is one stretch.
        """
        cut = partial(splitter.cut, at_least=1) if splitter.blockwise else None
        all_of_them = list(portions(files, STRETCH, cut))
        wanted = self.share * sum(portion.size for portion in all_of_them)
        order = list(range(len(all_of_them)))
        random.Random(self.seed).shuffle(order)
        chosen: list[int] = []
        size = 0
        for number in order:
            if chosen and size >= wanted:
                break
            chosen.append(number)
            size += all_of_them[number].size
        return [all_of_them[number] for number in sorted(chosen)]
