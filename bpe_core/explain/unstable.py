"""Find the unstable end of a text: the last tokens that a continuation of the text can change.

Two things can happen if a text is continued:

- The pattern splits its end differently. This is tried with every one and every two characters, one of each kind that
  the pattern distinguishes (`Splitter.kinds`).
- The last piece grows. Then some token begins in the last piece and ends after the text: the token *swallows* the end.
  This is possible exactly if it is compatible with the token before it (see `bpe_core.vocabulary.merge_loop`), or is
  the first of its piece.

tiktoken's `encode_with_unstable` is coarser: it calls all tokens of the last pieces unstable.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain, islice, product
from operator import itemgetter
from typing import Final, NamedTuple
from unicodedata import decomposition, is_normalized, normalize

from bpe_core.common_ends import common_prefix
from bpe_core.explain.plain_twin import difference, plain_twin, without_preparation
from bpe_core.live.giant import Gap
from bpe_core.live.live_text import LiveText
from bpe_core.live.plain import PlainReader
from bpe_core.tokenizer import SpecialsAllowed, Tokenizer
from bpe_core.utf8 import endings, utf8
from bpe_core.vocabulary import Vocabulary

TAIL_LENGTH: Final = 400
"""Number of characters at the end of a text that are examined first."""
_MAX_SPLIT: Final = 50_000
"""Maximum number of characters split for all continuations, by a pattern without known safe cuts."""
_MAX_COMPLETIONS: Final = 256
"""Maximum number of ways to complete an incomplete character."""

Ids = tuple[int, ...]


class Completion(NamedTuple):
    """A token that would swallow the end of the text."""

    ids: Ids
    """The tokens that would replace the unstable ones. The swallowing token is the last."""
    swallowed: bytes  # its first bytes, with which the text already ends
    rest: bytes
    """The other bytes of that token. They may end inside a character."""


class _Prefix(NamedTuple):
    """The tokens of the tail without its last bytes. Another token can begin with these bytes."""

    ends: tuple[int, ...]
    """Where pieces end in the tail or at its end, in code points, under some continuation."""
    ids: Ids
    swallowed: bytes
    """The last bytes. Empty if these are the tokens of the whole tail."""
    is_first: bool  # whether the other token would be the first of its piece


class _SortedTokens:
    """All tokens except the special ones, in the order of their bytes."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Sort the tokens, which takes a quarter of a second for 200,000."""
        special = set(vocabulary.special_tokens.values())
        ordinary = [token for token in vocabulary.ids() if token not in special]
        # Sorting holds up other threads. Pairs of bytes and ids would take twice as long.
        self._ids = sorted(ordinary, key=vocabulary.token_bytes)
        self._bytes = list(map(vocabulary.token_bytes, self._ids))
        self.longest: Final = max(map(len, self._bytes), default=0)

    def longer(self, beginning: bytes) -> Iterator[int]:
        """Yield the tokens that begin with these bytes and are longer."""
        for index in range(bisect_right(self._bytes, beginning), len(self._ids)):
            if not self._bytes[index].startswith(beginning):
                break
            yield self._ids[index]


_sorted_tokens = lru_cache(maxsize=2)(_SortedTokens)


class _Tail(NamedTuple):
    """The end of a text that is examined."""

    start: int  # in code points
    text: str
    is_inside: bool  # whether it begins inside a piece


def _tail(live: LiveText, reader: PlainReader, near: int) -> _Tail:
    """Return the text from the last safe cut after `near`, or else from the piece or the token at `near`."""
    start = 0
    is_inside = False
    piece = None
    if near > 0 and reader.local:
        piece = live.piece_at(near)
    if piece is not None:
        start = piece.start
        if near - start > TAIL_LENGTH:
            span = live.span_at(near)
            start = span.start if span else near
            is_inside = True
    text = live.between(start, live.n_characters)
    if reader.local:
        ends = list(accumulate(map(len, reader.split(text))))
        for end in reversed(ends[:-1]):
            if reader.splitter.is_safe_cut(text[end - 1 : end + 1]):
                return _Tail(start + end, text[end:], is_inside=False)
    return _Tail(start, text, is_inside)


