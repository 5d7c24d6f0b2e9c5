"""Split patterns: what the published ones do, any regular expression, and where a text may be cut."""

import random
import re
import subprocess
import sys
import time
from itertools import chain

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from bpe_core import PATTERNS, PatternError
from bpe_core.patterns import patience, splitter, tried
from bpe_core.patterns import pattern as patterns
from bpe_core.patterns.text_search import TextSearch
from tests.nasty import ALPHABETS, HALVES, nasty_texts

NAMED = [name for name, source in PATTERNS.items() if source]


def split_in_blocks(split_by, text, size):
    parts = split_by.parts(text[i : i + size] for i in range(0, len(text), size))
    return list(chain.from_iterable(map(split_by.split, parts)))


# --- the published patterns ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("gpt2", "Hello world! I'm fine.", "Hello| world|!| I|'m| fine|."),
        ("gpt2", "DON'T", "DON|'|T"),
        ("gpt4", "DON'T", "DON|'T"),
        ("gpt2", "don’t", "don|’|t"),
        ("gpt4", "don’t", "don|’t"),
        ("gpt2", "12345 123456", "12345| 123456"),
        ("gpt4", "12345 123456", "123|45| |123|456"),
        ("qwen2", "123", "1|2|3"),
        ("gpt4", "DefaultCellStyle", "DefaultCellStyle"),
        ("gpt4o", "DefaultCellStyle", "Default|Cell|Style"),
        ("gpt4o", "I'm don't", "I'm| don't"),
        ("gpt4o", " =\n//x", " =\n//|x"),
        ("gpt4", " =\n//x", " =\n|//|x"),
        ("gpt4", "def f():\n    return", "def| f|():\n|   | return"),
        ("gpt4", "a\n  ", "a|\n  "),
        ("llama3", "a\n  ", "a|\n|  "),
        ("llama3", "a\n  b", "a|\n| | b"),
        ("gpt4", "a\n  b", "a|\n| | b"),
        ("words", "  low\tlow\n er ", "low|low|er"),
        ("none", "one two\n", "one two\n"),
        (r"\d(?#then)words", "a 12 b", "a|1|2|b"),
        (r"<.>(?#else)none", "ab<c>d", "ab|<c>|d"),
    ],
)
def test_a_published_pattern_splits_as_published(name, text, expected):
    assert splitter(name).split(text) == expected.split("|")


@pytest.mark.parametrize("name", ["llama3", "qwen2"])
def test_another_library_splits_alike(name):
    theirs = Split(Regex(PATTERNS[name]), "isolated").pre_tokenize_str
    for text in nasty_texts(1000, seed=2):
        if "\ud800" not in text:
            assert splitter(name).split(text) == [piece for piece, _ in theirs(text)], (
                ascii(text)
            )


def test_only_words_loses_text_and_an_empty_text_has_no_pieces():
    for name in (*PATTERNS, "a|b"):
        split_by = splitter(name)
        assert split_by.lossy == (name == "words")
        assert (
            split_by.split("")
            == list(split_by.parts([]))
            == list(split_by.parts(["", ""]))
            == []
        )
        assert split_by.lossy or all(
            "".join(split_by.split(text)) == text for text in nasty_texts(300, seed=3)
        )


