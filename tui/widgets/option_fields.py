"""OptionFields: the fields for the options of the next training.

They are one line until one of them has the focus. During a training, the line shows its options instead.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

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

ANOTHER: Final = ""
"""The choice of a pattern that is not in the list."""


class _FieldEntry(NamedTuple):
    """A field: its label, the id of its frame, and its own id."""

    label: str
    frame: str
    id: str


_FIELDS: Final = (
    _FieldEntry("vocabulary", "size", "vocab-size"),
    _FieldEntry("pattern", "pattern", "pattern"),
    _FieldEntry("ties", "ties", "ties"),
    _FieldEntry("min. count", "count", "min-count"),
    _FieldEntry("specials", "special", "special"),
)


class Choice(Select[str]):
    """A name chosen from a list that opens below the field; `meaning` explains each name."""

    hint: var[str] = var("")
    """The meaning of the name under the cursor of the open list, or else of the chosen one."""

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
        # A str would be read as markup, and regular expressions are full of brackets.
        return [(Content(visible(name) or "another …"), name) for name in self._names]

    def on_mount(self) -> None:
        self.watch(self.query_one(OptionList), "highlighted", self._show_hint)

    def offer(self, names: Iterable[str], value: str) -> None:
        """Replace the names and the chosen one, without posting a change."""
        names = list(names)
        if names == self._names and value == self.value:
            return  # replacing the options lays out the whole screen again
        self._names = names
        with self.prevent(Select.Changed):
            self.set_options(self._entries())
            self.value = value
        self._show_hint(self.query_one(OptionList).highlighted)

    def _show_hint(self, highlighted: int | None) -> None:
        if highlighted is not None and highlighted < len(self._names):
            self.hint = self._meaning(self._names[highlighted])


class OptionFields(VerticalGroup):
    """A field for each of the common options. `chosen` reads what the user typed."""

    options: var[TrainingOptions] = var(TrainingOptions(), init=False)
    """The options to start from. Those that change fill their fields again."""
    asked: var[TrainingOptions | None] = var(None, init=False)
    """The options of the running training, which the line shows instead."""

    def compose(self) -> ComposeResult:
        yield Static(id="folded", markup=False)
        with HorizontalGroup(id="fields"):
            for entry in _FIELDS:
                label = Label(entry.label)
                label.tooltip = FIELDS[entry.label]
                yield Vertical(
                    label,
                    self._control(entry),
                    classes="field",
                    id=f"field-{entry.frame}",
                )

    def _control(self, entry: _FieldEntry) -> Widget:
        if entry.id == "pattern":
            pattern = self.options.pattern
            names = _pattern_choices(pattern)
            return Choice(names, pattern, _pattern_meaning, id=entry.id)
        if entry.id == "ties":
            ties = self.options.ties
            return Choice(TIES, ties, TIE_MEANINGS.__getitem__, id=entry.id)
        return Field(
            _texts(self.options)[entry.id],
            "<|endoftext|> …" if entry.id == "special" else "",
            id=entry.id,
            compact=True,
            tooltip=FIELDS[entry.label],
        )

    @on(Click, "#folded")
    def unfold(self) -> None:
        self.first.focus()

    @on(Input.Changed)
    @on(Select.Changed)
    def fold(self) -> None:
        """Show the options in one line; those that are seldom changed only if they are not the usual ones."""
        texts = _texts(self.asked) if self.asked else self._fields
        size = texts["vocab-size"]
        if size.isdecimal() and len(size) < 20:
            size = f"{int(size):,}"
        line = f"{size or '?'} tokens · {texts['pattern']} · ties {texts['ties']}"
        if texts["min-count"] != _USUAL["min-count"]:
            line += f" · min. count {texts['min-count'] or 'none'}"
        if texts["special"] != _USUAL["special"]:
            line += f" · specials {texts['special'] or 'none'}"
        content = Content.assemble(visible(line), ("  F3 changes", "dim"))
        self.query_one("#folded", Static).update(content, layout=False)

    watch_asked = fold

    @property
    def first(self) -> Input:
        return self.query_one("#vocab-size", Input)

    def chosen(self) -> TrainingOptions:
        """Return the options for the next training. Raises ValueError, with a sentence, if a field is invalid."""
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
        number = 0
        if digits.isdecimal() and len(digits) < 20:
            number = int(digits)
        if number < least:
            field = self.query_one(f"#{id}", Input)
            field.focus()
            field.select_all()  # so that typing replaces it
            shown = visible(text) or "empty"
            raise ValueError(
                f"The {name} is {shown}; enter a whole number from {least:,} up."
            )
        return number

    def watch_options(self, old: TrainingOptions, options: TrainingOptions) -> None:
        # Fill only the fields whose options have changed. The others may hold what the user has just typed.
        for id, text in _texts(options).items() - _texts(old).items():
            if id == "pattern":
                self.choose_pattern(text)
            elif id != "ties":
                self.query_one(f"#{id}", Input).value = text
            elif text in TIES:
                self.query_one("#ties", Choice).value = text

    @property
    def _fields(self) -> dict[str, str]:
        """The contents of the fields, by their ids."""
        return {
            field.id or "": str(field.value)
            for field in (*self.query(Input), *self.query(Choice))
        }

    def choose_pattern(self, pattern: str) -> None:
        """Choose a pattern. A regular expression is added to the list."""
        self.query_one("#pattern", Choice).offer(_pattern_choices(pattern), pattern)
        self.fold()

    @on(Select.Changed, "#pattern")
    def use_pattern(self, event: Select.Changed) -> None:
        event.stop()
        if event.value == ANOTHER:
            in_background(self, features_of(self).corpus.ask_pattern())
        elif (
            event.value != self.options.pattern
        ):  # the list also posts its first choice
            features_of(self).corpus.choose_pattern(str(event.value))


def _texts(options: TrainingOptions) -> dict[str, str]:
    """Return the contents of the fields for these options, by their ids."""
    return {
        "vocab-size": str(options.vocab_size),
        "pattern": options.pattern,
        "ties": options.ties,
        "min-count": str(options.min_count),
        "special": " ".join(options.special_tokens),
    }


_USUAL: Final = _texts(TrainingOptions())


def _pattern_choices(pattern: str) -> list[str]:
    """Return the named patterns, the current one if it has no name, and the entry for typing another."""
    names = list(PATTERNS)
    if pattern not in PATTERNS:
        names.append(pattern)
    names.append(ANOTHER)
    return names


def _pattern_meaning(pattern: str) -> str:
    if pattern == ANOTHER:
        return ANOTHER_PATTERN
    return PATTERN_MEANINGS.get(pattern, OWN_PATTERN)
