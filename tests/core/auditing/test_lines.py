"""The lines that a token came from: found in the files again, where the text really becomes the token."""

from itertools import islice

from bpe_core import train
from bpe_core.auditing.lines import LINES_A_SLICE, occurrences
from bpe_core.corpus import find_files


def found(tokenizer, token, folder):
    return [place for place in occurrences(tokenizer, token, find_files([folder]).files) if place]


def test_a_name_is_followed_to_its_lines(tmp_path):
    name = " SolidGoldMagikarp"
    (tmp_path / "clean.txt").write_text("nobody counts here\n" * 3)
    (tmp_path / "names.txt").write_text("one\nthe user SolidGoldMagikarp counts\n\nand SolidGoldMagikarp again")
    tokenizer = train((name + "\n") * 50, vocab_size=290)
    token = next(i for i in range(256, 290) if tokenizer.token_bytes(i) == name.encode())
    first, second = found(tokenizer, token, tmp_path)
    assert (first.file.endswith("names.txt"), first.line, first.column) == (True, 2, 8)
    assert (first.before, first.text, first.after) == ("the user", name, " counts")
    assert (second.line, second.column, second.after) == (4, 3, " again")


def test_only_where_the_text_becomes_the_token(tmp_path):
    tokenizer = train("abc abc abc abc ab", vocab_size=258)  # ab, abc
    (tmp_path / "t.txt").write_text("abc\nxab\nab\n")
    ab = next(i for i in (256, 257) if tokenizer.token_bytes(i) in (b"ab", b"bc"))
    lines = {place.line for place in found(tokenizer, ab, tmp_path)}
    text = (tmp_path / "t.txt").read_text().splitlines()
    assert lines == {n for n, line in enumerate(text, 1) if ab in tokenizer.encode(line)}


def test_tokens_of_line_feeds_and_of_parts_of_characters(tmp_path):
    text = "é\n\nè\n\nx" * 20
    tokenizer = train(text, vocab_size=270, pattern="gpt4")
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    ids = set(tokenizer.encode(text))
    for token in ids:
        places = found(tokenizer, token, tmp_path)
        assert places, tokenizer.token_bytes(token)
        assert all(place.file.endswith("t.txt") for place in places)


def test_whoever_looks_can_stop_at_any_time(tmp_path):
    (tmp_path / "t.txt").write_text("nothing\n" * (3 * LINES_A_SLICE))
    tokenizer = train("zz zz zz", vocab_size=257)
    assert list(islice(occurrences(tokenizer, 256, find_files([tmp_path]).files), 2)) == [None, None]
