"""The sample texts are listed properly, and each holds what its reason promises; each of the small ones shows it."""

import re
import subprocess
import sys
from decimal import Decimal

import pytest
from real import real_file

from bpe_core import LiveText, Tokenizer, load
from bpe_core.content.samples import EXAMPLES, SAMPLES, SampleText
from bpe_core.explain.pitfalls import Pitfalls
from bpe_core.explain.unstable import unstable
from bpe_core.trainer import train


def text_of(name: str) -> str:
    """The text of a sample, to the last carriage return."""
    [sample] = [sample for sample in SAMPLES if sample.name == name]
    return sample.path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_titles_and_reasons_fit_the_screen_and_texts_are_small_and_harmless(
    sample: SampleText,
) -> None:
    assert 0 < len(sample.title) <= 24 and 20 <= len(sample.reason) <= 78
    assert (
        sample.reason.endswith(".")
        and sample.reason.isprintable()
        and sample.title.isprintable()
    )
    data = sample.path.read_bytes()
    assert 0 < len(data) < 64_000
    text = data.decode("utf-8")
    assert not text.startswith("\ufeff")
    assert not set(text) & {"\x00", "\x07", "\x1b", "\x7f", "\x9b", "\ufffd"}, (
        "nothing commands a terminal"
    )


@pytest.mark.parametrize(
    ("name", "promised"),
    [
        *(
            ("one-tale-many-scripts", letter)
            for letter in ("a", "б", "γ", "ع", "א", "न", "ท", "一", "の", "パ", "한")
        ),
        ("json-beside-yaml", '{"name": "Alice", "age": 30}'),
        *(("emoji-and-combining", bit) for bit in ("cafe\u0301", "caf\u00e9")),
        *(
            ("whitespace", bit)
            for bit in ("\r\n", "\n\t\t\t", " \n", "\rThi", "\u3000")
        ),
        ("token-traps", "How many times does the letter r occur in strawberry?"),
        ("token-traps", "9.11 > 9.9"),
        ("token-traps", ".DefaultCellStyle\n"),
        ("token-traps", "\n    for item in items:\n        if"),
        ("token-traps", "don't  don’t  DON'T  DON’T"),
        ("token-traps", "The answer is \n"),
        ("token-traps", "\n SolidGoldMagikarp\n"),
        ("token-traps", "<|endoftext|>"),
        ("token-traps", "caf\u00e9 cafe\u0301"),
        ("token-traps", "\u2126, Greek \u03a9"),
        ("how-bpe-works", "aaabdaaabac"),
    ],
)
def test_a_text_holds_what_its_reason_promises(name: str, promised: str) -> None:
    assert promised in text_of(name)


def test_the_python_program_runs() -> None:
    path = next(sample.path for sample in SAMPLES if sample.name == "python-program")
    ran = subprocess.run(
        [sys.executable, "-I", path],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert "-67.45" in ran.stdout
    assert "#circle: D8 > D8" in ran.stdout


def test_the_sums_are_right() -> None:
    text = text_of("numbers")
    for left, sign, right in re.findall(
        r"^([\d.]+) ([<=>]) ([\d.]+)$", text, flags=re.MULTILINE
    ):
        a, b = Decimal(left), Decimal(right)
        assert sign == ("<" if a < b else ">" if a > b else "=")
    sums = re.findall(r"^(\d+) \+ (\d+) = (\d+)$", text, flags=re.MULTILINE)
    assert {len(a) for a, _, _ in sums} == set(range(1, 13))
    assert all(int(a) + int(b) == int(c) for a, b, c in sums)
    assert "9.11 < 9.9\n" in text
    assert re.search(r"3\.14159265358979\d{300}", text)


def test_the_forum_without_names_is_the_forum_without_names() -> None:
    forum = text_of("forum-with-names")
    names = set(re.findall(r" by (\w+), ", forum))
    assert len(names) == 8
    any_name = "|".join(names)
    assert len(re.findall(any_name, forum)) > 400
    assert re.sub(rf"( by|,) ({any_name})\b", "", forum) == text_of("forum-clean")
    assert not re.search(any_name, text_of("forum-clean"))


def test_the_names_of_the_forum_become_tokens_which_the_clean_forum_never_uses() -> (
    None
):
    forum = text_of("forum-with-names")
    tokenizer = train(forum, vocab_size=256 + 200, pattern="gpt4")
    names = [
        tokenizer.encode(f" {name}")
        for name in sorted(set(re.findall(r" by (\w+), ", forum)))
    ]
    assert [len(ids) for ids in names] == [1] * 8
    assert not {ids[0] for ids in names} & set(tokenizer.encode(text_of("forum-clean")))


@pytest.fixture(scope="module")
def gpt4(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load(real_file("cl100k_base.tiktoken", tmp_path_factory.mktemp("gpt4")))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return load(
        real_file("r50k_base.tiktoken", tmp_path_factory.mktemp("gpt2")), pattern="gpt2"
    )


def kinds(tokenizer: Tokenizer, title: str) -> set[str]:
    live = LiveText(
        tokenizer, next(example.text for example in EXAMPLES if example.title == title)
    )
    pitfalls = Pitfalls(live)
    pitfalls.search(1e9)
    return {
        pitfall.kind
        for pitfall in (
            *pitfalls,
            *pitfalls.of_the_whole(),
            *pitfalls.at_end(unstable(live)),
        )
    }


def test_titles_and_sentences_fit_their_lines() -> None:
    assert len({example.title for example in EXAMPLES}) == len(EXAMPLES)
    for example in EXAMPLES:
        assert example.title and len(example.title) <= 28
        assert example.see.endswith((".", "!")) and len(example.see) <= 65
        assert 0 <= example.cursor <= len(example.text)
        assert example.text.partition("\n")[0], (
            "by its first line an example is known again"
        )


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
def test_an_example_trips_gpt4s_vocabulary(
    gpt4: Tokenizer, title: str, kind: str
) -> None:
    assert kind in kinds(gpt4, title)


def test_only_gpt2_pays_for_each_space_of_an_indentation(
    gpt2: Tokenizer, gpt4: Tokenizer
) -> None:
    assert "indentation" in kinds(gpt2, "Indentation") and "indentation" not in kinds(
        gpt4, "Indentation"
    )


def test_gpt2_knows_only_the_straight_apostrophe(gpt2: Tokenizer) -> None:
    assert kinds(gpt2, "Curly quotes") == {"curly quote"}
