"""Compare the split patterns of two tokenizers, and find a short text whose ids differ because of them.

Two patterns can split a text differently and the ids be the same, if no token is as long as the longer piece. So a text is a
witness only if its ids differ, and if they change when one of the tokenizers gets the pattern of the other one.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Final, NamedTuple

from bpe_core.difference.records import (
    Cause,
    Pair,
    PartComparison,
    Witness,
    encoded,
    shown,
    written,
)
from bpe_core.difference.splits import (
    aligned,
    compare_splits,
    describe_pieces,
    distinguished,
    node_of,
    short_texts,
)
from bpe_core.difference.surroundings import normalized
from bpe_core.errors import PatternError
from bpe_core.patterns import Splitter, patience, splitter
from bpe_core.patterns.pattern import Else, Pattern, one_after_another
from bpe_core.patterns.token_cuts import text_with_token_cut
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import BytePieces, SplitStep, Step
from bpe_core.visible import counted

_PART: Final = "split pattern"
_PATIENCE: Final = 5.0
"""Seconds for all expressions together."""
_MOST_TRIED: Final = 20_000
"""Maximum number of candidates that are encoded."""


class _Splits(NamedTuple):
    """The splits of a tokenizer, and the steps between them."""

    splitters: list[Splitter]
    """One before each other step, and one after the last of them."""
    others: list[Step]
    within: BytePieces | None
    """The splits of the bytes of each piece."""


def compare_pattern(pair: Pair) -> PartComparison:
    """Compare the split patterns of two tokenizers. Added tokens are not a part of them."""
    of_a = splits_of(pair.a)
    of_b = splits_of(pair.b)
    if len(of_a.others) != len(of_b.others) or of_a.within != of_b.within:
        sentence = "A and B split a text in different kinds of steps, so the steps can't be compared."
        return PartComparison(_PART, None, sentence)
    splits = list(zip(of_a.splitters, of_b.splitters, strict=True))
    comparisons = [compare_splits(a, b) for a, b in splits if a != b]
    different = [each for each in comparisons if not each.is_same]
    if not different:
        sentence = "The split patterns are equal."
        if comparisons:
            sentence = comparisons[0].sentence
        return PartComparison(_PART, True, sentence)
    search = _WitnessSearch(pair, of_a, of_b)
    texts = [comparison.text for comparison in different if comparison.text]
    with patience(_PATIENCE), suppress(PatternError):
        witness = search.witness(chain(texts, search.likely_texts()))
        if witness is None:
            cut_token = _text_with_token_cut(pair, of_a, of_b)
            if cut_token == "":
                sentence = (
                    f"{different[0].sentence} But no token can cross a place where only one of them cuts, so the ids "
                    "are the same."
                )
                return PartComparison(_PART, True, sentence)
            if cut_token:
                witness = search.witness(search.texts_with_tokens(cut_token))
        if witness is not None:
            return shown(_PART, search.cause(witness), witness)
    sentence = different[0].sentence
    if not texts:
        return PartComparison(_PART, None, sentence)
    what = f"{sentence} No text was found whose ids differ because of it."
    return PartComparison(_PART, None, what, [Cause(_PART, sentence, None)])


def splits_of(tokenizer: Tokenizer) -> _Splits:
    preparation = tokenizer.preparation
    if preparation is None:
        tree = tokenizer.splitter.tree
        if isinstance(tree, Else) and isinstance(tree.first, tuple):
            tree = tree.rest  # the texts that are found first are added tokens
        return _Splits([splitter(str(tree))], [], None)
    trees: list[Pattern] = []
    splitters: list[Splitter] = []
    others: list[Step] = []
    for step in preparation.steps:
        if isinstance(step, SplitStep):
            trees.append(step.splitter.tree)
            continue
        splitters.append(splitter(str(one_after_another(trees))))
        others.append(step)
        trees = []
    splitters.append(splitter(str(one_after_another(trees))))
    return _Splits(splitters, others, preparation.within)


def _text_with_token_cut(pair: Pair, of_a: _Splits, of_b: _Splits) -> str | None:
    """Return a text in which a token may cross a place where only one tokenizer cuts; "" if it is proved that none can.

    None if it can't be decided.
    """
    if of_a.others or of_a.within:
        return None
    (a,), (b,) = of_a.splitters, of_b.splitters
    splits = aligned(a.tree, b.tree)
    # All splits before the last one must be equal: the last one splits their pieces again.
    if not splits or any(first != second for first, second in splits[:-1]):
        return None
    last_of_a, last_of_b = splits[-1]
    if last_of_a.drops_rest or last_of_b.drops_rest:
        return None
    tokens = set[bytes]()
    for tokenizer in (pair.a, pair.b):
        if not _merges_only(tokenizer):
            return None
        tokens.update(tokenizer.vocabulary.bytes_of.values())
    try:
        return text_with_token_cut(node_of(last_of_a), node_of(last_of_b), tokens)
    except (ValueError, RecursionError):
        return None


def _merges_only(tokenizer: Tokenizer) -> bool:
    """Whether the tokens of a piece are always those that merging its bytes makes."""
    vocabulary = tokenizer.vocabulary
    preparation = tokenizer.preparation
    if not vocabulary.is_bytewise or (preparation and preparation.has_metaspace):
        return False
    return all(
        vocabulary.join(data) == (token,)
        for data, token in vocabulary.whole_pieces.items()
    )


def _with_splits(tokenizer: Tokenizer, splits: _Splits) -> Tokenizer:
    """Return the tokenizer with other splits, in the places of its own."""
    preparation = tokenizer.preparation
    if preparation is None:
        (only,) = splits.splitters
        tree = tokenizer.splitter.tree
        changed_tree = only.tree
        if isinstance(tree, Else) and isinstance(tree.first, tuple):
            changed_tree = Else(tree.first, only.tree)
        return Tokenizer(tokenizer.vocabulary, str(changed_tree))
    *first, last = splits.splitters
    steps: list[Step] = []
    for split, other in zip(first, splits_of(tokenizer).others, strict=True):
        steps += (SplitStep(split), other)
    steps.append(SplitStep(last))
    changed = replace(preparation, steps=tuple(steps), description={})
    return Tokenizer(tokenizer.vocabulary, tokenizer.pattern, preparation=changed)


class _WitnessSearch:
    """A search for a text whose ids differ because two tokenizers split it differently."""

    def __init__(self, pair: Pair, of_a: _Splits, of_b: _Splits) -> None:
        self._pair = pair
        self._splits = list(zip(of_a.splitters, of_b.splitters, strict=True))
        self._a_with_splits_of_b = _with_splits(pair.a, of_b)
        self._b_with_splits_of_a = _with_splits(pair.b, of_a)

    def witness(self, texts: Iterable[str]) -> Witness | None:
        """Return the first witness of some texts. It encodes a limited number of them."""
        different = filter(self._is_split_differently, texts)
        for text in islice(different, _MOST_TRIED):
            witness = self._pair.witness(text)
            if witness is not None and self._depends_on_pattern(witness):
                return witness
        return None

    def likely_texts(self) -> Iterator[str]:
        """Yield short texts and tokens, the shortest first, then tokens with one more character."""
        units: dict[str, None] = {}
        for a, b in self._splits:
            if a != b:
                units.update(dict.fromkeys(distinguished(a, b)))
        tokens = self._texts_of_tokens()
        short = islice(short_texts(list(units)), _MOST_TRIED)
        yield from sorted(chain(short, tokens), key=len)
        in_contexts = chain.from_iterable(
            (unit + token, token + unit) for token in tokens for unit in units
        )
        yield from islice(in_contexts, _MOST_TRIED)

    def texts_with_tokens(self, text: str) -> Iterator[str]:
        """Yield a text, and its beginnings with a token after them."""
        yield text
        beginnings = [text[:length] for length in range(1, len(text))]
        for token in islice(self._texts_of_tokens(), _MOST_TRIED):
            for beginning in beginnings:
                yield beginning + token

    def _is_split_differently(self, text: str) -> bool:
        """Whether the patterns split a text differently that neither tokenizer normalizes to another one."""
        if not normalized(self._pair.a, text) == text == normalized(self._pair.b, text):
            return False
        return any(a.split(text) != b.split(text) for a, b in self._splits)

    def _depends_on_pattern(self, witness: Witness) -> bool:
        """Whether the ids of A or of B change when it gets the pattern of the other one."""
        text = witness.text
        if encoded(self._a_with_splits_of_b, text, False) != witness.a:
            return True
        return encoded(self._b_with_splits_of_a, text, False) != witness.b

    def _texts_of_tokens(self) -> list[str]:
        """Return the texts of all tokens that a pattern may cut, the shortest first."""
        texts: dict[str, None] = {}
        for tokenizer in (self._pair.a, self._pair.b):
            vocabulary = tokenizer.vocabulary
            for token in vocabulary.bytes_of:
                with suppress(UnicodeDecodeError):
                    texts[vocabulary.text_bytes(token).decode()] = None
        return sorted((text for text in texts if len(text) > 1), key=len)

    def cause(self, witness: Witness) -> str:
        """Describe how the patterns make the ids of a text different."""
        text = witness.text
        pieces = ((a.split(text), b.split(text)) for a, b in self._splits)
        of_a, of_b = next(
            describe_pieces(a, b, known=text) for a, b in pieces if a != b
        )
        why = f"A's pattern {of_a}, and B's {of_b}"
        n_of_a = len(witness.a or ())
        n_of_b = len(witness.b or ())
        if n_of_a == n_of_b:
            return f"{written(text)} becomes other tokens in A and in B, because {why}."
        return f"{written(text)} is {counted(n_of_a, 'token')} in A and {n_of_b} in B, because {why}."
