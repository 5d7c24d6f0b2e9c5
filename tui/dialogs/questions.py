"""The questions: a path, a pattern, a name, a number, or options that are typed, or one of several buttons."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from heapq import nsmallest
from pathlib import Path
from textwrap import shorten
from typing import ClassVar, Final, TypeVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalGroup, VerticalScroll
from textual.events import DescendantFocus
from textual.suggester import Suggester, SuggestFromList
from textual.widgets import Button, Input, Label, Static
from textual.widgets.button import ButtonVariant

from bpe_core.corpus.counts import LARGEST
from bpe_core.errors import BpeError
from bpe_core.formats.file import holder_in
from bpe_core.patterns import PATTERNS
from bpe_core.tokenizer.training_record import OPTIONS, READING, named_as_on_screen
from bpe_core.visible import counted
from bpe_core.weighted import exact_fraction
from bpe_core.whole_file import check_place
from tui.disk.sources import is_folder, is_there
from tui.drawing.palette import colored_pieces
from tui.state import TrainingOptions
from tui.terminal.background import in_thread
from tui.terminal.guards import SOON, Dialog, Field

Answer = TypeVar("Answer")

MOST: Final = 50  # completions of a path that are offered
LONGEST_TITLE: Final = 60  # characters of a name in a list
MORE_OPTIONS: Final = (
    "max-token-length",
    "min-share",
    "extend",
    *(option.argument for option in READING),
)
_LEAST_ROOM: Final = (
    20  # characters of names that are listed where a terminal is too small for any
)
_AT_REST: Final = 0.15  # seconds without a key after which a pattern is tried
_SAMPLE: Final = (
    "The café didn't open at 10:45,\n\tso   they've walked 2,500 steps -> 東京タワー!\n"
)
"""What a pattern splits where there is no text at hand: what patterns differ in."""


class Ask(Dialog[Answer | None]):
    """Asks for a line of text; Enter gives what it stands for, Escape gives None.

    What is offered is selected, so that typing replaces it; what is wrong is said below until something else is typed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("tab", "complete", "Complete"),
    ]
    REPLACES: ClassVar[bool] = (
        True  # whether typing replaces what was refused, too, rather than going on with it
    )

    def __init__(
        self,
        question: str,
        parse: Callable[[str], Answer],
        start: str = "",
        *,
        hint: str = "Enter to continue, Escape to cancel",
        example: str = "",
        suggest: Sequence[str] = (),
    ) -> None:
        """`parse` raises `ValueError` with a sentence for what stands for nothing; Tab completes one of `suggest`."""
        super().__init__()
        self._question, self._start, self._hint, self._example = (
            question,
            start,
            hint,
            example,
        )
        self.parse = parse
        self._suggester: Suggester | None = (
            SuggestFromList(suggest, case_sensitive=False) if suggest else None
        )
        self._refused: str | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            yield Field(
                self._start, placeholder=self._example, suggester=self._suggester
            )
            yield Label(self._hint, classes="dialog--hint", markup=False)

    async def action_complete(self) -> None:
        """Take what is suggested, or is about to be; an Enter that is pressed meanwhile waits for it."""
        field = self.query_one(Input)
        typed, suggested = field.value, None
        if field.suggester is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(SOON):
                    suggested = await field.suggester.get_suggestion(typed)
        if suggested and field.value == typed:
            field.value = suggested
            field.cursor_position = len(suggested)

    @on(Input.Changed)
    def correct(self, event: Input.Changed) -> None:
        if self._refused not in (None, event.value):
            self._refused = None
            self.tell(self._hint)

    @on(Input.Submitted)
    async def answer(self, event: Input.Submitted) -> None:
        answer = event.input.value  # which may have been completed since
        if answer.strip():
            await self.soon(self.take(answer))

    async def take(self, answer: str) -> None:
        """Close with what the text stands for, or say what is wrong with it."""
        try:
            self.dismiss(await in_thread(self.parse, answer))
        except ValueError as error:
            self._refused = answer
            self.tell(str(error), wrong=True)
            if self.REPLACES:
                self.query_one(Input).select_all()


class AskPath(Ask[Path]):
    """Asks for a path, the names that it may go on with below it; a leading ~ is the home folder."""

    REPLACES = False

    def __init__(
        self,
        question: str,
        start: str = "",
        *,
        parse: Callable[[str], Path] | None = None,
    ) -> None:
        """Without `parse` it is the path of something that is there."""
        hint = "Tab completes, Enter to continue, Escape to cancel"
        super().__init__(
            question, parse or existing_path, start, hint=hint, example="path"
        )
        self._suggester = _PathSuggester(self._list)

    def _list(self, typed: str, paths: Sequence[str]) -> None:
        """As many of the names as there is room for, unless something else is typed by now, or that was refused."""
        if (
            self.is_active
            and typed == self.query_one(Input).value
            and typed != self._refused
        ):
            names = [
                os.path.basename(path.rstrip("/")) + "/" * path.endswith("/")
                for path in paths
            ]
            room = max(_LEAST_ROOM, 2 * self.query_one(".dialog--hint").size.width - 4)
            self.tell(shorten("  ".join(names), width=room) or self._hint)


