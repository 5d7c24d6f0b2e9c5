"""OptionFields: the options of the next training, to be typed and chosen; of one that runs, what it was asked for."""

from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup, Vertical
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Input, Label, Select

from bpe_core.patterns import PATTERNS
from bpe_core.trainer import TIES
from bpe_core.visible import visible
from tui.glossary import ANOTHER_PATTERN, FIELDS, OWN_PATTERN, PATTERN_MEANINGS, TIE_MEANINGS
from tui.state import TrainingOptions, requests
from tui.terminal.background import SlicedWork, Steps
from tui.terminal.guards import Field
from tui.widgets.choice import Choice

ANOTHER: Final = ""
"""The choice of a pattern that is not in the list."""


class OptionFields(HorizontalGroup):
    """A field for each of the common options; what is typed is the fields' own until `chosen` is asked for."""

    options: var[TrainingOptions] = var(TrainingOptions(), init=False)
    """What is known of them; the fields are filled anew with those that change."""

    asked: var[TrainingOptions | None] = var(None, init=False)
    """What the training that runs was asked for, which is shown instead; None if none runs."""

    _typed: dict[str, str] | None = None
    """What stood in the fields before they showed that."""

    def __init__(self, options: TrainingOptions) -> None:
        super().__init__(id="options")
        self.set_reactive(OptionFields.options, options)
        self._enabling = SlicedWork[None](self)

    def compose(self) -> ComposeResult:
        options, pattern = self.options, self.options.pattern
        patterns = Choice(_pattern_choices(pattern), pattern, _pattern_meaning, id="pattern")
        ties = Choice(TIES, options.ties, TIE_MEANINGS.__getitem__, id="ties")
        yield _option("vocabulary", "size", _field("vocabulary", "vocab-size", str(options.vocab_size)))
        yield _option("pattern", "pattern", patterns)
        yield _option("ties", "ties", ties)
        yield _option("min. count", "count", _field("min. count", "min-count", str(options.min_count)))
        yield _option("specials", "special", _field("specials", "special", placeholder="<|endoftext|> …"))

    @property
    def first(self) -> Input:
        """The field that one begins with."""
        return self.query_one("#vocab-size", Input)

    def chosen(self) -> TrainingOptions:
        """What the next training is asked for, the other options as they are known. Raises ValueError, a sentence."""
        texts = self._next
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
        text = self._next[id]
        try:
            number = int(text.replace(",", "").replace("_", ""))
        except ValueError:
            number = 0
        if number < least:
            field = self.query_one(f"#{id}", Input)
            field.focus()
            field.select_all()  # what is typed next takes its place
            raise ValueError(f"The {name} is {visible(text) or 'empty'}; it must be a number from {least:,}.")
        return number

    def watch_options(self, old: TrainingOptions, options: TrainingOptions) -> None:
        # Fill the fields whose options are others now; what stands in the rest may not have been taken yet.
        before = _texts(old)
        changed = {id: text for id, text in _texts(options).items() if text != before[id]}
        if self._typed is None:
            self._show(changed)
        else:
            self._typed |= changed

    def watch_asked(self, asked: TrainingOptions | None) -> None:
        if asked is not None:
            self._typed = self._next
            self._show(_texts(asked))
        elif self._typed is not None:
            typed, self._typed = self._typed, None
            self._show(typed)

    @property
    def _next(self) -> dict[str, str]:
        """What stands in the fields of the next training, by their ids."""
        if self._typed is not None:
            return self._typed
        typed = {field.id or "": field.value for field in self.query(Input)}
        return typed | {choice.id or "": str(choice.value) for choice in self.query(Choice)}

    def _show(self, texts: dict[str, str]) -> None:
        for id, text in texts.items():
            if id == "pattern":
                self.choose_pattern(text)
            elif id != "ties":
                self.query_one(f"#{id}", Input).value = text
            elif text in TIES:
                self.query_one("#ties", Choice).value = text

    def choose_pattern(self, pattern: str) -> None:
        """Show a pattern as the chosen one; a regular expression is added to the list."""
        self.query_one("#pattern", Choice).offer(_pattern_choices(pattern), pattern)

    @on(Select.Changed, "#pattern")
    def tell_pattern(self, event: Select.Changed) -> None:
        """Another pattern: the preview splits by it at once."""
        event.stop()
        if event.value == ANOTHER:
            requests(self).ask_pattern()
        elif event.value != self.options.pattern and self._typed is None:  # the list tells its first choice too
            requests(self).choose_pattern(str(event.value))

    def enable(self, enabled: bool) -> None:
        """Let the fields be changed, or not, as while a training runs."""
        self._enabling.run(self._enable(enabled), lambda _: None)

    def _enable(self, enabled: bool) -> Steps[None]:
        """One after the other: each, and all that is in it, is styled anew, while somebody may be typing."""
        for field in self.query("Input, Select"):
            field.disabled = not enabled
            yield


def _texts(options: TrainingOptions) -> dict[str, str]:
    """What the fields say of these options, by their ids."""
    return {
        "vocab-size": str(options.vocab_size),
        "pattern": options.pattern,
        "ties": options.ties,
        "min-count": str(options.min_count),
        "special": " ".join(options.special_tokens),
    }


def _option(name: str, id: str, control: Widget) -> Vertical:
    """An option of a training: what it is called, above what it is chosen with."""
    label = Label(name)
    label.tooltip = FIELDS[name]
    return Vertical(label, control, classes="field", id=f"field-{id}")


def _field(name: str, id: str, value: str = "", placeholder: str = "") -> Field:
    return Field(value, placeholder, id=id, compact=True, tooltip=FIELDS[name])


def _pattern_choices(pattern: str) -> list[str]:
    """What the list of patterns offers: the named ones, the one chosen, and another."""
    return [*PATTERNS, *([] if pattern in PATTERNS else [pattern]), ANOTHER]


def _pattern_meaning(pattern: str) -> str:
    """What an entry of that list means, in a sentence."""
    return ANOTHER_PATTERN if pattern == ANOTHER else PATTERN_MEANINGS.get(pattern, OWN_PATTERN)
