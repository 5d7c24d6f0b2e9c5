"""Remove tokens from a vocabulary.

**Theorem.** A text in whose merging no removed token is formed has the same ids before and after. *Formed* means at
any time: as a symbol, by a merge, or because a piece is looked up as a whole; not only in the result.

Proof. Removing tokens removes merges and adds none. With ranks, the pairs that may join are those whose joined bytes
are a token, so pairs too are only removed. Consider one piece, before and after, as long as both have the same
tokens. The pair that joins next before the change has the lowest rank of all pairs that may join, the leftmost of
equal ones. It makes a token that is not removed, from two that are not removed, so it may still join after the
change. It still has the lowest rank, since no pair was added and the others keep their order. So both make the same
step. When no pair may join before, none may join after. A piece that is looked up as a whole is the same token before
and after, and no other piece is looked up after.

The theorem holds for merges and for ranks, and for several merges per token. A text in which a removed token is
formed may get any other ids; `Pruned.unreachable` lists the tokens that no text becomes any more.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, Literal, NamedTuple, TypeVar, get_args

from bpe_core.difference.surroundings import added_tokens
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.token_ids import as_ids
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import is_utf8
from bpe_core.visible import token_label
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.paths import vocabulary_of
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import CharacterSymbols, Symbols

Decision = Literal["list", "with-descendants", "keep-parents"]
DECISIONS: Final[tuple[Decision, ...]] = get_args(Decision)
"""What happens with tokens that become unreachable. list: they stay in the vocabulary. with-descendants: they are removed
too. keep-parents: nothing becomes unreachable, since no token is removed that another one is built on. Then only ids of a
text and tokens that they are built on are formed in it, so a text whose ids are all left keeps them."""
T = TypeVar("T")


class Pruned(NamedTuple):
    """The result of `prune`. All ids are those of the old tokenizer, except the values of `mapping`."""

    tokenizer: Tokenizer
    mapping: Mapping[int, int]
    """Old id -> new id of each token that is left. Without `renumber` both are equal."""
    unreachable: tuple[int, ...]
    """Tokens that were not to be removed, and that no text becomes without the others."""
    removed: tuple[int, ...]
    """All tokens that are removed, also unreachable ones if that was decided."""
    kept: Mapping[int, int]
    """Tokens that were to be removed and are not, because another token needs them -> one that does."""
    only_whole: tuple[int, ...]
    """Tokens that no merge makes now, and that only a piece equal to them becomes."""


def prune(
    tokenizer: Tokenizer,
    ids: Iterable[int],
    *,
    renumber: bool = False,
    unreachable: Decision = "list",
) -> Pruned:
    """Remove tokens: every merge that makes one of them, on every path, and every merge that uses one.

    A text in whose merging no removed token was formed keeps its ids; `bpe_core.surgery.pruning` has the proof.

    Args:
        tokenizer: The tokenizer, which is not changed.
        ids: The tokens to remove.
        renumber: Close all holes: the ids that are left become 0, 1, 2, ... in the same order. Otherwise all ids stay,
            and those of removed tokens are unused. tiktoken accepts unused ids, except with `explicit_n_vocab`.
        unreachable: What happens with tokens that become unreachable; one of `DECISIONS`.

    Returns:
        The new tokenizer, the ids that are left, and the tokens that become unreachable.

    Raises:
        OptionError: There are no ids, or a token can't be removed: a special or added token, or a single byte.
        UnknownTokenError: An id is unknown.
        NotAnIdError: A value is not a whole number.

    Examples:
        >>> from bpe_core import train
        >>> low = train("low low lower lower", vocab_size=259)
        >>> [low.decode([token]) for token in (256, 257, 258)]
        ['lo', 'low', ' low']
        >>> pruned = prune(low, [257])
        >>> pruned.tokenizer.encode(" low"), pruned.unreachable
        ([32, 256, 119], (258,))
    """
    if unreachable not in DECISIONS:
        raise OptionError(
            f"Unknown decision {unreachable!r}; choose one of {', '.join(DECISIONS)}."
        )
    check_changeable(tokenizer)
    removed = _checked(tokenizer, ids)
    vocabulary = tokenizer.vocabulary
    kept: dict[int, int] = {}
    if unreachable == "keep-parents":
        kept = _parts_of_others(vocabulary, removed)
        removed -= kept.keys()
    if not removed:
        token, child = next(iter(kept.items()))
        raise OptionError(
            f"Nothing can be removed: the tokens are parts of others, such as {_label(tokenizer, token)} of "
            f"{_label(tokenizer, child)}."
        )
    changed = _without(tokenizer, removed)
    left = vocabulary.bytes_of.keys() - removed
    not_made = left - _merged_tokens(changed.vocabulary, left)
    unmade = _merged_tokens(vocabulary, not_made)
    only_whole = {token for token in unmade if _is_looked_up(changed, token)}
    unreached = unmade - only_whole
    if unreachable == "with-descendants" and unreached:
        # They are never formed, so without them every text has the same ids, and no other token becomes unreachable.
        removed |= unreached
        changed = _without(tokenizer, removed)
    pruned = Pruned(
        changed,
        mapping={token: token for token in changed.vocabulary.ids()},
        unreachable=tuple(sorted(unreached)),
        removed=tuple(sorted(removed)),
        kept=kept,
        only_whole=tuple(sorted(only_whole)),
    )
    return renumbered(pruned) if renumber else pruned


def _checked(tokenizer: Tokenizer, ids: Iterable[int]) -> set[int]:
    """Return the tokens to remove, or raise an error for the first one that can't be removed."""
    tokens = as_ids(ids)
    if not tokens:
        raise OptionError("There are no tokens to remove; give at least one id.")
    needed = needed_by_texts(tokenizer)
    for token in tokens:
        tokenizer.vocabulary.token_bytes(token)  # raises an error if it is unknown
        if token in needed:
            raise OptionError(
                f"Token {_label(tokenizer, token)} can't be removed: it is {needed[token]}; leave it out."
            )
    return set(tokens)


