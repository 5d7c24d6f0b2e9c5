"""The argument parser, and the arguments that several subcommands declare."""

import argparse
import re
import sys
from argparse import ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from inspect import cleandoc
from itertools import chain
from typing import Any, Final, NoReturn, TypeAlias

from bpe_core.errors import LONGEST
from bpe_core.process import print_to_stderr
from bpe_core.tokenizer.training_record import OPTION_OF, OPTIONS, peers_name
from bpe_core.visible import quoted, shortened, visible

Subcommands: TypeAlias = "argparse._SubParsersAction[Parser]"
A_TOKENIZER: Final = "a tokenizer file in any supported format, a folder with one, or a name such as gpt-4o"
TEXTS: Final = (
    "texts: files and folders; files may be compressed or have rows (.jsonl, .csv, .parquet); "
    "standard input (UTF-8) if left out or -"
)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that reports wrong usage in one sentence on stderr, with exit code 2."""

    is_intermixed = False
    """Whether options may come between positional arguments."""

    def parse_known_args(self, *arguments: Any) -> Any:  # type: ignore[override]
        if not self.is_intermixed:
            return super().parse_known_args(*arguments)
        self.is_intermixed = False  # `parse_intermixed_args` calls this method
        return self.parse_intermixed_args(*arguments), []

    def print_help(self, file: Any = None) -> None:
        # The method of argparse hides errors of writing to stdout.
        print(self.format_help(), end="", file=file or sys.stdout)

    def error(self, message: str) -> NoReturn:
        problem = visible(shortened(message.removeprefix("argument "), LONGEST))
        problem += _hint_for_unknown(message)
        print_to_stderr(f"{self.prog}: {problem}; see {self.prog} --help.")
        raise SystemExit(2)

    def add_tokenizer(self, several: str = "") -> None:
        """Add `-t` and `--pattern`; `several` describes how many times to give -t; "" means once."""
        description = A_TOKENIZER
        action = None
        if several:
            description += f"; {several}"
            action = "append"
        self.add_value(
            "-t --tokenizer",
            "TOKENIZER",
            description,
            None,
            action=action,
            required=True,
        )
        self.add_given_pattern()

    def add_given_pattern(self) -> None:
        """Add `--pattern`, which overrides the split pattern of a tokenizer file."""
        self.add_value(
            "--pattern",
            "P",
            "split text by this pattern instead of TOKENIZER's own",
            None,
        )

    def add_cluster(self) -> None:
        """Add `--dask`, which names the workers to use."""
        self.add_value("--dask", "local|ADDRESS", OPTIONS["dask"].help())

    def add_value(
        self,
        names: str,
        metavar: str,
        description: str,
        default: object = "",
        **keywords: Any,
    ) -> None:
        """Add an option that takes a value, with names such as "-o --output".

        `keywords` are passed to `add_argument`.
        """
        self.add_argument(
            *names.split(),
            default=default,
            metavar=metavar,
            help=description,
            **keywords,
        )

    def add_flag(self, name: str, description: str) -> None:
        self.add_argument(f"--{name}", action="store_true", help=description)

    def add_forms(self, **forms: str) -> argparse._MutuallyExclusiveGroup:
        """Add mutually exclusive flags, given as name and help text, and return their group."""
        group = self.add_mutually_exclusive_group()
        for name, description in forms.items():
            group.add_argument(f"--{name}", action="store_true", help=description)
        return group


def _hint_for_unknown(message: str) -> str:
    """Return a hint about an unknown option if other libraries have it, else ""."""
    option = message.removeprefix("unrecognized arguments: --")
    if option == message:
        return ""
    name = re.split(r"[= ]", option)[0].replace("-", "_")
    if name == "special_tokens":  # its name in the library
        return f" (it is called --{OPTION_OF[name].argument} here)"
    hint = peers_name(name, lambda field: f"--{OPTION_OF[field].argument}")
    return f" ({hint})" if hint else ""


def integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{quoted(text)} is not a whole number") from None


def natural(text: str) -> int:
    number = integer(text)
    if number < 0:
        raise ArgumentTypeError(f"{quoted(text)} is below 0")
    return number


def add_command(
    commands: Subcommands, run: Callable[[Namespace], int], *notes: str
) -> Parser:
    """Add the subcommand named after `run`, and return its parser.

    `run` takes the parsed arguments and returns the exit code. Its docstring is the help text: a
    sentence, examples without the program's name, and further paragraphs; `notes` follow them.
    """
    name = run.__name__.removeprefix("run_")
    documentation = cleandoc(run.__doc__ or "")  # `python -OO` removes docstrings
    summary, _, rest = documentation.partition("\n\n")
    examples, *paragraphs = rest.split("\n\n")
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        formatter_class=RawDescriptionHelpFormatter,
    )
    program = parser.prog.removesuffix(name)
    calls = [f"  {program}{example}" for example in examples.splitlines()]
    example_paragraph = "\n".join(["examples:", *calls])
    parser.epilog = "\n\n".join(chain([example_paragraph], paragraphs, notes))
    parser.is_intermixed = True
    parser.set_defaults(run=run)
    parser.add_argument(
        "--debug", action="store_true", help="print a traceback for unexpected errors"
    )
    return parser
