"""Unite two tokenizers: the tokens of one are added to the other."""

from itertools import islice
from typing import Final, Literal, NamedTuple

from bpe_core.errors import OptionError
from bpe_core.explain.contexts import texts_with
from bpe_core.surgery.grafting import Grafter, Refusal, joined_labels
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.ranked import RankedVocabulary

_MOST_TRIED: Final = 64
"""Texts in which a piece with the bytes of a token is looked for."""


class UnitedToken(NamedTuple):
    """What became of a token of B."""

    id: int
    """Its id in B."""
    outcome: Literal["same", "new", "impossible"]
    """same: A has a token with these bytes. new: it was added. impossible: the tokenizers are united without it."""
    token: int | None
    """Its id in the united tokenizer; None if it is impossible."""
    reason: str = ""
    """Why it is impossible, a clause."""


class United(NamedTuple):
    """The result of `unite`."""

    tokenizer: Tokenizer
    tokens: tuple[UnitedToken, ...]
    """All tokens of B, in the order in which they were added."""
    merges: tuple[Triple, ...]
    """The new merges (left, right, new id), in order: one for each new token."""
    intermediate: tuple[int, ...]
    """New tokens that are not tokens of B: A's merges divide some tokens of B in another way than B's."""


def unite(a: Tokenizer, b: Tokenizer) -> United:
    """Add the tokens of B to A, in B's order, by merges that are appended after A's.

    A keeps its ids, split pattern, special tokens and everything else. Each token of B that A lacks is encoded with A
    and the tokens added so far. That gives mostly B's own two parts, which a new merge joins. If it gives more, further
    tokens are needed in between. All merges are appended, so the theorem of `bpe_core.surgery.grafting` holds. A model of
    A has not seen the new tokens.

    Args:
        a: The tokenizer to extend; it is not changed.
        b: The tokenizer whose tokens are added.

    Raises:
        OptionError: The vocabulary of A can't be changed, or B marks the ends of words.

    Examples:
        >>> from bpe_core import train
        >>> a = train("low low", vocab_size=258)
        >>> united = unite(a, train("lower lower", vocab_size=260))
        >>> [tuple(token) for token in united.tokens[256:]]
        [(256, 'same', 256, ''), (257, 'same', 257, ''), (258, 'new', 258, ''), (259, 'new', 259, '')]
        >>> united.tokenizer.encode("lower"), united.intermediate
        ([259], ())
    """
    if b.vocabulary.end_of_word is not None:
        raise OptionError(
            "The second tokenizer marks the ends of words, which the first one can't; choose another tokenizer."
        )
    grafter = Grafter(a)
    tokens: list[UnitedToken] = []
    for token in _in_order(b.vocabulary):
        try:
            tokens.append(_add(a, b, grafter, token))
        except Refusal as refusal:
            tokens.append(UnitedToken(token, "impossible", None, str(refusal)))
    return United(
        grafter.tokenizer(),
        tokens=tuple(tokens),
        merges=tuple(grafter.merges),
        intermediate=grafter.intermediate(
            token.token for token in tokens if token.token is not None
        ),
    )


def _in_order(vocabulary: Vocabulary) -> list[int]:
    """Return all ids: single bytes, then tokens in the order of their merges or ranks, then the others."""
    if isinstance(vocabulary, RankedVocabulary):
        ordered = list(vocabulary.encoding.id_of.values())
    else:
        ordered = sorted(vocabulary.alphabet.token_ids)
        ordered += [token for _, _, token in vocabulary.merges]
    return list(dict.fromkeys(ordered + vocabulary.ids()))


def _add(a: Tokenizer, b: Tokenizer, grafter: Grafter, token: int) -> UnitedToken:
    """Add a token of B. Raises `Refusal` if that is impossible."""
    data = b.token_bytes(token)
    if token not in b.vocabulary.bytes_of:
        same_special = a.special_tokens.get(data.decode())
        if same_special is None:
            raise Refusal("it is a special token, which no merge makes")
        return UnitedToken(token, "same", same_special)
    if not data:
        raise Refusal("it is empty")
    old_ids = grafter.old_ids(data)
    if len(old_ids) == 1:
        return UnitedToken(token, "same", old_ids[0])
    _check_piece(grafter, data)
    return UnitedToken(token, "new", grafter.add(data))


def _check_piece(grafter: Grafter, data: bytes) -> None:
    """Raise `Refusal` if no piece is found that contains these bytes."""
    first: list[bytes] = []
    for text in islice(texts_with(data), _MOST_TRIED):
        pieces = grafter.pieces(text)
        if any(data in piece for piece in pieces):
            return
        first = first or pieces
    if not first:
        raise Refusal("no text in UTF-8 contains it, or A's split pattern drops it")
    raise Refusal(f"A makes the pieces {joined_labels(first)} of its text")
