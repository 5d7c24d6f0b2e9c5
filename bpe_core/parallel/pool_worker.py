"""A worker process of a `ProcessPool`: both ends of it, `PoolWorker` in the pool and `main` in the process.

They talk through its stdin and stdout. A message is a pickle after its length (8 bytes, big-endian). The pool sends the
task, a callable, and then jobs; the answer to each job is a result, or the exception that the task raised.
"""

import gc
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Self

_START: Final = "import sys; sys.path.append(sys.argv[1]); from bpe_core.parallel.pool_worker import main; main()"

_LENGTH: Final = 8
"""Bytes of the length in front of a message."""

_PIPE_SIZE: Final = 1 << 20
"""Bytes to ask of a pipe as its buffer (Linux only, and may be refused), so that writing a result seldom blocks."""


class WorkerLost(Exception):
    """The worker process has ended without a result."""


class PoolWorker:
    """A worker process, seen from the pool. A context manager: leaving it kills the process and waits for its end."""

    def __init__(self, task: bytes) -> None:
        """Start the process without waiting for it. `task` is the pickled task. OSError if it cannot be started."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(Path(__file__).parents[2])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._jobs, self._results = self._process.stdin, self._process.stdout
        self._unsent = _framed(task)
        _widen(self._results.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()

    def kill(self) -> None:
        """Kill the process at once (SIGKILL)."""
        self._process.kill()

    def result(self, job: bytes) -> bytes:
        """Send a pickled job, and wait for its pickled result. Raises WorkerLost if the process has ended."""
        try:
            self._jobs.write(self._unsent + _framed(job))
            self._jobs.flush()
            self._unsent = b""
            return _message(self._results)
        except (OSError, EOFError):
            raise WorkerLost from None


def main() -> None:
    """Run in the worker process: do jobs until stdin ends, which it also does when the pool's process is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C goes to all processes; only that of the pool should act on it
    gc.disable()  # the tasks make no reference cycles worth collecting
    jobs, results = sys.stdin.buffer, sys.stdout.buffer
    with suppress(OSError, EOFError):
        task = pickle.loads(_message(jobs))
        while True:
            job = pickle.loads(_message(jobs))
            result: object
            try:
                result = task(job, _ignored)
            except Exception as error:
                result = error
            results.write(_framed(pickle.dumps(result)))
            results.flush()


def _ignored(n_bytes: int) -> None:
    """Progress inside a job, which only the pool's own process reports."""


def _framed(message: bytes) -> bytes:
    return len(message).to_bytes(_LENGTH) + message


def _message(pipe: IO[bytes]) -> bytes:
    """The next message, without its length. EOFError if the pipe ends before it does."""
    frame = pipe.read(_LENGTH)
    length = int.from_bytes(frame)
    message = pipe.read(length)
    if len(frame) < _LENGTH or len(message) < length:
        raise EOFError
    return message


def _widen(pipe: int) -> None:
    try:
        from fcntl import F_SETPIPE_SZ, fcntl
    except ImportError:
        return
    with suppress(OSError):
        fcntl(pipe, F_SETPIPE_SZ, _PIPE_SIZE)
