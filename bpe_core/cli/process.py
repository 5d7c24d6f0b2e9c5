"""A command as a process of its own: how an interruption at its start, and its end, come to pass."""

import os
from collections.abc import Callable
from typing import NoReturn

from bpe_core.cli.standard_streams import print_to_stderr

INTERRUPTED = 130
"""The exit code after Ctrl+C."""


def exit_code(main: Callable[[], int], prog: str) -> int:
    """What `main` returns; INTERRUPTED after a Ctrl+C that it could not answer: as long as it still imports."""
    try:
        return main()
    except KeyboardInterrupt:
        print_to_stderr(f"{prog}: Interrupted.")
        return INTERRUPTED


def end(code: int) -> NoReturn:
    """End this process, whatever its threads are doing; stdout must have been flushed.

    Python would wait for all threads, and then free a vocabulary of 200,000 tokens one by one: 0.1 seconds and more.
    """
    os._exit(code)
