"""The pipeline of tokenizer.json around its model, as a split pattern if it only splits, else as a `Preparation`."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from bpe_core.formats.fields import Fields
from bpe_core.formats.huggingface import components
from bpe_core.formats.huggingface.components import ToBytes
from bpe_core.formats.huggingface.model import Model, vocabulary_of
from bpe_core.patterns import splitter
from bpe_core.patterns.pattern import Else, longest_first, one_after_another
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.preparation import METASPACE, Preparation
from bpe_core.tokenizer.steps import BytePieces, ReplaceStep, SplitStep, Step

KEYS: Final = ("normalizer", "pre_tokenizer", "decoder")
"""The keys of tokenizer.json that describe the pipeline, apart from added tokens."""

_WORDS: Final = "▁+[^▁]*|[^▁]+"
"""Splits before spaces; for models whose merges never cross these places, to get short pieces."""


def preparation_of(fields: Fields, pattern: str | None) -> tuple[Preparation, bool]:
    """(the pipeline without added tokens, whether it ends with pieces in the byte alphabet).

    `pattern` replaces all splits if it is not None. Raises `FormatError`.
    """
    normalizer = fields.fields("normalizer") if "normalizer" in fields else None
    pre_tokenizer = fields.fields("pre_tokenizer") if "pre_tokenizer" in fields else None
    decoder = fields.fields("decoder") if "decoder" in fields else None
    steps, splits_of_bytes = _around_bytes(
        fields, components.pre_tokenizer_steps(pre_tokenizer) if pre_tokenizer else ()
    )
    within = splits_of_bytes
    if pattern is not None:
        steps, within = [*(step for step in steps if not isinstance(step, SplitStep)), SplitStep(splitter(pattern))], []
    puts = ReplaceStep(" ", METASPACE) in steps or bool(normalizer and components.writes_metaspace(normalizer))
    if decoder and not puts and components.removes_metaspace(decoder):
        fields.unsupported("a decoder that makes spaces of U+2581 where nothing makes U+2581 of spaces", "both")
    preparation = Preparation(
        added=(),
        normalize=components.normalizer(normalizer) if normalizer else None,
        steps=tuple(steps),
        has_metaspace=puts,
        drops_space=bool(decoder and components.drops_space(decoder)),
        description=_described(fields, steps, pattern),
        within=BytePieces(tuple(step.splitter for step in within)) if within else None,
    )
    return preparation, splits_of_bytes is not None


def prepared_tokenizer(
    model: Model, preparation: Preparation, added: Sequence[AddedToken], joins_bytes: bool, name: str
) -> Tokenizer:
    """The tokenizer of a model, a pipeline and added tokens; without `preparation` if a split pattern can express it.

    `joins_bytes`: runs of byte-fallback tokens are decoded as UTF-8, to a U+FFFD per byte if they are invalid.
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
    """Whether searching for special tokens first and for the others afterwards finds what one search finds.

    True if all are plain, those of a kind agree in `normalized`, and no special and ordinary one can overlap.
    """
    special = [token for token in added if token.special]
    ordinary = [token for token in added if not token.special]
    if not all(token.is_plain for token in added) or any(
        len({t.normalized for t in kind}) > 1 for kind in (special, ordinary)
    ):
        return False
    of_one_kind, of_the_other = ([token.text for token in kind] for kind in (special, ordinary))
    return not any(map(_Overlaps(of_one_kind), of_the_other)) and not any(map(_Overlaps(of_the_other), of_one_kind))


class _Overlaps:
    """Finds out whether any of many texts occurs in a given text or overlaps its end; indexed for thousands of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(texts)
        self._lengths = sorted(set(map(len, self._texts)))
        self._in_order = sorted(self._texts)

    def __call__(self, text: str) -> bool:
        """Whether one of the texts occurs in `text`, or begins with an end of it."""
        if any(self._one_begins(text[start:]) for start in range(len(text))):
            return True
        parts = (text[start : start + n] for n in self._lengths for start in range(len(text) - n + 1))
        return any(map(self._texts.__contains__, parts))

    def _one_begins(self, beginning: str) -> bool:
        place = bisect_left(self._in_order, beginning)
        return place < len(self._in_order) and self._in_order[place].startswith(beginning)


def _described(fields: Fields, steps: Sequence[Step], pattern: str | None) -> dict[str, Any]:
    """`Preparation.description`: the values of `KEYS`, without splits that `pattern` replaced."""
    described = {key: fields.any(key) if key in fields else None for key in KEYS}
    if pattern is None:
        return described
    del described["pre_tokenizer"]
    return described if all(isinstance(step, SplitStep) for step in steps) else {}


def _around_bytes(fields: Fields, steps: Iterable[Step | ToBytes]) -> tuple[list[Step], list[SplitStep] | None]:
    """(steps before `ToBytes`, splits after it); the second is None if the pre-tokenizer has no `ToBytes`.

    Raises `FormatError` if anything but splits follows.
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
