"""One change of a file, or a few: of bytes, of lines, of numbers, of the values of JSON; by chance, but repeatable."""

import json
import random
import re
from collections.abc import Callable
from typing import Any, Final

from tests.attack.fuzz_files.sound import Sound

NUMBERS: Final = (
    -1,
    0,
    1,
    255,
    256,
    257,
    300,
    (1 << 31) - 1,
    1 << 31,
    1 << 53,
    10**30,
    0.5,
    float("nan"),
    -0.0,
)
PATTERNS: Final = (
    *(
        "none",
        "words",
        "gpt2",
        "gpt4",
        "",
        r"\w+",
        ".",
        r"\S+|\s+",
        "(",
        "a{2,1}",
        r"(?<=x)a+|.|\n",
        "(?:a|aa)+!",
    ),
    *(
        "(a+)+$",
        "(?R)",
        "x{1000000}",
        "(?:x{1000}){1000}",
        "(?#only)a",
        "a(?#then)gpt2",
        "a(?#else)none",
        "^|$",
        "|",
    ),
    *(
        r"x*(?#else)gpt4",
        r"\b",
        "(?=a)",
        "(?i)the",
        r"[\p{L}--[a-z]]",
        r"\X",
        "(?r)the|.",
        r"a(?#else)b(?#then)c",
    ),
)
TEXTS: Final = (
    *(
        "",
        " ",
        "a",
        "ab",
        "▁",
        "Ġ",
        "é",
        "e\u0301",
        "\ud800",
        "\x1b[2J",
        "\0",
        "\n",
        "<|end|>",
        "<0x41>",
        "</w>",
        "日",
    ),
    *(
        "NFC",
        "NFKC",
        "Lowercase",
        "ByteLevel",
        "Split",
        "Digits",
        "Sequence",
        "Removed",
        "Isolated",
        "BPE",
        "Unigram",
    ),
    *("always", "YQ==", "=", "\u0301" * 60, "x" * 3000, "\x1b" * 700),
)
_OTHERS: Final = (None, True, False, [], {}, [[]], {"": None}, [None], ["a", "b"])
_BITS: Final = (
    *(text.encode(errors="surrogatepass") for text in TEXTS),
    b"\xff",
    b'"',
    b"}",
    b"[" * 2000,
    b",",
    b"9" * 30,
)
_NUMBER: Final = re.compile(rb"\d+")


def mutant(sound: Sound, rng: random.Random) -> dict[str, bytes]:
    """The files of a tokenizer, one of them or more changed."""
    files = dict(sound.files)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        name = rng.choice(sound.mutated)
        files[name] = _changed(files[name], rng)
    return files


def _changed(data: bytes, rng: random.Random) -> bytes:
    if data[:1] in b"{[" and rng.random() < 0.6:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict | list) and value:
            return _json_changed(value, rng)
    return rng.choice(_CHANGES)(data, rng) if data else rng.choice(_BITS)


def _json_changed(value: Any, rng: random.Random) -> bytes:
    """One node replaced, removed, doubled, moved or renamed."""
    holder, key = _node(value, rng)
    match rng.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), holder[key])
        case 1 | 2 if isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = (
                holder[key] if rng.random() < 0.5 else holder.pop(key)
            )
        case 3:
            other, place = _node(value, rng)
            holder[key], other[place] = _copy(other[place]), _copy(holder[key])
        case 4 if isinstance(holder[key], str):
            holder[key] = (
                rng.choice(PATTERNS)
                if rng.random() < 0.5
                else _text_changed(holder[key], rng)
            )
        case 5 if isinstance(holder, list):
            rng.shuffle(holder)
        case _:
            old = holder[key]
            likely = (
                NUMBERS
                if isinstance(old, int | float)
                else TEXTS + PATTERNS
                if isinstance(old, str)
                else _OTHERS
            )
            holder[key] = rng.choice(
                rng.choice((likely, likely, NUMBERS, TEXTS, _OTHERS))
            )
    return json.dumps(
        value, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1))
    ).encode(errors="surrogatepass")


def _copy(value: object) -> Any:
    return json.loads(json.dumps(value))


def _node(value: Any, rng: random.Random) -> tuple[Any, Any]:
    """Some place in a value, the upper ones more often than their number: its holder, and its key there."""
    while True:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = rng.choice(keys)
        inside = value[key]
        if not isinstance(inside, dict | list) or not inside or rng.random() < 0.25:
            return value, key
        value = inside


def _text_changed(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(TEXTS) + text[place + rng.choice((0, 1, 1, 3)) :]


def _byte(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data))
    return (
        data[:place]
        + bytes([rng.choice((rng.randrange(256), data[place] ^ 1 << rng.randrange(8)))])
        + data[place + 1 :]
    )


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _gone(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data))
    return data[:place] + data[place + rng.choice((1, 2, 9, 100)) :]


def _doubled(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    end = start + rng.choice((1, 10, 100, 1000))
    return data[:end] * 1 + data[start:end] * rng.choice((1, 1, 5)) + data[end:]


def _put(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(_BITS) + data[place + rng.choice((0, 1, 4)) :]


def _number(data: bytes, rng: random.Random) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return _byte(data, rng)
    start, end = rng.choice(found).span()
    return data[:start] + str(rng.choice(NUMBERS)).encode() + data[end:]


def _lines(data: bytes, rng: random.Random) -> bytes:
    """A line removed, doubled, moved, or merged with another."""
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case _:
            lines[one] = (
                lines[one][: len(lines[one]) // 2]
                + lines[other][len(lines[other]) // 2 :]
            )
    return b"\n".join(lines)


_CHANGES: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    _byte, _byte, _cut, _gone, _doubled, _put, _number, _number, _lines, _lines,
)  # fmt: skip
