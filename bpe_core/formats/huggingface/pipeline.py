"""What tokenizer.json does to a text around its model: a plain split pattern wherever it is no more than that."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
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
from bpe_core.tokenizer.preparation import METASPACE, Preparation
from bpe_core.tokenizer.steps import ReplaceStep, SplitStep, Step

KEYS: Final = ("normalizer", "pre_tokenizer", "decoder")
"""What of tokenizer.json it is described by."""

_WORDS: Final = "▁+[^▁]*|[^▁]+"
"""Splits where no merge joins anyway, so that pieces are short."""


def preparation_of(fields: Fields, pattern: str | None) -> tuple[Preparation, bool]:
    """What is done to a text, but for the added tokens, and whether its pieces are bytes in the end.

    `pattern` takes the place of the splits if it is given. Raises `FormatError`.
    """
    normalizer = fields.fields("normalizer") if "normalizer" in fields else None
    pre_tokenizer = fields.fields("pre_tokenizer") if "pre_tokenizer" in fields else None
    decoder = fields.fields("decoder") if "decoder" in fields else None
    steps, splits_of_bytes = _around_bytes(fields, pre_tokenizers.steps(pre_tokenizer) if pre_tokenizer else ())
    within = splits_of_bytes
    if pattern is not None:
        steps, within = [*(step for step in steps if not isinstance(step, SplitStep)), SplitStep(splitter(pattern))], []
    puts = ReplaceStep(" ", METASPACE) in steps or bool(normalizer and normalizers.puts_metaspace(normalizer))
    if decoder and not puts and normalizers.takes_metaspace(decoder):
        fields.unsupported("a decoder that makes spaces of U+2581 where nothing makes U+2581 of spaces", "both")
    preparation = Preparation(
        added=(),
        normalize=normalizers.normalizer(normalizer) if normalizer else None,
        steps=tuple(steps),
        has_metaspace=puts,
        drops_space=bool(decoder and normalizers.drops_space(decoder)),
        description=_described(fields, steps, pattern),
        within=BytePieces(tuple(step.splitter for step in within)) if within else None,
    )
    return preparation, splits_of_bytes is not None


def prepared_tokenizer(
    model: Model, preparation: Preparation, added: Sequence[AddedToken], joins_bytes: bool, name: str
) -> Tokenizer:
    """The tokenizer of a model, with these tokens looked for in every text; without preparation if a pattern will do.

    `joins_bytes`: decoding makes a character of single bytes in a row, or U+FFFD of each of them.
    """
    splits = [step.splitter.tree for step in preparation.steps if isinstance(step, SplitStep)]
    pattern = one_after_another(splits)
    does_more = preparation.normalize or preparation.within or preparation.has_metaspace
    if len(splits) == len(preparation.steps) and not does_more and _are_plain(added):
        ordinary = [token for token in added if not token.special]
        if ordinary:
            pattern = Else(longest_first(token.text for token in ordinary), pattern)
        return Tokenizer(vocabulary_of(model, added, ordinary), str(pattern), name=name)
    if not splits and preparation.has_metaspace and model.keeps_words_apart:
        preparation = replace(preparation, steps=(*preparation.steps, SplitStep(splitter(_WORDS))))
    single_bytes = (token for name, token in model.ids.items() if model.is_byte(name) and joins_bytes)
    preparation = replace(preparation, added=tuple(added), replaces_runs=frozenset(single_bytes))
    return Tokenizer(vocabulary_of(model, added), str(pattern), name=name, preparation=preparation)


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


def _described(fields: Fields, steps: Sequence[Step], pattern: str | None) -> dict[str, Any]:
    """What is to be written into a file: not the splits that a given pattern has taken the place of."""
    described = {key: fields.any(key) if key in fields else None for key in KEYS}
    if pattern is None:
        return described
    del described["pre_tokenizer"]
    return described if all(isinstance(step, SplitStep) for step in steps) else {}


def _around_bytes(fields: Fields, steps: Iterable[Step | ToBytes]) -> tuple[list[Step], list[SplitStep] | None]:
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
