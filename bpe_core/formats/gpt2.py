"""vocab.json with merges.txt beside it, under which names GPT-2 first came: encoder.json and vocab.bpe.

Either of the two opens both. Names are written in the byte alphabet; the pattern is GPT-2's, unless a
tokenizer_config.json beside them says that it is Qwen2's. Tokens that no merge makes and that look like <this> are
special ones, as are those in an added_tokens.json; what the configuration says of added tokens goes first.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

from bpe_core.formats.fields import Fields, parse
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.hf_configuration import configuration_of, name_of, with_added
from bpe_core.formats.hf_model import ids_of
from bpe_core.formats.hf_writing import dumped, names_of, pairs_of, refuse
from bpe_core.formats.huggingface import specials_of, tokenizer_of
from bpe_core.patterns import PATTERNS
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_FIRST_ENTRY: Final = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\d')
_MERGES: Final = b"#version"
_NAMES: Final = {"vocab.json": "merges.txt", "encoder.json": "vocab.bpe"}
_OTHERS: Final = ("CLIPTokenizer", "OpenAIGPTTokenizer", "CTRLTokenizer", "BertTokenizer", "CodeLlamaTokenizer")
"""Kinds that come with files of these names and do something else with a text."""
_SPECIAL: Final = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")


def recognizes(data: bytes) -> bool:
    """Whether it is a list of merges, or an object that begins with a name and an id."""
    return data.startswith(_MERGES) or _FIRST_ENTRY.match(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file and the one beside it; `pattern` takes the place of GPT-2's. Raises `FormatError`."""
    vocab, merges = _both(file)
    ids = ids_of(Fields({"vocab": parse(vocab.data, vocab.where)}, vocab.where), "vocab")
    pairs = list(_pairs(merges, ids))
    _refuse_ends_of_words(vocab, ids, pairs)
    configured = configuration_of(file)
    description = {
        "added_tokens": list(_added(file, ids, pairs)),
        **_pipeline(configured),
        "model": {"type": "BPE", "vocab": ids, "merges": pairs},
    }
    description["added_tokens"] = with_added(description["added_tokens"], configured, ids)
    return tokenizer_of(Fields(description, vocab.where), pattern, name_of(file))


def _refuse_ends_of_words(vocab: TokenizerFile, ids: dict[str, int], pairs: list[list[str]]) -> None:
    """CLIP and the first GPT have the same two files, but their tokens are characters, some at the end of a word."""
    made = {left + right for left, right in pairs}
    if sum(name.endswith("</w>") and name not in made and len(name) > 4 for name in ids) > 1:
        vocab.unsupported("its tokens mark the ends of words with </w>, and only tokens made of bytes are supported")


def _pipeline(configured: Fields) -> dict[str, Any]:
    """How the kind of tokenizer that is named in the configuration treats a text."""
    kind = configured.text("tokenizer_class").removesuffix("Fast") if "tokenizer_class" in configured else ""
    if kind == "Qwen2Tokenizer":
        split = {"type": "Split", "pattern": {"Regex": PATTERNS["qwen2"]}, "behavior": "Isolated"}
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
        both = {"type": "Sequence", "pretokenizers": [split, byte_level]}
        return {"normalizer": {"type": "NFC"}, "pre_tokenizer": both}
    if kind in _OTHERS:
        configured.unsupported(f"the {kind}", "GPT2Tokenizer and those that split as it does, Qwen2Tokenizer")
    return {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": configured.flag("add_prefix_space", False)}}


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
        if len(pair) != 2 or "" in pair:
            merges.broken(f"line {number} is not two tokens with a space between them")
        left, right = pair
        if left not in ids or right not in ids or left + right not in ids:
            name = next(name for name in (left, right, left + right) if name not in ids)
            merges.broken(f"in line {number}, there is no token '{visible(name[:40])}' in the vocabulary")
        yield pair


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
