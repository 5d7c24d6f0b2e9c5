"""The questions that are answered by typing: a path, a pattern, a name, a number."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import shorten
from typing import ClassVar, Final, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.suggester import Suggester, SuggestFromList
from textual.widgets import Input, Label

from bpe_core.corpus.weights import LARGEST
from bpe_core.exact_fraction import exact_fraction
from bpe_core.formats.atomic import check_place
from bpe_core.formats.file import holder_in
from bpe_core.visible import visible
from tui.dialogs.path_completion import PathSuggester
from tui.terminal.guards import Dialog, Field, in_front

Answer = TypeVar("Answer")

LONGEST_TITLE: Final = 60
"""Characters of a name in a list."""
_GO_ON: Final = "go on typing to a file in it, Tab completes."
_LEAST_ROOM: Final = 20
"""Characters of names that are told where a terminal is too small for any."""
_SOON: Final = 1.0
"""Seconds that a key which completes is waited for: a folder of a network may never answer."""


class Ask(Dialog[Answer | None]):
    """Asks for a line of text; Enter gives what it stands for, Escape gives None.

    What is offered is selected, so that typing replaces it; what is wrong stands below until something else is typed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("tab", "complete", "Complete"),
    ]
    SELECTS: ClassVar[bool] = True

    def __init__(
        self,
        question: str,
        parse: Callable[[str], Answer],
        start: str = "",
        *,
        hint: str = "Enter to go on, Escape to leave",
        example: str = "",
        suggest: Sequence[str] = (),
    ) -> None:
        """`parse` raises `ValueError` with a sentence for what stands for nothing; Tab completes one of `suggest`."""
        super().__init__()
        self._hint = hint
        self._question = question
        self.parse = parse
        """What a text stands for."""
        self._start = start
        self._example = example
        self._suggest = suggest
        self._refused: str | None = None
        """The answer that could not be taken, and of which is told why."""

    def compose(self) -> ComposeResult:
        """A question, a field, a line for what is wrong with the answer."""
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            yield Field(
                self._start, placeholder=self._example, select_on_focus=self.SELECTS, suggester=self.suggester()
            )
            yield Label(self._hint, classes="dialog--hint", markup=False)
            yield from self.after_hint()

    def after_hint(self) -> ComposeResult:
        """What stands below the line that tells what is wrong."""
        return ()

    def suggester(self) -> Suggester | None:
        """What completes an answer that is begun."""
        return SuggestFromList(self._suggest, case_sensitive=False) if self._suggest else None

    async def action_complete(self) -> None:
        """Take what is suggested, or is about to be; an Enter that is pressed meanwhile waits for it."""
        field = self.query_one(Input)
        typed = field.value
        suggested = None
        if field.suggester is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SOON):
                    suggested = await field.suggester.get_suggestion(typed)
        if suggested and field.value == typed:
            field.value = suggested
            field.cursor_position = len(suggested)

    @on(Input.Changed)
    def correct(self, event: Input.Changed) -> None:
        """What was wrong is being corrected."""
        if self._refused not in (None, event.value):
            self._refused = None
            self.tell(self._hint)

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Take the answer, or say why it cannot be taken."""
        answer = event.input.value  # which may have been completed since
        if answer.strip():
            self.take(answer)

    def take(self, answer: str) -> None:
        """Close with what the text stands for, or say what is wrong with it."""
        try:
            self.dismiss(self.parse(answer))
        except ValueError as error:
            self.refuse(answer, str(error))

    def refuse(self, answer: str, sentence: str) -> None:
        """Say why it cannot be taken."""
        self._refused = answer
        self.tell(sentence, wrong=True)
        if self.SELECTS:
            self.query_one(Input).select_all()

    def tell(self, sentence: str, *, wrong: bool = False) -> None:
        """Say something below the field."""
        hint = self.query_one(".dialog--hint", Label)
        hint.update(visible(sentence))
        hint.set_class(wrong, "-wrong")


class AskPath(Ask[Path]):
    """Asks for a path, the names that it may go on with below it; a leading ~ is the home folder."""

    SELECTS = False

    def __init__(self, question: str, start: str = "", *, parse: Callable[[str], Path] | None = None) -> None:
        """Without `parse` it is the path of something that is there."""
        hint = "Tab completes, Enter to go on, Escape to leave"
        super().__init__(question, parse or existing_path, start, hint=hint, example="path")

    def suggester(self) -> Suggester:
        return PathSuggester(self._list)

    def _list(self, typed: str, paths: Sequence[str]) -> None:
        """As many of the names as there is room for, unless something else is typed by now, or that was refused."""
        if in_front(self) and typed == self.query_one(Input).value and typed != self._refused:
            names = [os.path.basename(path.rstrip("/")) + "/" * path.endswith("/") for path in paths]
            room = max(_LEAST_ROOM, 2 * self.query_one(".dialog--hint").size.width - 4)
            self.tell(shorten("  ".join(names), width=room) or self._hint)


# What a text stands for


def existing_path(text: str) -> Path:
    """The absolute path of what is there."""
    path = _absolute(text)
    if not os.path.exists(path):
        raise ValueError(f"There is no {path}; correct the path.")
    return path


def existing_file(text: str) -> Path:
    """The absolute path of a file that is there, or of a folder that stands for one."""
    path = existing_path(text)
    if os.path.isdir(path) and not holder_in(path):
        raise ValueError(f"{path} is a folder; {_GO_ON}")
    return path


def place_of_file(suffixes: Sequence[str], text: str) -> Path:
    """The absolute path of a file that can be written, and may be there; `suffixes` may be all, if there are none."""
    path = _absolute(text)
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; {_GO_ON}")
    if suffixes and path.suffix not in suffixes:
        raise ValueError(f"{path.name} ends in none of {', '.join(suffixes)}; give it one of these.")
    check_place(path)
    return path


def _absolute(text: str) -> Path:
    # os.path and not pathlib, which raises for a name that is too long or that no user has.
    return Path(os.path.expanduser(text.strip())).absolute()


def whole_number(least: int, most: int, text: str) -> int:
    """A number that is neither too small nor too large."""
    digits = text.strip().replace(",", "").replace("_", "")
    if digits.isascii() and digits.isdigit() and len(digits) < 12 and least <= int(digits) <= most:
        return int(digits)
    raise ValueError(f"Type a number from {least:,} to {most:,}.")


def weight(text: str) -> str:
    """How many times a text counts, as it is typed."""
    with suppress(ValueError):
        if 0 < exact_fraction(text.strip()) <= LARGEST:
            return text.strip()
    raise ValueError(f"Type a number above 0 and up to {LARGEST:,}, such as 3, 2.5 or 1/3.")


def title(text: str) -> str:
    """A name of one's own that is not too long for a list."""
    name = text.strip()
    if len(name) > LONGEST_TITLE:
        raise ValueError(f"A name has {LONGEST_TITLE} characters at most, and this has {len(name):,}; shorten it.")
    return name


def name_of_tokenizer(text: str) -> str:
    """A name under which a tokenizer may be found."""
    from bpe_core.hub import KINDS, is_name

    name = text.strip()
    if not is_name(name):
        raise ValueError(f"That is not the name of a tokenizer; type {KINDS}.")
    return name


def one_of(names: Sequence[str], text: str) -> str:
    """One of some names."""
    if text.strip() not in names:
        raise ValueError(f"There is no {text.strip()} here; type one of {', '.join(names)}.")
    return text.strip()
