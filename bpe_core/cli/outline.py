"""The commands as plain records, for shell completion, the man page and the documentation."""

import argparse
from collections.abc import Iterator
from typing import Final, NamedTuple

from bpe_core.hub import KNOWN_NAMES
from bpe_core.patterns import PATTERNS

_FILES: Final = {
    "C",
    "COUNTS",
    "FILE",
    "IDS",
    "IN OUT",
    "LOCK",
    "OUT",
    "PATH",
    "PATH=N",
    "SOURCE",
}
_TOKENIZERS: Final = {"A", "B", "OLD", "TOKENIZER"}
_WORDS: Final = {
    "A": KNOWN_NAMES,
    "B": KNOWN_NAMES,
    "MODEL": KNOWN_NAMES,
    "OLD": KNOWN_NAMES,
    "TOKENIZER": KNOWN_NAMES,
    "P": tuple(PATTERNS),
    "PATTERN": tuple(PATTERNS),
}
"""Placeholder -> values to suggest, among others that are valid."""


class Argument(NamedTuple):
    """An option, or a positional argument if it has no `names`."""

    names: tuple[str, ...]
    metavar: str
    """The placeholder of the value; "" for a flag."""
    help: str
    choices: tuple[str, ...]
    is_required: bool
    is_repeatable: bool

    @property
    def takes_file(self) -> bool:
        return self.metavar in _FILES | _TOKENIZERS

    @property
    def words(self) -> tuple[str, ...]:
        """The values to suggest."""
        return self.choices or _WORDS.get(self.metavar, ())

    @property
    def value(self) -> str:
        """What to write as the value: the choices, or a placeholder."""
        if self.choices:
            return "{" + ",".join(self.choices) + "}"
        return self.metavar


class Table(NamedTuple):
    """A list of names and their meanings at the end of a command's help."""

    title: str
    rows: tuple[tuple[str, str], ...]


class Command(NamedTuple):
    """A subcommand, or the app, whose `name` is empty."""

    name: str
    summary: str
    arguments: tuple[Argument, ...]
    examples: tuple[str, ...]
    notes: tuple[str, ...]
    tables: tuple[Table, ...]

    @property
    def full_name(self) -> str:
        return f"bpescope {self.name}".rstrip()

    @property
    def options(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.names)

    @property
    def positionals(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if not argument.names)

    @property
    def usage(self) -> str:
        """The command with its required options and its positional arguments."""
        parts = [self.full_name]
        for option in self.options:
            if option.is_required:
                parts.append(f"{option.names[0]} {option.value}")
        parts.append("[OPTION]...")
        for positional in self.positionals:
            value = positional.value
            if not positional.is_required:
                value = f"[{value}]"
            if positional.is_repeatable:
                value += "..."
            parts.append(value)
        return " ".join(parts)


def outline() -> tuple[Command, ...]:
    """Return the app, then all subcommands in the order of the help."""
    # Imported late, since the list of commands includes the command that uses this module.
    from bpe_core.cli.app import app_parser
    from bpe_core.cli.main import command_parser

    commands = [_command("", app_parser(()))._replace(notes=())]
    for action in command_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, parser in action.choices.items():
                commands.append(_command(name, parser))
    return tuple(commands)


def _command(name: str, parser: argparse.ArgumentParser) -> Command:
    """Describe a command by its parser, whose epilog is the one of `add_command`."""
    examples: list[str] = []
    notes: list[str] = []
    tables: list[Table] = []
    for paragraph in (parser.epilog or "").split("\n\n"):
        title, *lines = paragraph.splitlines()
        lines = [line.strip() for line in lines]
        if title == "examples:":
            examples = lines
        elif title.endswith(":"):
            rows = tuple(_row(line) for line in lines)
            tables.append(Table(title.removesuffix(":"), rows))
        else:
            notes.append(" ".join([title, *lines]))
    return Command(
        name,
        (parser.description or "").strip(),
        tuple(_arguments(parser)),
        tuple(examples),
        tuple(notes),
        tuple(tables),
    )


def _row(line: str) -> tuple[str, str]:
    name, _, meaning = line.partition("  ")
    return name, meaning.strip()


def _arguments(parser: argparse.ArgumentParser) -> Iterator[Argument]:
    for action in parser._actions:
        metavar = ""
        if action.nargs != 0:
            metavar = str(action.metavar or action.dest.upper())
        if isinstance(action.metavar, tuple):
            metavar = " ".join(action.metavar)
        choices = tuple(str(choice) for choice in action.choices or ())
        is_append = isinstance(action, argparse._AppendAction)
        # argparse calls PATH... required even if it may be left out.
        is_optional = action.nargs in ("*", "?")
        yield Argument(
            names=tuple(action.option_strings),
            metavar=metavar,
            help=(action.help or "") % {**vars(action), "prog": parser.prog},
            choices=choices,
            is_required=action.required and not is_optional,
            is_repeatable=is_append or action.nargs in ("*", "+"),
        )
