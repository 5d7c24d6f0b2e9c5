"""The pre-tokenizers of tokenizer.json: what makes pieces of a text."""

from dataclasses import dataclass
from typing import Final

from bpe_core.formats.fields import Fields
from bpe_core.formats.huggingface.normalizer import prepends
from bpe_core.formats.huggingface.pattern import pattern_of, short
from bpe_core.patterns import ONLY
from bpe_core.tokenizer.preparation import METASPACE

KINDS: Final = (
    "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, BertPreTokenizer, "
    "Metaspace, Sequence"
)
"""What is supported."""

_PUNCTUATION: Final = r"[\p{P}$+<=>^`|~]"
_WORD: Final = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]"
_NOT_WORD: Final = r"[^\s\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]"


@dataclass(frozen=True, slots=True)
class Split:
    """Pieces are split by a pattern."""

    pattern: str
    """A name of `PATTERNS`, or a regular expression."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A text is put before each piece that does not begin with it."""

    text: str
    """What is put there."""
    only_first: bool = False
    """Whether only a piece that begins the text gets it."""


@dataclass(frozen=True, slots=True)
class Replace:
    """A character takes the place of the space."""

    text: str
    """The character."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """From here on a piece is its bytes, written in the byte alphabet."""


Part = Split | Prefix | Replace | Bytes


def parts(fields: Fields) -> list[Part]:
    """What is done one after another. Raises `FormatError`."""
    kind = fields.text("type")
    match kind:
        case "Sequence":
            return [part for inside in fields.objects("pretokenizers") for part in parts(inside)]
        case "ByteLevel":
            prefix: list[Part] = [Prefix(" ")] if fields.flag("add_prefix_space", True) else []
            fields.flag("trim_offsets", True)  # it is no matter here, but must be one there
            split = [Split("gpt2")] if fields.flag("use_regex", True) else []
            return [*prefix, *split, Bytes()]
        case "Split":
            behavior = fields.any("behavior")
            return _split(fields, pattern_of(fields.fields("pattern")), behavior, fields.flag("invert", False))
        case "Digits":
            return [Split(r"\p{N}" if fields.flag("individual_digits", False) else r"\p{N}+")]
        case "Punctuation":
            return _split(fields, _PUNCTUATION, fields.any("behavior") if "behavior" in fields else "Isolated", False)
        case "Whitespace":
            return [Split(f"{ONLY}{_WORD}+|{_NOT_WORD}+")]
        case "WhitespaceSplit":
            return [Split("words")]
        case "BertPreTokenizer":
            return [Split("words"), Split(_PUNCTUATION)]
        case "CharDelimiterSplit":
            return _split(fields, pattern_of(fields.renamed("delimiter", "String")), "Removed", False)
        case "Metaspace":
            return _metaspace(fields)
    fields.unsupported(f"the pre-tokenizer {kind}", KINDS)


def _split(fields: Fields, pattern: str, behavior: object, invert: bool) -> list[Part]:
    """A pattern that does what a behavior of Split does, so that every one of them is just a pattern here."""
    match behavior:
        case "Isolated":
            return [Split(short(pattern))]
        case "Removed" if invert:
            return [Split(f"{ONLY}{pattern}")]
        case "Removed":
            return [Split(rf"{ONLY}(?:{pattern})(*SKIP)(*FAIL)|(?:(?!{pattern})(?s:.))+")]
        case "Contiguous" if not invert:
            return [Split(f"(?>{pattern})+")]
        case "MergedWithPrevious" if not invert:
            return [Split(f"(?s:.*?)(?>{pattern})")]
        case "MergedWithNext" if not invert:
            return [Split(f"(?>{pattern})(?s:(?!{pattern}).)*")]
    fields.unsupported(
        f"the Split behavior {behavior!r}{' with invert' if invert else ''}", "Isolated, Removed and others"
    )


def _metaspace(fields: Fields) -> list[Part]:
    character = fields.text("replacement")
    if character != METASPACE:
        fields.unsupported(f"the Metaspace character {character!r}", METASPACE)
    found: list[Part] = [Replace(character)]
    scheme = prepends(fields)
    if scheme != "never":
        found.append(Prefix(character, only_first=scheme == "first"))
    if fields.flag("split", True):
        found.append(Split(f"{character}[^{character}]*"))
    return found
