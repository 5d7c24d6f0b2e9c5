"""The pipeline from text to pieces, for tokenizers that do more than one split. Its order is that of Hugging Face:

1. find the added tokens that are not `normalized`;
2. normalize each part of the text between them;
3. find the `normalized` added tokens in these parts;
4. apply the pre-tokenizer steps, which make pieces of the text between the tokens.

SentencePiece models are expressed in the same way.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

import regex

from bpe_core.patterns import Splitter
from bpe_core.patterns.text_search import TextSearch
from bpe_core.tokenizer.normalizers import WHITE_SPACE, Normalizer
from bpe_core.utf8 import is_utf8
from bpe_core.vocabulary.symbols import bytes_of_name, name_of_bytes

METASPACE: Final = "▁"  # U+2581, which some tokenizers write for a space

_WORD: Final = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]")


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A text that becomes one id wherever it occurs, found before the split.

    The flags have the names and meanings of tokenizer.json.
    """

    text: str
    token: int
    special: bool = False
    """It is found only if the caller allows it."""
    single_word: bool = False
    """It is found only if no letter, mark, digit or connector is next to it."""
    lstrip: bool = False
    """White space before it becomes a part of it."""
    rstrip: bool = False
    """White space after it becomes a part of it."""
    normalized: bool = False
    """It is searched for in the normalized text, not in the text as given."""


class FoundPart(NamedTuple):
    """A part of a text: an added token, or the text between two of them."""

    start: int  # in code points
    end: int
    token: int | None  # the id of the added token


class Finder:
    """Finds added tokens in a text from left to right, at each place the longest."""

    def __init__(
        self,
        tokens: Iterable[AddedToken],
        normalize: Callable[[str], str] | None = None,
    ) -> None:
        """`normalize` is applied to the texts of the tokens, to find them in a normalized text."""
        self.tokens: Final[dict[str, AddedToken]] = {}
        """Text to search for -> token."""
        for token in tokens:
            search_text = normalize(token.text) if normalize else token.text
            # Two texts can become one when they are normalized. The first token wins.
            self.tokens.setdefault(search_text, token)
        self._search = TextSearch(self.tokens)

    def parts(self, text: str, allowed: frozenset[str]) -> Iterator[FoundPart]:
        """Divide a text at its added tokens. A special token is found only if its text is in `allowed`."""
        done = 0  # where the last token ended
        stripped_to = 0  # where the white space after it ended
        for start, end in self._search.spans(text):
            token = self.tokens[text[start:end]]
            if token.special and token.text not in allowed:
                continue
            if token.single_word and _is_in_word(text, start, end):
                continue
            if token.lstrip:
                while start > done and text[start - 1] in WHITE_SPACE:
                    start -= 1
                start = max(start, done)  # the token before may have taken it
            if token.rstrip:
                if end >= stripped_to:
                    while end < len(text) and text[end] in WHITE_SPACE:
                        end += 1
                end = max(end, stripped_to)
                stripped_to = end
            if done < start:
                yield FoundPart(done, start, None)
            yield FoundPart(start, end, token.token)
            done = end
        if done < len(text):
            yield FoundPart(done, len(text), None)


def _is_in_word(text: str, start: int, end: int) -> bool:
    is_after_word = _WORD.match(text, max(0, start - 1), start)
    return bool(is_after_word or _WORD.match(text, end))


class PlacedPiece(NamedTuple):
    """A piece and its place in the text that it was made from."""

    text: str
    start: int  # offset in that text, in code points, of its first character from there
    n_inserted: int = 0  # characters at its beginning that a step has inserted


