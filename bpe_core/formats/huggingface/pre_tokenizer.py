"""The "pre_tokenizer" of tokenizer.json as a sequence of steps."""

from collections.abc import Iterator
from typing import Final

from bpe_core.formats.fields import Fields
from bpe_core.formats.huggingface.normalizer import prepends
from bpe_core.formats.huggingface.pattern import pattern_of
from bpe_core.patterns import splitter
from bpe_core.patterns.pattern import Split
from bpe_core.tokenizer.preparation import METASPACE
from bpe_core.tokenizer.steps import PrefixStep, ReplaceStep, SplitStep, Step

KINDS: Final = (
    "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, BertPreTokenizer, "
    "Metaspace, Sequence"
)
"""The supported types of pre-tokenizers, as a part of a sentence."""

_PUNCTUATION: Final = r"[\p{P}$+<=>^`|~]"
_WORD: Final = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]"
_NOT_WORD: Final = r"[^\s\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]"


class ToBytes:
    """The step of ByteLevel after which pieces are written in the byte alphabet."""


def steps(fields: Fields) -> Iterator[Step | ToBytes]:
    """The steps of a pre-tokenizer, in order. Raises `FormatError`."""
    kind = fields.text("type")
    match kind:
        case "Sequence":
            for inside in fields.objects("pretokenizers"):
                yield from steps(inside)
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
            fields.unsupported(f"the pre-tokenizer {kind}", KINDS)


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
