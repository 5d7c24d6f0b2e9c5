"""Pairs of tokens that are text only together."""

import pytest
from real import real_file

from bpe_core import load, save, train
from bpe_core.auditing.static import incomplete_bigrams
from bpe_core.cli.main import main

LEARNED = train("мир и миру миром 世界 世 " * 20, vocab_size=270, pattern="gpt4")


def test_they_are_all_pairs_whose_text_is_just_them():
    tokens = LEARNED.vocabulary.ids()
    expected = set()
    for left in tokens:
        for right in tokens:
            data = LEARNED.token_bytes(left) + LEARNED.token_bytes(right)
            whole = [one.decode(errors="ignore").encode() == one for one in map(LEARNED.token_bytes, (left, right))]
            text = data.decode(errors="ignore")
            if text.encode() == data and not any(whole) and LEARNED.encode(text) == [left, right]:
                expected.add((left, right))
    found = list(incomplete_bigrams(LEARNED))
    assert {bigram[:2] for bigram in found} == expected
    assert all(LEARNED.encode(text) == [left, right] for left, right, text in found)


@pytest.mark.parametrize(("name", "n"), [("r50k_base", 12_960), ("cl100k_base", 51_209)])
def test_published_vocabularies_have_as_many_as_are_known(tmp_path, name, n):
    tokenizer = load(real_file(f"{name}.tiktoken", tmp_path))
    theirs = tokenizer.to_tiktoken()  # where the two know different versions of Unicode, the figures are tiktoken's
    found = list(incomplete_bigrams(tokenizer))
    assert sum(theirs.encode_ordinary(text) == [left, right] for left, right, text in found) == n
    assert n <= len(found) <= n + 1


def test_the_command_prints_a_line_each(tmp_path, capsys):
    save(LEARNED, tmp_path / "t.json")
    assert main(["audit", "-t", str(tmp_path / "t.json"), "--bigrams"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == len(list(incomplete_bigrams(LEARNED)))
    assert "incomplete bigrams." in err
