"""The pipeline of a tokenizer.json: its normalizers, pre-tokenizers and decoders."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import regex

from bpe_core.formats.expressions import IN_WORD, pattern_of
from bpe_core.formats.json_fields import Fields
from bpe_core.patterns import splitter
from bpe_core.patterns.pattern import Split
from bpe_core.tokenizer import normalizers
from bpe_core.tokenizer.preparation import (
    METASPACE,
    BytePieces,
    PrefixStep,
    Preparation,
    ReplaceStep,
    SplitStep,
    Step,
)

_PUNCTUATION: Final = r"[\p{P}$+<=>^`|~]"
_WORDS: Final = rf"[{IN_WORD}\u200c\u200d]+|[^\s{IN_WORD}\u200c\u200d]+"
_KEYS: Final = ("normalizer", "pre_tokenizer", "decoder")


class Pipeline(NamedTuple):
    """The pipeline of a tokenizer.json, without its added tokens."""

    preparation: Preparation
    is_bytewise: bool
    """Whether the pieces are in the byte alphabet at the end."""
    joins_bytes: bool
    """Whether the decoder joins byte-fallback tokens to characters."""


class _Steps(NamedTuple):
    """The steps of a pre-tokenizer."""

    on_text: list[Step]
    on_bytes: list[SplitStep] | None
    """The splits after ByteLevel; None without ByteLevel."""


def pipeline_of(fields: Fields, pattern: str | None) -> Pipeline:
    """Return the pipeline of a tokenizer.json.

    Args:
        fields: The whole file.
        pattern: A pattern that replaces all splits; None to use those of the file.

    Raises:
        FormatError: A component is invalid or not supported.
        PatternError: An expression is not valid.
    """
    normalizer_parts = _parts(fields, "normalizer", "normalizers")
    pre_tokenizer_parts = _parts(fields, "pre_tokenizer", "pretokenizers")
    decoder_parts = _parts(fields, "decoder", "decoders")
    steps, splits_of_bytes = _all_steps(fields, pre_tokenizer_parts)
    is_bytewise = splits_of_bytes is not None
    normalize = normalizers.Normalizer(
        rule for part in normalizer_parts for rule in rules(part)
    )
    _check_first_prefix(fields, steps, normalize)
    description = {key: fields.values.get(key) for key in _KEYS}
    if pattern is not None:
        steps = [step for step in steps if not isinstance(step, SplitStep)]
        del description["pre_tokenizer"]
        if steps:  # they can't be written with another pattern
            description = {}
        steps.append(SplitStep(splitter(pattern)))
        splits_of_bytes = None
    has_metaspace = _makes_metaspace(steps, normalizer_parts)
    if is_bytewise:  # U+2581 is three bytes then, which mean just that character
        has_metaspace = False
    if not has_metaspace and any(map(_makes_space, decoder_parts)):
        fields.unsupported(
            "a decoder that makes spaces of U+2581, without a step that makes U+2581 of spaces,",
            "both",
        )
    within = None
    if splits_of_bytes:
        within = BytePieces(tuple(step.splitter for step in splits_of_bytes))
    preparation = Preparation(
        added=(),
        normalize=normalize,
        steps=tuple(steps),
        has_metaspace=has_metaspace,
        drops_space=any(map(_drops_space, decoder_parts)),
        description=description,
        within=within,
    )
    return Pipeline(
        preparation,
        is_bytewise,
        joins_bytes=any(part.text("type") == "ByteFallback" for part in decoder_parts),
    )


def _parts(fields: Fields, key: str, key_of_parts: str) -> list[Fields]:
    """Return the components at `key`, one after the other."""
    return list(_in_sequence(fields.fields(key), key_of_parts)) if key in fields else []


def _in_sequence(component: Fields, key_of_parts: str) -> Iterator[Fields]:
    """Yield the components in a Sequence, also in one inside it, or the component itself."""
    if component.text("type") == "Sequence":
        for part in component.objects(key_of_parts):
            yield from _in_sequence(part, key_of_parts)
    else:
        yield component


def _all_steps(fields: Fields, pre_tokenizers: Iterable[Fields]) -> _Steps:
    on_text: list[Step] = []
    on_bytes: list[SplitStep] | None = None
    for pre_tokenizer in pre_tokenizers:
        for step in steps(pre_tokenizer):
            if step is None:
                on_bytes = on_bytes or []
            elif on_bytes is None:
                on_text.append(step)
            elif isinstance(step, SplitStep):
                on_bytes.append(step)
            else:
                fields.unsupported(
                    "a step after ByteLevel in the pre-tokenizer that is not a split",
                    "splits",
                )
    return _Steps(on_text, on_bytes)


def _check_first_prefix(
    fields: Fields, steps: Sequence[Step], normalize: normalizers.Normalizer
) -> None:
    # After Strip, the library inserts U+2581 only before a piece that begins where the text began
    # before Strip.
    has_first_prefix = PrefixStep(METASPACE, only_first=True) in steps
    if has_first_prefix and normalizers.Stripped("start") in normalize:
        fields.unsupported(
            "the prepend_scheme first after the normalizer Strip", "always and never"
        )


def _makes_metaspace(steps: Sequence[Step], normalizer_parts: Iterable[Fields]) -> bool:
    """Whether a step or a normalizer makes U+2581 of spaces."""
    if ReplaceStep(" ", METASPACE) in steps:
        return True
    return any(_replaces(part, " ", METASPACE) for part in normalizer_parts)


def rules(normalizer: Fields) -> Iterator[normalizers.Rule]:
    """Yield the rules of a normalizer that is not a Sequence.

    Raises:
        FormatError: The normalizer is invalid or not supported.
        PatternError: Its expression is not valid.
    """
    match kind := normalizer.text("type"):
        case "NFC" | "NFD" | "NFKC" | "NFKD":
            yield normalizers.NormalForm(kind)
        case "Lowercase":
            yield normalizers.LOWERCASE
        case "StripAccents":
            yield normalizers.WITHOUT_ACCENTS
        case "Strip":
            strips_left = normalizer.flag("strip_left", True)
            strips_right = normalizer.flag("strip_right", True)
            if strips_left:
                yield normalizers.Stripped("start")
            if strips_right:
                yield normalizers.Stripped("end")
        case "Prepend":
            yield normalizers.Prepended(normalizer.text("prepend"))
        case "Replace":
            pattern = normalizer.fields("pattern")
            content = normalizer.text("content")
            if "String" in pattern:
                yield normalizers.Replaced(pattern.text("String"), content)
            else:
                yield normalizers.ReplacedMatches(pattern_of(pattern), content)
        case _:
            normalizer.unsupported(
                f"the normalizer {kind}",
                "NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace, Sequence",
            )


def _replaces(component: Fields, old: str, new: str) -> bool:
    """Whether a normalizer or decoder is a Replace of the text `old` by `new`."""
    if component.text("type") != "Replace":
        return False
    pattern = component.fields("pattern")
    if "String" not in pattern:
        return False
    replaced = pattern.text("String")
    replacement = component.text("content")
    return replaced == old and replacement == new


def _makes_space(decoder: Fields) -> bool:
    """Whether a decoder makes spaces of U+2581."""
    return decoder.text("type") == "Metaspace" or _replaces(decoder, METASPACE, " ")


def _drops_space(decoder: Fields) -> bool:
    """Whether a decoder drops a space at the beginning of the text."""
    if decoder.text("type") == "Strip":
        n_at_start = decoder.number("start")
        n_at_end = decoder.number("stop")
        is_one_space = decoder.text("content") == " " and n_at_start <= 1
        if n_at_end or not is_one_space:
            decoder.unsupported(
                "a decoder that strips more than one space at the start", "one space"
            )
        return n_at_start == 1
    return decoder.text("type") == "Metaspace" and _prepend_scheme(decoder) != "never"


def _prepend_scheme(metaspace: Fields) -> str:
    """Return "always", "first" or "never". Older files have a flag instead."""
    if "prepend_scheme" not in metaspace:
        return "always" if metaspace.flag("add_prefix_space", True) else "never"
    scheme = metaspace.text("prepend_scheme")
    if scheme not in ("always", "first", "never"):
        metaspace.fail("prepend_scheme", "expected always, first or never")
    return scheme


def steps(pre_tokenizer: Fields) -> Iterator[Step | None]:
    """Yield the steps of a pre-tokenizer that is not a Sequence.

    None is the step of ByteLevel: after it, pieces are in the byte alphabet.

    Raises:
        FormatError: The pre-tokenizer is invalid or not supported.
        PatternError: Its expression is not valid.
    """
    match kind := pre_tokenizer.text("type"):
        case "ByteLevel":
            if pre_tokenizer.flag("add_prefix_space", True):
                yield PrefixStep(" ")
            # The flag has no effect here, but a file in which it is not a flag is broken.
            pre_tokenizer.flag("trim_offsets", True)
            if pre_tokenizer.flag("use_regex", True):
                yield SplitStep(splitter("gpt2"))
            yield None
        case "Split":
            behavior = pre_tokenizer.any("behavior")
            invert = pre_tokenizer.flag("invert", False)
            expression = pattern_of(pre_tokenizer.fields("pattern"))
            yield _split_as(pre_tokenizer, expression, behavior, invert)
        case "Digits":
            is_individual = pre_tokenizer.flag("individual_digits", False)
            yield _split_by(r"\p{N}" if is_individual else r"\p{N}+")
        case "Punctuation":
            behavior = pre_tokenizer.any("behavior", "Isolated")
            yield _split_as(pre_tokenizer, _PUNCTUATION, behavior)
        case "Whitespace":
            yield _split_by(_WORDS, drops_rest=True)
        case "WhitespaceSplit":
            yield SplitStep(splitter("words"))
        case "BertPreTokenizer":
            yield SplitStep(splitter("words"))
            yield _split_by(_PUNCTUATION)
        case "CharDelimiterSplit":
            delimiter = regex.escape(pre_tokenizer.text("delimiter"), special_only=True)
            yield _split_as(pre_tokenizer, str(delimiter), "Removed")
        case "Metaspace":
            yield from _metaspace_steps(pre_tokenizer)
        case _:
            pre_tokenizer.unsupported(
                f"the pre-tokenizer {kind}",
                "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, "
                "CharDelimiterSplit, BertPreTokenizer, Metaspace, Sequence",
            )


def _metaspace_steps(metaspace: Fields) -> Iterator[Step]:
    character = metaspace.text("replacement")
    if character != METASPACE:
        metaspace.unsupported(f"the Metaspace character {character!r}", METASPACE)
    yield ReplaceStep(" ", METASPACE)
    scheme = _prepend_scheme(metaspace)
    if scheme != "never":
        yield PrefixStep(METASPACE, only_first=scheme == "first")
    if metaspace.flag("split", True):
        yield _split_by(f"{METASPACE}[^{METASPACE}]*")


def _split_by(expression: str, drops_rest: bool = False) -> SplitStep:
    return SplitStep(splitter(str(Split(expression, drops_rest=drops_rest))))


def _split_as(
    pre_tokenizer: Fields, expression: str, behavior: object, invert: bool = False
) -> SplitStep:
    """Return the step of a Split with one of its behaviors.

    Behaviors other than Isolated, and Removed with `invert`, are expressed by another expression.
    """
    match behavior:
        case "Isolated":
            return SplitStep(splitter(str(Split.of_expression(expression))))
        case "Removed" if invert:
            return _split_by(expression, drops_rest=True)
        case "Removed":
            return _split_by(
                rf"(?:{expression})(*SKIP)(*FAIL)|(?:(?!{expression})(?s:.))+",
                drops_rest=True,
            )
        case "Contiguous" if not invert:
            return _split_by(f"(?>{expression})+")
        case "MergedWithPrevious" if not invert:
            return _split_by(f"(?s:.*?)(?>{expression})")
        case "MergedWithNext" if not invert:
            return _split_by(f"(?>{expression})(?s:(?!{expression}).)*")
    unsupported = f"the Split behavior {behavior!r}"
    if invert:
        unsupported += " with invert"
    pre_tokenizer.unsupported(unsupported, "Isolated, Removed and others")
