"""A rank file whose merges were recovered is read back whole, and what is not as it was written is no answer."""

from pathlib import Path

import pytest

from bpe_core import Tokenizer, load, save, train
from tui.disk.recovered import Loaded, load_again, recall, remember

LEARNED = train("the theme of the other thesis " * 9, vocab_size=280)


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """A file of ranks, which tells no merges."""
    path = tmp_path / "learned.tiktoken"
    save(LEARNED, path, format="tiktoken")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where what was recovered is kept."""
    folder = tmp_path / "recovered"
    folder.mkdir()
    return folder


def recovered(folder: Path, path: Path) -> Loaded:
    loaded = load_again(folder, path, "gpt4")
    loaded.tokenizer.vocabulary.recover()
    remember(folder, loaded)
    return loaded


def knows_merges(tokenizer: Tokenizer) -> bool:
    return tokenizer.vocabulary.knows_merges


def test_the_second_time_the_merges_are_there_at_once(ranks: Path, folder: Path) -> None:
    assert not knows_merges(load_again(folder, ranks, "gpt4").tokenizer)
    recovered(folder, ranks)
    again = load_again(folder, ranks, "gpt4").tokenizer
    assert knows_merges(again)
    assert again.merges == LEARNED.merges
    assert again.encode("the other theme") == LEARNED.encode("the other theme")
    assert (again.pattern, again.name, again.special_tokens) == ("gpt4", "learned", {})
    assert len(list(folder.iterdir())) == 1  # and nothing half written


def test_another_pattern_is_another_tokenizer(ranks: Path, folder: Path) -> None:
    recovered(folder, ranks)
    other = load_again(folder, ranks, "gpt2").tokenizer
    assert other.pattern == "gpt2"
    assert not knows_merges(other)


def test_a_file_of_another_name_is_another_tokenizer(ranks: Path, folder: Path) -> None:
    recovered(folder, ranks)
    assert load_again(folder, ranks.rename(ranks.with_name("other.tiktoken")), "gpt4").tokenizer.name == "other"


def test_a_file_that_has_changed_is_read_anew(ranks: Path, folder: Path) -> None:
    loaded = load_again(folder, ranks, "gpt4")
    loaded.tokenizer.vocabulary.recover()
    save(train("another text altogether " * 9, vocab_size=270), ranks, format="tiktoken")
    remember(folder, loaded)  # would be kept for the text that is there now
    assert not list(folder.iterdir())
    assert load_again(folder, ranks, "gpt4").tokenizer.n_vocab == load(ranks, pattern="gpt4").n_vocab


@pytest.mark.parametrize("damage", [b"", b"\xff", b"no such thing" * 9])
def test_what_is_not_as_it_was_written_is_no_answer(ranks: Path, folder: Path, damage: bytes) -> None:
    recovered(folder, ranks)
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    for place in (0, 40, len(whole) // 2, len(whole) - 1):
        kept.write_bytes(whole[:place] + damage)
        assert recall(folder, kept.name) is None
        assert not knows_merges(load_again(folder, ranks, "gpt4").tokenizer)
    kept.write_bytes(whole)
    kept.rename(folder / "other")
    assert recall(folder, "other") is None


def test_it_is_written_again_where_it_was_damaged(ranks: Path, folder: Path) -> None:
    recovered(folder, ranks)
    (kept,) = folder.iterdir()
    kept.write_bytes(b"damaged")
    recovered(folder, ranks)
    assert knows_merges(load_again(folder, ranks, "gpt4").tokenizer)


def test_a_folder_is_not_looked_up(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    save(LEARNED, tmp_path / "model" / "tokenizer.json", format="huggingface")
    loaded = load_again(folder, tmp_path / "model")
    assert loaded.name == ""
    assert loaded.tokenizer.merges == LEARNED.merges
    remember(folder, loaded)
    assert not list(folder.iterdir())
