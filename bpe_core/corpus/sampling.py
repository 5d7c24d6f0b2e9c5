"""Choose what is counted of a corpus: a random sample without repeated documents, and weights of paths."""

import os
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core.corpus.reading import (
    OnRead,
    Reading,
    Skipped,
    TextFile,
    Unreadable,
    first_three,
    split_field,
)
from bpe_core.corpus.unpacking import BLOCK
from bpe_core.errors import OptionError, TextError
from bpe_core.patterns import Splitter
from bpe_core.utf8 import CONTINUATIONS
from bpe_core.weighted import exact_fraction

STRETCH: Final = 1 << 16
"""Bytes on disk of a stretch, about. Not less than `BLOCK`."""

Cut = Callable[[str], int]
"""Returns the first index above 0 between two pieces of a text; its length if nothing is found."""


class _MarkedDocuments(NamedTuple):
    """The documents of a file, some of which are marked for reading."""

    marks: bytearray
    """A byte for each document: 1 if it is marked."""
    digests: set[bytes]
    """The digests of all documents, if repeated ones are left out."""
    repeated: list[str]
    """The numbers of documents that occurred before."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Which part of a corpus is read."""

    share: Fraction = Fraction(1)
    """The fraction of the bytes of texts, and the probability that a row is read."""
    seed: int = 0
    """The seed of the choice, which is the same on every computer."""
    n_documents: int | None = None
    """How many documents are read, if it is not a share; each subset is as likely."""
    dedupe: bool = False
    """Whether of documents with the same digest only the first is read."""
    skip_bad: bool = False
    """Whether rows that are not texts and files that cannot be read are left out."""

    def __post_init__(self) -> None:
        """Raise `OptionError` if the share or the number is out of range, or both are given."""
        is_valid = 0 < self.share <= 1
        if self.n_documents is not None:
            is_valid = self.share == 1 and self.n_documents >= 1
        if not is_valid:
            raise OptionError(
                "A sample is either a share, above 0 and at most 1, or a number of documents."
            )

    def __str__(self) -> str:
        """Describe the sample for people and for `parsed`; "" if everything is read."""
        parts: list[str] = []
        if self.n_documents:
            noun = "document" if self.n_documents == 1 else "documents"
            parts.append(f"{self.n_documents} {noun}, seed {self.seed}")
        elif self.share < 1:
            parts.append(f"{self.share} of the bytes, seed {self.seed}")
        if self.dedupe:
            parts.append("no document twice")
        if self.skip_bad:
            parts.append("no bad rows")
        return ", ".join(parts)

    @classmethod
    def parsed(cls, description: str) -> "Sample":
        """Return the sample that `str` describes with this text; `EVERYTHING` for any other text."""
        amount = r"(?P<share>\d+/\d+) of the bytes|(?P<number>\d+) documents?"
        part = rf"(?:{amount}), seed (?P<seed>-?\d+)"
        filters = r"(?P<dedupe>no document twice(?:, |$))?(?P<skip_bad>no bad rows)?"
        found = re.fullmatch(rf"(?:{part}(?:, |$))?{filters}", description)
        if not found:
            return EVERYTHING
        return cls(
            share=Fraction(found["share"] or 1),
            seed=int(found["seed"] or 0),
            n_documents=int(found["number"]) if found["number"] else None,
            dedupe=bool(found["dedupe"]),
            skip_bad=bool(found["skip_bad"]),
        )

    def documents(
        self,
        files: Iterable[TextFile],
        splitter: Splitter,
        progress: OnRead | None = None,
        skipped: list[Skipped] | None = None,
    ) -> list[TextFile]:
        """Return the sample of a corpus in its order: files, and parts of files.

        To choose documents, files with rows are read now, and again when they are counted. To find
        repeated documents, all files are read, and 16 bytes of each document are kept.

        Args:
            files: The corpus.
            splitter: Texts are cut between two of its pieces.
            progress: Called while files are read. If it raises an error, reading ends.
            skipped: Repeated documents and unreadable files are added to it.

        Raises:
            TextError: The sample is empty, or a `required` file cannot be read.
        """
        files = list(files)
        chooses_rows = self.share < 1 and any(file.form for file in files)
        if self.dedupe or self.n_documents or chooses_rows:
            left_out = [] if skipped is None else skipped
            files = self._choose_documents(files, Reading(files, progress), left_out)
            if not files:
                raise TextError(
                    "The sample has no document of these files; "
                    "choose a larger one, or another seed."
                )
        if self.share == 1:
            return files
        # Some patterns have no places where every text may be cut.
        cut = partial(splitter.cut, at_least=1) if splitter.blockwise else None
        return self._choose_stretches(files, cut)

    def _choose_stretches(
        self, files: list[TextFile], cut: Cut | None
    ) -> list[TextFile]:
        """Choose random stretches of texts, a share of the bytes. Keep files with rows."""
        all_stretches: list[list[TextFile]] = []
        for _, group in groupby(files, key=lambda file: bool(file.form)):
            all_stretches += stretches(group, cut)
        sizes: dict[int, int] = {}
        for number, stretch in enumerate(all_stretches):
            if not stretch[0].form:
                sizes[number] = _size(stretch)
        n_left = self.share * sum(sizes.values())
        in_random_order = list(sizes)
        random.Random(self.seed).shuffle(in_random_order)
        chosen: set[int] = set()
        for number in in_random_order:
            if chosen and n_left <= 0:  # at least one stretch is chosen
                break
            chosen.add(number)
            n_left -= sizes[number]
        sample: list[TextFile] = []
        for number, stretch in enumerate(all_stretches):
            if number in chosen or stretch[0].form:
                sample += stretch
        return sample

    def _choose_documents(
        self, files: list[TextFile], reading: Reading, skipped: list[Skipped]
    ) -> list[TextFile]:
        """Return the files that have documents to read, with these marked in `chosen`."""
        rng = random.Random(self.seed)
        seen: set[bytes] = set()
        marks: list[bytearray] = []
        for file in files:
            try:
                found = self._mark_documents(file, reading, rng, seen)
            except Unreadable as error:
                if file.required:
                    raise
                skipped.append(Skipped(file.path, error.reason))
                marks.append(bytearray())
                continue
            marks.append(found.marks)
            seen |= found.digests
            if found.repeated:
                reason = "its text is a repeat of an earlier one"
                if file.form:
                    places = first_three(found.repeated)
                    reason = f"{len(found.repeated):,} of its documents are repeats: {places}"
                skipped.append(Skipped(file.path, reason))
        if self.n_documents:
            _draw(marks, self.n_documents, rng)
        chosen_files: list[TextFile] = []
        for file, file_marks in zip(files, marks, strict=True):
            if any(file_marks):
                chosen = bytes(file_marks) if file.form else None
                chosen_files.append(replace(file, chosen=chosen))
        return chosen_files

    def _mark_documents(
        self, file: TextFile, reading: Reading, rng: random.Random, seen: set[bytes]
    ) -> _MarkedDocuments:
        """Read a file, and mark its documents: only new ones, if `dedupe`, and a share of its rows.

        Args:
            file: The next file of `reading`.
            reading: Reports progress.
            rng: Draws the rows.
            seen: The digests of documents in earlier files.
        """
        found = _MarkedDocuments(bytearray(), set(), [])
        for number, blocks in enumerate(reading.documents(file), 1):
            is_read = True
            if self.dedupe:
                digest = _digest(blocks)
                if digest in seen or digest in found.digests:
                    is_read = False
                    found.repeated.append(f"{number:,}")
                found.digests.add(digest)
            if is_read and file.form:
                is_read = rng.random() < self.share
            found.marks.append(is_read)
        return found


