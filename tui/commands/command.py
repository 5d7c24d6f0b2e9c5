"""The type of a command, and the functions through which widgets call features."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutine
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from tui.features.all import Features
    from tui.screen import MainScreen

Value = TypeVar("Value")
Work = Coroutine[Any, Any, None]


# The seam between widgets and features


def main_screen(widget: DOMNode) -> MainScreen:
    """Return the main screen, which the widget is on."""
    return cast("MainScreen", widget.screen)


def features_of(widget: DOMNode) -> Features:
    """Return the features, to call one: `features_of(widget).audit.audit()`."""
    return main_screen(widget).features


def in_background(widget: DOMNode, work: Work) -> None:
    """Run a coroutine next to the screen: `in_background(widget, features_of(widget).shown.play())`."""
    main_screen(widget).run_in_background(work)


# Commands


class Later:
    """A placeholder in the table for an object whose class is imported later. It records a path of attributes.

    For mypy, `_tree` is a `CorpusTree`, so it checks `_tree.action_edit`. When the key is pressed, the placeholder is
    called with the real tree and returns its `action_edit`.

    >>> Later().title("a line")()
    'A Line'
    """

    def __init__(self, path: str = "") -> None:
        self._path = path

    def __getattr__(self, name: str) -> Later:
        return Later(f"{self._path}.{name}" if self._path else name)

    def __call__(self, owner: object) -> Any:
        return attrgetter(self._path)(owner)


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """An action with a key, a name in the command palette, or both."""

    method: Callable[[], object] | None
    """The method to call, as an attribute of a placeholder. None if Textual's widgets bind the keys."""
    keys: str = ""
    """The keys, as Textual names them, separated by commas."""
    label: str = ""
    """The label in the line of keys; "" if it is not listed there."""
    does: str = ""
    """A short description for the tooltip, the palette and the help."""
    name: str = ""
    """The name in the palette; "" if it is not listed there. It ends with … if the command opens a dialog first."""
    words: str = ""
    """Other words for it, by which the palette finds it too, separated by spaces."""
    help: str = ""
    """The description in the help, by default the label and `does`. Adjacent commands with the same one share a line."""
    when: bool | str | Sequence[str] = True
    """A property of the owner. The command applies unless it is False or empty."""
    priority: bool = False
    """Whether the keys work wherever the focus is."""
    always: bool = False
    """Whether it is always shown, at the right end of the line of keys."""

    def applies(self, owner: object) -> bool:
        """Whether the command can run now. `owner` is the widget that has the keys."""
        return self.when is True or bool(cast(Later, self.when)(owner))

    def run(self, owner: Any) -> object:
        """Call the method. Textual awaits a coroutine of the owner; a coroutine of a feature runs in the background."""
        later: Any = self.method
        if isinstance(later, partial):
            method = later.func(owner)
            work = method(*later.args)
        else:
            method = later(owner)
            work = method()
        if not iscoroutine(work) or method.__self__ is owner:
            return work
        in_background(owner, work)
        return None

    @property
    def description(self) -> str:
        """The description in the help: the label or name, and what the command does."""
        if self.help:
            return self.help
        name = (self.label or self.name).removesuffix("…")
        return ": ".join(part for part in (name, self.does) if part)


def both(
    method: Callable[[Value], object], keys: str, help: str, back: Value, on: Value
) -> tuple[Command, Command]:
    """Return two commands that call `method` with `back` or `on`. A space separates their keys."""
    back_keys, on_keys = keys.split()
    return (
        Command(partial(method, back), back_keys, help=help),
        Command(partial(method, on), on_keys, help=help),
    )
