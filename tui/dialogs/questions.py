"""The questions that are answered by typing: a path, a pattern, a name, a number."""

import asyncio
import os
from collections.abc import Sequence
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
from bpe_core.formats import WRITABLE
from bpe_core.formats.atomic import check_place
from bpe_core.formats.file import holder_in
from bpe_core.tokenizer.training_record import OPTIONS
from bpe_core.trainer.conditions import EXAMPLES, Condition, condition
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
    """Asks for a line of text; Enter gives what it stands for, Escape gives None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("tab", "complete", "Complete"),
    ]
    PLACEHOLDER: ClassVar[str] = ""
    HINT: ClassVar[str] = "Enter to go on, Escape to leave"

    def __init__(self, question: str, start: str = "") -> None:
        super().__init__()
        self._question = question
        self._start = start
        self._refused: str | None = None
        """The answer that could not be taken, and of which is told why."""

    def compose(self) -> ComposeResult:
        """A question, a field, a line for what is wrong with the answer."""
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            yield Field(self._start, placeholder=self.PLACEHOLDER, select_on_focus=False, suggester=self.suggester())
            yield Label(self.HINT, classes="dialog--hint", markup=False)
            yield from self.after_hint()

    def after_hint(self) -> ComposeResult:
        """What stands below the line that tells what is wrong."""
        return ()

    def suggester(self) -> Suggester | None:
        """What completes an answer that is begun."""
        return None

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

    def understood(self, text: str) -> Answer:
        """What `text` stands for. Raises `ValueError` with one sentence if that is nothing of use."""
        raise NotImplementedError

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Take the answer, or say why it cannot be taken."""
        answer = event.input.value  # which may have been completed since
        if answer.strip():
            self.take(answer)

    def take(self, answer: str) -> None:
        """Close with what the text stands for, or say what is wrong with it."""
        try:
            self.dismiss(self.understood(answer))
        except ValueError as error:
            self.refuse(answer, str(error))

    def refuse(self, answer: str, sentence: str) -> None:
        """Say why it cannot be taken."""
        self._refused = answer
        self.tell(sentence, wrong=True)

    def tell(self, sentence: str, *, wrong: bool = False) -> None:
        """Say something below the field."""
        hint = self.query_one(".dialog--hint", Label)
        hint.update(visible(sentence))
        hint.set_class(wrong, "-wrong")


class AskPath(Ask[Path]):
    """Asks for a path that is there; a leading ~ is the home folder."""

    PLACEHOLDER = "path"
    HINT = "Tab completes, Enter to go on, Escape to leave"

    def __init__(self, question: str, start: str = "", *, only_file: bool = False) -> None:
        super().__init__(question, start)
        self._only_file = only_file

    def suggester(self) -> Suggester:
        """What lies in the folder that is typed."""
        return PathSuggester(self._list)

    def _list(self, typed: str, paths: Sequence[str]) -> None:
        """As many of the names as there is room for, unless something else is typed by now, or that was refused."""
        if in_front(self) and typed == self.query_one(Input).value and typed != self._refused:
            names = [os.path.basename(path.rstrip("/")) + "/" * path.endswith("/") for path in paths]
            room = max(_LEAST_ROOM, 2 * self.query_one(".dialog--hint").size.width - 4)
            self.tell(shorten("  ".join(names), width=room) or self.HINT)

    def understood(self, text: str) -> Path:
        """The absolute path of what is there."""
        path = _absolute(text)
        if not os.path.exists(path):
            raise ValueError(f"There is no {path}; correct the path.")
        if self._only_file and os.path.isdir(path) and not holder_in(path):
            raise ValueError(f"{path} is a folder; {_GO_ON}")
        return path


