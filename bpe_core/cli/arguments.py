"""The argument parser, and the arguments that several subcommands declare."""

import argparse
import re
import sys
from argparse import ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from inspect import cleandoc
from typing import Any, NoReturn, TypeAlias

from bpe_core.errors import LONGEST
from bpe_core.process import print_to_stderr
from bpe_core.tokenizer.training_record import OPTION_OF, OPTIONS, peers_name
from bpe_core.visible import quoted, shortened, visible

Subcommands: TypeAlias = "argparse._SubParsersAction[Parser]"
A_TOKENIZER = "a tokenizer file in any supported format, a folder that holds one, or a name such as gpt-4o"


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that answers wrong usage with one sentence on stderr, and exit code 2."""

    def print_help(self, file: Any = None) -> None:
        print(
            self.format_help(), end="", file=file or sys.stdout
        )  # argparse's own hides that stdout takes no more

    def error(self, message: str) -> NoReturn:
        problem = visible(shortened(message.removeprefix("argument "), LONGEST))
        problem += _hint_for_unknown(message)
        print_to_stderr(
            f"{self.prog}: {problem}; {self.prog} --help says what there is."
        )
        raise SystemExit(2)

    def add_tokenizer(self, several: str = "") -> None:
        """Add `-t`, the tokenizer to work with, or as many as `several` says, and `--pattern`."""
        text = f"{A_TOKENIZER}; {several}" if several else A_TOKENIZER
        self.add_value(
            "-t --tokenizer",
            "TOKENIZER",
            text,
            None,
            action="append" if several else None,
            required=True,
        )
        self.add_given_pattern()

    def add_given_pattern(self) -> None:
        """Add `--pattern` for a command that reads a tokenizer: it overrides the split pattern of the file."""
        self.add_value(
            "--pattern",
            "P",
            "how text is split, where TOKENIZER does not say it, or wrongly",
            None,
        )

    def add_cluster(self) -> None:
        """Add `--dask`, the workers that do it."""
        self.add_value("--dask", "local|ADDRESS", OPTIONS["dask"].help())

    def add_value(
        self, names: str, metavar: str, what: str, default: object = "", **more: Any
    ) -> None:
        """Add an option with a value, by names such as "-o --output"; `more` is argparse's."""
        self.add_argument(
            *names.split(), default=default, metavar=metavar, help=what, **more
        )

    def add_flag(self, name: str, what: str) -> None:
        self.add_argument(f"--{name}", action="store_true", help=what)

    def add_forms(self, **forms: str) -> argparse._MutuallyExclusiveGroup:
        """Add flags of which one at most may be given, and return their group: name and help of each printed form."""
        group = self.add_mutually_exclusive_group()
        for name, what in forms.items():
            group.add_argument(f"--{name}", action="store_true", help=what)
        return group


def _hint_for_unknown(message: str) -> str:
    """A hint to append to argparse's message about an unknown option, if training in another library has it."""
    option = message.removeprefix("unrecognized arguments: --")
    if option == message:
        return ""
    name = re.split(r"[= ]", option)[0].replace("-", "_")
    if name == "special_tokens":  # as the library calls it
        return f" (it is called --{OPTION_OF[name].argument} here)"
    hint = peers_name(name, lambda field: f"--{OPTION_OF[field].argument}")
    return f" ({hint})" if hint else ""


def integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{quoted(text)} is no whole number") from None


def natural(text: str) -> int:
    if (number := integer(text)) < 0:
        raise ArgumentTypeError(f"{quoted(text)} is below 0")
    return number


def add_command(
    commands: Subcommands, run: Callable[[Namespace], int], *notes: str
) -> Parser:
    """Add the subcommand that `run` is called after, and return its parser.

    `run` takes the parsed arguments and returns the exit code. Its docstring is the help: a sentence, examples without
    the program's name, and what else there is to say; `notes` follow.
    """
    name = run.__name__.removeprefix("run_")
    what, examples, *more = cleandoc(run.__doc__ or "\n\n").split("\n\n")
    parser = commands.add_parser(
        name, help=what, description=what, formatter_class=RawDescriptionHelpFormatter
    )
    calls = [
        f"  {parser.prog.removesuffix(name)}{example}"
        for example in examples.splitlines()
    ]
    parser.epilog = "\n\n".join(["\n".join(["for example:", *calls]), *more, *notes])
    parser.set_defaults(run=run)
    parser.add_argument(
        "--debug", action="store_true", help="show where an unexpected error happened"
    )
    return parser
