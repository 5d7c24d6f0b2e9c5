"""Token counts of a corpus: occurrences left in the tokenized corpus, those that later merges consumed, by document.

Two sources, both exact. Counted pieces: each unique piece is encoded once and weighted with how often it occurs. Or the
training record, from which `bpe_core.explain.token_uses` follows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Self

from bpe_core.auditing.findings import OnStage, Stage
from bpe_core.corpus import Counts
from bpe_core.corpus.reading import Progress, Reading, TextFile
from bpe_core.errors import OptionError
from bpe_core.explain.token_uses import UseLedger
from bpe_core.tokenizer import Tokenizer

FEW_DOCUMENTS: Final = 2
"""The most documents that count as few; of tokens in more, the documents are not kept."""
MOST_BYTES: Final = 1 << 26
"""Bytes on disk of a corpus up to which `spread_of` reads it document by document: that takes longer than to count it
as a whole, and holds the ids of each different piece."""
_PIECES_PER_REPORT: Final = 1024
"""Pieces encoded between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one corpus under one tokenizer; ids whose counts are not known (see `of_record`) are no keys."""

    n_tokens: int
    """Tokens in the corpus."""
    remaining: Mapping[int, int]
    """Id -> occurrences in the corpus once all merges are done."""
    merged: Mapping[int, int]
    """Id -> occurrences that later merges consumed."""
    examples: Mapping[int, str]
    """Id -> the shortest piece of the corpus that holds it."""
    documents: Mapping[int, frozenset[int]]
    """Id -> the indices of the one or two documents it occurs in; ids that occur in more, or nowhere, are no keys."""
    of_training: bool
    """Whether this is known to be the corpus that the tokenizer was trained on."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, counts: Counts, progress: OnStage | None = None) -> Self:
        """The usage in a corpus of counted pieces, each of which is encoded once.

        Raises `OptionError` if the pieces were split by another pattern than the tokenizer's.
        """
        if not counts.splitter.is_like(tokenizer.splitter):
            raise OptionError(
                f"The corpus was split by the pattern {counts.pattern!r} but the tokenizer uses {tokenizer.pattern!r}; "
                "count it again with the tokenizer's pattern."
            )
        remaining = dict.fromkeys(tokenizer.vocabulary.ids(), 0)
        examples: dict[int, str] = {}
        documents = _DocumentsOfTokens(counts)
        rest = iter(counts.pieces.items())
        n_done = 0
        while some := dict(islice(rest, _PIECES_PER_REPORT)):
            if progress:
                progress(Stage("counting tokens", n_done, len(counts.pieces)))
            n_done += len(some)
            for (piece, count), ids in zip(some.items(), tokenizer.encode_pieces(list(some)), strict=True):
                documents.add(piece, ids)
                for token in ids:
                    remaining[token] += count
                    if token not in examples or len(piece) < len(examples[token]):
                        examples[token] = piece
        n_tokens = sum(remaining.values())
        record, step = tokenizer.record, tokenizer.step
        of_training = (
            record is not None
            and 0 < step <= len(record.steps)
            and (counts.n_bytes, n_tokens) == (record.n_bytes, record.steps[step - 1][2])
        )
        return cls(n_tokens, remaining, _merged(tokenizer, remaining), examples, documents.few(), of_training)

    @classmethod
    def of_record(cls, tokenizer: Tokenizer) -> Self | None:
        """The usage in the training corpus, from the tokenizer's record; O(merges).

        Only for tokens that merges made: the record does not tell how often single bytes are left. None if there is no
        record, or if merges were added after the training.
        """
        record, vocabulary = tokenizer.record, tokenizer.vocabulary
        if record is None or len(record.steps) < vocabulary.n_merges:
            return None
        uses = UseLedger(record.n_tokens_start)
        for merge, (_, _, n_tokens) in zip(vocabulary.merges, record.steps, strict=False):
            uses.add(*merge, n_tokens)
        remaining = {token: uses.left(token) for token in uses.made}
        merged = {token: made - remaining[token] for token, made in uses.made.items()}
        return cls(uses.n_tokens, remaining, merged, {}, {}, True)

    def even_share(self, n_vocab: int) -> float:
        """How often each of `n_vocab` tokens would occur if all were equally frequent."""
        return self.n_tokens / n_vocab if n_vocab else 0.0

    def made(self, token: int) -> int:
        """How often merges made the token in all: remaining + merged. Raises `KeyError` if its counts are not known."""
        return self.remaining[token] + self.merged[token]