# --- regular expressions of one's own --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"\d+", "ab12cd", ["ab", "12", "cd"]),  # what is not matched is kept
        (r"(\w)(\w)|(\s)", "abc d", ["ab", "c", " ", "d"]),  # groups do not matter
        (r"(a)\1|.", "aab", ["aa", "b"]),  # unless the pattern refers to them
        (
            r"(?=[A-Z])",
            "fooBarBaz",
            ["foo", "Bar", "Baz"],
        ),  # an empty match parts the text
        (r"a*", "baac", ["b", "aa", "c"]),
        (r"(?<=\.)\s", "a. b", ["a.", " ", "b"]),
        (
            r"(?r)\d{1,3}",
            "x12345",
            ["x", "12", "345"],
        ),  # backwards: digits in threes from the right
        (r"\w+\K!", "hi!", ["hi", "!"]),
        (r"[[:alpha:]]+|.", "ab1", ["ab", "1"]),
        ("(" * 90 + "a" + ")" * 90, "aba", ["a", "b", "a"]),
    ],
)
def test_any_regular_expression_splits_and_keeps_every_character(
    pattern, text, expected
):
    assert splitter(pattern).split(text) == expected


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        *(
            (pattern, "not a valid regular expression")
            for pattern in ("(a", "[z-a]", r"\p{Nonsense}", "a**")
        ),
        ("(" * 3000 + ")" * 3000, "not a valid regular expression"),
        ("\x1b]0;title(x", "missing ) at character 12, near '␛]0;title(x'"),
        (r"(?:a|aa)+\d", "tries too many ways to match"),
        ("gtp4", "Unknown split pattern 'gtp4'; choose one of none, words, gpt2"),
        ("a" * 10_000, "Unknown split pattern 'aaa"),
        *(
            (pattern, "may not call itself")
            for pattern in (
                "(?R)",
                r"\((?:[^()]|(?R))*\)",
                "(a|(?1)b)",
                "(?P<x>a(?&x)?)",
            )
        ),
        ("(?P>x)(?P<x>a)", "may not call itself"),
        *(
            (joint.join(["a"] * 3000), "more than 64 patterns")
            for joint in ("(?#then)", "(?#else)")
        ),
    ],
)
def test_a_pattern_that_is_none_is_refused_in_one_sentence_with_its_place(
    pattern, sentence
):
    with pytest.raises(PatternError, match="split pattern") as told, patience(0.05):
        tried(pattern, "a short text")
    assert (
        "\n" not in str(told.value)
        and sentence in str(told.value)
        and len(str(told.value)) < 400
    )
    assert splitter("(?:gtp4)").split("a gtp4") == ["a ", "gtp4"]


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w+|\W", "(a+)+$", r"(?<=e)\s"])
def test_a_pattern_that_is_tried_splits_as_a_training_does(pattern):
    text = "The 2,500 cafés\n\n  didn't"
    assert tried(pattern, text) == splitter(pattern).split(text)


BACKTRACKING = r"(?:a|aa)+!"


@pytest.mark.parametrize(
    "pattern",
    [
        BACKTRACKING,
        rf"{BACKTRACKING}|[a-z]+|\s|.",
        rf"({BACKTRACKING})",
        rf"(?#only){BACKTRACKING}",
        rf"(?r)!(?:a|aa)+|x(?!{BACKTRACKING})",
        rf"(?={BACKTRACKING})a",
        r"(?<!!(?:a|aa)+)-",
        rf"{BACKTRACKING}(?#else)gpt4",
        rf"x(?#else){BACKTRACKING}",
        rf"gpt4(?#then){BACKTRACKING}",
        rf"{BACKTRACKING}(?#then)gpt4",
        r"(?b)(?:abcdefghijkl){e<=11}",
    ],
)
def test_a_pattern_that_backtracks_without_end_is_stopped_wherever_it_stands(pattern):
    text = "abc" * 3000 if "{e" in pattern else "a" * 200 + "-"
    for ask in (
        splitter(pattern).split,
        splitter(pattern).places,
        lambda text: split_in_blocks(splitter(pattern), text, 99),
    ):
        with (
            pytest.raises(PatternError, match=r"took more than .* too many ways"),
            patience(0.005),
        ):
            ask(text)


def test_patience_is_for_all_that_is_done_while_it_lasts():
    """Many pieces, each of which a later pattern takes some time for, do not get it for each."""
    slow = splitter(rf"\s(?#then){BACKTRACKING}|[a-z]+|.")
    assert slow.split("aaaa aaaa")  # short ones are no trouble
    with pytest.raises(PatternError, match=r"more than 0\.1 s"), patience(0.1):
        slow.split(" ".join(["a" * 22] * 10_000))
    with (
        patience(0.05),
        patience(100),
        pytest.raises(PatternError, match=r"more than 0\.1 s"),
    ):
        slow.split("a" * 200)


