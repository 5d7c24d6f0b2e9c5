"""Nasty strings: short texts of what tokenizers disagree about, if at all; the same in every run of one Python."""

import random
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import regex

Kind = Callable[[random.Random], str]
"""Makes a bit of a string."""

SPACES: Final = (
    *map(chr, (*range(9, 14), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, 0x180E, *range(0x2000, 0x2010), 0x2028, 0x2029)),
    *("\u202f", "\u205f", "\u2060", "\u3000", "\ufeff", "\r\n", "\n\r", "\n\n", " \n ", " \r\n\t", "    ", "\t\t"),
)
ENDINGS: Final = ("s", "t", "re", "ve", "m", "ll", "d", "ſ", "K", "st", "n't")
"""Of contractions, and what looks like one."""
SPECIALS: Final = (
    *("<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|endofprompt|>", "<|endoftext|", "<|"),
    *("|>", "<|ENDOFTEXT|>", "<|endof text|>", "<|endoftext|>" * 3, "<|startoftext|>", "<|im_start|>", "<s>", "</s>"),
    *(
        "<unk>",
        "[INST]",
        "[MASK]",
        "<0x0A>",
        "▁",
        "▁▁a",
        "Ġ",
        "Ċ",
        "</w>",
        "@@ ",
        "##ing",
        "\ufffd",
        "\ufffe",
        "\uffff",
    ),
)
SCRIPTS: Final[Mapping[str, Sequence[str]]] = {
    "Latin": ("naïve", "Größe", "ĲSSEL", "ﬁn", "İstanbul", "ı", "ẞ", "ǅungla", "Ngữ", "œuvre", "ʻokina", "Å", "Å"),
    "Greek": ("Ελληνικά", "ὈΔΥΣΣΕΎΣ", "σοφός", "ᾳ", "µm"),
    "Cyrillic": ("русский", "Ёлка", "Ѱ", "Ҕ", "и\u0306"),
    "Arabic": ("العربية", "لا", "١٢٣", "مُحَمَّد", "ﷺ", "۴۵۶", "\u200fعربي\u200e", "\u202eabc\u202c"),
    "Hebrew": ("שלום", "שָׁלוֹם", "ﬡ", "אב״ג"),
    "Devanagari": ("हिन्दी", "क्षत्रिय", "१२३", "श्र\u200dी", "कि", "ॐ"),
    "Thai": ("ภาษาไทย", "น้ำ", "เก้าสิบ", "๑๒๓", "ๆ"),
    "Chinese": ("你好世界", "漢字、仮名。", "「中文」", "㊗", "〇", "𠮷野家", "中 文", "，！"),
    "Japanese": ("日本語の文章", "カタカナ", "ｶﾞｷﾞ", "々", "ー", "が", "か\u3099", "①②", "㍿"),
    "Korean": ("안녕하세요", "한국어", "각", "\u1100\u1161\u11a8", "ㄱㄴ", "\u1160", "\uffa0"),
    "others": ("தமிழ்", "ქართული", "ᲥᲐᲠᲗᲣᲚᲘ", "Հայերեն", "አማርኛ", "ខ្មែរ", "བོད་ཡིག", "ᠮᠣᠩᠭᠣᠯ", "ᏣᎳᎩ", "ꮳꮃꭹ", "𐐀𐐨", "𞤀𞤢"),
}
EMOJI: Final = (
    *("😊", "👩‍👩‍👧‍👦", "🇩🇪", "🇩", "👍🏽", "❤️", "1️⃣", "🏳️‍🌈", "\u200d", "\ufe0f", "\U0001f3fd"),
    *("🫨", "©", "™", "\U000e0067\U000e007f"),
)
CODE: Final = (
    *(
        "def f(x):\n    return x",
        "{}",
        "});\n",
        "//x",
        "----",
        "!!!!",
        "/* */",
        "#include <a.h>\r\n",
        "a/b/c",
        "//\r\n/",
    ),
    *(
        "=>",
        "0xff",
        "3.14e-10",
        "x_1",
        "__init__",
        "$HOME",
        "\\n",
        '"',
        "'''",
        "`",
        "camelCase",
        "HTTPServer",
        "ABCdef",
    ),
    *("a'b", "''s", "'", "/\n/", " /", "://", "\t}", "https://example.org/?q=1&r=%20"),
)
RANGES: Final = (
    *((0x20, 0x7F), (0x80, 0x250), (0x250, 0x800), (0x800, 0x2000), (0x2000, 0x3000), (0x3000, 0xD800)),
    *((0xE000, 0x10000), (0x10000, 0x20000), (0x20000, 0x38000), (0x38000, 0xE0000), (0xE0000, 0x110000)),
)
"""Of code points; every plane is in one of them."""

