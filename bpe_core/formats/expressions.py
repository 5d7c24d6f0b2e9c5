"""Read and write the regular expressions of other libraries.

Hugging Face's tokenizers use Oniguruma; tiktoken and minbpe use the `regex` module, as bpescope
does. Oniguruma understands some constructs differently.
"""

import re
from itertools import chain
from typing import Final

import regex

from bpe_core.errors import PatternError
from bpe_core.formats.file import refuse
from bpe_core.formats.json_fields import Fields
from bpe_core.patterns import PATTERNS, splitter
from bpe_core.patterns.automaton import automaton_of
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Split, without_comments
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_CONTRACTION: Final = "'(?i:[sdmt]|ll|ve|re)"
SOURCES: Final = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "gpt4": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]|\s+(?!\S)|\s",
}
"""The name of a pattern that Oniguruma would understand differently -> an equivalent expression
that both libraries understand alike."""

_PUBLISHED: Final = {source: PATTERNS[name] for name, source in SOURCES.items()}
"""How a published pattern is written to a tokenizer.json -> the expression in `PATTERNS`."""

IN_WORD: Final = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
r"""The characters of Oniguruma's \w in a set."""
_IN_WORD_ALONE: Final = rf"{IN_WORD}\xb2\xb3\xb9\xbc-\xbe"
r"""The characters of Oniguruma's \w outside a set, which include six more numbers."""
_EQUIVALENTS: Final = {
    r"\w": f"[{_IN_WORD_ALONE}]",
    r"\W": f"[^{_IN_WORD_ALONE}]",
    r"\b": rf"(?:(?<=[{_IN_WORD_ALONE}])(?![{_IN_WORD_ALONE}])"
    rf"|(?<![{_IN_WORD_ALONE}])(?=[{_IN_WORD_ALONE}]))",
    r"\h": "[0-9A-Fa-f]",
    "^": "(?m:^)",
    "$": "(?m:$)",
}
"""A construct outside a set that the libraries understand differently -> an expression of `regex`
with Oniguruma's meaning."""
_EQUIVALENTS_IN_SET: Final = {r"\w": IN_WORD, r"\h": "0-9A-Fa-f"}
_PART: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[\^$]|\(\?[a-zA-Z-]+[:)]", re.DOTALL
)
"""An escape, a set, an anchor, or flags such as (?i:"""
_SUPPORTED_FLAGS: Final = re.compile(r"\(\?-?i?-?[:)]")
_NEGATION_IN_SET: Final = re.compile(r"(?<!\\)(?:\\\\)*\\[WBH]")
_SET_IN_SET: Final = re.compile(
    r"\[(?:\\.|\[:\w+:\]|[^\\\[&]|&(?!&))*+(?:\[|&&)", re.DOTALL
)
"""The beginning of a set that has another set in it, or an intersection. To `regex` both are plain characters."""
_REPEATED_AGAIN: Final = re.compile(
    r"(\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[^\\(){}\[\]|*+?])"
    r"(\{\d*,?\d*\})(?=\+)",
    re.DOTALL,
)
"""A character or set, and how often it occurs, before a plus sign. To Oniguruma the plus sign repeats both, and to `regex`
it makes the repetition possessive."""
_GROUP_REPEATED_AGAIN: Final = re.compile(r"\)\{\d*,?\d*\}\+")

_DISAGREEMENT: Final = re.compile(
    r"\{\d*,?\d*\}\+|(?<![\[\\])\^|(?<!\\)\$|\\[wWbBzZAGKRXhH]"
    r"|\(\?(?![:=!>]|i:|<[=!])|\(\*|\[\[|&&|--|~~|\|\|"
)
"""A construct that Oniguruma and `regex` understand differently, or perhaps do."""


