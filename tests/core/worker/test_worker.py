"""The worker process of the app, as the app sees it: a pipe in, a pipe out, and signals."""

import base64
import os
import random
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from worker_process import STOP, Start, training

from bpe_core import load, save, train
from bpe_core.corpus import Skipped
from bpe_core.difference import Witness, diff
from bpe_core.metrics.comparison import ComparedText
from bpe_core.trainer import Merge, Merges
from bpe_core.worker import compare
from bpe_core.worker.audit import AuditRequest, Measured, Verdicts
from bpe_core.worker.compare import ComparedTexts, CompareRequest, ComparisonFound
from bpe_core.worker.differences import DifferenceFound
from bpe_core.worker.messages import (
    Counted,
    Done,
    Event,
    Failed,
    Saved,
    Started,
    WorkProgress,
)
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.train import CountRequest


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Random words, enough for thousands of merges: far more than a pipe holds unread."""
    words = random.Random(0)
    text = " ".join(
        "".join(words.choices("etaoinshr", k=words.randint(2, 9)))
        for _ in range(20_000)
    )
    path = tmp_path / "words.txt"
    path.write_text(text)
    return path


def steps(events: list[Event]) -> list[int]:
    """The steps of all merges among the events."""
    return [
        merge.step for event in events if isinstance(event, Merges) for merge in event
    ]


def test_a_training_from_its_first_event_to_its_last(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "seed.txt").write_text("aaabdaaabac")
    worker = start(
        training(
            "seed.txt", "-o", "out.json", "--vocab-size", "259", "--pattern", "none"
        )
    )
    counted, started, *events = [
        event for event in worker.rest() if not isinstance(event, WorkProgress)
    ]
    assert counted == Counted(1, 11, 11, 1, 1, sources=(("seed.txt", 11, 11),))
    assert isinstance(started, Started) and started[1:] == (3, 0)
    seed, record = (
        ["aaabdaaabac".count(chr(byte)) for byte in range(256)],
        started.record,
    )
    assert (record.n_tokens_start, record.first_counts, record.n_bytes) == (
        11,
        tuple(seed),
        11,
    )
    first = next(
        merge for event in events if isinstance(event, Merges) for merge in event
    )
    assert first == Merge(1, 97, 97, 256, b"aa", 4, 1, 9)
    assert steps(events) == [1, 2, 3]
    assert events[-2] == Saved("out.json")
    assert events[-1][:2] == ("vocabulary size reached", 3) and events[-1].seconds > 0
    assert worker.code() == 0


@pytest.mark.parametrize("by", ["a message", signal.SIGTERM, signal.SIGINT])
def test_a_training_that_is_stopped_keeps_what_it_has(
    by: str | signal.Signals, start: Start, corpus: Path, tmp_path: Path
) -> None:
    worker = start(training(corpus, "-o", "out.json", "--vocab-size", "9000"))
    seen = worker.until(Merges)
    os.kill(worker.pid, by) if isinstance(by, signal.Signals) else worker.tell(STOP)
    seen += worker.rest()
    assert steps(seen) == list(range(1, len(steps(seen)) + 1))
    assert seen[-2] == Saved("out.json")
    reason = "interrupted" if isinstance(by, signal.Signals) else "stopped"
    assert seen[-1][:2] == (reason, len(steps(seen))) and len(steps(seen)) < 9000 - 256
    assert load(tmp_path / "out.json").step == len(steps(seen))
    assert worker.code() == 0


def test_stopped_before_the_first_merge_there_is_nothing_to_save(
    start: Start, corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "out.json").write_text("what was there before")
    worker = start(training(corpus, "-o", "out.json"), STOP)
    last = worker.rest()
    assert isinstance(last[-1], Done) and not steps(last) and worker.code() == 0
    assert (tmp_path / "out.json").read_text() == "what was there before"


def test_when_the_app_is_gone_the_worker_keeps_what_it_has_and_goes_too(
    start: Start, corpus: Path, tmp_path: Path
) -> None:
    worker = start(training(corpus, "-o", "out.json", "--vocab-size", "9000"))
    learned = len(steps(worker.until(Merges)))
    os.close(worker.stdin)
    os.close(worker.stdout)
    assert worker.code() == 0 and os.read(worker.stderr, 99) == b""
    assert load(tmp_path / "out.json").step >= learned
    assert set(os.listdir(tmp_path)) == {"words.txt", "out.json"}


def test_counting_can_be_stopped(start: Start, tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text(
        "the quick brown fox jumps over the lazy dog\n" * 400_000
    )
    worker = start(training("large.txt", "-o", "out.json"))
    worker.until(WorkProgress)
    worker.tell(STOP)
    events = worker.rest()
    assert not steps(events) and isinstance(events[-1], Done) and events[-1].steps == 0
    assert os.listdir(tmp_path) == ["large.txt"]


def test_what_cannot_be_done_is_a_failed_event_and_exit_code_2(
    start: Start, corpus: Path, tmp_path: Path
) -> None:
    for request in (
        training(corpus, "-o", "out.json", "--vocab-size", "10"),
        AuditRequest(str(corpus)),
    ):
        worker = start(request)
        (failed,) = worker.rest()
        assert (
            isinstance(failed, Failed)
            and failed.message.endswith(".")
            and "\n" not in failed.message
        )
        assert worker.code() == 2
    assert os.listdir(tmp_path) == ["words.txt"]


def test_a_count_and_an_audit_speak_the_same_language(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("low lower lowest " * 50)
    (folder / "b.txt").write_text("low lower slow")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\0\0")
    counted = start(CountRequest(Recipe(("texts",)), "gpt4")).rest()
    assert any(
        isinstance(event, Skipped) and event.path.name == "photo.jpg"
        for event in counted
    )
    assert isinstance(counted[-2], Counted) and isinstance(counted[-1], Done)

    start(training("texts", "-o", "out.json", "--vocab-size", "265")).rest()
    events = start(
        AuditRequest("out.json", corpus=("texts",), reference=("texts",))
    ).rest()
    assert [event.role for event in events if isinstance(event, Counted)] == [
        "corpus",
        "reference",
    ]
    columns = {
        event.column: event.values for event in events if isinstance(event, Measured)
    }
    assert columns["count"] == columns["reference"]
    assert columns.keys() == {
        "count",
        "merged",
        "reference",
        "surprise",
        "document_frequency",
        "largest_share",
    }
    verdicts = [
        one for event in events if isinstance(event, Verdicts) for one in event.verdicts
    ]
    assert "unused-byte" in {kind for one in verdicts for kind in one.kinds}
    assert isinstance(events[-1], Done) and events[-1].steps == sum(
        len(one.kinds) for one in verdicts
    )
    scores = [one.score for one in verdicts]
    assert scores == sorted(scores, reverse=True)
    assert [one.evidence["count"] for one in verdicts] == [
        columns["count"][one.id] for one in verdicts
    ]


def test_an_audit_of_huge_ids_ends(start: Start, tmp_path: Path) -> None:
    ids = [*range(255), 10**9]
    ranks = b"".join(
        base64.b64encode(bytes([byte])) + b" %d\n" % token
        for byte, token in enumerate(ids)
    )
    (tmp_path / "holes.tiktoken").write_bytes(ranks)
    (tmp_path / "a.txt").write_text("ab")
    events = start(AuditRequest("holes.tiktoken", "none", corpus=("a.txt",))).rest()
    (counts,) = [
        event.values
        for event in events
        if isinstance(event, Measured) and event.column == "count"
    ]
    assert len(counts) == 256 and counts[10**9] == 0 and counts[97] == 1


def test_a_comparison_tells_of_texts_while_it_goes_on(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "texts").mkdir()
    for name in "ab":
        (tmp_path / f"texts/{name}.txt").write_text(f"{name} low lower lowest")
    save(train("low lower lowest", vocab_size=262), tmp_path / "t.json")
    events = start(
        CompareRequest((("t.json", "gpt2"),), ("texts/a.txt", "texts/b.txt"))
    ).rest()
    batches = [event for event in events if isinstance(event, ComparedTexts)]
    counted, texts = [], list[ComparedText]()
    for batch in batches:
        into = texts if batch.texts[0].amounts.n_whole_words else counted
        assert batch.first == len(into)
        into += batch.texts
    assert [(text.amounts.name, text.path, text.folder) for text in texts] == [
        (f"{name}.txt", f"texts/{name}.txt", "texts") for name in "ab"
    ]
    told = [
        one._replace(amounts=replace(one.amounts, n_whole_words=(), token_use=()))
        for one in texts
    ]
    assert counted == told and batches[0].texts[0] in counted, (
        "tokens come first, and are the same"
    )
    (found,) = [event.found for event in events if isinstance(event, ComparisonFound)]
    assert found["total"]["tokens"] == [sum(text.amounts.n_tokens[0] for text in texts)]
    assert isinstance(events[-1], Done) and events[-1].reason == "compared"


@pytest.mark.parametrize(("most_bytes", "is_last"), [(10**6, True), (10, False)])
def test_a_comparison_finds_how_the_tokenizers_differ_after_it_has_read_short_texts(
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most_bytes: int,
    is_last: bool,
) -> None:
    monkeypatch.setattr(compare, "_SHORT", most_bytes)
    (tmp_path / "a.txt").write_text("a b a b\na c")
    first = train("a b a b a b", vocab_size=262, pattern="none")
    save(first, tmp_path / "t.json")
    other = load(tmp_path / "t.json", pattern="gpt4")
    paths = (("t.json", ""), ("t.json", ""), ("t.json", "gpt4"))
    events = start(CompareRequest(paths, ("a.txt",))).rest()
    same, different = [event for event in events if isinstance(event, DifferenceFound)]
    assert (same.other, same.difference.verdict, same.tokens) == (1, "same", ())
    assert different.difference == diff(first, other, texts=["a b a b\n", "a c"])
    witness = different.difference.witness
    assert different.other == 2 and isinstance(witness, Witness)
    tokens = tuple(
        tuple(encoder.token_bytes(token) for token in encoder.encode(witness.text))
        for encoder in (first, other)
    )
    assert different.tokens == tokens and tokens[0] != tokens[1]
    kinds = [type(event) for event in events]
    assert (kinds.index(ComparisonFound) < kinds.index(DifferenceFound)) == is_last
    assert kinds.index(ComparedTexts) < kinds.index(DifferenceFound)


def test_a_comparison_that_is_stopped_looks_for_no_differences(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("low lower lowest")
    save(train("low lower lowest", vocab_size=260), tmp_path / "t.json")
    request = CompareRequest((("t.json", ""), ("t.json", "")), ("a.txt",))
    events = start(request, STOP).rest()
    assert not any(isinstance(event, DifferenceFound) for event in events)
    assert isinstance(events[-1], Done) and events[-1].reason == "stopped"


def test_a_comparison_with_the_first_merges_does_not_look_for_known_differences(
    start: Start, tmp_path: Path
) -> None:
    text = "low lower lowest"
    (tmp_path / "a.txt").write_text(text)
    whole = train(text, vocab_size=262)
    save(whole, tmp_path / "t.json")
    sources = (("t.json", ""), ("t.json", ""))
    for is_known in (False, True):
        request = CompareRequest(
            sources, ("a.txt",), half=3, are_differences_known=is_known
        )
        events = start(request).rest()
        (found,) = [one.found for one in events if isinstance(one, ComparisonFound)]
        n_tokens = [len(whole.encode(text)), len(whole.at(3).encode(text))]
        assert found["total"]["tokens"] == n_tokens and n_tokens[0] < n_tokens[1]
        kinds = map(type, events)
        assert (DifferenceFound in kinds) == (not is_known)
