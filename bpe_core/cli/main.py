"""The command line: runs a subcommand, and turns whatever goes wrong into one sentence and an exit code.

Exit codes: 0 done, 1 a check failed (`audit --fail-on`, `train --preset`), 2 wrong usage or bad input, 130 interrupted.
Data goes to stdout, progress and errors to stderr.
"""

import errno
import os
import traceback
from collections.abc import Sequence
from typing import Final

from bpe_core.cli import audit, compare, count, encode, files, train, why
from bpe_core.cli.arguments import Parser
from bpe_core.errors import BpeError, Stopped, as_sentence
from bpe_core.process import INTERRUPTED, guarded, print_to_stderr

# An OSError with one of these and no file name comes from stdout, which takes no more.
_OF_OUTPUT: Final = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EBADF,
    errno.EIO,
    errno.EPIPE,
)
COMMANDS: Final = (
    train,
    count,
    encode,
    compare,
    audit,
    why,
    files,
)  # their modules, in the order of the help


def main(argv: Sequence[str] | None = None, *, prog: str = "bpescope") -> int:
    """Run one subcommand and return its exit code; `prog` is how the program calls itself. Raises KeyboardInterrupt."""
    return guarded(lambda: _run(argv, prog), prog)


def _run(argv: Sequence[str] | None, prog: str) -> int:
    """`main` with every error printed, but OSError if stdout cannot be written to; SystemExit after --help, and
    KeyboardInterrupt, pass through."""
    parser = Parser(
        prog=prog,
        description="Byte-pair encoding without a screen: learn a vocabulary, use it, look for what is wrong with it.",
        epilog=f"{prog} COMMAND --help shows the options of a command and an example.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in COMMANDS:
        command.add(commands)
    options = parser.parse_args(argv)
    try:
        return int(options.run(options))
    except Stopped:
        print_to_stderr(f"{prog}: Interrupted.")
        return INTERRUPTED
    except Exception as error:
        if (
            isinstance(error, OSError)
            and error.filename is None
            and error.errno in _OF_OUTPUT
        ):
            raise
        is_ours = not isinstance(error, BpeError | OSError | MemoryError)
        if is_ours and (options.debug or os.environ.get("BPESCOPE_DEBUG")):
            traceback.print_exc()  # it helps whoever mends our mistake, and nobody else
        print_to_stderr(f"{prog}: {as_sentence(error)}")
    return 2
