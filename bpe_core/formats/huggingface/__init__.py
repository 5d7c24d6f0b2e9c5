"""tokenizer.json of Hugging Face's tokenizers, for BPE models of bytes, or of characters as in Llama 2.

Other models, and pipeline components that are not implemented here, are refused by name. Post-processors, which add
tokens around a text (such as a first one), are ignored.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from bpe_core.formats.fields import Fields, parse
from bpe_core.formats.file import LARGEST_ID, LONGEST_ADDED, TokenizerFile
from bpe_core.formats.huggingface.components import joins_bytes
from bpe_core.formats.huggingface.configuration import configuration_of, name_of, with_added
from bpe_core.formats.huggingface.model import Model
from bpe_core.formats.huggingface.pipeline import preparation_of, prepared_tokenizer
from bpe_core.formats.huggingface.writing import dumped, names_of, pairs_of, pre_tokenizer_of, refuse
from bpe_core.patterns.pattern import Else
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.visible import quoted
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import RankedVocabulary

_MODEL: Final = re.compile(rb'"model"\s*:\s*\{')
_DECODER: Final = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
"""The decoder that is written for every tokenizer of bytes, whatever the file that was read has."""


def recognizes(data: bytes) -> bool:
    """Whether it is a JSON object with the key "model" and an object as its value."""
    return data.lstrip()[:1] == b"{" and _MODEL.search(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file; `pattern` replaces the splits of its pre-tokenizer. Raises `FormatError`."""
    fields = Fields(parse(file.data, file.where), file.where)
    if "added_tokens" in fields:
        vocab = fields.fields("model").any("vocab")
        fields.values["added_tokens"] = with_added(fields.items("added_tokens"), configuration_of(file), vocab)
    return tokenizer_of(fields, pattern, name_of(file))


def tokenizer_of(fields: Fields, pattern: str | None, name: str) -> Tokenizer:
    """The tokenizer described by an object as in tokenizer.json; `pattern` as in `read`. Raises `FormatError`."""
    model = fields.fields("model")
    kind = model.text("type") if "type" in model else ("BPE" if "merges" in model else "WordPiece")
    if kind != "BPE":
        fields.unsupported(f"the model {kind}", "BPE")
    if "dropout" in model and model.any("dropout"):
        fields.unsupported("dropout, which encodes at random,", "BPE without it")
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if key in model and model.text(key):
            fields.unsupported(f"the {key} {model.text(key)!r}", "BPE on bytes, and on characters with U+2581")
    preparation, is_bytewise = preparation_of(fields, pattern)
    described = Model.of(model, is_bytewise, preparation.has_metaspace)
    joins = "decoder" in fields and joins_bytes(fields.fields("decoder"))
    return prepared_tokenizer(described, preparation, tuple(_added(fields)), joins, name)


def _added(fields: Fields) -> Iterator[AddedToken]:
    vocab = fields.fields("model").fields("vocab").values
    name_of = {token: name for name, token in vocab.items()} if fields.values.get("added_tokens") else {}
    seen: dict[int, str] = {}
    for token in fields.objects("added_tokens") if "added_tokens" in fields else ():
        text, special = token.text("content"), token.flag("special", False)
        if not text:
            continue
        if len(text) > LONGEST_ADDED:
            token.fail("content", f"it is longer than {LONGEST_ADDED:,} characters")
        known = vocab.get(text)
        number = token.number("id", largest=LARGEST_ID) if known is None else known
        if known is None and number in name_of:
            token.fail("id", f"{number} is the id of {quoted(name_of[number])}")
        if seen.setdefault(number, text) != text:
            token.fail("id", f"{number} is the id of another added token")
        single_word, lstrip, rstrip = (token.flag(key, False) for key in ("single_word", "lstrip", "rstrip"))
        normalized = token.flag("normalized", not special)
        yield AddedToken(text, number, special, single_word, lstrip, rstrip, normalized)


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """The text of tokenizer.json. Raises `FormatError` if Hugging Face's library would encode some text differently."""
    vocabulary, preparation = tokenizer.vocabulary, tokenizer.preparation
    pattern = tokenizer.splitter.tree
    if preparation:
        if not preparation.description:
            refuse("what it does to a text before it splits it cannot be said there")
        added = preparation.added
        pipeline = {"pre_tokenizer": None, **preparation.description, "decoder": _DECODER}
        if "pre_tokenizer" not in preparation.description:
            pipeline["pre_tokenizer"] = pre_tokenizer_of(pattern)
    else:
        added = specials_of(vocabulary)
        if isinstance(pattern, Else):
            added += _found_first(vocabulary, pattern)
            pattern = pattern.rest
        pipeline = {"normalizer": None, "pre_tokenizer": pre_tokenizer_of(pattern), "decoder": _DECODER}
    ordinary = {token.text.encode() for token in added if not token.special}
    is_ranked = isinstance(vocabulary, RankedVocabulary)
    looks_up_whole = is_ranked or bool(vocabulary.whole_pieces.keys() - ordinary)
    if looks_up_whole and any(tokenizer.splitter.split(text) == [text] for text in vocabulary.special_tokens):
        refuse("the text of a special token is a piece by its pattern")
    if looks_up_whole and not is_ranked:
        _check_look_up(vocabulary)
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": looks_up_whole,
        "vocab": names_of(tokenizer, added),
        "merges": [list(pair) for pair in pairs_of(vocabulary)],
    }
    head = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(map(_described, added))}
    yield from dumped(head | pipeline | {"post_processor": None, "model": model})


def _check_look_up(vocabulary: Vocabulary) -> None:
    """Raise `FormatError` if only some tokens are looked up as whole pieces: `ignore_merges` means all or none."""
    for token, data in vocabulary.bytes_of.items():
        if token in vocabulary and vocabulary.encode(data) != (token,):
            refuse(f"the token {token} would be looked up as a whole there, and is not here")


def specials_of(vocabulary: Vocabulary) -> tuple[AddedToken, ...]:
    """The special tokens of a vocabulary as added tokens."""
    return tuple(AddedToken(text, token, special=True) for text, token in vocabulary.special_tokens.items())


def _found_first(vocabulary: Vocabulary, pattern: Else) -> tuple[AddedToken, ...]:
    """The literal texts of an `Else` pattern as added tokens. Raises `FormatError` if one of them is no token."""
    whole = ((data.decode(errors="replace"), token) for data, token in vocabulary.whole_pieces.items())
    texts = frozenset(pattern.texts)
    found = tuple(AddedToken(text, token) for text, token in whole if text in texts)
    if not texts or texts != {token.text for token in found}:
        refuse("its pattern finds something first that is no token")
    return found


def _described(token: AddedToken) -> dict[str, Any]:
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": token.token, "content": token.text} | {flag: getattr(token, flag) for flag in flags}
