"""The "normalizer" and the "decoder" of tokenizer.json."""

from typing import Final

from bpe_core.formats.fields import Fields
from bpe_core.formats.huggingface.pattern import pattern_of
from bpe_core.patterns.expression import Expression
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

KINDS: Final = "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace, Sequence"
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
    fields.unsupported(f"the normalizer {kind}", KINDS)


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
