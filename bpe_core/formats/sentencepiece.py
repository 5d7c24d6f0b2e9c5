"""SentencePiece models of the type BPE: pieces with scores, U+2581 for the space, byte fallback.

Two neighbors join if together they are a piece, highest score first. Models of other types, such as
Unigram, and models with a normalization table are refused.
"""

import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.huggingface import WORDS
from bpe_core.formats.huggingface.writing import specials_of
from bpe_core.formats.protobuf import bytes_in, message_fields
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import (
    Normalizer,
    Prepended,
    Replaced,
    ReplacedMatches,
    Rule,
    Stripped,
)
from bpe_core.tokenizer.preparation import METASPACE, AddedToken, Preparation, SplitStep
from bpe_core.visible import visible
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import CharacterSymbols

# The numbers of the fields in sentencepiece_model.proto.
_PIECE: Final = 1
_PIECE_TEXT: Final = 1
_PIECE_SCORE: Final = 2
_PIECE_KIND: Final = 3
_TRAINER: Final = 2
_MODEL_TYPE: Final = 3
_WHITESPACE_AS_SUFFIX: Final = 24
_NORMALIZER: Final = 3
_NORMALIZER_NAME: Final = 1
_NORMALIZATION_TABLE: Final = 2
_ADD_DUMMY_PREFIX: Final = 3
_REMOVE_EXTRA_WHITESPACES: Final = 4
_ESCAPE_WHITESPACES: Final = 5

# The kinds of pieces.
_NORMAL: Final = 1
_UNKNOWN: Final = 2
_CONTROL: Final = 3
_USER_DEFINED: Final = 4
_UNUSED: Final = 5
_BYTE: Final = 6

_UNIGRAM: Final = 1
_BPE: Final = 2
_MODEL_TYPES: Final = {_UNIGRAM: "Unigram", _BPE: "BPE", 3: "Word", 4: "Char"}
_BYTE_NAME: Final = re.compile(r"<0x([0-9A-F]{2})>")

Message = Mapping[int, int | bytes]
"""The fields of a message: number -> value."""


class Piece(NamedTuple):
    """A piece of a model. Its index among the pieces is its id."""

    text: str
    score: float
    """Pieces with higher scores are joined first."""
    kind: int


class ModelMessages(NamedTuple):
    """The messages of a file."""

    pieces: Sequence[Piece]
    trainer: Message
    normalizer: Message
    normalizer_name: str


def recognizes(data: bytes) -> bool:
    if data[:1] != b"\x0a":
        return False
    try:
        first = next(message_fields(data[:4096]))
        first_in_piece = next(message_fields(first.value))
    except (ValueError, KeyError, StopIteration):
        return False
    return first.number == _PIECE and first_in_piece.number == _PIECE_TEXT


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """Read the tokenizer in a file.

    Raises:
        FormatError: The file is broken or not supported, or a `pattern` is given, since
            SentencePiece splits by none.
    """
    model = _model(file)
    _check_supported(file, model)
    if pattern is not None:
        file.unsupported("SentencePiece splits at no pattern, so none can be given")
    return _tokenizer(model, file.stem)


def _model(file: TokenizerFile) -> ModelMessages:
    pieces: list[Piece] = []
    messages: dict[int, Message] = {_TRAINER: {}, _NORMALIZER: {}}
    try:
        for number, value in message_fields(file.data):
            if number == _PIECE:
                pieces.append(_piece(value))
            elif number in messages:
                messages[number] = dict(message_fields(value))
        normalizer = messages[_NORMALIZER]
        normalizer_name = bytes_in(normalizer.get(_NORMALIZER_NAME, b"")).decode()
    except (ValueError, KeyError, struct.error):
        file.broken(
            "it is cut off, or a part of it is not valid in a SentencePiece model"
        )
    return ModelMessages(
        pieces, messages[_TRAINER], normalizer, normalizer_name or "unnamed"
    )


def _piece(message: int | bytes) -> Piece:
    """Raises ValueError, KeyError or struct.error if the message is not valid."""
    fields = dict(message_fields(message))
    (score,) = struct.unpack("<f", bytes_in(fields.get(_PIECE_SCORE, bytes(4))))
    kind = fields.get(_PIECE_KIND, _NORMAL)
    if not isinstance(kind, int) or math.isnan(score):
        raise ValueError
    return Piece(bytes_in(fields.get(_PIECE_TEXT, b"")).decode(), score, kind)


