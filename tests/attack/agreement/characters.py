"""Characters that two libraries know differently, found by asking both about every one there is.

A split pattern sees characters through its sets alone: letters, numbers, white space. Two engines that agree on each of
its sets split alike; where they carry different versions of Unicode, the code points on which a set differs are all
that can make a difference. The same is asked of normalizers, which are tables, too.
"""

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Final

import regex

Ask = Callable[[str], frozenset[str]]
"""The characters of a set, given its source; of all characters but surrogates."""

EVERY: Final = array("I", range(0x110000)).tobytes().decode("utf-32", "ignore")
"""All characters that a text can hold: 1,112,064."""

_SETS: Final = regex.compile(
    r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\\[pP]\{\^?\w+\}|\\[sSwWdD]"
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Where two libraries differ on one set of characters, or on what one function does to characters."""

    what: str
    """The set as the pattern writes it, or the function's name."""
    ours: frozenset[str]
    """Only in the set as it is here; what the function treats differently counts as ours."""
    theirs: frozenset[str] = frozenset()
    """Only in the set as it is there."""

    @property
    def characters(self) -> frozenset[str]:
        """All of them."""
        return self.ours | self.theirs


def sets_of(pattern: str) -> Iterator[str]:
    """The sources of all character sets of a pattern, the letters of contractions in any case among them."""
    yield from dict.fromkeys(_SETS.findall(pattern))
    if "(?i:" in pattern:
        letters = set(_SETS.sub("", pattern).replace("(?i:", "")) & set(ascii_lowercase)
        yield from (f"(?i:{letter})" for letter in sorted(letters))


def disagreements(
    pattern: str, theirs: Ask, translated: Callable[[str], str] = str
) -> list[Disagreement]:
    """The sets of `pattern` on which they differ; `translated` writes a set as it is written here."""
    found = (
        (source, in_regex(translated(source)), theirs(source))
        for source in sets_of(pattern)
    )
    return [
        Disagreement(source, here - there, there - here)
        for source, here, there in found
        if here != there
    ]


def changed_differently(
    what: str, ours: Callable[[str], str], theirs: Callable[[str], str]
) -> Disagreement:
    """The characters of which two functions do not make the same, alone or beside marks that may change places.

    Those are the ones of the lowest and the highest class; no mark joins the letter q, which would hide the order.
    """
    texts = (
        (character, f"{character} q{character}\u0334 q\u0345{character}")
        for character in EVERY
    )
    return Disagreement(
        what,
        frozenset(character for character, text in texts if ours(text) != theirs(text)),
    )


@lru_cache(maxsize=64)
def in_regex(source: str) -> frozenset[str]:
    """The characters of a set as `regex` knows it."""
    return frozenset(regex.findall(source, EVERY))


@lru_cache(maxsize=64)
def in_tiktoken(source: str) -> frozenset[str]:
    """The same as tiktoken's engine knows it: what a pattern does not match, tiktoken drops."""
    import tiktoken

    bytes_alone = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "probe",
        pat_str=f"(?:{source})+",
        mergeable_ranks=bytes_alone,
        special_tokens={},
    )
    return frozenset(encoding.decode(encoding.encode_ordinary(EVERY)))


@lru_cache(maxsize=64)
def in_oniguruma(source: str) -> frozenset[str]:
    """The same as the engine of Hugging Face's tokenizers knows it."""
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(f"(?:{source})+"), "removed", invert=True)
    return frozenset(
        character for part, _ in split.pre_tokenize_str(EVERY) for character in part
    )


def without(text: str, characters: frozenset[str]) -> str:
    """The text with these characters taken out."""
    return "".join(character for character in text if character not in characters)
