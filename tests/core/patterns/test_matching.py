"""The simulation of a plain pattern finds the matches that `regex` finds at the beginning of a text."""

from itertools import product

import pytest
import regex

from bpe_core import PATTERNS
from bpe_core.patterns.alphabet import Alphabet, sources_of
from bpe_core.patterns.first_match import FirstMatchSearch
from bpe_core.patterns.matching import Matcher
from bpe_core.patterns.syntax import parse

PLAIN = [
    *[source for name, source in PATTERNS.items() if name != "none"],
    r"a|ab|abc",  # the first alternative wins, not the longest
    r"(?:a|ab)(?:c|bcd)?",
    r"a+?b?|a*b",
    r"(?:ab?){2,3}?a|b",
    r"a{2}+a|ab|a",  # possessive repetitions give nothing back
    r"a{1,2}+b|a",
    r"(?>a+)b|a|b",
    r"(?:a|b)++1|a",
    r"\s+(?!\S)|\s+",
    r"a+$|a\n|\n",
    r"a+\Z|a",
    r"a(?=b)|a(?!\n\S)b?|b",
    r"a(?!b$)|ab",
    r"\s(?=\n?b)|\s+",
    r"a*|b",  # empty matches
    r"b??|a",
    r"(?=a)|ab",
    r"(?:a|)(?:b|)",
    r"(?i:k)+|[^k]",
]


def first_match(matcher, text):
    """Return the length of the first match that is not empty, and whether there is an empty one."""
    threads = matcher.start
    length = 0
    has_empty = False
    for place in range(len(text) + 1):
        rest = text[place : place + matcher.examined]
        step = matcher.step(threads, rest, is_first=place == 0)
        threads = step.threads
        if step.is_match and place == 0:
            has_empty = True
        elif step.is_match:
            length = place
    return length, has_empty


def first_match_of_regex(source, text):
    ends = [match.end() for match in regex.finditer(source, text) if match.start() == 0]
    return max(ends, default=0), 0 in ends


@pytest.mark.parametrize("source", PLAIN)
def test_the_simulated_match_is_the_one_of_regex(source):
    node = parse(source)
    alphabet = Alphabet({*sources_of(node), "a", "b", r"\n", " ", "1"})
    matcher = Matcher(node, alphabet)
    longest = 5 if len(alphabet.sets_of) < 10 else 3
    for length in range(1, longest + 1):
        for characters in product(alphabet.sets_of, repeat=length):
            text = "".join(characters)
            simulated, has_empty = first_match(matcher, text)
            expected, expects_empty = first_match_of_regex(source, text)
            assert simulated == expected, text
            if not simulated:
                assert has_empty == expects_empty, text


@pytest.mark.parametrize(
    "source",
    [
        "(?:ab)++c",  # possessive, of more than a set
        "(?>a|ab)c",
        "(?>a+?)b",
        "(?:a?)*b",
        r"a(?!\s*b)",
        "a(?=bcdef)",
        "a(?=b?+b)",
        "[ab]{2000}",
    ],
)
def test_what_can_not_be_simulated_exactly_is_refused(source):
    node = parse(source)
    with pytest.raises(ValueError):
        Matcher(node, Alphabet(set(sources_of(node))))


def test_each_kind_of_all_of_unicode_has_one_familiar_character():
    sources = {r"\p{L}", r"\p{N}", r"\s", r"[\U0001F600-\U0001F64F]", r"\p{Han}"}
    sets_of = Alphabet(sources).sets_of
    assert list(sets_of)[:3] == ["1", "a", " "]
    assert "😀" in sets_of and "中" in sets_of
    for character, held in sets_of.items():
        assert character.encode()  # not half of a pair of code units
        assert held == {source for source in sources if regex.match(source, character)}
    kinds = set(sets_of.values())
    for code in range(0, 0x110000, 97):
        held = {source for source in sources if regex.match(source, chr(code))}
        assert 0xD800 <= code < 0xE000 or frozenset(held) in kinds


def test_states_are_few_and_are_searched_in_the_order_of_their_texts():
    search = FirstMatchSearch(parse(PATTERNS["gpt2"]), parse(PATTERNS["gpt4"]))
    lengths = list(map(len, search.texts(search.start)))
    assert lengths and lengths == sorted(lengths)
    assert search.n_states < 2_000
