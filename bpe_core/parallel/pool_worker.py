"""A member of a crew, a process that helps: from outside, how it is started and asked; from inside, how it answers.

Messages are pickles, each behind its length. First comes what is to be done, a callable, then job after job.
"""

import gc
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, Self

_START: Final = "import sys; sys.path.append(sys.argv[1]); from bpe_core.parallel.pool_worker import main; main()"

_LENGTH: Final = 8
"""Bytes that tell the length of a message."""

_WIDE: Final = 1 << 20
"""Bytes that a pipe should hold, so that an answer passes at once; not every system is asked, or grants it."""


class MemberLost(Exception):
    """The process is no more."""


class CrewMember:
    """One process, to be used in a `with` statement, at whose end it is gone.

    The thread that asks it has to wait for the interpreter every time it has waited for the pipe, and meanwhile the
    member idles. So nothing is done here but to move bytes, as many at once as can be.
    """

    def __init__(self, work: bytes) -> None:
        """Start it and tell it what to do; both take their time, but not ours."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(Path(__file__).parents[2])],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._untold = _framed(work)
        _widen(self._out)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()

    def answer(self, job: bytes) -> bytes:
        """What it answers to a job, both pickled. MemberLost if it has died."""
        try:
            _write(self._in, self._untold + _framed(job))
            self._untold = b""
            return _read(self._out)
        except OSError:
            raise MemberLost from None


def main() -> None:
    """Answer until stdin ends, which it does even when the other side is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches all processes; the one that asks decides
    gc.disable()  # the work makes no cycles worth looking for
    asked, answers = sys.stdin.buffer, sys.stdout.fileno()
    with suppress(OSError):
        work = pickle.loads(_next(asked))
        while message := _next(asked):
            job = pickle.loads(message)
            answer: object
            try:
                answer = work(job, _unwatched)
            except Exception as error:
                answer = error
            _write(answers, _framed(pickle.dumps(answer)))


def _unwatched(n_bytes: int) -> None:
    """Nobody looks on here."""


def _framed(message: bytes) -> bytes:
    return len(message).to_bytes(_LENGTH) + message


def _write(pipe: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _next(pipe: BinaryIO) -> bytes:
    """The next of the messages that may come in all at once; empty where there is none any more."""
    return pipe.read(int.from_bytes(pipe.read(_LENGTH)))


def _read(pipe: int) -> bytes:
    """The only message that there is to come; OSError if it does not come whole."""
    parts = bytearray(_some(pipe))
    while len(parts) < _LENGTH or len(parts) < _LENGTH + int.from_bytes(parts[:_LENGTH]):
        parts += _some(pipe)
    return bytes(parts[_LENGTH:])


def _some(pipe: int) -> bytes:
    data = os.read(pipe, _WIDE)
    if not data:
        raise BrokenPipeError
    return data


def _widen(pipe: int) -> None:
    try:
        from fcntl import F_SETPIPE_SZ, fcntl
    except ImportError:
        return
    with suppress(OSError):
        fcntl(pipe, F_SETPIPE_SZ, _WIDE)
