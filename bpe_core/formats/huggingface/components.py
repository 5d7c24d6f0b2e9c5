"""Normalizers, pre-tokenizers and decoders of tokenizer.json, and the regular expressions in them.

These expressions are in Oniguruma's syntax, and are translated to that of `regex`.
"""

import re
from collections.abc import Iterator
from typing import Final

import regex

from bpe_core.errors import PatternError
from bpe_core.formats.fields import Fields
from bpe_core.patterns import splitter
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Split, without_comments
from bpe_core.tokenizer.normalizers import (
    Normalizer,
    lowercase,
    normal_form,
    one_after_another,
    prepended,
    replaced,
    replaced_matches,
    stripped,
    without_accents,
)
from bpe_core.tokenizer.preparation import METASPACE
from bpe_core.tokenizer.steps import PrefixStep, ReplaceStep, SplitStep, Step

NORMALIZERS: Final = "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace, Sequence"
"""The supported types of normalizers, as a part of a sentence."""


def normalizer(fields: Fields) -> Normalizer | None:
    """The normalizer described by an object; None for an empty Sequence. Raises `FormatError`, `PatternError`."""
    kind = fields.text("type")
    match kind:
        case "NFC" | "NFD" | "NFKC" | "NFKD":
            return normal_form(kind)
        case "Lowercase":
            return lowercase
        case "StripAccents":
            return without_accents
        case "Strip":
            return stripped(fields.flag("strip_left", True), fields.flag("strip_right", True))
        case "Prepend":
            return prepended(fields.text("prepend"))
        case "Replace":
            return _replacement(fields)
        case "Sequence":
            inside = [found for part in fields.objects("normalizers") if (found := normalizer(part))]
            return one_after_another(inside) if inside else None
    fields.unsupported(f"the normalizer {kind}", NORMALIZERS)


def _replacement(fields: Fields) -> Normalizer:
    pattern, content = fields.fields("pattern"), fields.text("content")
    if "String" in pattern:
        return replaced(pattern.text("String"), content)
    return replaced_matches(Expression(pattern_of(pattern), "pattern of a normalizer"), content)


def writes_metaspace(fields: Fields) -> bool:
    """Whether this normalizer, or one in its Sequence, replaces every space by U+2581."""
    if fields.text("type") == "Sequence":
        return any(map(writes_metaspace, fields.objects("normalizers")))
    return fields.text("type") == "Replace" and _is_replaced(fields, " ", METASPACE)


def removes_metaspace(fields: Fields) -> bool:
    """Whether this decoder, or one in its Sequence, replaces every U+2581 by a space."""
    if fields.text("type") == "Sequence":
        return any(map(removes_metaspace, fields.objects("decoders")))
    return fields.text("type") == "Metaspace" or (
        fields.text("type") == "Replace" and _is_replaced(fields, METASPACE, " ")
    )


def _is_replaced(fields: Fields, old: str, new: str) -> bool:
    pattern = fields.fields("pattern")
    return "String" in pattern and (pattern.text("String"), fields.text("content")) == (old, new)


def drops_space(fields: Fields) -> bool:
    """Whether this decoder, or one in its Sequence, drops a space at the beginning of the text."""
    match fields.text("type"):
        case "Sequence":
            return any(map(drops_space, fields.objects("decoders")))
        case "Strip":
            return fields.text("content") == " " and fields.number("start") > 0
        case "Metaspace":
            return prepends(fields) != "never"
    return False


def joins_bytes(fields: Fields) -> bool:
    """Whether this decoder, or one in its Sequence, joins byte-fallback tokens to characters (ByteFallback)."""
    if fields.text("type") == "Sequence":
        return any(map(joins_bytes, fields.objects("decoders")))
    return fields.text("type") == "ByteFallback"


def prepends(fields: Fields) -> str:
    """The prepend scheme of a Metaspace object, "always", "first" or "never"; older files have a flag instead."""
    if "prepend_scheme" in fields:
        scheme = fields.text("prepend_scheme")
        if scheme not in ("always", "first", "never"):
            fields.fail("prepend_scheme", "always, first or never was expected")
        return scheme
    return "always" if fields.flag("add_prefix_space", True) else "never"


_IN_WORD: Final = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_IN_WORD_ALONE: Final = rf"{_IN_WORD}\xb2\xb3\xb9\xbc-\xbe"
"""Word characters outside a set: there Oniguruma includes six numbers of Latin-1 that it excludes inside a set."""
_EDGE: Final = rf"(?:(?<=[{_IN_WORD_ALONE}])(?![{_IN_WORD_ALONE}])|(?<![{_IN_WORD_ALONE}])(?=[{_IN_WORD_ALONE}]))"
_OTHERWISE: Final = {
    r"\w": f"[{_IN_WORD_ALONE}]",
    r"\W": f"[^{_IN_WORD_ALONE}]",
    r"\b": _EDGE,
    r"\h": "[0-9A-Fa-f]",
    "^": "(?m:^)",
    "$": "(?m:$)",
}
"""Constructs that Oniguruma and `regex` understand differently -> an equivalent of Oniguruma's meaning for `regex`."""

