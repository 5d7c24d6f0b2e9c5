"""Sound tokenizer files of all formats and of several shapes, made here, and the beginnings of real ones."""

import json
import struct
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from bpe_core import PATTERNS, Tokenizer, load, save, train
from tests.attack.agreement.pipelines import PIPELINES
from tests.attack.published import content

_CORPUS: Final = [
    "the thin thing in there, the 123 things; it's the  end\n\nthe naïve café 日本日本語 aaaa bbbb abab "
    * 3
]
_LINES: Final = 1500
"""Of a real file: its first tokens are a vocabulary in itself."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A tokenizer as it lies in a folder."""

    shape: str
    """What is peculiar about it."""
    files: Mapping[str, bytes]
    """Name -> content."""
    mutated: tuple[str, ...]
    """The files that a fuzzer changes; the first is the one to open."""
    pattern: str | None = None
    """The pattern to give when it is loaded."""


@cache
def sound_files(format: str) -> tuple[Sound, ...]:
    """All shapes of a format."""
    return tuple(_MAKERS[format]())


def _learned(pattern: str = "gpt4", size: int = 300, **options: Any) -> Tokenizer:
    return train(
        _CORPUS,
        vocab_size=size,
        pattern=pattern,
        special_tokens=["<|end|>", "<|x|>"],
        **options,
    )


def _saved(tokenizer: Tokenizer, format: str, name: str) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        save(tokenizer, Path(folder, name), format=format)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def _native() -> Iterator[Sound]:
    for shape, tokenizer in {
        "trained": _learned(),
        "specials first": _learned("gpt2", id_layout="specials-first"),
        "own pattern": _learned(r"\d|\p{L}+|\s+|."),
        "staged": _learned(r"\p{N}{1,3}(?#then)qwen2"),
        "words": _learned("words"),
    }.items():
        yield Sound(shape, _saved(tokenizer, "native", "mine.json"), ("mine.json",))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.json").write_bytes(_pipeline("as Llama 3, whole pieces first"))
        yield Sound(
            "whole pieces",
            _saved(load(Path(folder, "a.json")), "native", "mine.json"),
            ("mine.json",),
        )


def _ranks() -> list[bytes]:
    return [*(bytes([byte]) for byte in range(256)), *_tokens()]


def _tokens() -> list[bytes]:
    vocabulary = _learned().vocabulary
    return [vocabulary.token_bytes(token) for _, _, token in vocabulary.merges]


def _rank_lines(tokens: list[bytes], first: int = 0, newline: bytes = b"\n") -> bytes:
    return b"".join(
        b"%s %d%s" % (b64encode(data), first + rank, newline)
        for rank, data in enumerate(tokens)
    )


def _tiktoken() -> Iterator[Sound]:
    ranks = _ranks()
    for shape, data, pattern in (
        ("ranks", _rank_lines(ranks), "gpt4"),
        (
            "CRLF and holes",
            _rank_lines(ranks[:270], newline=b"\r\n") + _rank_lines(ranks[270:], 300),
            "gpt2",
        ),
        (
            "no merge makes them",
            _rank_lines([*ranks, b"xyz", b"abxyz", b" the end"]) + b"= 900\n",
            r"\S+|\s+",
        ),
        ("other order", _rank_lines([*reversed(ranks[:256]), *ranks[256:]]), "none"),
    ):
        yield Sound(shape, {"a.tiktoken": data}, ("a.tiktoken",), pattern)
    for name, pattern in (
        ("r50k_base", "gpt2"),
        ("cl100k_base", "gpt4"),
        ("o200k_base", "gpt4o"),
    ):
        if data := content(f"{name}.tiktoken"):
            yield Sound(
                name, {"a.tiktoken": _beginning(data)}, ("a.tiktoken",), pattern
            )


def _beginning(data: bytes) -> bytes:
    return b"".join(data.splitlines(keepends=True)[:_LINES])


def _js_tiktoken() -> Iterator[Sound]:
    line = f"! 0 {' '.join(b64encode(data).decode() for data in _ranks())}"
    whole = {
        "pat_str": PATTERNS["gpt4"],
        "special_tokens": {"<|end|>": 400},
        "bpe_ranks": line,
    }
    yield Sound("object", {"a.json": _json(whole)}, ("a.json",))
    whole = {
        "pat_str": r"\p{L}+|\p{N}|.|\s",
        "special_tokens": {},
        "bpe_ranks": line + "\n! 500 eHl6 YWJ4eXo=",
    }
    yield Sound("two lines", {"a.json": _json(whole)}, ("a.json",))


def _tekken() -> Iterator[Sound]:
    rows = [
        {"rank": rank, "token_bytes": b64encode(data).decode(), "token_str": None}
        for rank, data in enumerate(_ranks())
    ]
    config = {
        "pattern": PATTERNS["gpt4o"],
        "num_vocab_tokens": len(rows),
        "version": "v3",
    }
    config |= {"default_vocab_size": len(rows) + 3 - 5, "default_num_special_tokens": 3}
    yield Sound(
        "first version",
        {"tekken.json": _json({"config": config, "vocab": rows})},
        ("tekken.json",),
    )
    specials = [
        {"rank": rank, "token_str": text, "is_control": True}
        for rank, text in enumerate(["<s>", "</s>", "x"])
    ]
    whole = {"config": config, "vocab": rows, "special_tokens": specials}
    yield Sound("special tokens", {"tekken.json": _json(whole)}, ("tekken.json",))


