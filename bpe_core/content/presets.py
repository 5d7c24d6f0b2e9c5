"""Presets: small published BPE examples, each with its corpus, options and expected result.

`presets.json` has them: the examples of Wikipedia and of Sennrich et al. 2016, and five programs and
articles about byte-pair encoding, S0 to S4. If a source states a result that its own rules do not
give, the preset expects the right one and keeps the other as `stated`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import Options
from bpe_core.trainer import train
from bpe_core.visible import token_label
from bpe_core.weighted import Count, formatted


class _Check(NamedTuple):
    """A part of the result of a training run, in words."""

    subject: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Preset:
    """A training run with its corpus, options and expected result."""

    name: str  # its key in `PRESETS`, such as "S0"
    title: str  # its text, and who published it or what is special
    reason: str  # one sentence about why it is worth training
    documents: Sequence[str]
    options: Options
    n_merges: int  # expected, and so are all fields below
    n_tokens: int  # in the corpus after the last merge
    tokens: Sequence[str]  # made by the first merges, in order
    encodings: Mapping[str, Sequence[int]]  # text -> ids
    stated: Sequence[str] = ()
    """The tokens that the source states, if they contradict the rules of the source."""
    words: str = ""
    """Further words that people search for, separated by spaces."""

    def counts(self) -> Counts:
        return Counts.of(self.documents, self.options.pattern)

    def train(self) -> Tokenizer:
        return train(self.counts(), **asdict(self.options))

    def verdict(self, tokenizer: Tokenizer) -> tuple[bool, str]:
        """Check a tokenizer that was trained on this corpus with these options.

        Returns:
            Whether the result matches the expected one, and a sentence about the result.
        """
        merges = tokenizer.vocabulary.merges[: len(self.tokens)]
        tokens = _labels(tokenizer.token_bytes(token) for _, _, token in merges)
        record = tokenizer.record
        n_tokens: Count = 0
        if record and record.steps:
            _, _, n_tokens = record.steps[-1]
        sizes = _sizes(tokenizer.step, n_tokens)
        checks = [
            _Check("", _sizes(self.n_merges, self.n_tokens), sizes),
            _Check("tokens made, in order: ", _labels_of(self.tokens), tokens),
        ]
        for text, ids in self.encodings.items():
            expected = " ".join(map(str, ids))
            found = " ".join(map(str, tokenizer.encode_ordinary(text)))
            checks.append(_Check(f"ids of {text!r}: ", expected, found))
        for subject, expected, found in checks:
            if found != expected:
                problem = f"{subject}{found}, not {expected}"
                return False, f"Does not match the published result: {problem}"
        if self.stated:
            stated = f"tokens made, in order: {tokens}, not {_labels_of(self.stated)}"
            return True, f"Differs from what its article states: {stated}"
        return True, f"Matches the published result: {sizes}"


def _sizes(n_merges: int, n_tokens: Count) -> str:
    return f"{n_merges:,} merges, {formatted(n_tokens)} tokens left in the corpus"


def _labels(tokens: Iterable[bytes]) -> str:
    return " ".join(map(token_label, tokens))


def _labels_of(tokens: Iterable[str]) -> str:
    return _labels(map(str.encode, tokens))


_TABLE: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
PRESETS: Final[Mapping[str, Preset]] = {
    row["name"]: Preset(**row | {"options": Options(**row["options"])})
    for row in _TABLE
}
"""The presets by name, in the order of `presets.json`."""
