"""The native format: everything comes back, a broken file is told in a sentence, and a file is never half written."""

import json
import os
import random
import stat

import pytest

from bpe_core import FormatError, OptionError, PatternError, Tokenizer, Vocabulary, formats, load, save, train
from bpe_core.formats import atomic, native
from bpe_core.formats.file import TokenizerFile

TEXTS = ["aaabdaaabac é\x7f\u202e\x9b😊 é\x7f\u202e\x9b😊", "hello \\x41 hello\n"]


@pytest.fixture
def tokenizer():
    return train(TEXTS, vocab_size=280, special_tokens=["<|a|>", "<|\u202e|>"], id_layout="specials-first")


def text_of(tokenizer):
    return "".join(native.write(tokenizer))


def read(text):
    return formats.read(TokenizerFile(text if isinstance(text, bytes) else text.encode(), "mine.json"))


def test_everything_comes_back(tokenizer, tmp_path):
    save(tokenizer, tmp_path / "mine.json")
    loaded = load(tmp_path / "mine.json")
    assert loaded.merges == tokenizer.merges
    assert loaded.special_tokens == tokenizer.special_tokens
    assert loaded.pattern == "gpt4"
    assert loaded.record == tokenizer.record
    assert loaded.record.sources[0].characters == sum(map(len, TEXTS))
    assert loaded.encode(TEXTS[0]) == tokenizer.encode(TEXTS[0])
    assert text_of(loaded) == text_of(tokenizer)


def test_a_person_can_read_it(tokenizer):
    lines = text_of(tokenizer).splitlines()
    assert lines[1] == ' "format": "bpescope",'
    assert lines[lines.index(' "merges": [') + 1] == '[99, 99, 258, 4, 1, 52, "aa"],'  # left right token count ties ...
    assert any(line.endswith('" é"],') for line in lines)


def test_it_sends_no_command_to_the_terminal_of_who_reads_it(tokenizer):
    assert not {"\x7f", "\x9b", "\u202e", "\x1b"} & set(text_of(tokenizer))


def test_an_earlier_step_is_saved_as_far_as_it_goes(tokenizer):
    loaded = read(text_of(tokenizer.at(3)))
    assert loaded.merges == tokenizer.merges[:3]
    assert loaded.record.steps == tokenizer.record.steps[:3]


def test_a_vocabulary_from_elsewhere_is_kept_too():
    """Permuted bytes, holes, words that no merge makes, and merges that make what is there already."""
    base = {300 - byte: bytes([byte]) for byte in range(256)} | {999: b"whole"}
    merges = [(203, 202, 400), (202, 201, 401), (400, 201, 402), (203, 401, 402)]
    tokenizer = Tokenizer(Vocabulary(base, merges, {"<s>": 5}), r"\w+|\W+", name="théirs")
    loaded = read(text_of(tokenizer))
    assert (loaded.name, loaded.record, loaded.pattern) == ("théirs", None, r"\w+|\W+")
    assert loaded.vocabulary.base == base
    assert loaded.merges == merges
    assert loaded.encode("whole abc") == tokenizer.encode("whole abc")


def test_another_pattern_can_be_asked_for(tokenizer, tmp_path):
    save(tokenizer, tmp_path / "mine.json")
    assert load(tmp_path / "mine.json", pattern="none").pattern == "none"
    with pytest.raises(PatternError):
        load(tmp_path / "mine.json", pattern="(")


def test_a_name_of_a_pattern_that_has_changed_since_gives_way_to_its_source(tokenizer):
    text = text_of(tokenizer).replace(json.dumps(tokenizer.splitter.source), json.dumps("[a-z]+"))
    assert read(text).pattern == "[a-z]+"


@pytest.mark.parametrize("pattern", [r"words(?#then)[\p{P}]", r"\d(?#then)gpt4", "<a>|b(?#else)words", r"(?#only)\w+"])
def test_a_pattern_of_several_parts_comes_back_as_it_was(pattern):
    tokenizer = train("low, lower 12 <a>", vocab_size=258, pattern=pattern)
    loaded = read(text_of(tokenizer))
    assert (loaded.pattern, loaded.splitter.lossy) == (pattern, tokenizer.splitter.lossy)
    assert loaded.encode("low <a> 12, b") == tokenizer.encode("low <a> 12, b")


# Broken files


def changed(tokenizer, **values):
    return json.dumps({**json.loads(text_of(tokenizer)), **values})


