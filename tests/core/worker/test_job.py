"""A job knows whether it is to stop, and why; what goes through a pipe comes out the same, or is refused."""

import pickle
import signal
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import Tokenizer, train
from bpe_core.errors import BpeError, Stopped
from bpe_core.metrics.comparison import Comparison, TokenCounts
from bpe_core.trainer import Merges, Trainer
from bpe_core.worker import train as worker_train
from bpe_core.worker.compare import ComparedReading
from bpe_core.worker.job import Job, Reporter
from bpe_core.worker.messages import (
    Checkpoint,
    Event,
    Failed,
    Stop,
    WorkProgress,
    packed,
    unpacked,
)
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.train import TrainRequest
from tests.core.worker_process import merges_of


def test_the_first_reason_to_stop_counts() -> None:
    with closing(Job()) as job:
        job.stop("interrupted")
        job._inbox.put(Stop())
        with pytest.raises(Stopped):
            job.progress("counting", 0, 0)
        assert job.stopped == "interrupted"


def test_stopped_before_all_that_was_known_is_made_again_it_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_train, "SLICE_SECONDS", 0)
    monkeypatch.setattr(worker_train, "BATCH_SECONDS", 0)
    text, output = tmp_path / "text.txt", tmp_path / "out.json"
    text.write_text("low lower lowest " * 9)
    request = TrainRequest(
        Recipe((str(text),), {"vocab_size": 265}), str(output), resume=True
    )
    reporter = SimpleNamespace(say=print, close=lambda: None, send=lambda _: None)
    with closing(Job(cast(Reporter, reporter))) as job:
        assert worker_train.train(request, job)
        before = output.read_bytes()
        reporter.send = lambda event: isinstance(event, Merges) and job.stop("stopped")
        assert (
            worker_train.train(request, job) is None
            and job.stopped
            and output.read_bytes() == before
        )


def test_a_comparison_sends_a_summary_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    summaries: list[float] = []
    sent: list[object] = []
    labels: list[str] = []

    def progress(activity: str, done: int, total: int, label: str) -> bool:
        labels.append(label)
        return False

    job = cast(Job, SimpleNamespace(send=sent.append, progress=progress))
    vocabulary = train("low lower", vocab_size=258).vocabulary
    tokenizers = [Tokenizer(vocabulary, "gpt4", name=name) for name in ("", "small")]
    for comparison, report_summary in (
        (Comparison(tokenizers), lambda: summaries.append(clock.now)),
        (TokenCounts(tokenizers), None),
    ):
        clock.now = 0.0
        reading = ComparedReading(comparison, job, False, report_summary)
        for clock.now in 0.5, 2.0, 2.0:
            reading.add("a.txt", ["low"])
            reading.send()
    assert summaries == [2.0], "not at once"
    assert len(sent) == 6 and set(labels) == {"a.txt", "a.txt (small)"}


def test_work_that_nobody_listens_to_is_stopped() -> None:
    class Unheard(Reporter):
        def send(self, event: Event) -> None:
            assert isinstance(event, WorkProgress)
            raise BrokenPipeError

    with closing(Job(Unheard())) as job:
        with pytest.raises(Stopped):
            job.progress("counting", 0, 0)
        assert job.stopped == "stopped"


def test_a_control_c_that_the_work_never_looks_at_interrupts_it_and_all_is_as_before() -> (
    None
):
    before = [
        signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    ]
    with pytest.raises(KeyboardInterrupt), closing(Job(patience=0.05)):
        signal.raise_signal(signal.SIGINT)
        while True:
            pass
    assert [
        signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    ] == before


def test_a_control_c_that_the_work_looks_at_lets_it_end_in_order() -> None:
    with closing(Job(patience=60)) as job:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Stopped):
            job.progress("counting", 0, 0)
        assert (
            job.stopped == "interrupted"
            and signal.getitimer(signal.ITIMER_REAL)[0] == 0
        )


MESSAGES = st.one_of(
    st.builds(Failed, st.text("aé日😊\0\n")),
    st.just(Stop()),
    st.builds(Checkpoint, st.text()),
)


@given(st.lists(MESSAGES), st.integers(1, 40))
def test_messages_come_out_of_portions_of_any_size(
    messages: list[object], size: int
) -> None:
    data = b"".join(map(packed, messages))
    for most in size, len(data) + 1:
        unread, portions = (
            bytearray(),
            [data[at : at + most] for at in range(0, len(data), most)],
        )
        assert [
            message for portion in portions for message in unpacked(unread, portion)
        ] == messages


@pytest.mark.parametrize(
    "body", [b"", b"noise", pickle.dumps(1)[:-1], b"cnowhere\nnothing\n."]
)
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(BpeError, match="Not a message of a worker"):
        list(unpacked(bytearray(), len(body).to_bytes(4, "big") + body))


def test_merges_come_out_as_they_were() -> None:
    learned = list(Trainer("the theme of the other thesis " * 9, vocab_size=275))
    (merges,) = unpacked(bytearray(), packed(merges_of(learned[4:])))
    assert list(merges) == learned[4:] and len(merges) == len(learned) - 4
    part = merges[2:5]
    assert list(part) == learned[6:9]
    part.extend(merges[5:9].columns)
    assert list(part) == learned[6:13] and list(merges) == learned[4:]
