"""What the declarations of several subcommands have in common."""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from bpe_core.cli.standard_streams import tell
from bpe_core.errors import LONGEST
from bpe_core.visible import quoted, shortened, visible

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from _typeshed import SupportsWrite

Subcommands: TypeAlias = "_SubParsersAction[ArgumentParser]"
"""What `ArgumentParser.add_subparsers` returns."""

A_TOKENIZER = "a tokenizer file in any supported format, a folder that holds one, or a name such as gpt-4o"


class Parser(ArgumentParser):
    """An ArgumentParser that answers wrong usage with one sentence on stderr, and exit code 2."""

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print the help. OSError if stdout takes no more."""
        print(self.format_help(), end="", file=file or sys.stdout)

    def error(self, message: str) -> NoReturn:
        """End the program with what argparse says of an argument, without its usage."""
        problem = visible(shortened(message.removeprefix("argument "), LONGEST))
        tell(f"{self.prog}: {problem}; {self.prog} --help says what there is.")
        raise SystemExit(2)


def integer(text: str) -> int:
    """The number that an argument is; ArgumentTypeError if it is none."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{quoted(text)} is no whole number") from None


def add_command(
    commands: Subcommands,
    name: str,
    run: Callable[[Namespace], int],
    description: str,
    examples: tuple[str, ...],
    notes: str = "",
) -> ArgumentParser:
    """A subcommand with one line of description, and examples to copy, then `notes`, below its options."""
    parser = commands.add_parser(
        name, help=description, description=description, formatter_class=RawDescriptionHelpFormatter
    )
    lines = ["for example:", *(f"  {parser.prog} {example}" for example in examples)]
    parser.epilog = "\n".join([*lines, "", notes] if notes else lines)
    parser.set_defaults(run=run, stream=False)
    parser.add_argument("--debug", action="store_true", help="show where an unexpected error happened")
    return parser


def add_stream(parser: ArgumentParser) -> None:
    """`--stream`, which turns a command into the worker of an app."""
    parser.add_argument(
        "--stream",
        action="store_true",
        help="for programs: one JSON object a line on stdout; run, pause, step N and stop on stdin, whose end stops",
    )


def add_tokenizer(parser: ArgumentParser) -> None:
    """`-t`, the tokenizer to work with, and `--pattern` for the files that do not tell theirs."""
    parser.add_argument("-t", "--tokenizer", required=True, metavar="TOKENIZER", help=A_TOKENIZER)
    add_given_pattern(parser)


def add_given_pattern(parser: ArgumentParser) -> None:
    """`--pattern`, where a tokenizer's file does not tell it."""
    parser.add_argument("--pattern", metavar="P", help="how text is split, where TOKENIZER does not say it, or wrongly")


def add_input(parser: ArgumentParser, what: str) -> None:
    """The file to read, or stdin."""
    parser.add_argument("path", nargs="?", default="-", metavar="PATH", help=f"{what}; stdin if left out or -")


def add_pattern(parser: ArgumentParser) -> None:
    """`--pattern`, how text is split."""
    parser.add_argument(
        "--pattern",
        default="gpt4",
        metavar="P",
        help="how text is split: none, words, gpt2, gpt4, gpt4o, ... or a regular expression (%(default)s)",
    )
