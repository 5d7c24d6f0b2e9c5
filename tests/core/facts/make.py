"""Write anew what the tests know of real vocabularies, as tiktoken says it: `python tests/core/facts/make.py FOLDER`.

FOLDER holds r50k_base.tiktoken, cl100k_base.tiktoken and o200k_base.tiktoken, packed by xz or not. NAME.json has texts
with their ids, and digests of the pieces and of the ids of sample texts; a text added to it gets its ids here.
NAME.tiktoken is a part of the vocabulary: the 256 bytes, and all tokens that stand in a piece of those texts. The ids
of a piece depend on no other token, so the part gives these texts the ids that the whole vocabulary gives them.
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


def digest(value: Any) -> str:
    """Of what JSON can hold."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def sample(encoding: Any, text: str) -> dict[str, Any]:
    """What an encoding of tiktoken's makes of a sample text; a piece is a match of its expression."""
    import regex

    pieces, ids = regex.findall(encoding._pat_str, text), encoding.encode_ordinary(text)
    told = {
        "n_pieces": len(pieces),
        "pieces": digest(pieces),
        "n_ids": len(ids),
        "ids": digest(ids),
    }
    return {"text": digest(text), **told}


def part(encoding: Any, texts: list[str]) -> bytes:
    """The rank file of the bytes and of the tokens inside of a piece of the texts."""
    import regex

    pieces = {
        piece.encode()
        for text in texts
        for piece in regex.findall(encoding._pat_str, text)
    }
    inside = {
        piece[i:j]
        for piece in pieces
        for i in range(len(piece))
        for j in range(i + 1, len(piece) + 1)
    }
    inside |= {bytes([byte]) for byte in range(256)}
    ranks = encoding._mergeable_ranks
    rows = sorted((ranks[token], token) for token in inside & ranks.keys())
    return b"".join(b"%s %d\n" % (b64encode(token), rank) for rank, token in rows)


def main(vocabularies: Path) -> None:
    """Write all of it."""
    import tiktoken

    from tests.attack.published import unpacked

    with tempfile.TemporaryDirectory() as folder:
        unpacked(
            Path(folder), vocabularies
        )  # with their digests checked, and without a network
        for file in sorted(HERE.glob("*.json")):
            encoding, facts = (
                tiktoken.get_encoding(file.stem),
                json.loads(file.read_text()),
            )
            facts["n_ranks"] = len(encoding._mergeable_ranks)
            facts["texts"] = {
                text: encoding.encode_ordinary(text) for text in facts["texts"]
            }
            samples = {
                name: (ROOT / "sample_texts" / name).read_bytes().decode()
                for name in facts["samples"]
            }
            facts["samples"] = {
                name: sample(encoding, text) for name, text in samples.items()
            }
            file.write_text(json.dumps(facts, indent=1) + "\n")
            file.with_suffix(".tiktoken").write_bytes(
                part(encoding, list(facts["texts"]))
            )
    os.environ.pop("TIKTOKEN_CACHE_DIR", None)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(Path(sys.argv[1]))
