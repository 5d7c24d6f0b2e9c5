"""The headless face: subcommands, exit codes, and one sentence for whatever goes wrong.

Exit codes: 0 done, 1 what was asked for is not so, 2 wrong usage or bad input, 130 interrupted. Data goes to stdout,
progress and errors to stderr.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from bpe_core.commands import audit, convert, count, decode, encode, fetch, train
from bpe_core.errors import BpeError
from bpe_core.visible import visible
from bpe_core.wire import Failed, to_line


def main(argv: Sequence[str] | None = None, *, prog: str = "bpescope") -> int:
    """Run one subcommand and return its exit code; `prog` is how the program calls itself."""
    try:
        options = _parser(prog).parse_args(argv)
        code = _run(options, prog)
        sys.stdout.flush()
        return code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except BrokenPipeError:
        # Whoever read our output has enough. Python flushes stdout once more when it ends: give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(options: argparse.Namespace, prog: str) -> int:
    try:
        return int(options.run(options))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        print(f"{prog}: Interrupted.", file=sys.stderr)
        return 130
    except BpeError as error:
        message = str(error)
    except OSError as error:
        name = f" {error.filename}" if error.filename else ""
        message = f"The system refuses{name}: {error.strerror or error}."
    except Exception as error:
        # A mistake of ours: the trace helps whoever mends it, and nobody else.
        if options.debug or os.environ.get("BPESCOPE_DEBUG"):
            traceback.print_exc()
        kind = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        message = f"Unexpected {kind}; please report this with the command you typed (--debug shows where it happened)."
    if options.stream:
        sys.stdout.write(to_line(Failed(message)))
    print(f"{prog}: {visible(message)}", file=sys.stderr)
    return 2


class _Parser(argparse.ArgumentParser):
    """argparse, with what was typed made safe to show."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=prog,
        description="Byte-pair encoding without a screen: learn a vocabulary, use it, look for what is wrong with it.",
        epilog=f"{prog} COMMAND --help shows the options of a command and an example.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in (train, encode, decode, count, audit, convert, fetch):
        command.add(commands)
    return parser
