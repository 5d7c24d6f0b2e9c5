"""The pieces of a corpus and how often each occurs: all that training needs of it, in far less memory than the text."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, filterfalse, pairwise, repeat
from typing import Final, Self

from bpe_core.bpe import utf8
from bpe_core.errors import TextError
from bpe_core.patterns import splitter
from bpe_core.reading import BLOCK, Skipped, TextFile, Unreadable

LOOK_EVERY: Final = 0.02
"""Seconds after which progress is told, and whether to stop is asked, again."""

_BETWEEN_TEXTS: Final = b"\xff"
"""Goes between texts into their common digest: a byte that no UTF-8 holds."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is kept of a document after its pieces are counted."""

    name: str
    bytes: int
    """Its size in UTF-8, unpacked, without byte order mark."""
    characters: int
    sha256: str
    """Of the text in UTF-8, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading has come."""

    done: int
    """Bytes on disk."""
    total: int
    """Bytes on disk, all files together."""
    name: str
    """The file being read."""


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
        self._splitter = splitter(pattern)
        self._starts: list[int] = []
        """Document number -> how many pieces had been seen before it; as they are in order, this tells its own."""
        self._second: dict[str, int] = {}
        """Piece -> the second document it occurs in, while there is no third."""
        self._common: set[str] = set()
        """Pieces that occur in three documents or more."""

    @classmethod
    def of(cls, texts: str | Iterable[str], pattern: str = "gpt4") -> Self:
        """Count a text, or texts each of which is a document of its own. A lone surrogate counts as U+FFFD."""
        counts = cls(pattern)
        measure = _Measure()
        for number, text in enumerate([texts] if isinstance(texts, str) else texts):
            if not isinstance(text, str):
                raise TextError(f"Text {number + 1} is of type {type(text).__name__}, not str; decode it first.")
            if number:
                measure.digest.update(_BETWEEN_TEXTS)
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
    ) -> Self:
        """Count files in blocks, each a document, never holding a whole text (unless the pattern needs it whole).

        `progress` and `stop` are called at most every 20 ms; if `stop` says so, what was read until then is returned.
        TextError if a file that was named directly proves unreadable, or if all do.
        """
        counts = cls(pattern)
        files = tuple(files)
        watch = _Watch(sum(file.size for file in files), progress, stop)
        for file in files:
            measure = _Measure()
            try:
                counts._add(measure.over(watch.over(file)))
            except _Stopped:
                counts.stopped = True
                return counts
            except Unreadable as error:
                if file.required:
                    raise
                counts.skipped.append(Skipped(file.path, error.reason))
            else:
                counts._keep(measure.source(file.name))
        if files and not counts.n_documents:
            raise TextError(f"None of the files could be read: {counts.skipped[0].reason}.")
        watch.finish()
        return counts

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
        for pieces in self._splitter.pieces(blocks):
            counted.update(pieces)
        self._note_documents(counted)
        if self.pieces:
            before = self.pieces.get
            for piece, count in counted.items():
                self.pieces[piece] = before(piece, 0) + count
        else:
            self.pieces = dict(counted)
        self.n_pieces += counted.total()
        self.n_documents += 1

    def _note_documents(self, counted: Counter[str]) -> None:
        """Remember where pieces occur. What is common already is passed over at C speed, so this stays cheap."""
        self._starts.append(len(self.pieces))
        for piece in filterfalse(self._common.__contains__, counted):
            if piece in self._second:
                del self._second[piece]
                self._common.add(piece)
            elif piece in self.pieces:
                self._second[piece] = self.n_documents

    def _keep(self, source: Source) -> None:
        self.sources.append(source)
        self.n_bytes += source.bytes
        self.n_characters += source.characters


class _Measure:
    """Sizes and digest of a text that passes by in blocks."""

    def __init__(self) -> None:
        self.bytes = 0
        self.characters = 0
        self.digest = hashlib.sha256()

    def over(self, blocks: Iterable[str]) -> Iterator[str]:
        for block in blocks:
            data = block.encode()
            self.bytes += len(data)
            self.characters += len(block)
            self.digest.update(data)
            yield block

    def source(self, name: str) -> Source:
        return Source(name, self.bytes, self.characters, self.digest.hexdigest())


class _Stopped(Exception):
    """Somebody asked to stop."""


class _Watch:
    """Tells progress and asks whether to stop, now and then, while files are read."""

    def __init__(
        self, total: int, progress: Callable[[Progress], None] | None, stop: Callable[[], bool] | None
    ) -> None:
        self.total = total
        self.progress = progress or (lambda _: None)
        self.stop = stop or (lambda: False)
        self.before = 0
        """Bytes of the files read before this one."""
        self.position = 0
        """Bytes read of this one."""
        self.next_look = 0.0

    def over(self, file: TextFile) -> Iterator[str]:
        for block in file.blocks(self._reached):
            now = time.monotonic()
            if now >= self.next_look:
                self.next_look = now + LOOK_EVERY
                self.progress(Progress(self.before + min(self.position, file.size), self.total, file.name))
                if self.stop():
                    raise _Stopped
            yield block
        self.before += file.size

    def _reached(self, position: int) -> None:
        self.position = position  # and no more: an error of `progress` must not look like one of the file

    def finish(self) -> None:
        self.progress(Progress(self.total, self.total, ""))