def merged_share(n: int, made: int) -> str:
    """`n` of `made` occurrences in words, as a part of a sentence.

    >>> merged_share(3, 8), merged_share(8, 8), merged_share(1, 1)
    ('3 of its 8 occurrences', 'all of its 8 occurrences', 'its only occurrence')
    """
    if n < made:
        return f"{n:,} of its {made:,} occurrences"
    return f"all of its {made:,} occurrences" if made > 1 else "its only occurrence"


def token_counts(tokenizer: Tokenizer, counts: Counts) -> Mapping[int, int]:
    """Id -> how often it occurs in a corpus of counted pieces, for every id of the vocabulary.

    Raises `OptionError` if the pieces were split by another pattern than the tokenizer's.
    """
    return Usage.of(tokenizer, counts).remaining


class _DocumentsOfTokens:
    """For each token the set of documents it occurs in, given up when there are more than `FEW_DOCUMENTS`."""

    def __init__(self, counts: Counts) -> None:
        self._of_piece = counts.few_documents() if counts.n_documents > FEW_DOCUMENTS else {}
        self._of_token: dict[int, frozenset[int]] = {}
        self._widespread: set[int] = set()

    def add(self, piece: str, ids: Sequence[int]) -> None:
        """Add the documents of a piece to those of its tokens."""
        documents = self._of_piece.get(piece)
        if documents is None:
            self._widespread.update(ids)
            return
        for token in ids:
            if token not in self._widespread:
                seen = self._of_token[token] = self._of_token.get(token, frozenset()).union(documents)
                if len(seen) > FEW_DOCUMENTS:
                    self._widespread.add(token)

    def few(self) -> dict[int, frozenset[int]]:
        """Id -> indices of its documents, for ids that occur in `FEW_DOCUMENTS` or fewer."""
        return {token: seen for token, seen in self._of_token.items() if token not in self._widespread}


def _merged(tokenizer: Tokenizer, remaining: Mapping[int, int]) -> dict[int, int]:
    """Id -> occurrences consumed by later merges.

    From the last merge back: a token was made `remaining + merged` times, and each time consumed one of each parent.
    """
    vocabulary = tokenizer.vocabulary
    merged = dict.fromkeys(remaining, 0)
    for step in range(vocabulary.n_merges, 0, -1):
        left, right, token = vocabulary.merges[step - 1]
        if vocabulary.step_of(token) == step:  # in some published files a later merge makes the same token again
            n_made = remaining[token] + merged[token]
            merged[left] += n_made
            merged[right] += n_made
    return merged


@dataclass(frozen=True, slots=True)
class Spread:
    """How each token is spread over the documents; tokens that occur nowhere are no keys."""

    document_frequency: Mapping[int, int]
    """Id -> number of documents it occurs in."""
    largest_share: Mapping[int, float]
    """Id -> the part of its occurrences that the document with most of them has, above 0 and at most 1."""


def spread_of(
    tokenizer: Tokenizer,
    files: Iterable[TextFile],
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Spread | None:
    """The spread over files, each a document; those that prove unreadable are skipped.

    None for fewer than two files, and for more than `MOST_BYTES`. Exact: each document is split and counted by itself.
    `progress` and `stop` are those of `Counts.read`; raises `Stopped` if `stop` returns true.
    """
    files = tuple(files)
    if len(files) < 2 or sum(file.size for file in files) > MOST_BYTES:
        return None
    ids: dict[str, tuple[int, ...]] = {}
    frequency: Counter[int] = Counter()
    total: Counter[int] = Counter()
    largest: dict[int, int] = {}
    for document in Reading(progress, stop).documents(files):
        counts = Counts(tokenizer.pattern)
        counts.add(document)
        new = [piece for piece in counts.pieces if piece not in ids]
        ids.update(zip(new, map(tuple, tokenizer.encode_pieces(new)), strict=True))
        here: Counter[int] = Counter()
        for piece, n in counts.pieces.items():
            for token in ids[piece]:
                here[token] += n
        frequency.update(here.keys())
        total.update(here)
        for token, n in here.items():
            largest[token] = max(n, largest.get(token, 0))
    return Spread(frequency, {token: n / total[token] for token, n in largest.items()})
