"""The compare pane: tokenizers on the same texts, in tables and small drawings."""

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
from tui.state import ComparisonRun, KnownTokenizer
from tui.table.table import Table
from tui.widgets.comparison_table import ComparisonTable
from tui.widgets.option_fields import Choice
from tui.widgets.pane import Pane, button
from tui.widgets.tokenizer_lists import TokenizerPicker

SUBJECTS: Final = {
    "chosen texts": "The texts that are chosen in the corpus pane (F2, Space), each one a row.",
    "their sections": 'Of the chosen texts, each part that begins with a line "# Title": parity of translations.',
    "editor's text": "The text in the editor, as it is now.",
}
"""What tokenizers can be compared on."""


class ComparePane(Pane):
    """A row of controls; below it the tokenizers to choose from, and once they are compared what was found."""

    hint = "Which tokenizer needs how many tokens, and where they cut differently."

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Compare")
    RESTS = True

    comparison: var[ComparisonRun] = var(ComparisonRun())
    kept: var[tuple[KnownTokenizer, ...]] = var(())
    path: var[str] = var(
        ""
    )  # path of the tokenizer in force; empty while one is being trained

    table = getters.query_one(ComparisonTable)
    picker = getters.query_one(TokenizerPicker)

    def compose(self) -> ComposeResult:
        with HorizontalGroup(id="compare-controls"):
            yield button("▶ Compare", "compare-go", COMPARE)
            yield Choice(
                SUBJECTS, "chosen texts", SUBJECTS.__getitem__, id="compare-on"
            )
            yield Static(id="compare-status", markup=False)
        yield Static(id="compare-caption", markup=False)
        yield TokenizerPicker(id="compare-picker")
        yield ComparisonTable(id="comparison")

    def on_mount(self) -> None:
        self._choose(True)

    def on_descendant_focus(self) -> None:
        if self.kept:
            features_of(self).comparison.start()

    @property
    def subject(self) -> str:
        """What tokenizers are compared on: one of `SUBJECTS`."""
        return str(self.query_one("#compare-on", Choice).value)

    def parts(self) -> tuple[Widget, ...]:
        first = self.picker if self.has_class("-choosing") else self.table
        return first, self.query_one("#compare-on")

    def watch_kept(self) -> None:
        self.picker.show(self.kept, self.path)

    def watch_path(self) -> None:
        self.watch_kept()
        self.call_later(
            self.on_descendant_focus
        )  # the tokenizer in that file is put in force next

    def _choose(self, choosing: bool) -> None:
        here = self.picker if choosing else self.table
        had_focus = self.screen.focused is (
            self.table if choosing else self.picker
        )  # `has_focus` comes later
        self.set_class(choosing, "-choosing")
        self.tell()
        self.refresh_bindings()
        if had_focus:
            self.screen.set_focus(here)

    @property
    def has_compared(self) -> bool:
        return not self.has_class("-choosing")

    def action_choose(self) -> None:
        self._choose(True)

    def watch_comparison(self, old: ComparisonRun, comparison: ComparisonRun) -> None:
        if old.running != comparison.running:
            self.query_one("#compare-go", Button).label = (
                "⏹ Stop" if comparison.running else "▶ Compare"
            )
            self.refresh_bindings()
        self.table.show(comparison)
        if comparison.running and not old.running:
            self._choose(False)
        shown = comparison.progress if comparison.running else comparison.subject
        self.query_one("#compare-status", Static).update(shown, layout=False)

    @on(Select.Changed, "#compare-on")
    @on(Table.Changed)
    def tell(self) -> None:
        caption = self.table.view.caption
        if self.has_class("-choosing"):
            n = len(self.picker.chosen)
            does = "compare" if n != 1 else "measure it"
            caption = f"{counted(n, 'tokenizer')} chosen, of four at most; Enter: {does} on {self.subject}"
        self.query_one("#compare-caption", Static).update(caption, layout=False)