def test_an_interrupt_as_patience_begins_leaves_none_in_force():
    def interrupt(frame, event, function):  # where Python heeds a signal: behind a call
        if (
            event == "c_return"
            and frame.f_code.co_name == "patience"
            and function.__name__ == "set"
        ):
            sys.setprofile(None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sys.setprofile(interrupt)
        with patience(0):
            pass
    assert splitter(r"\w+|\W").split("a b") == ["a", " ", "b"]


def test_only_the_time_of_patterns_counts():
    with patience(0.01):
        time.sleep(0.02)
        assert splitter(r"\w+|\W").split("a b") == ["a", " ", "b"]


@pytest.mark.parametrize(
    "pattern",
    [
        "a{10000000}",
        "(?:ab?){4000000}",
        "(?:(?:a{300}){300}){300}",
        "[a-z]{ 4000 , }" * 9,
        "(?:\\(x){9999}y",
        "a{99999999999999999999}",
        "x*" * 15_000,
        "x(?#else)a{10000000}",
        "a{10000000}(?#else)gpt4",
        "gpt4(?#then)a{10000000}",
    ],
)
def test_a_pattern_that_asks_for_very_much_is_not_even_compiled(pattern, monkeypatch):
    monkeypatch.setattr(
        regex,
        "compile",
        lambda source, **_: pytest.fail("it was") if len(source) > 3 else None,
    )
    with pytest.raises(PatternError, match=r"too large|is the most"):
        splitter(pattern)


def test_a_pattern_of_very_many_sets_is_not_reasoned_about():
    """What follows from its sets takes a time that grows much faster than their number."""
    many = splitter("(?:" + "|".join(map(chr, range(0x4E00, 0x5E00))) + r")+|\s|\S")
    assert (
        not many.blockwise
        and not splitter(r"((((a{1,15}){1,15}){1,15}){1,15})|\s|\S").blockwise
    )
    assert many.split("\u4e00\u4e01 b") == ["\u4e00\u4e01", " ", "b"]


# --- texts and patterns found first ----------------------------------------------------------------------------------


def test_what_is_found_first_can_be_empty_or_found_backwards():
    assert splitter("x*(?#else)gpt4").split("hi xx") == ["h", "i", " ", "xx"]
    assert splitter(r"(?r)\d{3}(?#else)none").split("a12345b678c") == [
        "a12",
        "345",
        "b",
        "678",
        "c",
    ]
    assert splitter("words(?#else)none").split("ab words c") == [
        "ab ",
        "words",
        " c",
    ]  # it is no name there
    assert splitter("a|ab(?#else)none").split("xab") == [
        "x",
        "a",
        "b",
    ]  # in the order given, not the longest


def test_many_texts_are_found_as_an_expression_of_them_all_finds_them():
    rng = random.Random(8)
    for n in (1, 2, 5, 100, 1000):
        texts = {
            "".join(rng.choices("ab<|]^-\\.", k=rng.randint(1, 7))) for _ in range(n)
        }
        longest_first = sorted(texts, key=lambda text: (-len(text), text))
        find = re.compile("|".join(map(re.escape, longest_first)))
        assert patterns.parse(
            str(patterns.Else(tuple(texts), patterns.Split("")))
        ).first == tuple(longest_first)
        for _ in range(200):
            text = "".join(rng.choices("ab<|]^-\\.", k=rng.randint(0, 30)))
            assert list(TextSearch(texts).spans(text)) == [
                found.span() for found in find.finditer(text)
            ]
    assert list(TextSearch([]).spans("ab")) == list(TextSearch([""]).spans("ab")) == []


# --- a pattern as a tree ---------------------------------------------------------------------------------------------


TREES = {
    "gpt4": patterns.Split(PATTERNS["gpt4"], name="gpt4"),
    "words": patterns.Split(r"\S+", drops_rest=True, name="words"),
    r"(?#only)\d+": patterns.Split(r"\d+", drops_rest=True),
    "(?#only)gpt4": patterns.Split("gpt4", drops_rest=True),  # it is no name there
    r"\d(?#then)words": patterns.Then(
        patterns.Split(r"\d"), patterns.Split(r"\S+", drops_rest=True)
    ),
    r"\[a\]|b(?#else)none": patterns.Else(("[a]", "b"), patterns.Split("")),
    "a|ab(?#else)[c]": patterns.Else(
        "a|ab", patterns.Split("[c]")
    ),  # not the longest first, so no choice of texts
    "[a](?#then)b.(?#else)[c](?#then)d+": patterns.Then(
        patterns.Split("[a]"),
        patterns.Else("b.", patterns.Then(patterns.Split("[c]"), patterns.Split("d+"))),
    ),
}


@pytest.mark.parametrize("text", TREES)
def test_a_pattern_is_a_tree_and_one_text(text):
    assert patterns.parse(text) == TREES[text]
    assert str(patterns.parse(text)) == text
    assert splitter(text).pattern == text and splitter(text).tree == TREES[text]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (PATTERNS["llama3"], "llama3"),
        ("gpt2", "(?:gpt2)"),
        (r"\S+", r"\S+"),
        ("a(?#then)b", "(?:ab)"),
        ("(?#only)[a]+", "[a]+"),
        (r"a\(?#else[)]*|b", r"a\(?#else[)]*|b"),
        ("[(?#then)]+", r"[(?\#then)]+"),
    ],
)
def test_an_expression_from_elsewhere_is_never_taken_for_a_name_or_a_mark(theirs, ours):
    split = patterns.Split.of_expression(theirs)
    assert str(split) == ours
    assert patterns.parse(str(split)) == split
    text = "a gpt2 (?#then) abab (?#else)"
    assert splitter(ours).split(text) == [
        piece for piece in regex.split(f"({theirs})", text) if piece
    ]


