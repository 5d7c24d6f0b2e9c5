"""OptionFields: the options of the next training, to be typed and chosen; of one that runs, what it was asked for.

They are one line until one of them has the focus.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup, Vertical, VerticalGroup
from textual.content import Content
from textual.events import Click
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList, Select, Static

from bpe_core.patterns import PATTERNS
from bpe_core.trainer import TIES
from bpe_core.visible import visible
from tui.commands.command import features_of, in_background
from tui.glossary import (
    ANOTHER_PATTERN,
    FIELDS,
    OWN_PATTERN,
    PATTERN_MEANINGS,
    TIE_MEANINGS,
)
from tui.state import TrainingOptions
from tui.terminal.guards import Field

ANOTHER: Final = ""  # the choice of a pattern that is not in the list


class Choice(Select[str]):
    """One of some names, of which `meaning` gives a sentence, in a list that opens under the field."""

    hint: var[str] = var(
        ""
    )  # what the name under the cursor means: of the open list, or else the chosen one

    def __init__(
        self,
        names: Iterable[str],
        value: str,
        meaning: Callable[[str], str],
        *,
        id: str,
    ) -> None:
        self._names = list(names)
        self._meaning = meaning
        super().__init__(
            self._entries(), value=value, id=id, compact=True, allow_blank=False
        )

    def _entries(self) -> list[tuple[Content, str]]:
        # As content and not as a str, which would be markup: a regular expression is full of brackets.
        return [(Content(visible(name) or "another …"), name) for name in self._names]

    def on_mount(self) -> None:
        self.watch(self.query_one(OptionList), "highlighted", self._tell)

    def offer(self, names: Iterable[str], value: str) -> None:
        """Other names, and the one that is chosen; nobody is told of a change."""
        if (names := list(names)) == self._names and value == self.value:
            return  # else the whole screen would be laid out anew
        self._names = names
        with self.prevent(Select.Changed):
            self.set_options(self._entries())
            self.value = value
        self._tell(self.query_one(OptionList).highlighted)

    def _tell(self, highlighted: int | None) -> None:
        if highlighted is not None and highlighted < len(self._names):
            self.hint = self._meaning(self._names[highlighted])


class OptionFields(VerticalGroup):
    """A field for each of the common options; what is typed is the fields' own until `chosen` is asked for."""

    options: var[TrainingOptions] = var(
        TrainingOptions(), init=False
    )  # those that change are filled in anew
    asked: var[TrainingOptions | None] = var(
        None, init=False
    )  # of the training that runs: the line says these instead

    def compose(self) -> ComposeResult:
        texts, pattern = _texts(self.options), self.options.pattern
        meanings = defaultdict(
            lambda: OWN_PATTERN, {**PATTERN_MEANINGS, ANOTHER: ANOTHER_PATTERN}
        )
        yield Static(id="folded", markup=False)
        with HorizontalGroup(id="fields"):
            for name, id, field in (
                ("vocabulary", "size", "vocab-size"),
                ("pattern", "pattern", "pattern"),
                ("ties", "ties", "ties"),
                ("min. count", "count", "min-count"),
                ("specials", "special", "special"),
            ):
                empty = "<|endoftext|> …" if field == "special" else ""
                control: Widget = Field(
                    texts[field], empty, id=field, compact=True, tooltip=FIELDS[name]
                )
                if field == "pattern":
                    control = Choice(
                        _pattern_choices(pattern),
                        pattern,
                        meanings.__getitem__,
                        id=field,
                    )
                elif field == "ties":
                    control = Choice(
                        TIES, texts["ties"], TIE_MEANINGS.__getitem__, id=field
                    )
                label = Label(name)
                label.tooltip = FIELDS[name]
                yield Vertical(label, control, classes="field", id=f"field-{id}")

    @on(Click, "#folded")
    def unfold(self) -> None:
        self.first.focus()

    @on(Input.Changed)
    @on(Select.Changed)
    def fold(self) -> None:
        """Say the options in one line: those that are seldom changed only where they are."""
        texts = {
            id: visible(text)
            for id, text in (_texts(self.asked) if self.asked else self._fields).items()
        }
        size, rest = texts["vocab-size"], ""
        for id, name in ("min-count", "min. count"), ("special", "specials"):
            if texts[id] != _USUAL[id]:
                rest += f" · {name} {texts[id] or 'none'}"
        size = f"{int(size):,}" if size.isdecimal() and len(size) < 20 else size or "?"
        text = f"{size} tokens · {texts['pattern']} · ties {texts['ties']}{rest}"
        self.query_one("#folded", Static).update(
            Content.assemble(text, ("  F3 changes", "dim")), layout=False
        )

    watch_asked = fold

    @property
    def first(self) -> Input:
        return self.query_one("#vocab-size", Input)

    def chosen(self) -> TrainingOptions:
        """What the next training is asked for, the other options as they are known. Raises ValueError, a sentence."""
        texts = self._fields
        return TrainingOptions(
            vocab_size=self._number("vocab-size", "vocabulary size", least=257),
            pattern=texts["pattern"],
            ties=texts["ties"],
            min_count=self._number("min-count", "minimum count", least=1),
            special_tokens=tuple(dict.fromkeys(texts["special"].split())),
            more=self.options.more,
            weights=self.options.weights,
        )

    def _number(self, id: str, name: str, least: int) -> int:
        text = self._fields[id]
        digits = text.replace(",", "").replace("_", "").strip()
        number = int(digits) if digits.isdecimal() and len(digits) < 20 else 0
        if number < least:
            field = self.query_one(f"#{id}", Input)
            field.focus()
            field.select_all()  # what is typed next takes its place
            raise ValueError(
                f"The {name} is {visible(text) or 'empty'}; it must be a number from {least:,}."
            )
        return number

    def watch_options(self, old: TrainingOptions, options: TrainingOptions) -> None:
        # Fill the fields whose options are others now; what stands in the rest may not have been taken yet.
        for id, text in _texts(options).items() - _texts(old).items():
            if id == "pattern":
                self.choose_pattern(text)
            elif id != "ties":
                self.query_one(f"#{id}", Input).value = text
            elif text in TIES:
                self.query_one("#ties", Choice).value = text

    @property
    def _fields(self) -> dict[str, str]:
        """What stands in them, by their ids."""
        return {
            field.id or "": str(field.value)
            for field in (*self.query(Input), *self.query(Choice))
        }

    def choose_pattern(self, pattern: str) -> None:
        """Show a pattern as the chosen one; a regular expression is added to the list."""
        self.query_one("#pattern", Choice).offer(_pattern_choices(pattern), pattern)
        self.fold()

    @on(Select.Changed, "#pattern")
    def tell_pattern(self, event: Select.Changed) -> None:
        event.stop()
        if event.value == ANOTHER:
            in_background(self, features_of(self).corpus.ask_pattern())
        elif event.value != self.options.pattern:  # the list tells its first choice too
            features_of(self).corpus.choose_pattern(str(event.value))


def _texts(options: TrainingOptions) -> dict[str, str]:
    """What the fields say of these options, by their ids."""
    return {
        "vocab-size": str(options.vocab_size),
        "pattern": options.pattern,
        "ties": options.ties,
        "min-count": str(options.min_count),
        "special": " ".join(options.special_tokens),
    }


_USUAL: Final = _texts(TrainingOptions())


def _pattern_choices(pattern: str) -> list[str]:
    """What the list of patterns offers: the named ones, the one chosen, and another."""
    return [*PATTERNS, *([] if pattern in PATTERNS else [pattern]), ANOTHER]
