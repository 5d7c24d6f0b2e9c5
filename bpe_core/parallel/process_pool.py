"""A pool of processes for one task: jobs go out in order, and their results come back in order.

`concurrent.futures.ProcessPoolExecutor` does not serve here (measured with Python 3.11, "spawn" and "forkserver"):
closing it waits for the jobs under way instead of ending them; one killed worker fails every job, those too that had
not begun; when this process is killed, its workers stay behind for ever; and the program that uses it is imported again
by each worker, which fails where that has no `if __name__ == "__main__"`. loky mends the second of these, and would be
one more dependency at run time.

Here the workers are fresh interpreters that read pickles from stdin: nothing is forked, so threads do no harm; they end
with this process, whatever ends it; and what a lost one should have done is done here. The calling process does jobs
itself instead of waiting for the others to start.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from threading import Lock
from typing import Final, Generic, Protocol, Self, TypeVar, cast

from bpe_core.parallel.pool_worker import PoolWorker, WorkerLost
from bpe_core.parallel.portions import OnProgress

_POLL: Final = 0.02
"""Seconds between two calls of `progress` while this process waits for the others."""


class Sized(Protocol):
    """What a job must have."""

    @property
    def size(self) -> int:
        """Size of the job for `progress`, in bytes on disk."""


Job = TypeVar("Job", bound=Sized)
Result = TypeVar("Result")

Task = Callable[[Job, OnProgress], Result]
"""(job, progress) -> result: what is done with a job, in this process or, pickled, in a worker."""


class ProcessPool(Generic[Job, Result]):
    """A pool of `n_processes`, this one among them. A context manager: leaving it ends the workers and their jobs."""

    def __init__(self, task: Task[Job, Result], n_processes: int) -> None:
        """Start `n_processes - 1` workers, at least one, without waiting for them. `task` is pickled for them."""
        self.n_lost = 0
        """Workers that could not be started, or that died; their jobs were done in this process."""
        self._lock = Lock()
        self._task = task
        self._idle: SimpleQueue[PoolWorker | None] = SimpleQueue()
        """Workers without a job. Once no worker is left it holds None, which each taker puts back for the next."""
        self._n_workers = max(1, n_processes - 1)
        self._threads = ThreadPoolExecutor(self._n_workers)  # each waits for the result of one worker
        with ExitStack() as stack:
            workers = list(self._started(stack, pickle.dumps(task)))
            stack.callback(self._threads.shutdown)
            for worker in workers:
                stack.callback(worker.kill)
                self._idle.put(worker)
            stack.callback(self._threads.shutdown, wait=False, cancel_futures=True)
            self._stack = stack.pop_all()

    def _started(self, stack: ExitStack, task: bytes) -> Iterator[PoolWorker]:
        for _ in range(self._n_workers):
            try:
                yield stack.enter_context(PoolWorker(task))
            except OSError:  # no memory, or too many processes
                self._count_lost()

    def _count_lost(self) -> None:
        with self._lock:
            self.n_lost += 1
            if self.n_lost == self._n_workers:
                self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def results(self, jobs: Iterable[Job], progress: OnProgress) -> Iterator[tuple[Job, Result]]:
        """Yield (job, result) in the order of `jobs`; raises what the task raises.

        `progress` is called with the bytes done of the jobs that are not yielded yet. About three jobs per worker are
        begun ahead of the result that is next: results that wait take memory, and the more would be done in vain at
        a stop.
        """
        jobs = iter(jobs)
        pending: deque[_Pending[Job, Result]] = deque()

        def done(n_bytes: int) -> None:
            progress(n_bytes + sum(each.job.size for each in pending if each.is_done))

        while True:
            for job in islice(jobs, 3 * self._n_workers + 2 - len(pending)):
                pending.append(_Pending(job, self._threads.submit(self._remote_result, pickle.dumps(job))))
            if not pending:
                return
            if pending[0].is_done:
                first = pending.popleft()
                yield first.job, self._result(first)
            elif unbegun := next((each for each in pending if not each.local and each.remote.cancel()), None):
                done(0)
                unbegun.local = (self._task(unbegun.job, done),)
            else:
                done(0)
                wait((pending[0].remote,), _POLL)

    def _remote_result(self, job: bytes) -> bytes:
        worker = self._idle.get()
        if worker is None:
            self._idle.put(None)
            raise WorkerLost
        try:
            result = worker.result(job)
        except WorkerLost:  # not put back: it would fail job after job faster than the others do theirs
            self._count_lost()
            raise
        self._idle.put(worker)
        return result

    def _result(self, pending: "_Pending[Job, Result]") -> Result:
        """The result of a finished job; raises what the task raised. The job of a lost worker is done here and now."""
        if pending.local:
            return pending.local[0]
        try:
            result = pickle.loads(pending.remote.result())
        except WorkerLost:
            return self._task(pending.job, lambda _: None)
        if isinstance(result, Exception):
            raise result
        return cast(Result, result)


@dataclass(slots=True)
class _Pending(Generic[Job, Result]):
    """A job whose result is not yielded yet."""

    job: Job
    remote: Future[bytes]
    """The pickled result of a worker, some day; cancelled if this process does the job."""
    local: tuple[Result] | tuple[()] = ()
    """The result, as the only item, if this process did the job; empty before and otherwise."""

    @property
    def is_done(self) -> bool:
        """Whether the job has been done, by a worker or here."""
        return bool(self.local) or (self.remote.done() and not self.remote.cancelled())
