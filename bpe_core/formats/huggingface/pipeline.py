"""What tokenizer.json does to a text around its model: a plain split pattern wherever it is no more than that."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bpe_core.formats.fields import Fields
from bpe_core.formats.huggingface import normalizer as normalizers
from bpe_core.formats.huggingface import pre_tokenizer as pre_tokenizers
from bpe_core.formats.huggingface.model import Model, vocabulary_of
from bpe_core.formats.huggingface.pre_tokenizer import ToBytes
from bpe_core.patterns import splitter
from bpe_core.patterns.pattern import Else, longest_first, one_after_another
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.byte_pieces import BytePieces
from bpe_core.tokenizer.normalizers import Normalizer
from bpe_core.tokenizer.preparation import METASPACE, Preparation
from bpe_core.tokenizer.steps import ReplaceStep, SplitStep, Step

KEYS: Final = ("normalizer", "pre_tokenizer", "decoder")
"""What of tokenizer.json it is described by."""

_WORDS: Final = "▁+[^▁]*|[^▁]+"
"""Splits where no merge joins anyway, so that pieces are short."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Normalizer, pre-tokenizer and decoder."""

    normalize: Normalizer | None
    """What is done to a text first."""
    steps: tuple[Step, ...]
    """How it becomes pieces."""
    within: tuple[SplitStep, ...]
    """How the bytes of each piece are split again."""
    is_bytewise: bool
    """Whether pieces are bytes in the end."""
    has_metaspace: bool
    """Whether U+2581 stands for a space."""
    drops_space: bool
    """Whether decoding drops a first space."""
    joins_bytes: bool
    """Whether decoding makes a character of single bytes in a row, or replaces each of them."""
    description: Mapping[str, Any]
    """All of it in the words of the file, as `Preparation` has it."""

    def is_plain(self, added: Sequence[AddedToken]) -> bool:
        """Whether it is no more than a split, the added tokens being pieces of their own."""
        only_splits = all(isinstance(step, SplitStep) for step in self.steps)
        does_more = self.normalize or self.within or self.has_metaspace
        return only_splits and not does_more and _are_plain(added)

    def tokenizer(self, model: Model, added: Sequence[AddedToken], name: str) -> Tokenizer:
        """The tokenizer of a model, with these tokens looked for in every text."""
        splits = [step.splitter.tree for step in self.steps if isinstance(step, SplitStep)]
        pattern = one_after_another(splits)
        if not self.is_plain(added):
            apart = not splits and self.has_metaspace and model.keeps_words_apart
            preparation = self._preparation(model, added, (SplitStep(splitter(_WORDS)),) if apart else ())
            return Tokenizer(vocabulary_of(model, added), str(pattern), name=name, preparation=preparation)
        found_first = [token for token in added if not token.special]
        if found_first:
            pattern = Else(longest_first(token.text for token in found_first), pattern)
        return Tokenizer(vocabulary_of(model, added, found_first), str(pattern), name=name)

    def _preparation(self, model: Model, added: Sequence[AddedToken], more: tuple[Step, ...]) -> Preparation:
        single_bytes = (token for name, token in model.ids.items() if model.is_byte(name))
        return Preparation(
            tuple(added),
            self.normalize,
            self.steps + more,
            self.has_metaspace,
            self.drops_space,
            self.description,
            replaces_runs=frozenset(single_bytes) if self.joins_bytes else frozenset(),
            within=BytePieces(tuple(step.splitter for step in self.within)) if self.within else None,
        )


def _are_plain(added: Sequence[AddedToken]) -> bool:
    """Whether looking for the special tokens first and then for the others finds the same as looking for them here."""
    special = [token for token in added if token.special]
    ordinary = [token for token in added if not token.special]
    if not all(token.is_plain for token in added) or any(
        len({t.normalized for t in kind}) > 1 for kind in (special, ordinary)
    ):
        return False
    of_one_kind, of_the_other = ([token.text for token in kind] for kind in (special, ordinary))
    return not any(map(_Overlaps(of_one_kind), of_the_other)) and not any(map(_Overlaps(of_the_other), of_one_kind))


class _Overlaps:
    """Whether one of many texts stands in another text, or begins in it; so prepared that thousands are no matter."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(texts)
        self._lengths = sorted(set(map(len, self._texts)))
        self._in_order = sorted(self._texts)

    def __call__(self, text: str) -> bool:
        """Whether one of them does."""
        if any(self._one_begins(text[start:]) for start in range(len(text))):
            return True
        parts = (text[start : start + n] for n in self._lengths for start in range(len(text) - n + 1))
        return any(map(self._texts.__contains__, parts))

    def _one_begins(self, beginning: str) -> bool:
        place = bisect_left(self._in_order, beginning)
        return place < len(self._in_order) and self._in_order[place].startswith(beginning)


def pipeline_of(fields: Fields, pattern: str | None) -> Pipeline:
    """The pipeline described, with `pattern` in the place of its splits if one is given. Raises `FormatError`."""
    normalizer = fields.fields("normalizer") if "normalizer" in fields else None
    pre_tokenizer = fields.fields("pre_tokenizer") if "pre_tokenizer" in fields else None
    decoder = fields.fields("decoder") if "decoder" in fields else None
    steps, within = _around_bytes(fields, list(pre_tokenizers.steps(pre_tokenizer)) if pre_tokenizer else [])
    is_bytewise = within is not None
    if pattern is not None:
        steps, within = [*(step for step in steps if not isinstance(step, SplitStep)), SplitStep(splitter(pattern))], []
    puts = ReplaceStep(" ", METASPACE) in steps or bool(normalizer and normalizers.puts_metaspace(normalizer))
    if decoder and not puts and normalizers.takes_metaspace(decoder):
        fields.unsupported("a decoder that makes spaces of U+2581 where nothing makes U+2581 of spaces", "both")
    return Pipeline(
        normalize=normalizers.normalizer(normalizer) if normalizer else None,
        steps=tuple(steps),
        within=tuple(within or ()),
        is_bytewise=is_bytewise,
        has_metaspace=puts,
        drops_space=bool(decoder and normalizers.drops_space(decoder)),
        joins_bytes=bool(decoder and normalizers.joins_bytes(decoder)),
        description=_described(fields, steps, pattern),
    )


def _described(fields: Fields, steps: Sequence[Step], pattern: str | None) -> dict[str, Any]:
    """What is to be written into a file: not the splits that a given pattern has taken the place of."""
    told = {key: fields.any(key) if key in fields else None for key in KEYS}
    if pattern is None:
        return told
    del told["pre_tokenizer"]
    return told if all(isinstance(step, SplitStep) for step in steps) else {}


def _around_bytes(fields: Fields, steps: Sequence[Step | ToBytes]) -> tuple[list[Step], list[SplitStep] | None]:
    """What is done to a text, and how its bytes are split behind that; None where it does not become bytes.

    Raises `FormatError`.
    """
    before: list[Step] = []
    within: list[SplitStep] | None = None
    for step in steps:
        if within is None and isinstance(step, ToBytes):
            within = []
        elif within is None and not isinstance(step, ToBytes):
            before.append(step)
        elif within is not None and isinstance(step, SplitStep):
            within.append(step)
        else:
            fields.unsupported("what stands behind ByteLevel in the pre-tokenizer", "splits alone")
    return before, within
