"""Recovered merges are read back as they were written, and a file that is not whole is no answer."""

from pathlib import Path

from bpe_core import Tokenizer, Vocabulary, train
from tui.recovered import digest_of, recall, remember

LEARNED = train("the theme of the other thesis " * 9, vocab_size=280)


def test_merges_come_back(tmp_path: Path) -> None:
    digest = digest_of(LEARNED)
    assert recall(tmp_path, digest) is None
    remember(tmp_path, digest, LEARNED.vocabulary.merges)
    assert recall(tmp_path, digest) == LEARNED.merges
    assert [path.name for path in tmp_path.iterdir()] == [digest]


def test_a_file_that_is_not_whole_is_no_answer(tmp_path: Path) -> None:
    remember(tmp_path, "digest", LEARNED.vocabulary.merges)
    whole = (tmp_path / "digest").read_bytes()
    for n_bytes in (1, 4, len(whole) - 1):
        (tmp_path / "digest").write_bytes(whole[:n_bytes])
        assert recall(tmp_path, "digest") is None


def test_a_file_that_was_changed_is_no_answer(tmp_path: Path) -> None:
    remember(tmp_path, "digest", LEARNED.vocabulary.merges)
    whole = (tmp_path / "digest").read_bytes()
    (tmp_path / "digest").write_bytes(whole[:-4] + b"\0\0\0\0")
    assert recall(tmp_path, "digest") is None
    (tmp_path / "other").write_bytes(whole)
    assert recall(tmp_path, "other") is None


def test_the_digest_of_ranks_is_there_before_their_merges(tmp_path: Path) -> None:
    ranks = Vocabulary.ranked({token: bytes([token]) for token in range(256)} | {256: b"ab"})
    assert digest_of(Tokenizer(ranks, "gpt4"))
    assert not ranks.knows_merges


def test_another_vocabulary_has_another_digest() -> None:
    other = Tokenizer(Vocabulary({**LEARNED.vocabulary.base, 1000: b"word"}), "gpt4")
    assert digest_of(other) != digest_of(LEARNED)
