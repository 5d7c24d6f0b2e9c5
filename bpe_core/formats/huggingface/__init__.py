"""tokenizer.json of Hugging Face's tokenizers, for BPE models of bytes, or of characters as in Llama 2.

Other models, and pipeline components that are not implemented here, are refused by name. Post-processors, which add
tokens around a text (such as a first one), are ignored. A pipeline that only splits becomes a split pattern, any other
a `Preparation`. Of tokenizer_config.json in the same folder the model's name, the class and added tokens are used.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from bpe_core.formats.file import LARGEST_ID, Fields, TokenizerFile, is_number, is_text
from bpe_core.formats.huggingface import components
from bpe_core.formats.huggingface.model import Model
from bpe_core.formats.huggingface.writing import write
from bpe_core.patterns import splitter
from bpe_core.patterns.pattern import Else, longest_first, one_after_another
from bpe_core.patterns.text_search import TextSearch
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import one_after_another as normalized_by_all
from bpe_core.tokenizer.preparation import METASPACE, AddedToken, BytePieces, Preparation, ReplaceStep, SplitStep, Step
from bpe_core.visible import quoted

__all__ = ["KEYS", "configuration_of", "name_of", "read", "recognizes", "tokenizer_of", "with_added", "write"]

KEYS: Final = ("normalizer", "pre_tokenizer", "decoder")
"""The keys of tokenizer.json that describe the pipeline, apart from added tokens."""

_LONGEST_ADDED: Final = 10_000  # characters of an added token; real ones have a few dozen
_MODEL: Final = re.compile(rb'"model"\s*:\s*\{')
_CACHED: Final = re.compile(r"models--(.+)/snapshots")
_WORDS: Final = "▁+[^▁]*|[^▁]+"
"""Splits before spaces; for models whose merges never cross these places, to get short pieces."""


def recognizes(data: bytes) -> bool:
    """Whether it is a JSON object with the key "model" and an object as its value."""
    return data.lstrip()[:1] == b"{" and _MODEL.search(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file; `pattern` replaces the splits of its pre-tokenizer. Raises `FormatError`."""
    fields, configured = file.fields(), configuration_of(file)
    if "added_tokens" in fields:
        vocab = fields.fields("model").any("vocab")
        fields.values["added_tokens"] = with_added(fields.items("added_tokens"), configured, vocab)
    return tokenizer_of(fields, pattern, name_of(file, configured))


def configuration_of(file: TokenizerFile) -> Fields:
    """The object in tokenizer_config.json beside `file`; empty if there is no such file. Raises `FormatError`."""
    beside = file.beside("tokenizer_config.json")
    return beside.fields(strict=False) if beside else Fields({}, file.where)  # transformers writes NaN into it


def name_of(file: TokenizerFile, configured: Fields) -> str:
    """The name of the model: from its configuration, or else the path in the hub's cache, or else the folder."""
    named = configured.values.get("name_or_path")
    if named and is_text(named):
        return named
    folder = file.path.absolute().parent if file.path else None
    if folder and (cached := _CACHED.fullmatch(f"{folder.parent.parent.name}/{folder.parent.name}")):
        return cached[1].replace("--", "/")
    return folder.name if folder else ""


def with_added(tokens: Sequence[Any], configured: Fields, vocab: object) -> list[Any]:
    """The added tokens of a file, `tokens`, and those that only the configuration has, merged as in transformers.

    A token of the configuration is ignored if the file gives its id to another text. Raises `FormatError`.
    """
    if "added_tokens_decoder" not in configured:
        return list(tokens)
    names = vocab if isinstance(vocab, dict) else {}
    objects = [token for token in tokens if isinstance(token, dict)]  # nothing in the file has been checked yet
    known = {text for token in objects if isinstance(text := token.get("content"), str)}
    taken = {number for number in (*(token.get("id") for token in objects), *names.values()) if is_number(number)}
    added = configured.fields("added_tokens_decoder")
    more = []
    for digits in added.values:
        text = added.fields(digits).text("content")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 10:
            added.fail(digits[:40], "the id of a token was expected")
        if text not in known and (names.get(text) == int(digits) or int(digits) not in taken):
            more.append({**added.fields(digits).values, "id": int(digits)})
    return [*tokens, *more]


def tokenizer_of(fields: Fields, pattern: str | None, name: str) -> Tokenizer:
    """The tokenizer described by an object as in tokenizer.json; `pattern` as in `read`. Raises `FormatError`."""
    described = fields.fields("model")
    kind = described.text("type", "BPE" if "merges" in described else "WordPiece")
    if kind != "BPE":
        fields.unsupported(f"the model {kind}", "BPE")
    if described.values.get("dropout"):
        fields.unsupported("dropout, which encodes at random,", "BPE without it")
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if affix := described.text(key, ""):
            fields.unsupported(f"the {key} {affix!r}", "BPE on bytes, and on characters with U+2581")
    preparation, is_bytewise, joins_bytes = _preparation(fields, pattern)
    model = Model(described, is_bytewise, preparation.has_metaspace)
    added = tuple(_added(fields))
    splits = [step.splitter.tree for step in preparation.steps if isinstance(step, SplitStep)]
    tree = one_after_another(splits)
    does_more = preparation.normalize or preparation.within or preparation.has_metaspace
    if len(splits) == len(preparation.steps) and not does_more and _found_at_once(added):
        ordinary = [token for token in added if not token.special]
        if ordinary:
            tree = Else(longest_first(token.text for token in ordinary), tree)
        return Tokenizer(model.vocabulary(added, ordinary), str(tree), name=name)
    if not splits and preparation.has_metaspace and model.keeps_words_apart:
        preparation = replace(preparation, steps=(*preparation.steps, SplitStep(splitter(_WORDS))))
    runs = frozenset(model.byte_ids.values() if joins_bytes else ())
    preparation = replace(preparation, added=added, replaces_runs=runs)
    return Tokenizer(model.vocabulary(added), str(tree), name=name, preparation=preparation)