class Unstable:
    """The tokens at the end of a text that a continuation can change."""

    def __init__(
        self, live: LiveText, reader: PlainReader, near: int, composes: bool
    ) -> None:
        """Examine the tail of a text.

        Args:
            live: The text.
            reader: Its reader.
            near: The code point at or before which the tail begins, if no safe cut follows.
            composes: Whether the tokenizer changes text to NFC. This text is in NFC already.
        """
        self._reader = reader
        self._vocabulary = live.tokenizer.vocabulary
        self._tokens = _sorted_tokens(self._vocabulary)
        self._kinds: tuple[str, ...] = ("a",)
        if reader.splitter.source:
            self._kinds = reader.splitter.kinds
        tail = _tail(live, reader, near)
        self._text = tail.text
        self.is_inside: Final = tail.is_inside  # whether the tail begins inside a piece
        pieces = reader.split(tail.text)
        if tail.is_inside:
            self._ids = self._vocabulary.join(utf8(tail.text))
        else:
            self._ids = self._encode(pieces)
        # A special token is found in the text before composing, so it stays.
        ends_with_special = (
            isinstance(reader.tokenizer, SpecialsAllowed)
            and bool(pieces)
            and pieces[-1] in self._vocabulary.special_tokens
        )
        self._composes = composes and not ends_with_special
        self._piece_ends: Final = cache(self._split_with)
        self._prefixes = list(self._possible_prefixes())
        self.n_stable: Final = self._count_stable()
        """The number of tokens at the beginning of the tail that no continuation can change."""
        n_stable_bytes = sum(map(reader.length, self._ids[: self.n_stable]))
        stable = utf8(tail.text)[:n_stable_bytes].decode(errors="ignore")
        self.start = tail.start + len(stable)
        """The code point in which the unstable tokens begin, or the length of the text if all tokens are stable."""
        self.ids: Final = _without_gaps(self._ids[self.n_stable :])
        """The unstable tokens."""

    def _encode(self, pieces: Sequence[str]) -> Ids:
        """Return the ids of whole pieces. A negative number -n represents n bytes that a lossy pattern drops."""
        return tuple(chain.from_iterable(map(self._reader.ids, pieces)))

    def _split_with(self, continuation: str) -> tuple[int, ...]:
        """Return where pieces end in the tail followed by a continuation."""
        pieces = self._reader.split(self._text + continuation)
        return tuple(accumulate(map(len, pieces)))

    def _count_stable(self) -> int:
        n_stable = len(self._ids)
        for text in chain(self._completed_specials(), self._compositions()):
            ids = self._encode(self._reader.split(text))
            n_stable = min(n_stable, common_prefix(ids, self._ids))
        n_same = [common_prefix(prefix.ids, self._ids) for prefix in self._prefixes]
        by_n_same = sorted(zip(n_same, self._prefixes, strict=True), key=itemgetter(0))
        for n_common, prefix in by_n_same:
            if n_common >= n_stable:
                break
            if not prefix.swallowed or _has_any(self._swallowing(prefix, self._kinds)):
                return n_common
        return n_stable

    def _completed_specials(self) -> Iterator[str]:
        """Yield the tail with each special token completed that begins at its end, if special tokens are encoded."""
        if isinstance(self._reader.tokenizer, SpecialsAllowed):
            for special in self._vocabulary.special_tokens:
                for length in range(1, len(special)):
                    if self._text.endswith(special[:length]):
                        yield self._text + special[length:]

    def _compositions(self) -> Iterator[str]:
        """Yield the tail with each mark that changes its last characters, if all text is NFC."""
        if self._composes:
            for mark in _marks():
                composed = normalize("NFC", self._text + mark)
                if not composed.startswith(self._text):
                    yield composed

    def _possible_prefixes(self) -> Iterator[_Prefix]:
        """Yield prefixes, for each way in which the pattern can split the tail if something follows.

        These are the tokens of the whole tail, and the tokens before one that swallows the end.
        """
        for ends in self._ways_to_split():
            pieces = self._pieces_with(ends)
            ids = self._encode(pieces)
            n_split = sum(map(len, pieces))
            open_part = utf8(self._text[n_split:])
            yield _Prefix(ends, ids + self._vocabulary.join(open_part), b"", False)
            first = max(0, len(open_part) - self._tokens.longest + 1)
            for offset in range(first, len(open_part)):
                swallowed = open_part[offset:]
                # Most ends begin no token. To merge all texts before them would take quadratic time.
                if _has_any(self._tokens.longer(swallowed)):
                    before = self._vocabulary.join(open_part[:offset])
                    yield _Prefix(ends, ids + before, swallowed, not before)

    def _ways_to_split(self) -> set[tuple[int, ...]]:
        """Return the ends of the pieces inside the tail, for each way to split it."""
        if not self._text:
            return set()
        pairs = map("".join, product(self._kinds, repeat=2))
        ways: set[tuple[int, ...]] = set()
        for continuation in chain(self._kinds, pairs):
            ends = self._piece_ends(continuation)
            n_ends = bisect_right(ends, len(self._text))
            ways.add(ends[:n_ends])
        return ways

    def _pieces_with(self, ends: Sequence[int]) -> list[str]:
        """Return the pieces of the tail that end at `ends`."""
        split = self._reader.splitter.split
        pieces: list[str] = []
        start = 0
        for end in ends:
            piece = self._text[start:end]
            if self._reader.lossy and not split(piece):
                # Text that a lossy pattern drops is judged without its surroundings.
                piece = Gap(piece)
            pieces.append(piece)
            start = end
        return pieces

    def completions(self) -> Iterator[Completion]:
        """Yield all tokens that would swallow the end. Tokens that swallow the most bytes come first.

        After a space there are tens of thousands.
        """
        seen: set[tuple[Ids, int]] = set()
        for prefix in sorted(self._prefixes, key=lambda prefix: -len(prefix.swallowed)):
            if not prefix.swallowed or len(prefix.ids) < self.n_stable:
                continue
            ids = _without_gaps(prefix.ids[self.n_stable :])
            for token in self._swallowing(prefix):
                if (prefix.ids, token) in seen:
                    continue
                seen.add((prefix.ids, token))
                rest = self._reader.token_bytes(token)[len(prefix.swallowed) :]
                yield Completion((*ids, token), prefix.swallowed, rest)

    def _swallowing(
        self, prefix: _Prefix, following: Sequence[str] = ()
    ) -> Iterator[int]:
        """Yield the tokens that can follow a prefix, the lowest id first.

        After each token, the characters in `following` are tried, since a pattern may need more, such as a closing
        quotation mark.
        """
        vocabulary = self._vocabulary
        for token in sorted(self._tokens.longer(prefix.swallowed)):
            data = self._reader.token_bytes(token)
            if prefix.is_first:
                alone = (token,)
                fits = (
                    vocabulary.join(data) == alone or vocabulary.encode(data) == alone
                )
            else:
                fits = vocabulary.compatible(prefix.ids[-1], token)
            if fits and self._can_follow(prefix, token, data, following):
                yield token

    def _can_follow(
        self, prefix: _Prefix, token: int, data: bytes, following: Sequence[str]
    ) -> bool:
        """Whether some continuation lets `token` follow the prefix.

        It completes the token, and the pattern makes one piece of all text after the last of `prefix.ends`.
        """
        for text, added in _complete(data[len(prefix.swallowed) :], following):
            # The tokenizer normalizes texts, so a continuation that is not normalized never occurs.
            if self._composes and not is_normalized("NFC", self._text[-1:] + text):
                continue
            # The text that is added must not merge with a part of the token.
            if added and self._vocabulary.join(data + added)[:1] != (token,):
                continue
            end = len(self._text) + len(text)
            alike = self._reader.splitter.alike(text)
            if self._piece_ends(alike) == (*prefix.ends, end):
                return True
        return False


