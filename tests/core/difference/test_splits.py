"""Split patterns are compared: each difference is shown by a short text, and sameness is a proof."""

import random
import re
from base64 import b64encode
from itertools import combinations, product

import pytest

from bpe_core import PATTERNS, PatternError, Tokenizer, load, train
from bpe_core.difference.records import Pair
from bpe_core.difference.split_pattern import compare_pattern
from bpe_core.difference.splits import compare_splits, describe_pieces, distinguished
from bpe_core.patterns import splitter
from bpe_core.tokenizer.normalizers import Normalizer, Replaced
from bpe_core.tokenizer.preparation import Preparation, SplitStep
from tests.core.real import real_file
from tests.nasty import nasty_texts

GPT2_AS_PUBLISHED = (
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)
TEXT = "low lower lowest 11 22 111 can't 'tis café\n\n  low()\n 1a" * 3


def shortest_by_force(a, b, longest):
    """Return the shortest text of representatives that two splitters split differently."""
    units = distinguished(a, b)
    for length in range(1, longest + 1):
        for characters in product(units, repeat=length):
            text = "".join(characters)
            if a.split(text) != b.split(text):
                return text
    return ""


@pytest.mark.parametrize(("a", "b"), combinations(PATTERNS, 2))
def test_published_patterns_differ_in_a_text_of_at_most_two_characters(a, b):
    one, other = splitter(a), splitter(b)
    comparison = compare_splits(one, other)
    assert comparison.is_same is False
    assert comparison.n_tried == 1
    assert one.split(comparison.text) != other.split(comparison.text)
    assert len(comparison.text) == len(shortest_by_force(one, other, 2)) > 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("gpt2", GPT2_AS_PUBLISHED),
        ("gpt2", PATTERNS["gpt2"].replace("++", "+")),
        ("gpt4", PATTERNS["gpt4"].replace("{1,3}+", "{1,3}")),
        ("gpt4", PATTERNS["gpt4"].replace(r"\s++$", r"\s+\Z")),
        ("gpt4o", PATTERNS["gpt4o"].replace(r"\s*[\r\n]+", r"\s*[\r\n]++")),
        ("llama3", PATTERNS["llama3"].replace(r"(?!\S)", r"(?=\s|$)", 1)),
        ("llama3", PATTERNS["llama3"].replace(r"\p{N}{1,3}", r"\p{N}\p{N}?\p{N}?")),
        ("qwen2", "(" + PATTERNS["qwen2"] + ")"),
        (r"(?>\s+)|\S", r"\s++|\S"),
        (r"a|\S|\s", r"\S|\s"),
        (r"\p{L}+|", r"\p{L}*"),  # an empty match ends the text without a match
        ("words", r"(?#only)\S+?(?=\s|$)"),
        (r"\p{N}{1,3}(?#then)gpt2", r"\p{N}{1,3}+(?#then)" + GPT2_AS_PUBLISHED),
        (r"<a>|<b>(?#else)gpt2", r"<b>|<a>(?#else)" + GPT2_AS_PUBLISHED),
        (r"\d+(?#else)gpt2", r"\d++(?#else)" + GPT2_AS_PUBLISHED),
    ],
)
def test_other_spellings_of_a_pattern_are_proved_the_same(a, b):
    one, other = splitter(a), splitter(b)
    comparison = compare_splits(one, other)
    assert comparison.is_same, comparison
    for text in nasty_texts(200, seed=1):
        assert one.split(text) == other.split(text)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (r"\p{L}|x+", r"\p{Lu}", "aa"),  # one match, or text between two matches
        (r"\S+", "words", " "),  # kept, or dropped
        (r"\s+(?!\S)|\S", r"\s+|\S", "  1"),
        ("[^\U00020000]+|\U00020000", "none", "1\U00020000"),
        (r"a+(?#then)\S", r"a+(?#then)\S+", "11"),
        ("<a>(?#else)gpt2", "<b>(?#else)gpt2", "<a>1"),  # "<a>" alone is cut by both
        (r"(?<=1)a|[1a]+", r"[1a]+", ""),
        (r"(?<!1)a|\S", r"aa|\S", "aa"),  # not plain, found by trying
        (r"\p{L}*|\p{N}", r"\p{L}*?|\p{N}", "aa"),
        (r"(?:)|b+", r"b+", "11"),
    ],
)
def test_a_difference_is_found(a, b, text):
    one, other = splitter(a), splitter(b)
    comparison = compare_splits(one, other)
    assert comparison.text == text or len(comparison.text) <= len(text)
    if comparison.text:
        assert comparison.is_same is False
        assert one.split(comparison.text) != other.split(comparison.text)
    else:
        assert comparison.is_same is None
        assert "look-behinds" in comparison.sentence


