"""How much of a corpus counts: a sample of it, chosen by a seed, no document twice, and weights of its paths."""

import os
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from itertools import count, groupby, pairwise
from pathlib import Path
from typing import Final

from bpe_core.corpus.reading import (
    BLOCK,
    OnRead,
    Reading,
    Skipped,
    TextFile,
    Unreadable,
    first_of,
    split_field,
)
from bpe_core.errors import OptionError, TextError
from bpe_core.patterns import Splitter
from bpe_core.utf8 import CONTINUATIONS
from bpe_core.weighted import exact_fraction

STRETCH: Final = 1 << 16  # bytes on disk of a stretch, about

Cut = Callable[
    [str], int
]  # text -> the first index > 0 where it may be cut safely, or its length if there is none


@dataclass(frozen=True, slots=True)
class Sample:
    """Which part of a corpus is read. `OptionError` if the share is not above 0 and at most 1, or no number."""

    share: Fraction = Fraction(
        1
    )  # of the bytes on disk; of files with rows each row with this probability
    seed: int = (
        0  # the same chooses the same stretches of the same files, on every computer
    )
    n_documents: int | None = None  # or so many, each subset as likely
    dedupe: bool = False  # of documents with the same digest only the first is read
    skip_bad: bool = (
        False  # rows that are no text are left out, and files that cannot be read
    )

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or (
            self.n_documents is not None and (self.n_documents < 1 or self.share < 1)
        ):
            raise OptionError(
                "A sample is a share, above 0 and at most 1, or a number of documents, and not both."
            )

    def __str__(self) -> str:
        documents = f"{self.n_documents} document{'s' * (self.n_documents != 1)}"
        part = documents if self.n_documents else f"{self.share} of the bytes"
        what = (
            [f"{part}, seed {self.seed}"] if self.n_documents or self.share < 1 else []
        )
        return ", ".join(
            what + ["no document twice"] * self.dedupe + ["no bad rows"] * self.skip_bad
        )

    @classmethod
    def parsed(cls, words: str) -> "Sample":
        """The sample that `str` writes so; all for other words."""
        part = r"(?:(\d+/\d+) of the bytes|(\d+) documents?), seed (-?\d+)"
        found = re.fullmatch(
            rf"(?:{part}(?:, |$))?(no document twice(?:, |$))?(no bad rows)?", words
        )
        if not found:
            return EVERYTHING
        share, number, seed, dedupe, skip_bad = found.groups()
        return cls(
            Fraction(share or 1),
            int(seed or 0),
            int(number) if number else None,
            bool(dedupe),
            bool(skip_bad),
        )

    def documents(
        self,
        files: Iterable[TextFile],
        splitter: Splitter,
        progress: OnRead | None = None,
        skipped: list[Skipped] | None = None,
    ) -> list[TextFile]:
        """The sample, in the order of the corpus: stretches in random order, until they have the share of the bytes.

        A stretch is several small files, or a part of a large one, cut where no piece lies across; or a file that
        cannot be cut (packed, in another encoding, or split by a pattern without safe cuts). To choose documents, files
        with rows are read now, and again when they are counted; not to read one twice, all are, and 16 bytes of each
        document are kept. What is left out since it is there before, or unreadable, is added to `skipped`.
        """
        files = list(files)
        if (
            self.dedupe
            or self.n_documents
            or (self.share < 1 and any(file.form for file in files))
        ):
            files = self._chosen(
                files, Reading(files, progress), [] if skipped is None else skipped
            )
            if not files:
                raise TextError(
                    "No document of these files is in the sample; ask for a larger one, or another seed."
                )
        if self.share == 1:
            return files
        cut = partial(splitter.cut, at_least=1) if splitter.blockwise else None
        every = [
            one
            for _, some in groupby(files, key=lambda file: bool(file.form))
            for one in stretches(some, cut)
        ]
        texts = [number for number, one in enumerate(every) if not one[0].form]
        left = self.share * sum(_size(every[number]) for number in texts)
        random.Random(self.seed).shuffle(texts)
        chosen = set[int]()
        for number in texts:
            if chosen and left <= 0:
                break
            chosen.add(number)
            left -= _size(every[number])
        return [
            file
            for number, one in enumerate(every)
            for file in one
            if file.form or number in chosen
        ]

    def _chosen(
        self, files: list[TextFile], reading: Reading, skipped: list[Skipped]
    ) -> list[TextFile]:
        """The files with at least one document that is read, and in each of those with rows which they are."""
        r, seen = random.Random(self.seed), set[bytes]()
        marks = list[
            bytearray
        ]()  # of each file, a byte for each document: 1 if it may be read
        for file in files:
            mark, own, same = bytearray(), set[bytes](), list[str]()
            try:
                for row, blocks in enumerate(reading.documents(file), 1):
                    is_new = True
                    if self.dedupe:
                        digest = blake2b(digest_size=16)
                        for block in blocks:
                            digest.update(block.encode())
                        if not (
                            is_new := digest.digest() not in own
                            and digest.digest() not in seen
                        ):
                            same.append(f"{row:,}")
                        own.add(digest.digest())
                    mark.append(is_new and (not file.form or r.random() < self.share))
            except Unreadable as error:
                if file.required:
                    raise
                skipped.append(Skipped(file.path, error.reason))
                mark, own, same = bytearray(), set(), []
            marks.append(mark)
            seen |= own
            if same:
                reason = (
                    f"{len(same):,} of its documents are there before: {first_of(same)}"
                )
                skipped.append(
                    Skipped(
                        file.path, reason if file.form else "its text is there before"
                    )
                )
        if self.n_documents:
            n = sum(mark.count(1) for mark in marks)
            drawn, numbers = set(r.sample(range(n), min(n, self.n_documents))), count()
            marks = [
                bytearray(may and next(numbers) in drawn for may in mark)
                for mark in marks
            ]
        return [
            replace(file, chosen=bytes(mark)) if file.form else file
            for file, mark in zip(files, marks, strict=True)
            if any(mark)
        ]