def _has_any(tokens: Iterator[int]) -> bool:
    return next(tokens, None) is not None


def _without_gaps(ids: Ids) -> Ids:
    return tuple(token for token in ids if token >= 0)


@cache
def _marks() -> list[str]:
    """Return the characters that Unicode composes with the character before. Two represent all that make Hangul."""
    marks = {"\u1161", "\u11a8"}
    for code in range(0xC0, 0x12000):
        parts = decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            marks.add(chr(int(parts[1], 16)))
    return sorted(marks)


def unstable(live: LiveText, *, composes: bool = False) -> Unstable | None:
    """Find the unstable end of a text.

    Only the last `TAIL_LENGTH` characters are examined, or twice, four times as many ... until their first token is
    stable. A pattern is assumed not to look back farther.

    Args:
        live: The text.
        composes: Whether the tokenizer changes text to NFC. This text is in NFC already.

    Returns:
        The unstable end. None if it cannot be known; `why_unknown` returns the reason. Either the tokenizer changes a
        text before it splits it (except to NFC, if the text is NFC), or the text is long and the pattern has no known
        safe cuts (because it looks back, for example).
    """
    reader = live.reader
    if not isinstance(reader, PlainReader):
        return _unstable_of_twin(live)
    end = live.n_characters
    if not reader.local and end * len(reader.splitter.kinds) ** 2 > _MAX_SPLIT:
        return None
    size = TAIL_LENGTH
    while True:
        found = Unstable(live, reader, end - size, composes)
        if found.n_stable or not found.is_inside:
            return found
        size *= 2


