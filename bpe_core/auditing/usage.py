"""Count how often a tokenizer's tokens occur in a corpus: in all, per document, and compared with another corpus."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Final, Self

from bpe_core.auditing.findings import OnStage
from bpe_core.corpus import Counts
from bpe_core.corpus.reading import OnRead, Reading, TextFile, Unreadable
from bpe_core.errors import OptionError
from bpe_core.explain.trace import UseLedger
from bpe_core.tokenizer import Tokenizer
from bpe_core.weighted import Count, formatted

FEW_DOCUMENTS: Final = 2
"""Documents that count as few. The documents of tokens that occur in more are not kept."""
_MORE_THAN_FEW: Final = (-1, -2, -3)  # in their place
MOST_BYTES: Final = 1 << 26
"""Bytes on disk up to which `spread_of` reads a corpus. It is slow and holds the ids of all pieces."""
PER_REPORT: Final = 256
"""Pieces or tokens between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one corpus under one tokenizer. Tokens whose counts are not known (see `of_record`) are missing."""

    n_tokens: Count
    remaining: Mapping[int, Count]
    """Id -> how often it occurs once all merges are done."""
    merged: Mapping[int, Count]
    """Id -> how often later merges took it."""
    examples: Mapping[int, str]
    """Id -> the shortest piece of the corpus that contains it."""
    documents: Mapping[int, Collection[int]]
    """Id -> the indices of the documents it occurs in, if they are few."""
    of_training: bool
    """Whether the corpus is known to be the one that the tokenizer was trained on."""

    @classmethod
    def of(
        cls, tokenizer: Tokenizer, counts: Counts, progress: OnStage | None = None
    ) -> Self:
        """Count the tokens of a corpus of counted pieces.

        Raises:
            OptionError: The pieces were split by a pattern that is not the tokenizer's.
        """
        if counts.splitter.tree != tokenizer.splitter.tree:
            raise OptionError(
                f"The texts were counted with the pattern {counts.pattern!r}, but the tokenizer uses "
                f"{tokenizer.pattern!r}; count them again with the tokenizer's pattern."
            )
        remaining: dict[int, Count] = dict.fromkeys(tokenizer.vocabulary.ids(), 0)
        examples: dict[int, str] = {}
        documents: defaultdict[int, set[int]] = defaultdict(set)
        documents_of_piece: Mapping[str, Collection[int]] = {}
        if counts.n_documents > FEW_DOCUMENTS:
            documents_of_piece = counts.few_documents()
        pieces = counts.pieces
        ids_of_pieces = tokenizer.encode_pieces(list(pieces))
        encoded = zip(pieces.items(), ids_of_pieces, strict=True)
        for done, ((piece, count), ids) in enumerate(encoded):
            if progress and done % PER_REPORT == 0:
                progress(done, len(pieces), "counting tokens")
            documents_here = documents_of_piece.get(piece, _MORE_THAN_FEW)
            for token in ids:
                remaining[token] += count
                if token not in examples or len(piece) < len(examples[token]):
                    examples[token] = piece
                if len(documents[token]) <= FEW_DOCUMENTS:
                    documents[token].update(documents_here)
        n_tokens = sum(remaining.values())
        return cls(
            n_tokens=n_tokens,
            remaining=remaining,
            merged=_taken_by_merges(tokenizer, remaining),
            examples=examples,
            documents={
                token: found
                for token, found in documents.items()
                if len(found) <= FEW_DOCUMENTS
            },
            of_training=_is_training_corpus(tokenizer, counts, n_tokens),
        )

    @classmethod
    def of_record(cls, tokenizer: Tokenizer) -> Self | None:
        """Compute the usage in the training corpus, from the training record, for the tokens that merges made.

        Takes time linear in the merges. Returns None without a record, or if merges were added after the training.
        """
        record = tokenizer.record
        vocabulary = tokenizer.vocabulary
        if record is None or len(record.steps) < vocabulary.n_merges:
            return None
        uses = UseLedger(record.n_tokens_start)
        # Each join makes the corpus one token shorter. So two lengths in a row show how often a pair was joined.
        for merge, (_, _, n_tokens) in zip(
            vocabulary.merges, record.steps, strict=False
        ):
            uses.add(*merge, n_tokens)
        merged = {token: n - uses.remaining[token] for token, n in uses.made.items()}
        return cls(
            n_tokens=uses.n_tokens,
            remaining=uses.remaining,
            merged=merged,
            examples={},
            documents={},
            of_training=True,
        )

    def made(self, token: int) -> Count:
        """Return how often merges made the token in all. Raises `KeyError` if its counts are not known."""
        return self.remaining[token] + self.merged[token]


def _taken_by_merges(
    tokenizer: Tokenizer, remaining: Mapping[int, Count]
) -> dict[int, Count]:
    """Return how often later merges took each token, computed from the tokens that remain."""
    vocabulary = tokenizer.vocabulary
    merged: dict[int, Count] = dict.fromkeys(remaining, 0)
    # Some files have several merges that make one token.
    made = dict.fromkeys(token for _, _, token in vocabulary.merges)
    for token in reversed(made):
        for parent in vocabulary.parents(token) or ():
            merged[parent] += remaining[token] + merged[token]
    return merged


def _is_training_corpus(tokenizer: Tokenizer, counts: Counts, n_tokens: Count) -> bool:
    """Whether these texts have as many bytes as the training record says, and as many tokens as after its last merge."""
    record = tokenizer.record
    step = tokenizer.step
    if record is None or not 0 < step <= len(record.steps):
        return False
    n_bytes = sum(source.bytes * source.weight for source in counts.sources)
    n_tokens_of_training = record.steps[step - 1][2]
    return n_bytes == record.n_bytes and n_tokens == n_tokens_of_training


def merged_share(n: Count, made: Count) -> str:
    """Express `n` of `made` occurrences as a part of a sentence.

    >>> merged_share(3, 8), merged_share(8, 8), merged_share(1, 1)
    ('3 of its 8 occurrences', 'all of its 8 occurrences', 'its only occurrence')
    """
    if n < made:
        return f"{formatted(n)} of its {formatted(made)} occurrences"
    if made > 1:
        return f"all of its {formatted(made)} occurrences"
    return "its only occurrence"


def surprise(count: Count, n_tokens: Count, seen: Count, n_reference: Count) -> float:
    """Return the signed log-likelihood ratio G2 (Dunning 1993) of a token's counts in two corpora.

    G2 = 2 * (count * ln(count / expected) + seen * ln(seen / expected)). The expected counts are those of a token that
    is equally frequent in both. Beyond 10.8, one token in a thousand differs this much by chance.

    Args:
        count: Occurrences in the corpus.
        n_tokens: Tokens of the corpus.
        seen: Occurrences in the reference.
        n_reference: Tokens of the reference.

    Returns:
        G2, negative if the token is more frequent in the reference.

    Examples:
        >>> round(surprise(50, 1000, 0, 1000), 1), surprise(5, 1000, 10, 2000), round(surprise(0, 1000, 50, 1000), 1)
        (69.3, 0.0, -69.3)
    """
    n_both = count + seen
    if not n_both or not n_tokens or not n_reference:
        return 0.0
    n_all = n_tokens + n_reference
    g2 = 0.0
    for observed, size in ((count, n_tokens), (seen, n_reference)):
        if observed:
            g2 += 2 * observed * math.log(observed / (n_both * size / n_all))
    g2 = max(0.0, g2)
    is_more_frequent_here = count * n_reference >= seen * n_tokens
    return g2 if is_more_frequent_here else -g2


def spread_of(
    tokenizer: Tokenizer, files: Iterable[TextFile], progress: OnRead | None = None
) -> dict[str, Mapping[int, float]] | None:
    """Measure the columns "document_frequency" and "largest_share" of `AuditSubject.columns`.

    Return None for fewer than two documents, and for files of more than `MOST_BYTES`. Skip files that can't be read.
    """
    files = list(files)
    reading = Reading(files, progress)
    may_have_documents = len(files) > 1 or any(file.form for file in files)
    if reading.total > MOST_BYTES or not may_have_documents:
        return None
    n_documents = 0
    frequency = Counter[int]()  # documents that contain the token
    total = Counter[int]()  # its occurrences
    largest = Counter[int]()  # its most occurrences in one document
    for file in files:
        with nullcontext() if file.required else suppress(Unreadable):
            for blocks in reading.documents(file):
                in_document = _tokens_of("".join(blocks), tokenizer)
                n_documents += 1
                frequency.update(in_document.keys())
                total.update(in_document)
                for token, n in in_document.items():
                    largest[token] = max(n, largest[token])
    if n_documents < 2:
        return None
    largest_share = {token: n / total[token] for token, n in largest.items()}
    return {"document_frequency": frequency, "largest_share": largest_share}


def _tokens_of(text: str, tokenizer: Tokenizer) -> Counter[int]:
    """Count the tokens of a document."""
    found = Counter[int]()
    count_of = Counts.of(text, tokenizer.pattern).table.counts()
    ids_of_pieces = tokenizer.encode_pieces(list(count_of))
    for n, ids in zip(count_of.values(), ids_of_pieces, strict=True):
        for token in ids:
            found[token] += n
    return found
