"""The public comparison in small: what `python -m tests.attack.agreement` does with 100,000 strings and 10 MB."""

import unicodedata
from functools import partial

import pytest
from real import real_file

from tests.attack import published
from tests.attack.agreement import (
    against_huggingface,
    against_tiktoken,
    characters,
    comparing,
    pipelines,
    texts,
    training,
)
from tests.attack.agreement.comparing import Subject
from tests.nasty import newer_characters, strings


@pytest.fixture(scope="module")
def samples():
    """Texts of ours: other places are not the same on every machine."""
    return texts.corpus("samples", "our samples", kilobytes=100).documents


@pytest.fixture(scope="module")
def newer():
    """The characters that the libraries disagree about."""
    return frozenset(newer_characters())


@pytest.fixture(scope="module")
def nasty(newer):
    """Texts without them: to find out what a difference is due to takes a while, and has a test of its own."""
    return [text for text in strings(300) if newer.isdisjoint(text)]


def test_a_mark_that_only_one_library_puts_in_order_is_found(monkeypatch):
    """U+08CF came with Unicode 14; a table older than that leaves it where it stands, and marks before it too."""
    monkeypatch.setattr(characters, "EVERY", "aq\u0301\u0323\u08ce\u08cf")
    ours = partial(unicodedata.normalize, "NFC")

    def older(text):
        return "\u08cf".join(map(ours, text.split("\u08cf")))

    assert characters.changed_differently("NFC", ours, older).characters == {"\u08cf"}
    assert not characters.changed_differently("NFC", ours, ours).characters


SOME = ("as DeepSeek, four splits", "tokens added")
MORE = ("as Llama 3, whole pieces first", "as Gemma", "Metaspace, always")


@pytest.mark.parametrize(
    "name", [*SOME, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)]
)
def test_every_difference_from_hugging_face_is_a_matter_of_unicode(
    name, tmp_path, samples, nasty
):
    subject = against_huggingface.trained(name, samples, tmp_path)
    assert comparing.compare(subject, "strings", nasty[:50]).unexplained == []
    assert comparing.compare(subject, "samples", samples[:2]).unexplained == []
    assert comparing.compare_decoding(subject, 40).unexplained == []
    assert {*SOME, *MORE} <= set(pipelines.PIPELINES)


@pytest.mark.parametrize("peer", training.PEERS)
def test_trained_here_is_trained_there(peer):
    corpus = texts.corpus("samples", "our samples", kilobytes=100)
    ties, learn = training.PEERS[peer]
    found = training.trained(corpus, peer, ties, learn, 2000)
    assert not found.n_unexplained
    assert found.n_there == 2000 - 256


# What makes the comparison one that can fail


def reads(table):
    """A tokenizer that knows but some letters."""
    return lambda text: [character in table for character in text]


def about(letters):
    """The libraries know these differently."""
    return lambda: [characters.Disagreement("letters", frozenset(letters))]


def test_a_difference_is_explained_only_by_the_characters_that_are_in_dispute():
    ours, theirs = reads("abc"), reads("ab")
    alike = Subject("x", {"way": (ours, theirs)}, disagreements=about("c"))
    outcome = comparing.compare(alike, "texts", ["ab", "abc", "xx"])
    assert (outcome.n, outcome.explained, outcome.unexplained) == (3, 1, [])
    assert outcome.characters == {"c": 1}
    unlike = Subject("x", {"way": (ours, theirs)}, disagreements=about("d"))
    assert comparing.compare(unlike, "texts", ["ab", "abcd"]).unexplained == [
        ("way", "abcd")
    ]
    both = Subject("x", {"way": (ours, reads("a"))}, disagreements=about("c"))
    assert comparing.compare(both, "texts", ["ac", "abc"]).unexplained == [
        ("way", "abc")
    ]
    rows = Subject("x", {}, decodings={"sum": (sum, max)}, ids=[1, 2])
    assert comparing.compare_decoding(rows, 5).unexplained != []


def test_the_sets_of_a_pattern():
    assert list(characters.sets_of(r"'(?i:[sd]|ll)| ?\p{L}+|[^\s\p{N}]\s*$")) == [
        "[sd]",
        r"\p{L}",
        r"[^\s\p{N}]",
        r"\s",
        "(?i:l)",
    ]


def test_strings_are_of_every_kind_and_the_same_each_time():
    every = list(strings(3000, "\u088f"))
    assert every == list(strings(3000, "\u088f"))
    assert len(set(every)) == 3000
    every = "".join(every)
    assert "\u088f" in every
    assert {ord(character) >> 16 for character in every} == set(range(17))
    assert all(
        special in every
        for special in (
            "<|endoftext|>",
            "<|fim_prefix|>",
            "\u200d",
            "\r\n",
            "’",
            "\x00",
            "\u3000",
        )
    )
    assert not characters.in_regex(r"\p{Cs}").intersection(every)


def test_published_files_are_put_where_tiktoken_finds_them(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "restored after the test")
    (tmp_path / "there").mkdir()
    real_file("r50k_base.tiktoken", tmp_path / "there")
    assert published.unpacked(tmp_path / "here", tmp_path / "there") == ["r50k_base"]
    subject = against_tiktoken.subject("r50k_base", tmp_path / "here")
    assert (
        comparing.compare(subject, "strings", ["it's naïve <|endoftext|>"]).unexplained
        == []
    )
