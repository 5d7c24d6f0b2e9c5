"""SentencePiece models of the type BPE: pieces with scores, U+2581 for the space, byte fallback.

Neighbors join if together they are a piece, the highest score first. Models of other types, such as Unigram, are
refused, and so are those with a normalization table.
"""

import math
import re
import struct
from collections.abc import Iterator
from typing import Final

from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.huggingface import WORDS
from bpe_core.formats.huggingface.writing import specials_of
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

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = 1, 2, 3, 4, 5, 6
_BPE: Final = 2
_KINDS: Final = {1: "Unigram", _BPE: "BPE", 3: "Word", 4: "Char"}
_BYTE_NAME: Final = re.compile(r"<0x([0-9A-F]{2})>")

Piece = tuple[
    str, float, int
]  # name, score (higher ones are joined first), and kind; its index is its id


def _message_fields(data: int | bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of each field of a message; a varint is an int, any other value its bytes. Raises
    ValueError or KeyError if the message is cut off, or is not in the wire format.

    The wire format of protobuf has four kinds of values, and eleven fields are read that have not changed since 2018;
    the library would be a dependency with compiled code and a schema.

    >>> list(_message_fields(bytes([0x0A, 2, 104, 105, 0x18, 7])))
    [(1, b'hi'), (3, 7)]
    """
    data, at = _bytes(data), 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind, number = tag & 7, tag >> 3
        value, at = (
            _varint(data, at) if kind in (_VARINT, _BYTES) else (_SIZES[kind], at)
        )
        if kind == _VARINT:
            yield number, value
            continue
        if not number or at + value > len(data):
            raise ValueError
        yield number, data[at : at + value]
        at += value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * n
        if byte < 0x80:
            return value, at + n + 1
    raise ValueError


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError
    return value


def recognizes(data: bytes) -> bool:
    if data[:1] != b"\x0a":
        return False
    try:
        number, value = next(_message_fields(data[:4096]))
        return number == 1 and next(_message_fields(value))[0] == 1
    except (ValueError, KeyError, StopIteration):
        return False


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file. Raises `FormatError`, also if `pattern` is not None: SentencePiece has no patterns."""
    pieces: list[Piece] = []
    parts: dict[int, dict[int, int | bytes]] = {2: {}, 3: {}}
    try:
        for number, value in _message_fields(file.data):
            if number == 1:
                pieces.append(_piece(value))
            elif number in parts:
                parts[number] = dict(_message_fields(value))
        trainer, normalizer = parts[2], parts[3]
        table = _bytes(normalizer.get(1, b"")).decode() or "unnamed"
    except (ValueError, KeyError, struct.error):
        file.broken(
            "it is cut off, or a part of it is not what a SentencePiece model has there"
        )
    if (kind := trainer.get(3, 1)) != _BPE:
        name = _KINDS.get(kind, str(kind)) if isinstance(kind, int) else "unknown"
        file.unsupported(
            f"it is a SentencePiece model of the kind {name}, and only BPE is supported"
        )
    if normalizer.get(2):
        file.unsupported(
            f"it normalizes texts by the table '{visible(table)}', which is not supported"
        )
    if trainer.get(24) or any(
        kind == _UNUSED for _, _, kind in pieces
    ):  # treat_whitespace_as_suffix
        file.unsupported(
            "it treats spaces as suffixes or has unused pieces, which is not supported"
        )
    if not normalizer.get(5, 1):  # escape_whitespaces
        file.unsupported("it keeps spaces instead of U+2581, which is not supported")
    if pattern is not None:
        file.unsupported("SentencePiece splits at no pattern, so none can be given")
    # add_dummy_prefix: a space is put before a text; remove_extra_whitespaces: at its ends, and all but one of a run
    return _tokenizer(
        pieces, bool(normalizer.get(3, 1)), bool(normalizer.get(4, 1)), file.stem
    )


def _piece(message: int | bytes) -> Piece:
    found = dict(_message_fields(message))
    score, kind = (
        struct.unpack("<f", _bytes(found.get(2, bytes(4))))[0],
        found.get(3, _NORMAL),
    )
    if not isinstance(kind, int) or math.isnan(score):
        raise ValueError
    return _bytes(found.get(1, b"")).decode(), score, kind


def _tokenizer(
    pieces: list[Piece], adds_prefix: bool, removes_spaces: bool, name: str
) -> Tokenizer:
    of_kind = {
        kind: [token for token, piece in enumerate(pieces) if piece[2] == kind]
        for kind in range(1, 7)
    }
    names, scores = [name for name, _, _ in pieces], [score for _, score, _ in pieces]
    normal, unknown = of_kind[_NORMAL], of_kind[_UNKNOWN]
    specials = {names[token]: token for token in (*unknown, *of_kind[_CONTROL])}
    tokens = {
        token: names[token].replace(METASPACE, " ").encode()
        for token in normal + of_kind[_USER_DEFINED]
    }
    byte_ids = {
        int(names[token][3:5], 16): token
        for token in of_kind[_BYTE]
        if _BYTE_NAME.fullmatch(names[token])
    }
    tokens |= {token: bytes([byte]) for byte, token in byte_ids.items()}
    ranked = sorted(normal, key=lambda token: (-scores[token], token))
    id_of: dict[bytes, int] = {}
    for token in ranked:
        id_of.setdefault(tokens[token], token)
    ranks = {
        score: rank
        for rank, score in enumerate(dict.fromkeys(scores[token] for token in ranked))
    }
    singles = {
        text: token for data, token in id_of.items() if len(text := data.decode()) == 1
    }
    vocabulary = RankedVocabulary(
        tokens,
        specials,
        symbols=CharacterSymbols(
            singles, byte_ids, unknown[0] if unknown else None, fuse=True
        ),
        id_of=id_of,
        rank_of={data: ranks[scores[token]] for data, token in id_of.items()},
        whole_pieces=False,
    )
    defined = (
        AddedToken(names[token], token, normalized=True)
        for token in of_kind[_USER_DEFINED]
    )
    rules: list[Rule] = [
        ReplacedMatches("  +", " "),
        Stripped("start", " "),
    ] * removes_spaces
    rules += [Prepended(METASPACE)] * adds_prefix + [Replaced(" ", METASPACE)]
    rules += [Stripped("end", METASPACE)] * removes_spaces
    keeps_words_apart = all(
        METASPACE not in names[token].lstrip(METASPACE) for token in normal
    )
    preparation = Preparation(
        (*specials_of(vocabulary), *defined),
        Normalizer(rules),
        (SplitStep(splitter(WORDS)),) if keeps_words_apart else (),
        has_metaspace=True,
        drops_space=adds_prefix,
        finds_as_written=True,
    )
    return Tokenizer(vocabulary, "none", name=name, preparation=preparation)
