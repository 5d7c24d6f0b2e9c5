"""Each of the small texts shows what it promises, under the vocabularies in which it was first seen."""

import pytest
from real import real_file

from bpe_core import LiveText, Tokenizer, load
from bpe_core.content.samples import examples
from bpe_core.explain.pitfalls import Pitfalls
from bpe_core.explain.unstable import unstable


@pytest.fixture(scope="module")
def gpt4(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load(real_file("cl100k_base.tiktoken", tmp_path_factory.mktemp("gpt4")))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load(real_file("r50k_base.tiktoken", tmp_path_factory.mktemp("gpt2")), pattern="gpt2")


def text_of(title: str) -> str:
    return next(example.text for example in examples() if example.title == title)


def kinds(tokenizer: Tokenizer, title: str) -> set[str]:
    live = LiveText(tokenizer, text_of(title))
    pitfalls = Pitfalls(live)
    pitfalls.search(1e9)
    return {pitfall.kind for pitfall in (*pitfalls, *pitfalls.of_the_whole(), *pitfalls.at_end(unstable(live)))}


def test_titles_and_sentences_fit_their_lines() -> None:
    assert len({example.title for example in examples()}) == len(examples())
    for example in examples():
        assert example.title and len(example.title) <= 28
        assert example.see.endswith((".", "!")) and len(example.see) <= 65
        assert 0 <= example.cursor <= len(example.text)
        assert example.text.partition("\n")[0], "by its first line an example is known again"


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("The r in strawberry", "letters"),
        ("9.11 and 9.9", "decimal"),
        ("DefaultCellStyle", "partial token"),
        ("Uneven numbers", "number"),
        ("The space at the end", "trailing space"),
        ("Special tokens as text", "special token"),
        ("Twins", "look-alike"),
        ("What nobody sees", "invisible"),
        ("Characters in pieces", "script"),
    ],
)
def test_an_example_trips_gpt4s_vocabulary(gpt4: Tokenizer, title: str, kind: str) -> None:
    assert kind in kinds(gpt4, title)


def test_only_gpt2_pays_for_each_space_of_an_indentation(gpt2: Tokenizer, gpt4: Tokenizer) -> None:
    assert "indentation" in kinds(gpt2, "Indentation") and "indentation" not in kinds(gpt4, "Indentation")


def test_gpt2_knows_only_the_straight_apostrophe(gpt2: Tokenizer) -> None:
    assert kinds(gpt2, "Curly quotes") == {"curly quote"}