def changed_pattern(source, chance):
    """Change a class or a repetition of a pattern, or move an alternative."""
    kind = chance.randrange(3)
    if kind == 2:
        options = source.split("|")
        option = options.pop(chance.randrange(len(options)))
        options.insert(chance.randrange(len(options) + 1), option)
        return "|".join(options)
    parts = (r"\[\^?[^\]]*\]|\\p\{\w+\}|\\[sS]", r"[*+?]\+?|\{\d,?\d?\}\+?")
    others = (
        (r"\p{L}", r"\p{Lu}", r"\p{Nd}", r"\s", r"\S", "[^a]", "[a1]", r"\n", "."),
        ("", "*", "+", "?", "++", "?+", "{1,2}", "{2}+", "+?", "??", "{2,}"),
    )
    found = chance.choice(list(re.finditer(parts[kind], source)))
    return source[: found.start()] + chance.choice(others[kind]) + source[found.end() :]


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_pattern_is_found_or_proved_the_same(seed):
    chance = random.Random(seed)
    before = after = PATTERNS[chance.choice(["gpt2", "gpt4", "llama3", "qwen2"])]
    while after == before or "(?" not in after:
        after = changed_pattern(before, chance)
        try:
            splitter(after)
        except PatternError:
            after = before
    one, other = splitter(before), splitter(after)
    comparison = compare_splits(one, other)
    by_force = shortest_by_force(one, other, 2)
    if comparison.is_same is False:
        assert one.split(comparison.text) != other.split(comparison.text)
        assert not by_force or len(by_force) >= len(comparison.text)
        return
    assert not by_force
    units = distinguished(one, other)
    for _ in range(500):
        text = "".join(chance.choices(units, k=chance.randint(3, 8)))
        if comparison.is_same:
            assert one.split(text) == other.split(text), text


def test_a_pattern_that_takes_too_long_is_undecided(monkeypatch):
    monkeypatch.setattr("bpe_core.difference.splits._PATIENCE", 0.0)
    comparison = compare_splits(splitter("[a]"), splitter(r"(?<=x)a"))
    assert comparison.is_same is None
    assert "takes too long" in comparison.sentence


def test_pieces_are_described():
    assert describe_pieces(["a", "11"], ["a", "1", "1"]) == (
        "keeps '11' in one piece",
        "splits it into '1' and '1'",
    )
    assert describe_pieces(["11"], ["1", "1"], known="11")[0] == "keeps it in one piece"
    assert describe_pieces([" "], []) == ("keeps ' ' in one piece", "drops it")
    assert describe_pieces(["a "], ["a"])[1] == "makes only 'a' of it"


# --- tokenizers ------------------------------------------------------------------------------------------------------


def compared(vocabulary, a, b):
    return compare_pattern(Pair(Tokenizer(vocabulary, a), Tokenizer(vocabulary, b)))


def vocabulary_of_numbers():
    return train("11\n22\n11\n22", vocab_size=258, pattern="gpt2").vocabulary


def test_the_witness_of_a_pattern_has_other_ids_because_of_it():
    comparison = compared(vocabulary_of_numbers(), "llama3", "qwen2")
    assert comparison.is_same is False
    (cause,) = comparison.causes
    assert cause.part == comparison.part == "split pattern"
    assert (
        cause.what
        == comparison.sentence
        == (
            "'11' is 1 token in A and 2 in B, because A's pattern keeps it in one piece, and B's splits it into '1' and '1'."
        )
    )
    assert cause.witness.text == "11"
    assert cause.witness.a == (256,)
    assert cause.witness.b == (49, 49)


def test_a_witness_is_a_token_if_the_shortest_text_has_the_same_ids():
    vocabulary = train("22 22 22", vocab_size=258, pattern="gpt2").vocabulary
    comparison = compared(vocabulary, "llama3", "qwen2")
    assert comparison.causes[0].witness.text == "22"


def test_added_tokens_and_names_are_not_part_of_the_pattern():
    vocabulary = vocabulary_of_numbers()
    comparison = compared(vocabulary, "<x>(?#else)gpt2", GPT2_AS_PUBLISHED)
    assert comparison.is_same
    comparison = compared(vocabulary, "<x>(?#else)llama3", "<y>(?#else)qwen2")
    assert comparison.causes[0].witness.text == "11"


def test_another_numbering_is_not_a_difference_of_the_pattern():
    tokenizer = train(TEXT, vocab_size=300, pattern="llama3")
    other = train(TEXT, vocab_size=300, pattern="llama3", special_tokens=["<x>"])
    pattern = PATTERNS["llama3"].replace(r"\p{N}{1,3}", r"\p{N}{1,3}+")
    renumbered = Tokenizer(other.vocabulary, pattern)
    comparison = compare_pattern(Pair(tokenizer, renumbered))
    assert comparison.is_same and not comparison.causes