def pattern_of(fields: Fields) -> str:
    """Return the expression of `regex` for a pattern in a tokenizer.json.

    Args:
        fields: {"String": a text} or {"Regex": an expression of Oniguruma}.

    Raises:
        FormatError: The expression is invalid or not supported.
    """
    if "String" in fields:
        return str(regex.escape(fields.text("String"), special_only=True))
    source = fields.text("Regex")
    if source in _PUBLISHED:
        return _PUBLISHED[source]

    if _GROUP_REPEATED_AGAIN.search(source):
        fields.unsupported(
            "a group that is repeated twice, as in (…){1,3}+", "(?:(…){1,3})+"
        )
    source = _REPEATED_AGAIN.sub(r"(?:\1\2)", source)

    def translate(part: re.Match[str]) -> str:
        return _translated(part[0], fields)

    if not Split.of_expression(source).name:
        source = _PART.sub(translate, without_comments(source))
    try:
        Expression(source, "pattern")
    except PatternError as error:
        fields.fail("Regex", f"the pattern is not supported ({str(error).rstrip('.')})")
    return source


def _translated(part: str, fields: Fields) -> str:
    """Translate an escape, a set, an anchor or flags. Raise an error of `fields` if it is unsupported."""
    if part.startswith("(?") and not _SUPPORTED_FLAGS.fullmatch(part):
        fields.unsupported(f"the flag {part} of a pattern", "the flag i")
    if not part.startswith("["):
        return _EQUIVALENTS.get(part, part)
    if _NEGATION_IN_SET.search(part):
        fields.unsupported(f"the set {part} of a pattern", r"sets without \W")
    if _SET_IN_SET.match(part):
        fields.unsupported(
            f"the set {part} of a pattern", "sets without other sets or && in them"
        )

    def translate(escape: re.Match[str]) -> str:
        return _EQUIVALENTS_IN_SET.get(escape[0], escape[0])

    return re.sub(r"\\.", translate, part, flags=re.DOTALL)


def check_read_alike(split: Split, target: str, *, in_regex: bool = False) -> None:
    """Check that another library splits by an expression as bpescope does.

    Args:
        split: The expression. Published patterns are read alike.
        target: The format that is written, as for `refuse`.
        in_regex: Whether the library is `regex`, not Oniguruma.

    Raises:
        FormatError: The library may understand it differently, or it may match the empty text.
    """
    if split.name or split == Split(""):
        return
    if not in_regex:
        found = _DISAGREEMENT.search(split.source)
        if found:
            refuse(
                target,
                f"its pattern has {visible(found[0])}, which other libraries read differently",
            )
    if _may_match_empty(split):
        refuse(
            target,
            "its pattern may match the empty text, after which libraries go on differently",
        )


def _may_match_empty(split: Split) -> bool:
    """Whether the expression may match the empty text; True if that is not known.

    If it has no automaton, it is tried on texts of up to two characters of each of its kinds.
    """
    automaton = automaton_of(split.source)
    if automaton:
        return automaton.matches_empty
    expression = Expression(split.source)
    kinds = splitter(str(split)).kinds
    pairs = (first + second for first in kinds for second in kinds)
    try:
        for text in chain([""], kinds, pairs):
            if any(start == end for start, end in expression.spans(text)):
                return True
    except PatternError:  # it takes too long
        return True
    return False


def matching_all(tokenizer: Tokenizer, target: str, *, in_regex: bool = False) -> str:
    """Return the expression of a tokenizer for a library that drops text it does not match.

    It matches all of a text, unless it is published or the tokenizer drops the same text.

    Args:
        tokenizer: A tokenizer with one split.
        target: The format that is written, as for `refuse`.
        in_regex: As for `check_read_alike`.

    Raises:
        FormatError: It splits by several patterns, or `check_read_alike` raises the error.
    """
    split = tokenizer.splitter.tree
    if not isinstance(split, Split):
        refuse(target, "its pattern is several, one after another")
    check_read_alike(split, target, in_regex=in_regex)
    if split.name or split.drops_rest or not split.source:
        return split.source
    return rf"{split.source}|(?:(?!{split.source})[\s\S])+"