def _check_supported(file: TokenizerFile, model: ModelMessages) -> None:
    # A field that is missing has the default of sentencepiece_model.proto.
    model_type = model.trainer.get(_MODEL_TYPE, _UNIGRAM)
    if model_type != _BPE:
        name = "unknown"
        if isinstance(model_type, int):
            name = _MODEL_TYPES.get(model_type, str(model_type))
        file.unsupported(
            f"it is a SentencePiece model of the type {name}, and only BPE is supported"
        )
    if model.normalizer.get(_NORMALIZATION_TABLE):
        table = visible(model.normalizer_name)
        file.unsupported(
            f"it normalizes text with the table '{table}', which is not supported"
        )
    if model.trainer.get(_WHITESPACE_AS_SUFFIX):
        file.unsupported("it treats spaces as suffixes, which is not supported")
    if any(piece.kind == _UNUSED for piece in model.pieces):
        file.unsupported("it has unused pieces, which are not supported")
    if not model.normalizer.get(_ESCAPE_WHITESPACES, 1):
        file.unsupported(
            "it does not replace spaces with U+2581; only models that do are supported"
        )


def _tokenizer(model: ModelMessages, name: str) -> Tokenizer:
    vocabulary = _vocabulary(model.pieces)
    adds_prefix = bool(model.normalizer.get(_ADD_DUMMY_PREFIX, 1))
    removes_spaces = bool(model.normalizer.get(_REMOVE_EXTRA_WHITESPACES, 1))
    added = list(specials_of(vocabulary))
    added += [
        AddedToken(piece.text, token, normalized=True)
        for token, piece in enumerate(model.pieces)
        if piece.kind == _USER_DEFINED
    ]
    steps: tuple[SplitStep, ...] = ()
    if _keeps_words_apart(model.pieces):
        steps = (SplitStep(splitter(WORDS)),)
    preparation = Preparation(
        added=tuple(added),
        normalize=_normalizer(adds_prefix, removes_spaces),
        steps=steps,
        has_metaspace=True,
        drops_space=adds_prefix,
        finds_as_written=True,
    )
    return Tokenizer(vocabulary, "none", name=name, preparation=preparation)


def _normalizer(adds_prefix: bool, removes_spaces: bool) -> Normalizer:
    """Return the normalizer of a model, which replaces spaces with U+2581.

    Args:
        adds_prefix: Whether a space is inserted before the text.
        removes_spaces: Whether to remove spaces at both ends, and replace each run by one space.
    """
    rules: list[Rule] = []
    if removes_spaces:
        rules += [ReplacedMatches("  +", " "), Stripped("start", " ")]
    if adds_prefix:
        rules.append(Prepended(METASPACE))
    rules.append(Replaced(" ", METASPACE))
    if removes_spaces:
        rules.append(Stripped("end", METASPACE))
    return Normalizer(rules)


def _keeps_words_apart(pieces: Sequence[Piece]) -> bool:
    """Whether no piece has U+2581 after other characters, so a text can be split before it."""
    texts = (piece.text for piece in pieces if piece.kind == _NORMAL)
    return all(METASPACE not in text.lstrip(METASPACE) for text in texts)


def _vocabulary(pieces: Sequence[Piece]) -> RankedVocabulary:
    tokens_of_kind: dict[int, list[int]] = {kind: [] for kind in range(1, 7)}
    for token, piece in enumerate(pieces):
        if piece.kind in tokens_of_kind:
            tokens_of_kind[piece.kind].append(token)
    normal = tokens_of_kind[_NORMAL]
    unknown = tokens_of_kind[_UNKNOWN]
    special_tokens = {
        pieces[token].text: token for token in unknown + tokens_of_kind[_CONTROL]
    }
    bytes_of = {
        token: pieces[token].text.replace(METASPACE, " ").encode()
        for token in normal + tokens_of_kind[_USER_DEFINED]
    }
    byte_ids: dict[int, int] = {}
    for token in tokens_of_kind[_BYTE]:
        byte_name = _BYTE_NAME.fullmatch(pieces[token].text)
        if byte_name:
            byte_ids[int(byte_name[1], 16)] = token
    for byte, token in byte_ids.items():
        bytes_of[token] = bytes([byte])
    # The highest score has rank 0. Equal scores have equal ranks.
    ranked = sorted(normal, key=lambda token: (-pieces[token].score, token))
    rank_of_score: dict[float, int] = {}
    id_of: dict[bytes, int] = {}
    rank_of: dict[bytes, int] = {}
    for token in ranked:
        rank = rank_of_score.setdefault(pieces[token].score, len(rank_of_score))
        data = bytes_of[token]
        if data not in id_of:
            id_of[data] = token
            rank_of[data] = rank
    characters: dict[str, int] = {}
    for data, token in id_of.items():
        text = data.decode()
        if len(text) == 1:
            characters[text] = token
    return RankedVocabulary(
        bytes_of,
        special_tokens,
        symbols=CharacterSymbols(
            characters, byte_ids, unknown[0] if unknown else None, fuse=True
        ),
        id_of=id_of,
        rank_of=rank_of,
        whole_pieces=False,
    )
