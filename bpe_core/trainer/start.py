"""Prepare the start of a training run: from single bytes, or from a vocabulary with merges.

A learner numbers symbols from 0: the 256 bytes in the order of the tie rule, the end-of-word marker,
then one symbol per merge. This module assigns an id to each symbol.
"""

from itertools import count, islice
from typing import NamedTuple

from bpe_core.errors import OptionError
from bpe_core.kernel.fallback import Pair
from bpe_core.tokenizer.tie_rules import tie_rule
from bpe_core.tokenizer.training_record import Options, TrainOptions
from bpe_core.vocabulary import Vocabulary


class Start(NamedTuple):
    """The state of a training run before its first merge."""

    vocabulary: Vocabulary
    """The vocabulary without merges."""
    ids: list[int]
    """Symbol -> id, including the symbols of all merges to be learned."""
    given: tuple[Pair, ...]
    """The merges of the vocabulary to extend, as pairs of symbols."""


def start_of(options: Options, old: Vocabulary | None) -> Start:
    """Prepare the start of a training run that extends `old`, if that is not None.

    `old` has passed `check_extensible`. Its tokens and special tokens keep their ids, and new tokens
    take the free ids in ascending order. In a new vocabulary, special tokens after the merges move
    up with each merge.
    """
    vocabulary = first_vocabulary(options, old)
    # A piece of all 256 bytes, in the order of the tie rule, begins as these ids and ends with the marker.
    base_ids = vocabulary.symbols(tie_rule(options.ties).alphabet)
    if old is None:
        first_id = max(base_ids) + 1
        n_merges = options.vocab_size - vocabulary.n_tokens
        ids = base_ids + list(range(first_id, first_id + n_merges))
        return Start(vocabulary=vocabulary, ids=ids, given=())
    check_larger(old, options.vocab_size)
    ids = base_ids + [token for _, _, token in old.merges]
    symbol_of = {token: symbol for symbol, token in enumerate(ids)}
    given = tuple((symbol_of[left], symbol_of[right]) for left, right, _ in old.merges)
    used_ids = set(ids)
    used_ids.update(old.special_tokens.values())
    free_ids = (token for token in count() if token not in used_ids)
    n_new = options.vocab_size - old.n_tokens
    ids += islice(free_ids, n_new)
    return Start(vocabulary=vocabulary, ids=ids, given=given)


def first_vocabulary(options: Options, old: Vocabulary | None) -> Vocabulary:
    """Return the vocabulary before the first merge of a training run, which may extend `old`."""
    if old is not None:
        return old.at(0)
    return Vocabulary.of_bytes(
        options.id_layout, options.special_tokens, options.end_of_word
    )


def check_larger(old: Vocabulary, vocab_size: int) -> None:
    """Raise `OptionError` if a vocabulary to extend already has as many tokens as requested."""
    if vocab_size <= old.n_tokens:
        raise OptionError(
            f"The vocabulary to extend has {old.n_tokens:,} tokens; ask for a larger vocab_size."
        )


def check_extensible(old: Vocabulary) -> None:
    """Raise `OptionError` if no training can extend a vocabulary. Its merges have been recovered."""
    base_tokens = sorted(
        data for token, data in old.base.items() if token != old.end_of_word
    )
    problem = ""
    if old.has_repeats:
        problem = "two of its merges make the same token"
    elif base_tokens != [bytes([byte]) for byte in range(256)]:
        problem = "its merges do not begin with the 256 bytes alone"
    elif old.whole_pieces:
        problem = "some of its tokens are found without merging"
    if problem:
        raise OptionError(f"This vocabulary cannot be extended: {problem}.")


def inherited(old: Vocabulary) -> TrainOptions:
    """Return the options that a training run takes from the vocabulary it extends.

    The layout is "specials-first" if all special tokens have lower ids than the bytes.
    """
    special_ids = old.special_tokens.values()
    id_layout = "bytes-first"
    if special_ids and max(special_ids) < min(old.base):
        id_layout = "specials-first"
    end_of_word = ""
    if old.end_of_word is not None:
        end_of_word = old.token_bytes(old.end_of_word).decode()
    return {
        "id_layout": id_layout,
        "special_tokens": tuple(old.special_tokens),
        "end_of_word": end_of_word,
    }
