"""The command line: run a subcommand, and turn any error into one sentence and an exit code.

Exit codes: 0 done, 1 the answer is no (`audit --fail-on`, `train --preset`, `diff`, `check`), 2 wrong
usage or bad input, 3 unknown (`diff`, `check`), 130 interrupted. Data goes to stdout, progress and
errors to stderr.
"""

import errno
import os
import traceback
from collections.abc import Sequence
from typing import Final

from bpe_core.cli import (
    audit,
    compare,
    completion,
    count,
    diff,
    encode,
    files,
    lock,
    show,
    surgery,
    train,
    why,
)
from bpe_core.cli.arguments import Parser
from bpe_core.errors import BpeError, Stopped, as_sentence
from bpe_core.process import INTERRUPTED, guarded, print_to_stderr

_OUTPUT_ERRORS: Final = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EBADF,
    errno.EIO,
    errno.EPIPE,
)
"""An OSError with one of these numbers and no file name comes from writing to stdout."""
COMMANDS: Final = (
    train,
    count,
    encode,
    show,
    compare,
    diff,
    lock,
    audit,
    why,
    surgery,
    files,
    completion,
)
"""The modules of the commands, in the order of the help."""


def main(argv: Sequence[str] | None = None, *, prog: str = "bpescope") -> int:
    """Run one subcommand and return its exit code.

    Args:
        argv: The arguments. None for the arguments of the process.
        prog: The name of the program in messages.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl+C.
    """
    return guarded(lambda: _run(argv, prog), prog)


def command_parser(prog: str = "bpescope") -> Parser:
    """Return the parser of all subcommands."""
    parser = Parser(
        prog=prog,
        description="Byte-pair encoding on the command line: train, use, compare and audit "
        "tokenizers.",
        epilog=f"See {prog} COMMAND --help for options and examples.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in COMMANDS:
        command.add(commands)
    return parser


def _run(argv: Sequence[str] | None, prog: str) -> int:
    """Run a subcommand and print its error, unless it comes from writing to stdout."""
    options = command_parser(prog).parse_args(argv)
    try:
        return int(options.run(options))
    except Stopped:
        print_to_stderr(f"{prog}: Interrupted.")
        return INTERRUPTED
    except Exception as error:
        is_of_output = (
            isinstance(error, OSError)
            and not error.filename
            and error.errno in _OUTPUT_ERRORS
        )
        if is_of_output:
            raise
        is_bug = not isinstance(error, BpeError | OSError | MemoryError)
        if is_bug and (options.debug or os.environ.get("BPESCOPE_DEBUG")):
            traceback.print_exc()
        print_to_stderr(f"{prog}: {as_sentence(error)}")
    return 2
