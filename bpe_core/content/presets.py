"""Presets: small published BPE examples to be trained again, each with its corpus, options and expected result.

They are five programs and articles about byte-pair encoding, S0 to S4. Where a source states a result that its own
rules do not give, the preset expects the right one and keeps the other as `stated`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import Options
from bpe_core.trainer import train
from bpe_core.visible import token_label


@dataclass(frozen=True, slots=True)
class Preset:
    """A training with its corpus, options and expected result."""

    name: str  # its key in `PRESETS`, such as "S0"
    title: str
    reason: str  # what it shows, in one sentence
    documents: tuple[str, ...]
    options: Options
    n_merges: int  # of the result, as is all that follows
    n_tokens: int  # of the corpus after the last merge
    tokens: tuple[bytes, ...]  # that the first merges make, in order
    encodings: Mapping[str, Sequence[int]]  # text -> ids
    stated: tuple[bytes, ...] = ()  # the tokens that the source states, if that is wrong by its own rules

    def counts(self) -> Counts:
        return Counts.of(self.documents, self.options.pattern)

    def train(self) -> Tokenizer:
        return train(self.counts(), **asdict(self.options))

    def verdict(self, tokenizer: Tokenizer) -> tuple[bool, str]:
        """(whether `tokenizer`, trained on this corpus with these options, is as expected, a sentence that says so).

        The sentence names the first difference or, if there is none, what the source states otherwise.
        """
        vocabulary, record = tokenizer.vocabulary, tokenizer.record
        made = _labels(vocabulary.token_bytes(token) for _, _, token in vocabulary.merges[: len(self.tokens)])
        left = record.steps[-1][2] if record and record.steps else 0
        numbers = f"{vocabulary.n_merges:,} merges, {left:,} tokens left in the corpus"
        checks = {"": (f"{self.n_merges:,} merges, {self.n_tokens:,} tokens left in the corpus", numbers)}
        checks["tokens made, in order: "] = _labels(self.tokens), made
        for text, ids in self.encodings.items():
            checks[f"ids of {text!r}: "] = " ".join(map(str, ids)), " ".join(map(str, tokenizer.encode_ordinary(text)))
        for what, (expected, found) in checks.items():
            if found != expected:
                return False, f"{self.name} did not come out as promised: {what}{found}, not {expected}"
        if self.stated:
            stated = f"tokens made, in order: {made}, not {_labels(self.stated)}"
            return True, f"{self.name} differs from what its article states: {stated}"
        return True, f"{self.name} came out as promised: {numbers}"


def _labels(tokens: Iterable[bytes]) -> str:
    return " ".join(map(token_label, tokens))


_CORPUS: Final = " ".join(["low"] * 5 + ["lower"] * 2 + ["widest"] * 3 + ["newest"] * 6)

_EVERY: Final = (
    Preset(
        name="S0",
        title="Flat bytes, two lines",
        reason="Without a pattern merges cross spaces and words: “ t”, “s ” and “e ” lead.",
        documents=(
            "Consider this as a trainig text and this can be as big as you want and be carefull\n"
            "while choosing the data because wrong type of data can lead to lots of irregularities",
        ),
        options=Options(276, "none"),
        n_merges=20,
        n_tokens=109,
        tokens=(b" t", b"s ", b"e ", b"an", b" th"),
        encodings={"Hi this is test": (72, 105, 266, 105, 115, 256, 101, 115, 116)},
    ),
    Preset(
        name="S1",
        title="A list of words as documents",
        reason="No merge crosses the border of two documents, so words need no pattern.",
        documents=tuple(_CORPUS.split()),
        options=Options(262, "none"),
        n_merges=6,
        n_tokens=35,
        tokens=(b"es", b"est", b"lo", b"low", b"ne", b"new"),
        encodings={"newest": (261, 257), "low": (259,)},
    ),
    Preset(
        name="S2",
        title="Sennrich's algorithm on words",
        reason="Ties go to the largest pair, s + t before e + s; special tokens come first.",
        documents=(_CORPUS,),
        options=Options(263, "words", "largest", "specials-first", special_tokens=("<|endoftext|>",)),
        n_merges=6,
        n_tokens=35,
        tokens=(b"st", b"est", b"ow", b"low", b"west", b"ne"),
        encodings={"newest": (262, 261), "lower": (260, 102, 115), "widest": (120, 106, 101, 258), "low": (260,)},
    ),
    Preset(
        name="S2-prose",
        title="Words with an end, as in the prose",
        reason="With </w> ending each word four pairs tie at 8: es, est, lo, low is not next.",
        documents=(" ".join(["low"] * 5 + ["lowest"] * 2 + ["newest"] * 6 + ["wider"] * 3),),
        options=Options(266, "words", end_of_word="</w>"),
        n_merges=9,
        n_tokens=33,
        tokens=(b"we", b"wes", b"west", b"west</w>", b"lo", b"ne", b"newest</w>", b"low", b"low</w>"),
        encodings={"low": (265,), "newest": (263,), "lower": (261, 257, 114, 256)},
        stated=(b"es", b"est", b"lo", b"low"),
    ),
    Preset(
        name="S3",
        title="aabdaabdaab",
        reason="Two merges make 11 tokens into 8 and then 5: aa, and aab of it.",
        documents=("aabdaabdaab",),
        options=Options(258, "none"),
        n_merges=2,
        n_tokens=5,
        tokens=(b"aa", b"aab"),
        encodings={"aabdaabdaab": (257, 100, 257, 100, 257)},
    ),
    Preset(
        name="S4",
        title="A text learned by heart",
        reason="With no minimum count all becomes one token, and 106 of 107 only lead to it.",
        documents=(
            "\n    Hello world! This is a sample text to demonstrate BPE tokenization."
            "\n    We'll use this to train our tokenizer and then test encoding and decoding.\n    ",
        ),
        options=Options(512, "none"),
        n_merges=107,
        n_tokens=1,
        tokens=(b"  ", b" t", b" to", b"en"),
        encodings={"Hello world!": (72, 101, 265, 111, 32, 119, 111, 114, 108, 100, 33)},
    ),
)
PRESETS: Final[Mapping[str, Preset]] = {preset.name: preset for preset in _EVERY}
