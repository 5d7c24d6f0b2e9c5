"""The native format: everything comes back, a broken file is told in a sentence, and a file is never half written."""

import json
import os
import pickle
import stat
from pathlib import Path

import pytest

from bpe_core import (
    FormatError,
    OptionError,
    Tokenizer,
    Vocabulary,
    formats,
    load,
    save,
    train,
)
from bpe_core.formats import native
from bpe_core.formats.file import TokenizerFile
from bpe_core.patterns import splitter
from bpe_core.whole_file import write_atomically

TEXTS = ["aaabdaaabac é\x7f\u202e\x9b😊 é\x7f\u202e\x9b😊", "hello \\x41 hello\n"]


@pytest.fixture(
    params=[{}, {"pattern": "words", "end_of_word": "</w>"}],
    ids=["", "with an end of word"],
)
def tokenizer(request):
    specials = {
        "special_tokens": ["<|a|>", "<|\u202e|>"],
        "id_layout": "specials-first",
    }
    return train(TEXTS, vocab_size=280, **specials, **request.param)


def text_of(tokenizer):
    return "".join(native.write(tokenizer))


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    return formats.read(TokenizerFile(data, "mine.json", Path("mine.json")))


def test_everything_comes_back(tokenizer, tmp_path):
    save(tokenizer, tmp_path / "mine.json")
    loaded = load(tmp_path / "mine.json")
    assert loaded.merges == tokenizer.merges
    assert loaded.special_tokens == tokenizer.special_tokens
    assert loaded.pattern == tokenizer.pattern
    assert loaded.vocabulary.end_of_word == tokenizer.vocabulary.end_of_word
    assert loaded.record == tokenizer.record
    assert loaded.record.sources[0].characters == sum(map(len, TEXTS))
    assert loaded.encode(TEXTS[0]) == tokenizer.encode(TEXTS[0])
    assert text_of(loaded) == text_of(tokenizer)


@pytest.mark.parametrize("pattern", ["", "words"])
@pytest.mark.parametrize("format", ["native", "huggingface", "minbpe"])
def test_a_given_pattern_replaces_the_one_in_the_file(format, pattern, tmp_path):
    tokenizer = train(TEXTS, vocab_size=280, pattern="gpt2")
    save(tokenizer, tmp_path / "mine", format=format)
    loaded = load(tmp_path / "mine", pattern=pattern)
    assert loaded.splitter.split("a b") == splitter(pattern).split("a b")
    assert loaded.splitter.split("a b") != tokenizer.splitter.split("a b")


def test_the_first_version_of_the_format_is_written_and_read(tokenizer):
    head = json.loads(text_of(tokenizer))
    assert (head["format"], head["version"]) == ("bpescope", 1)
    with pytest.raises(
        FormatError, match="expected version 1 of the format bpescope; another"
    ):
        read(text_of(tokenizer).replace('"version": 1', '"version": 2'))


def test_equal_trainings_give_equal_files_and_pickles():
    """Nothing in them depends on when the training ended."""
    first, second = (
        train(TEXTS, vocab_size=280, special_tokens=["<|a|>"]) for _ in range(2)
    )
    assert first.record == second.record and first.record.created == ""
    assert '"created"' not in text_of(first) and text_of(first) == text_of(second)
    assert pickle.dumps(first) == pickle.dumps(second)
    assert pickle.dumps(first.at(5)) == pickle.dumps(second.at(5))


def test_the_date_in_a_file_of_an_earlier_version_is_kept_and_not_compared(tokenizer):
    date = "2026-01-02T03:04:05+00:00"
    older = text_of(tokenizer).replace(
        ' "training": {\n', f' "training": {{\n "created": "{date}",\n'
    )
    loaded = read(older)
    assert loaded.record.created == date and f'"created": "{date}"' in text_of(loaded)
    assert loaded.record == tokenizer.record and hash(loaded.record) == hash(
        tokenizer.record
    )


def test_it_sends_no_command_to_the_terminal_of_who_reads_it(tokenizer):
    assert not {"\x7f", "\x9b", "\u202e", "\x1b"} & set(text_of(tokenizer))


def test_a_vocabulary_from_elsewhere_is_kept_too():
    """Permuted bytes, holes, words that no merge makes, and merges that make what is there already."""
    base = {300 - byte: bytes([byte]) for byte in range(256)} | {999: b"whole"}
    merges = [(203, 202, 400), (202, 201, 401), (400, 201, 402), (203, 401, 402)]
    tokenizer = Tokenizer(
        Vocabulary(base, merges, {"<s>": 5}), r"\w+|\W+", name="théirs"
    )
    loaded = read(text_of(tokenizer))
    assert (loaded.name, loaded.record, loaded.pattern) == ("théirs", None, r"\w+|\W+")
    assert loaded.vocabulary.base == base
    assert loaded.merges == merges
    assert loaded.encode("whole abc") == tokenizer.encode("whole abc")


def test_a_name_of_a_pattern_that_has_changed_since_gives_way_to_its_source(tokenizer):
    text = text_of(tokenizer).replace(
        json.dumps(tokenizer.splitter.source), json.dumps("[a-z]+")
    )
    assert read(text).pattern == "[a-z]+"


@pytest.mark.parametrize(
    "pattern",
    [r"words(?#then)[\p{P}]", r"\d(?#then)gpt4", "<a>|b(?#else)words", r"(?#only)\w+"],
)
def test_a_pattern_of_several_parts_comes_back_as_it_was(pattern):
    tokenizer = train("low, lower 12 <a>", vocab_size=258, pattern=pattern)
    loaded = read(text_of(tokenizer))
    assert (loaded.pattern, loaded.splitter.lossy) == (
        pattern,
        tokenizer.splitter.lossy,
    )
    assert loaded.encode("low <a> 12, b") == tokenizer.encode("low <a> 12, b")


# Broken files


def test_paths_that_lead_nowhere(tokenizer, tmp_path):
    for path in (tmp_path / "missing.json", tmp_path, "a\0b"):
        with pytest.raises(FormatError, match="cannot be read"):
            load(path)
    for path in (tmp_path / "missing" / "mine.json", tmp_path, "a\0b"):
        with pytest.raises(FormatError, match="cannot be written"):
            save(tokenizer, path)
    with pytest.raises(OptionError, match="choose one of native"):
        save(tokenizer, tmp_path / "mine.json", format="zip")


# Atomic


def test_a_save_that_fails_leaves_the_old_file_and_no_litter(
    tokenizer, tmp_path, monkeypatch
):
    path = tmp_path / "mine.json"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        write_atomically((path, (str(1 // n) for n in (1, 0))))
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(
        FormatError, match=r"mine.json cannot be written: No space left on device\.$"
    ):
        save(tokenizer, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["mine.json"]


def no_space(_):
    raise OSError(28, "No space left on device")


def test_a_link_stays_a_link_and_permissions_stay_as_they_were(tokenizer, tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "real.json").chmod(0o600)
    (tmp_path / "link.json").symlink_to("real.json")
    save(tokenizer, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load(tmp_path / "real.json").merges == tokenizer.merges
    assert stat.S_IMODE((tmp_path / "real.json").stat().st_mode) == 0o600
