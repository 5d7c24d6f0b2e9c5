"""The headless face: subcommands, exit codes, and one sentence for whatever goes wrong.

Exit codes: 0 done, 1 what was asked for is not so, 2 wrong usage or bad input, 130 interrupted. Data goes to stdout,
progress and errors to stderr.
"""

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Final

from bpe_core.cli import audit, compare, convert, count, decode, economy, encode, fetch, show, train
from bpe_core.cli.arguments import Parser
from bpe_core.cli.standard_streams import hold_open, let_go, tell
from bpe_core.cli.wire import Failed, to_line
from bpe_core.errors import LONGEST, BpeError
from bpe_core.visible import shortened, visible

_OF_OUTPUT: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO, errno.EPIPE)
"""What the system says of a place that takes no more; where it names no file, that is stdout."""


COMMANDS: Final = (train, encode, decode, show, count, compare, economy, audit, convert, fetch)
"""The modules of the subcommands, in the order of the help."""


def main(argv: Sequence[str] | None = None, *, prog: str = "bpescope") -> int:
    """Run one subcommand and return its exit code; `prog` is how the program calls itself."""
    hold_open()
    try:
        code = _run(argv, prog)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever read our output has enough
        let_go(sys.stdout)
        return 0
    except OSError as error:
        let_go(sys.stdout)
        tell(f"{prog}: What is to be printed cannot be written: {error.strerror or error}.")
        return 2


def _run(argv: Sequence[str] | None, prog: str) -> int:
    """The exit code, everything being said but what is still on its way to stdout. Raises OSError if that is stuck."""
    try:
        options = _parser(prog).parse_args(argv)
    except SystemExit as end:  # after --help, or a sentence on what is wrong
        return end.code if isinstance(end.code, int) else 0
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        tell(f"{prog}: Interrupted.")
        return 130
    except BpeError as error:
        message = str(error)
    except OSError as error:
        if error.filename is None and error.errno in _OF_OUTPUT:
            raise
        name = f" {error.filename}" if error.filename else ""
        message = f"The system refuses{name}: {error.strerror or error}."
    except MemoryError:
        message = "There is not enough memory for this."
    except Exception as error:
        # A mistake of ours: the trace helps whoever mends it, and nobody else.
        if options.debug or os.environ.get("BPESCOPE_DEBUG"):
            traceback.print_exc()
        kind = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        message = f"Unexpected {kind}; please report this with the command you typed (--debug shows where it happened)."
    message = visible(shortened(message, LONGEST))
    tell(f"{prog}: {message}")
    if options.stream:
        sys.stdout.write(to_line(Failed(message)))
    return 2


def _parser(prog: str) -> Parser:
    parser = Parser(
        prog=prog,
        description="Byte-pair encoding without a screen: learn a vocabulary, use it, look for what is wrong with it.",
        epilog=f"{prog} COMMAND --help shows the options of a command and an example.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in COMMANDS:
        command.add(commands)
    return parser
