"""Write anew what the tests know of real vocabularies, as tiktoken says it: `python tests/core/facts/make.py FOLDER`.

FOLDER holds r50k_base.tiktoken, cl100k_base.tiktoken and o200k_base.tiktoken, packed by xz or not. NAME.json has texts
with their ids, and digests of the pieces and of the ids of sample texts. NAME.tiktoken is a part of the vocabulary: the
256 bytes, and all tokens that stand in a piece of those texts. The ids of a piece depend on no other token, so the part
gives these texts the ids that the whole vocabulary gives them.
"""

import hashlib
import json
import os
import sys
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SAMPLES = ("numbers.txt", "whitespace.txt", "token-traps.txt", "code-many-languages.txt", "one-tale-many-scripts.txt")
PATTERNS = {"r50k_base": "gpt2", "cl100k_base": "gpt4", "o200k_base": "gpt4o"}
"""Encoding -> our name of its split pattern."""
TEXTS = (
    *("science", "morning", " morning", "Hello 🤯", "DefaultCellStyle", "おはようございます", "    "),
    *("1024", "12345", "12346", "123456", "strawberry", "9.11 and 9.9", "naïve café", "Größe", "日本語", "e\u0301"),
    *(" SolidGoldMagikarp", " davidjl", " TheNitromeFan", " RandomRedditorWithNo"),
    *('{"name": "Alice", "age": 30}', "name: Alice\nage: 30", "HTTPServer's don’t DON'T we'll I'M"),
    *(
        "def f(x):\n    return x + 1\n\n\n",
        "\t\tif a:\r\n\r\n  b",
        " \n \n x  y",
        "x\u00a0y\u3000z\u200b",
        "aaaaaaaaaaaaaaaaaaaa",
    ),
    *(
        "  the  theme of the other  ",
        "the quick brown fox jumps over the lazy dog",
        "👩‍👩‍👧 🇩🇪 Ⅳ ½ ١٢٣",
        "\x00\x7f\ufffd",
    ),
)


def digest(value: Any) -> str:
    """Of what JSON can hold."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def facts(encoding: Any) -> dict[str, Any]:
    """What an encoding of tiktoken's makes of the texts; a piece is a match of its expression."""
    import regex

    samples = {}
    for name in SAMPLES:
        text = (ROOT / "sample_texts" / name).read_bytes().decode()
        pieces, ids = regex.findall(encoding._pat_str, text), encoding.encode_ordinary(text)
        samples[name] = {
            "text": digest(text),
            **{"n_pieces": len(pieces), "pieces": digest(pieces), "n_ids": len(ids), "ids": digest(ids)},
        }
    return {
        "pattern": PATTERNS[encoding.name],
        "n_ranks": len(encoding._mergeable_ranks),
        "texts": {text: encoding.encode_ordinary(text) for text in TEXTS},
        "samples": samples,
    }


def part(encoding: Any) -> bytes:
    """The rank file of the bytes and of the tokens inside of a piece of the texts."""
    import regex

    pieces = {piece.encode() for text in TEXTS for piece in regex.findall(encoding._pat_str, text)}
    inside = {piece[i:j] for piece in pieces for i in range(len(piece)) for j in range(i + 1, len(piece) + 1)}
    inside |= {bytes([byte]) for byte in range(256)}
    ranks = encoding._mergeable_ranks
    rows = sorted((ranks[token], token) for token in inside & ranks.keys())
    return b"".join(b"%s %d\n" % (b64encode(token), rank) for rank, token in rows)


def main(vocabularies: Path) -> None:
    """Write all of it."""
    import tiktoken

    from tests.attack.agreement.against_tiktoken import unpacked

    with tempfile.TemporaryDirectory() as folder:
        unpacked(vocabularies, Path(folder))  # with their digests checked, and without a network
        for name in PATTERNS:
            encoding = tiktoken.get_encoding(name)
            (HERE / f"{name}.json").write_text(json.dumps(facts(encoding), indent=1) + "\n")
            (HERE / f"{name}.tiktoken").write_bytes(part(encoding))
    os.environ.pop("TIKTOKEN_CACHE_DIR", None)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(Path(sys.argv[1]))
