"""Where a training begins: at the bytes, or at a vocabulary whose merges are given and whose ids all stay.

The learner numbers symbols from 0: the 256 bytes in the order of the tie rule, the end-of-word marker, then one symbol
for each merge. Here each of them gets its id and its bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from bpe_core.errors import OptionError
from bpe_core.trainer.pair_index import Pair
from bpe_core.trainer.ties import alphabet
from bpe_core.utf8 import utf8
from bpe_core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Start:
    """What is known before the first merge is chosen."""

    vocabulary: Vocabulary
    """The vocabulary without any merge."""
    ids: list[int]
    """Symbol -> id."""
    tokens: list[bytes]
    """Symbol -> its bytes."""
    given: tuple[Pair, ...]
    """The merges that are made first, in order, as pairs of symbols."""
    given_ids: tuple[int, ...]
    """The ids of the tokens that they make."""
    new_ids: Iterator[int]
    """The ids of the tokens that are learned, in order; never ends."""


def from_bytes(ties: str, id_layout: str, special_tokens: Sequence[str], end_of_word: str) -> Start:
    """The start of a new vocabulary. Special tokens behind the merges move up as these are learned."""
    first = len(special_tokens) if id_layout == "specials-first" else 0
    ids = [first + byte for byte in alphabet(ties)]
    tokens = [bytes([byte]) for byte in alphabet(ties)]
    if end_of_word:
        ids.append(first + 256)
        tokens.append(utf8(end_of_word))
    vocabulary = Vocabulary.of_bytes(id_layout, special_tokens, end_of_word)
    return Start(vocabulary, ids, tokens, (), (), count(first + len(ids)))


def from_vocabulary(old: Vocabulary, ties: str) -> Start:
    """The start at the merges of `old`: its tokens and special tokens keep their ids, new tokens take the free ids in
    ascending order. `old` passes `check_extensible`.
    """
    id_of = {data: token for token, data in old.base.items() if token != old.end_of_word}
    ids = [id_of[bytes([byte])] for byte in alphabet(ties)]
    if old.end_of_word is not None:
        ids.append(old.end_of_word)
    n_base = len(ids)
    ids += [token for _, _, token in old.merges]
    symbol_of = {token: symbol for symbol, token in enumerate(ids)}
    given = tuple((symbol_of[left], symbol_of[right]) for left, right, _ in old.merges)
    used = {*ids, *old.special_tokens.values()}
    return Start(
        vocabulary=old.at(0),
        ids=ids[:n_base],
        tokens=[old.token_bytes(token) for token in ids[:n_base]],
        given=given,
        given_ids=tuple(ids[n_base:]),
        new_ids=(token for token in count() if token not in used),
    )


def check_larger(old: Vocabulary, vocab_size: int) -> None:
    """Raise `OptionError` if `vocab_size` leaves nothing to learn."""
    if vocab_size <= old.n_vocab:
        raise OptionError(f"The vocabulary to extend has {old.n_vocab:,} tokens; ask for a larger vocab_size.")


def check_extensible(old: Vocabulary) -> None:
    """Raise `OptionError` if no training can go on from this vocabulary; merges that ranks hide are recovered first."""
    problem = ""
    if old.has_repeats:
        problem = "two of its merges make the same token"
    elif sorted(data for token, data in old.base.items() if token != old.end_of_word) != [
        bytes([byte]) for byte in range(256)
    ]:
        problem = "its merges do not begin with the 256 bytes alone"
    elif old.whole_pieces:
        problem = "some of its tokens are found without merging"
    if problem:
        raise OptionError(f"This vocabulary cannot be extended: {problem}.")


def inherited(old: Vocabulary) -> dict[str, Any]:
    """The options of a training that are not chosen but those of the vocabulary it extends, by name.

    The layout is "specials-first" if all special tokens have lower ids than the bytes.
    """
    last = max(old.special_tokens.values(), default=None)
    return {
        "id_layout": "specials-first" if last is not None and last < min(old.base) else "bytes-first",
        "special_tokens": tuple(old.special_tokens),
        "end_of_word": "" if old.end_of_word is None else old.token_bytes(old.end_of_word).decode(),
    }
