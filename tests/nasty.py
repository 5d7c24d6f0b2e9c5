"""Nasty texts: what tokenizers disagree about, if at all; the same from a seed in every run of one Python."""

import random
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

import regex

LATIN: Final = (
    *(
        "a",
        "b",
        "x",
        "e",
        "the ",
        "Hello",
        " world",
        "DON",
        "isn",
        "science",
        "naïve",
        "Größe",
        "ĲSSEL",
        "ﬁn",
        "İ",
    ),
    *("ı", "ẞ", "ǅungla", "Ngữ", "ʻokina", "Å", "A\u030a", "e\u0301", "a" * 40),
)
CONTRACTIONS: Final = (
    "'s",
    "'LL",
    "’re",
    "'ſ",
    "'K",
    "ʼd",
    "＇ve",
    "n't",
    "''t",
    "'St",
    "'",
)
SPACES: Final = (
    *(
        " ",
        "  ",
        "    ",
        " " * 9,
        "\n",
        "\r\n",
        "\n\r",
        "\r",
        "\n\n",
        " \n ",
        " \r\n\t",
        "\t",
        "\t\t",
        "\x0b",
        "\x0c",
    ),
    *map(
        chr,
        (
            *range(0x1C, 0x20),
            0x85,
            0xA0,
            0x1680,
            0x180E,
            *range(0x2000, 0x2010),
            0x2028,
            0x2029,
            0x202F,
        ),
    ),
    *("\u205f", "\u2060", "\u3000", "\ufeff"),
)
DIGITS: Final = (
    *"0123456789",
    "12345678901234567890",
    "3.14",
    "0xff",
    "²½⅓",
    "Ⅳ①⑳",
    "١٢٣",
    "१२३",
    "１２",
    "𝟙𝟚",
)
SIGNS: Final = (
    *(
        ".",
        "/",
        "//",
        "()",
        "{}",
        "---",
        "----",
        "!?",
        "!!!!",
        "=" * 9,
        "\x00",
        "\x7f",
        "\x1b[0m",
        "});\n",
        "=>",
        "#",
    ),
    *(
        "def f(x):\n    return x",
        "/* */",
        "a/b/c",
        "//\r\n/",
        "/\n/",
        " /",
        "3.14e-10",
        "__init__",
        "$HOME",
        "\\n",
        '"',
    ),
    *(
        "'''",
        "`",
        "camelCase",
        "HTTPServer",
        "a'b",
        "\t}",
        "https://example.org/?q=1&r=%20",
    ),
)
MARKS: Final = (
    "\u0301",
    "\u0308",
    "\u200d",
    "\ufe0f",
    "\u0e31",
    "\u094d",
    "\u200b",
    "\ufeff",
    "\u202e",
    "\u20dd",
)
SCRIPTS: Final = (
    *(
        "Ελληνικά",
        "ὈΔΥΣΣΕΎΣ",
        "ᾳ",
        "µm",
        "русский",
        "Ёлка",
        "Ѱ",
        "и\u0306",
        "العربية",
        "مُحَمَّد",
        "ﷺ",
        "\u200fعربي\u200e",
    ),
    *(
        "\u202eabc\u202c",
        "שָׁלוֹם",
        "אב״ג",
        "हिन्दी",
        "श्र\u200dी",
        "कि",
        "ॐ",
        "ภาษาไทย",
        "น้ำ",
        "๑๒๓",
        "你好世界",
        "漢字、仮名。",
    ),
    *(
        "〇",
        "𠮷野家",
        "，！",
        "日本語",
        "カタカナ",
        "ｶﾞｷﾞ",
        "々",
        "か\u3099",
        "㍿",
        "안녕",
        "\u1100\u1161\u11a8",
        "\u1160",
        "\uffa0",
    ),
    *(
        "தமிழ்",
        "ქართული",
        "ᲥᲐᲠ",
        "Հայերեն",
        "አማርኛ",
        "ខ្មែរ",
        "བོད་ཡིག",
        "ᠮᠣᠩᠭᠣᠯ",
        "ᏣᎳᎩ",
        "ꮳꮃ",
        "𐐀𐐨",
        "𞤀𞤢",
        "𐍈",
        "𝒜",
    ),
)
EMOJI: Final = (
    "😊",
    "👩‍👩‍👧‍👦",
    "🇩🇪",
    "🇩",
    "👍🏽",
    "❤️",
    "1️⃣",
    "🏳️‍🌈",
    "\u200d",
    "\ufe0f",
    "\U0001f3fd",
    "🫨",
    "©",
    "\U000e0067\U000e007f",
)
SPECIALS: Final = (
    *(
        "<|endoftext|>",
        "<|fim_prefix|>",
        "<|fim_middle|>",
        "<|fim_suffix|>",
        "<|endofprompt|>",
        "<|endof",
        "text|>",
    ),
    *(
        "<|endoftext|>" * 3,
        "<|ENDOFTEXT|>",
        "<|im_start|>",
        "<s>",
        "</s>",
        "<unk>",
        "[INST]",
        "[MASK]",
        "<0x0A>",
    ),
    *("▁", "▁▁a", "Ġ", "Ċ", "</w>", "@@ ", "##ing", "\ufffd", "\ufffe", "\uffff"),
)
WORDS: Final = (*LATIN, *DIGITS, *SIGNS, *MARKS, *SCRIPTS, *EMOJI, *SPECIALS)
HALVES: Final = ("\ud800", "\udfff", "\ud83d\ude0a")
_ALL: Final = (*WORDS, *CONTRACTIONS, *SPACES)

