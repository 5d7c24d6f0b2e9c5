"""The sample texts: they are there, they are listed properly, and each holds what its reason promises."""

import json
import re
import subprocess
import sys
import unicodedata
from decimal import Decimal
from pathlib import Path

import pytest
import regex
from rich.cells import cell_len

from bpe_core.content.samples import Sample, editor_greeting, folder, read_manifest, samples
from bpe_core.errors import TextError
from bpe_core.trainer import Trainer, train

NAMES = [sample.name for sample in samples()]


def text_of(name: str) -> str:
    """The text of a sample, to the last carriage return."""
    [sample] = [sample for sample in samples() if sample.name == name]
    return sample.path.read_bytes().decode("utf-8")


# ---- the list


def test_a_sample_knows_where_it_lies_and_why() -> None:
    sample = samples()[-2]
    assert sample == Sample("aaabdaaabac", "aaabdaaabac", sample.reason, folder() / "aaabdaaabac.txt", "Textbook")
    assert sample.path.read_bytes() == b"aaabdaaabac", "the textbook example is exact: no line end"
    assert samples() is samples(), "the manifest is read once"


def test_there_are_enough_samples_and_none_twice() -> None:
    assert len(samples()) >= 12
    assert len(set(NAMES)) == len({sample.title for sample in samples()}) == len(samples())


def test_every_text_in_the_folder_is_listed_and_nothing_else_is() -> None:
    listed = {sample.path.name for sample in samples()}
    assert listed | {"samples.toml", "editor-greeting.txt"} == {path.name for path in folder().iterdir()}


@pytest.mark.parametrize("sample", samples(), ids=NAMES)
def test_titles_and_reasons_fit_the_screen(sample: Sample) -> None:
    assert 0 < len(sample.title) <= 24
    assert 20 <= len(sample.reason) <= 78
    assert sample.reason.endswith(".")
    assert sample.reason.isprintable()
    assert sample.title.isprintable()


def test_groups_are_not_torn_apart() -> None:
    groups = [sample.group for sample in samples()]
    changes = [here for here, before in zip(groups, [None, *groups], strict=False) if here != before]
    assert len(changes) == len(set(groups))


@pytest.mark.parametrize("sample", samples(), ids=NAMES)
def test_texts_are_utf8_and_small_and_harmless(sample: Sample) -> None:
    data = sample.path.read_bytes()
    assert 0 < len(data) < 64_000
    text = data.decode("utf-8")
    assert not text.startswith("\ufeff")
    assert not set(text) & {"\x00", "\x07", "\x1b", "\x7f", "\x9b", "\ufffd"}, "nothing commands a terminal"


def test_all_together_are_worth_a_training_and_no_burden() -> None:
    assert 120_000 < sum(sample.path.stat().st_size for sample in samples()) < 250_000


def test_the_greeting_fits_beside_a_merge_log() -> None:
    lines = editor_greeting().splitlines()
    assert 12 <= len(lines) <= 18
    assert max(map(cell_len, lines)) <= 46  # beside the token, in a terminal of 80
    for promised in ("def ", "1024", "é", "😊", "дождь", "雨", "strawberry"):
        assert promised in editor_greeting()


# ---- when something is wrong


def test_missing_samples_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="sample texts are missing"):
        folder((tmp_path / "neither", tmp_path / "nor"))


def test_the_package_is_asked_before_the_checkout(tmp_path: Path) -> None:
    inside, beside = tmp_path / "inside", tmp_path / "beside"
    for home in (inside, beside):
        home.mkdir()
        (home / "samples.toml").touch()
    assert folder((inside, beside)) == inside
    (inside / "samples.toml").unlink()
    assert folder((inside, beside)) == beside


@pytest.mark.parametrize(
    "manifest", ["", "sample = 1", "[[sample]]\nfile = 'a.txt'", "[[sample]", "\xff", "sample = [1]"]
)
def test_a_broken_manifest_is_one_sentence(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "samples.toml").write_bytes(manifest.encode("latin-1"))
    with pytest.raises(TextError, match=r"list of samples .* is broken"):
        read_manifest(tmp_path)


# ---- what the reasons promise


def test_the_tale_is_told_alike_in_all_languages() -> None:
    versions = text_of("one-tale-many-scripts").split("\n\n\n# ")[1:]
    assert len(versions) == 16
    for version in versions:
        heading, *paragraphs = version.strip().split("\n\n")
        assert len(paragraphs) == 14, heading
        assert sum("7" in paragraph for paragraph in paragraphs) == 1, heading
    scripts = {unicodedata.name(letter).split()[0] for version in versions for letter in version if letter.isalpha()}
    wanted = "LATIN CYRILLIC GREEK ARABIC HEBREW DEVANAGARI THAI CJK HIRAGANA KATAKANA HANGUL"
    assert scripts >= set(wanted.split())


def test_the_python_program_runs() -> None:
    path = next(sample.path for sample in samples() if sample.name == "python-program")
    ran = subprocess.run([sys.executable, "-I", path], capture_output=True, text=True, timeout=30, check=True)
    assert "-67.45" in ran.stdout
    assert "#circle: D8 > D8" in ran.stdout


