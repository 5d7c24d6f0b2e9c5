"""The audit pane: what is audited, all tokens of the vocabulary, and what is known of the one looked at."""

from typing import ClassVar, Final

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, HorizontalGroup
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Button, Static

from bpe_core.tokenizer import Tokenizer
from tui.commands.command import features_of
from tui.commands.keys import PartBindings
from tui.commands.table import AUDIT
from tui.state import Audit, Run, TokenLines
from tui.table.search_field import SearchField
from tui.widgets.pane import Pane, button
from tui.widgets.token_panel import TokenPanel
from tui.widgets.token_table import TokenTable
from tui.widgets.tokenizer_lists import TokenizerPicker

BESIDE: Final = 112  # cells from which on the panel stands beside the list
_LEARNING: Final = "An audit follows when all merges are shown (F3, End)."
_AUDITED: Final = "Looking for suspicious tokens. Esc stops, and lists all."


class AuditPane(Pane):
    """A row of controls, the tokens, and the panel about the one under the cursor."""

    hint = "All tokens, the most suspicious first, and why."
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Audit")
    RESTS = True

    audit: var[Audit] = var(Audit())
    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None, always_update=True)
    run: var[Run] = var(Run())
    token_lines: var[TokenLines] = var(TokenLines())

    table = getters.query_one(TokenTable)
    panel: getters.query_one[TokenPanel] = getters.query_one(TokenPanel)

    def compose(self) -> ComposeResult:
        table, of = TokenTable(id="tokens"), AuditPane
        with HorizontalGroup(id="audit-controls"):
            yield button("▶ Audit", "audit-go", AUDIT)
            yield SearchField(table, id="search")
        yield Static(id="audit-status", markup=False)
        with Container(id="listed"):
            yield table
            yield TokenPanel(table, id="evidence").data_bind(
                of.tokenizer, of.audit, of.token_lines
            )

    def watch_run(self, old: Run, run: Run) -> None:
        if old.busy != run.busy:
            self._list()

    def _list(self) -> None:
        """List the tokens, once it is known which of them come first."""
        learned = (
            self.tokenizer
            if self.tokenizer and self.tokenizer.n_tokens > 256 and not self.run.busy
            else None
        )
        vocabulary = learned.vocabulary if learned and self.audit.subject else None
        if vocabulary is not None or len(self.table.rows):
            self.table.list_tokens(vocabulary)
            self.table.judge([*self.audit.verdicts.values()], self.audit.measures)
        self.table.waits_for = (
            _AUDITED
            if learned
            else _LEARNING
            if self.run.busy
            else TokenizerPicker.empty
        )
        if learned:
            features_of(self).audit.start_soon()

    def watch_tokenizer(
        self, old: Tokenizer | None, tokenizer: Tokenizer | None
    ) -> None:
        if tokenizer is not old:
            self._list()

    def watch_audit(self, old: Audit, audit: Audit) -> None:
        if old.running != audit.running:
            self.query_one("#audit-go", Button).label = (
                "⏹ Stop" if audit.running else "▶ Audit"
            )
            self.refresh_bindings()
        self.query_one("#audit-status", Static).update(
            audit.progress if audit.running else audit.subject, layout=False
        )
        if bool(old.subject) != bool(audit.subject):
            self._list()
        elif audit.verdicts is not old.verdicts:
            self.table.judge([*audit.verdicts.values()], audit.measures)
        if audit.verdicts is not old.verdicts and self.screen.focused in (
            None,
            self.query_one("#audit-go"),
        ):
            self.screen.set_focus(self.table)

    def parts(self) -> tuple[Widget, ...]:
        return self.table, self.panel

    def action_search(self) -> None:
        self.query_one(SearchField).begin()

    @on(TokenTable.Changed)
    def look_at_token(self) -> None:
        self.panel.show_token()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= BESIDE, "-beside")
        self.call_after_refresh(self.panel.show_token)
