"""GPT-2's two files: vocab.json (name -> id, in the byte alphabet) and merges.txt (two names a line).

They were first called encoder.json and vocab.bpe. Both may have a common prefix, such as
small-vocab.json and small-merges.txt. Opening either of them reads both.

If the folder has a tokenizer.json with the same vocabulary, that file is read instead, because it
holds more. Otherwise the split pattern is Qwen2's if tokenizer_config.json names that class, and
GPT-2's in all other cases. If GPT-2's pattern would cut some token, a pattern must be given.

Special tokens are the tokens that no merge makes and that look like <this> or [this], and those in
added_tokens.json. The added tokens in tokenizer_config.json have precedence.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.errors import FormatError, PatternNeededError
from bpe_core.formats import huggingface
from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.formats.huggingface.writing import named, pre_tokenizer, specials_of
from bpe_core.formats.json_fields import Fields
from bpe_core.patterns import PATTERNS, splitter
from bpe_core.patterns.pattern import parse
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.symbols import bytes_of_name

_FIRST_ENTRY: Final = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\d')
_MERGES: Final = b"#version"
"""The first bytes of a file of merges."""
_MERGES_NAME_OF: Final = {"vocab.json": "merges.txt", "encoder.json": "vocab.bpe"}
"""The end of the name of a vocabulary -> the end of the name of its merges."""
_UNSUPPORTED_CLASSES: Final = (
    "CLIPTokenizer",
    "OpenAIGPTTokenizer",
    "CTRLTokenizer",
    "BertTokenizer",
    "CodeLlamaTokenizer",
)
"""Classes in tokenizer_config.json whose files have the same names, but which split differently."""
_TARGET: Final = "as vocab.json and merges.txt"
_SPECIAL: Final = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")


class TwoFiles(NamedTuple):
    """The two files of a tokenizer."""

    vocab: TokenizerFile
    merges: TokenizerFile


def recognizes(data: bytes) -> bool:
    return data.startswith(_MERGES) or _FIRST_ENTRY.match(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    files = _both_files(file)
    ids = files.vocab.fields().ids()
    whole = file.open_sibling("tokenizer.json")
    if whole and _vocabulary_in(whole) == ids:
        return huggingface.read(whole, pattern)
    pairs = list(_pairs(files.merges, ids))
    made = dict.fromkeys(left + right for left, right in pairs)
    _refuse_marked_words(files.vocab, [name for name in ids if name not in made])
    configured = huggingface.configuration_of(file)
    pipeline = _pipeline_of_class(configured)
    if pipeline is None:
        if pattern is None:
            _check_split_by_gpt_2(files.vocab, made)
        prefix = configured.values.get("add_prefix_space") is True
        pipeline = {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": prefix}}
    special_tokens = {
        name: token
        for name, token in ids.items()
        if name not in made and _SPECIAL.fullmatch(name)
    }
    added_tokens = file.open_sibling("added_tokens.json")
    if added_tokens:
        special_tokens |= added_tokens.fields().ids()
    description = {
        "added_tokens": [
            {"id": token, "content": name, "special": True}
            for name, token in special_tokens.items()
        ],
        **pipeline,
        "model": {"type": "BPE", "vocab": ids, "merges": pairs},
    }
    fields = Fields(description, files.vocab.where)
    return huggingface.tokenizer_of(fields, file, configured, pattern)


def _both_files(file: TokenizerFile) -> TwoFiles:
    is_merges = file.data.startswith(_MERGES)
    usual_names = list(_MERGES_NAME_OF.values())
    if is_merges:
        usual_names = list(_MERGES_NAME_OF)
    # A dict, so that each name is there once and keeps its place.
    names = dict.fromkeys(chain(_partner_names(file.path), usual_names))
    partner = file.open_sibling(*names)
    if partner is None:
        file.unsupported(
            f"it is one of two files; put the other one, {' or '.join(names)}, into the same folder"
        )
    if is_merges:
        return TwoFiles(vocab=partner, merges=file)
    return TwoFiles(vocab=file, merges=partner)


def _vocabulary_in(tokenizer_json: TokenizerFile) -> object:
    model = tokenizer_json.fields().values.get("model")
    return model.get("vocab") if isinstance(model, dict) else None


def _refuse_marked_words(vocab: TokenizerFile, base: Iterable[str]) -> None:
    """Refuse a vocabulary such as CLIP's or the first GPT's; `base`: names that no merge makes.

    Each of their characters is also there as the last one of a word, such as "a</w>".
    """
    marked = [name for name in base if name.endswith("</w>") and name != "</w>"]
    if len(marked) > 1:
        vocab.unsupported(
            "its tokens mark the ends of words with </w>, and only tokens made of bytes are supported"
        )


def _pipeline_of_class(configured: Fields) -> dict[str, Any] | None:
    """Return the pipeline of the class in tokenizer_config.json; None if it is GPT-2's."""
    name = str(configured.values.get("tokenizer_class")).removesuffix("Fast")
    if name in _UNSUPPORTED_CLASSES:
        configured.unsupported(
            f"the {name}",
            "GPT2Tokenizer, classes that split like it, and Qwen2Tokenizer",
        )
    if name != "Qwen2Tokenizer":
        return None
    return {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": pre_tokenizer(parse("qwen2")),
    }