def _unstable_of_twin(live: LiveText) -> Unstable | None:
    """Find the unstable end under a tokenizer that only splits the text and gives the same ids."""
    end = live.n_characters
    start = live.around(end, end)[0]
    twin = plain_twin(live, live.between(start, end))
    if twin is None:
        return None
    if twin.ids != [token for span in live.spans(start, end) for token in span.ids]:
        return None
    preparation = live.tokenizer.preparation
    found = unstable(twin, composes=bool(preparation and preparation.normalize))
    if found is not None:
        found.start += start
    return found


def prepare(tokenizer: Tokenizer) -> None:
    """Sort the tokens, so that the first text needn't wait for it. Another thread may call this."""
    _sorted(tokenizer)


def longer_tokens(tokenizer: Tokenizer, token: int) -> Iterator[int]:
    """Yield the longer tokens that begin with the bytes of a token. The first call sorts them, like `prepare`."""
    return _sorted(tokenizer).longer(tokenizer.token_bytes(token))


def _sorted(tokenizer: Tokenizer) -> _SortedTokens:
    if not tokenizer.by_piece and not difference(tokenizer):
        tokenizer = without_preparation(tokenizer)
    return _sorted_tokens(tokenizer.vocabulary)


def why_unknown(live: LiveText) -> str:
    """Return the reason why `unstable` returns None for a text, as a sentence."""
    reason = "The pattern can examine any part of the text"
    if not isinstance(live.reader, PlainReader):
        end = live.n_characters
        tail = live.between(live.around(end, end)[0], end)
        if difference(live.tokenizer):
            reason = difference(live.tokenizer)
        elif not is_normalized("NFC", tail):
            reason = (
                "This tokenizer applies NFC first, and the end of this text is not NFC"
            )
    return f"{reason}, so it is unknown which tokens are final."


def _complete(rest: bytes, following: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (text, bytes added): `rest` as text, after which nothing or one of `following` is added.

    If it ends inside a character, only the missing bytes of this character are added.
    """
    try:
        text = rest.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            for added in islice(endings(rest[error.start :]), _MAX_COMPLETIONS):
                yield (rest + added).decode(), added
        return
    yield text, b""
    for more in following:
        yield text + more, utf8(more)
