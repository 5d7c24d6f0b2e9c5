"""Workers in an empty folder, of which none is left behind."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from worker_process import Start, Worker


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as workers:
        yield lambda *messages: workers.enter_context(
            closing(Worker(*messages, cwd=tmp_path))
        )
