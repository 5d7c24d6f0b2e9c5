"""The tokenizer: encodes text to ids and decodes ids to text, with a vocabulary and a split pattern."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from bpe_core.errors import (
    NotAnIdError,
    OptionError,
    SpecialTokenError,
    TextError,
    UnknownTokenError,
)
from bpe_core.patterns import splitter
from bpe_core.patterns.expression import enough_for, patience
from bpe_core.patterns.pattern import Else
from bpe_core.patterns.text_search import TextSearch
from bpe_core.process import in_order, installed, most_threads, shares
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.typed_numbers import as_id, as_ids
from bpe_core.utf8 import CONTINUATIONS, n_characters, utf8, without_surrogates
from bpe_core.visible import shortened
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple

if TYPE_CHECKING:
    import numpy
    import tiktoken
    import tokenizers

    from bpe_core.tokenizer.preparation import BytePieces, Preparation

    Ids = numpy.ndarray[Any, numpy.dtype[numpy.uint32]]

T = TypeVar("T")
Choice = Literal["all"] | Collection[str]
"""The texts of some special tokens, or "all" of them."""

END_OF_TEXT: Final = "<|endoftext|>"
_LONGEST: Final = 48  # characters of a piece that is cached
_MOST: Final = 1 << 17  # pieces in the cache: 100 MB at most, 20 MB as a rule
_BLOCK: Final = 1 << 16  # characters
_ERRORS: Final = ("replace", "strict", "ignore", "backslashreplace")
_SHARE: Final = (
    1 << 17
)  # characters of a batch that a thread encodes at a time, at least: a millisecond
_finder: Final = lru_cache(maxsize=64)(TextSearch)


def _ids_of(
    vocabulary: Vocabulary, within: "BytePieces | None", piece: str
) -> tuple[int, ...]:
    """The ids of a piece; `within` splits its bytes again, None: they are encoded as a whole."""
    data = utf8(piece)
    return (
        tuple(chain.from_iterable(map(vocabulary.encode, within(data))))
        if within
        else vocabulary.encode(data)
    )


class Tokenizer:
    """Encodes and decodes with the merges of `vocabulary` and the split `pattern`; immutable but for caches. Any number
    of threads may share one; it is pickled without its caches, in 0.1 s and 4 MB for 200,000 tokens.

    >>> from bpe_core import train
    >>> tokenizer = train(["low lower lowest"], vocab_size=258)
    >>> tokenizer.encode("lower"), tokenizer.decode([257, 101])
    ([257, 101, 114], 'lowe')

    `pattern` is a name of `PATTERNS` or a pattern in the grammar of `bpe_core.patterns.pattern`; `PatternError` if it
    is neither. `record`: how the vocabulary was learned, if it was learned here. `preparation`: the pipeline of
    normalizers, added tokens and pre-tokenizer steps that some files define; it includes the split, so that `splitter`
    is then only for display and for writing files.

    `decode(encode(text)) == text`, except for a text with surrogates, a pattern that drops text, and a `preparation`
    that changes the text. `encode(decode(ids)) == ids` does not hold in general.
    """

    __slots__ = (
        "_cached",
        "_ids_of",
        "name",
        "preparation",
        "record",
        "splitter",
        "vocabulary",
    )

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
        self.splitter: Final = splitter(pattern)
        self.record: Final = record
        self.name: Final = name
        self.preparation: Final = preparation
        self._ids_of: Final = partial(_ids_of, vocabulary, self._within)
        self._cached: Final = lru_cache(_MOST)(self._ids_of)

    @property
    def pattern(self) -> str:
        """The split pattern in the grammar of `bpe_core.patterns.pattern`, with names where they were given."""
        return self.splitter.pattern

    @property
    def n_vocab(self) -> int:
        """`max_token_value` + 1, as in tiktoken: how many rows an embedding table needs. `n_tokens` is less if some
        ids are unused, as in o200k_base: 200,019 rows for 200,000 tokens.
        """
        return self.vocabulary.n_vocab

    @property
    def n_tokens(self) -> int:
        """How many tokens there are, special tokens included: the vocabulary size that people speak of."""
        return self.vocabulary.n_tokens

    @property
    def step(self) -> int:
        """How many merges are in force."""
        return self.vocabulary.n_merges

    @property
    def merges(self) -> list[Triple]:
        """(left, right, token) of each merge in force, in order; a copy."""
        return list(self.vocabulary.merges)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Text -> id; a copy."""
        return dict(self.vocabulary.special_tokens)

    @property
    def max_token_value(self) -> int:
        """The highest id in use. `range(n_vocab)` has every id, and also the unused ids below this one."""
        return self.vocabulary.highest_id

    @property
    def eot_token(self) -> int:
        """The id of the special token <|endoftext|>; `UnknownTokenError`, a KeyError, if there is none."""
        if (token := self.vocabulary.special_tokens.get(END_OF_TEXT)) is None:
            raise UnknownTokenError(
                f"This tokenizer has no special token {END_OF_TEXT}."
            )
        return token

    def __repr__(self) -> str:
        name, pattern = f" {self.name!r}" * bool(self.name), shortened(self.pattern, 60)
        return f"<Tokenizer{name}: {self.vocabulary!r}, pattern {pattern!r}, {len(self.special_tokens)} special tokens>"

    def __eq__(self, other: object) -> bool:
        """Whether both give every text the same ids, by what they are made of: equal vocabularies, special tokens,
        split and preparation. Names and records of trainings do not count. O(`n_tokens`) where all is equal."""
        if self is other or not isinstance(other, Tokenizer):
            return self is other or NotImplemented
        is_like = type(self) is type(other) and self.splitter == other.splitter
        return (
            is_like
            and self.preparation == other.preparation
            and self.vocabulary == other.vocabulary
        )

    def __hash__(self) -> int:
        return hash((self.splitter, self.vocabulary))

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Vocabulary, str]]:
        made = partial(
            type(self), record=self.record, name=self.name, preparation=self.preparation
        )
        return made, (self.vocabulary, self.pattern)

    @property
    def by_piece(self) -> bool:
        """Whether the ids of a text are those of its pieces, concatenated, and decode to the bytes of the pieces."""
        return self.preparation is None and self.vocabulary.is_faithful

    def splits_like(self, other: "Tokenizer | None") -> bool:
        """Whether both make the same pieces of any text, and nothing else of it, as two steps of one tokenizer do."""
        return (
            other is not None
            and other.splitter == self.splitter
            and self.by_piece
            and other.by_piece
        )

    def at(self, step: int) -> Self:
        """The tokenizer after `step` of its merges, 0 being bytes alone. Raises `OptionError` past its last merge."""
        return self._with(self.vocabulary.at(step), record=self.record)

    def with_merges(self, merges: Iterable[Triple]) -> Self:
        """This tokenizer with these merges appended, as during a training; its `record` is None. Cheap if no other one
        was extended from this one before."""
        return self._with(self.vocabulary.extended(merges))

    def _with(self, vocabulary: Vocabulary, **other: Any) -> Self:
        return type(self)(
            vocabulary,
            self.pattern,
            **{"name": self.name, "preparation": self.preparation} | other,
        )

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> Self:
        """This tokenizer with these special tokens, text -> id, besides its own; a text that is one gets the new id.

        An id is a free one, or that of a token with the bytes of the text; `OptionError` otherwise. O(`n_tokens`).

        >>> from bpe_core import train
        >>> chat = train("low lower", vocab_size=260).with_special_tokens({"<|user|>": 300})
        >>> chat.encode("<|user|>low", allowed_special="all")
        [300, 257]
        """
        vocabulary = self.vocabulary.with_special_tokens(
            {**self.vocabulary.special_tokens, **special_tokens}
        )
        preparation = self.preparation and self.preparation.with_special_tokens(
            special_tokens
        )
        return self._with(vocabulary, record=self.record, preparation=preparation)

    def encode(
        self,
        text: str,
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> list[int]:
        """The ids of `text`; the two options mean what they mean in tiktoken.

        Occurrences of the special tokens in `allowed_special` ("all": every one) become their ids. An occurrence of
        another one in `disallowed_special` ("all": every one not allowed) raises `SpecialTokenError`. Those in neither
        are encoded as ordinary text. `PatternError` if an untrusted split pattern takes too long.
        """
        allowed, disallowed = chosen_specials(
            allowed_special, disallowed_special, self.vocabulary.special_tokens
        )
        refuse_specials(disallowed, text)
        if not allowed:
            return self.encode_ordinary(text)
        parts = self.divide((text,), allowed_special=allowed, disallowed_special=())
        return list(
            chain(
                *(
                    self.encode_ordinary(part) if isinstance(part, str) else part
                    for part in parts
                )
            )
        )

    def divide(
        self,
        blocks: Iterable[str],
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> Iterator[str | list[int]]:
        """A text that comes in blocks, in parts: known ids, such as those of special tokens, and ordinary texts between
        them, whose ids `encode_ordinary` gives. The ids of all, in a row, are those that `encode` gives.

        The text is held as a whole only if the pattern has no safe cuts (`splitter.blockwise`) or there is a
        `preparation`. A disallowed special token raises `SpecialTokenError` when it is reached. No block may end
        between the two halves of a surrogate pair.
        """
        allowed, disallowed = chosen_specials(
            allowed_special, disallowed_special, self.vocabulary.special_tokens
        )
        blocks = without_specials(disallowed, map(without_surrogates, blocks))
        if self.preparation:
            yield self._encode_prepared("".join(blocks), allowed)
            return
        for is_token, group in groupby(
            special_parts(allowed, blocks), key=itemgetter(0)
        ):
            texts = (text for _, text in group)
            if is_token:
                yield list(map(self.vocabulary.special_tokens.__getitem__, texts))
            else:
                yield from self.splitter.parts(texts)

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of `text`, with special tokens encoded as ordinary text. A pair of surrogates is encoded as the
        character it stands for, a lone one as U+FFFD."""
        if self.preparation:
            return self._encode_prepared(text, frozenset())
        try:
            if found := self._in_kernel([text]):
                return found[0]  # type: ignore[no-any-return]
        except UnicodeEncodeError:
            return self.encode_ordinary(without_surrogates(text))
        text = without_surrogates(text)
        blocks = (text[at : at + _BLOCK] for at in range(0, len(text), _BLOCK))
        parts = map(self.splitter.split, self.splitter.parts(blocks))
        return list(chain.from_iterable(map(self._encode_pieces, parts)))

    def encode_to_array(
        self,
        text: str,
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = (),
    ) -> "array[int]":
        """The ids of `text` as unsigned 32-bit numbers, in less time and memory than a list; special tokens are
        ordinary text unless the options, which are those of `encode`, say otherwise.

        It has the buffer protocol: `numpy.frombuffer(ids, numpy.uint32)` and `memoryview(ids)` copy nothing.
        Libraries that know lists and numpy arrays only, such as `datasets`, don't know an `array`: return
        `encode_to_numpy(text)` or `list(ids)` from the function that you give to `datasets.map`.

        >>> from bpe_core import train
        >>> memoryview(train("low lower", vocab_size=260).encode_to_array("lower")).tolist()
        [257, 101, 114]
        """
        if allowed_special or disallowed_special:
            found = array("I")
            for part in self.divide(
                (text,),
                allowed_special=allowed_special,
                disallowed_special=disallowed_special,
            ):
                found += (
                    self.encode_to_array(part)
                    if isinstance(part, str)
                    else array("I", part)
                )
            return found
        return self._encode_each([text], as_arrays=True)[0]  # type: ignore[no-any-return]

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> "Ids":
        """The ids of `text` as a numpy array of uint32; tiktoken's name, with tiktoken's options and errors.
        `FetchError` if numpy is not installed.

        >>> from bpe_core import train
        >>> train("low lower", vocab_size=260).encode_to_numpy("lower").tolist()
        [257, 101, 114]
        """
        numpy = installed("numpy", "encode_to_numpy", "embeddings")
        ids = self.encode_to_array(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        return numpy.frombuffer(ids, numpy.uint32)  # type: ignore[no-any-return]

    def _in_kernel(self, texts: list[str], as_arrays: bool = False) -> list[Any] | None:
        """The ids of each text, split and encoded in one call free of the GIL; None if it takes Python."""
        for text in texts:  # the kernel would take any bytes
            if not isinstance(text, str):
                raise TypeError(
                    f"A text to encode is a str, not {type(text).__name__}; decode it first."
                )
        scanner = self.splitter.scanner
        if self.preparation or (scanner is None and self.splitter.source):
            return None
        return self.vocabulary.encode_texts(texts, scanner, as_arrays)

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        num_threads: int | None = None,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> list[list[int]]:
        """The ids of each text in order, as `encode` gives them; its errors, those of the first text that has one.

        `num_threads` threads encode, by default as many as there are cores, at most 8. The kernel encodes free of the
        GIL; without it, or with a `preparation`, threads gain nothing.

        >>> from bpe_core import train
        >>> train("low lower", vocab_size=260).encode_batch(["low", "", "lowe"])
        [[257], [], [257, 101]]
        """
        allowed, disallowed = chosen_specials(
            allowed_special, disallowed_special, self.vocabulary.special_tokens
        )

        def encode(texts: list[str]) -> list[list[int]]:
            for text in texts:
                refuse_specials(disallowed, text)
            if not allowed:
                return self._encode_each(texts)
            return [
                self.encode(text, allowed_special=allowed, disallowed_special=())
                for text in texts
            ]

        return in_threads(encode, texts, num_threads)

    def encode_ordinary_batch(
        self, texts: Iterable[str], *, num_threads: int | None = None
    ) -> list[list[int]]:
        """The ids of each text in order, as `encode_ordinary` gives them; the threads are those of `encode_batch`."""
        return in_threads(self._encode_each, texts, num_threads)

    def encode_to_arrays(
        self, texts: Iterable[str], *, num_threads: int | None = None
    ) -> "list[array[int]]":
        """The same as arrays, such as `encode_to_array` gives, in less time and memory. `datasets` does not know
        these; return `encode_ordinary_batch(texts)` from a batched `datasets.map`."""
        return in_threads(
            partial(self._encode_each, as_arrays=True), texts, num_threads
        )

    def _encode_each(self, texts: list[str], as_arrays: bool = False) -> list[Any]:
        with suppress(UnicodeEncodeError):
            if (found := self._in_kernel(texts, as_arrays)) is not None:
                return found
        each = map(self.encode_ordinary, texts)
        return [array("I", ids) for ids in each] if as_arrays else list(each)

    def _encode_pieces(self, pieces: list[str]) -> list[int]:
        known = None if self._within else self.vocabulary.encode_pieces(pieces)
        return (
            list(chain.from_iterable(map(self.encode_piece, pieces)))
            if known is None
            else known[0].tolist()
        )

    @property
    def _within(self) -> "BytePieces | None":
        return self.preparation.within if self.preparation else None

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
        """The ids of `piece`, encoded as one piece: it is not split."""
        return self._cached(piece) if len(piece) <= _LONGEST else self._ids_of(piece)

    def encode_pieces(self, pieces: list[str]) -> Iterator[Sequence[int]]:
        """The ids of each of these pieces, as `encode_piece` has them; quicker where most were never seen before."""
        known = None
        if not self._within:
            with suppress(UnicodeEncodeError):
                known = self.vocabulary.encode_pieces(pieces)
        if known is None:
            return map(self.encode_piece, pieces)
        ids, ends = known
        return (
            ids[start:end] for start, end in zip(chain((0,), ends), ends, strict=False)
        )

    def token_bytes(self, token: int) -> bytes:
        """The bytes of an id. Raises `UnknownTokenError`, and `NotAnIdError`, a TypeError, if it is not a whole
        number."""
        return self.vocabulary.token_bytes(as_id(token))

    decode_single_token_bytes = token_bytes  # tiktoken's name

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of the token, special or not, that has just this text or these bytes, whatever encoding makes of them;
        of several the lowest. `UnknownTokenError`, a KeyError, if there is none. O(`n_tokens`) at first.

        >>> from bpe_core import train
        >>> train("low lower", vocab_size=260).encode_single_token("low")
        257
        """
        data = utf8(text_or_bytes) if isinstance(text_or_bytes, str) else text_or_bytes
        if (token := self.vocabulary.id_by_bytes.get(data)) is None:
            raise UnknownTokenError(
                f"There is no token {text_or_bytes!r} in this vocabulary of {self.n_tokens}."
            )
        return token

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of `ids`, joined. Raises `UnknownTokenError` for an id that is not in the vocabulary, and
        `NotAnIdError`, a TypeError, for a value that is not a whole number."""
        return self._as_text(self.vocabulary.joined(as_ids(ids)))

    def _as_text(self, data: bytes) -> bytes:
        """`data` without the leading space, if this tokenizer's encoding prepends one."""
        return (
            data[1:]
            if self.preparation and self.preparation.drops_space and data[:1] == b" "
            else data
        )

    def to_tiktoken(self) -> "tiktoken.Encoding":
        """An equivalent tiktoken encoding; see `bpe_core.formats.tiktoken`."""
        return import_module("bpe_core.formats.tiktoken").to_tiktoken(self)  # type: ignore[no-any-return]

    def to_tokenizers(self) -> "tokenizers.Tokenizer":
        """An equivalent tokenizer of Hugging Face's library; see `bpe_core.formats.huggingface.writing`."""
        return import_module("bpe_core.formats.huggingface.writing").to_tokenizers(self)  # type: ignore[no-any-return]

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """The text of `ids`; `errors` says what invalid UTF-8 becomes, as in `bytes.decode`.

        `ids` are whole numbers of any kind: ints, an array, a numpy array, a tensor. `errors` is "replace", "ignore" or
        "backslashreplace", with which unknown ids are decoded as U+FFFD; or "strict", with which an unknown id raises
        `UnknownTokenError` and invalid UTF-8 `TextError`. `OptionError` for any other value. A negative number raises
        `UnknownTokenError` in any case, and a value that is not a whole number `NotAnIdError`, a TypeError.
        """
        if errors not in _ERRORS:
            raise OptionError(
                f"There is no way {errors!r} to decode; choose one of {', '.join(_ERRORS)}."
            )
        token_ids = as_ids(ids)
        if errors == "strict":
            try:
                return self.decode_bytes(token_ids).decode()
            except UnicodeDecodeError as error:
                raise TextError(
                    f"These ids are no text: {error.reason} at byte {error.start}; decode_bytes gives their bytes."
                ) from None
        if errors == "replace" and self.preparation and self.preparation.replaces_runs:
            data = b"".join(
                self.preparation.readable(token_ids, self._bytes_or_replacement)
            )
        else:
            data = self.vocabulary.joined(token_ids, self._bytes_or_replacement)
        return self._as_text(data).decode(errors=errors)

    def decode_batch(
        self,
        batch: Iterable[Iterable[int]],
        *,
        errors: str = "replace",
        num_threads: int | None = None,
    ) -> list[str]:
        """The text of each list of ids in order, as `decode` gives it. Decoding holds the GIL, so that `num_threads` is
        there for tiktoken's callers only: it is a look-up and a copy a token."""
        if isinstance(batch, str):
            raise NotAnIdError(
                f"A batch is a list of lists of ids, not the text {shortened(repr(batch), 40)}."
            )
        return [self.decode(ids, errors) for ids in batch]

    def decode_with_offsets(self, ids: Iterable[int]) -> tuple[str, list[int]]:
        """(the text of `ids`, for each of them the offset in code points of the character that its first byte belongs
        to), as in tiktoken. `UnknownTokenError`, and `TextError` if the ids are no text.

        >>> from bpe_core import train
        >>> train([], vocab_size=256).decode_with_offsets("né!".encode())
        ('né!', [0, 1, 1, 2])
        """
        token_ids = as_ids(ids)
        tokens, text = (
            list(map(self.vocabulary.token_bytes, token_ids)),
            self.decode(token_ids, "strict"),
        )
        begun = len(text) - sum(
            map(n_characters, tokens)
        )  # -1 if decoding drops a space
        offsets: list[int] = []
        for token in tokens:
            offsets.append(
                max(0, begun - (token[:1] in CONTINUATIONS and token != b""))
            )
            begun += n_characters(token)
        return text, offsets

    def _bytes_or_replacement(self, token: int) -> bytes:
        if token < 0:
            raise UnknownTokenError(
                f"{token} is not an id: ids are whole numbers from 0 on; leave it out."
            )
        try:
            return self.vocabulary.token_bytes(token)
        except UnknownTokenError:
            return "\ufffd".encode()


class SpecialsAllowed(Tokenizer):
    """A tokenizer whose pieces are the special tokens in a text, and the pieces of the text between them. So
    `encode_ordinary(text) == encode(text, allowed_special="all")`, and code that encodes piece by piece, as `LiveText`
    does, handles special tokens without knowing about them."""

    __slots__ = ()

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Tokenizer | Self:
        """The tokenizer with all special tokens allowed; itself if it has none, or is not `by_piece`."""
        texts = tokenizer.vocabulary.special_tokens
        if isinstance(tokenizer, cls) or not texts or not tokenizer.by_piece:
            return tokenizer
        pattern = Else(tuple(texts), tokenizer.splitter.tree)
        return cls(
            tokenizer.vocabulary,
            str(pattern),
            record=tokenizer.record,
            name=tokenizer.name,
        )

    def encode_piece(self, piece: str) -> tuple[int, ...]:
        special = self.vocabulary.special_tokens.get(piece)
        return super().encode_piece(piece) if special is None else (special,)

    def encode_pieces(self, pieces: list[str]) -> Iterator[Sequence[int]]:
        return map(self.encode_piece, pieces)

    def encode_ordinary(self, text: str) -> list[int]:
        return list(
            chain.from_iterable(map(self.encode_piece, self.splitter.split(text)))
        )


def in_threads(
    encode: Callable[[list[str]], list[T]],
    texts: Iterable[str],
    num_threads: int | None,
) -> list[T]:
    """What `encode` makes of each text, in order, by so many threads; None: as many as there are cores, at most 8."""
    if isinstance(texts, str):
        raise OptionError(
            "A batch is a list of texts, not one text; put it into a list."
        )
    n_threads = most_threads() if num_threads is None else num_threads
    shared = shares(texts, _SHARE)
    parts = in_order(
        lambda share: encode(share[1]),
        shared,
        n_threads,
        here=lambda one: n_threads < 2 or one[0] < _SHARE,
    )
    return list(chain.from_iterable(parts))


def chosen_specials(
    allowed: Choice, disallowed: Choice, specials: Collection[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """(texts that become tokens, texts that must not occur) for tiktoken's options `allowed_special` and
    `disallowed_special`; `specials` are all special tokens. Raises `OptionError` for a single text."""
    wanted, refused = (
        _names("allowed_special", allowed, specials),
        _names("disallowed_special", disallowed, specials),
    )
    return wanted.intersection(
        specials
    ), refused - wanted if disallowed == "all" else refused


def refuse_specials(tokens: frozenset[str], text: str, before: int = 0) -> None:
    """Raise `SpecialTokenError` if one of the tokens occurs in `text`; `before` is added to the offset it names."""
    if tokens and (found := next(_finder(tokens).spans(text), None)):
        raise SpecialTokenError(
            f"The text holds the special token {text[slice(*found)]!r} at offset {before + found[0]}; name it in "
            "allowed_special to encode it as a token, or pass disallowed_special=() to encode it as text."
        )


def without_specials(tokens: frozenset[str], blocks: Iterable[str]) -> Iterator[str]:
    """The same text in other blocks; `SpecialTokenError` where it holds one of the tokens."""
    before = 0
    for is_token, part in special_parts(tokens, blocks):
        refuse_specials(tokens if is_token else frozenset(), part, before)
        before += len(part)
        yield part


def special_parts(
    tokens: frozenset[str], blocks: Iterable[str]
) -> Iterator[tuple[bool, str]]:
    """The text in parts: (True, token) for each occurrence of a token, also across blocks, and (False, text) for the
    text between them, which may come in several parts; none is empty."""
    find, longest = _finder(tokens).spans, max(map(len, tokens), default=1)
    held = ""
    for block in chain(blocks, (None,)):
        text, start = held + (block or ""), 0
        # What begins from `safe` on may yet turn out to be a longer one; not behind the last block.
        safe = len(text) if block is None else len(text) - longest + 1
        for begin, stop in find(text):
            if begin >= safe:
                break
            if start < begin:
                yield False, text[start:begin]
            yield True, text[begin:stop]
            start = stop
        end = max(start, safe)
        if start < end:
            yield False, text[start:end]
        held = text[end:]


def _names(option: str, given: Choice, specials: Collection[str]) -> frozenset[str]:
    if given == "all":
        return frozenset(specials)
    if isinstance(given, str):
        raise OptionError(
            f'{option} is "all" or a set of special tokens, not the text {given!r}.'
        )
    return frozenset(given)
