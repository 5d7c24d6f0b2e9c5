"""Counts of a text under one tokenizer, which can be added over texts, and the metrics computed from them."""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from bpe_core.metrics.boundaries import Encoded, encoded
from bpe_core.metrics.compression import bytes_per_token, characters_per_token, fertility
from bpe_core.metrics.distribution import renyi_efficiency, renyi_entropy, shannon_efficiency, utilization
from bpe_core.metrics.text_parts import TextParts
from bpe_core.tokenizer import Tokenizer


@dataclass(slots=True)
class ScriptAmounts:
    """Sizes of the parts of a text in one script; a token counts for the script of its last byte, a word for that of
    its first character."""

    n_bytes: int = 0
    n_characters: int = 0
    n_tokens: int = 0
    n_words: int = 0
    n_whole_words: int = 0


@dataclass(slots=True)
class Measures:
    """Counts of one text or several; the metrics are properties, computed from the counts on each access."""

    n_texts: int = 0
    n_bytes: int = 0
    """Bytes in UTF-8."""
    n_characters: int = 0
    """Code points."""
    n_tokens: int = 0
    n_words: int = 0
    """Maximal substrings without white space."""
    n_whole_words: int = 0
    """Words with no token boundary inside; a token may also hold the white space before its word."""
    token_counts: Counter[int] = field(default_factory=Counter)
    """Id -> occurrences."""
    number_splits: Counter[tuple[int, ...]] = field(default_factory=Counter)
    """Digits in each token of a number, from left to right -> how many numbers are cut so; 123|4 counts for (3, 1)."""
    scripts: dict[str, ScriptAmounts] = field(default_factory=dict)
    """Script, as named by `script_runs` -> sizes of the parts of the texts in it."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, text: str) -> "Measures":
        """The measures of one text, encoding included; O(n log n) for n characters."""
        return cls.of_encoded(TextParts.of(text), encoded(tokenizer, text))

    @classmethod
    def of_encoded(cls, parts: TextParts, found: Encoded) -> "Measures":
        """The measures of a text that is encoded already."""
        ids, ends = found.ids, found.ends
        is_end = bytearray(parts.n_bytes + 1)
        for end in ends:
            is_end[end] = 1
        whole = [is_end.find(1, start + 1, end) < 0 for start, end in parts.words]
        measures = cls(1, parts.n_bytes, len(parts.text), len(ids), len(whole), sum(whole), Counter(ids))
        for number in parts.numbers:
            n_digits = len(number) - 1
            first_end = number[0] + 1  # an end at the first digit is before the number
            cuts = [n for n in range(n_digits) if is_end.find(1, max(number[n], first_end), number[n + 1]) >= 0]
            measures.number_splits[tuple(b - a for a, b in pairwise([0, *cuts, n_digits]) if a < b)] += 1
        for run in parts.scripts:
            amounts = measures.scripts.setdefault(run.script, ScriptAmounts())
            amounts.n_characters += run.n_characters
            amounts.n_bytes += run.end - run.start
            amounts.n_tokens += bisect_right(ends, run.end) - (bisect_right(ends, run.start) if run.start else 0)
            amounts.n_words += run.end_word - run.first_word
            amounts.n_whole_words += sum(whole[run.first_word : run.end_word])
        return measures

    def add(self, other: "Measures") -> None:
        """Add the counts of other texts, in place."""
        self.n_texts += other.n_texts
        self.n_bytes += other.n_bytes
        self.n_characters += other.n_characters
        self.n_tokens += other.n_tokens
        self.n_words += other.n_words
        self.n_whole_words += other.n_whole_words
        self.token_counts.update(other.token_counts)
        self.number_splits.update(other.number_splits)
        for script, amounts in other.scripts.items():
            ours = self.scripts.setdefault(script, ScriptAmounts())
            ours.n_bytes += amounts.n_bytes
            ours.n_characters += amounts.n_characters
            ours.n_tokens += amounts.n_tokens
            ours.n_words += amounts.n_words
            ours.n_whole_words += amounts.n_whole_words

    @property
    def bytes_per_token(self) -> float:
        """See `compression.bytes_per_token`."""
        return bytes_per_token(self.n_bytes, self.n_tokens)

    @property
    def characters_per_token(self) -> float:
        """See `compression.characters_per_token`."""
        return characters_per_token(self.n_characters, self.n_tokens)

    @property
    def fertility(self) -> float:
        """Tokens per word; see `compression.fertility`."""
        return fertility(self.n_tokens, self.n_words)

    @property
    def continued_words(self) -> float:
        """Words with a token boundary inside / words (Rust et al. 2021, arXiv 2012.15613); 0.0 for no words."""
        return 1 - self.n_whole_words / self.n_words if self.n_words else 0.0

    @property
    def whole_words(self) -> float:
        """Words with no token boundary inside / words; 0.0 for no words."""
        return self.n_whole_words / self.n_words if self.n_words else 0.0

    @property
    def renyi_entropy(self) -> float:
        """Rényi entropy of order 2.5 in bits; see `distribution.renyi_entropy`."""
        return renyi_entropy(self.token_counts.values())

    @property
    def shannon_entropy(self) -> float:
        """Shannon's entropy in bits; see `distribution.renyi_entropy`, of which it is that of order 1."""
        return renyi_entropy(self.token_counts.values(), 1)

    @property
    def renyi_efficiency(self) -> float:
        """Rényi efficiency of order 2.5, relative to the types that occur; see `distribution.renyi_efficiency`."""
        return renyi_efficiency(self.token_counts.values())

    @property
    def shannon_efficiency(self) -> float:
        """Shannon efficiency, relative to the types that occur; see `distribution.shannon_efficiency`."""
        return shannon_efficiency(self.token_counts.values())

    def utilization(self, tokenizer: Tokenizer) -> float:
        """Types that occur / ids of the vocabulary."""
        return utilization(self.token_counts.values(), tokenizer.n_vocab)

    def token_lengths(self, tokenizer: Tokenizer) -> Counter[int]:
        """Length of a token in bytes -> how many tokens of the texts, repetitions included, have that length."""
        lengths: Counter[int] = Counter()
        for token, count in self.token_counts.items():
            lengths[len(tokenizer.token_bytes(token))] += count
        return lengths
