"""Texts that tokenizers disagree about, if they disagree at all; the same ones in every run."""

import random
import unicodedata

import regex

SPACES = [
    chr(c) for c in (*range(9, 14), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029)
]
SPACES += ["\u202f", "\u205f", "\u3000", "\u200b", "\u200c", "\u200d", "\ufeff", "\r\n", "\n\n", " \n "]
ENDINGS = ("s", "S", "t", "T", "re", "RE", "Re", "ve", "VE", "m", "M", "ll", "LL", "lL", "d", "D", "ſ")
CONTRACTIONS = [mark + ending for mark in "'’" for ending in ENDINGS]
WORDS = [
    *("the", "hello", "World", "DON'T", "don’t", "foo_bar", "camelCase", "HTTPServer", "naïve", "Größe", "Ελληνικά"),
    *(
        "русский",
        "日本語の文章",
        "你好世界",
        "안녕하세요",
        "ภาษาไทย",
        "हिन्दी",
        "العربية",
        "שלום",
        "😊",
        "👩‍👩‍👧‍👦",
        "🇩🇪",
    ),
    *("e\u0301", "ñ", "n\u0303", "ﬁ", "Ⅳ", "½", "²", "١٢٣", "12345678901234567890", "3.14", "0xff", "a" * 40),
    *("<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "</s>", "<s>", "<0x0A>", "▁", "▁▁a", "Ġ", "\ufffd"),
    *("def", "f(x):", "{}", "//x", "----", "!!!!", "\u202eabc\u202c", "\x00", "\x7f", "\u1160", "\u0130", "ẞ"),
]


def nasty_texts(n, seed=0):
    """`n` texts of up to some twenty bits each."""
    rng = random.Random(seed)
    return ["".join(_bit(rng) for _ in range(rng.choice((1, 2, 3, 5, 8, 20)))) for _ in range(n)]


def _bit(rng):
    kind = rng.randrange(10)
    if kind < 4:
        return rng.choice(WORDS) + rng.choice(("", " "))
    if kind < 6:
        return rng.choice(SPACES) * rng.choice((1, 1, 2, 5))
    if kind == 6:
        return rng.choice(CONTRACTIONS)
    if kind == 7:
        return "".join(rng.choices("0123456789", k=rng.randint(1, 9)))
    if kind == 8:
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyzABCDEF ", k=rng.randint(1, 30)))
    return _character(rng)


def _character(rng):
    """Any character but those of which one library knows what they are and the other does not yet."""
    first, last = rng.choice(((0x20, 0x7F), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x110000)))
    while True:
        character = chr(rng.randrange(first, last))
        if unicodedata.category(character) != "Cn" or regex.match(r"\p{Cn}", character):
            return character