EVERYTHING: Final = Sample()


def _size(documents: Iterable[TextFile]) -> int:
    return sum(document.size for document in documents)


def stretches(
    files: Iterable[TextFile], cut: Cut | None, size: int = STRETCH
) -> Iterator[list[TextFile]]:
    """The files in order: small ones together, about `size` bytes of them, and parts of large ones, each alone."""
    bundle: list[TextFile] = []
    for file in files:
        parts = _parts(file, cut, size)
        if bundle and (len(parts) > 1 or _size(bundle) + file.size > size):
            yield bundle
            bundle = []
        if len(parts) > 1:
            yield from ([part] for part in parts)
        else:
            bundle += parts
    if bundle:
        yield bundle


def _parts(file: TextFile, cut: Cut | None, size: int) -> list[TextFile]:
    """The parts of about `size` bytes, none of them empty, of a whole text that is large enough and can be cut, or the
    file.

    They ascend since a cut lies less than a block behind its offset, and `size` is no less than a block.
    """
    is_plain = (
        not (file.packing or file.form or file.address)
        and file.codec.startswith("utf-8")
        and file.end is None
    )
    if file.size < 2 * size or not is_plain or not cut:
        return [file]
    offsets = range(size, file.size - size // 2, size)
    cuts = [
        0,
        *filter(None, (_cut(file, offset, cut) for offset in offsets)),
        file.size,
    ]
    return (
        [file.part(start, end) for start, end in pairwise(cuts)]
        if len(cuts) > 2
        else [file]
    )


def _cut(file: TextFile, offset: int, cut: Cut) -> int:
    """The byte offset of the first safe cut after `offset`; 0 if there is none within one block."""
    try:
        with file.path.open("rb") as disk:
            disk.seek(offset)
            data = disk.read(BLOCK)
    except OSError:
        return 0  # whoever reads the text will meet the error, and report it
    begins = next(
        (i for i, byte in enumerate(data[:4]) if byte not in CONTINUATIONS), 0
    )
    text = data[begins:].decode(errors="replace")
    at = cut(text)
    exact = at < len(text) and "\ufffd" not in text[: at + 1]
    return offset + begins + len(text[:at].encode()) if exact else 0


def parsed_weights(
    arguments: Iterable[str], paths: Sequence[str]
) -> dict[str, Fraction]:
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
            raise OptionError(
                f"The weight {argument!r} is not of the form PATH=NUMBER with a number above 0."
            )
        if path not in paths and path not in (split_field(one)[0] for one in paths):
            raise OptionError(
                f"There is a weight for {path!r}, which is none of the paths; write it as there."
            )
        weights[path] = weight
    return weights


def files_by_weight(
    files: Iterable[TextFile], weights: Mapping[str, Fraction]
) -> list[tuple[tuple[TextFile, ...], Fraction]]:
    """Neighboring files of one weight together, in order, and how many times each of their pieces is counted.

    A file has the weight of the longest path that it is or lies below; 1 if there is none. A path may end in `::` and
    a field, and is then that of this field only.
    """
    roots = {os.path.abspath(path): weight for path, weight in weights.items()}

    def weight_of(file: TextFile) -> Fraction:
        path = Path(os.path.abspath(file.path))
        ways = (
            f"{place}{field}"
            for place in (path, *path.parents)
            for field in (f"::{file.field}", "")
        )
        return next((roots[way] for way in ways if way in roots), Fraction(1))

    return [(tuple(some), weight) for weight, some in groupby(files, key=weight_of)]