# --- cuts ------------------------------------------------------------------------------------------------------------


def test_a_text_may_be_cut_where_no_match_can_look_across():
    for pattern in (
        r"(?#only)\w+",
        r"(?#only)[a-z]+|\d{1,3}",
        r"(?#only)\w+(?#then)[aeiou]",
    ):
        assert (
            splitter(pattern).cut("one, two three", 2) == 5
            and splitter(pattern).blockwise
        )
    text = "one two\n\nthree"
    cut = splitter("gpt4").cut
    assert [cut(text, at_least) for at_least in range(len(text) + 1)] == [
        0,
        3,
        3,
        3,
        7,
        7,
        7,
        7,
        *[14] * 7,
    ]


def all_cuts(split_by, text):
    cuts = {split_by.cut(text, at_least) for at_least in range(1, len(text))}
    return cuts - {len(text)}


@pytest.mark.parametrize("name", NAMED)
def test_parts_split_like_the_whole(name):
    split_by = splitter(name)
    n_cuts = 0
    for text in (*nasty_texts(400, seed=4), *HALVES):
        whole = split_by.split(text)
        for cut in all_cuts(split_by, text):
            n_cuts += 1
            assert split_by.split(text[:cut]) + split_by.split(text[cut:]) == whole, (
                ascii(text),
                cut,
            )
    assert n_cuts > 200


DEEPSEEK = "(?#then)".join(
    (
        r"\p{N}{1,3}",
        r"[一-龥぀-ゟ゠-ヿ]+",
        r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    )
)


def test_patterns_one_after_another_are_cut_where_the_last_one_cuts():
    split_by = splitter(DEEPSEEK)
    text = "one, two 12345\nthree 世界 x"
    assert all_cuts(split_by, text) == {3, 4, 8, 9, 14, 20, 21, 23}
    with_texts = splitter(f"<tool>|wo(?#else){DEEPSEEK}")
    for text in nasty_texts(300, seed=9):
        for one in split_by, with_texts:
            for cut in all_cuts(one, text):
                assert one.split(text[:cut]) + one.split(text[cut:]) == one.split(
                    text
                ), (ascii(text), cut)


@given(
    st.lists(st.sampled_from(("<|end|>", "ab.", *"ab.|> \ne")), max_size=9).map("".join)
)
def test_no_cut_lies_in_a_text_that_is_found_first(text):
    first = splitter(r"<\|end\|>|ab\.(?#else)gpt4")
    for cut in all_cuts(first, text):
        assert first.split(text[:cut]) + first.split(text[cut:]) == first.split(text)
    assert first.blockwise and not splitter("a+(?#else)gpt4").blockwise, (
        "a choice of texts and no more"
    )


