"""Trainings that are ended by signals: a process that forks one for each line it reads, so that none has to start."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from shell import ROOT


class EndedTrainings:
    """The process; a context manager."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, Path(__file__).parents[1])))}
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self) -> "EndedTrainings":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def run(self, command: Sequence[str], after: float = 3600, number: int = signal.SIGKILL) -> tuple[int, float]:
        """Run `bpescope` with `command`, which gets the signal after so many seconds; its exit code (or the signal that
        ended it, negative), and the seconds that it took.
        """
        assert self._server.stdin and self._server.stdout
        self._server.stdin.write(json.dumps([list(command), after, int(number)]) + "\n")
        self._server.stdin.flush()
        code, seconds = json.loads(self._server.stdout.readline())
        return code, seconds


def _serve() -> None:
    from bpe_core.cli.main import main
    from bpe_core.trainer import checkpoints
    from bpe_core.worker import train

    checkpoints.EVERY, checkpoints.LARGEST_PART = 0.0, float("inf")  # a checkpoint behind every batch
    train.BATCH = 24
    # Once here, so that no process has to import and to build what a first training builds.
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        main(["train", "--preset", "S0", "-o", os.devnull])
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    for line in sys.stdin:
        command, after, number = json.loads(line)
        began = time.monotonic()
        if (child := os.fork()) == 0:
            os.dup2(os.open(os.devnull, os.O_RDWR), 2)
            os._exit(main(command))
        if signal.sigtimedwait([signal.SIGCHLD], after) is None:
            os.kill(child, number)
            signal.sigwait([signal.SIGCHLD])
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps([code, time.monotonic() - began]), flush=True)


if __name__ == "__main__":
    _serve()
