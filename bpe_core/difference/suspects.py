"""Differences between two vocabularies that may show in a text, and the search for the shortest text that shows each."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from bpe_core.difference.live_merges import LiveMerges, Parts
from bpe_core.difference.records import (
    MOST_CAUSES,
    Cause,
    Pair,
    Witness,
    encoded,
    written_tokens,
)
from bpe_core.errors import UnknownTokenError
from bpe_core.explain.contexts import FEWEST_CONTEXTS, texts_with
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import is_utf8

_MOST_SUSPECTS: Final = 2000
"""How many differences are tried, the ones with the shortest bytes first."""
_MOST_TEXTS: Final = 20_000
"""How many texts are tried for one part; each is encoded two or three times."""
_MOST_CONTEXTS: Final = 1000
"""How many byte strings are tried for a token with different parts."""
_ROUNDS: Final = ((0, 1), (1, FEWEST_CONTEXTS), (FEWEST_CONTEXTS, None))
"""The texts with some bytes that are tried in turn: the bytes alone, one character at one side, then all others."""


class Sides(NamedTuple):
    """The two tokenizers, and their live merges."""

    pair: Pair
    a: LiveMerges
    b: LiveMerges
    a_with_vocabulary_of_b: Tokenizer
    """If it gives a text other tokens than A, the vocabularies are the reason."""

    @classmethod
    def of(cls, pair: Pair) -> "Sides":
        a_with_vocabulary_of_b = Tokenizer(
            pair.b.vocabulary, pair.a.pattern, preparation=pair.a.preparation
        )
        live_in_a = LiveMerges(pair.a.vocabulary)
        live_in_b = LiveMerges(pair.b.vocabulary)
        return cls(pair, live_in_a, live_in_b, a_with_vocabulary_of_b)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A difference that may show in a text."""

    data: bytes
    """Bytes that such a text contains."""

    def sentence(self, sides: Sides) -> str:
        raise NotImplementedError

    def strings(self, sides: Sides) -> Iterable[bytes]:
        """Return bytes that may show it, the shortest first."""
        return [self.data]

    def is_shown_by(self, sides: Sides, witness: Witness) -> bool:
        """Whether the witness shows this difference.

        It does not if the vocabularies give the same tokens, so that something else makes the ids different, nor if
        they differ because of a token that only one of them has and that is not in `data`.
        """
        tokens_of_a = _tokens(sides.pair.a, witness.a)
        ids = encoded(sides.a_with_vocabulary_of_b, witness.text, False)
        tokens_of_b = _tokens(sides.a_with_vocabulary_of_b, ids)
        only_in_one = [token for token in tokens_of_a if not sides.b.can_make(token)]
        only_in_one += [token for token in tokens_of_b if not sides.a.can_make(token)]
        return tokens_of_a != tokens_of_b and all(
            token in self.data or sides.a.text(token) in self.data
            for token in only_in_one
        )


@dataclass(frozen=True, slots=True)
class TokenOfOne(Suspect):
    """A token that only one of them can produce, or that only one can produce by merging."""

    token: bytes
    is_in_a: bool

    def sentence(self, sides: Sides) -> str:
        owner, other = "AB" if self.is_in_a else "BA"
        other_merges = sides.b if self.is_in_a else sides.a
        label = written_tokens([self.token])
        if self.token in other_merges.whole:
            return f"{owner} merges text into {label}; {other} produces it only for a piece that is exactly {label}."
        result = written_tokens(other_merges.encode(self.data))
        return f"{label} is a token of {owner} only; {other} makes it {result}."

    def is_shown_by(self, sides: Sides, witness: Witness) -> bool:
        in_a = _has_token(sides.a, witness.a, self.token)
        in_b = _has_token(sides.b, witness.b, self.token)
        return (in_a and not in_b) if self.is_in_a else (in_b and not in_a)


@dataclass(frozen=True, slots=True)
class CompetingMerges(Suspect):
    """Two merges with a common token that A and B apply in different orders."""

    first: Parts
    """The merge that A applies before `second`."""
    second: Parts

    def sentence(self, sides: Sides) -> str:
        return f"A merges {written_tokens(self.first)} before {written_tokens(self.second)}, and B after."


class Neighbors(NamedTuple):
    """The tokens that merge with each token."""

    before: Mapping[bytes, Sequence[bytes]]
    after: Mapping[bytes, Sequence[bytes]]

    @classmethod
    def of(cls, merges: Iterable[Parts]) -> "Neighbors":
        before: defaultdict[bytes, list[bytes]] = defaultdict(list)
        after: defaultdict[bytes, list[bytes]] = defaultdict(list)
        for left, right in merges:
            before[right].append(left)
            after[left].append(right)
        return cls(before, after)


def _parts_along_edge(merges: LiveMerges, token: bytes, edge: int) -> Iterator[bytes]:
    """Yield a token and the parts at one edge of it: 0 is the left edge, 1 the right one.

    For "lower" = "low" + "er", they are "lower", "er" and "r" at the right edge.
    """
    yield token
    while parts := merges.parts_of.get(token):
        token = parts[edge]
        yield token


