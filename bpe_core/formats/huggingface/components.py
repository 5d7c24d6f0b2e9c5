"""Normalizers, pre-tokenizers and decoders of tokenizer.json, and the regular expressions in them, of Oniguruma's."""

import re
from collections.abc import Iterator
from typing import Final

import regex

from bpe_core.errors import PatternError
from bpe_core.formats.huggingface.writing import SOURCES
from bpe_core.formats.json_fields import Fields
from bpe_core.patterns import PATTERNS, splitter
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Split, without_comments
from bpe_core.tokenizer import normalizers
from bpe_core.tokenizer.preparation import (
    METASPACE,
    PrefixStep,
    ReplaceStep,
    SplitStep,
    Step,
)


def in_sequence(fields: Fields, key: str) -> Iterator[Fields]:
    """The components in a Sequence and in those inside it, which hold them at `key`; else the component itself."""
    if fields.text("type") == "Sequence":
        for part in fields.objects(key):
            yield from in_sequence(part, key)
    else:
        yield fields


def rules(fields: Fields) -> Iterator[normalizers.Rule]:
    """The rules of a normalizer that is no Sequence. Raises `FormatError`, `PatternError`."""
    match kind := fields.text("type"):
        case "NFC" | "NFD" | "NFKC" | "NFKD":
            yield normalizers.NormalForm(kind)
        case "Lowercase":
            yield normalizers.LOWERCASE
        case "StripAccents":
            yield normalizers.WITHOUT_ACCENTS
        case "Strip":
            left, right = (
                fields.flag("strip_left", True),
                fields.flag("strip_right", True),
            )
            yield from (normalizers.Stripped("start"),) * left + (
                normalizers.Stripped("end"),
            ) * right
        case "Prepend":
            yield normalizers.Prepended(fields.text("prepend"))
        case "Replace":
            pattern, content = fields.fields("pattern"), fields.text("content")
            if "String" in pattern:
                yield normalizers.Replaced(pattern.text("String"), content)
            else:
                yield normalizers.ReplacedMatches(pattern_of(pattern), content)
        case _:
            supported = "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace, Sequence"
            fields.unsupported(f"the normalizer {kind}", supported)


def replaces(fields: Fields, old: str, new: str) -> bool:
    """Whether this normalizer or decoder is a Replace of the text `old` by `new`."""
    if fields.text("type") != "Replace":
        return False
    pattern = fields.fields("pattern")
    return "String" in pattern and (pattern.text("String"), fields.text("content")) == (
        old,
        new,
    )


def drops_space(decoder: Fields) -> bool:
    if decoder.text("type") == "Strip":
        return decoder.text("content") == " " and decoder.number("start") > 0
    return decoder.text("type") == "Metaspace" and _prepends(decoder) != "never"


def _prepends(fields: Fields) -> str:
    """The prepend scheme of a Metaspace object, "always", "first" or "never"; older files have a flag instead."""
    if "prepend_scheme" not in fields:
        return "always" if fields.flag("add_prefix_space", True) else "never"
    scheme = fields.text("prepend_scheme")
    if scheme not in ("always", "first", "never"):
        fields.fail("prepend_scheme", "always, first or never was expected")
    return scheme


_IN_WORD: Final = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_IN_WORD_ALONE: Final = rf"{_IN_WORD}\xb2\xb3\xb9\xbc-\xbe"  # outside a set Oniguruma includes six numbers more
_OTHERWISE: Final = {
    r"\w": f"[{_IN_WORD_ALONE}]",
    r"\W": f"[^{_IN_WORD_ALONE}]",
    r"\b": rf"(?:(?<=[{_IN_WORD_ALONE}])(?![{_IN_WORD_ALONE}])|(?<![{_IN_WORD_ALONE}])(?=[{_IN_WORD_ALONE}]))",
    r"\h": "[0-9A-Fa-f]",
    "^": "(?m:^)",
    "$": "(?m:$)",
}
"""Constructs that Oniguruma and `regex` understand differently -> an equivalent of Oniguruma's meaning for `regex`."""

_PUBLISHED: Final = {source: PATTERNS[name] for name, source in SOURCES.items()}
"""How a published pattern is written to a tokenizer.json -> that pattern, which gives the same pieces."""

_IN_SET: Final = {r"\w": _IN_WORD, r"\h": "0-9A-Fa-f"}
_PIECES: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[\^$]|\(\?[a-zA-Z-]+[:)]", re.DOTALL
)
_FLAGS: Final = re.compile(r"\(\?-?i?-?[:)]")


