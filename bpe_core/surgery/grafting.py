"""Add words to a vocabulary: each becomes one token, by merges that are appended after all others.

The merges of a word are made from left to right: its first two tokens become one new token, then this one and the
next, and so on. Words with a common beginning share the new tokens of it, if it has the same tokens today.

**Theorem.** The ids of a piece are its old ids, with the new pairs merged in the order in which they were appended.
So a text in which no new pair occurs in a piece keeps its ids.

Proof for merges. The lowest rank is merged first, and every new merge has a higher rank than every old one. So all
old merges are done first, as before. They stay done: a new merge makes a token with a new id, which no old merge
joins.

Proof for ranks. Two neighbors join if their joined bytes are a token. Let w be a new token, made of the new pair (x,
y). The bytes of w alone become w, and just before that x and y. The bytes of a token are joined in the same order
wherever they become that token (`bpe_core.vocabulary.merge_loop`), so no other neighbors ever make w. A new token and
its neighbor could also be, joined, an old token t. Then merging did not make t before, since it left at least three
tokens of its bytes. `Grafter` refuses each word that would let merging make such a token. So the old joins are done
first, as with merges.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.patterns.text_search import TextSearch
from bpe_core.reference import merged
from bpe_core.surgery.pruning import check_changeable
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8, without_surrogates
from bpe_core.visible import quoted, token_label
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import NO_RANK, Triple, merge
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import CharacterSymbols


class GraftedWord(NamedTuple):
    """A word that is one token now."""

    word: str
    token: int
    """Its new id."""
    parts: tuple[int, ...]
    """The ids that it had before."""


class RefusedWord(NamedTuple):
    """A word that can't become one token."""

    word: str
    reason: str
    """A clause, such as "it is token 257 already"."""


class Grafted(NamedTuple):
    """The result of `graft`."""

    tokenizer: Tokenizer
    words: tuple[GraftedWord, ...]
    refused: tuple[RefusedWord, ...]
    merges: tuple[Triple, ...]
    """The new merges (left, right, new id), in order: one for each new token."""
    intermediate: tuple[int, ...]
    """New tokens that are not words, and that words are built from."""


class Refusal(Exception):
    """A token can't be added. Its text is a clause."""


def graft(tokenizer: Tokenizer, words: Iterable[str]) -> Grafted:
    """Make each word one token, by merges that are appended after all others.

    All other tokens keep their ids, and so do texts in which no new pair occurs in a piece;
    `bpe_core.surgery.grafting` has the proof. New ids follow the highest id, also that of a special token. A word of n
    tokens needs up to n - 1 new tokens. A model has not seen the new tokens.

    Args:
        tokenizer: The tokenizer, which is not changed.
        words: Texts as a user writes them: " hello" and "hello" are two words.

    Returns:
        The new tokenizer, and which words became tokens. `refused` has the others, with reasons.

    Raises:
        OptionError: There are no words, or none of them can become a token.

    Examples:
        >>> from bpe_core import train
        >>> low = train("low low lower lower", vocab_size=258)
        >>> low.encode("lower")
        [257, 101, 114]
        >>> grafted = graft(low, ["lower", "lowest", "low"])
        >>> grafted.tokenizer.encode("lower lowest"), grafted.merges[:2]
        ([259, 32, 261], ((257, 101, 258), (258, 114, 259)))
        >>> grafted.refused
        (RefusedWord(word='low', reason='it is token 257 already'),)
    """
    if isinstance(words, str):
        raise OptionError(
            "Words are a list of texts, not one text; put it into a list."
        )
    grafter = Grafter(tokenizer)
    grafted: list[GraftedWord] = []
    refused: list[RefusedWord] = []
    for word in dict.fromkeys(words):
        try:
            data = grafter.piece_of_word(word)
            parts = grafter.old_ids(data)
            if len(parts) == 1:
                raise Refusal(f"it is token {parts[0]} already")
            grafted.append(GraftedWord(word, grafter.add(data), parts))
        except Refusal as refusal:
            refused.append(RefusedWord(word, str(refusal)))
    if not grafted and not refused:
        raise OptionError("There are no words to add; give at least one.")
    if not grafted:
        first = refused[0]
        label = token_label(utf8(first.word)[:60])
        if len(refused) == 1:
            raise OptionError(f"'{label}' can't become one token: {first.reason}.")
        raise OptionError(
            f"None of the words can become a token. The first one, '{label}': {first.reason}."
        )
    return Grafted(
        grafter.tokenizer(),
        words=tuple(grafted),
        refused=tuple(refused),
        merges=tuple(grafter.merges),
        intermediate=grafter.intermediate(word.token for word in grafted),
    )


