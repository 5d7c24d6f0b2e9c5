"""A tokenizer of ranks and its recovered merges as one block of bytes, read back in a fraction of the time.

Rank files hold tokens in base64, a line each, and no merges. Here the bytes of all tokens are one stretch, merges are
columns of numbers, and a few calls of C take them apart. Nothing in a block is ever executed.
"""

import json
import struct
from itertools import pairwise
from typing import Final

from bpe_core.errors import BpeError
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.columns import Columns
from bpe_core.vocabulary.symbols import ByteSymbols

_LENGTHS: Final = struct.Struct("<4I")
"""In front: how many bytes the description, the merges, the tokens and their form have; they follow in this order."""

Unpacked = tuple[Tokenizer | None, Columns]
"""The tokenizer, with its merges, and these by themselves; None where the block does not hold its tokens."""


def pack(tokenizer: Tokenizer) -> bytes:
    """A block with the merges, recovered if they are not known yet, and with the tokens if these tell the rest.

    They do not where a vocabulary is made of characters, where ids come in another order, where texts are changed.
    """
    vocabulary = tokenizer.vocabulary
    ids = vocabulary.plain_ids() if tokenizer.preparation is None else None
    tokens = list(map(vocabulary.token_bytes, ids or ()))
    description = {
        "first": ids.start if ids else None,
        "specials": dict(vocabulary.special_tokens),
        "pattern": tokenizer.pattern,
        "name": tokenizer.name,
    }
    parts = (
        json.dumps(description).encode(),
        Columns.of(vocabulary.merges).to_bytes(),
        b"".join(tokens),
        "".join(f"{len(data)}s" for data in tokens).encode(),
    )
    return b"".join((_LENGTHS.pack(*map(len, parts)), *parts))


def unpack(block: bytes) -> Unpacked:
    """What `pack` has put into a block. Raises ValueError if it is none of its."""
    try:
        ends = [_LENGTHS.size]
        for length in _LENGTHS.unpack_from(block):
            ends.append(ends[-1] + length)
        description, merges, tokens, form = (block[start:end] for start, end in pairwise(ends))
        columns = Columns.from_bytes(merges)
        if ends[-1] != len(block):
            raise ValueError("the block is longer or shorter than it says")
        return _tokenizer(json.loads(description), struct.Struct(form).unpack(tokens), columns), columns
    except (struct.error, KeyError, TypeError, BpeError) as error:
        raise ValueError(str(error)) from None


def _tokenizer(told: dict[str, object], tokens: tuple[bytes, ...], merges: Columns) -> Tokenizer | None:
    match told:
        case {"first": int(first), "specials": dict(specials), "pattern": str(pattern), "name": str(name)}:
            ids = list(range(first, first + len(tokens)))
        case _:
            return None
    id_of = dict(zip(tokens, ids, strict=True))
    if len(id_of) < len(tokens):
        raise ValueError("two tokens have the same bytes")
    symbols = ByteSymbols({byte: id_of[data] for byte in range(256) if (data := bytes([byte])) in id_of})
    bytes_of = dict(zip(ids, tokens, strict=True))
    vocabulary = Vocabulary.ranked(bytes_of, specials, symbols=symbols, id_of=id_of, rank_of=id_of, merges=merges)
    return Tokenizer(vocabulary, pattern, name=name)
