"""Regular expressions as tokenizer.json writes them, for Oniguruma, and as they are written here, for `regex`."""

import re
from typing import Final

import regex

from bpe_core.errors import PatternError
from bpe_core.formats.fields import Fields
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Split, without_comments

_WORD: Final = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_WORD_ALONE: Final = rf"{_WORD}\xb2\xb3\xb9\xbc-\xbe"
"""Outside of a set, Oniguruma counts six numbers of Latin-1 as letters of a word; inside it does not."""
_EDGE: Final = rf"(?:(?<=[{_WORD_ALONE}])(?![{_WORD_ALONE}])|(?<![{_WORD_ALONE}])(?=[{_WORD_ALONE}]))"
_OTHERWISE: Final = {
    r"\w": f"[{_WORD_ALONE}]",
    r"\W": f"[^{_WORD_ALONE}]",
    r"\b": _EDGE,
    r"\h": "[0-9A-Fa-f]",
    "^": "(?m:^)",
    "$": "(?m:$)",
}
"""What means something else in Oniguruma, or nearly the same but not quite, and how it is written for `regex`."""

_IN_SET: Final = {r"\w": _WORD, r"\h": "0-9A-Fa-f"}
_PIECES: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[\^$]|\(\?[a-zA-Z-]+[:)]", re.DOTALL)
_FLAGS: Final = re.compile(r"\(\?-?i?-?[:)]")


def pattern_of(fields: Fields) -> str:
    """The pattern of a field that is {"String": ...} or {"Regex": ...}, for `regex`. Raises `FormatError`."""
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
