"""The tokenizer: a vocabulary and a split pattern, and with them text into ids and ids into text."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Self

from bpe_core.corpus import Source
from bpe_core.errors import OptionError, TextError, UnknownTokenError
from bpe_core.merging.merge_loop import Triple
from bpe_core.patterns import splitter
from bpe_core.patterns.patience import enough_for, patience
from bpe_core.surrogates import without_surrogates
from bpe_core.tokenizer.specials import Choice, chosen, parts, refuse, without
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.vocabulary import Vocabulary

if TYPE_CHECKING:  # most tokenizers prepare nothing
    import tiktoken
    import tokenizers

    from bpe_core.tokenizer.byte_pieces import BytePieces
    from bpe_core.tokenizer.preparation import Preparation

_BLOCK: Final = 1 << 16
_CACHED_PIECES: Final = 1 << 17
_CACHED_LENGTH: Final = 1 << 10
_CACHED_IN_ALL: Final = 1 << 22
"""Characters and tokens of all pieces that are remembered, some 60 MB: usual ones are a tenth of it when they are many,
and a hundred thousand long ones would be gigabytes."""
_UNKNOWN: Final = "\ufffd".encode()
_ERRORS: Final = ("replace", "strict", "ignore", "backslashreplace")


class Tokenizer:
    """Text into ids and back, as of one step of a vocabulary. Frozen but for its cache; not shared between threads.

    `pattern` is a name of `PATTERNS` or a regular expression; `PatternError` if it is neither. Only
    `decode(encode(text)) == text` is promised, not the reverse, and not even that for a pattern that drops whitespace.
    """

    __slots__ = ("_cache", "name", "preparation", "record", "splitter", "vocabulary")

    def __init__(
        self,
        vocabulary: Vocabulary,
        pattern: str,
        *,
        record: TrainingRecord | None = None,
        name: str = "",
        preparation: "Preparation | None" = None,
    ) -> None:
        self.vocabulary: Final = vocabulary
        """Ids, their bytes and the merges in force."""
        self.splitter: Final = splitter(pattern)
        """What cuts a text into pieces."""
        self.record: Final = record
        """How the vocabulary was learned, if it was learned here."""
        self.name: Final = name
        """What people call it; may be empty."""
        self.preparation: Final = preparation
        """What is done to a text besides splitting it, as some files want it; None if nothing. It splits the text,
        too: then `splitter` is only what is known of that."""
        self._cache: Final = _Pieces(vocabulary, preparation.within if preparation else None)

    @property
    def pattern(self) -> str:
        """The split pattern as it was given."""
        return self.splitter.pattern

    @property
    def n_vocab(self) -> int:
        """How many ids there are."""
        return self.vocabulary.n_vocab

    @property
    def step(self) -> int:
        """How many merges are in force."""
        return self.vocabulary.n_merges

    @property
    def merges(self) -> list[Triple]:
        """(left, right, token) of each merge in force, in order; a copy (`vocabulary.merges` is a view)."""
        return list(self.vocabulary.merges)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Text -> id; a copy."""
        return dict(self.vocabulary.special_tokens)

    @property
    def trained_on(self) -> tuple[Source, ...]:
        """The documents it learned from; empty if that is not known."""
        return self.record.sources if self.record else ()

    def __repr__(self) -> str:
        return f"<Tokenizer {self.name or self.pattern!r}: {self.vocabulary!r}>"

    @property
    def by_piece(self) -> bool:
        """Whether the ids of a text are those of its pieces, one piece after the other, and stand for its bytes.

        If not, `LiveText` does not take the tokenizer, and `AlignedText` does.
        """
        return self.preparation is None and self.vocabulary.is_faithful

    def at(self, step: int) -> Self:
        """The tokenizer after `step` of its merges, 0 being bytes alone. Raises `OptionError` past its last merge."""
        return self._with(self.vocabulary.at(step), self.record)

    def with_merges(self, merges: Iterable[Triple]) -> Self:
        """This tokenizer with merges added, as while it is being learned; cheap for the newest one of a family.

        It has no record: the one of this tokenizer does not speak of the new merges.
        """
        return self._with(self.vocabulary.extended(merges), None)

    def _with(self, vocabulary: Vocabulary, record: TrainingRecord | None) -> Self:
        return type(self)(vocabulary, self.pattern, record=record, name=self.name, preparation=self.preparation)

    def encode(
        self,
        text: str,
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> list[int]:
        """The ids of `text`, special tokens minded as tiktoken does.

        Those in `allowed_special` ("all": every one) become their ids. Any other whose text occurs raises
        `SpecialTokenError`, unless `disallowed_special` leaves it out: then it is text like any other.
        """
        allowed, disallowed = chosen(allowed_special, disallowed_special, self.vocabulary.special_tokens)
        refuse(disallowed, text)
        if self.preparation:
            return self._encode_prepared(text, allowed)
        if not allowed:
            return self.encode_ordinary(text)
        return list(chain.from_iterable(self._encode_parts(allowed, _blocks(without_surrogates(text)))))

    def encode_blocks(
        self, blocks: Iterable[str], *, allowed_special: Choice = frozenset(), disallowed_special: Choice = "all"
    ) -> Iterator[list[int]]:
        """As `encode`, for a text that comes in blocks and need not be in memory as a whole; its ids, in lists.

        A special token that must not occur raises its error when it is met. No block may part a pair of surrogates.
        Held as a whole nevertheless are a text that is split by a pattern that looks farther than the safe cuts
        (`splitter.blockwise`), and one that is prepared before it is split.
        """
        allowed, disallowed = chosen(allowed_special, disallowed_special, self.vocabulary.special_tokens)
        blocks = without(disallowed, blocks)
        if self.preparation:
            yield self._encode_prepared("".join(blocks), allowed)
        else:
            yield from self._encode_parts(allowed, map(without_surrogates, blocks))

    def _encode_parts(self, allowed: frozenset[str], blocks: Iterable[str]) -> Iterator[list[int]]:
        for is_token, group in groupby(parts(allowed, blocks), key=itemgetter(0)):
            texts = (text for _, text in group)
            if is_token:
                yield list(map(self.vocabulary.special_tokens.__getitem__, texts))
            else:
                yield from map(self._encode_part, self.splitter.parts(texts))

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of `text`, special tokens taken as text.

        A pair of surrogates counts as the character it stands for, a lone one as U+FFFD.
        """
        if self.preparation:
            return self._encode_prepared(text, frozenset())
        try:
            return self._encode_plain(text)
        except UnicodeEncodeError:
            return self._encode_plain(without_surrogates(text))

    def encode_to_array(self, text: str) -> "array[int]":
        """The ids that `encode_ordinary` gives, in four bytes each; where the kernel is, in less time than a list."""
        if not self.preparation and self._is_scanned and (compiled := self.vocabulary.encoder.compiled):
            with suppress(LookupError, UnicodeEncodeError):
                return compiled.encode_to_array(text, self.splitter.scanner)
        return array("I", self.encode_ordinary(text))

    def _encode_plain(self, text: str) -> list[int]:
        if len(text) <= _BLOCK or self._is_scanned:
            return self._encode_part(text)
        return list(chain.from_iterable(map(self._encode_part, self.splitter.parts(_blocks(text)))))

    @property
    def _is_scanned(self) -> bool:
        """Whether the kernel splits a text and encodes it, all at once."""
        has_scanner = self.splitter.scanner is not None or not self.splitter.source
        return has_scanner and self.vocabulary.encoder.compiled is not None

    def _encode_part(self, text: str) -> list[int]:
        """The ids of a text, or of a part of one that can be split by itself."""
        if self._is_scanned and (compiled := self.vocabulary.encoder.compiled):
            with suppress(LookupError):
                return compiled.encode(text, self.splitter.scanner)
        return self._encode_pieces(self.splitter.split(text))

    def _encode_pieces(self, pieces: list[str]) -> list[int]:
        if not self._cache.within and (compiled := self.vocabulary.encoder.compiled):
            with suppress(LookupError):
                return compiled.pieces(pieces)[0].tolist()
        return list(chain.from_iterable(map(self._cache.__getitem__, pieces)))

    def _encode_prepared(self, text: str, allowed: frozenset[str]) -> list[int]:
        assert self.preparation
        ids: list[int] = []
        with patience(enough_for(len(text))):
            for part in self.preparation.parts(without_surrogates(text), allowed):
                if isinstance(part, int):
                    ids.append(part)
                else:
                    ids += self._encode_pieces(part)
        return ids

    def encode_piece(self, piece: str) -> tuple[int, ...]:
        """The ids of one piece as `splitter` gives it; of a text that is no piece, the ids it would have as one."""
        try:
            return self._cache[piece]
        except UnicodeEncodeError:
            return self._cache[without_surrogates(piece)]

    def encode_pieces(self, pieces: list[str]) -> Iterator[Sequence[int]]:
        """The ids of each of these pieces, as `encode_piece` has them; quicker where most were never seen before."""
        known = None
        if not self._cache.within and (compiled := self.vocabulary.encoder.compiled):
            with suppress(LookupError, UnicodeEncodeError):
                known = compiled.pieces(pieces)
        if known is None:
            return map(self.encode_piece, pieces)
        ids, ends = known
        return (ids[start:end] for start, end in zip(chain((0,), ends), ends, strict=False))

    def token_bytes(self, token: int) -> bytes:
        """The bytes of an id. Raises `UnknownTokenError`."""
        return self.vocabulary.token_bytes(token)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of `ids`, joined. Raises `UnknownTokenError` for an id that is not in the vocabulary."""
        return self._as_text(b"".join(map(self.vocabulary.token_bytes, ids)))

    def _as_text(self, data: bytes) -> bytes:
        """Without the space that encoding has put before a text, if it has."""
        return data[1:] if self.preparation and self.preparation.drops_space and data[:1] == b" " else data

    def to_tiktoken(self) -> "tiktoken.Encoding":
        """A tiktoken encoding of the same ids; see `bpe_core.formats.live_objects`, also for what is raised."""
        from bpe_core.formats.live_objects import to_tiktoken

        return to_tiktoken(self)

    def to_tokenizers(self) -> "tokenizers.Tokenizer":
        """A tokenizer of Hugging Face's library of the same ids; see `bpe_core.formats.live_objects`."""
        from bpe_core.formats.live_objects import to_tokenizers

        return to_tokenizers(self)

    def _repr_html_(self) -> str:
        """What a notebook shows of it."""
        from bpe_core.pictures.html import tokenizer_table

        return tokenizer_table(self)

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """The text of `ids`. Bytes that are no UTF-8 are handled as `bytes.decode` does with `errors`.

        Unknown ids become U+FFFD. With "strict" they raise `UnknownTokenError`, and bytes that are no UTF-8 raise
        `TextError`; otherwise any sequence of ids has a text.
        """
        if errors not in _ERRORS:
            raise OptionError(f"There is no way {errors!r} to decode; choose one of {', '.join(_ERRORS)}.")
        if errors == "strict":
            try:
                return self.decode_bytes(ids).decode()
            except UnicodeDecodeError as error:
                raise TextError(
                    f"These ids are no text: {error.reason} at byte {error.start}; decode_bytes gives their bytes."
                ) from None
        known: Iterable[bytes] = map(self._bytes_or_replacement, ids)
        if errors == "replace" and self.preparation and self.preparation.replaces_runs:
            known = self.preparation.readable(ids, self._bytes_or_replacement)
        return self._as_text(b"".join(known)).decode(errors=errors)

    def _bytes_or_replacement(self, token: int) -> bytes:
        try:
            return self.vocabulary.token_bytes(token)
        except UnknownTokenError:
            return _UNKNOWN


class _Pieces(dict[str, tuple[int, ...]]):
    """Piece -> ids, worked out when first asked for; bounded, by starting over when it is full.

    Raises `UnicodeEncodeError` for a piece with a surrogate in it: the text should not have been split as it is.
    """

    __slots__ = ("_encode", "_room", "within")

    def __init__(self, vocabulary: Vocabulary, within: "BytePieces | None") -> None:
        self._encode = vocabulary.encode
        self.within = within
        """What splits a piece again; None if nothing does."""
        self._room = _CACHED_IN_ALL

    def __missing__(self, piece: str) -> tuple[int, ...]:
        data = piece.encode()
        parts = self.within(data) if self.within else (data,)
        ids = tuple(chain.from_iterable(map(self._encode, parts)))
        if len(piece) <= _CACHED_LENGTH:
            size = len(piece) + len(ids)
            if len(self) >= _CACHED_PIECES or self._room < size:
                self.clear()
                self._room = _CACHED_IN_ALL
            self._room -= size
            self[piece] = ids
        return ids


def _blocks(text: str) -> Iterator[str]:
    return (text[i : i + _BLOCK] for i in range(0, len(text), _BLOCK))
