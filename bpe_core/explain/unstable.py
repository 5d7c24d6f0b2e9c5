"""The unstable end of a text: which of its last tokens a continuation of the text can change, and into what.

Two things can happen when a text goes on:

- The pattern splits its end differently. This is tried out, with every one and every two of the characters that stand
  for those the pattern tells apart (`Splitter.kinds`).
- The last piece grows. Then some token begins in the last piece and ends beyond the text: the token *swallows* the end.
  This is possible exactly if it is compatible with the token before it (see `bpe_core.vocabulary.merge_loop`), or is
  the first of its piece.

tiktoken's `encode_with_unstable` answers a coarser question: it calls all tokens of the last pieces unstable.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import accumulate, chain, islice, pairwise, product, takewhile
from operator import itemgetter
from typing import Final, NamedTuple
from unicodedata import decomposition, is_normalized, normalize

from bpe_core.common_ends import common_prefix
from bpe_core.live.giant import Gap
from bpe_core.live.live_text import LiveText
from bpe_core.live.plain import PlainReader
from bpe_core.tokenizer import SpecialsAllowed, Tokenizer
from bpe_core.tokenizer.preparation import found_at_once
from bpe_core.utf8 import endings, utf8
from bpe_core.vocabulary import Vocabulary

TAIL_LENGTH: Final = 400  # characters at the end of a text that are examined first
_MAX_SPLIT: Final = 50_000  # characters split at most, for all continuations, by a pattern without known safe cuts
_MAX_COMPLETIONS: Final = (
    256  # ways to complete an incomplete character that are tried at most
)

Ids = tuple[int, ...]


class Completion(NamedTuple):
    """A token that would swallow the end of the text."""

    ids: Ids  # what would replace the unstable tokens, that token last
    swallowed: bytes  # its first bytes, with which the text ends already
    rest: bytes  # would follow; may end inside a character


class _Prefix(NamedTuple):
    """Tokens of all of the tail, split at `ends`, but its last bytes, which another token can begin with."""

    ends: tuple[
        int, ...
    ]  # where pieces end in the tail or at its end, in code points, under some continuation
    ids: Ids
    swallowed: bytes  # b"" if these are the tokens of all of it
    is_first: bool  # that token would be the first of its piece


@lru_cache(maxsize=2)
def in_order(vocabulary: Vocabulary) -> tuple[list[tuple[bytes, int]], int]:
    """The (bytes, id) of all tokens but the special ones, by bytes, and the length of the longest: a quarter of a
    second for 200,000 tokens. Sorting holds up other threads, twice as long if it compared pairs."""
    special, token_bytes = (
        set(vocabulary.special_tokens.values()),
        vocabulary.token_bytes,
    )
    ids = sorted(
        (token for token in vocabulary.ids() if token not in special), key=token_bytes
    )
    return [(token_bytes(token), token) for token in ids], max(
        map(len, map(token_bytes, ids)), default=0
    )


class Unstable:
    """The tokens at the end of a text that a continuation can change; found in its tail."""

    def __init__(
        self, live: LiveText, reader: PlainReader, near: int, composes: bool
    ) -> None:
        """The tail begins at `near` or before it, or else at the last safe cut behind; `composes`: all text is NFC."""
        self._reader, self._vocabulary = reader, live.tokenizer.vocabulary
        self._tokens, self._longest = in_order(self._vocabulary)
        self._kinds = reader.splitter.kinds if reader.splitter.source else ("a",)
        start, self.is_inside = 0, False
        if near > 0 and reader.local and (piece := live.piece_at(near)) is not None:
            start = piece[0]
            if near - start > TAIL_LENGTH:
                span, self.is_inside = live.span_at(near), True
                start = span.start if span else near
        text = live.between(start, live.n_characters)
        ends = list(accumulate(map(len, reader.split(text)))) if reader.local else []
        safe = next(
            (
                end
                for end in reversed(ends[:-1])
                if reader.splitter.is_safe_cut(text[end - 1 : end + 1])
            ),
            0,
        )
        self.is_inside &= not safe  # whether the tail begins inside a piece
        self._text = text[safe:]
        pieces = reader.split(self._text)
        is_found_first = isinstance(reader.tokenizer, SpecialsAllowed) and pieces[
            -1:
        ] in ([text] for text in self._vocabulary.special_tokens)
        self._composes: Final = (
            composes and not is_found_first
        )  # a token that is found as written stays
        self._ids = (
            self._vocabulary.join(utf8(self._text))
            if self.is_inside
            else self._encode(pieces)
        )
        self._ends: Final = cache(
            lambda more: tuple(accumulate(map(len, reader.split(self._text + more))))
        )
        self._prefixes = list(self._possible_prefixes())
        self.n_stable = (
            self._count_stable()
        )  # how many tokens at the tail's beginning no continuation can change
        stable = utf8(self._text)[: sum(map(reader.length, self._ids[: self.n_stable]))]
        # The others: the code point in which they begin (the length of the text if there are none), and their ids now.
        self.start = start + safe + len(stable.decode(errors="ignore"))
        self.ids: Final = tuple(
            token for token in self._ids[self.n_stable :] if token >= 0
        )

    def _encode(self, pieces: Sequence[str]) -> Ids:
        """The ids of whole pieces; -n stands for n bytes that a lossy pattern drops."""
        return tuple(chain.from_iterable(map(self._reader.ids, pieces)))

    def _count_stable(self) -> int:
        # A special token of which the text ends with a beginning can be completed, where it counts.
        specials = (
            self._vocabulary.special_tokens
            if isinstance(self._reader.tokenizer, SpecialsAllowed)
            else ()
        )
        parts = (
            (special[:length], special[length:])
            for special in specials
            for length in range(1, len(special))
        )
        others = [
            self._text + rest for begin, rest in parts if self._text.endswith(begin)
        ]
        composed = (
            normalize("NFC", self._text + mark)
            for mark in (_marks() if self._composes else ())
        )
        others += [other for other in composed if not other.startswith(self._text)]
        kept = (
            common_prefix(self._encode(self._reader.split(other)), self._ids)
            for other in others
        )
        n_stable = min(kept, default=len(self._ids))
        common = (
            (common_prefix(prefix.ids, self._ids), prefix) for prefix in self._prefixes
        )
        for n_common, prefix in sorted(common, key=lambda one: one[0]):
            if n_common >= n_stable:
                break
            if (
                not prefix.swallowed
                or next(self._swallowing(prefix, self._kinds), None) is not None
            ):
                n_stable = n_common
        return n_stable

    def _possible_prefixes(self) -> Iterator[_Prefix]:
        """Of each way in which the pattern can split the tail when something follows: the tokens of the whole tail, and
        those that can precede a token that swallows the end."""
        lossy, split = self._reader.lossy, self._reader.splitter.split
        following = (
            chain(self._kinds, map("".join, product(self._kinds, repeat=2)))
            if self._text
            else ()
        )
        for ends in {
            tuple(takewhile(lambda end: end <= len(self._text), self._ends(one)))
            for one in following
        }:
            parts = [self._text[a:b] for a, b in pairwise((0, *ends))]
            # What a lossy pattern drops is judged without its surroundings.
            before = self._encode(
                [Gap(part) if lossy and not split(part) else part for part in parts]
            )
            open_part = utf8(self._text[sum(map(len, parts)) :])
            yield _Prefix(ends, before + self._vocabulary.join(open_part), b"", False)
            for at in range(max(0, len(open_part) - self._longest + 1), len(open_part)):
                if any(
                    self._longer(open_part[at:])
                ):  # else a token as long as the text makes this quadratic
                    first = self._vocabulary.join(open_part[:at])
                    yield _Prefix(ends, before + first, open_part[at:], not first)

    def completions(self) -> Iterator[Completion]:
        """All tokens that would swallow the end (tens of thousands after a space): those of most bytes of it first."""
        seen: set[tuple[Ids, int]] = set()
        for prefix in sorted(self._prefixes, key=lambda prefix: -len(prefix.swallowed)):
            for token in self._swallowing(prefix) if prefix.swallowed else ():
                if (prefix.ids, token) not in seen and self.n_stable <= len(prefix.ids):
                    seen.add((prefix.ids, token))
                    ids = (
                        *(kept for kept in prefix.ids[self.n_stable :] if kept >= 0),
                        token,
                    )
                    rest = self._reader.token_bytes(token)[len(prefix.swallowed) :]
                    yield Completion(ids, prefix.swallowed, rest)

    def _longer(self, begin: bytes) -> Iterator[tuple[bytes, int]]:
        """The tokens that begin so and go on, by their bytes."""
        behind = range(
            bisect_right(self._tokens, begin, key=itemgetter(0)), len(self._tokens)
        )
        return takewhile(
            lambda one: one[0].startswith(begin), map(self._tokens.__getitem__, behind)
        )

    def _swallowing(self, prefix: _Prefix, beyond: Sequence[str] = ()) -> Iterator[int]:
        """The tokens that can follow a prefix, lowest id first. After each the characters `beyond` are tried: a pattern
        may want more, such as a closing quotation mark."""
        vocabulary, swallowed = self._vocabulary, prefix.swallowed
        for token in sorted(token for _, token in self._longer(swallowed)):
            data = self._reader.token_bytes(token)
            if prefix.is_first:
                fits = vocabulary.join(data) == (token,) or vocabulary.encode(data) == (
                    token,
                )
            else:
                fits = vocabulary.compatible(prefix.ids[-1], token)
            if fits and self._goes_on(prefix, token, data, beyond):
                yield token

    def _goes_on(
        self, prefix: _Prefix, token: int, data: bytes, beyond: Sequence[str]
    ) -> bool:
        """Whether the pattern splits some continuation such that the token follows the prefix in one piece."""
        for following, added in _completed(data[len(prefix.swallowed) :], beyond):
            if self._composes and not is_normalized("NFC", self._text[-1:] + following):
                continue
            if added and self._vocabulary.join(data + added)[:1] != (token,):
                continue
            ends = self._ends(self._reader.splitter.alike(following))
            if ends == (*prefix.ends, len(self._text) + len(following)):
                return True
        return False


@cache
def _marks() -> list[str]:
    """The characters that Unicode composes with what stands before them; of those that make Hangul, one of a kind."""
    pairs = (decomposition(chr(code)).split() for code in range(0xC0, 0x12000))
    return sorted(
        {
            chr(int(pair[1], 16))
            for pair in pairs
            if len(pair) == 2 and "<" not in pair[0]
        }
        | {"\u1161", "\u11a8"}
    )


def unstable(live: LiveText, *, composes: bool = False) -> Unstable | None:
    """The unstable end of a text, where all text is NFC if it `composes`; None if it cannot be known, for the reason
    that `why_unknown` gives: for a tokenizer that changes a text before it splits it, unless it makes NFC of what is
    NFC already, and for a pattern without known safe cuts (such as one with look-behind) on all but short texts.

    Only the last `TAIL_LENGTH` characters are examined, or twice, four times as many ... until their first token is
    stable; a pattern is assumed not to look back farther.
    """
    end = live.n_characters
    reader = live.reader
    if not isinstance(reader, PlainReader):
        start = live.around(end, end)[0]
        tail = live.between(start, end)
        plain = _plain_twin(live, tail)
        if plain is None:
            return None
        kept = [token for span in live.spans(start, end) for token in span.ids]
        preparation = live.tokenizer.preparation
        makes_nfc = bool(preparation and preparation.normalize)
        found = unstable(plain, composes=makes_nfc) if plain.ids == kept else None
        if found is not None:
            found.start += start
        return found
    if not reader.local and end * len(reader.splitter.kinds) ** 2 > _MAX_SPLIT:
        return None
    size = TAIL_LENGTH
    while True:
        found = Unstable(live, reader, end - size, composes)
        if found.n_stable or not found.is_inside:
            return found
        size *= 2


def prepare(tokenizer: Tokenizer) -> None:
    """Do beforehand what takes long at the first text of a tokenizer; another thread may do it."""
    twin = tokenizer
    if not tokenizer.by_piece and not _difference(tokenizer):
        twin = _without_preparation(tokenizer)
    in_order(twin.vocabulary)


def why_unknown(live: LiveText) -> str:
    """Why `unstable` gives None for a text: a sentence."""
    tokenizer, end = live.tokenizer, live.n_characters
    if isinstance(live.reader, PlainReader):
        return "The pattern may look anywhere, so this cannot be told."
    if reason := _difference(tokenizer):
        return f"{reason}, so this cannot be told."
    if not is_normalized("NFC", live.between(live.around(end, end)[0], end)):
        return "This tokenizer makes NFC of a text first, and the end of this one is not NFC: it cannot be told."
    return "The pattern may look anywhere, so this cannot be told."


def _plain_twin(live: LiveText, tail: str) -> LiveText | None:
    """The end of a text under a tokenizer that gives the same ids and only splits it; None if there is none."""
    tokenizer = live.tokenizer
    if _difference(tokenizer):
        return None
    preparation = tokenizer.preparation
    if preparation and preparation.normalize and not is_normalized("NFC", tail):
        return None
    return LiveText(_without_preparation(tokenizer), tail)


@lru_cache(maxsize=4)
def _difference(tokenizer: Tokenizer) -> str:
    """What a tokenizer does, other than to find tokens in a text in NFC and to split it; "" for nothing."""
    preparation = tokenizer.preparation
    if preparation is None or not tokenizer.vocabulary.is_faithful:
        return "Some tokens of this tokenizer stand for other bytes than the text has"
    if preparation.normalize and preparation.description.get("normalizer") != {
        "type": "NFC"
    }:
        return "This tokenizer changes a text before it splits it"
    ordinary = tuple(token for token in preparation.added if not token.special)
    if preparation.normalize and any(token.normalized for token in ordinary):
        return "This tokenizer makes NFC of a text before it looks for added tokens"
    if ordinary and not found_at_once(preparation.added):
        return "Some added tokens of this tokenizer depend on what is next to them"
    special = tuple(token for token in preparation.added if token.special)
    if not replace(preparation, normalize=None, added=special).only_splits:
        return "This tokenizer adds characters to a text, or splits its bytes, before it looks for tokens"
    return ""


@lru_cache(maxsize=4)
def _without_preparation(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer without what it does to a text that is NFC; what it finds in every text are its special tokens,
    all of them allowed."""
    added = tokenizer.preparation.added if tokenizer.preparation else ()
    found = {token.text: token.token for token in added if not token.special}
    if not found:
        return Tokenizer(tokenizer.vocabulary, tokenizer.pattern)
    vocabulary = tokenizer.vocabulary.with_special_tokens(found)
    return SpecialsAllowed.of(Tokenizer(vocabulary, tokenizer.pattern))


def _completed(rest: bytes, beyond: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(text, bytes added): `rest` with the missing bytes of its last character, else with none or one of `beyond`."""
    try:
        text = rest.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            for added in islice(endings(rest[error.start :]), _MAX_COMPLETIONS):
                yield (rest + added).decode(), added
        return
    yield text, b""
    for more in beyond:
        yield text + more, utf8(more)
