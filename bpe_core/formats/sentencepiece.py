"""SentencePiece models of the type BPE: pieces with scores, U+2581 for the space, byte fallback.

Neighbors join if together they are a piece, the highest score first. Models of other types, such as Unigram, are
refused, and so are those with a normalization table.
"""

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bpe_core.formats.file import TokenizerFile
from bpe_core.patterns import splitter
from bpe_core.patterns.expression import Expression
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.normalizers import (
    Normalizer,
    one_after_another,
    prepended,
    replaced,
    replaced_matches,
    stripped,
)
from bpe_core.tokenizer.preparation import METASPACE, Preparation
from bpe_core.tokenizer.steps import SplitStep
from bpe_core.visible import visible
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import CharacterSymbols

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Truncated(ValueError):
    """The message is truncated, or is not in the wire format."""


def _message_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of each field of a message; a varint is an int, every other value its raw bytes.

    Raises `Truncated`.

    The wire format of protobuf has four kinds of values, and eleven fields are read that have not changed since 2018;
    the library would be a dependency with compiled code and a schema.

    >>> list(_message_fields(bytes([0x0A, 2, 104, 105, 0x18, 7])))
    [(1, b'hi'), (3, 7)]
    """
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind, number = tag & 7, tag >> 3
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise Truncated
        if not number or at + size > len(data):
            raise Truncated
        yield number, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        if at >= len(data):
            raise Truncated
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise Truncated


_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = 1, 2, 3, 4, 5, 6
_MODELS: Final = {1: "Unigram", 2: "BPE", 3: "Word", 4: "Char"}
_WORDS: Final = f"{METASPACE}+[^{METASPACE}]*|[^{METASPACE}]+"
_BYTE_NAME: Final = re.compile(r"<0x([0-9A-F]{2})>")
_SPACES: Final = Expression("  +")


@dataclass(frozen=True, slots=True)
class SentencePieceToken:
    """An entry of the vocabulary (SentencePiece's word: a token, not a piece of text); its id is its index."""

    name: str
    """Its text, as in the file."""
    score: float
    """The score; higher ones are joined first."""
    kind: int
    """1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused or 6 byte."""


@dataclass(frozen=True, slots=True)
class SentencePieceModel:
    """The contents of a file that matter for encoding."""

    pieces: tuple[SentencePieceToken, ...]
    """The vocabulary, by id."""
    kind: str
    """The type of the model: "BPE", "Unigram", "Word" or "Char"."""
    adds_prefix: bool
    """Whether a space is put before a text (`add_dummy_prefix`)."""
    removes_spaces: bool
    """Whether spaces at the ends are removed, and runs of spaces shortened to one (`remove_extra_whitespaces`)."""
    normalization: str
    """The name of the normalization table; "" if there is none."""
    has_suffixes: bool
    """Whether U+2581 is put after words instead of before them (`treat_whitespace_as_suffix`)."""


def recognizes(data: bytes) -> bool:
    """Whether it begins as a protobuf message whose first field is a piece."""
    if data[:1] != b"\x0a":
        return False
    try:
        number, value = next(_message_fields(data[:4096]))
        return number == 1 and isinstance(value, bytes) and next(_message_fields(value))[0] == 1
    except (Truncated, StopIteration):
        return False


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file. Raises `FormatError`, also if `pattern` is not None: SentencePiece has no patterns."""
    try:
        model = _model(file.data)
    except (Truncated, UnicodeDecodeError, struct.error, TypeError, AttributeError):
        file.broken("it is cut off, or a part of it is not what a SentencePiece model has there")
    if model.kind != "BPE":
        file.unsupported(f"it is a SentencePiece model of the kind {model.kind}, and only BPE is supported")
    if model.normalization:
        file.unsupported(f"it normalizes texts by the table '{visible(model.normalization)}', which is not supported")
    if model.has_suffixes or any(piece.kind == _UNUSED for piece in model.pieces):
        file.unsupported("it treats spaces as suffixes or has unused pieces, which is not supported")
    if pattern is not None:
        file.unsupported("SentencePiece splits at no pattern, so none can be given")
    return _tokenizer(model, file.stem)


def _model(data: bytes) -> SentencePieceModel:
    pieces: list[SentencePieceToken] = []
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    for number, value in _message_fields(data):
        if number == 1:
            pieces.append(_piece(value))
        elif number == 2:
            trainer = dict(_message_fields(_message(value)))
        elif number == 3:
            normalizer = dict(_message_fields(_message(value)))
    kind = trainer.get(3, 1)
    table = _message(normalizer.get(1, b"")).decode() or "unnamed"
    return SentencePieceModel(
        tuple(pieces),
        _MODELS.get(kind, str(kind)) if isinstance(kind, int) else "unknown",
        adds_prefix=bool(normalizer.get(3, 1)),
        removes_spaces=bool(normalizer.get(4, 1)),
        normalization=table if normalizer.get(2) else "",
        has_suffixes=bool(trainer.get(24, 0)),
    )


def _piece(value: int | bytes) -> SentencePieceToken:
    found = dict(_message_fields(_message(value)))
    score = struct.unpack("<f", _message(found.get(2, bytes(4))))[0]
    kind = found.get(3, _NORMAL)
    if not isinstance(kind, int) or math.isnan(score):
        raise Truncated
    return SentencePieceToken(_message(found.get(1, b"")).decode(), score, kind)


def _message(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise Truncated
    return value


def _tokenizer(model: SentencePieceModel, name: str) -> Tokenizer:
    of_kind = {kind: [token for token, piece in enumerate(model.pieces) if piece.kind == kind] for kind in range(1, 7)}
    names = [piece.name for piece in model.pieces]
    specials = {names[token]: token for token in (*of_kind[_UNKNOWN], *of_kind[_CONTROL])}
    tokens = {
        token: names[token].replace(METASPACE, " ").encode() for token in of_kind[_NORMAL] + of_kind[_USER_DEFINED]
    }
    byte_ids = {int(names[token][3:5], 16): token for token in of_kind[_BYTE] if _BYTE_NAME.fullmatch(names[token])}
    tokens |= {token: bytes([byte]) for byte, token in byte_ids.items()}
    ranked = sorted(of_kind[_NORMAL], key=lambda token: (-model.pieces[token].score, token))
    id_of: dict[bytes, int] = {}
    for token in ranked:
        id_of.setdefault(tokens[token], token)
    ranks = {score: rank for rank, score in enumerate(dict.fromkeys(model.pieces[token].score for token in ranked))}
    singles = {text: token for data, token in id_of.items() if len(text := data.decode()) == 1}
    unknown = of_kind[_UNKNOWN][0] if of_kind[_UNKNOWN] else None
    vocabulary = RankedVocabulary(
        tokens,
        specials,
        symbols=CharacterSymbols(singles, byte_ids, unknown, fuse=True),
        id_of=id_of,
        rank_of={data: ranks[model.pieces[token].score] for data, token in id_of.items()},
        whole_pieces=False,
    )
    added = [AddedToken(text, token, special=True) for text, token in specials.items()]
    added += [AddedToken(names[token], token, normalized=True) for token in of_kind[_USER_DEFINED]]
    apart = all(METASPACE not in names[token].lstrip(METASPACE) for token in of_kind[_NORMAL])
    preparation = Preparation(
        tuple(added),
        _normalizer(model),
        (SplitStep(splitter(_WORDS)),) if apart else (),
        has_metaspace=True,
        drops_space=model.adds_prefix,
        description={},
        finds_as_written=True,
    )
    return Tokenizer(vocabulary, "none", name=name, preparation=preparation)


def _normalizer(model: SentencePieceModel) -> Normalizer:
    spaced = [replaced_matches(_SPACES, " "), stripped(True, False, " ")] if model.removes_spaces else []
    prefixed = [prepended(METASPACE)] if model.adds_prefix else []
    trimmed = [stripped(False, True, METASPACE)] if model.removes_spaces else []
    return one_after_another([*spaced, *prefixed, replaced(" ", METASPACE), *trimmed])
