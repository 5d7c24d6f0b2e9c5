"""Counting by several processes at once: each is handed portions of the corpus and answers with their counts.

They are fresh interpreters that speak pickles over their stdin and stdout: nothing is forked, so threads do no harm,
and nothing of the caller's program runs in them. The answers are taken in the order of the corpus, so the result is the
same as that of one process.
"""

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Self, cast

from bpe_core.corpus.counts import Counts
from bpe_core.corpus.crew_member import count_portion
from bpe_core.corpus.portions import Portion, portions
from bpe_core.corpus.reading import TextFile
from bpe_core.corpus.sources import Measure
from bpe_core.corpus.watch import LOOK_EVERY, Watch

MOST: Final = 8
"""Processes that are started unasked, at most: one alone takes in what they all count."""

_START: Final = (
    "import sys; sys.path.append(sys.argv[1]); from bpe_core.corpus.crew_member import main; main(sys.argv[2])"
)


def read_together(counts: Counts, files: Iterable[TextFile], watch: Watch, processes: int | None) -> None:
    """Append the counts of `files` to `counts`, as `Counts.read` does, by several processes."""
    document = _Document()
    with Crew(counts.pattern, processes or min(at_once(), MOST)) as crew:
        for portion, counted in crew.count(portions(files, counts.splitter), watch.look):
            if portion.end is None:
                counts.append(counted)
            elif whole := document.take(portion, counted):
                counts.append(whole)
            watch.before += portion.size


def at_once() -> int:
    """How many processes can work at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Document:
    """A document that comes in parts."""

    def take(self, portion: Portion, part: Counts) -> Counts | None:
        """The whole document, once its last part is here; without a piece if one of them was unreadable."""
        file = portion.files[0]
        if not portion.start:
            self._whole, self._measure = part, Measure()
        elif part.skipped:
            self._whole = part
        elif not self._whole.skipped:
            self._whole.go_on(part)
        if not self._whole.skipped:
            self._measure.part(portion.data(), part.n_characters)
            self._whole.is_of(self._measure.source(file.name))
        return self._whole if portion.end == file.size else None


class Crew:
    """Processes that count; to be used in a `with` statement, at whose end they are gone, whatever has happened."""

    def __init__(self, pattern: str, size: int) -> None:
        self._size = size
        self._idle: SimpleQueue[_Member] = SimpleQueue()
        self._stack = ExitStack()
        self._threads = ThreadPoolExecutor(size)  # they wait at the pipes, one for each process
        self._stack.callback(self._threads.shutdown, cancel_futures=True)
        for _ in range(size):
            self._idle.put(self._stack.enter_context(_Member(pattern)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def count(self, todo: Iterable[Portion], look: Callable[[int, str], None]) -> Iterator[tuple[Portion, Counts]]:
        """The portions in order, counted; `look` is called while there is nothing to do but wait."""
        todo = iter(todo)
        waiting: deque[tuple[Portion, Future[Counts]]] = deque()
        while True:
            # No more than is needed to keep all busy: a pause should find little to finish, and answers take room.
            for portion in islice(todo, 2 * self._size - len(waiting)):
                waiting.append((portion, self._threads.submit(self._count, portion)))
            if not waiting:
                return
            portion, counted = waiting.popleft()
            look(0, portion.files[0].name)
            while not wait((counted,), LOOK_EVERY).done:
                look(0, portion.files[0].name)
            yield portion, counted.result()

    def _count(self, portion: Portion) -> Counts:
        member = self._idle.get()
        try:
            return member.count(portion)
        finally:
            self._idle.put(member)


class _Member:
    """One process of the crew. Should it die, the work is done here instead."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        command = [sys.executable, "-P", "-c", _START, str(Path(__file__).parents[2]), pattern]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._dismissed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._dismissed = True
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()

    def count(self, portion: Portion) -> Counts:
        """The counts of a portion, or the error that counting it meets."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            pickle.dump(portion, self._process.stdin)
            self._process.stdin.flush()
            answer = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            if self._dismissed:
                raise
            return count_portion(portion, self._pattern)
        if isinstance(answer, Exception):
            raise answer
        return cast(Counts, answer)