def with_row(tokenizer, index, row):
    rows = json.loads(text_of(tokenizer))["merges"]
    rows[index] = row
    return changed(tokenizer, merges=rows)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([99, 900, 261, 1, 1, 1, "a"], r"in merges\[3\], the id 900 is no byte, and no merge before it makes it"),
        ([99, 99, 261, 1, 1, 1, "aa"], r"in merges\[3\], 99 and 99 have been merged before"),
        ([99, 34, 258, 1, 1, 1, "a "], r"in merges\[3\], the id 258 is taken"),
        ([34, 197, 261, 2, 15, 46, "the"], r"in merges\[3\], the text is not what the ids stand for"),
        ([34, 197, 261, 2, 15, "46", "the"], r"in merges\[3\], a whole number from 0 on was expected for n_tokens"),
        ([34, 197, 261, 2, 15, -46, "the"], "not -46"),
        ([34, 197, True, 2, 15, 46, "the"], "expected for token, not true"),
        ([34, 197, 1 << 80, 2, 15, 46, "the"], "the number 12089258196146291747… is too large"),
        ([34, 197, 1 << 52, 2, 15, 46, "the"], "is taken or too large"),
        ([34, 197, 261, 2, 15, 46, 7], "a text was expected for text, not 7"),
        ([34, 197, 261], "a row of 7 values"),
        ({}, "a row of 7 values"),
    ],
)
def test_a_merge_that_cannot_be(tokenizer, row, sentence):
    with pytest.raises(FormatError, match=f"^mine.json is broken: .*{sentence}"):
        read(with_row(tokenizer, 3, row))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"version": 3}, "a newer bpescope may read this"),
        ({"version": 2}, "learned by Picky BPE, which bpescope no longer has; train it again"),
        ({"columns": []}, "in columns"),
        ({"merges": None}, "in merges, a list was expected, not null"),
        ({"n_vocab": 7}, "in n_vocab, 281 was expected|in n_vocab, 280 was expected"),
        ({"first_byte": -1}, "in first_byte"),
        ({"first_byte": 0}, r"in merges\[0\]"),
        ({"special_tokens": []}, "in special_tokens"),
        ({"special_tokens": {"<s>": 1.5}}, "in special_tokens"),
        ({"special_tokens": {"<s>": 99}}, "is taken"),
        ({"pattern_source": "("}, "split pattern is not a valid"),
        ({"name": ["x"]}, "in name, a text was expected, not a list"),
        ({"training": 1}, "in training, an object was expected, not 1"),
        ({"training": {}}, "in training.pattern, there is no value"),
    ],
)
def test_a_header_that_cannot_be(tokenizer, values, sentence):
    with pytest.raises(FormatError, match=sentence):
        read(changed(tokenizer, **values))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"hello", "no tokenizer file that is known here; supported: tiktoken"),
        (b'{"format": "bpescope", ', "line 1, column 24 is not JSON"),
        (b'{"format": "bpescope"}\nx', "line 2"),
        (b'{"format": "bpescope", "a": "\xff"}', "not UTF-8 at byte 29"),
        (b'{"format": "bpescope", "format": "bpescope"}', "'format' stands twice"),
        (b'{"format": "bpescope", "a": NaN}', "NaN is no number"),
        (b'{"format": "bpescope", "a": ' + b"9" * 10_000 + b"}", "too large"),
        (b'{"format": "bpescope", "a": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_such_file(tmp_path, content, sentence):
    (tmp_path / "mine.json").write_bytes(content)
    with pytest.raises(FormatError, match=sentence):
        load(tmp_path / "mine.json")


def test_tokens_that_double_with_every_line_do_not_fill_the_memory():
    merges = [[99, 99, 256], *([n, n, n + 1] for n in range(256, 300))]
    header = {"format": "bpescope", "version": 1, "first_byte": 0, "columns": ["left", "right", "token", "text"]}
    rows = [[*merge, "c" * 2 ** (index + 1) if index < 10 else ""] for index, merge in enumerate(merges)]
    with pytest.raises(FormatError, match=r"in merges\[10\]"):
        read(json.dumps({**header, "merges": rows}))


def test_any_damage_is_told_in_a_sentence(tokenizer):
    """Bytes changed, cut, doubled and put in at random: the file either still makes sense or raises `FormatError`."""
    whole = text_of(tokenizer).encode()
    r = random.Random(5)
    alien = [b"-", b"1e999", b"NaN", b"9" * 5000, b"[", b"{", b"null", b"\xff", b"[]", b"true,", b'""', b"1.5"]
    told = 0
    for _ in range(3000):
        data = bytearray(whole)
        for _ in range(r.randrange(1, 4)):
            i, length = r.randrange(len(data)), r.randrange(30)
            damage = r.choice((b"", r.choice(alien), bytes(data[i : i + length]) * 2, r.randbytes(1)))
            data[i : i + length] = damage
        try:
            read(bytes(data))
        except FormatError as error:
            told += 1
            assert str(error).startswith("mine.json is broken: ") or not native.recognizes(bytes(data))
            assert "\n" not in str(error)
    assert told > 2500


def test_every_truncation_is_noticed(tokenizer):
    whole = text_of(tokenizer).encode()
    for end in range(30, len(whole) - 3, 7):
        with pytest.raises(FormatError):
            read(whole[:end])


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


def test_a_save_that_fails_leaves_the_old_file_and_no_litter(tokenizer, tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        atomic.write_atomically(path, (str(1 // n) for n in (1, 0)))
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(FormatError, match=r"mine.json cannot be written: No space left on device\.$"):
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
