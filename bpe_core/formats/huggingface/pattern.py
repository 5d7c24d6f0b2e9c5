"""Translating regular expressions of tokenizer.json, which are in Oniguruma's syntax, to that of `regex`."""

import re
from typing import Final

import regex

from bpe_core.errors import PatternError
from bpe_core.formats.fields import Fields
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Split, without_comments

_WORD: Final = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_WORD_ALONE: Final = rf"{_WORD}\xb2\xb3\xb9\xbc-\xbe"
"""Word characters outside a set: there Oniguruma includes six numbers of Latin-1 that it excludes inside a set."""
_EDGE: Final = rf"(?:(?<=[{_WORD_ALONE}])(?![{_WORD_ALONE}])|(?<![{_WORD_ALONE}])(?=[{_WORD_ALONE}]))"
_OTHERWISE: Final = {
    r"\w": f"[{_WORD_ALONE}]",
    r"\W": f"[^{_WORD_ALONE}]",
    r"\b": _EDGE,
    r"\h": "[0-9A-Fa-f]",
    "^": "(?m:^)",
    "$": "(?m:$)",
}
"""Constructs that Oniguruma and `regex` understand differently -> an equivalent of Oniguruma's meaning for `regex`."""

_IN_SET: Final = {r"\w": _WORD, r"\h": "0-9A-Fa-f"}
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
