"""vocab.json with merges.txt beside it, under which names GPT-2 first came: encoder.json and vocab.bpe.

Either of the two opens both. Names are written in the byte alphabet; the pattern is GPT-2's. Tokens that no merge makes
and that look like <this> are special ones, as are those in an added_tokens.json.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

from bpe_core.formats.fields import Fields, parse
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.hf_model import ids_of
from bpe_core.formats.hf_writing import dumped, names_of, pairs_of, refuse
from bpe_core.formats.huggingface import name_of, specials_of, tokenizer_of
from bpe_core.patterns import PATTERNS
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_FIRST_ENTRY: Final = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\d')
_MERGES: Final = b"#version"
_NAMES: Final = {"vocab.json": "merges.txt", "encoder.json": "vocab.bpe"}
_SPECIAL: Final = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")


def recognizes(data: bytes) -> bool:
    """Whether it is a list of merges, or an object that begins with a name and an id."""
    return data.startswith(_MERGES) or _FIRST_ENTRY.match(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file and the one beside it; `pattern` takes the place of GPT-2's. Raises `FormatError`."""
    vocab, merges = _both(file)
    ids = ids_of(Fields({"vocab": parse(vocab.data, vocab.where)}, vocab.where), "vocab")
    pairs = list(_pairs(merges, ids))
    pre_tokenizer: dict[str, Any] = {"type": "ByteLevel", "add_prefix_space": _adds_space(file)}
    description = {
        "added_tokens": list(_added(file, ids, pairs)),
        "pre_tokenizer": pre_tokenizer,
        "model": {"type": "BPE", "vocab": ids, "merges": pairs},
    }
    return tokenizer_of(Fields(description, vocab.where), pattern, name_of(file))


def _both(file: TokenizerFile) -> tuple[TokenizerFile, TokenizerFile]:
    is_merges = file.data.startswith(_MERGES)
    names = tuple(_NAMES) if is_merges else tuple(_NAMES.values())
    if file.path and file.path.name in (*_NAMES, *_NAMES.values()):
        partner = _partner(file.path.name)
        names = (partner, *(name for name in names if name != partner))
    other = file.beside(names)
    if other is None:
        file.unsupported(f"it is one of two files, and there is no {' or '.join(names)} beside it")
    return (other, file) if is_merges else (file, other)


def _partner(name: str) -> str:
    return _NAMES.get(name) or next(vocab for vocab, merges in _NAMES.items() if merges == name)


def _pairs(merges: TokenizerFile, ids: dict[str, int]) -> Iterator[list[str]]:
    for number, line in enumerate(merges.text.split("\n"), 1):
        line = line.removesuffix("\r")
        if not line or line.startswith("#version"):
            continue
        pair = line.split(" ")
        if len(pair) != 2 or not all(pair):
            merges.broken(f"line {number} is not two tokens with a space between them")
        for name in (*pair, "".join(pair)):
            if name not in ids:
                merges.broken(f"in line {number}, there is no token '{visible(name[:40])}' in the vocabulary")
        yield pair


def _adds_space(file: TokenizerFile) -> bool:
    config = file.beside(["tokenizer_config.json"])
    return bool(config and Fields(parse(config.data, config.where), config.where).flag("add_prefix_space", False))


def _added(file: TokenizerFile, ids: dict[str, int], pairs: list[list[str]]) -> Iterator[dict[str, Any]]:
    made = {left + right for left, right in pairs}
    found = {name: token for name, token in ids.items() if name not in made and _SPECIAL.fullmatch(name)}
    beside = file.beside(["added_tokens.json"])
    if beside:
        found |= ids_of(Fields({"added": parse(beside.data, beside.where)}, beside.where), "added")
    for name, token in found.items():
        yield {"id": token, "content": name, "special": True}


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """vocab.json. Raises `FormatError` if the two files would not tell all there is to tell."""
    vocabulary = tokenizer.vocabulary
    if tokenizer.preparation or tokenizer.splitter.source != PATTERNS["gpt2"]:
        refuse("vocab.json and merges.txt mean GPT-2's pattern, and this tokenizer has another one", "these two files")
    if vocabulary.whole_pieces:
        refuse("some of its tokens are not made by merges", "these two files")
    yield from dumped(names_of(tokenizer, specials_of(vocabulary)))


def companion(tokenizer: Tokenizer, path: Path) -> tuple[Path, Iterator[str]]:
    """Where the merges belong that go with a vocab.json, and their lines."""
    lines = (f"{left} {right}\n" for left, right in pairs_of(tokenizer.vocabulary))
    return path.with_name(_NAMES.get(path.name, "merges.txt")), chain(["#version: 0.2\n"], lines)