def _preparation(fields: Fields, pattern: str | None) -> tuple[Preparation, bool, bool]:
    """(the pipeline without added tokens, whether it ends with pieces in the byte alphabet, whether the decoder joins
    byte-fallback tokens to characters). `pattern` replaces all splits if it is not None. Raises `FormatError`."""
    normalizers, decoders = (
        list(components.in_sequence(fields.fields(key), f"{key}s")) if key in fields else []
        for key in ("normalizer", "decoder")
    )
    steps: list[Step] = []
    within: list[SplitStep] | None = None  # splits of what is in the byte alphabet
    for step in components.pre_tokenizer_steps(fields.fields("pre_tokenizer")) if "pre_tokenizer" in fields else ():
        if within is not None:
            if not isinstance(step, SplitStep):
                fields.unsupported("what stands behind ByteLevel in the pre-tokenizer", "splits alone")
            within.append(step)
        elif step is None:
            within = []
        else:
            steps.append(step)
    is_bytewise = within is not None
    description = {key: fields.values.get(key) for key in KEYS}
    if pattern is not None:
        del description["pre_tokenizer"]
        others: list[Step] = [step for step in steps if not isinstance(step, SplitStep)]
        description = {} if others else description
        steps, within = [*others, SplitStep(splitter(pattern))], None
    puts = ReplaceStep(" ", METASPACE) in steps
    puts |= any(components.replaces(part, " ", METASPACE) for part in normalizers)
    if not puts and any(
        part.text("type") == "Metaspace" or components.replaces(part, METASPACE, " ") for part in decoders
    ):
        fields.unsupported("a decoder that makes spaces of U+2581 where nothing makes U+2581 of spaces", "both")
    preparation = Preparation(
        added=(),
        normalize=normalized_by_all(map(components.normalizer, normalizers)) if normalizers else None,
        steps=tuple(steps),
        has_metaspace=puts,
        drops_space=any(map(components.drops_space, decoders)),
        description=description,
        within=BytePieces(tuple(step.splitter for step in within)) if within else None,
    )
    return preparation, is_bytewise, any(part.text("type") == "ByteFallback" for part in decoders)


def _added(fields: Fields) -> Iterator[AddedToken]:
    vocab = fields.fields("model").fields("vocab").values
    name_of = {token: name for name, token in vocab.items()} if fields.values.get("added_tokens") else {}
    seen: dict[int, str] = {}
    for token in fields.objects("added_tokens", []):
        text, special = token.text("content"), token.flag("special", False)
        if not text:
            continue
        if len(text) > _LONGEST_ADDED:
            token.fail("content", f"it is longer than {_LONGEST_ADDED:,} characters")
        known = vocab.get(text)
        number = token.number("id", largest=LARGEST_ID) if known is None else known
        if known is None and number in name_of:
            token.fail("id", f"{number} is the id of {quoted(name_of[number])}")
        if seen.setdefault(number, text) != text:
            token.fail("id", f"{number} is the id of another added token")
        single_word, lstrip, rstrip = (token.flag(key, False) for key in ("single_word", "lstrip", "rstrip"))
        normalized = token.flag("normalized", not special)
        yield AddedToken(text, number, special, single_word, lstrip, rstrip, normalized)


def _found_at_once(added: Sequence[AddedToken]) -> bool:
    """Whether searching for special tokens first and for the others afterwards finds what one search finds.

    True if all are plain, those of a kind agree in `normalized`, and no special and ordinary one can overlap.
    """
    special, ordinary = ([token for token in added if token.special is kind] for kind in (True, False))
    if any(token.single_word or token.lstrip or token.rstrip for token in added):
        return False
    agree = all(len({token.normalized for token in kind}) <= 1 for kind in (special, ordinary))
    return agree and not _overlap(special, ordinary) and not _overlap(ordinary, special)


def _overlap(tokens: Sequence[AddedToken], others: Sequence[AddedToken]) -> bool:
    """Whether the text of one of `tokens` occurs in one of `others` or begins with an end of it; in O(n log n)."""
    in_order = sorted(token.text for token in tokens)
    search = TextSearch(in_order)
    for other in others:
        if next(search.spans(other.text), None):
            return True
        for end in (other.text[start:] for start in range(len(other.text))):
            place = bisect_left(in_order, end)
            if place < len(in_order) and in_order[place].startswith(end):
                return True
    return False