def check_changeable(tokenizer: Tokenizer) -> None:
    """Raise `OptionError` if the vocabulary of a tokenizer can't be changed."""
    vocabulary = tokenizer.vocabulary
    if vocabulary.end_of_word is not None:
        raise OptionError(
            "This tokenizer marks the ends of words, and only vocabularies without such a marker can be changed."
        )
    has_characters = isinstance(vocabulary.alphabet, CharacterSymbols)
    if isinstance(vocabulary, RankedVocabulary) and has_characters:
        raise OptionError(
            "This is a SentencePiece model, whose merges can't be known and which can't be written; "
            "use its tokenizer.json instead."
        )


def needed_by_texts(tokenizer: Tokenizer) -> dict[int, str]:
    """Return the tokens that can't be removed: id -> why, as the end of a sentence."""
    needed: dict[int, str] = {}
    symbols = tokenizer.vocabulary.alphabet
    for byte, token in symbols.byte_ids.items():
        needed[token] = f"the byte 0x{byte:02X}, and each byte needs a token"
    if isinstance(symbols, CharacterSymbols):
        for character, token in symbols.id_of.items():
            if not symbols.byte_ids.keys() >= set(character.encode()):
                needed[token] = "a character, for which there are no bytes"
        if symbols.unknown is not None:
            needed[symbols.unknown] = "the token of unknown characters"
    for added in added_tokens(tokenizer).values():
        needed[added.token] = "an added token, which is found before merging"
        if added.special:
            needed[added.token] = "a special token"
    return needed


def _parts_of_others(vocabulary: Vocabulary, removed: set[int]) -> dict[int, int]:
    """Return those of `removed` that other tokens are built on -> one that is left, or is needed itself."""
    bytes_of = vocabulary.bytes_of
    needed: dict[int, int] = {}
    # A token is longer than its parts, so in this order it is known of each token whether it stays.
    merges = sorted(
        vocabulary.as_merges().merges, key=lambda merge: -len(bytes_of[merge[2]])
    )
    for left, right, token in merges:
        if token not in removed or token in needed:
            for part in removed & {left, right}:
                needed.setdefault(part, token)
    return needed


