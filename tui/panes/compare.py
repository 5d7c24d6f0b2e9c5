"""The compare pane: tokenizers on the same texts, in tables and small plots."""

from typing import ClassVar, Final

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import HorizontalGroup
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Button, Select, Static

from bpe_core.visible import counted
from tui.commands.command import features_of
from tui.commands.keys import PartBindings
from tui.commands.table import COMPARE
from tui.state import (
    CHOSEN_TEXTS,
    IN_EDITOR,
    SECTIONS,
    ComparisonRun,
    KnownTokenizer,
)
from tui.table.table import Table
from tui.widgets.comparison_lanes import ComparisonLanes
from tui.widgets.comparison_table import ComparisonTable
from tui.widgets.comparison_verdicts import Verdicts
from tui.widgets.option_fields import Choice
from tui.widgets.pane import Pane, button
from tui.widgets.tokenizer_lists import TokenizerPicker

TEXTS: Final = {
    CHOSEN_TEXTS: "The texts chosen in the corpus pane (F2, Space), one per row.",
    SECTIONS: 'The parts of the chosen texts that start with "# Title": translations, say.',
    IN_EDITOR: "The text in the editor, as you see it now.",
}
"""The texts that tokenizers can be compared on -> their description."""


class ComparePane(Pane):
    """A row of controls; below it either the tokenizers to choose from, or the verdicts and the results."""

    hint = "How many tokens each tokenizer needs, and where they split the text differently."

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Compare")
    RESTS = True

    comparison: var[ComparisonRun] = var(ComparisonRun())
    kept: var[tuple[KnownTokenizer, ...]] = var(())
    path: var[str] = var("")
    """The file of the tokenizer in use; "" while it is being trained."""

    _next_texts = CHOSEN_TEXTS
    """The texts that the user chose in the field; a comparison may start by itself on others."""

    verdicts = getters.query_one(Verdicts)
    table = getters.query_one(ComparisonTable)
    text_lanes = getters.query_one(ComparisonLanes)
    picker = getters.query_one(TokenizerPicker)
    texts_field = getters.query_one("#compare-on", Choice)

    def compose(self) -> ComposeResult:
        with HorizontalGroup(id="compare-controls"):
            yield button("▶ Compare", "compare-go", COMPARE)
            yield Choice(TEXTS, CHOSEN_TEXTS, TEXTS.__getitem__, id="compare-on")
        yield Static(id="compare-status", markup=False)
        yield Verdicts(id="verdicts")
        yield Static(id="compare-caption", markup=False)
        yield TokenizerPicker(id="compare-picker")
        yield ComparisonTable(id="comparison")
        yield ComparisonLanes(id="comparison-lanes")

    def on_mount(self) -> None:
        self.action_choose()

    def on_descendant_focus(self) -> None:
        if self.kept:
            features_of(self).comparison.start()

    def parts(self) -> tuple[Widget, ...]:
        if not self.has_compared:
            return self.picker, self.texts_field
        parts = (self.table, self.texts_field, self.text_lanes)
        if len(self.comparison.tokenizers) > 1:
            return self.verdicts, *parts
        return parts

    def watch_kept(self) -> None:
        self.picker.show(self.kept, self.path)
        self.show_caption()

    def watch_path(self) -> None:
        self.watch_kept()
        # The tokenizer of this path is put in use a moment later.
        self.call_later(self.on_descendant_focus)

    # Choosing tokenizers, or seeing results

    @property
    def has_compared(self) -> bool:
        """Whether results are shown instead of the tokenizers to choose from."""
        return not self.has_class("-choosing")

    def action_choose(self) -> None:
        self._show(choosing=True)

    def _show(self, *, choosing: bool) -> None:
        # Not `has_focus`, which is set only later.
        had_focus = self.screen.focused in self.parts()
        self.set_class(choosing, "-choosing")
        self._name_texts()
        self.show_caption()
        self.refresh_bindings()
        if had_focus and self.screen.focused is not self.texts_field:
            self.screen.set_focus(self.parts()[0])

    # The texts

    @property
    def texts_from(self) -> str:
        """Which texts the field names: a key of `TEXTS`."""
        return str(self.texts_field.value)

    def _name_texts(self) -> None:
        """Let the field name the texts of the results, or else the texts that Enter compares on."""
        name = self._next_texts
        if self.has_compared and self.comparison.texts_from:
            name = self.comparison.texts_from
        with self.prevent(Select.Changed):
            self.texts_field.value = name

    @on(Select.Changed, "#compare-on")
    def change_texts(self, event: Select.Changed) -> None:
        """Compare on other texts. While tokenizers are being chosen, wait for Enter."""
        if event.value != self.texts_from:
            return  # the field posts its first choice late
        self._next_texts = self.texts_from
        if self.has_compared and self.texts_from != self.comparison.texts_from:
            features_of(self).comparison.compare_marked()
            self._name_texts()
        self.show_caption()

    # The comparison

    def watch_comparison(self, old: ComparisonRun, comparison: ComparisonRun) -> None:
        status = comparison.subject
        if comparison.running:
            status = comparison.progress
        if old.running != comparison.running:
            go = self.query_one("#compare-go", Button)
            go.label = "■ Stop" if comparison.running else "▶ Compare"
            self.refresh_bindings()
        if old.texts_from != comparison.texts_from:
            self._name_texts()
        self.verdicts.show(comparison)
        self.table.show(comparison)
        if comparison.running and not old.running and not self.has_compared:
            self._show(choosing=False)
        # The subject is shown in full, on two rows if it is long.
        self.query_one("#compare-status", Static).update(
            status, layout=not comparison.running
        )

    @on(Table.Changed)
    def show_caption(self) -> None:
        caption = self.table.view.caption
        if self.has_compared:
            self.text_lanes.show(self.comparison, self.table.place)
        else:
            caption = self._caption_of_picker()
        self.query_one("#compare-caption", Static).update(caption, layout=False)

    def _caption_of_picker(self) -> str:
        if not self.kept:
            return ""
        n_marked = len(self.picker.chosen)
        if not n_marked:
            return "Space marks the tokenizers to compare, at most four."
        marked = f"{counted(n_marked, 'tokenizer')} of at most four"
        if n_marked == 1:
            return f"{marked}; Enter: measure it on the {self.texts_from}"
        return f"{marked}; Enter: compare on the {self.texts_from}"