ALPHABETS: Final[Sequence[Sequence[str]]] = (
    _ALL, _ALL, _ALL, LATIN + SPACES + CONTRACTIONS, SPACES, DIGITS + SPACES, SCRIPTS + MARKS, EMOJI + MARKS,
    SPECIALS + LATIN, SIGNS + LATIN,
    tuple("0123456789"), ("a",), ("a", "b"), ("ab",), ("aab", "x"), (" ",), ("日",), ("😊",), ("=",), tuple("ACGT"),
)  # fmt: skip
"""What texts and edits are made of, bits of one kind together; the last ones make one giant piece of many patterns."""

ASCII: Final = (
    *(
        "'slLtTrReEvVdDmM",
        "x'ls  ",
        "a1  ",
        "!/\n\r a",
        "aB'S1",
        "abAB",
        "0123 ",
        "a \n",
        " \n\t\r\x0b\x0c",
        "\x1b\x1c\x1f !a\n",
    ),
    "abcdefghijABCDEFGHIJ 0123456789 .,;:!?'\"\n\t/\\-=()[]{}  ",
)
"""Characters of which a scanner sees 64 bytes at a time."""

KINDS: Final = (
    *(
        "aestvrdmlx",
        "ASTLZ",
        "ſßéжﬁ𐐨",
        "ÉЖΩ𐐀",
        "ǅᾈ",
        "ʰـ々",
        "中あªאก𠀀",
        "\u0301\u093e\u20dd\u180b\U0001d165",
    ),
    *(
        "0123",
        "²½١Ⅳ𝟙",
        " ",
        "  ",
        "\t\x0b\x0c\x1c\x1f",
        "\x85\xa0\u2028\u3000",
        "\n",
        "\r",
    ),
    *(
        "'",
        "'",
        "’",
        "/",
        ".,!?-_()",
        "=\x00\x7f",
        "😊€\u200b\u200d\ufeff\ufffd\ue000\U000f0000",
        "K",
    ),
)
"""Characters that a pattern may treat in ways of their own, those of a kind together."""

KNOWN: Final = frozenset("".join(KINDS)).union(
    *(bit for bits in ALPHABETS for bit in bits)
)
"""The characters of all `texts` but for a few in one out of ten of them."""


def texts(rng: random.Random) -> Iterator[str]:
    """Texts without end: most of up to twenty bits, now and then one that is longer than any window of a merge loop."""
    while True:
        few = [rng.choice(kind) for kind in rng.choices(KINDS, k=rng.choice((2, 4, 8)))]
        if rng.random() < 0.2:
            few.append(
                chr(
                    rng.choice(
                        (rng.randrange(0x80, 0xD800), rng.randrange(0xE000, 0x110000))
                    )
                )
            )
        for bits in (few, few, rng.choice(ALPHABETS)):
            for _ in range(10):
                yield "".join(rng.choices(bits, k=rng.choice((1, 2, 3, 5, 8, 20))))
        yield from (in_windows(rng, few) for _ in range(6))
        if rng.random() < 0.1:
            yield "".join(rng.choices(few, k=rng.choice((100, 300))))
            yield "".join(rng.choices(few, k=rng.choice((1, 2, 5)))) * rng.choice(
                (20, 70)
            )


def in_windows(rng: random.Random, few: Sequence[str]) -> str:
    """A text of `ASCII`, now and then with a bit of another kind in the midst of it."""
    parts = [
        "".join(rng.choices(rng.choice(ASCII), k=rng.choice((1, 5, 20, 64))))
        for _ in range(rng.randint(1, 8))
    ]
    return (rng.choice(few) if rng.random() < 0.2 else "").join(parts)