EVERYTHING: Final = Sample()
"""The sample that is the whole corpus."""


def _digest(blocks: Iterable[str]) -> bytes:
    digest = blake2b(digest_size=16)
    for block in blocks:
        digest.update(block.encode())
    return digest.digest()


def _draw(marks: list[bytearray], n_documents: int, rng: random.Random) -> None:
    """Clear all but `n_documents` of the marks, at random."""
    n_marked = sum(file_marks.count(1) for file_marks in marks)
    drawn = set(rng.sample(range(n_marked), min(n_marked, n_documents)))
    number = 0
    for file_marks in marks:
        for document, is_marked in enumerate(file_marks):
            if is_marked:
                file_marks[document] = number in drawn
                number += 1


def _size(files: Iterable[TextFile]) -> int:
    """Return the bytes on disk of files and parts of files."""
    return sum(file.size for file in files)


def stretches(
    files: Iterable[TextFile], cut: Cut | None, size: int = STRETCH
) -> Iterator[list[TextFile]]:
    """Yield the files in order: small files together, and parts of large files, each alone.

    Args:
        files: The files.
        cut: Finds where a large text may be cut; None if it cannot be cut.
        size: Bytes on disk of a stretch, about; not less than `BLOCK`.
    """
    small_files: list[TextFile] = []
    for file in files:
        parts = _parts(file, cut, size)
        is_large = len(parts) > 1
        if small_files and (is_large or _size(small_files) + file.size > size):
            yield small_files
            small_files = []
        if is_large:
            for part in parts:
                yield [part]
        else:
            small_files.append(file)
    if small_files:
        yield small_files


