"""Presets: small published BPE examples to be trained again, each with its corpus, options and expected result.

`presets.json` has them: five programs and articles about byte-pair encoding, S0 to S4. Where a source states a result
that its own rules do not give, the preset expects the right one and keeps the other as `stated`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import Options
from bpe_core.trainer import train
from bpe_core.visible import token_label
from bpe_core.weighted import formatted


@dataclass(frozen=True, slots=True)
class Preset:
    """A training with its corpus, options and expected result."""

    name: str  # its key in `PRESETS`, such as "S0"
    title: str
    reason: str  # what it shows, in one sentence
    documents: Sequence[str]
    options: Options
    n_merges: int  # of the result, as is all that follows
    n_tokens: int  # of the corpus after the last merge
    tokens: Sequence[str]  # that the first merges make, in order
    encodings: Mapping[str, Sequence[int]]  # text -> ids
    stated: Sequence[
        str
    ] = ()  # the tokens that the source states, if that is wrong by its own rules

    def counts(self) -> Counts:
        return Counts.of(self.documents, self.options.pattern)

    def train(self) -> Tokenizer:
        return train(self.counts(), **asdict(self.options))

    def verdict(self, tokenizer: Tokenizer) -> tuple[bool, str]:
        """(whether `tokenizer`, trained on this corpus with these options, is as expected, a sentence that says so)."""
        vocabulary, record = tokenizer.vocabulary, tokenizer.record
        made = _labels(
            vocabulary.token_bytes(token)
            for _, _, token in vocabulary.merges[: len(self.tokens)]
        )
        left = record.steps[-1][2] if record and record.steps else 0
        numbers = f"{vocabulary.n_merges:,} merges, {formatted(left)} tokens left in the corpus"
        checks = {
            "": (
                f"{self.n_merges:,} merges, {self.n_tokens:,} tokens left in the corpus",
                numbers,
            )
        }
        checks["tokens made, in order: "] = _labels(map(str.encode, self.tokens)), made
        for text, ids in self.encodings.items():
            checks[f"ids of {text!r}: "] = (
                " ".join(map(str, ids)),
                " ".join(map(str, tokenizer.encode_ordinary(text))),
            )
        for what, (expected, found) in checks.items():
            if found != expected:
                return (
                    False,
                    f"{self.name} did not come out as published: {what}{found}, not {expected}",
                )
        if self.stated:
            stated = f"tokens made, in order: {made}, not {_labels(map(str.encode, self.stated))}"
            return True, f"{self.name} differs from what its article states: {stated}"
        return True, f"{self.name} came out as published: {numbers}"


def _labels(tokens: Iterable[bytes]) -> str:
    return " ".join(map(token_label, tokens))


_LISTED: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
PRESETS: Final[Mapping[str, Preset]] = {
    one["name"]: Preset(**one | {"options": Options(**one["options"])})
    for one in _LISTED
}
