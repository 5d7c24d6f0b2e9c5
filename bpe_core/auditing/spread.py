"""How a token's occurrences are spread over the documents of a corpus: in how many it occurs, how much is from one."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bpe_core.corpus import Counts
from bpe_core.corpus.progress import Progress, Reading
from bpe_core.corpus.reading import TextFile
from bpe_core.tokenizer import Tokenizer

MOST_BYTES: Final = 1 << 26
"""Bytes on disk of a corpus that is looked at document by document: that takes longer than to count it as a whole, and
holds the ids of each different piece."""


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
    """The spread over files, each a document; those that prove unreadable are left out.

    None for fewer than two files, and for more than `MOST_BYTES`. Exact: each document is split and counted by itself.
    `progress` and `stop` are those of `Counts.read`; raises `Stopped` if `stop` returns true.
    """
    files = tuple(files)
    size = sum(file.size for file in files)
    if len(files) < 2 or size > MOST_BYTES:
        return None
    reading = Reading(progress, stop)
    ids: dict[str, tuple[int, ...]] = {}
    frequency: Counter[int] = Counter()
    total: Counter[int] = Counter()
    largest: dict[int, int] = {}
    for document in reading.documents(files):
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
            if n > largest.get(token, 0):
                largest[token] = n
    return Spread(frequency, {token: n / total[token] for token, n in largest.items()})