def _parts(file: TextFile, cut: Cut | None, size: int) -> list[TextFile]:
    """Return the parts of a large text, about `size` bytes each, or the file if it has no cuts."""
    is_special = file.packing or file.form or file.address or file.end
    is_utf8 = file.codec.startswith("utf-8")
    if not cut or is_special or not is_utf8 or file.size < 2 * size:
        return [file]
    # A cut is less than a block after its offset, so the cuts ascend.
    offsets = range(size, file.size - size // 2, size)
    cuts = [_find_cut(file, offset, cut) for offset in offsets]
    if not any(cuts):
        return [file]
    borders = [0, *filter(None, cuts), file.size]
    return [file.part(start, end) for start, end in pairwise(borders)]


def _find_cut(file: TextFile, offset: int, cut: Cut) -> int:
    """Return the byte offset of the first cut after `offset`; 0 if it is not within one block."""
    try:
        with file.path.open("rb") as disk:
            disk.seek(offset)
            data = disk.read(BLOCK)
    except OSError:
        return 0  # the error is reported when the text is read
    n_stray = 0  # bytes of a character that began before
    for byte in data[:4]:
        if byte not in CONTINUATIONS:
            break
        n_stray += 1
    text = data[n_stray:].decode(errors="replace")
    index = cut(text)
    if index == len(text) or "\ufffd" in text[: index + 1]:
        return 0
    return offset + n_stray + len(text[:index].encode())


def parsed_weights(
    arguments: Iterable[str], paths: Sequence[str]
) -> dict[str, Fraction]:
    """Return the weights in arguments such as "notes/=2.5" or "book.txt=1/3", by path.

    Args:
        arguments: Values of --weight.
        paths: The paths of the corpus; after each, `::` and a field may follow.

    Raises:
        OptionError: An argument is not valid, or not for one of the paths.

    >>> parsed_weights(["a=2.5"], ["a", "b"])
    {'a': Fraction(5, 2)}
    """
    known_paths = set(paths)
    known_paths.update(split_field(path)[0] for path in paths)
    weights: dict[str, Fraction] = {}
    for argument in arguments:
        path, equals, number = argument.rpartition("=")
        try:
            weight = exact_fraction(number)
        except ValueError:
            weight = Fraction(0)
        if not equals or weight <= 0:
            raise OptionError(
                f"Invalid weight {argument!r}; write PATH=NUMBER, with a number above 0."
            )
        if path not in known_paths:
            raise OptionError(
                f"Unknown path {path!r} in a weight; write it exactly like one of the texts."
            )
        weights[path] = weight
    return weights


def files_by_weight(
    files: Iterable[TextFile], weights: Mapping[str, Fraction]
) -> list[tuple[tuple[TextFile, ...], Fraction]]:
    """Group neighboring files of one weight, in order. Return the groups with their weights.

    Args:
        files: The files.
        weights: Path -> how many times each piece below it is counted. A path may end in `::` and a
            field, and is then only for this field. The longest path that is or holds a file
            decides; without one, the weight is 1.
    """
    weight_at = {os.path.abspath(path): weight for path, weight in weights.items()}

    def weight_of(file: TextFile) -> Fraction:
        path = Path(os.path.abspath(file.path))
        for place in [path, *path.parents]:
            for name in (f"{place}::{file.field}", str(place)):
                if name in weight_at:
                    return weight_at[name]
        return Fraction(1)

    groups = groupby(files, key=weight_of)
    return [(tuple(group), weight) for weight, group in groups]