def test_a_text_is_a_witness_of_patterns_only_if_no_normalizer_changes_it():
    vocabulary = train(" x xx", vocab_size=257, pattern="none").vocabulary
    mark = Normalizer([Replaced(" ", "x")])
    pattern = "x+[^x]*|[^x]+"
    marked = Preparation((), mark, (SplitStep(splitter(pattern)),))
    b = Tokenizer(vocabulary, pattern, preparation=marked)
    comparison = compare_pattern(Pair(Tokenizer(vocabulary, "none"), b))
    assert comparison.is_same is None


@pytest.mark.parametrize("pattern", ["gpt4", "gpt4o", "llama3", "qwen2"])
def test_published_libraries_confirm_a_witness(tmp_path, pattern):
    path = real_file("r50k_base.tiktoken", tmp_path)
    a = load(path, pattern="gpt2")
    b = load(path, pattern=pattern)
    comparison = compare_pattern(Pair(a, b))
    witness = comparison.causes[0].witness
    assert tuple(a.to_tiktoken().encode_ordinary(witness.text)) == witness.a
    assert tuple(b.to_tiktoken().encode_ordinary(witness.text)) == witness.b
    assert witness.a != witness.b and len(witness.text) <= 2


# --- cuts that no token can notice -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "a", "b"),
    [
        ("bob bobby ²", "gpt2", PATTERNS["gpt2"].replace(r"\p{N}", r"\p{Nd}")),
        ("low lower 1", "llama3", "qwen2"),  # no token has two digits
        (
            "a1a1",
            r"a1|bb(?!b$)|.",
            r"a1|bb(?!.$)|.",
        ),  # a look-ahead at the end of a text
        ("a \n b\n \nc", "gpt4", "llama3"),  # white space at the end of a text
    ],
)
def test_other_pieces_with_the_same_ids_are_proved_the_same(text, a, b):
    vocabulary = train(text * 3, vocab_size=270, pattern=a).vocabulary
    one, other = Tokenizer(vocabulary, a), Tokenizer(vocabulary, b)
    comparison = compare_pattern(Pair(one, other))
    assert comparison.is_same, comparison
    assert "no token can cross" in comparison.sentence
    chance = random.Random(7)
    tokens = [data.decode(errors="replace") for data in vocabulary.bytes_of.values()]
    parts = [*tokens[256:], *distinguished(one.splitter, other.splitter)]
    for _ in range(1000):
        sample = "".join(chance.choices(parts, k=chance.randint(1, 8)))
        assert one.encode_ordinary(sample) == other.encode_ordinary(sample), sample


def test_a_token_across_a_cut_of_one_pattern_is_found_in_its_surroundings():
    """The token "la" is cut neither alone nor after one character, but after a contraction."""
    vocabulary = train("la la", vocab_size=257, pattern="gpt2").vocabulary
    without_capitals = PATTERNS["gpt4o"].replace("(?i:", "(?:")
    comparison = compared(vocabulary, "gpt4o", without_capitals)
    assert comparison.is_same is False
    (cause,) = comparison.causes
    assert cause.witness.text == "a'Lla"
    assert len(cause.witness.a) > len(cause.witness.b)


def test_nothing_is_proved_of_a_piece_that_is_looked_up_as_a_whole(tmp_path):
    path = tmp_path / "ranks.tiktoken"
    ranks = [bytes([number]) for number in range(256)] + [b"1a1"]  # no merges make it
    lines = [b64encode(data) + b" %d\n" % number for number, data in enumerate(ranks)]
    path.write_bytes(b"".join(lines))
    pattern = r"[1a]+|\S|\s+(?!\S)|\s"
    a = load(path, pattern=pattern)
    b = load(path, pattern=pattern.replace(r"\S|", r"\S+|", 1))
    comparison = compare_pattern(Pair(a, b))
    assert comparison.is_same is not True


@pytest.mark.slow
def test_white_space_at_the_end_of_a_text_makes_no_other_tokens_of_cl100k(tmp_path):
    path = real_file("cl100k_base.tiktoken", tmp_path)
    a = load(path, pattern="gpt4")  # as in tiktoken today
    b = load(path, pattern="llama3")  # as in its first version
    comparison = compare_pattern(Pair(a, b))
    assert comparison.is_same
    for text in ("a\n ", "\n \n ", " \n\t\t", "\r\n  \n   ", "a \n\n  \u3000"):
        assert a.encode_ordinary(text) == b.encode_ordinary(text)
        assert a.splitter.split(text) != b.splitter.split(text)
