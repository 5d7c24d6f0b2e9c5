"""Workers in a thread of this process: what they do is quick, and nothing waits for a process to start."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from bpe_core.errors import BpeError, Stopped, as_sentence
from bpe_core.worker.explain import ExplainRequest
from bpe_core.worker.job import Job, Reporter
from bpe_core.worker.messages import Event, Failed
from tui.disk import sources
from tui.features import audit, corpus
from tui.process import WorkerProcess


class Heard(Reporter):
    """Keeps the events of a job."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []

    def send(self, event: Event) -> None:
        self.events.append(event)


def work(request: Any, heard: Heard) -> None:
    """Run a request as a worker does."""
    job = Job(heard)
    try:
        with suppress(Stopped):
            request.run(job)
    except (BpeError, OSError) as error:
        job.send(Failed(as_sentence(error)))


def put_workers_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a thread of this process do what a worker process would do, and let nothing wait before it begins."""

    async def enter(worker: WorkerProcess) -> WorkerProcess:
        return worker

    async def leave(worker: WorkerProcess, *_: object) -> None:
        pass

    async def batches(worker: WorkerProcess) -> AsyncIterator[list[Event]]:
        if isinstance(worker.request, ExplainRequest):
            await (
                asyncio.Event().wait()
            )  # it would be asked about one step after another
        heard = Heard()
        await asyncio.to_thread(work, worker.request, heard)
        yield heard.events

    monkeypatch.setattr(WorkerProcess, "__aenter__", enter)
    monkeypatch.setattr(WorkerProcess, "__aexit__", leave)
    monkeypatch.setattr(WorkerProcess, "send", lambda worker, message: None)
    monkeypatch.setattr(WorkerProcess, "batches", batches)
    monkeypatch.setattr(audit, "_SECONDS_OF_REST", 0)
    monkeypatch.setattr(corpus, "_SECONDS_OF_REST", 0)
    monkeypatch.setattr(sources, "computer_sources", lambda: [])
