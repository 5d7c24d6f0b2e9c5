"""The audit pane: all tokens of the vocabulary, the suspicious ones first, and the evidence on one of them."""

from typing import ClassVar, Final

from textual import getters, on
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
from tui.widgets.token_panel import TokenPanel, TokenSides
from tui.widgets.token_table import TokenTable

_SIDE_BY_SIDE_WIDTH: Final = 112
"""If the pane has this many cells, the panel is on the right of the table, else below."""
_NO_MERGES: Final = "No merges yet: F6 trains a tokenizer, Ctrl+P opens or fetches one."
_IN_TRAINING: Final = "The audit starts when all merges are shown (F3, End)."
_IN_AUDIT: Final = "Looking for suspicious tokens. Esc stops and lists all tokens."


class AuditPane(Pane):
    """A row of controls, the table of tokens, and the panel about the token under the cursor."""

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
        table = TokenTable(id="tokens")
        panel = TokenPanel(table, id="evidence")
        with HorizontalGroup(id="audit-controls"):
            yield button("▶ Audit", "audit-go", AUDIT)
            yield SearchField(table, id="search")
        yield Static(id="audit-status", markup=False)
        with Container(id="listed"):
            yield table
            panel.data_bind(AuditPane.tokenizer, AuditPane.audit, AuditPane.token_lines)
            yield TokenSides(panel, id="evidence-sides")

    def on_mount(self) -> None:
        self._list_tokens()

    def watch_run(self, old: Run, run: Run) -> None:
        if old.busy != run.busy:
            self._list_tokens()

    def watch_tokenizer(
        self, old: Tokenizer | None, tokenizer: Tokenizer | None
    ) -> None:
        if tokenizer is not old:
            self._list_tokens()

    def _list_tokens(self) -> None:
        """List the tokens if it is known which of them are suspicious; else show how to get some."""
        tokenizer = self.tokenizer
        if tokenizer is None or tokenizer.n_tokens <= 256 or self.run.busy:
            tokenizer = None
        vocabulary = None
        if tokenizer and self.audit.subject:
            vocabulary = tokenizer.vocabulary
        if vocabulary is not None or len(self.table.rows):
            self.table.list_tokens(vocabulary)
            self._judge()
        if tokenizer:
            self.table.waits_for = _IN_AUDIT
            features_of(self).audit.start_soon()
        elif self.run.busy:
            self.table.waits_for = _IN_TRAINING
        else:
            self.table.waits_for = _NO_MERGES
        self.table.refresh()

    def _judge(self) -> None:
        self.table.judge(list(self.audit.verdicts.values()), self.audit.measures)

    def watch_audit(self, old: Audit, audit: Audit) -> None:
        go = self.query_one("#audit-go", Button)
        status = audit.subject
        if audit.running:
            status = audit.progress
        if old.running != audit.running:
            go.label = "■ Stop" if audit.running else "▶ Audit"
            self.refresh_bindings()
        self.query_one("#audit-status", Static).update(status, layout=False)
        has_new_verdicts = audit.verdicts is not old.verdicts
        if bool(old.subject) != bool(audit.subject):
            self._list_tokens()
        elif has_new_verdicts:
            self._judge()
        if has_new_verdicts and self.screen.focused in (None, go):
            self.screen.set_focus(self.table)

    def parts(self) -> tuple[Widget, ...]:
        return self.table, self.panel

    def action_search(self) -> None:
        self.query_one(SearchField).begin()

    @on(TokenTable.Changed)
    def show_token(self) -> None:
        self.panel.show_token()

    def on_resize(self) -> None:
        self.set_class(self.outer_size.width >= _SIDE_BY_SIDE_WIDTH, "-side-by-side")
        self.call_after_refresh(self.panel.show_token)

    def watch_virtual_size(self) -> None:
        # Textual sends no Resize if something asked for a widget's region between the change and its layout.
        if self.is_mounted:
            self.on_resize()