def _minbpe() -> Iterator[Sound]:
    for pattern in ("none", "gpt4", r"\d+|\p{L}+"):
        yield Sound(
            pattern, _saved(_learned(pattern), "minbpe", "a.model"), ("a.model",)
        )


def _gpt2_files(**more: object) -> dict[str, bytes]:
    files = _saved(_learned("gpt2"), "gpt2", "vocab.json")
    return files | {f"{name}.json": _json(value) for name, value in more.items()}


_CONFIGURATION: Final = {
    "add_prefix_space": False,
    "added_tokens_decoder": {
        "300": {
            "content": "<|new|>",
            "lstrip": False,
            "normalized": False,
            "special": True,
        },
        "301": {
            "content": "<tool>",
            "lstrip": False,
            "normalized": False,
            "special": False,
        },
    },
    "bos_token": {"__type": "AddedToken", "content": "<|end|>"},
    "chat_template": "{% for message in messages %}{{ message }}{% endfor %}",
    "model_max_length": 1000000000000000019884624838656,
    "name_or_path": "someone/model",
    "tokenizer_class": "GPT2Tokenizer",
}


def _gpt2() -> Iterator[Sound]:
    yield Sound("two files", _gpt2_files(), ("vocab.json", "merges.txt"))
    more = {"tokenizer_config": _CONFIGURATION, "added_tokens": {"<new>": 310}}
    yield Sound(
        "four files",
        _gpt2_files(**more),
        ("vocab.json", "merges.txt", "added_tokens.json"),
    )
    vocab, merges = content("encoder.json"), content("vocab.bpe")
    if vocab and merges:
        yield Sound(
            "GPT-2", _first_of_gpt2(vocab, merges), ("encoder.json", "vocab.bpe")
        )


def _first_of_gpt2(vocab: bytes, merges: bytes) -> dict[str, bytes]:
    ids = {name: token for name, token in json.loads(vocab).items() if token < _LINES}
    lines = merges.decode().split("\n")[: _LINES - 256 + 1]
    return {"encoder.json": _json(ids), "vocab.bpe": "\n".join(lines).encode()}


def _merges() -> Iterator[Sound]:
    yield Sound("merges", _gpt2_files(), ("merges.txt", "vocab.json"))


def _configuration() -> Iterator[Sound]:
    """Beside a tokenizer.json, and beside the two files."""
    name = "tokenizer_config.json"
    yield Sound(
        "GPT-2", _gpt2_files(tokenizer_config=_CONFIGURATION), ("vocab.json", name)
    )
    qwen = _CONFIGURATION | {"tokenizer_class": "Qwen2TokenizerFast"}
    yield Sound("Qwen2", _gpt2_files(tokenizer_config=qwen), ("vocab.json", name))
    files = {"tokenizer.json": _pipeline("tokens added"), name: _json(_CONFIGURATION)}
    yield Sound("tokenizer.json", files, ("tokenizer.json", name))


def _huggingface() -> Iterator[Sound]:
    for shape in PIPELINES:
        yield Sound(shape, {"tokenizer.json": _pipeline(shape)}, ("tokenizer.json",))


def _pipeline(shape: str) -> bytes:
    return PIPELINES[shape](_CORPUS).to_str(pretty=True).encode()


def field(number: int, value: int | float | bytes) -> bytes:
    """A field of a protobuf message."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])


def _sentencepiece() -> Iterator[Sound]:
    normal, unknown, control, user, byte = 1, 2, 3, 4, 6
    names = [
        "th",
        "in",
        "▁t",
        "▁th",
        "the",
        "▁the",
        "ing",
        "aa",
        "aaaa",
        *"▁thinega12b.,é日",
    ]
    pieces = [(name, -float(rank), normal) for rank, name in enumerate(names)]
    equal = [(name, -float(rank // 3), normal) for rank, name in enumerate(names)]
    start = [("<unk>", 0.0, unknown), ("<s>", 0.0, control)]
    octets = [(f"<0x{number:02X}>", 0.0, byte) for number in range(256)]
    for shape, rows, prefix, removes in (
        ("bytes", [*start, *octets, *pieces], 1, 0),
        ("equal scores", [*start, *octets, *equal], 0, 0),
        ("unknown", [*start, *pieces, ("ca", 0.0, user)], 1, 1),
    ):
        message = b"".join(
            field(1, field(1, name.encode()) + field(2, score) + field(3, kind))
            for name, score, kind in rows
        )
        normalizer = field(1, b"identity") + field(3, prefix) + field(4, removes)
        data = message + field(2, field(3, 2)) + field(3, normalizer)
        yield Sound(shape, {"a.model": data}, ("a.model",))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


_MAKERS: Final[Mapping[str, Callable[[], Iterator[Sound]]]] = {
    "native": _native,
    "tiktoken": _tiktoken,
    "js_tiktoken": _js_tiktoken,
    "tekken": _tekken,
    "huggingface": _huggingface,
    "gpt2": _gpt2,
    "merges": _merges,
    "configuration": _configuration,
    "minbpe": _minbpe,
    "sentencepiece": _sentencepiece,
}
KINDS: Final = tuple(_MAKERS)
"""The formats, and two kinds of files that go with others."""