_BEHIND_NEW: Final = ("", "", "'s", "'LL", "!\n", "\n", " (", "12", "/", "a", ".b")
"""What makes one see whether a character is known as a letter, number or mark."""
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORDS: Final = ("the", "hello", "World", "DON", "isn", "I", "you", "we", "science", "morning", "lowest", "a" * 40)
_DIGITS: Final = ("0123456789", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９", "²³¹½⅓Ⅳⅻ①⑳", "𝟎𝟏𝟐𝟑")
_CATEGORIES: Final = (
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "Mn",
    "Mc",
    "Me",
    "Nd",
    "Nl",
    "No",
    "Pc",
    "Pd",
    "Sc",
    "Sk",
    "So",
    "Cf",
)


def strings(n: int, newest: Sequence[str] = "", seed: int = 0) -> Iterator[str]:
    """`n` strings of up to twenty bits each, none twice; one in thirty has a character out of `newest`, if any is."""
    rng = random.Random(seed)
    kinds = list(KINDS.values())
    seen: set[str] = set()
    while len(seen) < n:
        bits = [rng.choice(kinds)(rng) for _ in range(rng.choice((1, 2, 3, 5, 8, 20)))]
        if newest and rng.random() < 1 / 30:
            bits.insert(rng.randrange(len(bits) + 1), rng.choice(newest) + rng.choice(_BEHIND_NEW))
        text = "".join(bits)
        if text not in seen:
            seen.add(text)
            yield text


def _one_of(rng: random.Random, *choices: Sequence[str]) -> str:
    return rng.choice(rng.choice(choices))


def _word(rng: random.Random) -> str:
    return _one_of(rng, _WORDS, *SCRIPTS.values()) + rng.choice(("", "", " ", "  "))


def _contraction(rng: random.Random) -> str:
    ending = rng.choice(ENDINGS)
    ending = "".join(rng.choice((character.lower(), character.upper())) for character in ending)
    return _one_of(rng, _WORDS, *SCRIPTS.values()) + rng.choice("''’ʼ＇") + ending


def _spaces(rng: random.Random) -> str:
    return "".join(rng.choice(SPACES) * rng.choice((1, 1, 1, 2, 5)) for _ in range(rng.choice((1, 1, 2, 4))))


def _digits(rng: random.Random) -> str:
    return "".join(rng.choices(rng.choice(_DIGITS), k=rng.choice((1, 2, 3, 4, 7, 30))))


def _letters(rng: random.Random) -> str:
    return "".join(rng.choices(_LETTERS + " ", k=rng.randint(1, 30)))


def _marks(rng: random.Random) -> str:
    base = rng.choice(("a", "O", " ", "1", "-", "", "の", "가"))
    return base + "".join(
        rng.choices(_OF_CATEGORY["Mn"] + _OF_CATEGORY["Mc"] + _OF_CATEGORY["Me"], k=rng.randint(1, 4))
    )


def _controls(rng: random.Random) -> str:
    return "".join(chr(rng.choice((*range(0x20), *range(0x7F, 0xA0)))) for _ in range(rng.randint(1, 4)))


def _of_a_category(rng: random.Random) -> str:
    return "".join(rng.choices(_OF_CATEGORY[rng.choice(_CATEGORIES)], k=rng.randint(1, 3)))


def _from_anywhere(rng: random.Random) -> str:
    """Any code points, nothing known about most of them."""
    low, high = rng.choice(RANGES)
    return "".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(1, 3)))


def _one_again_and_again(rng: random.Random) -> str:
    """A run, now and then a long one."""
    bit = rng.choice((_letters, _spaces, _digits, _of_a_category, _from_anywhere, _emoji))(rng)[:3]
    return bit * rng.choice((2, 3, 10, 10, 10, 100, 400 if rng.random() < 0.1 else 4))


def _emoji(rng: random.Random) -> str:
    return "".join(rng.choices(EMOJI, k=rng.randint(1, 3)))


def _code(rng: random.Random) -> str:
    return rng.choice(CODE) + rng.choice(("", " ", "\n"))


def _special(rng: random.Random) -> str:
    return rng.choice(SPECIALS)


KINDS: Final[Mapping[str, Kind]] = {
    "words of eleven scripts": _word,
    "contractions": _contraction,
    "white space": _spaces,
    "digits": _digits,
    "letters": _letters,
    "combining marks": _marks,
    "controls": _controls,
    "a category of Unicode": _of_a_category,
    "any plane": _from_anywhere,
    "runs": _one_again_and_again,
    "emoji and joiners": _emoji,
    "code": _code,
    "special tokens": _special,
}
"""What strings are made of."""


def _by_category() -> dict[str, str]:
    found: dict[str, list[str]] = {category: [] for category in _CATEGORIES}
    for code in range(0x110000):
        known = found.get(unicodedata.category(chr(code)))
        if known is not None:
            known.append(chr(code))
    return {category: "".join(characters) for category, characters in found.items()}


_OF_CATEGORY: Final = _by_category()
"""Category -> its characters, as far as this Python knows them."""


def newer_characters() -> str:
    """Letters, marks and numbers that `regex` knows and this Python does not know yet."""
    every = "".join(chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cn")
    return "".join(regex.findall(r"[\p{L}\p{M}\p{N}]", every))
