"""What a command is, and how widgets ask features for something."""

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
    """Return what can be asked of the features, such as `features_of(widget).audit.audit()`."""
    return main_screen(widget).features


def in_background(widget: DOMNode, work: Work) -> None:
    """Start what takes its time or asks the user, such as `features_of(widget).shown.play()`, in the background."""
    main_screen(widget).run_in_background(work)


# Commands


class Later:
    """A placeholder in the table for an object whose class is imported later; it records which attribute is meant.

    For mypy, `_tree` is a `CorpusTree`, so it checks `_tree.action_edit`. When the key is pressed, this is called with
    the real tree, and returns that one's method.

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
    """Something that can be asked for by a key, by name, or by both."""

    method: Callable[[], object] | None
    """What does it; None for keys that Textual's own widgets bind, which the help lists too."""
    keys: str = ""
    """As Textual calls them, commas between."""
    label: str = ""
    """Its label in the line of keys; empty if it is not there."""
    does: str = ""
    """What it does, in a few words, for the tooltip, the palette and the help."""
    name: str = ""
    """Its name in the palette; empty if it is not there."""
    help: str = ""
    """Its description in the help, if not made of the above; neighbors with the same one share a line."""
    when: bool | str | Sequence[str] = True
    """The property that says whether it applies now: it does unless that is False or empty."""
    priority: bool = False
    """Whether its keys work whatever has the focus."""
    always: bool = False
    """Whether it is always shown, at the right end of the line of keys."""

    def applies(self, owner: object) -> bool:
        """Whether it can be done now; `owner` is the widget that has its keys."""
        return self.when is True or bool(cast(Later, self.when)(owner))

    def run(self, owner: Any) -> object:
        """Do it. Textual awaits what the owner does; what a feature does goes on in the background."""
        later: Any = self.method
        arguments = ()
        if isinstance(later, partial):
            later, arguments = later.func, later.args
        method = later(owner)
        work = method(*arguments)
        if not iscoroutine(work) or method.__self__ is owner:
            return work
        in_background(owner, work)
        return None

    @property
    def description(self) -> str:
        """What the help says about it: its label or name, and what it does."""
        return self.help or ": ".join(
            filter(None, ((self.label or self.name).rstrip(" …"), self.does))
        )


def both(
    method: Callable[[Value], object], keys: str, help: str, back: Value, on: Value
) -> tuple[Command, Command]:
    """Return two commands without a label; their keys are separated by a space."""
    back_keys, on_keys = keys.split()
    return (
        Command(partial(method, back), back_keys, help=help),
        Command(partial(method, on), on_keys, help=help),
    )
