"""The shelf: a file for each tokenizer, listed without reading them whole, and never one in the place of another."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bpe_core import Tokenizer, load, save, train
from bpe_core.formats import save_beside
from bpe_core.trainer import Trainer
from tui.disk.tokenizer_files import (
    kept_tokenizers,
    load_file,
    without_impossible_record,
    without_twin,
)
from tui.features.course import Course, TrainingTask, place_for
from tui.features.tokenizers import is_same
from tui.state import KnownTokenizer, Run, TrainingOptions
from tui.widgets.kept_merges import KeptMerges

TEXT = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
LEARNED = train(TEXT, vocab_size=262)


def test_the_newest_comes_first(tmp_path: Path) -> None:
    assert kept_tokenizers(tmp_path) == ()
    for age, name in enumerate(("new", "old")):
        save(LEARNED, tmp_path / f"{name}.json")
        os.utime(tmp_path / f"{name}.json", (1e9 - age, 1e9 - age))
    (tmp_path / "notes.txt").write_text("no tokenizer")
    assert kept_tokenizers(tmp_path) == tuple(
        KnownTokenizer(
            str(tmp_path / f"{name}.json"),
            name,
            262,
            pattern="gpt4",
            modified=10**18 - age * 10**9,
        )
        for age, name in enumerate(("new", "old"))
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe\x00", b'{"n_vocab": "many"}', b'{"n_vocab": ' + b"9" * 50],
)
def test_a_broken_file_is_listed_without_a_size(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.json").write_bytes(content)
    os.mkfifo(
        tmp_path / "pipe.json"
    )  # to open it would be to wait for somebody who writes
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to("nowhere")
    assert {(kept.name, kept.n_vocab) for kept in kept_tokenizers(tmp_path)} == {
        *(("broken", 0), ("folder", 0), ("link", 0), ("pipe", 0))
    }


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Python library gpt4", "python-library-gpt4"),
        ("book.txt + notes.md · none", "book.txt-notes.md-none"),
        ("Ελλάδα 日本", "ελλάδα-日本"),
        ("../../etc/passwd", "etc-passwd"),
        ("\x1b]0;x\x07", "0-x"),
        ("...", "tokenizer"),
        ("", "tokenizer"),
        ("x" * 500, "x" * 60),
    ],
)
def test_a_place_on_the_shelf_is_named_after_the_corpus(
    tmp_path: Path, title: str, name: str
) -> None:
    place = place_for(tmp_path, title)
    assert place == tmp_path / f"{name}.json"
    save(LEARNED, place)  # so it is a name that the disk takes


def test_trainings_that_end_at_the_same_time_take_a_name_each(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        places = list(
            pool.map(
                lambda _: save_beside(LEARNED, place_for(tmp_path, "Book")), range(16)
            )
        )
    assert {place.name for place in places} == {
        "book.json",
        *(f"book-{n}.json" for n in range(2, 17)),
    }
    assert all(load(place).merges == LEARNED.merges for place in places)


def test_copies_that_learned_the_same_at_once_agree_on_one_file(tmp_path: Path) -> None:
    one, two, three = [save_beside(LEARNED, tmp_path / "book.json") for _ in range(3)]
    two.write_text(f"{two.read_text()}\n\n")  # the oldest is not the smallest
    for place, path in enumerate((two, three, one)):
        os.utime(path, (place, place))
    assert [without_twin(path, one) for path in (three, two)] == [two, two]
    assert {*tmp_path.glob("*.json")} == {one, two}


def test_the_merge_log_of_a_kept_tokenizer_says_what_the_training_said(
    tmp_path: Path,
) -> None:
    save(LEARNED, tmp_path / "kept.json")
    assert list(KeptMerges(load(tmp_path / "kept.json"))) == list(
        Trainer(TEXT, vocab_size=262)
    )


def test_a_tokenizer_without_a_record_tells_its_merges_but_not_how_often_they_occurred() -> (
    None
):
    told = KeptMerges(type(LEARNED)(LEARNED.vocabulary, LEARNED.pattern))
    assert [(merge.left, merge.right, merge.token) for merge in told] == LEARNED.merges
    assert {(merge.count, merge.n_tokens) for merge in told} == {(0, 0)}


def test_what_a_worker_had_told_before_it_died_makes_a_file_that_loads(
    tmp_path: Path,
) -> None:
    task = TrainingTask("x", TrainingOptions(1000, "none", "largest", 2, ("<s>",)))
    trainer = Trainer(
        TEXT,
        vocab_size=1000,
        pattern="none",
        ties="largest",
        min_count=2,
        special_tokens=["<s>"],
    )
    told, learned = trainer.learn(4), trainer.tokenizer()
    course = Course(
        task, Run("failed"), tokenizer=learned, merges=told, begun=trainer.record
    )
    save(course.learned(), tmp_path / "rescued.json")

    rescued = load(tmp_path / "rescued.json")
    assert (
        rescued.merges == learned.merges
        and rescued.special_tokens == learned.special_tokens
    )
    assert list(KeptMerges(rescued)) == list(told)
    assert rescued.record is not None and learned.record is not None
    assert rescued.record.stop_reason == "the worker process died"
    # All else is as the worker would have written it.
    assert replace(rescued.record, stop_reason="") == replace(
        learned.record, stop_reason=""
    )


def test_given_merges_need_not_occur_and_learned_ones_do() -> None:
    extended = train("xyxyxy", vocab_size=264, pattern="gpt4", start=LEARNED.vocabulary)
    assert without_impossible_record(extended) is extended
    assert extended.record is not None
    odd = replace(extended.record, n_given=0)
    assert (
        without_impossible_record(
            Tokenizer(extended.vocabulary, extended.pattern, record=odd)
        ).record
        is None
    )


def test_a_file_that_is_read_again_is_the_same_unless_anything_in_it_has_changed(
    tmp_path: Path,
) -> None:
    path, ranks = tmp_path / "tokenizer.json", tmp_path / "learned.tiktoken"
    save(LEARNED, path, format="huggingface")
    save(LEARNED, ranks, format="tiktoken")
    shown, folder = load_file(path), load_file(tmp_path)
    assert is_same(shown, load_file(path)) and is_same(folder, load_file(tmp_path))
    assert is_same(replace(folder, path=path, digest=""), folder) is False
    in_order = load_file(ranks, "gpt4")
    in_order.tokenizer.vocabulary.recover()
    assert is_same(in_order, load_file(ranks, "gpt4")) and not is_same(
        in_order, load_file(ranks, "gpt2")
    )
    path.write_text(
        path.read_text().replace('"normalizer": null', '"normalizer": {"type": "NFC"}')
    )
    assert not is_same(shown, load_file(path))
