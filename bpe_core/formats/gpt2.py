"""GPT-2's two files: vocab.json (name -> id, in the byte alphabet) and merges.txt (a pair of names per line).

They were first called encoder.json and vocab.bpe, and both may have a common prefix (small-vocab.json and
small-merges.txt). Opening either of them reads both.

A tokenizer.json in the same folder with the same vocabulary is read instead, since it says more. Else the split pattern
is Qwen2's if tokenizer_config.json names that class, and GPT-2's unless it would cut some token: then a pattern must be
given.
Special tokens are those that no merge makes and that look like <this> or [this], and those in added_tokens.json. What
tokenizer_config.json says of added tokens has precedence.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import FormatError, PatternNeededError
from bpe_core.formats import huggingface
from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.formats.huggingface.writing import named, pre_tokenizer, specials_of
from bpe_core.formats.json_fields import Fields
from bpe_core.patterns import PATTERNS, splitter
from bpe_core.patterns.pattern import parse
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted
from bpe_core.vocabulary.symbols import meant

_FIRST_ENTRY: Final = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\d')
_MERGES: Final = b"#version"
_NAMES: Final = {
    "vocab.json": "merges.txt",
    "encoder.json": "vocab.bpe",
}  # ends of names: vocabulary -> its merges
_OTHERS: Final = (
    "CLIPTokenizer",
    "OpenAIGPTTokenizer",
    "CTRLTokenizer",
    "BertTokenizer",
    "CodeLlamaTokenizer",
)
"""Classes in tokenizer_config.json whose files have the same names and that treat a text differently."""
_TARGET: Final = "as these two files"
_SPECIAL: Final = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")


def recognizes(data: bytes) -> bool:
    return data.startswith(_MERGES) or _FIRST_ENTRY.match(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    is_merges = file.data.startswith(_MERGES)
    usual = tuple(_NAMES) if is_merges else tuple(_NAMES.values())
    names = tuple(dict.fromkeys((*_partners(file.path), *usual)))
    other = file.open_sibling(*names)
    if other is None:
        file.unsupported(
            f"it is one of two files, and there is no {' or '.join(names)} beside it"
        )
    vocab, merges = (other, file) if is_merges else (file, other)
    ids = vocab.fields().ids()
    if (whole := file.open_sibling("tokenizer.json")) and _tokens_of(whole) == ids:
        return huggingface.read(whole, pattern)
    pairs = list(_pairs(merges, ids))
    made = dict.fromkeys(left + right for left, right in pairs)
    if (
        sum(
            name.endswith("</w>") and name not in made and len(name) > 4 for name in ids
        )
        > 1
    ):  # CLIP, the first GPT
        vocab.unsupported(
            "its tokens mark the ends of words with </w>, and only tokens made of bytes are supported"
        )
    configured = huggingface.configuration_of(file)
    pipeline = _pipeline_by_class(configured)
    if (
        pipeline is None
        and pattern is None
        and (cut := _cut_by_gpt_2(meant(name) or b"" for name in made)) is not None
    ):
        raise PatternNeededError(
            f"{vocab.where} does not say how to split a text, and it is not as GPT-2 does, which would cut the "
            f"token {quoted(cut)}; name its pattern, such as qwen2 (--pattern)."
        )
    found = {
        name: token
        for name, token in ids.items()
        if name not in made and _SPECIAL.fullmatch(name)
    }
    if beside := file.open_sibling("added_tokens.json"):
        found |= beside.fields().ids()
    prefix = configured.values.get("add_prefix_space") is True
    description = {
        "added_tokens": [
            {"id": token, "content": name, "special": True}
            for name, token in found.items()
        ],
        **(
            pipeline
            or {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": prefix}}
        ),
        "model": {"type": "BPE", "vocab": ids, "merges": pairs},
    }
    return huggingface.tokenizer_of(
        Fields(description, vocab.where), file, configured, pattern
    )


def _tokens_of(whole: TokenizerFile) -> object:
    model = whole.fields().values.get("model")
    return model.get("vocab") if isinstance(model, dict) else None


def _pipeline_by_class(configured: Fields) -> dict[str, Any] | None:
    """The pipeline of the class in tokenizer_config.json; None for GPT-2's."""
    kind = str(configured.values.get("tokenizer_class")).removesuffix("Fast")
    if kind in _OTHERS:
        configured.unsupported(
            f"the {kind}",
            "GPT2Tokenizer and those that split as it does, Qwen2Tokenizer",
        )
    if kind != "Qwen2Tokenizer":
        return None
    return {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": pre_tokenizer(parse("qwen2")),
    }