class AskPlace(AskPath):
    """Asks for the path of a file that is to be written, one that can be: what was typed is not lost for a folder."""

    def __init__(self, question: str, start: str = "", suffixes: Sequence[str] = ()) -> None:
        """`suffixes` are those it may have; all if there are none."""
        super().__init__(question, start)
        self._suffixes = suffixes

    def understood(self, text: str) -> Path:
        """The absolute path of a file, which may be there."""
        path = _absolute(text)
        if os.path.isdir(path):
            raise ValueError(f"{path} is a folder; {_GO_ON}")
        if self._suffixes and path.suffix not in self._suffixes:
            raise ValueError(f"{path.name} ends in none of {', '.join(self._suffixes)}; give it one of these.")
        check_place(path)
        return path


def _absolute(text: str) -> Path:
    # os.path and not pathlib, which raises for a name that is too long or that no user has.
    return Path(os.path.expanduser(text.strip())).absolute()


class AskCondition(Ask[Condition]):
    """Asks for a step, or for what should be so after it."""

    PLACEHOLDER = "512, or: ratio >= 3.5"
    HINT = f"{', '.join(EXAMPLES)}. A number alone is a step. Tab completes."

    def suggester(self) -> Suggester:
        """An example for each field."""
        return SuggestFromList(EXAMPLES, case_sensitive=False)

    def understood(self, text: str) -> Condition:
        """The condition, once it has been seen to be one."""
        return condition(text)


class AskTitle(Ask[str]):
    """Asks for a name of one's own."""

    def understood(self, text: str) -> str:
        """The name, if it is not too long for a list."""
        name = text.strip()
        if len(name) > LONGEST_TITLE:
            raise ValueError(f"A name has {LONGEST_TITLE} characters at most, and this has {len(name):,}; shorten it.")
        return name


class AskNumber(Ask[int]):
    """Asks for a whole number; one that is refused is selected, so that the next takes its place."""

    PLACEHOLDER = "a number"

    def refuse(self, answer: str, sentence: str) -> None:
        """Say why it cannot be taken."""
        super().refuse(answer, sentence)
        self.query_one(Input).select_all()

    def __init__(self, question: str, start: str = "", *, least: int, most: int) -> None:
        super().__init__(question, start)
        self._least, self._most = least, most

    def understood(self, text: str) -> int:
        """The number, if it is one and not too small or large."""
        digits = text.strip().replace(",", "").replace("_", "")
        if digits.isascii() and digits.isdigit() and len(digits) < 12 and self._least <= int(digits) <= self._most:
            return int(digits)
        raise ValueError(f"Type a number from {self._least:,} to {self._most:,}.")


class AskWeight(Ask[str]):
    """Asks how many times a text counts."""

    HINT = f"{OPTIONS['weight'].does} 1 is as usual."

    def __init__(self, title: str, start: str) -> None:
        super().__init__(f"How many times should {title} count beside the other texts?", start)

    def understood(self, text: str) -> str:
        """The number as it is typed, if it is one above 0."""
        try:
            if 0 < exact_fraction(text.strip()) <= LARGEST:
                return text.strip()
        except ValueError:
            pass
        raise ValueError(f"Type a number above 0 and up to {LARGEST:,}, such as 3, 2.5 or 1/3.")


class AskFormat(Ask[str]):
    """Asks for a format of tokenizer files."""

    PLACEHOLDER = WRITABLE[1]
    HINT = f"{', '.join(WRITABLE)}. Tab completes."

    def suggester(self) -> Suggester:
        """The formats that can be written."""
        return SuggestFromList(WRITABLE)

    def understood(self, text: str) -> str:
        """The format, once it has been seen to be one."""
        if text.strip() not in WRITABLE:
            raise ValueError(f"There is no such format to write; type one of {', '.join(WRITABLE)}.")
        return text.strip()


class AskName(Ask[str]):
    """Asks for the name of a tokenizer."""

    PLACEHOLDER = "gpt-4o, o200k_base, Qwen/Qwen3-8B"

    def understood(self, text: str) -> str:
        """The name, once it has been seen to be one."""
        from bpe_core.hub import KINDS, is_name

        name = text.strip()
        if not is_name(name):
            raise ValueError(f"That is not the name of a tokenizer; type {KINDS}.")
        return name
