"""The pieces of a corpus and how often each occurs: all that training needs of it, in far less memory than the text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, pairwise, repeat
from operator import add, not_
from typing import Any, Final, Self

from bpe_core.bpe import utf8
from bpe_core.corpus.reading import BLOCK, Skipped, TextFile, Unreadable
from bpe_core.corpus.sources import Measure, Source
from bpe_core.corpus.watch import Progress, Stopped, Watch
from bpe_core.errors import TextError
from bpe_core.patterns import splitter

__all__ = ["Counts", "Progress", "Source"]


MANY_HANDS: Final = 1 << 23
"""Bytes on disk from which on it pays to start more processes: below 4 to 5 MB, starting them costs what they save."""


class Counts:
    """How often each piece of a corpus occurs, in the order in which the pieces first appear.

    >>> Counts.of("low low lower", "gpt4").pieces
    {'low': 1, ' low': 1, ' lower': 1}
    """

    def __init__(self, pattern: str) -> None:
        """Nothing counted yet; PatternError if `pattern` is none. Use `Counts.of` or `Counts.read`."""
        self.pattern = pattern
        """The split pattern, as it was given."""
        self.pieces: dict[str, int] = {}
        """Piece -> how often it occurs."""
        self.sources: list[Source] = []
        """One for each file read, by document number; a single one for all texts that were given as such."""
        self.skipped: list[Skipped] = []
        """Files that turned out to be unreadable further on; nothing of them is counted."""
        self.stopped = False
        """Whether reading was stopped before the end; documents counted until then are counted whole."""
        self.n_documents = 0
        self.n_bytes = 0
        """Of the texts in UTF-8."""
        self.n_characters = 0
        self.n_pieces = 0
        """With repetition."""
        self.splitter = splitter(pattern)
        """What cuts texts into pieces."""
        self._starts: list[int] = []
        """Document number -> how many pieces had been seen before it; as they are in order, this tells its own."""
        self._second: dict[str, int] = {}
        """Piece -> the second document it occurs in, while there is no third."""
        self._common: set[str] = set()
        """Pieces that occur in three documents or more."""

    def __getstate__(self) -> dict[str, Any]:
        """All but the splitter, which every process makes for itself."""
        return {name: value for name, value in vars(self).items() if name != "splitter"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, splitter=splitter(state["pattern"]))

    @classmethod
    def of(cls, texts: str | Iterable[str], pattern: str = "gpt4") -> Self:
        """Count a text, or texts each of which is a document of its own. A lone surrogate counts as U+FFFD."""
        counts = cls(pattern)
        measure = Measure()
        for number, text in enumerate([texts] if isinstance(texts, str) else texts):
            if not isinstance(text, str):
                raise TextError(f"Text {number + 1} is of type {type(text).__name__}, not str; decode it first.")
            if number:
                measure.next_text()
            whole = text if text.isascii() else utf8(text).decode()
            counts._add(measure.over(whole[i : i + BLOCK] for i in range(0, len(whole), BLOCK)))
        counts._keep(measure.source("text" if isinstance(texts, str) else f"{counts.n_documents:,} texts"))
        return counts

    @classmethod
    def read(
        cls,
        files: Iterable[TextFile],
        pattern: str = "gpt4",
        *,
        progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] | None = None,
        processes: int | None = None,
    ) -> Self:
        """Count files in blocks, each a document, never holding a whole text (unless the pattern needs it whole).

        `progress` and `stop` are called at most every 20 ms; if `stop` says so, what was read until then is returned.
        What is large is counted by several `processes` (None: as many as can work at once), with the same result.
        TextError if a file that was named directly proves unreadable, or if all do.
        """
        counts = cls(pattern)
        files = tuple(files)
        watch = Watch(sum(file.size for file in files), progress, stop)
        try:
            if watch.total >= MANY_HANDS and counts.splitter.source and processes != 1:
                from bpe_core.corpus.crew import read_together  # late: most corpora are small

                read_together(counts, files, watch, processes)
            else:
                for file in files:
                    counts.add_file(file, watch.over(file))
        except Stopped:
            counts.stopped = True
            return counts
        if files and not counts.n_documents:
            raise TextError(f"None of the files could be read: {counts.skipped[0].reason}.")
        watch.finish()
        return counts

    def add_file(self, file: TextFile, blocks: Iterable[str]) -> None:
        """Count one more document, the `blocks` of a file. If it proves unreadable, it is skipped, or Unreadable."""
        measure = Measure()
        try:
            self._add(measure.over(blocks))
        except Unreadable as error:
            self.skip(file, error)
        else:
            self._keep(measure.source(file.name))

    def skip(self, file: TextFile, error: Unreadable) -> None:
        """Do without a file, unless somebody asked for this very one."""
        if file.required:
            raise error
        self.skipped.append(Skipped(file.path, error.reason))

    def append(self, other: "Counts") -> None:
        """Take in the counts of the documents that follow, as if they had been counted here."""
        self._note_documents(other)
        self._starts += self._new_starts(other)
        self._sum(other)
        self.sources += other.sources
        self.skipped += other.skipped
        self.n_documents += other.n_documents
        self.n_bytes += other.n_bytes
        self.n_characters += other.n_characters

    def go_on(self, part: "Counts") -> None:
        """Take in the counts of what follows of the same, single document; `is_of` tells its source."""
        self._sum(part)

    def is_of(self, source: Source) -> None:
        """Say which single document these are the counts of."""
        self.sources, self.n_bytes, self.n_characters = [source], source.bytes, source.characters

    def name_of(self, document: int) -> str:
        """What to call a document, numbered from 0."""
        one_each = len(self.sources) == self.n_documents
        return self.sources[document].name if one_each else f"text {document + 1:,}"

    def first_documents(self) -> Iterator[int]:
        """For each of `pieces`, in their order, the number of the document it appeared in first."""
        spans = pairwise((*self._starts, len(self.pieces)))
        return chain.from_iterable(repeat(document, end - start) for document, (start, end) in enumerate(spans))

    def few_documents(self) -> dict[str, tuple[int, ...]]:
        """Piece -> the one or two documents it occurs in. A piece that is not in here occurs in three or more."""
        return {
            piece: (first, self._second[piece]) if piece in self._second else (first,)
            for piece, first in zip(self.pieces, self.first_documents(), strict=True)
            if piece not in self._common
        }

    def _add(self, blocks: Iterable[str]) -> None:
        """Count one document: by itself first, so that nothing of it stays if it cannot be read to its end."""
        counted: Counter[str] = Counter()
        for pieces in self.splitter.pieces(blocks):
            counted.update(pieces)
        document = type(self)(self.pattern)
        document.pieces = counted
        document.n_pieces = counted.total()
        document.n_documents = 1
        document._starts = [0]
        self.append(document)

    def _sum(self, other: "Counts") -> None:
        """Add the other's counts to these; in one sweep that never leaves C, as this happens for every document."""
        here, there = self.pieces, other.pieces
        here.update(zip(there, map(add, map(here.get, there, repeat(0)), there.values()), strict=True))
        self.n_pieces += other.n_pieces

    def _new_starts(self, other: "Counts") -> Iterator[int]:
        """For each document of the other, how many pieces will have been seen before it."""
        are_new = map(not_, map(self.pieces.__contains__, other.pieces))
        n_known = len(self.pieces)
        for before, start in pairwise((0, *other._starts)):
            n_known += sum(islice(are_new, start - before))
            yield n_known

    def _note_documents(self, other: "Counts") -> None:
        """Remember where pieces occur. What is common already is passed over first, so this stays cheap."""
        common, second, pieces = self._common, self._second, self.pieces
        for piece, first in zip(other.pieces, other.first_documents(), strict=True):
            if piece in common:
                continue
            known = piece in pieces
            if piece in other._common or (known and (piece in second or piece in other._second)):
                second.pop(piece, None)
                common.add(piece)
            elif known:
                second[piece] = self.n_documents + first
            elif piece in other._second:
                second[piece] = self.n_documents + other._second[piece]

    def _keep(self, source: Source) -> None:
        self.sources.append(source)
        self.n_bytes += source.bytes
        self.n_characters += source.characters
