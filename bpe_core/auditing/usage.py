"""Token counts of a corpus: occurrences in the tokenized corpus (remaining), and consumed by later merges (merged).

Two sources, both exact. Counted pieces: each unique piece is encoded once and weighted with how often it occurs. Or the
training record: a merge made its token as many times as it shortened the corpus, in tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Self

from bpe_core.auditing.progress import OnStage, Stage
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer

FEW_DOCUMENTS: Final = 2
"""The most documents that count as few; of tokens in more, the documents are not kept."""

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
    """Id -> occurrences that later merges consumed; empty where that is not known."""
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
        merged = _merged(tokenizer, remaining)
        n_tokens = sum(remaining.values())
        return cls(n_tokens, remaining, merged, examples, documents.few(), _fits_record(tokenizer, counts, n_tokens))

    @classmethod
    def of_record(cls, tokenizer: Tokenizer) -> Self | None:
        """The usage in the training corpus, from the tokenizer's record; O(merges).

        Only for tokens that merges made: the record does not tell how often single bytes are left. None if there is no
        record, or if merges were added after the training.
        """
        record = tokenizer.record
        vocabulary = tokenizer.vocabulary
        if record is None or len(record.steps) < vocabulary.n_merges:
            return None
        n_tokens = record.n_tokens_start
        made: dict[int, int] = {}
        # Each merge took one token off the corpus wherever it was applied. The pair's count would not do: "aaa" counts
        # the pair (a, a) twice and is merged once.
        for (_, _, token), (_, _, n_left) in zip(vocabulary.merges, record.steps, strict=False):
            made[token] = n_tokens - n_left
            n_tokens = n_left
        merged = dict.fromkeys(made, 0)
        for left, right, token in vocabulary.merges:
            for part in (left, right):
                if part in merged:
                    merged[part] += made[token]
        return cls(n_tokens, {token: made[token] - merged[token] for token in made}, merged, {}, {}, True)

    def even_share(self, n_vocab: int) -> float:
        """How often each of `n_vocab` tokens would occur if all occurred alike."""
        return self.n_tokens / n_vocab if n_vocab else 0.0

    def made(self, token: int) -> int:
        """How often merges made the token in all: remaining + merged. Raises `KeyError` if its counts are not known."""
        return self.remaining[token] + self.merged[token]


def _fits_record(tokenizer: Tokenizer, counts: Counts, n_tokens: int) -> bool:
    """Whether the texts have as many bytes and tokens as those of the training record, before and after all merges."""
    record, step = tokenizer.record, tokenizer.step
    if record is None or not 0 < step <= len(record.steps):
        return False
    return (counts.n_bytes, n_tokens) == (record.n_bytes, record.steps[step - 1][2])


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
