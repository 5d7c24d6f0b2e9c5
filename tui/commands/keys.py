"""Bindings of widgets, lines of the help, and tooltips, all made from the table of commands."""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from textual.binding import Binding, BindingType

from tui.commands.command import Command
from tui.commands.key_names import long_name
from tui.commands.table import COMMANDS

_ALL: Final = [command for commands in COMMANDS.values() for command in commands]
PRIORITY_KEYS: Final = frozenset(
    key for command in _ALL if command.priority for key in command.keys.split(",")
)
"""The keys that work wherever the focus is."""
_NUMBERS: Final = {command: number for number, command in enumerate(_ALL)}


def action_of(command: Command) -> str:
    """Return the Textual action that runs a command, on a widget with `HasCommands`."""
    return f"run_command({_NUMBERS[command]})"


class HasCommands:
    """A widget, screen or app that has keys of the table, and runs their commands."""

    def check_action(self, action: str, parameters: tuple[Any, ...]) -> bool | None:
        return action != "run_command" or _ALL[parameters[0]].applies(self)

    def action_run_command(self, number: int) -> object:
        return _ALL[number].run(self)


class PartBindings(list[BindingType]):
    """The bindings of one part of the table."""

    def __init__(self, part: str) -> None:
        self.part = part
        super().__init__(
            Binding(
                command.keys,
                action_of(command),
                command.label,
                show=bool(command.label),
                tooltip=_sentence(command.does),
                priority=command.priority,
            )
            for command in COMMANDS[part]
            if command.keys and command.method
        )


def tooltip(command: Command) -> str:
    """Return the tooltip of a button: what its command does, and its key."""
    if not command.keys:
        return _sentence(command.does)
    where = "anywhere"
    if command not in COMMANDS["Everywhere"]:
        parts = [part for part, commands in COMMANDS.items() if command in commands]
        where = f"in the {parts[0].lower()}"
    return _sentence(f"{command.does}; {long_name(command.keys)} {where}")


def help_lines(commands: Iterable[Command]) -> list[tuple[str, str]]:
    """Return (keys, description) for each line of the help."""
    lines = []
    listed = [command for command in commands if command.keys and command.description]
    for description, same in groupby(listed, attrgetter("description")):
        names: list[str] = []
        for command in same:
            keys = command.keys.split(",")
            if command.method:
                # The others do the same.
                keys = keys[:1]
            names += map(long_name, keys)
        lines.append((" ".join(dict.fromkeys(names)), description))
    return lines


def _sentence(does: str) -> str:
    return f"{does[:1].upper()}{does[1:]}"
