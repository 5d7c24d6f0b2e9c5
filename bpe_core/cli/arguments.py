"""What the declarations of several subcommands have in common."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from argparse import _SubParsersAction

Subcommands: TypeAlias = "_SubParsersAction[ArgumentParser]"
"""What `ArgumentParser.add_subparsers` returns."""

A_TOKENIZER = "a tokenizer file in any supported format, a folder that holds one, or a name such as gpt-4o"


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
