"""The app: shows the engine and asks it for things; it never counts a pair itself. Here it only begins."""

import os
import signal


def command() -> None:
    """The program `bpescope`: run it with the arguments of the command line, and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(
            signal.SIGINT, lambda *_: os._exit(130)
        )  # while so much is imported as can answer it
    from bpe_core.process import run_to_end
    from tui.__main__ import main

    run_to_end(main, "bpescope")
