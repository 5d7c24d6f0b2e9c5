"""The door to the workers: what they say comes in batches; whatever happens to one is told once and leaves nothing."""

import asyncio
import os
import random
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from pathlib import Path

import pytest
from scope import Opened, eventually

from bpe_core import load
from bpe_core.tokenizer.training_record import Options, parsed_options
from bpe_core.trainer import Merges
from bpe_core.worker.job import Request
from bpe_core.worker.messages import Checkpoint, Done, Event, Failed
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.train import CountRequest, TrainRequest
from tests.tui.terminal import at_work
from tui import process
from tui.dialogs.ask import Ask
from tui.process import WorkerError, WorkerProcess

pytestmark = pytest.mark.usefixtures("home", "no_process_left")

StandIn = Callable[[str], None]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Puts a program in the place of the engine: a worker that behaves as none should."""

    def put(program: str) -> None:
        path, python = tmp_path / "stand_in.py", tmp_path / "python"
        path.write_text(f"{PRELUDE}\n{program}")
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{path}"\n')
        python.chmod(0o700)
        monkeypatch.setattr(process.sys, "executable", str(python))

    return put


PRELUDE = """
import os, signal, sys, time
from bpe_core.trainer import Merges
from bpe_core.worker.messages import *
from bpe_core.worker.messages import packed

def say(*events):
    sys.stdout.buffer.write(b"".join(map(packed, events)))
    sys.stdout.buffer.flush()

def merges(first, n):
    return Merges(first, [[value] * n for value in (97, 97, 256, b"aa", 4, 1, 9)])
"""
ANYTHING = CountRequest(Recipe(), "")


async def heard(job: WorkerProcess) -> list[Event]:
    """All that a worker says."""
    return [event async for events in job.batches() for event in events]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def train(book: Path, *options: str) -> WorkerProcess:
    asked = parsed_options(Options, dict(zip(options[::2], options[1::2], strict=True)))
    return WorkerProcess(TrainRequest(Recipe((str(book),), asked), "out.json"))


# A worker that behaves


async def test_what_a_worker_says_of_itself_is_the_one_thing_told(home: Path) -> None:
    async with train(home / "missing.txt") as job:
        events = await heard(job)
    assert len(events) == 1 and isinstance(events[0], Failed)
    assert "missing.txt cannot be read" in events[0].message


@pytest.mark.slow
async def test_a_module_that_lies_in_the_current_folder_is_not_taken_for_ours(
    book: Path,
) -> None:
    (book.parent / "json.py").write_text("raise SystemExit('not ours')")
    async with train(book, "vocab-size", "257") as job:
        assert isinstance((await heard(job))[-1], Done)


async def test_a_control_c_in_the_terminal_does_not_reach_a_worker(book: Path) -> None:
    async with train(book) as job:
        assert os.getsid(job.pid) == job.pid != os.getsid(0)


# A worker that dies


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (
            r"sys.stderr.write('noise\n' * 200_000 + 'MemoryError\n'); raise SystemExit(7)",
            [Failed("The worker process ended by itself (exit code 7): MemoryError.")],
        ),
        (
            r"sys.stderr.write('warning: noise\n' * 200_000); say(Done('trained', 1, 0.5))",
            [Done("trained", 1, 0.5)],
        ),
        (
            "say(Checkpoint()); os.write(1, packed(Checkpoint('why'))[:-3]); os.kill(os.getpid(), signal.SIGKILL)",
            [Checkpoint(), Failed("The worker process was killed (SIGKILL).")],
        ),
    ],
    ids=["last words", "noise", "half a message"],
)
async def test_of_what_a_worker_says_its_last_line_and_whole_messages_count(
    program: str, expected: list[Event], stand_in: StandIn
) -> None:
    stand_in(program)
    async with WorkerProcess(ANYTHING) as job:
        assert await heard(job) == expected


@pytest.mark.slow
async def test_what_is_no_event_is_one_failure_and_the_end(stand_in: StandIn) -> None:
    stand_in(r"""
say(Checkpoint())
for _ in range(100_000):
    os.write(1, b"\0\0\0\x18Segmentation fault\x1b[31m ")
""")
    async with WorkerProcess(ANYTHING) as job:
        first, failed = await heard(job)
    assert first == Checkpoint() and isinstance(failed, Failed)
    assert "Segmentation fault" in failed.message and "\x1b" not in failed.message


async def test_a_worker_faster_than_the_screen_waits(
    stand_in: StandIn, tmp_path: Path
) -> None:
    progress = tmp_path / "progress"
    stand_in(f"""