def pattern_of(fields: Fields) -> str:
    """The expression for `regex` of an object {"String": ...} or {"Regex": ...}. Raises `FormatError`."""
    if "String" in fields:
        return str(regex.escape(fields.text("String"), special_only=True))
    source = fields.text("Regex")
    if source in _PUBLISHED:
        return _PUBLISHED[source]
    if not Split.of_expression(source).name:
        source = _PIECES.sub(
            lambda found: _translated(found[0], fields), without_comments(source)
        )
    try:
        Expression(source, "pattern")
    except PatternError as error:
        fields.fail(
            "Regex",
            f"the pattern is not one that can be used here ({str(error).rstrip('.')})",
        )
    return source


def _translated(part: str, fields: Fields) -> str:
    if part.startswith("(?") and not _FLAGS.fullmatch(part):
        fields.unsupported(f"the flag {part} of a pattern", "the flag i")
    if not part.startswith("["):
        return _OTHERWISE.get(part, part)
    if re.search(r"(?<!\\)(?:\\\\)*\\[WBH]", part):
        fields.unsupported(f"the set {part} of a pattern", r"sets without \W")
    return re.sub(
        r"\\.", lambda found: _IN_SET.get(found[0], found[0]), part, flags=re.DOTALL
    )


_PUNCTUATION: Final = r"[\p{P}$+<=>^`|~]"
_WORDS: Final = rf"[{_IN_WORD}\u200c\u200d]+|[^\s{_IN_WORD}\u200c\u200d]+"


def steps(fields: Fields) -> Iterator[Step | None]:
    """The steps of a pre-tokenizer that is no Sequence; after None, of ByteLevel, pieces are in the byte alphabet."""
    match kind := fields.text("type"):
        case "ByteLevel":
            if fields.flag("add_prefix_space", True):
                yield PrefixStep(" ")
            fields.flag(
                "trim_offsets", True
            )  # it has no effect here, but must be a flag
            if fields.flag("use_regex", True):
                yield SplitStep(splitter("gpt2"))
            yield None
        case "Split":
            behavior, invert = fields.any("behavior"), fields.flag("invert", False)
            yield _split(fields, pattern_of(fields.fields("pattern")), behavior, invert)
        case "Digits":
            yield _by(
                r"\p{N}" if fields.flag("individual_digits", False) else r"\p{N}+"
            )
        case "Punctuation":
            yield _split(fields, _PUNCTUATION, fields.any("behavior", "Isolated"))
        case "Whitespace":
            yield _by(_WORDS, drops_rest=True)
        case "WhitespaceSplit" | "BertPreTokenizer":
            yield SplitStep(splitter("words"))
            if kind == "BertPreTokenizer":
                yield _by(_PUNCTUATION)
        case "CharDelimiterSplit":
            yield _split(
                fields,
                str(regex.escape(fields.text("delimiter"), special_only=True)),
                "Removed",
            )
        case "Metaspace":
            if (character := fields.text("replacement")) != METASPACE:
                fields.unsupported(f"the Metaspace character {character!r}", METASPACE)
            yield ReplaceStep(" ", METASPACE)
            if (scheme := _prepends(fields)) != "never":
                yield PrefixStep(METASPACE, only_first=scheme == "first")
            if fields.flag("split", True):
                yield _by(f"{METASPACE}[^{METASPACE}]*")
        case _:
            supported = "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, "
            fields.unsupported(
                f"the pre-tokenizer {kind}",
                f"{supported}BertPreTokenizer, Metaspace, Sequence",
            )


def _by(expression: str, drops_rest: bool = False) -> SplitStep:
    return SplitStep(splitter(str(Split(expression, drops_rest=drops_rest))))


def _split(
    fields: Fields, expression: str, behavior: object, invert: bool = False
) -> SplitStep:
    """The step of a Split; behaviors other than Isolated and Removed are expressed by another regular expression."""
    match behavior:
        case "Isolated":
            return SplitStep(splitter(str(Split.of_expression(expression))))
        case "Removed" if invert:
            return _by(expression, drops_rest=True)
        case "Removed":
            return _by(
                rf"(?:{expression})(*SKIP)(*FAIL)|(?:(?!{expression})(?s:.))+",
                drops_rest=True,
            )
        case "Contiguous" if not invert:
            return _by(f"(?>{expression})+")
        case "MergedWithPrevious" if not invert:
            return _by(f"(?s:.*?)(?>{expression})")
        case "MergedWithNext" if not invert:
            return _by(f"(?>{expression})(?s:(?!{expression}).)*")
    what = f"the Split behavior {behavior!r}{' with invert' if invert else ''}"
    fields.unsupported(what, "Isolated, Removed and others")