class Step:
    """A step of the pipeline, which turns pieces into other pieces.

    `begins` is True if the first piece is at the beginning of the whole text.
    """

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        raise NotImplementedError

    def placed(self, pieces: list[PlacedPiece], begins: bool) -> list[PlacedPiece]:
        """Do the same with pieces that know their places.

        This method is for steps that turn each piece into one piece, and insert text only at its beginning.
        """
        new_texts = self([piece.text for piece in pieces], begins)
        return [
            PlacedPiece(
                text,
                piece.start,
                piece.n_inserted + len(text) - len(piece.text),
            )
            for text, piece in zip(new_texts, pieces, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class SplitStep(Step):
    """Splits each piece."""

    splitter: Splitter

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        split = self.splitter.split
        return [part for piece in pieces for part in split(piece)]

    def placed(self, pieces: list[PlacedPiece], begins: bool) -> list[PlacedPiece]:
        parts: list[PlacedPiece] = []
        for text, piece_start, n_inserted in pieces:
            for start, end in self.splitter.places(text):
                part_start = piece_start + max(0, start - n_inserted)
                n_inserted_in_part = max(0, min(n_inserted, end) - start)
                parts.append(
                    PlacedPiece(text[start:end], part_start, n_inserted_in_part)
                )
        return parts


@dataclass(frozen=True, slots=True)
class PrefixStep(Step):
    """Inserts a prefix before each piece that does not begin with it, or only at the beginning of the text."""

    prefix: str
    only_first: bool = False

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        if not self.only_first:
            return [self._with_prefix(piece) for piece in pieces]
        if not begins or not pieces:
            return pieces
        return [self._with_prefix(pieces[0]), *pieces[1:]]

    def _with_prefix(self, piece: str) -> str:
        return piece if piece.startswith(self.prefix) else self.prefix + piece


@dataclass(frozen=True, slots=True)
class ReplaceStep(Step):
    """Replaces a text in each piece."""

    old: str
    new: str

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        return [piece.replace(self.old, self.new) for piece in pieces]


@dataclass(frozen=True, slots=True)
class BytePieces:
    """Splits the bytes of a piece by several patterns in turn, as a tokenizer.json with a Split after ByteLevel does.

    The patterns see the byte alphabet and may cut inside a character. Example: "ò" is the bytes C3 B2, and B2 is
    written "²", which is a number to some patterns.
    """

    splitters: tuple[Splitter, ...]

    def __call__(self, piece: bytes) -> list[bytes]:
        """Return the byte strings into which `piece` is split. Each is encoded separately.

        >>> from bpe_core.patterns import splitter
        >>> BytePieces((splitter(r"\\p{N}"),))("ò1a".encode())
        [b'\\xc3', b'\\xb2', b'1', b'a']
        """
        pieces = [name_of_bytes(piece)]
        for splitter in self.splitters:
            pieces = [part for piece in pieces for part in splitter.split(piece)]
        return [data for part in pieces if (data := bytes_of_name(part))]


class Passage(NamedTuple):
    """An added token, or a normalized text that is still to be split."""

    text: str
    start: int  # offset in the normalized text, in code points
    token: int | None  # the id of the added token
    starts: (
        bool  # whether the whole text starts there, or the text after an added token
    )


@dataclass(frozen=True, slots=True)
class Preparation:
    """A pipeline, which turns a text into ids of added tokens, and pieces that are still to be encoded."""

    added: tuple[AddedToken, ...]
    normalize: Normalizer | None
    steps: tuple[Step, ...]
    has_metaspace: bool = False
    """Pieces contain U+2581 where their tokens contain a space."""
    drops_space: bool = False
    """Decoding drops a space at the beginning of the text, because encoding adds one."""
    description: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """"normalizer", "pre_tokenizer" and "decoder" of the tokenizer.json that was read, for writing; empty if they can't
    be written. Without "pre_tokenizer", it is derived from the tokenizer's pattern."""
    finds_as_written: bool = False
    """The texts of `normalized` added tokens are not normalized themselves."""
    byte_fallback_ids: frozenset[int] = frozenset()
    """Ids of single bytes (byte fallback). A run of them is decoded as UTF-8, or as one U+FFFD per byte if invalid."""
    within: BytePieces | None = None
    """Splits the bytes of each piece again, before the parts are encoded; None if they are not split."""
    raw: Finder = field(init=False, compare=False)
    """Finds the added tokens of step 1."""
    normalized: Finder = field(init=False, compare=False)
    """Finds the added tokens of step 3."""

    def __post_init__(self) -> None:
        raw = Finder(token for token in self.added if not token.normalized)
        normalized = Finder(
            (token for token in self.added if token.normalized),
            None if self.finds_as_written else self.normalize,
        )
        object.__setattr__(self, "raw", raw)  # the dataclass is frozen
        object.__setattr__(self, "normalized", normalized)

    def __reduce__(self) -> "tuple[type[Preparation], tuple[Any, ...]]":
        arguments = tuple(
            getattr(self, field.name) for field in fields(self) if field.init
        )
        return type(self), arguments

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> "Preparation":
        """Return this pipeline, which also finds these special tokens (text -> id)."""
        added: dict[str, AddedToken] = {}
        for token in self.added:
            if special_tokens.get(token.text, token.token) == token.token:
                added[token.text] = token
        for text, token_id in special_tokens.items():
            if text not in added:
                added[text] = AddedToken(text, token_id, special=True)
        return replace(self, added=tuple(added.values()))

    @property
    def only_splits(self) -> bool:
        """Whether the pipeline only splits a text, once its special tokens are found."""
        changes_text = self.normalize or self.has_metaspace or self.drops_space
        if changes_text or self.within:
            return False
        has_only_specials = all(token.special for token in self.added)
        has_only_splits = all(isinstance(step, SplitStep) for step in self.steps)
        return has_only_specials and has_only_splits

    def parts(self, text: str, allowed: frozenset[str]) -> Iterator[int | list[str]]:
        """Yield ids of added tokens, and lists of pieces that are still to be encoded.

        Args:
            text: A text without surrogates.
            allowed: The texts of the special tokens to find; others are ordinary text.

        Raises:
            OptionError: The text becomes too long.
            PatternError: An expression takes too long.
        """

        def normalize(part: str, place: FoundPart) -> str:
            if place.token is None and self.normalize:
                return self.normalize(part)
            return part

        begins = True
        for passage in self.passages(text, allowed, normalize):
            if passage.token is None:
                yield self._pieces(passage.text, begins)
            else:
                yield passage.token
            begins = False

    def passages(
        self,
        text: str,
        allowed: frozenset[str],
        normalize: Callable[[str, FoundPart], str],
        *,
        starts: bool = True,
    ) -> Iterator[Passage]:
        """Do steps 1 to 3: find added tokens and normalize the text between them.

        `normalize` is called with each part of the text, in order, and with its place. It must not change an added
        token. `starts`: whether the beginning of `text` is that of the whole text.
        """
        n_before = 0  # characters of the normalized text before this part
        for part in self.raw.parts(text, allowed):
            changed = normalize(text[part.start : part.end], part)
            if part.token is None:
                for start, end, token in self.normalized.parts(changed, allowed):
                    yield Passage(changed[start:end], n_before + start, token, starts)
                    starts = starts or token is not None
            else:
                yield Passage(changed, n_before, part.token, starts)
                starts = True
            n_before += len(changed)

    def _pieces(self, text: str, begins: bool) -> list[str]:
        pieces = [text]
        for step in self.steps:
            pieces = step(pieces, begins)
        if self.has_metaspace:
            return [piece.replace(METASPACE, " ") for piece in pieces]
        return pieces

    def decode_byte_runs(
        self, ids: Iterable[int], bytes_of: Callable[[int], bytes]
    ) -> Iterator[bytes]:
        """Yield the bytes of `ids`, in order. A run of `byte_fallback_ids` that is not UTF-8 becomes one U+FFFD per byte."""
        for are_bytes, run in groupby(ids, self.byte_fallback_ids.__contains__):
            data = b"".join(map(bytes_of, run))
            if are_bytes and not is_utf8(data):
                data = "\ufffd".encode() * len(data)
            yield data


def found_at_once(added: Sequence[AddedToken]) -> bool:
    """Whether finding special tokens first and the others afterwards gives the same as finding all in one search.

    It does if all tokens are plain, the special ones and the others each agree in `normalized`, and no special token
    can overlap with another one.
    """
    if any(token.single_word or token.lstrip or token.rstrip for token in added):
        return False
    special = [token for token in added if token.special]
    ordinary = [token for token in added if not token.special]
    for tokens in (special, ordinary):
        if len({token.normalized for token in tokens}) > 1:
            return False
    return not _overlap(special, ordinary) and not _overlap(ordinary, special)


def _overlap(tokens: Sequence[AddedToken], others: Sequence[AddedToken]) -> bool:
    """Whether the text of one of `tokens` occurs in one of `others`, or begins with its end, in O(n log n) time."""
    sorted_texts = sorted(token.text for token in tokens)
    search = TextSearch(sorted_texts)
    for other in others:
        if next(search.spans(other.text), None):
            return True
        for start in range(len(other.text)):
            end_of_other = other.text[start:]
            place = bisect_left(sorted_texts, end_of_other)
            following = sorted_texts[place : place + 1]
            if following and following[0].startswith(end_of_other):
                return True
    return False
