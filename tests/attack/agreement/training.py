"""Trained here is trained there: the merges of rustbpe and of Hugging Face's trainer, learned again one by one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from bpe_core import PATTERNS, train
from bpe_core.vocabulary.symbols import BYTE_OF
from tests.attack.agreement.texts import Corpus, corpus

SIZES: Final = (4096, 32768)
"""Sizes of vocabularies."""
CORPORA: Final = {
    "Python's standard library": ("Python's standard library",),
    "messages and manuals in many languages": ("messages in all languages",),
    "documentation": ("documentation", "manuals"),
}
"""Name -> the places that its texts are from."""

Learned = list[tuple[bytes, ...]]
"""For each merge the bytes of what it makes, and, where the library tells them, of its parts."""


@dataclass(frozen=True, slots=True)
class Training:
    """One corpus, learned here and there."""

    corpus: Corpus
    peer: str
    ties: str
    vocab_size: int
    n_merges: int
    """As many as are the same, from the first one on."""
    n_there: int
    """As many as the peer has learned."""

    @property
    def n_unexplained(self) -> int:
        return self.n_there - self.n_merges

    def __str__(self) -> str:
        return (
            f"{self.corpus.name}, {self.corpus.n_bytes:,} bytes, {self.peer}, ties {self.ties}, {self.vocab_size:,} "
            f"tokens: {self.n_merges:,} of {self.n_there:,} merges are the same"
        )


def trainings(kilobytes: int, sizes: tuple[int, ...] = SIZES) -> Iterator[Training]:
    """Every corpus with every peer and every size."""
    for name, places in CORPORA.items():
        texts = corpus(name, *places, kilobytes=kilobytes)
        for peer, (ties, learn) in PEERS.items():
            for size in sizes:
                yield trained(texts, peer, ties, learn, size)


def trained(
    texts: Corpus,
    peer: str,
    ties: str,
    learn: Callable[[Corpus, int], Learned],
    size: int,
) -> Training:
    """One of them; a merge that is missing on either side counts as different."""
    there = learn(texts, size)
    ours = train(texts.documents, vocab_size=size, pattern=PATTERN_OF[peer], ties=ties)
    here: Learned = [
        (ours.token_bytes(token), ours.token_bytes(left), ours.token_bytes(right))
        for left, right, token in ours.merges
    ]
    n_told = len(there[0]) if there else 0
    pairs = zip(there, (row[:n_told] for row in here), strict=False)
    n_alike = next(
        (step for step, (theirs, mine) in enumerate(pairs) if theirs != mine),
        min(len(there), len(here)),
    )
    return Training(texts, peer, ties, size, n_alike, max(len(there), len(here)))


def with_rustbpe(texts: Corpus, size: int) -> Learned:
    """Its tokens in the order of their ranks."""
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(
        iter(texts.documents), size, pattern=PATTERNS[PATTERN_OF["rustbpe"]]
    )
    ranks = sorted(
        (rank, bytes(token)) for token, rank in tokenizer.get_mergeable_ranks()
    )
    return [(token,) for _, token in ranks[256:]]


def with_tokenizers(texts: Corpus, size: int) -> Learned:
    """Its merges; it splits by GPT-2's pattern of its own."""
    import json

    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = byte_level
    trainer = trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=byte_level.alphabet()
    )
    tokenizer.train_from_iterator(texts.documents, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [
        (_bytes(left + right), _bytes(left), _bytes(right)) for left, right in merges
    ]


def _bytes(name: str) -> bytes:
    return bytes(BYTE_OF[character] for character in name)


PATTERN_OF: Final = {"rustbpe": "gpt4", "tokenizers": "gpt2"}
"""Name of a peer -> how texts are split for it."""

PEERS: Final = {
    "rustbpe": ("lowest", with_rustbpe),
    "tokenizers": ("lowest-hf", with_tokenizers),
}
"""Name -> the rule for ties that is theirs, and what learns."""
