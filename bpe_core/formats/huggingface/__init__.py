"""tokenizer.json of Hugging Face's tokenizers: BPE on bytes, or on characters as in Llama 2.

Other models, and components of the pipeline that bpescope does not implement, are refused by name.
Post-processors, which add tokens such as a first one around a text, are ignored. A pipeline that
only splits becomes a split pattern; any other becomes a `Preparation`. tokenizer_config.json in the
same folder gives the name of the model, its class, and more added tokens.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bpe_core.formats.file import HOLDERS, LONGEST_TOKEN, TokenizerFile
from bpe_core.formats.huggingface.components import pipeline_of
from bpe_core.formats.huggingface.model import Model
from bpe_core.formats.huggingface.writing import write
from bpe_core.formats.json_fields import LARGEST_ID, Fields, id_in, is_number, is_text
from bpe_core.patterns import splitter
from bpe_core.patterns.pattern import Else, one_after_another
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import (
    METASPACE,
    AddedToken,
    SplitStep,
    found_at_once,
)
from bpe_core.visible import quoted

__all__ = ["WORDS", "configuration_of", "read", "recognizes", "tokenizer_of", "write"]

_MODEL: Final = re.compile(rb'"model"\s*:\s*\{')
_IN_CACHE: Final = re.compile(r"models--(.+)/snapshots")
WORDS: Final = f"{METASPACE}+[^{METASPACE}]*|[^{METASPACE}]+"
"""Splits before each run of U+2581, for vocabularies whose merges never cross that place."""


def recognizes(data: bytes) -> bool:
    return data.lstrip()[:1] == b"{" and _MODEL.search(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    return tokenizer_of(file.fields(), file, configuration_of(file), pattern)


def configuration_of(file: TokenizerFile) -> Fields:
    """Return tokenizer_config.json from the same folder; an empty object if there is none."""
    configuration = file.open_sibling("tokenizer_config.json")
    return configuration.fields() if configuration else Fields({}, file.where)


def tokenizer_of(
    fields: Fields, file: TokenizerFile, configured: Fields, pattern: str | None
) -> Tokenizer:
    """Return the tokenizer that an object describes as in a tokenizer.json.

    Args:
        fields: The object.
        file: The file that it comes from.
        configured: The content of tokenizer_config.json.
        pattern: A pattern that replaces all splits; None to use the described ones.

    Raises:
        BpeError: The object is invalid or describes something unsupported.
    """
    _check_model(fields)
    name = _name(file, configured)
    preparation, is_bytewise, joins_bytes = pipeline_of(fields, pattern)
    model = Model(fields.fields("model"), is_bytewise, preparation.has_metaspace)
    added = _added_tokens(fields, configured, model.ids)
    splits = [
        step.splitter.tree for step in preparation.steps if isinstance(step, SplitStep)
    ]
    split = one_after_another(splits)
    does_more = (
        preparation.normalize
        or preparation.within
        or preparation.has_metaspace
        or preparation.drops_space
    )
    only_splits = len(splits) == len(preparation.steps) and not does_more
    if only_splits and found_at_once(added):
        ordinary = [token for token in added if not token.special]
        if ordinary:
            split = Else(tuple(token.text for token in ordinary), split)
        return Tokenizer(model.vocabulary(added, ordinary), str(split), name=name)
    steps = preparation.steps
    if not splits and preparation.has_metaspace and model.keeps_words_apart:
        steps += (SplitStep(splitter(WORDS)),)
    replaced_bytes = model.byte_ids.values() if joins_bytes else ()
    preparation = replace(
        preparation,
        added=added,
        steps=steps,
        byte_fallback_ids=frozenset(replaced_bytes),
    )
    return Tokenizer(
        model.vocabulary(added), str(split), name=name, preparation=preparation
    )


def _check_model(fields: Fields) -> None:
    """Raise `FormatError` if the model is not BPE, or has unsupported options."""
    model = fields.fields("model")
    kind = model.text("type", "BPE" if "merges" in model else "WordPiece")
    if kind != "BPE":
        fields.unsupported(f"the model {kind}", "BPE")
    if model.values.get("dropout"):
        fields.unsupported("dropout, which encodes at random,", "BPE without it")
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        affix = model.text(key, "")
        if affix:
            fields.unsupported(
                f"the {key} {affix!r}", "BPE on bytes, and on characters with U+2581"
            )


def _name(file: TokenizerFile, configured: Fields) -> str:
    """Return the name of the model: as configured, by its place in the Hub's cache, or by folder.

    "" if the file has a name of its own, such as gpt2.json, which says more than its folder.
    """
    name = configured.values.get("name_or_path")
    if name and is_text(name):
        return name
    folder = file.path.absolute().parent
    in_cache = _IN_CACHE.fullmatch(f"{folder.parent.parent.name}/{folder.parent.name}")
    if in_cache:
        return in_cache[1].replace("--", "/")
    return folder.name if file.path.name in HOLDERS else ""


def _added_tokens(
    fields: Fields, configured: Fields, vocab: Mapping[str, int]
) -> tuple[AddedToken, ...]:
    """Return the added tokens; `vocab` is name -> id of the model's tokens.

    As in the library, a text that is listed twice has the first id and the last flags.
    """
    tokens = fields.objects("added_tokens", [])
    if "added_tokens" in fields and "added_tokens_decoder" in configured:
        tokens += _only_configured(tokens, configured, vocab)
    name_of = {token: name for name, token in vocab.items()} if tokens else {}
    text_of: dict[int, str] = {}
    by_text: dict[str, AddedToken] = {}
    for token in tokens:
        text = token.text("content")
        is_special = token.flag("special", False)
        if not text:
            continue
        if len(text) > LONGEST_TOKEN:
            token.fail("content", f"it is longer than {LONGEST_TOKEN:,} characters")
        if text in by_text:
            token_id = by_text[text].token
        elif text in vocab:
            token_id = vocab[text]
        else:
            token_id = token.number("id", largest=LARGEST_ID)
            if token_id in name_of:
                token.fail("id", f"{token_id} is the id of {quoted(name_of[token_id])}")
        if text_of.setdefault(token_id, text) != text:
            token.fail("id", f"{token_id} is the id of another added token")
        by_text[text] = AddedToken(
            text,
            token_id,
            special=is_special,
            single_word=token.flag("single_word", False),
            lstrip=token.flag("lstrip", False),
            rstrip=token.flag("rstrip", False),
            normalized=token.flag("normalized", not is_special),
        )
    return tuple(by_text.values())


def _only_configured(
    tokens: list[Fields], configured: Fields, vocab: Mapping[str, int]
) -> list[Fields]:
    """Return the added tokens that only tokenizer_config.json has, with their ids.

    As in transformers, a token is ignored if the file gives its id to another text.
    """
    texts = {token.text("content") for token in tokens}
    used_ids = set(vocab.values())
    for token in tokens:
        token_id = token.values.get("id")
        if is_number(token_id):
            used_ids.add(token_id)
    only_configured: list[Fields] = []
    decoder = configured.fields("added_tokens_decoder")
    for digits in decoder.values:
        token = decoder.fields(digits)
        token_id = id_in(digits)
        if token_id is None:
            decoder.fail(digits[:40], "expected the id of a token")
        text = token.text("content")
        is_free = vocab.get(text) == token_id or token_id not in used_ids
        if text not in texts and is_free:
            token.values["id"] = token_id
            only_configured.append(token)
    return only_configured
