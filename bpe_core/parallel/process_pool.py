"""Work shared by several processes: each is handed job after job, and the answers come in the order of the jobs.

Its members are fresh interpreters that speak pickles over their stdin and stdout: nothing is forked, so threads do no
harm, and nothing of the caller's program runs in them. The caller works along instead of waiting for them to start.
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
from typing import Generic, Protocol, Self, TypeVar, cast

from bpe_core.corpus.watch import LOOK_EVERY
from bpe_core.parallel.pool_worker import CrewMember, MemberLost


class Sized(Protocol):
    """A job that knows how large it is."""

    @property
    def size(self) -> int:
        """In bytes on disk."""


Job = TypeVar("Job", bound=Sized)
Answer = TypeVar("Answer")

Look = Callable[[int], None]
"""Told now and then how many bytes are done; whatever it raises ends the work."""

Work = Callable[[Job, Look], Answer]
"""What is to be done with a job, here or, pickled, in another process."""


class Crew(Generic[Job, Answer]):
    """Processes that work; to be used in a `with` statement, at whose end they are gone, whatever has happened."""

    def __init__(self, work: Work[Job, Answer], size: int) -> None:
        """The caller's process is one of the `size`."""
        self.n_lost = 0
        """Members that could not be started, or died; what they had to do was done here."""
        self._counting = Lock()
        self._work = work
        self._idle: SimpleQueue[CrewMember | None] = SimpleQueue()
        """Members that wait for a job; None, which stays there, once there is no member any more."""
        self._n_members = max(1, size - 1)
        self._threads = ThreadPoolExecutor(self._n_members)  # they wait at the pipes, one for each member
        with ExitStack() as stack:
            members = list(self._started(stack, pickle.dumps(work)))
            stack.callback(self._threads.shutdown)
            for member in members:
                stack.callback(member.kill)
                self._idle.put(member)
            stack.callback(self._threads.shutdown, wait=False, cancel_futures=True)
            self._stack = stack.pop_all()

    def _started(self, stack: ExitStack, work: bytes) -> Iterator[CrewMember]:
        for _ in range(self._n_members):
            try:
                yield stack.enter_context(CrewMember(work))
            except OSError:  # no memory, or too many processes
                self._lose()

    def _lose(self) -> None:
        with self._counting:
            self.n_lost += 1
            if self.n_lost == self._n_members:
                self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def answers(self, jobs: Iterable[Job], look: Look) -> Iterator[tuple[Job, Answer]]:
        """The jobs in order, done. `look` is told how much is done past the last answer that was taken."""
        jobs = iter(jobs)
        waiting: deque[_Order[Job, Answer]] = deque()

        def done(n_bytes: int) -> None:
            look(n_bytes + sum(order.job.size for order in waiting if order.is_done))

        while True:
            # No more than is needed to keep all busy: a stop should find little to finish, and answers take room.
            for job in islice(jobs, 3 * self._n_members + 2 - len(waiting)):
                waiting.append(_Order(job, self._threads.submit(self._ask, pickle.dumps(job))))
            if not waiting:
                return
            if waiting[0].is_done:
                first = waiting.popleft()
                yield first.job, self._answer(first)
            elif mine := next((order for order in waiting if not order.here and order.there.cancel()), None):
                done(0)
                mine.here = (self._work(mine.job, done),)
            else:
                done(0)
                wait((waiting[0].there,), LOOK_EVERY)

    def _ask(self, job: bytes) -> bytes:
        member = self._idle.get()
        if member is None:
            self._idle.put(None)
            raise MemberLost
        try:
            answer = member.answer(job)
        except MemberLost:  # it gets no more jobs: it would fail all of them faster than the others can take them
            self._lose()
            raise
        self._idle.put(member)
        return answer

    def _answer(self, order: "_Order[Job, Answer]") -> Answer:
        """What comes of a job, or the error that it meets. What a lost member should have done is done here."""
        if order.here:
            return order.here[0]
        try:
            answer = pickle.loads(order.there.result())
        except MemberLost:
            return self._work(order.job, lambda _: None)
        if isinstance(answer, Exception):
            raise answer
        return cast(Answer, answer)


@dataclass(slots=True)
class _Order(Generic[Job, Answer]):
    """A job that somebody does."""

    job: Job
    there: Future[bytes]
    """What a member answers."""
    here: tuple[Answer] | tuple[()] = ()
    """What has come of it if it was done here."""

    @property
    def is_done(self) -> bool:
        """Whether the answer is there."""
        return bool(self.here) or (self.there.done() and not self.there.cancelled())
