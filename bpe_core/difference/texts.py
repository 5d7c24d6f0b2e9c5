"""Compare two tokenizers, A and B, on texts: which lines they encode differently, and which part of them causes it.

A *difference* is a stretch of a text between two neighboring offsets at which both tokenizers have a token boundary, if
the ids of A and B in it are not equal. So every token of a text is either in one difference or the same in both. Whole
documents are encoded, since a token or a piece may cross the end of a line. A difference belongs to the line in which it
begins.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from bpe_core.corpus.reading import OnRead, Reading, Skipped, TextFile
from bpe_core.difference.records import PARTS
from bpe_core.difference.stretches import differences
from bpe_core.difference.text_causes import CausesInPart
from bpe_core.live.change import Cut
from bpe_core.metrics.boundaries import encode_part, encode_with_ends
from bpe_core.metrics.disagreements import Position
from bpe_core.metrics.text_parts import TextDivider, TextPart
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import without_surrogates


class NamedText(NamedTuple):
    """A document and its name."""

    name: str
    blocks: Iterable[str]


class TextDifference(NamedTuple):
    """A stretch of a text that A and B encode differently."""

    text: str  # U+FFFD replaces the bytes of incomplete characters in it
    a: tuple[int, ...]
    b: tuple[int, ...]
    name: str  # of the document in which it occurs the first time
    line: int  # counted from 1
    column: int  # characters before it in its line
    n_times: int = 1


class TextsCause(NamedTuple):
    """The differences that one part of the tokenizers causes."""

    part: str  # of `PARTS`
    n_differences: int
    n_lines: int
    """Lines in which such a difference begins. There may be others in the same line."""
    first: Sequence[TextDifference]
    """The first ones that are not equal, with the number of times that each occurs."""


@dataclass(frozen=True)
class TextsCompared:
    """The differences between the ids of A and B on some texts."""

    n_texts: int
    n_different_texts: int
    n_bytes: int
    n_lines: int
    n_different_lines: int
    """Lines in which a difference begins."""
    n_tokens: tuple[int, int]
    """All tokens of A, and of B."""
    causes: tuple[TextsCause, ...]
    """The most frequent first."""

    @property
    def change(self) -> float:
        """Tokens of B / tokens of A - 1: 0.01 if B needs 1 % more tokens."""
        of_a, of_b = self.n_tokens
        return of_b / of_a - 1 if of_a else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return an object of texts, lines, tokens and causes, as `bpescope diff --json` prints it."""
        return {
            "texts": self.n_texts,
            "different_texts": self.n_different_texts,
            "lines": self.n_lines,
            "different_lines": self.n_different_lines,
            "tokens": list(self.n_tokens),
            "change": self.change,
            "causes": [
                {
                    "part": cause.part,
                    "differences": cause.n_differences,
                    "lines": cause.n_lines,
                    "first": [
                        {
                            "text": difference.text,
                            "a": list(difference.a),
                            "b": list(difference.b),
                            "in": difference.name,
                            "line": difference.line,
                            "column": difference.column,
                            "count": difference.n_times,
                        }
                        for difference in cause.first
                    ],
                }
                for cause in self.causes
            ],
        }


def read_texts(
    files: Iterable[TextFile],
    progress: OnRead | None = None,
    skipped: list[Skipped] | None = None,
) -> Iterator[NamedText]:
    """Yield the documents of files for `compare_texts`. Rows are named "file.jsonl row 3".

    Args:
        files: The files, as `find_files` returns them.
        progress: Called while files are read. If it raises an error, reading ends.
        skipped: Rows that are left out are added to it.

    Raises:
        Unreadable: A file can't be read.
    """
    files = list(files)
    reading = Reading(files, progress)
    for file in files:
        for row, blocks in enumerate(reading.documents(file, skipped), 1):
            name = f"{file.name} row {row:,}" if file.form else file.name
            yield NamedText(name, blocks)


def compare_texts(
    a: Tokenizer, b: Tokenizer, texts: Iterable[NamedText], *, n_shown: int = 5
) -> TextsCompared:
    """Encode texts with two tokenizers, and count the lines that they encode differently, by cause.

    Each text is encoded as a whole, with special tokens as ordinary text. A difference begins and ends at neighboring
    offsets at which both have a token boundary. It is counted once, in the line in which it begins. Its cause is the
    first of these that applies:

    - "ids": the tokens have the same bytes, none is an added token, and only their ids differ;
    - "added tokens": one of its pieces is an added token in A or B;
    - "normalizer": the texts of the pieces differ, and not only because a split drops some text;
    - "split pattern": the pieces differ;
    - "byte fallback": an unknown token is in it;
    - "vocabulary": a token exists only in A or only in B;
    - "merges": both have all tokens, but merge them differently.

    The pieces are those between the nearest places before and after it where both begin a piece.

    A long text is divided where both tokenizers split every text, so that only a part of it is in memory.
    Parts with equal ids take the time of encoding; others about three times as long.

    Args:
        a: The first tokenizer.
        b: The second tokenizer.
        texts: The documents, such as those of `read_texts`.
        n_shown: Maximum number of different differences to return for each cause, the first ones.

    Raises:
        UnknownTokenError: A character has no token in one of the tokenizers.
        PatternError: A pattern takes too long.

    Examples:
        >>> from bpe_core import train
        >>> short = train("low lower lowest", vocab_size=258)
        >>> long = train("low lower lowest", vocab_size=259)
        >>> compared = compare_texts(short, long, [NamedText("note", ["low\\nlow low"])])
        >>> compared.n_tokens, compared.n_different_lines, compared.causes[0].part
        ((5, 4), 1, 'vocabulary')
    """
    comparison = _TextsComparison(a, b, n_shown)
    for name, blocks in texts:
        comparison.add(name, blocks)
    return comparison.result()