_IN_SET: Final = {r"\w": _IN_WORD, r"\h": "0-9A-Fa-f"}
_PIECES: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[\^$]|\(\?[a-zA-Z-]+[:)]", re.DOTALL)
_FLAGS: Final = re.compile(r"\(\?-?i?-?[:)]")


def pattern_of(fields: Fields) -> str:
    """The expression for `regex` of an object {"String": ...} or {"Regex": ...}. Raises `FormatError`."""
    if "String" in fields:
        return str(regex.escape(fields.text("String"), special_only=True))
    source = fields.text("Regex")
    if not Split.of_expression(source).name:
        source = _PIECES.sub(lambda found: _translated(found[0], fields), without_comments(source))
    try:
        Expression(source, "pattern")
    except PatternError as error:
        fields.fail("Regex", f"the pattern is not one that can be used here ({str(error).rstrip('.')})")
    return source


def _translated(part: str, fields: Fields) -> str:
    if part.startswith("(?") and not _FLAGS.fullmatch(part):
        fields.unsupported(f"the flag {part} of a pattern", "the flag i")
    if not part.startswith("["):
        return _OTHERWISE.get(part, part)
    if re.search(r"(?<!\\)(?:\\\\)*\\[WBH]", part):
        fields.unsupported(f"the set {part} of a pattern", r"sets without \W")
    return re.sub(r"\\.", lambda found: _IN_SET.get(found[0], found[0]), part, flags=re.DOTALL)


PRE_TOKENIZERS: Final = (
    "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, BertPreTokenizer, "
    "Metaspace, Sequence"
)
"""The supported types of pre-tokenizers, as a part of a sentence."""

_PUNCTUATION: Final = r"[\p{P}$+<=>^`|~]"
_WORD: Final = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]"
_NOT_WORD: Final = r"[^\s\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]"


class ToBytes:
    """The step of ByteLevel after which pieces are written in the byte alphabet."""


def pre_tokenizer_steps(fields: Fields) -> Iterator[Step | ToBytes]:
    """The steps of a pre-tokenizer, in order. Raises `FormatError`."""
    kind = fields.text("type")
    match kind:
        case "Sequence":
            for inside in fields.objects("pretokenizers"):
                yield from pre_tokenizer_steps(inside)
        case "ByteLevel":
            if fields.flag("add_prefix_space", True):
                yield PrefixStep(" ")
            fields.flag("trim_offsets", True)  # it is no matter here, but must be one there
            if fields.flag("use_regex", True):
                yield SplitStep(splitter("gpt2"))
            yield ToBytes()
        case "Split":
            behavior, invert = fields.any("behavior"), fields.flag("invert", False)
            yield _split(fields, pattern_of(fields.fields("pattern")), behavior, invert)
        case "Digits":
            yield _by(Split(r"\p{N}" if fields.flag("individual_digits", False) else r"\p{N}+"))
        case "Punctuation":
            yield _split(fields, _PUNCTUATION, fields.any("behavior") if "behavior" in fields else "Isolated", False)
        case "Whitespace":
            yield _by(Split(f"{_WORD}+|{_NOT_WORD}+", drops_rest=True))
        case "WhitespaceSplit":
            yield SplitStep(splitter("words"))
        case "BertPreTokenizer":
            yield SplitStep(splitter("words"))
            yield _by(Split(_PUNCTUATION))
        case "CharDelimiterSplit":
            yield _split(fields, pattern_of(fields.renamed("delimiter", "String")), "Removed", False)
        case "Metaspace":
            yield from _metaspace(fields)
        case _:
            fields.unsupported(f"the pre-tokenizer {kind}", PRE_TOKENIZERS)


def _by(split: Split) -> SplitStep:
    return SplitStep(splitter(str(split)))


def _split(fields: Fields, expression: str, behavior: object, invert: bool) -> SplitStep:
    """The step of a Split; behaviors other than Isolated and Removed are expressed by another regular expression."""
    match behavior:
        case "Isolated":
            return _by(Split.of_expression(expression))
        case "Removed" if invert:
            return _by(Split(expression, drops_rest=True))
        case "Removed":
            between = rf"(?:{expression})(*SKIP)(*FAIL)|(?:(?!{expression})(?s:.))+"
            return _by(Split(between, drops_rest=True))
        case "Contiguous" if not invert:
            return _by(Split(f"(?>{expression})+"))
        case "MergedWithPrevious" if not invert:
            return _by(Split(f"(?s:.*?)(?>{expression})"))
        case "MergedWithNext" if not invert:
            return _by(Split(f"(?>{expression})(?s:(?!{expression}).)*"))
    fields.unsupported(
        f"the Split behavior {behavior!r}{' with invert' if invert else ''}", "Isolated, Removed and others"
    )


def _metaspace(fields: Fields) -> Iterator[Step]:
    character = fields.text("replacement")
    if character != METASPACE:
        fields.unsupported(f"the Metaspace character {character!r}", METASPACE)
    yield ReplaceStep(" ", character)
    scheme = prepends(fields)
    if scheme != "never":
        yield PrefixStep(character, only_first=scheme == "first")
    if fields.flag("split", True):
        yield _by(Split(f"{character}[^{character}]*"))
