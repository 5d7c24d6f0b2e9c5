"""The events that carry what an audit, a comparison or a `why` has found; `events` says when they come."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from bpe_core.metrics.comparison import ComparedText


@dataclass(frozen=True, slots=True)
class Measured:
    """A part of one column of what an audit measured of every token; see `bpe_core.auditing.findings`."""

    column: str
    """One of `bpe_core.auditing.findings.COLUMNS`."""
    ids: list[int]
    """The tokens that have one; others may follow in another event."""
    values: list[float]
    """A number for each of them."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A batch of verdicts on tokens with findings, each the object of `audit --jsonl --all-tokens`.

    Over all batches of an audit, the highest score comes first.
    """

    rows: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """A batch of the texts that tokenizers are compared on, in the order in which they were encoded."""

    rows: list[list[Any]]
    """[path, folder, number of the first line, name, bytes, characters, words, tokens, whole words] each, the last two
    with a number for each tokenizer."""

    @classmethod
    def of(cls, texts: Iterable["ComparedText"]) -> Self:
        """The batch that carries these texts."""
        return cls([[text.path, text.folder, text.line, *astuple(text.amounts)] for text in texts])

    def texts(self) -> "list[ComparedText]":
        """The texts this batch carries."""
        from bpe_core.metrics.comparison import Amounts, ComparedText

        return [
            ComparedText(Amounts(name, n_bytes, n_characters, n_words, tuple(tokens), tuple(whole)), path, folder, line)
            for path, folder, line, name, n_bytes, n_characters, n_words, tokens, whole in self.rows
        ]


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found over all texts."""

    found: dict[str, Any]
    """The object that `compare --json` prints, without its "texts"."""


@dataclass(frozen=True, slots=True)
class Explained:
    """Why a merge was chosen, and the pairs after it."""

    body: dict[str, Any]
    """What `Explanation.to_json` makes."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the pair of that merge stands in the corpus; follows `Explained`, unless the next step is asked for."""

    step: int
    rows: list[dict[str, Any]]
    """The fields of `CorpusPlace` each."""