class _CauseCounts:
    """Counts the differences of one cause."""

    def __init__(self, n_shown: int) -> None:
        self.n_differences = 0
        self.n_lines = 0
        self._last_line: tuple[int, int] | None = None
        self._n_shown: Final = n_shown
        self._first: Final[dict[tuple[object, ...], TextDifference]] = {}

    def add(self, difference: TextDifference, number: int) -> None:
        """Add a difference in the text with this number. Differences come in the order of the texts."""
        self.n_differences += 1
        line = (number, difference.line)
        if line != self._last_line:
            self.n_lines += 1
            self._last_line = line
        key = difference[:3]
        known = self._first.get(key)
        if known is not None:
            self._first[key] = known._replace(n_times=known.n_times + 1)
        elif len(self._first) < self._n_shown:
            self._first[key] = difference

    def result(self, part: str) -> TextsCause:
        first = list(self._first.values())
        return TextsCause(part, self.n_differences, self.n_lines, first)


class _TextsComparison:
    """Adds up the differences of texts."""

    def __init__(self, a: Tokenizer, b: Tokenizer, n_shown: int) -> None:
        self._tokenizers: Final = (a, b)
        self._divider: Final = TextDivider((a, b))
        self._causes: Final = {part: _CauseCounts(n_shown) for part in PARTS}
        self._lines: Final = _CauseCounts(n_shown=0)
        self._n_texts = 0
        self._n_different_texts = 0
        self._n_bytes = 0
        self._n_lines = 0
        self._n_tokens = [0, 0]

    def add(self, name: str, blocks: Iterable[str]) -> None:
        position = Position(line=1)
        n_before = self._lines.n_differences
        for part in self._divider.parts(map(without_surrogates, blocks)):
            self._add_part(name, part, position)
        self._n_texts += 1
        self._n_lines += position.line - 1
        if position.column:
            self._n_lines += 1  # the last line has no newline
        if self._lines.n_differences > n_before:
            self._n_different_texts += 1

    def _add_part(self, name: str, part: TextPart, position: Position) -> None:
        """Encode the next part of a text. Move `position` from its beginning to its end."""
        ids = [
            encode_part(tokenizer, part.text, before, behind)
            for tokenizer, before, behind in self._with_cuts(part)
        ]
        for index, part_ids in enumerate(ids):
            self._n_tokens[index] += len(part_ids)
        data = part.text.encode()
        self._n_bytes += len(data)
        n_read = 0
        if ids[0] != ids[1]:
            a, b = (
                encode_with_ends(
                    tokenizer, part.text, before, behind, keeps_alignment=True
                )
                for tokenizer, before, behind in self._with_cuts(part)
            )
            causes = CausesInPart(self._tokenizers, a, b)
            for stretch in differences(a, b):
                position.move_past(data[n_read : stretch.start])
                n_read = stretch.start
                difference = TextDifference(
                    text=data[stretch.start : stretch.end].decode(errors="replace"),
                    a=stretch.a,
                    b=stretch.b,
                    name=name,
                    line=position.line,
                    column=position.column,
                )
                self._lines.add(difference, self._n_texts)
                self._causes[causes.of(stretch)].add(difference, self._n_texts)
        position.move_past(data[n_read:])

    def _with_cuts(
        self, part: TextPart
    ) -> Iterator[tuple[Tokenizer, Cut | None, Cut | None]]:
        return zip(self._tokenizers, part.before, part.behind, strict=True)

    def result(self) -> TextsCompared:
        causes = [
            counts.result(part)
            for part, counts in self._causes.items()
            if counts.n_differences
        ]
        causes.sort(key=lambda cause: -cause.n_differences)
        of_a, of_b = self._n_tokens
        return TextsCompared(
            n_texts=self._n_texts,
            n_different_texts=self._n_different_texts,
            n_bytes=self._n_bytes,
            n_lines=self._n_lines,
            n_different_lines=self._lines.n_lines,
            n_tokens=(of_a, of_b),
            causes=tuple(causes),
        )