@dataclass(frozen=True, slots=True)
class RebuiltToken(Suspect):
    """A token that A and B build from different parts."""

    token: bytes
    neighbors: Neighbors

    def sentence(self, sides: Sides) -> str:
        parts_in_a = written_tokens(sides.a.parts_of[self.token])
        parts_in_b = written_tokens(sides.b.parts_of[self.token])
        return f"A builds {written_tokens([self.token])} from {parts_in_a}, and B from {parts_in_b}."

    def strings(self, sides: Sides) -> Iterable[bytes]:
        """Return the token, alone and next to a token that merges with one of its parts."""
        strings = {self.data}
        for merges in (sides.a, sides.b):
            for part in _parts_along_edge(merges, self.token, edge=1):
                followers = self.neighbors.after.get(part, ())
                strings.update(self.data + merges.text(token) for token in followers)
            for part in _parts_along_edge(merges, self.token, edge=0):
                strings.update(
                    token + self.data for token in self.neighbors.before.get(part, ())
                )
        return sorted(strings, key=len)[:_MOST_CONTEXTS]


@dataclass(frozen=True, slots=True)
class OtherId(Suspect):
    """A token with different ids in A and B."""

    token: bytes
    id_in_a: int
    id_in_b: int

    def sentence(self, sides: Sides) -> str:
        label = written_tokens([self.token])
        return f"{label} has the id {self.id_in_a} in A and {self.id_in_b} in B."

    def is_shown_by(self, sides: Sides, witness: Witness) -> bool:
        ids_of_a = witness.a or ()
        ids_of_b = witness.b or ()
        return self.id_in_a in ids_of_a and self.id_in_b in ids_of_b


def search(part: str, sides: Sides, suspects: Sequence[Suspect]) -> list[Cause]:
    """Try texts for each difference, those with the shortest bytes first.

    Returns:
        The first differences that a text shows, the shortest text first; or else the first ones that may occur in a
        text, without a witness. An empty list is a proof that no text shows any of the differences.
    """
    in_order = sorted(suspects, key=_size)
    causes = [
        Cause(part, suspect.sentence(sides), witness)
        for suspect, witness in islice(_shown(sides, in_order), MOST_CAUSES)
    ]
    if causes:
        return sorted(causes, key=_length_of_witness)
    may_occur = (
        suspect for suspect in in_order if _may_occur(sides.pair, suspect.data)
    )
    return [
        Cause(part, suspect.sentence(sides), None)
        for suspect in islice(may_occur, MOST_CAUSES)
    ]


def _size(suspect: Suspect) -> tuple[int, bool, bytes]:
    """Sort by characters. Letters and digits come first: they are easy to read, and few normalizers change them."""
    text = suspect.data.decode(errors="replace")
    is_plain = text.strip().isalnum() and unicodedata.is_normalized("NFKC", text)
    return len(text), not is_plain, suspect.data


def _length_of_witness(cause: Cause) -> int:
    return len(cause.witness.text) if isinstance(cause.witness, Witness) else 0


def _shown(
    sides: Sides, suspects: Sequence[Suspect]
) -> Iterator[tuple[Suspect, Witness]]:
    """Yield differences with texts that show them, until `_MOST_TEXTS` are tried."""
    most_tried = sides.pair.n_tried + _MOST_TEXTS
    left = list(suspects[:_MOST_SUSPECTS])
    for start, end in _ROUNDS:
        not_shown = []
        for suspect in left:
            if sides.pair.n_tried > most_tried:
                return
            witness = _first_witness(sides, suspect, start, end)
            if witness:
                yield suspect, witness
            else:
                not_shown.append(suspect)
        left = not_shown


def _first_witness(
    sides: Sides, suspect: Suspect, start: int, end: int | None
) -> Witness | None:
    for string in suspect.strings(sides):
        for text in islice(texts_with(string), start, end):
            witness = sides.pair.witness(text)
            if witness and suspect.is_shown_by(sides, witness):
                return witness
    return None


def _may_occur(pair: Pair, data: bytes) -> bool:
    """Whether some piece may contain these bytes. False is a proof that no piece of A or B does."""
    if not is_utf8(data):
        return True
    return any(
        tokenizer.preparation or tokenizer.splitter.may_hold(data.decode())
        for tokenizer in (pair.a, pair.b)
    )


def _has_token(merges: LiveMerges, ids: tuple[int, ...] | None, token: bytes) -> bool:
    """Whether these ids contain a token; False if there are none because a text can't be encoded."""
    of_token = {merges.ids.get(token), merges.whole.get(token)}
    return not of_token.isdisjoint(ids or ())


def _tokens(tokenizer: Tokenizer, ids: Iterable[int] | None) -> list[bytes]:
    """Return the bytes of ids; none if a text can't be encoded or an id is unknown."""
    with suppress(UnknownTokenError):
        return [tokenizer.token_bytes(token) for token in ids or ()]
    return []