def random_pattern(rng, depth=2):
    """A regular expression of sets, groups, repetition of all kinds, look-ahead and ends."""
    sets = (
        "a",
        "b",
        r"\n",
        r"\s",
        r"\S",
        r"\w",
        ".",
        "[^a]",
        r"[^\s\p{L}]",
        r"\p{L}",
        " ",
        r"[\r\n]",
        r"\d",
        "(?i:s)",
    )

    def item():
        kind = rng.random() if depth else 0
        if kind < 0.5:
            return rng.choice(sets) + rng.choice(
                ("", "", "?", "+", "*", "++", "?+", "+?", "{1,2}", "{2,}")
            )
        inner = random_pattern(rng, depth - 1)
        if kind < 0.8:
            return f"(?:{inner})" + rng.choice(("", "?", "+", "?+"))
        return rng.choice((f"(?={inner})", f"(?!{inner})", f"(?>{inner})", "$", r"\Z"))

    return "|".join(
        "".join(item() for _ in range(rng.randint(1, 3)))
        for _ in range(rng.randint(1, 3))
    )


def test_cuts_are_safe_in_patterns_nobody_has_seen_before():
    rng = random.Random(5)
    blockwise = 0
    for number in range(120):
        mark = "(?#only)" if number % 2 else ""
        first = f"{random_pattern(rng, 1)}(?#then)" if number % 3 == 0 else ""
        split_by = splitter(
            mark
            + first
            + random_pattern(rng)
            + rng.choice(("", r"|\s+", r"|.|\n", r"| ?\w++|\W+"))
        )
        blockwise += split_by.blockwise
        for _ in range(8):
            text = "".join(rng.choices(" \n\r\tab1s.'ſA中😀𝐀", k=rng.randint(1, 12)))
            whole = split_by.split(text)
            assert "".join(whole) == text or mark
            for cut in all_cuts(split_by, text):
                assert (
                    split_by.split(text[:cut]) + split_by.split(text[cut:]) == whole
                ), (split_by.source, text, cut)
            assert split_in_blocks(split_by, text, 3) == whole, (split_by.source, text)
    assert blockwise > 18


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "none",
        r"(?<=a)b|.",
        r"(?#only)(?<=a)b",
        r"\bab|.",
        r"(a)\1|.",
        "a*|b",
        r"^a|.|\n",
        r".*\n|(?s:.)+",
    ],
)
def test_a_pattern_without_proof_is_given_whole_documents(pattern):
    split_by = splitter(pattern)
    assert not split_by.blockwise
    assert split_by.cut("aab aab\nab", 2) == 10
    assert split_in_blocks(split_by, "aab aab\nab", 2) == split_by.split("aab aab\nab")


def test_characters_of_one_kind_are_alike_to_a_pattern():
    assert {"0", "A", " ", "'", "\n", "s"} > set(splitter("gpt2").kinds) - set(
        "\0\tdelrv"
    )
    assert (
        splitter("gpt2").alike("Zoé")
        == splitter("gpt2").alike("Job")
        != splitter("gpt2").alike("Joe")
    )
    rng = random.Random(7)
    for pattern in (*NAMED, r"(?#only)[a-f]+|\d", r"\w+(?=\n)|\s"):
        split_by = splitter(pattern)
        assert len(split_by.kinds) < 30
        for _ in range(100):
            text = "".join(
                rng.choices((*ALPHABETS[0], *HALVES), k=rng.choice((1, 3, 8)))
            )
            ends = [stop for _, stop in split_by.places(text)]
            assert [
                stop for _, stop in split_by.places(split_by.alike(text))
            ] == ends, (pattern, ascii(text))


def test_nothing_is_built_before_it_is_needed():
    look = "import bpe_core.patterns, bpe_core.patterns.automaton as sets; print(sets.members.cache_info().currsize)"
    assert (
        subprocess.run(
            [sys.executable, "-c", look], capture_output=True, text=True
        ).stdout
        == "0\n"
    )