def strings(n: int, newest: Sequence[str] = "", seed: int = 0) -> Iterator[str]:
    """`n` strings of up to twenty bits each, none twice; one in thirty has a character out of `newest`, if any is."""
    rng = random.Random(seed)
    kinds = list(_KINDS_OF_BITS.values())
    seen: set[str] = set()
    while len(seen) < n:
        bits = [rng.choice(kinds)(rng) for _ in range(rng.choice((1, 2, 3, 5, 8, 20)))]
        if newest and rng.random() < 1 / 30:
            behind = rng.choice(
                ("", "", *CONTRACTIONS, "!\n", "\n", " (", "12", "/", "a", ".b")
            )
            bits.insert(rng.randrange(len(bits) + 1), rng.choice(newest) + behind)
        text = "".join(bits)
        if text not in seen:
            seen.add(text)
            yield text


def nasty_texts(n: int, seed: int = 0) -> list[str]:
    """`n` texts of up to some twenty bits each, without characters that one library knows and another not yet."""
    rng = random.Random(seed)
    some = (_word, _word, _spaces, _letters, _any(_ALL), _any(DIGITS), _known)
    return [
        "".join(rng.choice(some)(rng) for _ in range(rng.choice((1, 2, 3, 5, 8, 20))))
        for _ in range(n)
    ]


def newer_characters() -> str:
    """Letters, marks and numbers that `regex` knows and this Python does not know yet."""
    return "".join(regex.findall(r"[\p{L}\p{M}\p{N}]", _by_category()["Cn"]))


@cache
def _by_category() -> Mapping[str, str]:
    """Category -> its characters, as far as this Python knows them; the halves of surrogate pairs are left out."""
    found: dict[str, list[str]] = {}
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        found.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    return {category: "".join(characters) for category, characters in found.items()}


def _word(rng: random.Random) -> str:
    return rng.choice((LATIN, SCRIPTS)[rng.randrange(2)]) + rng.choice(
        ("", "", *CONTRACTIONS, " ", "  ")
    )


def _spaces(rng: random.Random) -> str:
    return "".join(
        rng.choice(SPACES) * rng.choice((1, 1, 1, 2, 5))
        for _ in range(rng.choice((1, 1, 2, 4)))
    )


def _letters(rng: random.Random) -> str:
    return "".join(
        rng.choices(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ",
            k=rng.randint(1, 30),
        )
    )


def _digits(rng: random.Random) -> str:
    return "".join(rng.choices(DIGITS, k=rng.choice((1, 2, 3, 4, 7, 30))))


def _marks(rng: random.Random) -> str:
    marks = "".join(_by_category()[category] for category in ("Mn", "Mc", "Me"))
    return rng.choice(("a", "O", " ", "1", "-", "", "の", "가")) + "".join(
        rng.choices(marks, k=rng.randint(1, 4))
    )


def _of_a_category(rng: random.Random) -> str:
    known = sorted(_by_category().keys() - {"Cn", "Co"})
    return "".join(rng.choices(_by_category()[rng.choice(known)], k=rng.randint(1, 3)))


def _known(rng: random.Random) -> str:
    """A character that this Python and `regex` know, or neither."""
    first, last = rng.choice(
        (
            (0x20, 0x7F),
            (0x80, 0x800),
            (0x800, 0xD800),
            (0xE000, 0x10000),
            (0x10000, 0x110000),
        )
    )
    while True:
        character = chr(rng.randrange(first, last))
        if unicodedata.category(character) != "Cn" or regex.match(r"\p{Cn}", character):
            return character


def _from_anywhere(rng: random.Random) -> str:
    """Any code points, every plane as likely as another; nothing known about most of them."""
    plane = rng.randrange(17) << 16
    codes = (plane | rng.randrange(0x10000) for _ in range(rng.randint(1, 3)))
    return "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)


def _one_again_and_again(rng: random.Random) -> str:
    """A run, now and then a long one."""
    bit = rng.choice((_letters, _spaces, _digits, _of_a_category, _from_anywhere))(rng)[
        :3
    ]
    return bit * rng.choice((2, 3, 10, 10, 10, 100, 400 if rng.random() < 0.1 else 4))


def _any(bits: Sequence[str]) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(bits)


_KINDS_OF_BITS: Final[Mapping[str, Callable[[random.Random], str]]] = {
    "words": _word,
    "white space": _spaces,
    "digits": _digits,
    "letters": _letters,
    "combining marks": _marks,
    "a category of Unicode": _of_a_category,
    "any plane": _from_anywhere,
    "runs": _one_again_and_again,
    "emoji and joiners": _any(EMOJI),
    "code": _any(SIGNS),
    "special tokens": _any(SPECIALS),
}
"""What strings are made of."""