def test_the_json_is_json() -> None:
    first, second = re.findall(r"JSON\n\n(\{.*?\})\n\nYAML", text_of("json-beside-yaml"), flags=re.DOTALL)
    assert json.loads(first) == {"name": "Alice", "age": 30}
    assert [boat["length"] for boat in json.loads(second)["boats"]] == [9.11, 9.9, 11.25]


def test_the_sums_are_right() -> None:
    text = text_of("numbers")
    for left, sign, right in re.findall(r"^([\d.]+) ([<=>]) ([\d.]+)$", text, flags=re.MULTILINE):
        a, b = Decimal(left), Decimal(right)
        assert sign == ("<" if a < b else ">" if a > b else "=")
    sums = re.findall(r"^(\d+) \+ (\d+) = (\d+)$", text, flags=re.MULTILINE)
    assert {len(a) for a, _, _ in sums} == set(range(1, 13))
    assert all(int(a) + int(b) == int(c) for a, b, c in sums)
    assert "9.11 < 9.9\n" in text
    assert re.search(r"3\.14159265358979\d{300}", text)


def test_emoji_come_in_families_and_accents_in_both_forms() -> None:
    text = text_of("emoji-and-combining")
    for promised in ("👨\u200d👩\u200d👧\u200d👦", "👍🏽", "🇯🇵", "cafe\u0301", "caf\u00e9", "☂\ufe0f"):
        assert promised in text
    assert max(len(character.encode()) for character in regex.findall(r"\X", text)) == 28
    spellings = r"^(.+?)   (\d+) and (\d+) code points, (\d+) and (\d+) bytes$"
    for both, *figures in re.findall(spellings, text, flags=re.MULTILINE):
        composed, loose = both[: int(figures[0])], both[int(figures[0]) + 1 :]
        assert unicodedata.normalize("NFC", loose) == composed != loose
        assert [len(composed), len(loose), len(composed.encode()), len(loose.encode())] == [int(n) for n in figures]


def test_whitespace_is_as_mixed_as_promised() -> None:
    text = text_of("whitespace")
    assert {"\n", "\r\n", "\r"} <= set(re.findall(r"\r\n|\n|\r", text)), "git or an editor has mended the line ends"
    assert re.search(r"[^ ] +\n", text), "spaces at the ends of lines"
    assert "\n\t\t\t" in text
    assert len(re.findall(r"^\|.\|  U\+", text, flags=re.MULTILINE)) == 19
    assert text.endswith("   ")


def test_long_words_are_long() -> None:
    words = re.findall(r"[^\W\d_]+", text_of("very-long-words"))
    assert sum(len(word) >= 40 for word in words) > 12
    assert max(map(len, words)) >= 144


@pytest.mark.parametrize(
    "trap",
    [
        "How many times does the letter r occur in strawberry?",
        "9.11 > 9.9",
        ".DefaultCellStyle\n",
        "\n    for item in items:\n        if",
        "don't  don’t  DON'T  DON’T",
        "The answer is \n",
        "\n SolidGoldMagikarp\n",
        "<|endoftext|>",
        "caf\u00e9 cafe\u0301",
        "\u2126, Greek \u03a9",
    ],
)
def test_token_traps_are_set(trap: str) -> None:
    assert trap in text_of("token-traps")


def test_the_forum_without_names_is_the_forum_without_names() -> None:
    forum = text_of("forum-with-names")
    names = set(re.findall(r" by (\w+), ", forum))
    assert len(names) == 8
    any_name = "|".join(names)
    assert len(re.findall(any_name, forum)) > 400
    assert re.sub(rf"( by|,) ({any_name})\b", "", forum) == text_of("forum-clean")
    assert not re.search(any_name, text_of("forum-clean"))


def test_the_names_of_the_forum_become_tokens_which_the_clean_forum_never_uses() -> None:
    forum = text_of("forum-with-names")
    tokenizer = train(forum, vocab_size=256 + 200, pattern="gpt4")
    names = [tokenizer.encode(f" {name}") for name in sorted(set(re.findall(r" by (\w+), ", forum)))]
    assert [len(ids) for ids in names] == [1] * 8
    assert not {ids[0] for ids in names} & set(tokenizer.encode(text_of("forum-clean")))


def test_the_textbook_examples_come_out() -> None:
    trainer = Trainer(text_of("aaabdaaabac"), vocab_size=259, pattern="none")
    assert [trainer.n_tokens, *(merge.n_tokens for merge in trainer)] == [11, 9, 7, 5]
    words = Trainer(text_of("low-lower-widest-newest"), vocab_size=262, pattern="words", ties="largest")
    assert [merge.token_bytes.decode() for merge in words] == ["st", "est", "ow", "low", "west", "ne"]


def test_english_prose_teaches_english() -> None:
    tokenizer = train(text_of("english-prose"), vocab_size=256 + 300, pattern="gpt4")
    assert len(tokenizer.encode(" the Saturday message of the office")) == 6, "every word is one token"


def test_the_explanation_counts_correctly() -> None:
    rows = re.findall(r"^\| \d .*?\| `([a-d ]+)` +\| (\d+) +\|$", text_of("how-bpe-works"), flags=re.MULTILINE)
    assert [len(text.split()) for text, _ in rows] == [int(length) for _, length in rows] == [11, 9, 7, 5]
    assert {text.replace(" ", "") for text, _ in rows} == {"aaabdaaabac"}
