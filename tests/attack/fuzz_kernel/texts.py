"""Short texts of few characters or bits each, such as patterns and vocabularies may treat in ways of their own."""

import random
from collections.abc import Iterator
from typing import Final

import regex

from tests.attack.fuzz_splice import ALPHABETS

KINDS: Final = (
    *("aestvrdmlx", "ASTLZ", "ſßéжﬁ𐐨", "ÉЖΩ𐐀", "ǅᾈ", "ʰـ々", "中あªאก𠀀", "\u0301\u093e\u20dd\u180b\U0001d165"),
    *("0123", "²½١Ⅳ𝟙", " ", "  ", "\t\x0b\x0c\x1c\x1f", "\x85\xa0\u2028\u3000", "\n", "\r"),
    *("'", "'", "’", "/", ".,!?-_()", "=\x00\x7f", "😊€\u200b\u200d\ufeff\ufffd\ue000\U000f0000", "K"),
)
"""Characters that a pattern may treat in ways of their own, those of a kind together."""

_BITS: Final = [[bit for bit in bits if not regex.search(r"\p{Cs}", bit)] for bits in ALPHABETS]
"""Bits of texts without surrogates, which are no UTF-8."""

KNOWN: Final = frozenset("".join(KINDS)).union(*(bit for bits in _BITS for bit in bits))
"""The characters of all texts but for a few in one out of ten of them; of all these everybody thinks alike."""


def texts(rng: random.Random) -> Iterator[str]:
    """Texts without end: most of up to twenty bits, now and then one that is longer than any window of a merge loop."""
    while True:
        few = [rng.choice(kind) for kind in rng.choices(KINDS, k=rng.choice((2, 4, 8)))]
        if rng.random() < 0.2:
            few.append(chr(rng.choice((rng.randrange(0x80, 0xD800), rng.randrange(0xE000, 0x110000)))))
        for bits in (few, few, rng.choice(_BITS)):
            for _ in range(10):
                yield "".join(rng.choices(bits, k=rng.choice((1, 2, 3, 5, 8, 20))))
        if rng.random() < 0.1:
            yield "".join(rng.choices(few, k=rng.choice((100, 300))))
            yield "".join(rng.choices(few, k=rng.choice((1, 2, 5)))) * rng.choice((20, 70))