with open({str(progress)!r}, "w") as progress:
    for step in range(1, 1_000_000):
        say(merges(step, 1))
        os.pwrite(progress.fileno(), b"%9d" % step, 0)
""")
    async with WorkerProcess(ANYTHING) as job:
        batches = aiter(job.batches())
        first = await anext(batches)
        assert isinstance(first[0], Merges)
        await eventually(lambda: not at_work(job.pid), "it waits")  # nobody reads
        assert int(progress.read_text() or 0) < 50_000
        second = await anext(batches)
        assert isinstance(second[0], Merges)
        assert (
            next(iter(second[0])).step == [*first[-1]][-1].step + 1
        )  # and nothing is lost
    assert gone(job.pid)


# A job that is left


async def test_a_training_that_is_left_keeps_what_it_has_and_leaves_no_process(
    home: Path,
) -> None:
    words = random.Random(5)
    (home / "words.txt").write_text(
        " ".join("".join(words.choices("abcdefgh", k=9)) for _ in range(30_000))
    )
    n_learned = 0
    async with train(home / "words.txt", "vocab-size", "90000") as job:
        async for events in job.batches():
            if n_learned := sum(
                len(event) for event in events if isinstance(event, Merges)
            ):
                break
    assert gone(job.pid)
    assert load("out.json").step >= n_learned > 0


async def test_however_often_a_task_is_cancelled_it_leaves_no_process(
    book: Path,
) -> None:
    jobs: list[WorkerProcess] = []

    async def work() -> None:
        async with train(book) as job:
            jobs.append(job)
            await heard(job)

    task = asyncio.create_task(work())
    await eventually(lambda: jobs, "the worker starts")
    for _ in range(5):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(jobs[0].pid)


@pytest.mark.parametrize(
    "request_, is_asked",
    [(TrainRequest(Recipe()), True), (CountRequest(Recipe(), ""), False)],
)
async def test_a_worker_that_will_not_go_is_killed_at_once_if_it_keeps_nothing(
    stand_in: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    request_: Request,
    is_asked: bool,
) -> None:
    asked, ask = list[Process](), Process.terminate
    monkeypatch.setattr(
        Process, "terminate", lambda worker: asked.append(worker) or ask(worker)
    )
    monkeypatch.setattr(process, "PATIENCE", 0.2)
    stand_in("""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
say(Checkpoint())
while True:
    say(WorkProgress("counting", 1, 9, "a"))
""")
    async with WorkerProcess(request_) as job:
        assert await anext(aiter(job.batches()))
    assert gone(job.pid)
    assert bool(asked) is is_asked


async def test_a_worker_has_the_time_to_end_those_of_dask(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.2)
    stand_in(f"""
def end(*_):
    time.sleep(0.6)
    open({str(tmp_path / "ended")!r}, "w")
    os._exit(0)

signal.signal(signal.SIGTERM, end)
say(Checkpoint())
time.sleep(100)
""")
    async with WorkerProcess(TrainRequest(Recipe(dask="local"))) as job:
        assert await anext(aiter(job.batches()))
    assert (tmp_path / "ended").exists()


# A worker that cannot be, or says too much


async def test_a_worker_that_cannot_be_started_is_told_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process.sys, "executable", "/nowhere/python")
    with pytest.raises(
        WorkerError,
        match=r"^No worker process can be started: No such file or directory; .*\.$",
    ):
        async with WorkerProcess(ANYTHING):
            pass


@pytest.mark.slow
async def test_where_no_worker_can_be_started_each_task_says_so_and_the_app_goes_on(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*arguments: object, **options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(process.asyncio, "create_subprocess_exec", refused)
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until(
            lambda: screen.totals and "No worker" in screen.totals.error,
            "the count says so",
        )
        await scope.press("f6")
        await scope.until(lambda: screen.run.phase == "failed", "the training says so")
        scope.app.clear_notifications()  # a sentence that still stands there is not said again
        screen.features.audit.audit()
        await scope.until(
            lambda: "No worker" in screen.audit.subject and not screen.audit.running,
            "the audit says so",
        )
        scope.app.clear_notifications()
        screen.run_in_background(screen.features.tokenizers.fetch())
        await scope.asked(Ask)
        await scope.answer("gpt2")
        await scope.until(
            lambda: len(scope.said) == 3 and not screen.notice, "the fetch says so"
        )
        assert all(
            "No worker process can be started" in sentence for sentence in scope.said
        )
        assert screen.path == str(kept) and scope.ids()
