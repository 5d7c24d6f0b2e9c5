"""The tokenizer, which encodes text to ids and decodes ids to text with a vocabulary and a split pattern."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from bpe_core.errors import (
    NotAnIdError,
    OptionError,
    TextError,
    UnknownTokenError,
)
from bpe_core.patterns import splitter
from bpe_core.patterns.expression import enough_for, patience
from bpe_core.patterns.pattern import Else
from bpe_core.process import in_order, installed, most_threads, shares
from bpe_core.token_ids import as_id, as_ids
from bpe_core.tokenizer.special_tokens import (
    Choice,
    chosen_specials,
    refuse_specials,
    special_parts,
    without_specials,
)
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.utf8 import CONTINUATIONS, n_characters, utf8, without_surrogates
from bpe_core.visible import shortened
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.encoding import EncodedPieces
from bpe_core.vocabulary.merge_loop import Triple

if TYPE_CHECKING:
    import numpy
    import tiktoken
    import tokenizers

    from bpe_core.tokenizer.preparation import BytePieces, Preparation

    Ids = numpy.ndarray[Any, numpy.dtype[numpy.uint32]]

__all__ = ["END_OF_TEXT", "Choice", "SpecialsAllowed", "Tokenizer"]

T = TypeVar("T")

END_OF_TEXT: Final = "<|endoftext|>"
_LONGEST_CACHED: Final = 48  # characters of a piece
_MOST_CACHED: Final = 1 << 17  # pieces: 100 MB at most, 20 MB in most cases
_BLOCK: Final = 1 << 16  # characters split at a time in Python
_ERRORS: Final = ("replace", "strict", "ignore", "backslashreplace")
_SHARE: Final = 1 << 17
"""Characters of a batch that a thread encodes at a time, at least: it takes a millisecond."""


class Tokenizer:
    """Encodes and decodes with a vocabulary and a split pattern.

    A tokenizer is immutable except for its caches. Any number of threads may share one. It is pickled without its
    caches: 200,000 tokens take 4 MB and 0.1 s.

    `decode(encode(text)) == text`, except for a text with surrogates, a pattern that drops text, and a `preparation`
    that changes the text. `encode(decode(ids)) == ids` does not hold in general.

    Examples:
        >>> from bpe_core import train
        >>> tokenizer = train(["low lower lowest"], vocab_size=258)
        >>> tokenizer.encode("lower"), tokenizer.decode([257, 101])
        ([257, 101, 114], 'lowe')
    """

    __slots__ = (
        "_cached_ids_of_piece",
        "_ids_of_piece",
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
        """Make a tokenizer of a vocabulary and a pattern.

        Args:
            vocabulary: Ids, bytes and merges.
            pattern: A name of `PATTERNS`, or a pattern in the grammar of `bpe_core.patterns.pattern`.
            record: How the vocabulary was trained, if it was trained here.
            name: A name for people.
            preparation: The normalizers, added tokens and pre-tokenizer steps that some files define. It includes the
                split, so `pattern` is then only displayed and written to files.

        Raises:
            PatternError: The pattern is not valid.
        """
        self.vocabulary: Final = vocabulary
        self.splitter: Final = splitter(pattern)
        self.record: Final = record
        self.name: Final = name
        self.preparation: Final = preparation
        self._ids_of_piece: Final = partial(
            _ids_of_piece, vocabulary, self._byte_splits
        )
        self._cached_ids_of_piece: Final = lru_cache(_MOST_CACHED)(self._ids_of_piece)

    @property
    def pattern(self) -> str:
        """The split pattern in the grammar of `bpe_core.patterns.pattern`, with the names that were given."""
        return self.splitter.pattern

    @property
    def n_vocab(self) -> int:
        """The number of rows an embedding table needs: `max_token_value` + 1, as in tiktoken.

        `n_tokens` is less if some ids are unused. o200k_base needs 200,019 rows for 200,000 tokens.
        """
        return self.vocabulary.n_vocab

    @property
    def n_tokens(self) -> int:
        """The number of tokens, with special tokens; usually called the vocabulary size."""
        return self.vocabulary.n_tokens

    @property
    def step(self) -> int:
        """The number of merges of this version."""
        return self.vocabulary.n_merges

    @property
    def merges(self) -> list[Triple]:
        """(left, right, token) of each merge, in order; a copy."""
        return list(self.vocabulary.merges)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Text -> id of each special token; a copy."""
        return dict(self.vocabulary.special_tokens)

    @property
    def max_token_value(self) -> int:
        """The highest id in use. Lower ids may be unused."""
        return self.vocabulary.highest_id

    @property
    def eot_token(self) -> int:
        """The id of the special token <|endoftext|>. Raises `UnknownTokenError`, a KeyError, without one."""
        token = self.vocabulary.special_tokens.get(END_OF_TEXT)
        if token is None:
            raise UnknownTokenError(
                f"This tokenizer has no special token {END_OF_TEXT}."
            )
        return token

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        pattern = shortened(self.pattern, 60)
        n_specials = len(self.vocabulary.special_tokens)
        return f"<Tokenizer{name}: {self.vocabulary!r}, pattern {pattern!r}, {n_specials} special tokens>"

    def __eq__(self, other: object) -> bool:
        """Whether both have equal vocabularies, special tokens, split and preparation, and so give the same ids.

        Names and training records don't count. Takes O(`n_tokens`) time if they are equal.
        """
        if self is other:
            return True
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.splitter == other.splitter
            and self.preparation == other.preparation
            and self.vocabulary == other.vocabulary
        )

    def __hash__(self) -> int:
        return hash((self.splitter, self.vocabulary))

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Vocabulary, str]]:
        make = partial(
            type(self), record=self.record, name=self.name, preparation=self.preparation
        )
        return make, (self.vocabulary, self.pattern)

    @property
    def by_piece(self) -> bool:
        """Whether the ids of a text are the ids of its pieces, one after the other, and decode to the pieces."""
        return self.preparation is None and self.vocabulary.is_faithful

    def splits_like(self, other: "Tokenizer | None") -> bool:
        """Whether both split any text into the same pieces and change nothing else, like two steps of one tokenizer."""
        return (
            other is not None
            and other.splitter == self.splitter
            and self.by_piece
            and other.by_piece
        )

    def at(self, step: int) -> Self:
        """Return the tokenizer after `step` of its merges; 0 is bytes alone.

        Raises:
            OptionError: The step is below 0 or above the last merge.
        """
        return self.with_vocabulary(self.vocabulary.at(step), record=self.record)

    def with_merges(self, merges: Iterable[Triple]) -> Self:
        """Return this tokenizer with `merges` appended, as during a training run. Its `record` is None.

        It copies no merges, unless another tokenizer was extended from this one before.
        """
        return self.with_vocabulary(self.vocabulary.extended(merges))

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> Self:
        """Return this tokenizer with more special tokens. Takes O(`n_tokens`) time.

        Args:
            special_tokens: Text -> id. An id is free, or belongs to a token with the bytes of the text. A text that is
                a special token already gets the new id.

        Raises:
            OptionError: An id is taken.

        Examples:
            >>> from bpe_core import train
            >>> chat = train("low lower", vocab_size=260).with_special_tokens({"<|user|>": 300})
            >>> chat.encode("<|user|>low", allowed_special="all")
            [300, 257]
        """
        all_specials = {**self.vocabulary.special_tokens, **special_tokens}
        vocabulary = self.vocabulary.with_special_tokens(all_specials)
        tokenizer = self.with_vocabulary(vocabulary, record=self.record)
        if self.preparation is None:
            return tokenizer
        preparation = self.preparation.with_special_tokens(special_tokens)
        return tokenizer.with_vocabulary(
            vocabulary, record=self.record, preparation=preparation
        )

    def with_vocabulary(self, vocabulary: Vocabulary, **changed: Any) -> Self:
        """Return a copy with another vocabulary.

        Args:
            vocabulary: Ids, bytes and merges.
            **changed: Other values for `record` (otherwise None), `name` and `preparation`.
        """
        fields = {"name": self.name, "preparation": self.preparation, **changed}
        return type(self)(vocabulary, self.pattern, **fields)

    # Encoding. The kernel splits and encodes whole texts at once if it can. Otherwise the texts are prepared or split
    # in Python, and their pieces are encoded.

    def encode(
        self,
        text: str,
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> list[int]:
        """Return the ids of `text`. The options have tiktoken's meaning.

        Args:
            text: Any text. A pair of surrogates is encoded as its character, a lone surrogate as U+FFFD.
            allowed_special: Special tokens whose occurrences become their ids; "all" for every one.
            disallowed_special: Special tokens that must not occur; "all" for every one that is not allowed. Special
                tokens in neither set are encoded as ordinary text.

        Raises:
            SpecialTokenError: A disallowed special token occurs.
            PatternError: A custom split pattern takes too long.
        """
        allowed, disallowed = chosen_specials(
            allowed_special, disallowed_special, self.vocabulary.special_tokens
        )
        refuse_specials(disallowed, text)
        if not allowed:
            return self.encode_ordinary(text)
        ids: list[int] = []
        for part in self.divide(
            (text,), allowed_special=allowed, disallowed_special=()
        ):
            ids += self.encode_ordinary(part) if isinstance(part, str) else part
        return ids

    def divide(
        self,
        blocks: Iterable[str],
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> Iterator[str | list[int]]:
        """Divide a text that comes in blocks into known ids, such as special tokens, and the ordinary text between them.

        The ids, together with what `encode_ordinary` gives for the texts, are the ids that `encode` gives. The text is
        held as a whole only if the pattern has no safe cuts (`splitter.blockwise`) or there is a `preparation`. No block
        may end between the two halves of a surrogate pair.

        Raises:
            SpecialTokenError: A disallowed special token is reached.
        """
        specials = self.vocabulary.special_tokens
        allowed, disallowed = chosen_specials(
            allowed_special, disallowed_special, specials
        )
        blocks = without_specials(disallowed, map(without_surrogates, blocks))
        if self.preparation:
            yield self._encode_prepared(self.preparation, "".join(blocks), allowed)
            return
        parts = special_parts(allowed, blocks)
        for are_tokens, group in groupby(parts, key=itemgetter(0)):
            texts = (text for _, text in group)
            if are_tokens:
                yield [specials[text] for text in texts]
            else:
                yield from self.splitter.parts(texts)

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`, with special tokens encoded as ordinary text.

        A pair of surrogates is encoded as the character it encodes, a lone surrogate as U+FFFD.
        """
        ids: list[int] = self._encode_texts([text])[0]
        return ids

    def encode_to_array(
        self,
        text: str,
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = (),
    ) -> "array[int]":
        """Return the ids of `text` as unsigned 32-bit numbers, in less time and memory than a list.

        The array has the buffer protocol: `numpy.frombuffer(ids, numpy.uint32)` and `memoryview(ids)` copy nothing.
        Libraries that only know lists and numpy arrays, such as `datasets`, don't know an `array`: return
        `encode_to_numpy(text)` or `list(ids)` from the function that you give to `datasets.map`.

        Args:
            text: Any text.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`, but special tokens are ordinary text by default.

        Raises:
            SpecialTokenError: A disallowed special token occurs.

        Examples:
            >>> from bpe_core import train
            >>> memoryview(train("low lower", vocab_size=260).encode_to_array("lower")).tolist()
            [257, 101, 114]
        """
        if not allowed_special and not disallowed_special:
            found: array[int] = self._encode_texts([text], as_arrays=True)[0]
            return found
        ids = array("I")
        for part in self.divide(
            (text,),
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
        ):
            if isinstance(part, str):
                ids += self.encode_to_array(part)
            else:
                ids.extend(part)
        return ids

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> "Ids":
        """Return the ids of `text` as a numpy array of uint32, with tiktoken's options and errors.

        Raises:
            SpecialTokenError: A disallowed special token occurs.
            FetchError: numpy is not installed.

        Examples:
            >>> from bpe_core import train
            >>> train("low lower", vocab_size=260).encode_to_numpy("lower").tolist()
            [257, 101, 114]
        """
        numpy = installed("numpy", "encode_to_numpy", "embeddings")
        ids = self.encode_to_array(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        as_numpy: Ids = numpy.frombuffer(ids, numpy.uint32)
        return as_numpy

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        num_threads: int | None = None,
        allowed_special: Choice = frozenset(),
        disallowed_special: Choice = "all",
    ) -> list[list[int]]:
        """Return the ids of each text, in order, as `encode` gives them.

        Args:
            texts: Any number of texts.
            num_threads: How many threads encode; by default one per core, at most 8. The kernel encodes without the
                GIL. Without the kernel, or with a `preparation`, threads gain nothing.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`.

        Raises:
            SpecialTokenError: As in `encode`; the error of the first text that has one.

        Examples:
            >>> from bpe_core import train
            >>> train("low lower", vocab_size=260).encode_batch(["low", "", "lowe"])
            [[257], [], [257, 101]]
        """
        allowed, disallowed = chosen_specials(
            allowed_special, disallowed_special, self.vocabulary.special_tokens
        )

        def encode(share: list[str]) -> list[list[int]]:
            for text in share:
                refuse_specials(disallowed, text)
            if not allowed:
                return self._encode_texts(share)
            return [
                self.encode(text, allowed_special=allowed, disallowed_special=())
                for text in share
            ]

        return in_threads(encode, texts, num_threads)

    def encode_ordinary_batch(
        self, texts: Iterable[str], *, num_threads: int | None = None
    ) -> list[list[int]]:
        """Return the ids of each text, in order, as `encode_ordinary` gives them, with threads as in `encode_batch`."""
        return in_threads(self._encode_texts, texts, num_threads)

    def encode_to_arrays(
        self, texts: Iterable[str], *, num_threads: int | None = None
    ) -> "list[array[int]]":
        """Return the ids of each text, in order, as `encode_to_array` gives them, with threads as in `encode_batch`.

        `datasets` does not know such arrays; return `encode_ordinary_batch(texts)` from a batched `datasets.map`.
        """
        encode = partial(self._encode_texts, as_arrays=True)
        return in_threads(encode, texts, num_threads)

    def encode_piece(self, piece: str) -> tuple[int, ...]:
        """Return the ids of `piece`, encoded as one piece: it is not split."""
        if len(piece) <= _LONGEST_CACHED:
            return self._cached_ids_of_piece(piece)
        return self._ids_of_piece(piece)

    def encode_pieces(self, pieces: list[str]) -> Iterator[Sequence[int]]:
        """Yield the ids of each piece, as `encode_piece` gives them. This is faster if most pieces are new."""
        encoded = self._encode_pieces_in_kernel(pieces)
        if encoded is None:
            yield from map(self.encode_piece, pieces)
            return
        start = 0
        for end in encoded.ends:
            yield encoded.ids[start:end]
            start = end

    def _encode_texts(self, texts: list[str], as_arrays: bool = False) -> list[Any]:
        """Return the ids of each text, with special tokens as ordinary text: a list, or an array if `as_arrays`."""
        for text in texts:
            if not isinstance(text, str):  # the kernel would take any bytes
                raise TypeError(
                    f"A text to encode is a str, not {type(text).__name__}; decode bytes first."
                )
        try:
            encoded = self._encode_texts_in_kernel(texts, as_arrays)
        except UnicodeEncodeError:
            texts = list(map(without_surrogates, texts))
            encoded = self._encode_texts_in_kernel(texts, as_arrays)
        if encoded is not None:
            return encoded
        id_lists = map(self._encode_in_python, texts)
        return [array("I", ids) for ids in id_lists] if as_arrays else list(id_lists)

    def _encode_texts_in_kernel(
        self, texts: list[str], as_arrays: bool
    ) -> list[Any] | None:
        """Split and encode texts in one call; None if the kernel can't. Raises UnicodeEncodeError for a surrogate."""
        scanner = self.splitter.scanner
        if self.preparation or (scanner is None and self.splitter.source):
            return None  # the text is prepared or split in Python
        return self.vocabulary.encoding.encode_texts(texts, scanner, as_arrays)

    def _encode_in_python(self, text: str) -> list[int]:
        """Prepare or split a text in Python, and encode its pieces."""
        if self.preparation:
            return self._encode_prepared(self.preparation, text, frozenset())
        text = without_surrogates(text)
        blocks = (text[at : at + _BLOCK] for at in range(0, len(text), _BLOCK))
        ids: list[int] = []
        for part in self.splitter.parts(blocks):
            ids += self._ids_of_pieces(self.splitter.split(part))
        return ids

    def _encode_prepared(
        self, preparation: "Preparation", text: str, allowed: frozenset[str]
    ) -> list[int]:
        ids: list[int] = []
        with patience(enough_for(len(text))):
            for part in preparation.parts(without_surrogates(text), allowed):
                if isinstance(part, int):
                    ids.append(part)
                else:
                    ids += self._ids_of_pieces(part)
        return ids

    def _ids_of_pieces(self, pieces: list[str]) -> list[int]:
        """Return the ids of pieces, one after the other."""
        encoded = self._encode_pieces_in_kernel(pieces)
        if encoded is not None:
            return encoded.ids.tolist()
        return list(chain.from_iterable(map(self.encode_piece, pieces)))

    def _encode_pieces_in_kernel(self, pieces: list[str]) -> EncodedPieces | None:
        """Encode pieces in one call; None if the kernel can't."""
        if self._byte_splits:
            return None
        try:
            return self.vocabulary.encoding.encode_pieces(pieces)
        except UnicodeEncodeError:  # a surrogate
            return None

    @property
    def _byte_splits(self) -> "BytePieces | None":
        """Splits the bytes of each piece again, in some tokenizers."""
        return self.preparation.within if self.preparation else None

    # Decoding.

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of an id.

        Raises:
            UnknownTokenError: There is no such token.
            NotAnIdError: A TypeError; `token` is not a whole number.
        """
        return self.vocabulary.token_bytes(as_id(token))

    decode_single_token_bytes = token_bytes  # tiktoken's name

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of the token, special or not, with exactly this text or these bytes.

        It does not matter how the text is encoded. If several tokens have these bytes, it is the lowest id. Takes
        O(`n_tokens`) the first time.

        Raises:
            UnknownTokenError: A KeyError; there is no such token.

        Examples:
            >>> from bpe_core import train
            >>> train("low lower", vocab_size=260).encode_single_token("low")
            257
        """
        data = utf8(text_or_bytes) if isinstance(text_or_bytes, str) else text_or_bytes
        token = self.vocabulary.id_by_bytes.get(data)
        if token is None:
            raise UnknownTokenError(
                f"This vocabulary of {self.n_tokens} tokens has no token {text_or_bytes!r}."
            )
        return token

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of `ids`, joined.

        Raises:
            UnknownTokenError: An id is not in the vocabulary.
            NotAnIdError: A TypeError; a value is not a whole number.
        """
        return self._without_added_space(self.vocabulary.joined(as_ids(ids)))

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of `ids`.

        Args:
            ids: Whole numbers of any kind: ints, an array, a numpy array, a tensor.
            errors: What happens with invalid UTF-8: "replace", "ignore" or "backslashreplace" as in `bytes.decode`;
                unknown ids are then decoded as U+FFFD. With "strict", both raise an error.

        Raises:
            OptionError: `errors` has another value.
            UnknownTokenError: A number is negative or, with "strict", an id is unknown.
            TextError: With "strict", the bytes are not valid UTF-8.
            NotAnIdError: A TypeError; a value is not a whole number.
        """
        if errors not in _ERRORS:
            raise OptionError(
                f"Unknown way to decode {errors!r}; choose one of {', '.join(_ERRORS)}."
            )
        token_ids = as_ids(ids)
        if errors == "strict":
            try:
                return self.decode_bytes(token_ids).decode()
            except UnicodeDecodeError as error:
                raise TextError(
                    f"These ids are not valid text: {error.reason} at byte {error.start}; decode_bytes gives their bytes."
                ) from None
        preparation = self.preparation
        if errors == "replace" and preparation and preparation.byte_fallback_ids:
            # As in Hugging Face, each byte of an invalid run of byte tokens becomes a U+FFFD.
            # `bytes.decode` would make fewer.
            runs = preparation.decode_byte_runs(token_ids, self._bytes_or_replacement)
            data = b"".join(runs)
        else:
            data = self.vocabulary.joined(token_ids, self._bytes_or_replacement)
        return self._without_added_space(data).decode(errors=errors)

    def decode_batch(
        self,
        batch: Iterable[Iterable[int]],
        *,
        errors: str = "replace",
        num_threads: int | None = None,
    ) -> list[str]:
        """Return the text of each list of ids, in order, as `decode` gives it.

        Args:
            batch: Lists of ids.
            errors: As in `decode`.
            num_threads: Has no effect; it is here for callers of tiktoken. Decoding holds the GIL: it is a lookup and a
                copy per token.
        """
        if isinstance(batch, str):
            raise NotAnIdError(
                f"A batch is a list of lists of ids, not the text {shortened(repr(batch), 40)}."
            )
        return [self.decode(ids, errors) for ids in batch]

    def decode_with_offsets(self, ids: Iterable[int]) -> tuple[str, list[int]]:
        """Return the text of `ids`, and for each id the offset of the character in which its first byte is.

        Offsets are in code points, as in tiktoken.

        Raises:
            UnknownTokenError: An id is not in the vocabulary.
            TextError: The ids are not valid text.

        Examples:
            >>> from bpe_core import train
            >>> train([], vocab_size=256).decode_with_offsets("né!".encode())
            ('né!', [0, 1, 1, 2])
        """
        token_ids = as_ids(ids)
        tokens = [self.vocabulary.token_bytes(token) for token in token_ids]
        text = self.decode(token_ids, "strict")
        n_begun = len(text) - sum(
            map(n_characters, tokens)
        )  # -1 if decoding drops a space
        offsets: list[int] = []
        for token in tokens:
            continues_character = token != b"" and token[:1] in CONTINUATIONS
            offset = n_begun - 1 if continues_character else n_begun
            offsets.append(max(0, offset))
            n_begun += n_characters(token)
        return text, offsets

    def _without_added_space(self, data: bytes) -> bytes:
        """Remove the first space if encoding adds one."""
        if self.preparation and self.preparation.drops_space:
            return data.removeprefix(b" ")
        return data

    def _bytes_or_replacement(self, token: int) -> bytes:
        if token < 0:
            raise UnknownTokenError(
                f"{token} is not a token id: ids are whole numbers from 0; leave it out."
            )
        try:
            return self.vocabulary.token_bytes(token)
        except UnknownTokenError:
            return "\ufffd".encode()

    def to_tiktoken(self) -> "tiktoken.Encoding":
        """Return an equivalent tiktoken encoding; see `bpe_core.formats.tiktoken`."""
        module = import_module("bpe_core.formats.tiktoken")
        encoding: tiktoken.Encoding = module.to_tiktoken(self)
        return encoding

    def to_tokenizers(self) -> "tokenizers.Tokenizer":
        """Return an equivalent tokenizer of Hugging Face's library; see `bpe_core.formats.huggingface.writing`."""
        module = import_module("bpe_core.formats.huggingface.writing")
        tokenizer: tokenizers.Tokenizer = module.to_tokenizers(self)
        return tokenizer


class SpecialsAllowed(Tokenizer):
    """A tokenizer whose pieces are the special tokens in a text, and the pieces of the text between them.

    `encode_ordinary(text)` gives what `encode(text, allowed_special="all")` gives in the tokenizer it is made from. So
    code that encodes piece by piece, as `LiveText` does, handles special tokens without knowing about them.
    """

    __slots__ = ()

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Tokenizer | Self:
        """Return the tokenizer with all special tokens allowed; itself if it has none, or is not `by_piece`."""
        texts = tokenizer.vocabulary.special_tokens
        if isinstance(tokenizer, cls) or not texts or not tokenizer.by_piece:
            return tokenizer
        pattern = str(Else(tuple(texts), tokenizer.splitter.tree))
        return cls(
            tokenizer.vocabulary, pattern, record=tokenizer.record, name=tokenizer.name
        )

    def encode_piece(self, piece: str) -> tuple[int, ...]:
        special = self.vocabulary.special_tokens.get(piece)
        return super().encode_piece(piece) if special is None else (special,)

    def _encode_pieces_in_kernel(self, pieces: list[str]) -> None:
        """The kernel does not know special tokens, so encode pieces one by one."""


def _ids_of_piece(
    vocabulary: Vocabulary, byte_splits: "BytePieces | None", piece: str
) -> tuple[int, ...]:
    data = utf8(piece)
    if byte_splits is None:
        return vocabulary.encode(data)
    return tuple(chain.from_iterable(map(vocabulary.encode, byte_splits(data))))


def in_threads(
    encode: Callable[[list[str]], list[T]],
    texts: Iterable[str],
    num_threads: int | None,
) -> list[T]:
    """Encode shares of `texts` in threads, and return the results of all texts in order.

    `num_threads` is None for one thread per core, at most 8.
    """
    if isinstance(texts, str):
        raise OptionError(
            "A batch is a list of texts, not one text; put it into a list."
        )
    n_threads = most_threads() if num_threads is None else num_threads
    results = in_order(
        lambda share: encode(share.items),
        shares(texts, _SHARE),
        n_threads,
        # For a small batch, a thread costs more than it saves.
        in_this_thread=lambda share: n_threads < 2 or share.size < _SHARE,
    )
    return list(chain.from_iterable(results))
