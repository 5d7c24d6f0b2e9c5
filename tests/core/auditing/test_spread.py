"""In how many documents a token occurs, and how much of it comes from one."""

from collections import Counter

import pytest

from bpe_core import train
from bpe_core.auditing import usage
from bpe_core.corpus import find_files
from bpe_core.errors import Stopped

TEXTS = ("low lower lowest " * 40, "low and behold\n" * 9, "", "a newer, wider, lower one " * 3)
LEARNED = train(TEXTS, vocab_size=290)


@pytest.fixture
def files(tmp_path):
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    return find_files([str(tmp_path)]).files


def test_it_is_what_each_document_holds(files):
    found = usage.spread_of(LEARNED, files)
    counts = [Counter(LEARNED.encode(text)) for text in TEXTS]
    for token in LEARNED.vocabulary.ids():
        here = [count[token] for count in counts if count[token]]
        assert found.document_frequency.get(token, 0) == len(here)
        assert found.largest_share.get(token) == (max(here) / sum(here) if here else None)


def test_a_document_that_proves_unreadable_is_left_out(files):
    files[1].path.write_bytes(b"low \xff\xfe\xff low")
    found = usage.spread_of(LEARNED, files)
    (low,) = LEARNED.encode("low")
    assert found.document_frequency[low] == sum(low in LEARNED.encode(TEXTS[number]) for number in (0, 2, 3))


def test_one_document_or_too_large_a_corpus_is_not_looked_at(files, monkeypatch):
    assert usage.spread_of(LEARNED, files[:1]) is None
    monkeypatch.setattr(usage, "MOST_BYTES", sum(file.size for file in files) - 1)
    assert usage.spread_of(LEARNED, files) is None


def test_it_can_be_stopped(files):
    with pytest.raises(Stopped):
        usage.spread_of(LEARNED, files, stop=lambda: True)
