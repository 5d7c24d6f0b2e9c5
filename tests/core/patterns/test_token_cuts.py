"""Where it is proved that no token crosses a place that only one pattern cuts, none does so in any short text."""

import random
from collections import Counter
from itertools import accumulate, product

import pytest

from bpe_core.patterns import splitter
from bpe_core.patterns.syntax import parse
from bpe_core.patterns.token_cuts import text_with_token_cut

CHARACTERS = "ab é"
PARTS = (
    *(
        "a+",
        "b+",
        " +",
        "é",
        "é?b+",
        "[ab]+",
        " ?b",
        r"a[^\x00-\x7f]",
        r"[^\x00-\x7f]?a+",
    ),
    *(r"[^\x00-\x7f]+", r"[a ][^\x00-\x7f]+", r"\s+(?!\S)", r"(?=a)a?[^\x00-\x7f]"),
)
TEXTS = ["".join(text) for n in range(1, 6) for text in product(CHARACTERS, repeat=n)]


def random_patterns(chance):
    """A pattern, and the same with one alternative more or in another place."""
    options = chance.sample(PARTS, chance.randint(2, 4))
    others = [*options]
    others.insert(chance.randrange(4), others.pop(chance.randrange(len(others))))
    if chance.random() < 0.5:
        others.insert(chance.randrange(4), chance.choice(PARTS))
    return "|".join(options), "|".join(others)


def random_token(chance):
    """Some bytes of a text, which may begin and end inside a character."""
    data = "".join(chance.choices(CHARACTERS, k=5)).encode()
    start = chance.randrange(3)
    return data[start : start + chance.randint(2, 6)]


def cuts(pattern, text):
    """The offsets of the places that a pattern cuts, in bytes."""
    return set(
        accumulate(len(piece.encode()) for piece in splitter(pattern).split(text))
    )


def crossing(tokens, text, a, b):
    """A place that a token crosses and only one of two patterns cuts; None without one."""
    data = text.encode()
    for place in cuts(a, text) ^ cuts(b, text):
        for token in tokens:
            for start in range(max(0, place - len(token) + 1), place):
                if data.startswith(token, start):
                    return place
    return None


@pytest.mark.parametrize("seed", range(4))
def test_no_token_that_crosses_a_cut_of_one_pattern_is_missed(seed):
    chance = random.Random(seed)
    verdicts = Counter()
    for _ in range(150):
        a, b = random_patterns(chance)
        tokens = {random_token(chance) for _ in range(chance.randint(1, 2))}
        try:
            text = text_with_token_cut(parse(a), parse(b), tokens)
        except ValueError:  # too many states, or an empty match
            verdicts["undecided"] += 1
            continue
        verdicts[bool(text)] += 1
        if not text:
            crossed = [text for text in TEXTS if crossing(tokens, text, a, b)]
            assert not crossed, (a, b, tokens, crossed[:3])
    assert verdicts[False] > 10 and verdicts[True] > 10, verdicts


@pytest.mark.parametrize(
    ("a", "b", "token", "text"),
    [
        ("a|b+", "abb+|a|b+", b"abba", "abba"),  # a repeated kind
        ("a|é|[^a]", "aé|a|[^a]", b"a\xc3", "aé"),  # any character may follow
        ("a|é|[^a]", r"a[^\x00-\x7fé]|a|[^a]", b"a\xe4", "a中"),
        # A part of a character may be of the same kind as the one before it.
        (r"a|b|[^\x00-\x7f]+", r"a?[^\x00-\x7f]+|a|b", b"a\xc3\xa9\xc3", "aé"),
    ],
)
def test_the_shortest_text_has_the_kinds_of_the_token(a, b, token, text):
    assert text_with_token_cut(parse(a), parse(b), [token]) == text
