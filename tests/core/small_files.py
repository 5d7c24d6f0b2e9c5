"""A small sound file of each format, as values to be changed: of the same tokens, as far as the format goes."""

import json
import struct
from base64 import b64encode

from bpe_core.vocabulary.symbols import BYTE_OF

BYTES = [bytes([byte]) for byte in range(256)]
BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]


def put(folder, files):
    """Write files, {name: bytes, text or a value for JSON}; the path of the first."""
    for name, content in files.items():
        if not isinstance(content, bytes):
            content = (
                content if isinstance(content, str) else json.dumps(content)
            ).encode(errors="surrogateescape")
        (folder / name).write_bytes(content)
    return folder / next(iter(files))


def rank_lines(tokens=(), newline="\n"):
    """A rank file of the 256 bytes and more tokens; a token is bytes, or (bytes, rank)."""
    rows = [
        row if isinstance(row, tuple) else (row, rank)
        for rank, row in enumerate([*BYTES, *tokens])
    ]
    return b"".join(
        b"%s %d%s" % (b64encode(data), rank, newline.encode()) for data, rank in rows
    )


def js_tiktoken(lines="", **more):
    words = " ".join(b64encode(byte).decode() for byte in BYTES)
    ranks = lines or f"! 0 {words} YWI=\n! 300 YWJj\n"
    return {
        "pat_str": r"\S+|\s+",
        "special_tokens": {"<|end|>": 400},
        "bpe_ranks": ranks,
        **more,
    }


def huggingface(merges=("a b", "b c", "ab c"), added=(), extra=(), **model):
    """tokenizer.json: the bytes, 256 and on the tokens `extra` and what the merges make."""
    vocab = {
        name: token
        for token, name in enumerate(sorted(BYTE_OF, key=BYTE_OF.__getitem__))
    }
    for pair in merges:
        for name in (*pair.split(), pair.replace(" ", "")):
            vocab.setdefault(name, len(vocab))
    return {
        "version": "1.0",
        "added_tokens": list(added),
        "normalizer": None,
        "pre_tokenizer": {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
        },
        "post_processor": None,
        "decoder": None,
        "model": {"type": "BPE", "vocab": vocab | dict(extra), "merges": list(merges)}
        | model,
    }


def gpt2(merges=("a b", "ab c"), *, version="#version: 0.2\n"):
    """vocab.json and merges.txt."""
    vocab = huggingface(merges)["model"]["vocab"]
    return {
        "vocab.json": vocab | {"<|endoftext|>": len(vocab)},
        "merges.txt": version + "\n".join(merges) + "\n",
    }


def tekken(tokens=(b"ab", b"abc", b"unused"), *, used=258, specials=3, **changes):
    vocab = [
        {"rank": rank, "token_bytes": b64encode(data).decode(), "token_str": None}
        for rank, data in enumerate([*BYTES, *tokens])
    ]
    config = {"pattern": r"\S+|\s+", "num_vocab_tokens": len(vocab), "version": "v3"}
    config |= {
        "default_vocab_size": used + specials,
        "default_num_special_tokens": specials,
    }
    return {"config": config, "vocab": vocab} | changes


MINBPE = "minbpe v1\n\\S+|\\s+\n2\n<|end of text|> 100257\n<|x|> 300\n97 98\n256 99\n"

# SentencePiece

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def field(number, value):
    """A field of a protobuf message: a number, a float, or bytes."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    size = len(value)
    return (
        bytes(
            [
                number << 3 | 2,
                *([size] if size < 128 else [size & 127 | 128, size >> 7]),
            ]
        )
        + value
    )


PIECES = [
    ("<unk>", 0, UNKNOWN),
    ("<s>", 0, CONTROL),
    *((name, 0, BYTE) for name in BYTE_NAMES),
    *(
        (name, -rank, NORMAL)
        for rank, name in enumerate(["▁a", "ab", "▁ab", "▁", "a", "b", "c"])
    ),
]
PLAIN = field(1, b"identity") + field(3, 1) + field(4, 0)


def sentencepiece(pieces=PIECES, *, kind=2, trainer=b"", normalizer=PLAIN):
    """A model; `pieces` are (name, score, kind)."""
    message = b"".join(
        field(1, field(1, name.encode()) + field(2, float(score)) + field(3, sort))
        for name, score, sort in pieces
    )
    return message + field(2, field(3, kind) + trainer) + field(3, normalizer)