class _PathSuggester(Suggester):
    """Suggests the first completion of a path, and gives it with all of them to `tell`."""

    def __init__(self, tell: Callable[[str, Sequence[str]], None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)  # files come and go
        self._tell = tell

    async def get_suggestion(self, value: str) -> str | None:
        found = await in_thread(completions, value)
        self._tell(value, found)
        return found[0] if found else None


def completions(typed: str) -> list[str]:
    """The first paths that begin with `typed` and lie in its folder, a slash behind folders; none it cannot be read.

    Hidden ones only where their dot is typed, and none whose name would act on a terminal.
    """
    if typed == "~":
        return ["~/"]
    folder, name = os.path.split(typed)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            fitting = (
                entry
                for entry in entries
                if entry.name.startswith(name) and entry.name.isprintable()
            )
            seen = (
                entry for entry in fitting if name or not entry.name.startswith(".")
            )
            first = nsmallest(
                MOST, seen, key=lambda entry: (entry.name.casefold(), entry.name)
            )
            found = [
                os.path.join(folder, entry.name + "/" * is_folder(entry))
                for entry in first
            ]
    except (OSError, ValueError):
        return []
    return [path for path in found if path != typed]


class AskPattern(Ask[str]):
    """Asks for a split pattern, by its name or as it is, and shows how it splits a text; gives one that was tried."""

    REPLACES = False

    def __init__(
        self, question: str, start: str = "", read: Callable[[], str] = str
    ) -> None:
        """`read` reads the text that is split, beside the screen; where it finds none, a sentence is."""
        hint = f"{', '.join(PATTERNS)}, or a regular expression. Tab completes a name."
        example = r"a name, or a regular expression such as \w+|\W"
        super().__init__(
            question,
            self._parse,
            start,
            hint=hint,
            example=example,
            suggest=[*PATTERNS],
        )
        self._read = read

    def on_mount(self) -> None:
        self.query_one(".dialog").mount(Static(id="tried", markup=False))
        self._try(self.query_one(Input).value)

    @on(Input.Changed)
    def try_soon(self, event: Input.Changed) -> None:
        self._try(event.value)

    async def take(self, answer: str) -> None:
        self.tell("Trying it …")
        await super().take(answer)

    def _parse(self, typed: str) -> str:
        if (name := typed.strip()) in PATTERNS:
            return name
        self._split(typed)
        return typed

    @work(exclusive=True, group="tried")
    async def _try(self, typed: str) -> None:
        """Show the pieces that a pattern makes, or what is wrong with it, unless it may be a name that has no end yet.

        A moment after the last key.
        """
        await asyncio.sleep(_AT_REST)
        pieces, wrong, name = None, "", typed.strip()
        if name in PATTERNS or not any(known.startswith(name) for known in PATTERNS):
            try:
                pieces = await in_thread(self._split, typed)
            except BpeError as error:
                wrong = str(error)
        if self.is_active:  # it may have been answered meanwhile
            shown = self.query_one("#tried", Static)
            self.tell(wrong or self._hint, wrong=bool(wrong))
            number = Text(
                f"{counted(len(pieces or ()), 'piece')}; Enter accepts it, Escape cancels.\n",
                "dim",
            )
            shown.update(
                ""
                if pieces is None
                else number + colored_pieces(pieces, shown.rich_style, self.app)
            )

    def _split(self, typed: str) -> list[str]:
        from bpe_core.patterns import tried

        text = ""
        with suppress(BpeError):  # what is wrong with a text is told where it is chosen
            text = self._read()
        return tried(typed, text or _SAMPLE)


class MoreOptions(Dialog[TrainingOptions | None]):
    """A field for each option that is rarely asked for; empty ones are as usual. Enter takes them all."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel")
    ]
    HINT: ClassVar[str] = (
        "Empty: the default. Tab: next field. Enter accepts all, Escape cancels."
    )

    def __init__(
        self,
        options: TrainingOptions,
        check: Callable[[TrainingOptions], object],
        tokenizers: Iterable[str] = (),
    ) -> None:
        """`check` raises `BpeError` for options that make no sense; a training can begin with one of `tokenizers`."""
        super().__init__()
        self._options, self._check = options, check
        self._tokenizers = SuggestFromList(tokenizers, case_sensitive=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="more-options"):
            yield Label("More options of the next training", classes="dialog--question")
            with VerticalScroll(classes="dialog--options", can_focus=False):
                for argument in MORE_OPTIONS:
                    option, value = (
                        OPTIONS[argument],
                        self._options.more.get(argument, ""),
                    )
                    names = self._tokenizers if argument == "extend" else None
                    with VerticalGroup():
                        with Horizontal(classes="dialog--option"):
                            yield Label(option.name)
                            yield Field(
                                value,
                                option.example,
                                id=argument,
                                compact=True,
                                suggester=names,
                            )
                        yield Label(option.does, classes="dialog--does", markup=False)
                with Horizontal(classes="dialog--option"):
                    yield Label(OPTIONS["weight"].name)
                    yield Label(
                        "# on a chosen text of the corpus (F2)", id="where-weights"
                    )
                yield Label(
                    OPTIONS["weight"].does, classes="dialog--does", markup=False
                )
            yield Label(self.HINT, classes="dialog--hint", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button("Take them", compact=True, id="take", variant="primary")

    @on(DescendantFocus)
    def show_whole(self, event: DescendantFocus) -> None:
        # What a field does is seen with it, wherever the list is scrolled to.
        for group in event.widget.ancestors:
            if isinstance(group, VerticalGroup):
                group.scroll_visible(animate=False)

    @on(Input.Changed)
    def correct(self) -> None:
        self.tell(self.HINT)

    @on(Input.Submitted)
    @on(Button.Pressed, "#take")
    async def answer(self) -> None:
        await self.soon(self.take())

    async def take(self) -> None:
        typed = {
            name: self.query_one(f"#{name}", Input).value.strip()
            for name in MORE_OPTIONS
        }
        try:
            options = replace(
                self._options,
                more={name: value for name, value in typed.items() if value},
            )
            await in_thread(self._check, options)
            self.dismiss(options)
        except (BpeError, ValueError) as error:
            self.tell(named_as_on_screen(str(error)), wrong=True)


# What a text stands for


def existing_path(text: str) -> Path:
    path = _absolute(text)
    if not is_there(str(path)):
        raise ValueError(f"There is no {path}; correct the path.")
    return path


def existing_file(text: str) -> Path:
    """The absolute path of a file that is there, or of a folder that stands for one."""
    path = existing_path(text)
    if os.path.isdir(path) and not holder_in(path):
        raise ValueError(
            f"{path} is a folder; continue with a file in it; Tab completes."
        )
    return path


def place_of_file(suffixes: Sequence[str], text: str) -> Path:
    """The absolute path of a file that can be written, and may be there; `suffixes` may be all, if there are none."""
    path = _absolute(text)
    check_place(path)
    if suffixes and path.suffix not in suffixes:
        raise ValueError(
            f"{path.name} ends in none of {', '.join(suffixes)}; give it one of these."
        )
    return path


def _absolute(text: str) -> Path:
    # os.path and not pathlib, which raises for a name that is too long or that no user has.
    return Path(os.path.expanduser(text.strip())).absolute()


def whole_number(least: int, most: int, text: str) -> int:
    digits = text.strip().replace(",", "").replace("_", "")
    if (
        digits.isascii()
        and digits.isdigit()
        and len(digits) < 12
        and least <= int(digits) <= most
    ):
        return int(digits)
    raise ValueError(f"Type a number from {least:,} to {most:,}.")


def weight(text: str) -> str:
    with suppress(ValueError):
        if 0 < exact_fraction(text.strip()) <= LARGEST:
            return text.strip()
    raise ValueError(
        f"Type a number above 0 and up to {LARGEST:,}, such as 3, 2.5 or 1/3."
    )


def title(text: str) -> str:
    name = text.strip()
    if len(name) > LONGEST_TITLE:
        raise ValueError(
            f"A name has {LONGEST_TITLE} characters at most, and this has {len(name):,}; shorten it."
        )
    return name


def name_of_tokenizer(text: str) -> str:
    from bpe_core.hub import KINDS, is_name

    name = text.strip()
    if not is_name(name):
        raise ValueError(f"That is not the name of a tokenizer; type {KINDS}.")
    return name


def one_of(names: Sequence[str], text: str) -> str:
    if text.strip() not in names:
        raise ValueError(
            f"There is no {text.strip()} here; type one of {', '.join(names)}."
        )
    return text.strip()


# Buttons


class Confirm(Dialog[int | None]):
    """Asks whether to do something; gives 1 for yes, 0 for the button in front, None for Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("n", "dismiss(0)", "No"),
        Binding("y", "dismiss(1)"),
        Binding("left", "app.focus_previous", "Back"),
        Binding("right", "app.focus_next", "On"),
    ]

    def __init__(
        self, question: str, yes: str, no: str = "Keep it", *, harmless: bool = False
    ) -> None:
        """`harmless`: nothing is lost by a yes."""
        super().__init__()
        self._question, self._yes, self._no, self._harmless = (
            question,
            yes,
            no,
            harmless,
        )

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button(
                    f"{self._no} (n)", compact=True, action="screen.dismiss(0)"
                )
                variant: ButtonVariant = "primary" if self._harmless else "error"
                yield Button(
                    f"{self._yes} (y)",
                    variant,
                    compact=True,
                    action="screen.dismiss(1)",
                )
            says = "Enter presses the highlighted button, Tab goes to the other, Escape cancels"
            yield Label(says, classes="dialog--hint")
