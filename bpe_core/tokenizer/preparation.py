"""The pipeline from text to pieces of tokenizers that do more than one split, in the order of Hugging Face's library:

1. find the added tokens that are not `normalized`;
2. normalize each part of the text between them;
3. find the `normalized` added tokens in these parts;
4. apply the pre-tokenizer steps, which make pieces of what is between them.

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
from bpe_core.vocabulary.symbols import meant, written

METASPACE: Final = "▁"  # U+2581, which some tokenizers write for a space

_WORD: Final = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]")


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A text that becomes one id wherever it occurs, found before the split; the flags are those of tokenizer.json."""

    text: str
    token: int
    special: bool = False  # found only where the caller allows it
    single_word: bool = (
        False  # found only where no letter, mark, digit or connector is next to it
    )
    lstrip: bool = False  # white space before it becomes a part of it
    rstrip: bool = False  # and after it
    normalized: bool = (
        False  # searched for in the normalized text rather than in the text as given
    )


class Finder:
    """Finds added tokens in a text from left to right, at each place the longest."""

    def __init__(
        self,
        tokens: Iterable[AddedToken],
        normalize: Callable[[str], str] | None = None,
    ) -> None:
        """`normalize` is applied to the texts of the tokens, to find them in a normalized text."""
        self.tokens: Final = dict[str, AddedToken]()  # by the text that is searched for
        for token in tokens:
            self.tokens.setdefault(
                normalize(token.text) if normalize else token.text, token
            )
        self._texts = TextSearch(self.tokens)

    def parts(
        self, text: str, allowed: frozenset[str]
    ) -> Iterator[tuple[int, int, int | None]]:
        """(start, end, id) of each token found, in code points, and (start, end, None) of the texts between them. A
        special token is found only if its text is in `allowed`."""
        start = done = 0
        for begin, end in self._texts.spans(text):
            token = self.tokens[text[begin:end]]
            in_word = token.single_word and (
                _WORD.match(text, max(0, begin - 1), begin) or _WORD.match(text, end)
            )
            if in_word or (token.special and token.text not in allowed):
                continue
            if token.lstrip:
                while begin > start and text[begin - 1] in WHITE_SPACE:
                    begin -= 1
                begin = max(
                    begin, start
                )  # rstrip of the token before may have reached behind it
            if token.rstrip and end >= done:
                while end < len(text) and text[end] in WHITE_SPACE:
                    end += 1
            if token.rstrip:
                done = end = max(end, done)
            if start < begin:
                yield start, begin, None
            yield begin, end, token.token
            start = end
        if start < len(text):
            yield start, len(text), None


class Placed(NamedTuple):
    """A piece with its place in the part of the text that it was made from."""

    text: str
    start: int  # offset in that part, in code points, of its first character that is from there
    n_put: int = 0  # characters at its beginning that a step has inserted