def _check_split_by_gpt_2(vocab: TokenizerFile, merged_names: Iterable[str]) -> None:
    """Raise `PatternNeededError` if GPT-2's pattern would cut a token, so that another pattern made it."""
    # A name with a character outside of the byte alphabet has no bytes. Nothing can cut it.
    merged_tokens = (bytes_of_name(name) or b"" for name in merged_names)
    cut = _cut_by_gpt_2(merged_tokens)
    if cut is not None:
        raise PatternNeededError(
            f"{vocab.where} has no split pattern, and GPT-2's would cut the token {quoted(cut)}; "
            "give the tokenizer's own pattern, such as --pattern qwen2."
        )


def _cut_by_gpt_2(tokens: Iterable[bytes]) -> str | None:
    """Return the text of a token that GPT-2's pattern cuts, or None.

    Merges under that pattern can't make such a token: a token is a part of a piece, and each part
    of a piece of GPT-2's is one piece by itself.
    """
    split = splitter("gpt2").split
    for token in tokens:
        text = token.decode(errors="ignore")  # without cut characters at the ends
        if len(split(text)) > 1:
            return text
    return None


def _partner_names(path: Path) -> tuple[str, ...]:
    """Return the possible names of the other file, the likeliest first.

    >>> _partner_names(Path("small-merges.txt"))
    ('small-vocab.json', 'small.json')
    """
    for vocab, merges in _MERGES_NAME_OF.items():
        if path.name.endswith(vocab):
            return (path.name.removesuffix(vocab) + merges,)
        if path.name.endswith(merges):
            prefix = path.name.removesuffix(merges)
            if len(prefix) > 1:
                return prefix + vocab, f"{prefix[:-1]}.json"
            return (prefix + vocab,)
    return (f"{path.stem}-merges.txt",)


def _pairs(merges: TokenizerFile, ids: Collection[str]) -> Iterator[list[str]]:
    """Yield the two names in each line. Raises `FormatError` if one is not in the vocabulary."""
    for number, line in enumerate(merges.text.split("\n"), 1):
        line = line.removesuffix("\r")
        if not line or line.startswith("#version"):
            continue
        pair = line.split(" ")
        if len(pair) != 2 or "" in pair:
            merges.broken(f"line {number} is not two tokens with a space between them")
        left, right = pair
        if left not in ids or right not in ids or left + right not in ids:
            names = (left, right, left + right)
            name = next(name for name in names if name not in ids)
            merges.broken(
                f"in line {number}, the token {quoted(name)} is not in the vocabulary"
            )
        yield pair


def _belong_together(vocab: Path, merges: Path) -> bool:
    """Whether both files exist, and all merges are in the vocabulary."""
    try:
        ids = TokenizerFile.open(vocab).fields().ids()
        for _ in _pairs(TokenizerFile.open(merges), ids):
            pass  # each line is checked
    except FormatError:
        return False
    return True


def files_for(tokenizer: Tokenizer, path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield (path, text in parts) of both files, first the one at `path`.

    The file at `path` is the vocabulary, unless its name is one of a file of merges. If a vocabulary is
    named, its merges are replaced as well. If merges are named, no vocabulary is replaced.

    Raises:
        FormatError: The files would give some text other ids, or would replace another file.
    """
    is_merges = path.name.endswith(tuple(_MERGES_NAME_OF.values()))
    partner = _partner_to_write(path, is_merges)
    _check_tokenizer(tokenizer)
    ids, pairs = named(tokenizer, specials_of(tokenizer.vocabulary))
    vocab = [json.dumps(ids, ensure_ascii=False, indent=1), "\n"]
    merges = ["#version: 0.2\n"]
    merges += [f"{left} {right}\n" for left, right in pairs]
    if is_merges:
        yield path, merges
        yield partner, vocab
    else:
        yield path, vocab
        yield partner, merges


def _partner_to_write(path: Path, is_merges: bool) -> Path:
    if path.exists() and not path.is_file():
        refuse(_TARGET, f"{quoted(path.name)} exists, and is not a file")
    candidates = [path.with_name(name) for name in _partner_names(path)]
    partner = next(filter(Path.exists, candidates), candidates[0])
    if partner.exists() and (is_merges or not _belong_together(path, partner)):
        advice = "use another folder"
        if is_merges:
            advice = "name that file to replace both, or use another folder"
        raise FormatError(
            f"This tokenizer cannot be written {_TARGET}: {quoted(partner.name)} exists already; {advice}."
        )
    return partner


def _check_tokenizer(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer that `read` would not read from its two files."""
    vocabulary = tokenizer.vocabulary
    if tokenizer.preparation or tokenizer.splitter.source != PATTERNS["gpt2"]:
        refuse(
            _TARGET, "these files imply GPT-2's pattern, and the tokenizer has another"
        )
    if vocabulary.whole_pieces:
        refuse(_TARGET, "some of its tokens are not made by merges")
    _check_special_tokens(vocabulary)
    cut = _cut_by_gpt_2(
        vocabulary.token_bytes(token) for _, _, token in vocabulary.merges
    )
    if cut is not None:
        refuse(
            _TARGET,
            f"GPT-2's pattern cuts the token {quoted(cut)}, so readers would expect another",
        )


def _check_special_tokens(vocabulary: Vocabulary) -> None:
    """Refuse a vocabulary if the texts do not show which tokens are special."""
    texts = {data.decode(errors="replace") for data in vocabulary.base.values()}
    for text in sorted(texts - vocabulary.special_tokens.keys()):
        if _SPECIAL.fullmatch(text):
            refuse(_TARGET, f"the token {quoted(text)} would be read as a special one")
    for text in vocabulary.special_tokens:
        if not _SPECIAL.fullmatch(text):
            refuse(
                _TARGET,
                f"the special token {quoted(text)} would be read as an ordinary one, "
                "because it is not like <this> or [this]",
            )
