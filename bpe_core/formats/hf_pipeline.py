"""What tokenizer.json does to a text around its model: a plain split pattern wherever it is no more than that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from bpe_core.formats import hf_normalizer, hf_pre_tokenizer
from bpe_core.formats.fields import Fields
from bpe_core.formats.hf_model import Model, vocabulary_of
from bpe_core.formats.hf_pattern import escaped
from bpe_core.formats.hf_pre_tokenizer import Part, Prefix, Replace, Split
from bpe_core.patterns import ELSE, THEN, splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.normalizers import Normalizer
from bpe_core.tokenizer.preparation import METASPACE, Preparation
from bpe_core.tokenizer.steps import PrefixStep, ReplaceStep, SplitStep, Step

_WORDS: Final = "▁+[^▁]*|[^▁]+"
"""Splits where no merge joins anyway, so that pieces are short."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Normalizer, pre-tokenizer and decoder."""

    normalize: Normalizer | None
    """What is done to a text first."""
    parts: tuple[Part, ...]
    """How it becomes pieces."""
    is_bytewise: bool
    """Whether pieces are bytes in the end."""
    has_metaspace: bool
    """Whether U+2581 stands for a space."""
    drops_space: bool
    """Whether decoding drops a first space."""
    joins_bytes: bool
    """Whether decoding makes a character of single bytes in a row, or replaces each of them."""
    description: Mapping[str, Any]
    """All of it as it stands in the file."""

    def is_plain(self, added: Sequence[AddedToken]) -> bool:
        """Whether it is no more than a split, the added tokens being pieces of their own."""
        only_splits = all(isinstance(part, Split) for part in self.parts)
        return only_splits and not self.normalize and not self.has_metaspace and _are_plain(added)

    def tokenizer(self, model: Model, added: Sequence[AddedToken], name: str) -> Tokenizer:
        """The tokenizer of a model, with these tokens looked for in every text."""
        splits = [part.pattern for part in self.parts if isinstance(part, Split)]
        if not self.is_plain(added):
            apart = not splits and self.has_metaspace and model.keeps_words_apart
            preparation = self._preparation(model, added, (Split(_WORDS),) if apart else ())
            pattern = THEN.join(splits) or "none"
            return Tokenizer(vocabulary_of(model, added), pattern, name=name, preparation=preparation)
        found_first = [token for token in added if not token.special]
        if found_first:
            texts = sorted((token.text for token in found_first), key=lambda text: (-len(text), text))
            rest = THEN.join(splits) or "none"
            splits = ["|".join(map(escaped, texts)) + ELSE + rest]
        return Tokenizer(vocabulary_of(model, added, found_first), THEN.join(splits) or "none", name=name)

    def _preparation(self, model: Model, added: Sequence[AddedToken], more: tuple[Part, ...]) -> Preparation:
        single_bytes = (token for name, token in model.ids.items() if model.is_byte(name))
        return Preparation(
            tuple(added),
            self.normalize,
            tuple(map(_step, self.parts + more)),
            self.has_metaspace,
            self.drops_space,
            self.description,
            replaces_runs=frozenset(single_bytes) if self.joins_bytes else frozenset(),
        )


def _step(part: Part) -> Step:
    match part:
        case Split():
            return SplitStep(splitter(part.pattern))
        case Prefix():
            return PrefixStep(part.text, part.only_first)
        case Replace():
            return ReplaceStep(" ", part.text)


def _are_plain(added: Sequence[AddedToken]) -> bool:
    """Whether looking for the special tokens first and then for the others finds the same as looking for them here."""
    special = [token for token in added if token.special]
    ordinary = [token for token in added if not token.special]
    if not all(token.is_plain for token in added) or any(
        len({t.normalized for t in kind}) > 1 for kind in (special, ordinary)
    ):
        return False
    return not any(_overlap(one.text, other.text) for one, other in product(ordinary, special))


def _overlap(one: str, other: str) -> bool:
    return other in one or any(one.endswith(other[:n]) for n in range(1, len(other)))


def pipeline_of(fields: Fields, pattern: str | None) -> Pipeline:
    """The pipeline described, with `pattern` in the place of its splits if one is given. Raises `FormatError`."""
    normalizer = fields.fields("normalizer") if "normalizer" in fields else None
    pre_tokenizer = fields.fields("pre_tokenizer") if "pre_tokenizer" in fields else None
    decoder = fields.fields("decoder") if "decoder" in fields else None
    parts = hf_pre_tokenizer.parts(pre_tokenizer) if pre_tokenizer else []
    if pattern is not None:
        parts = [part for part in parts if not isinstance(part, Split)] + [Split(pattern)]
    speaks = any(found and hf_normalizer.has_metaspace(found) for found in (normalizer, decoder))
    if any(map(_is_bytewise, _before_last(pre_tokenizer))):
        fields.unsupported("a ByteLevel before other pre-tokenizers", "one that is the last")
    keys = ("normalizer", "pre_tokenizer", "decoder")
    return Pipeline(
        normalize=hf_normalizer.normalizer(normalizer) if normalizer else None,
        parts=tuple(parts),
        is_bytewise=bool(pre_tokenizer and _is_bytewise(pre_tokenizer)),
        has_metaspace=speaks or Replace(METASPACE) in parts,
        drops_space=bool(decoder and hf_normalizer.drops_space(decoder)),
        joins_bytes=bool(decoder and hf_normalizer.joins_bytes(decoder)),
        description={key: fields.any(key) if key in fields else None for key in keys},
    )


def _is_bytewise(fields: Fields) -> bool:
    if fields.text("type") == "Sequence":
        return any(map(_is_bytewise, fields.objects("pretokenizers")))
    return fields.text("type") == "ByteLevel"


def _before_last(fields: Fields | None) -> list[Fields]:
    is_sequence = fields is not None and fields.text("type") == "Sequence"
    return fields.objects("pretokenizers")[:-1] if fields and is_sequence else []