def joined_labels(parts: Iterable[bytes]) -> str:
    """Return the parts of a text in a form for sentences: “hello” + “␣world”, and … for all after the 20th."""
    labels = [f"“{token_label(part)}”" for part in parts]
    if len(labels) > 20:
        labels[20:] = ["…"]
    return " + ".join(labels)


def with_merges(ids: Sequence[int], merges: Iterable[Triple]) -> list[int]:
    """Return ids after merges, each made everywhere before the next."""
    ids = list(ids)
    for left, right, token in merges:
        ids = merged(ids, (left, right), token)
    return ids


class Grafter:
    """Adds tokens to a vocabulary one after another. Each is one token of the pieces that follow."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        check_changeable(tokenizer)
        self._tokenizer = tokenizer
        self._vocabulary = tokenizer.vocabulary
        self._specials = TextSearch(tokenizer.special_tokens)
        self.merges: list[Triple] = []
        """The new merges, in order."""
        self._token_of: dict[tuple[int, int], int] = {}
        """New pair -> the new token that it makes. Ids ascend, so they are the ranks of the pairs, too."""
        self._bytes_of: dict[int, bytes] = {}  # of new tokens
        self._unmade: dict[int, list[int]] = {}
        """Tokens of ranks that merging does not make -> what merging leaves of their bytes now."""
        if isinstance(self._vocabulary, RankedVocabulary):
            for data, token in self._vocabulary.encoding.id_of.items():
                ids = self._vocabulary.join(data)
                if ids != (token,):
                    self._unmade[token] = list(ids)

    def pieces(self, text: str) -> list[bytes]:
        """Return the pieces of a text, as they are merged. Raises `Refusal` if a special or added token is in it."""
        for start, end in self._specials.spans(text):
            raise Refusal(f"it contains the special token {quoted(text[start:end])}")
        preparation = self._tokenizer.preparation
        if preparation is None:
            return list(map(utf8, self._tokenizer.splitter.split(text)))
        pieces: list[bytes] = []
        for part in preparation.parts(text, frozenset()):
            if isinstance(part, int):
                raise Refusal("it contains an added token")
            pieces += map(utf8, part)
        if preparation.within:
            pieces = [part for piece in pieces for part in preparation.within(piece)]
        return pieces

    def piece_of_word(self, word: str) -> bytes:
        """Return the piece that a word becomes. Raises `Refusal` if it is not one piece."""
        if not isinstance(word, str):
            raise OptionError(f"A word is a text, not {word!r}; decode it first.")
        if not word:
            raise Refusal("it is empty")
        if without_surrogates(word) != word:
            raise Refusal("it contains half of a character (a lone surrogate)")
        pieces = self.pieces(word)
        if len(pieces) > 1:
            raise Refusal(f"the split pattern cuts it into {joined_labels(pieces)}")
        if not pieces or (not self._tokenizer.preparation and pieces != [utf8(word)]):
            raise Refusal("the split pattern drops it or a part of it")
        return pieces[0]

    def old_ids(self, data: bytes) -> tuple[int, ...]:
        """Return the ids of a piece before any token was added. Raises `Refusal` if it has none."""
        try:
            ids = self._vocabulary.encode(data)
        except UnknownTokenError:
            raise Refusal("one of its bytes or characters has no token") from None
        alphabet = self._vocabulary.alphabet
        if isinstance(alphabet, CharacterSymbols) and len(ids) > 1:
            characters = set(data.decode(errors="replace"))
            if not alphabet.id_of.keys() >= characters:
                raise Refusal(
                    "one of its characters is not a token, and its bytes can't be joined"
                )
        return ids

    def _new_ids(self, ids: Sequence[int]) -> list[int]:
        """Merge the new pairs in old ids, in their order."""

        def rank_of(left: int, right: int) -> int:
            return self._token_of.get((left, right), NO_RANK)

        def join(left: int, right: int, token: int) -> int:
            return token

        return merge(ids, rank_of, join)

    def plan(self, ids: Sequence[int]) -> list[Triple]:
        """Return the merges that make a piece one token. `ids` are its ids now; new tokens get the next free ids."""
        merges: list[Triple] = []
        while len(ids) > 1:
            token = self._tokenizer.n_vocab + len(self.merges) + len(merges)
            merges.append((ids[0], ids[1], token))
            ids = merged(list(ids), (ids[0], ids[1]), token)
        return merges

    def add(self, data: bytes) -> int:
        """Make a piece one token, and return its id, which is not new if it is one already.

        Raises:
            Refusal: A new token would have the bytes of an old one, or would let merging make an old one. Then nothing
                is added.
        """
        ids = self._new_ids(self.old_ids(data))
        plan = self.plan(ids)
        if not plan:
            return ids[0]
        bytes_of = {token: self._token_bytes(token) for token in ids}
        for left, right, token in plan:
            bytes_of[token] = bytes_of[left] + bytes_of[right]
            other = self._vocabulary.id_by_bytes.get(bytes_of[token])
            if other is not None:
                label = joined_labels([bytes_of[token]])
                raise Refusal(
                    f"the token {other} has the bytes {label} already, but is not what they become"
                )
        unmade = {old: with_merges(left, plan) for old, left in self._unmade.items()}
        for old, left_of_it in unmade.items():
            # Two neighbors whose joined bytes are a token would join.
            if len(left_of_it) <= 2:
                raise Refusal(
                    f"with it, ranks would also make the token {old}, which no text becomes now"
                )
        self._unmade = unmade
        self.merges += plan
        for left, right, token in plan:
            self._token_of[left, right] = token
            self._bytes_of[token] = bytes_of[token]
        return plan[-1][2]

    def _token_bytes(self, token: int) -> bytes:
        return self._bytes_of.get(token) or self._vocabulary.token_bytes(token)

    def intermediate(self, tokens: Iterable[int]) -> tuple[int, ...]:
        """Return the new tokens that are not among `tokens`."""
        return tuple(sorted(self._bytes_of.keys() - set(tokens)))

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer with all tokens added so far."""
        old = self._vocabulary
        new_pieces = {data: token for token, data in self._bytes_of.items()}
        vocabulary: Vocabulary
        if isinstance(old, RankedVocabulary):
            vocabulary = RankedVocabulary(
                {**old.bytes_of, **self._bytes_of},
                old.special_tokens,
                symbols=old.alphabet,
                id_of={**old.encoding.id_of, **new_pieces},
                whole_pieces=old.encoding.looks_up,
            )
        else:
            whole_pieces = dict(old.whole_pieces)
            if whole_pieces.keys() >= set(filter(None, old.bytes_of.values())):
                # Every piece that is a token is looked up. So are the new tokens, which merging makes as well.
                whole_pieces |= new_pieces
            vocabulary = Vocabulary(
                old.base,
                [*old.merges, *self.merges],
                old.special_tokens,
                symbols=old.alphabet,
                whole_pieces=whole_pieces,
                listed=[*old.listed_merges, *self.merges],
            )
        return self._tokenizer.with_vocabulary(vocabulary)
