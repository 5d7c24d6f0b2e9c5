"""A job does as it is told: what commands leave, one after the other, and which reason to stop counts."""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import cast

import pytest

from bpe_core.errors import Stopped
from bpe_core.trainer.conditions import condition
from bpe_core.worker import train as worker_train
from bpe_core.worker.job import UNLIMITED, Job, Reporter
from bpe_core.worker.messages import Event, JobCommand, Merges
from bpe_core.worker.train import Recipe, TrainRequest

RUN, PAUSE, STOP, ONE, THREE = (
    *map(JobCommand, ("run", "pause", "stop")),
    *(JobCommand("step", n) for n in (1, 3)),
)
UNTIL = JobCommand("until", condition=condition("ratio >= 2"))


@pytest.fixture
def job() -> Iterator[Job]:
    made = Job()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("commands", "credit", "is_held", "has_goal"),
    [
        ([], UNLIMITED, False, False),
        ([PAUSE], 0, True, False),
        ([PAUSE, RUN], UNLIMITED, False, False),
        ([THREE], 3, False, False),
        ([THREE, ONE], 4, False, False),
        ([PAUSE, ONE], 1, False, False),
        ([THREE, PAUSE], 0, True, False),
        ([UNTIL], UNLIMITED, False, True),
        ([UNTIL, ONE], 1, False, False),
        ([UNTIL, RUN], UNLIMITED, False, False),
        ([THREE, JobCommand("pace", 9)], 3, False, False),
        ([UNTIL, JobCommand("pace", 9)], UNLIMITED, False, True),
    ],
)
def test_a_command_takes_the_place_of_those_before_but_steps_add_up(
    job: Job, commands: list[JobCommand], credit: float, is_held: bool, has_goal: bool
) -> None:
    for command in commands:
        job.obey(command)
    assert (job.credit, job.held, job.goal is not None, job.stopped) == (credit, is_held, has_goal, "")


def test_the_first_reason_to_stop_counts(job: Job) -> None:
    job.stop("interrupted")
    job.obey(STOP)
    assert job.stopped == "interrupted"
    with pytest.raises(Stopped):
        job.progress("counting", 0, 0)


def test_stopped_before_all_that_was_known_is_made_again_it_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_train, "SLICE_SECONDS", 0)
    monkeypatch.setattr(worker_train, "BATCH_SECONDS", 0)
    text, output = tmp_path / "text.txt", tmp_path / "out.json"
    text.write_text("low lower lowest " * 9)
    request = TrainRequest(Recipe((str(text),), {"vocab_size": 265}), str(output), resume=True)
    reporter = SimpleNamespace(say=print, close=lambda: None, send=lambda _: None)
    with closing(Job(cast(Reporter, reporter))) as job:
        assert worker_train.train(request, job)
        before = output.read_bytes()
        reporter.send = lambda event: isinstance(event, Merges) and job.stop("stopped")
        assert worker_train.train(request, job) is None and job.stopped and output.read_bytes() == before


def test_a_pause_ends_with_a_stop_also_before_anything_was_done() -> None:
    class Unheard(Reporter):
        def send(self, event: Event) -> None:
            raise BrokenPipeError

    job = Job(Unheard())
    try:
        job.obey(PAUSE)
        with pytest.raises(Stopped):  # "paused" reaches nobody: whoever asked for the work is gone
            job.progress("counting", 0, 0)
    finally:
        job.close()
    assert job.stopped == "stopped"


@pytest.mark.parametrize(("command", "seconds"), [(PAUSE, 3), (JobCommand("step", 0), 3), (JobCommand("pace", 1), 8)])
def test_what_a_job_takes_is_told_without_its_pauses(
    job: Job, command: JobCommand, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Inbox(SimpleQueue[JobCommand]):
        def get(self, block: bool = True, timeout: float | None = None) -> JobCommand:
            clock.append(5)
            return RUN

    clock = [0.0]
    monkeypatch.setattr("bpe_core.worker.job.time", SimpleNamespace(monotonic=lambda: sum(clock)))
    job._began, job._inbox = 0, Inbox()
    clock.append(3)
    job.obey(command)
    job.wait()
    assert job.seconds == seconds
    job.receive()


def test_a_control_c_that_the_work_never_looks_at_interrupts_it_and_all_is_as_before() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    with pytest.raises(KeyboardInterrupt), closing(Job(patience=0.05)):
        signal.raise_signal(signal.SIGINT)
        while True:
            pass
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)] == before


def test_a_control_c_that_the_work_looks_at_lets_it_end_in_order() -> None:
    with closing(Job(patience=60)) as job:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Stopped):
            job.progress("counting", 0, 0)
        assert job.stopped == "interrupted" and signal.getitimer(signal.ITIMER_REAL)[0] == 0