class Step:
    """A step: pieces in, pieces out; `begins` says whether the first piece is at the beginning of the whole text."""

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        raise NotImplementedError

    def placed(self, pieces: list[Placed], begins: bool) -> list[Placed]:
        """The same with places; of a step that makes one piece of each, what it adds being at its beginning."""
        new = self([text for text, _, _ in pieces], begins)
        return [
            Placed(text, start, n_put + len(text) - len(old))
            for text, (old, start, n_put) in zip(new, pieces, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class SplitStep(Step):
    splitter: Splitter

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        split = self.splitter.split
        return [part for piece in pieces for part in split(piece)]

    def placed(self, pieces: list[Placed], begins: bool) -> list[Placed]:
        return [
            Placed(
                text[begin:end],
                start + max(0, begin - n_put),
                max(0, min(n_put, end) - begin),
            )
            for text, start, n_put in pieces
            for begin, end in self.splitter.places(text)
        ]


@dataclass(frozen=True, slots=True)
class PrefixStep(Step):
    """Puts `prefix` before each piece that does not begin with it, or `only_first` before that at the text's start."""

    prefix: str
    only_first: bool = False

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        prefix, n = self.prefix, int(begins) if self.only_first else len(pieces)
        return [
            piece if piece.startswith(prefix) else prefix + piece
            for piece in pieces[:n]
        ] + pieces[n:]


@dataclass(frozen=True, slots=True)
class ReplaceStep(Step):
    old: str
    new: str

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        return [piece.replace(self.old, self.new) for piece in pieces]


@dataclass(frozen=True, slots=True)
class BytePieces:
    """Splits the bytes of a piece by several patterns in turn, as a tokenizer.json with a Split after ByteLevel does.
    The patterns see the byte alphabet and may cut inside a character: "ò" is the bytes C3 B2, and B2 is written "²",
    which is a number to some of them."""

    splitters: tuple[Splitter, ...]

    def __call__(self, piece: bytes) -> list[bytes]:
        """The byte strings into which `piece` is split; each is encoded by itself.

        >>> from bpe_core.patterns import splitter
        >>> BytePieces((splitter(r"\\p{N}"),))("ò1a".encode())
        [b'\\xc3', b'\\xb2', b'1', b'a']
        """
        pieces = [written(piece)]
        for splitter in self.splitters:
            pieces = [part for piece in pieces for part in splitter.split(piece)]
        return [data for part in pieces if (data := meant(part))]


@dataclass(frozen=True, slots=True)
class Preparation:
    """A pipeline: text in, ids of added tokens and pieces to be encoded out."""

    added: tuple[AddedToken, ...]
    normalize: Normalizer | None
    steps: tuple[Step, ...]
    has_metaspace: bool = False  # a piece holds U+2581 where its tokens hold a space
    drops_space: bool = False  # decoding drops a space at the beginning of the text, because encoding prepends one
    description: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The values of "normalizer", "pre_tokenizer" and "decoder" in the tokenizer.json that was read, for writing; empty
    if they cannot be written. Without "pre_tokenizer", that is derived from the tokenizer's pattern."""
    finds_as_written: bool = False
    """Whether the texts of `normalized` added tokens are searched for as they are, rather than normalized first."""
    replaces_runs: frozenset[int] = frozenset()
    """Ids of single bytes (byte fallback): a run of them is decoded as UTF-8, or to one U+FFFD per byte if invalid."""
    within: BytePieces | None = None
    """Splits the bytes of each piece again, before the parts are encoded one by one; None if they are not split."""
    raw: Finder = field(init=False, compare=False)  # of the added tokens of step 1
    normalized: Finder = field(init=False, compare=False)  # of those of step 3

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "raw", Finder(token for token in self.added if not token.normalized)
        )
        normalized = (token for token in self.added if token.normalized)
        object.__setattr__(
            self,
            "normalized",
            Finder(normalized, None if self.finds_as_written else self.normalize),
        )

    def __reduce__(self) -> "tuple[type[Preparation], tuple[Any, ...]]":
        return type(self), tuple(
            getattr(self, field.name) for field in fields(self) if field.init
        )

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> "Preparation":
        """This pipeline, which also finds these, text -> id, each once."""
        added = {
            one.text: one
            for one in self.added
            if special_tokens.get(one.text, one.token) == one.token
        }
        new = [
            AddedToken(text, token, special=True)
            for text, token in special_tokens.items()
            if text not in added
        ]
        return replace(self, added=(*added.values(), *new))

    @property
    def only_splits(self) -> bool:
        """Whether all that happens to a text, apart from special tokens, is that it is split."""
        does_more = (
            self.normalize or self.within or self.has_metaspace or self.drops_space
        )
        only_special = all(token.special for token in self.added)
        return (
            not does_more
            and only_special
            and all(isinstance(step, SplitStep) for step in self.steps)
        )

    def parts(self, text: str, allowed: frozenset[str]) -> Iterator[int | list[str]]:
        """The text as a sequence of ids, of added tokens, and of lists of pieces, which are still to be encoded.
        `allowed` are the texts of the special tokens that are found; others are ordinary text. Raises `OptionError` or
        `PatternError` if a text becomes too long or an expression takes too long."""
        begins = True
        for start, end, token in self.raw.parts(text, allowed):
            if token is not None:
                yield token
            else:
                part = (
                    self.normalize(text[start:end])
                    if self.normalize
                    else text[start:end]
                )
                for first, last, inner in self.normalized.parts(part, allowed):
                    yield (
                        self._pieces(part[first:last], begins)
                        if inner is None
                        else inner
                    )
                    begins = False
            begins = False

    def _pieces(self, text: str, begins: bool) -> list[str]:
        pieces = [text]
        for step in self.steps:
            pieces = step(pieces, begins)
        return (
            [piece.replace(METASPACE, " ") for piece in pieces]
            if self.has_metaspace
            else pieces
        )

    def readable(
        self, ids: Iterable[int], bytes_of: Callable[[int], bytes]
    ) -> Iterator[bytes]:
        """The bytes of `ids`, in order; a run of ids in `replaces_runs` that is no UTF-8 becomes a U+FFFD per byte."""
        for is_byte, run in groupby(ids, self.replaces_runs.__contains__):
            data = b"".join(map(bytes_of, run))
            is_broken = is_byte and not is_utf8(data)
            yield "\ufffd".encode() * len(data) if is_broken else data


def found_at_once(added: Sequence[AddedToken]) -> bool:
    """Whether searching for special tokens first and for the others afterwards finds what one search finds, as it does
    if all are plain, those of a kind agree in `normalized`, and no special and ordinary one can overlap."""
    special, ordinary = (
        [token for token in added if token.special is kind] for kind in (True, False)
    )
    plain = not any(
        token.single_word or token.lstrip or token.rstrip for token in added
    )
    agree = all(
        len({token.normalized for token in kind}) <= 1 for kind in (special, ordinary)
    )
    return (
        plain
        and agree
        and not _overlap(special, ordinary)
        and not _overlap(ordinary, special)
    )


def _overlap(tokens: Sequence[AddedToken], others: Sequence[AddedToken]) -> bool:
    """Whether the text of one of `tokens` occurs in one of `others` or begins with an end of it; in O(n log n)."""
    in_order = sorted(token.text for token in tokens)
    search = TextSearch(in_order)
    for other in others:
        if next(search.spans(other.text), None):
            return True
        for end in (other.text[start:] for start in range(len(other.text))):
            place = bisect_left(in_order, end)
            if place < len(in_order) and in_order[place].startswith(end):
                return True
    return False
