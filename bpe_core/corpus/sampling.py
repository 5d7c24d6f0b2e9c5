"""A sample of a large corpus: stretches of its files, chosen by a seed, and read in the order of the corpus."""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Final

from bpe_core.corpus.reading import BLOCK, Document, Reading, TextFile
from bpe_core.errors import OptionError
from bpe_core.patterns import Splitter
from bpe_core.utf8 import CONTINUATIONS

Cut = Callable[[str], int]
"""Text -> the first index > 0 where it may be cut safely, or its length if there is none."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Whole files, or a part of one."""

    files: tuple[TextFile, ...]
    start: int = 0
    """Byte offset where the part begins in its file; 0 for whole files."""
    end: int | None = None
    """Byte offset where the part ends; None for whole files."""

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files) if self.end is None else self.end - self.start


def portions(files: Iterable[TextFile], wanted: int, cut: Cut | None) -> Iterator[Portion]:
    """Yield the files in order, in portions of about `wanted` bytes on disk: small files together, large ones in parts.

    `cut` finds where a text may be cut; None: all files stay whole.
    """
    bundle: list[TextFile] = []
    size = 0
    for file in files:
        parts = _parts(file, wanted, cut)
        if bundle and (parts or size + file.size > wanted):
            yield Portion(tuple(bundle))
            bundle, size = [], 0
        if parts:
            yield from parts
        else:
            bundle.append(file)
            size += file.size
    if bundle:
        yield Portion(tuple(bundle))


def _parts(file: TextFile, size: int, cut: Cut | None) -> list[Portion]:
    """The parts, of about `size` bytes, of a file that is large enough and can be cut; otherwise an empty list."""
    if file.size < 2 * size or file.packing or file.encoding.codec != "utf-8" or not cut:
        return []
    offsets = range(size, file.size - size // 2, size)
    cuts = [0, *filter(None, (_cut(file, offset, cut) for offset in offsets)), file.size]
    return [Portion((file,), start, end) for start, end in pairwise(cuts)] if len(cuts) > 2 else []


def _cut(file: TextFile, offset: int, cut: Cut) -> int:
    """The byte offset of the first safe cut after `offset`; 0 if there is none within one block."""
    try:
        with file.path.open("rb") as disk:
            disk.seek(offset)
            data = disk.read(BLOCK)
    except OSError:
        return 0  # whoever reads the text will meet the error, and report it
    begins = next((i for i, byte in enumerate(data[:4]) if byte not in CONTINUATIONS), 0)
    text = data[begins:].decode(errors="replace")
    at = cut(text)
    exact = at < len(text) and "\ufffd" not in text[: at + 1]
    return offset + begins + len(text[:at].encode()) if exact else 0


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
