"""Workers in an empty folder, of which none is left behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from worker_process import Start, Worker

from bpe_core.worker.job import Request


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    workers: list[Worker] = []

    def start(request: Request) -> Worker:
        workers.append(Worker(request, cwd=tmp_path))
        return workers[-1]

    yield start
    for worker in workers:
        worker.end()
