"""Tokens whose text has an odd shape: much longer than others of their script, or with letters of two scripts."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject

ENOUGH: Final = 200
"""Tokens of one script from which on their lengths are compared."""
USUAL: Final = 0.99
"""The share of a script's tokens that is no longer than its usual length."""
FACTOR: Final = 1.5
"""A token is long from so many times the usual length of its script on."""
_TOGETHER: Final = {"HIRAGANA": "KANA", "KATAKANA": "KANA", "KATAKANA-HIRAGANA": "KANA", "IDEOGRAPHIC": "CJK"}
"""Scripts that count as one."""
_JAPANESE: Final = {"kana", "cjk"}
"""Scripts that are written together as a rule."""
_NO_SCRIPTS: Final = frozenset({"FULLWIDTH", "HALFWIDTH", "MODIFIER", "FEMININE", "MASCULINE", "MICRO", "MATHEMATICAL"})
"""First words of names of letters that are no script."""


def shape(subject: Subject) -> Iterator[Finding]:
    """Tokens of one script with 1.5 times its usual number of letters or more, and tokens with letters of two scripts.

    The usual number is what 99 % of the tokens of that script do not exceed; scripts with fewer than 200 tokens are not
    compared. Runs of one letter are not long. Evidence: "shape" ("long" or "mixed-scripts"), "scripts", and for
    a long one "letters", "usual", "strength" (0 at the usual number, 0.5 at twice as many, near 1 beyond).
    """
    of_script: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for token, token_bytes in subject.tokens("shapes"):
        letters = [character for character in _text(token_bytes) if character.isalpha()]
        scripts = Counter(name for character in letters if (name := script(character)))
        if len(scripts) > 1 and scripts.keys() != _JAPANESE:
            names = sorted(scripts)
            reason = f"It has letters of {len(names)} scripts: {', '.join(names)}."
            yield subject.finding(
                token, "shape", Severity.NOTE, reason, shape="mixed-scripts", scripts=names, strength=0.3
            )
        elif scripts and len(set(letters)) > 1:
            of_script["kana" if "kana" in scripts else next(iter(scripts))].append((len(letters), token))
    for name, found in sorted(of_script.items()):
        if len(found) < ENOUGH:
            continue
        found.sort()
        usual = found[int(USUAL * (len(found) - 1))][0]
        for n, token in reversed(found):
            if n < FACTOR * usual:
                break
            reason = f"It has {n} letters ({name}), and of a hundred tokens of this script 99 have {usual} or fewer."
            strength = round((n - usual) / n, 4)
            yield subject.finding(
                token,
                "shape",
                Severity.NOTE,
                reason,
                shape="long",
                scripts=[name],
                letters=n,
                usual=usual,
                strength=strength,
            )


@lru_cache(maxsize=1 << 14)
def script(letter: str) -> str:
    """The script of a letter, by the first word of its name in Unicode; "" if that is none.

    >>> script("é"), script("я"), script("の"), script("漢")
    ('latin', 'cyrillic', 'kana', 'cjk')
    """
    first = unicodedata.name(letter, "").partition(" ")[0]
    return "" if first in _NO_SCRIPTS else _TOGETHER.get(first, first).lower()


def _text(token_bytes: bytes) -> str:
    return token_bytes.decode(errors="ignore")
