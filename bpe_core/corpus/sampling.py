"""How much of a corpus counts: a sample of its files, chosen by a seed, and weights of its paths."""

import os
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final

from bpe_core.corpus.reading import BLOCK, TextFile
from bpe_core.errors import OptionError
from bpe_core.patterns import Splitter
from bpe_core.typed_numbers import exact_fraction
from bpe_core.utf8 import CONTINUATIONS

STRETCH: Final = 1 << 16  # bytes on disk of a stretch, about

Cut = Callable[[str], int]  # text -> the first index > 0 where it may be cut safely, or its length if there is none


@dataclass(frozen=True, slots=True)
class Sample:
    """Which part of a corpus is read. `OptionError` if the share is not above 0 and at most 1."""

    share: Fraction  # of the bytes on disk
    seed: int = 0  # the same chooses the same stretches of the same files, on every computer

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise OptionError(f"A sample of {self.share} is no part of a corpus; a share is above 0 and at most 1.")

    def __str__(self) -> str:
        return f"{self.share} of the bytes, seed {self.seed}"

    @classmethod
    def parsed(cls, words: str) -> "Sample | None":
        """The sample that `str` writes so; None for other words."""
        found = re.fullmatch(r"(\d+(?:/\d+)?) of the bytes, seed (-?\d+)", words)
        return cls(Fraction(found[1]), int(found[2])) if found else None

    def documents(self, files: Iterable[TextFile], splitter: Splitter) -> list[TextFile]:
        """The sample, in the order of the corpus: stretches in random order, until they have the share of the bytes.

        A stretch is several small files, or a part of a large one, cut where no piece lies across; or a file that
        cannot be cut (packed, in another encoding, or split by a pattern without safe cuts).
        """
        stretches = list(_stretches(files, partial(splitter.cut, at_least=1) if splitter.blockwise else None))
        wanted = self.share * sum(map(_size, stretches))
        order = list(range(len(stretches)))
        random.Random(self.seed).shuffle(order)
        chosen: list[int] = []
        size = 0
        for number in order:
            if chosen and size >= wanted:
                break
            chosen.append(number)
            size += _size(stretches[number])
        return [document for number in sorted(chosen) for document in stretches[number]]


def _size(documents: Iterable[TextFile]) -> int:
    return sum(document.size for document in documents)


def _stretches(files: Iterable[TextFile], cut: Cut | None) -> Iterator[list[TextFile]]:
    bundle: list[TextFile] = []
    for file in files:
        parts = _parts(file, cut)
        if bundle and (len(parts) > 1 or _size(bundle) + file.size > STRETCH):
            yield bundle
            bundle = []
        if len(parts) > 1:
            yield from ([part] for part in parts)
        else:
            bundle += parts
    if bundle:
        yield bundle


def _parts(file: TextFile, cut: Cut | None) -> list[TextFile]:
    """The parts, none of them empty, of a whole file that is large enough and can be cut; otherwise the file.

    They ascend since a cut lies less than a block behind its offset, and a stretch is no shorter than a block.
    """
    if file.size < 2 * STRETCH or file.packing or file.codec != "utf-8" or not cut:
        return [file]
    offsets = range(STRETCH, file.size - STRETCH // 2, STRETCH)
    cuts = [0, *filter(None, (_cut(file, offset, cut) for offset in offsets)), file.size]
    return [file.part(start, end) for start, end in pairwise(cuts)] if len(cuts) > 2 else [file]


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


def parsed_weights(arguments: Iterable[str], paths: Sequence[str]) -> dict[str, Fraction]:
    """The weights in arguments such as "notes/=2.5" or "book.txt=1/3", by path. `OptionError` for what is none.

    >>> parsed_weights(["a=2.5"], ["a", "b"])
    {'a': Fraction(5, 2)}
    """
    weights: dict[str, Fraction] = {}
    for argument in arguments:
        path, equals, number = argument.rpartition("=")
        try:
            weight = exact_fraction(number)
        except ValueError:
            weight = Fraction(0)
        if not equals or weight <= 0:
            raise OptionError(f"The weight {argument!r} is not of the form PATH=NUMBER with a number above 0.")
        if path not in paths:
            raise OptionError(f"There is a weight for {path!r}, which is none of the paths; write it as there.")
        weights[path] = weight
    return weights


def files_by_weight(
    files: Iterable[TextFile], weights: Mapping[str, Fraction]
) -> list[tuple[tuple[TextFile, ...], Fraction]]:
    """Neighboring files of one weight together, in order, and how many times each of their pieces is counted.

    A file has the weight of the longest path that it is or lies below; 1 if there is none.
    """
    roots = {os.path.abspath(path): weight for path, weight in weights.items()}

    def weight_of(file: TextFile) -> Fraction:
        path = Path(os.path.abspath(file.path))
        return next((roots[str(place)] for place in (path, *path.parents) if str(place) in roots), Fraction(1))

    return [(tuple(some), weight) for weight, some in groupby(files, key=weight_of)]