def _cut_by_gpt_2(tokens: Iterable[bytes]) -> str | None:
    """The text of a token that GPT-2's pattern cuts, so that merges under it cannot have made it: any substring of one
    of its pieces is one piece by itself. None if none is cut."""
    split = splitter("gpt2").split
    texts = (
        token.decode(errors="ignore") for token in tokens
    )  # without the parts of a character at their ends
    return next((text for text in texts if len(split(text)) > 1), None)


def _partners(path: Path) -> tuple[str, ...]:
    """The possible names of the partner of the file at `path`, the likeliest first."""
    for vocab, merges in _NAMES.items():
        if path.name.endswith(vocab):
            return (path.name.removesuffix(vocab) + merges,)
        if path.name.endswith(merges):
            prefix = path.name.removesuffix(merges)
            return (
                (prefix + vocab, f"{prefix[:-1]}.json")
                if len(prefix) > 1
                else (prefix + vocab,)
            )
    return (f"{path.stem}-merges.txt",)


def _pairs(merges: TokenizerFile, ids: Mapping[str, int]) -> Iterator[list[str]]:
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
            merges.broken(
                f"in line {number}, there is no token {quoted(name)} in the vocabulary"
            )
        yield pair


def _belong_together(vocab: Path, merges: Path) -> bool:
    with suppress(FormatError):
        return all(
            _pairs(TokenizerFile.open(merges), TokenizerFile.open(vocab).fields().ids())
        )
    return False


def files_for(tokenizer: Tokenizer, path: Path) -> Iterator[tuple[Path, list[str]]]:
    """(path, text) of both files, that at `path` first: the vocabulary, unless its name is that of a merges file.
    Naming a vocabulary replaces its merges, too, if that is what is there; naming merges replaces no vocabulary."""
    if path.exists() and not path.is_file():
        refuse(_TARGET, f"it takes two files, and {quoted(path.name)} is none")
    others = [path.with_name(name) for name in _partners(path)]
    other = next(filter(Path.exists, others), others[0])
    is_merges = path.name.endswith(tuple(_NAMES.values()))
    if other.exists() and (is_merges or not _belong_together(path, other)):
        instead = "that to replace both, or " if is_merges else ""
        there = (
            f"{quoted(other.name)} is there already; name {instead}a folder of its own"
        )
        refuse(_TARGET, f"it takes two files, and {there}")
    vocabulary = tokenizer.vocabulary
    if tokenizer.preparation or tokenizer.splitter.source != PATTERNS["gpt2"]:
        refuse(
            _TARGET,
            "vocab.json and merges.txt mean GPT-2's pattern, and this tokenizer has another one",
        )
    if vocabulary.whole_pieces:
        refuse(_TARGET, "some of its tokens are not made by merges")
    base = {
        data.decode(errors="replace") for data in vocabulary.base.values()
    } - vocabulary.special_tokens.keys()
    if found := next(filter(None, map(_SPECIAL.fullmatch, sorted(base))), None):
        refuse(
            _TARGET,
            f"the token {quoted(found[0])} would be known for a special one, which it is not",
        )
    if lost := next(
        (text for text in vocabulary.special_tokens if not _SPECIAL.fullmatch(text)),
        None,
    ):
        refuse(
            _TARGET,
            f"the special token {quoted(lost)} would not be known for one, which <...> or [...] is",
        )
    if (
        cut := _cut_by_gpt_2(
            vocabulary.token_bytes(token) for _, _, token in vocabulary.merges
        )
    ) is not None:
        refuse(
            _TARGET,
            f"GPT-2's pattern cuts the token {quoted(cut)}, so nobody would believe it is theirs",
        )
    ids, pairs = named(tokenizer, specials_of(vocabulary))
    vocab = [json.dumps(ids, ensure_ascii=False, indent=1), "\n"]
    merges = ["#version: 0.2\n", *(f"{left} {right}\n" for left, right in pairs)]
    yield from zip(
        (path, other), (merges, vocab) if is_merges else (vocab, merges), strict=True
    )
