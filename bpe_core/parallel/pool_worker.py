"""A worker process of a `ProcessPool`: how the pool starts it and asks it, and how it answers.

Messages are pickles, each behind its length. First comes the task, a callable, then job after job.
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
"""Bytes that tell the length of a message."""

_PIPE_SIZE: Final = 1 << 20
"""Bytes that a pipe should hold, so that a result passes at once; not every system is asked, or grants it."""


class WorkerLost(Exception):
    """The process has ended, by itself or by somebody."""


class PoolWorker:
    """One process; a context manager, at whose end the process has ended too."""

    def __init__(self, task: bytes) -> None:
        """Start the process, without waiting for it. `task` is pickled. OSError if there can be no more processes."""
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
        """End the process, whatever it does."""
        self._process.kill()

    def result(self, job: bytes) -> bytes:
        """The result of a job, both pickled; waits for it. WorkerLost if the process has ended."""
        try:
            self._jobs.write(self._unsent + _framed(job))
            self._jobs.flush()
            self._unsent = b""
            return _message(self._results)
        except (OSError, EOFError):
            raise WorkerLost from None


def main() -> None:
    """Do jobs until stdin ends, which it does even when the process of the pool is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches all processes; that of the pool decides
    gc.disable()  # the work makes no cycles worth looking for
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
    """Progress, which is told only in the process of the pool."""


def _framed(message: bytes) -> bytes:
    return len(message).to_bytes(_LENGTH) + message


def _message(pipe: IO[bytes]) -> bytes:
    """The next message. EOFError if it does not come whole."""
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
