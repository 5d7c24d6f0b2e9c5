"""Compare two tokenizers, A and B, on texts: which lines they encode differently, and which part of them causes it.

A *difference* is a stretch of a text between two neighboring offsets at which both tokenizers have a token boundary, if
the ids of A and B in it are not equal. So every token of a text is either in one difference or the same in both. Whole
documents are encoded, since a token or a piece may cross the end of a line. A difference belongs to the line in which it
begins.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, NamedTuple

from bpe_core.corpus.reading import OnRead, Reading, Skipped, TextFile
from bpe_core.difference.text_causes import TextCauses
from bpe_core.metrics.boundaries import encode_part, encode_with_ends
from bpe_core.metrics.disagreements import Position
from bpe_core.metrics.text_parts import TextDivider, TextPart
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import without_surrogates


class NamedText(NamedTuple):
    """A document and its name."""

    name: str
    blocks: Iterable[str]


@dataclass(slots=True)
class TextDifference:
    """A stretch of a text that A and B encode differently."""

    text: str  # U+FFFD replaces the bytes of incomplete characters in it
    a: tuple[int, ...]
    b: tuple[int, ...]
    name: str  # of the document in which it occurs the first time
    line: int  # counted from 1
    column: int  # characters before it in its line
    n_times: int = 1


@dataclass
class TextsCause:
    """The differences that one part of the tokenizers causes."""

    part: str  # of `PARTS`
    n_differences: int = 0
    n_lines: int = 0
    """Lines in which such a difference begins. There may be others in the same line."""
    first: list[TextDifference] = field(default_factory=list)
    """The first ones that are not equal, with the number of times that each occurs."""


@dataclass
class TextsCompared:
    """The differences between the ids of A and B on some texts."""

    n_texts: int = 0
    n_bytes: int = 0
    n_lines: int = 0
    n_different_lines: int = 0
    """Lines in which a difference begins."""
    n_tokens: tuple[int, int] = (0, 0)
    """All tokens of A, and of B."""
    causes: list[TextsCause] = field(default_factory=list)
    """The most frequent first."""

    @property
    def change(self) -> float:
        """Tokens of B / tokens of A - 1: 0.01 if B needs 1 % more tokens."""
        of_a, of_b = self.n_tokens
        return of_b / of_a - 1 if of_a else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the fields and `change`, as `bpescope diff --json` prints them. Names lose "n_": `n_lines` is "lines"."""
        return asdict(self, dict_factory=_json_object) | {"change": self.change}


def _json_object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name.removeprefix("n_"): value for name, value in fields}


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
    offsets at which both have a token boundary. It is counted once, in the line in which it begins. `TextCauses`
    describes the causes.

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
    for text in texts:
        comparison.add(text)
    return comparison.result()


class _TextsComparison:
    """Adds up the differences of texts."""

    def __init__(self, a: Tokenizer, b: Tokenizer, n_shown: int) -> None:
        self._tokenizers: Final = (a, b)
        self._n_shown: Final = n_shown
        self._divider: Final = TextDivider((a, b))
        self._text_causes: Final = TextCauses(a, b)
        self._compared: Final = TextsCompared()
        self._causes: Final[dict[str, TextsCause]] = {}
        self._last_lines: Final[dict[str, tuple[int, int]]] = {}
        """Part -> the index of the text, and the line, of the last difference that it causes."""
        self._known: Final[dict[tuple[object, ...], TextDifference]] = {}

    def add(self, text: NamedText) -> None:
        position = Position(line=1)
        for part in self._divider.parts(map(without_surrogates, text.blocks)):
            self._add_part(text.name, part, position)
        self._compared.n_texts += 1
        self._compared.n_lines += position.line - 1
        if position.column:
            self._compared.n_lines += 1  # the last line has no newline

    def _add_part(self, name: str, part: TextPart, position: Position) -> None:
        """Encode the next part of a text. Move `position` from its beginning to its end."""
        cuts = list(zip(self._tokenizers, part.before, part.behind, strict=True))
        ids_of_a, ids_of_b = (
            encode_part(tokenizer, part.text, before, behind)
            for tokenizer, before, behind in cuts
        )
        n_of_a, n_of_b = self._compared.n_tokens
        self._compared.n_tokens = (n_of_a + len(ids_of_a), n_of_b + len(ids_of_b))
        data = part.text.encode()
        self._compared.n_bytes += len(data)
        n_read = 0
        if ids_of_a != ids_of_b:
            a, b = (
                encode_with_ends(
                    tokenizer, part.text, before, behind, keeps_alignment=True
                )
                for tokenizer, before, behind in cuts
            )
            for stretch, cause in self._text_causes.in_part(a, b):
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
                self._count(difference, cause)
        position.move_past(data[n_read:])

    def _count(self, difference: TextDifference, part: str) -> None:
        """Count a difference that a part of the tokenizers causes. Differences come in the order of the texts."""
        cause = self._causes.setdefault(part, TextsCause(part))
        cause.n_differences += 1
        line = (self._compared.n_texts, difference.line)
        if line not in self._last_lines.values():
            self._compared.n_different_lines += 1
        if line != self._last_lines.get(part):
            cause.n_lines += 1
            self._last_lines[part] = line
        key = (part, difference.text, difference.a, difference.b)
        if key in self._known:
            self._known[key].n_times += 1
        elif len(cause.first) < self._n_shown:
            self._known[key] = difference
            cause.first.append(difference)

    def result(self) -> TextsCompared:
        causes = self._causes.values()
        by_frequency = sorted(causes, key=lambda cause: -cause.n_differences)
        return replace(self._compared, causes=by_frequency)