def _merged_tokens(vocabulary: Vocabulary, tokens: Iterable[int]) -> set[int]:
    """Return those of `tokens` that merging makes: their bytes, merged alone, become the token.

    Merging makes no other token in any text, since the bytes of a token are joined in the same order wherever they
    become that token (`bpe_core.vocabulary.merge_loop` has the proof).
    """
    made: set[int] = set()
    for token in tokens:
        with suppress(UnknownTokenError):  # some published vocabularies lack bytes
            if vocabulary.join(vocabulary.bytes_of[token]) == (token,):
                made.add(token)
    return made


def _is_looked_up(tokenizer: Tokenizer, token: int) -> bool:
    """Whether a piece that is equal to a token becomes it."""
    data = tokenizer.token_bytes(token)
    splits_bytes = tokenizer.preparation and tokenizer.preparation.within
    return tokenizer.vocabulary.encoding.whole(data) == token and (
        is_utf8(data) or bool(splits_bytes)
    )


def _label(tokenizer: Tokenizer, token: int) -> str:
    return f"{token} '{token_label(tokenizer.token_bytes(token)[:60])}'"


def _without(tokenizer: Tokenizer, removed: set[int]) -> Tokenizer:
    ids = tokenizer.vocabulary.ids()
    return _with_ids(tokenizer, {token: token for token in ids if token not in removed})


def renumbered(pruned: Pruned) -> Pruned:
    """Close all holes between the ids of a pruned tokenizer, as `prune` does with `renumber`."""
    new_ids = {token: number for number, token in enumerate(pruned.mapping)}
    tokenizer = _with_ids(pruned.tokenizer, new_ids)
    return pruned._replace(tokenizer=tokenizer, mapping=new_ids)


def _with_ids(tokenizer: Tokenizer, new_ids: Mapping[int, int]) -> Tokenizer:
    """Return the tokenizer with new ids (old -> new, in the same order).

    Tokens without a new id are removed, and so are the merges that make or use them.
    """
    vocabulary = tokenizer.vocabulary
    tokens = {
        new_ids[token]: data
        for token, data in vocabulary.bytes_of.items()
        if token in new_ids
    }
    specials = _translated(vocabulary.special_tokens, new_ids)
    symbols: Symbols = vocabulary.alphabet
    symbols = replace(symbols, byte_ids=_translated(symbols.byte_ids, new_ids))
    if isinstance(symbols, CharacterSymbols):
        symbols = replace(symbols, id_of=_translated(symbols.id_of, new_ids))
        if symbols.unknown is not None:
            symbols = replace(symbols, unknown=new_ids[symbols.unknown])
    changed: Vocabulary
    if isinstance(vocabulary, RankedVocabulary):
        changed = RankedVocabulary(
            tokens,
            specials,
            symbols=symbols,
            id_of=_translated(vocabulary.encoding.id_of, new_ids),
            whole_pieces=vocabulary.encoding.looks_up,
        )
    else:
        changed = vocabulary_of(
            tokens,
            [
                (new_ids[left], new_ids[right], new_ids[token])
                for left, right, token in vocabulary.listed_merges
                if new_ids.keys() >= {left, right, token}
            ],
            specials,
            symbols=symbols,
            whole_pieces=_translated(vocabulary.whole_pieces, new_ids),
        )
    preparation = tokenizer.preparation
    if preparation:
        added = [
            replace(added, token=new_ids[added.token]) for added in preparation.added
        ]
        fallback_ids = [new_ids[token] for token in preparation.byte_fallback_ids]
        preparation = replace(
            preparation, added=tuple(added), byte_fallback_ids=frozenset(fallback_ids)
        )
    return tokenizer.with_vocabulary(changed, preparation=preparation)


def _translated(id_of: Mapping[T, int], new_ids: Mapping[int, int]) -> dict[T, int]:
    """Return a mapping to ids with their new ids, without those that have none."""
    return {key: new_ids[token] for key, token in id_of.items() if token in new_ids}
