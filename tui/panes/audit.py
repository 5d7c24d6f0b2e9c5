"""The audit pane: which tokens of the vocabulary were never learned well, and the evidence for each."""

from typing import Any, ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import HorizontalGroup, VerticalScroll
from textual.reactive import var
from textual.widgets import Button, Input, Static

from bpe_core.auditing.findings import KINDS, Finding
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label, visible
from tui.commands import bindings
from tui.state import Audit
from tui.terminal.guards import Field
from tui.widgets.pane import Pane
from tui.widgets.token_table import TokenTable

_GO = "Enter looks for them in the tokenizer in force, against the chosen texts."
_SEARCH = "Only findings about tokens with this in their text or id; Enter goes to them."


class AuditPane(Pane):
    """A row of controls, the findings, and what stands behind the one under the cursor."""

    hint = "Tokens that a model hardly learns, the worst first, and why."
    BINDINGS: ClassVar[list[BindingType]] = bindings("Audit")

    audit: var[Audit] = var(Audit())
    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None)

    def compose(self) -> ComposeResult:
        """Controls, list, evidence."""
        with HorizontalGroup(id="audit-controls"):
            yield Button("▶ Audit", id="audit-go", compact=True, action="screen.audit", tooltip=_GO)
            yield Field(placeholder="/ search token or id", id="search", compact=True, tooltip=_SEARCH)
            yield Static(id="audit-status", markup=False)
        table = TokenTable(id="findings")
        yield table
        yield Static(id="evidence", markup=False)
        with VerticalScroll(id="sought", can_focus=False):
            yield Static("What an audit looks for: tokens a model hardly learns", classes="heading")
            yield Static(legend())

    def on_mount(self) -> None:
        """Nothing is audited yet: say what an audit is."""
        self.border_subtitle = "[dim]enter[/] merge and example  [dim]←→[/] kind"
        self._forget()

    def watch_audit(self, old: Audit, audit: Audit) -> None:
        """Another audit, or how far it is, with what it has found since."""
        if old.running != audit.running:
            self.query_one("#audit-go", Button).label = "⏹ Stop" if audit.running else "▶ Audit"
        self.query_one("#audit-status", Static).update(audit.progress if audit.running else audit.subject, layout=False)
        if audit == Audit():
            self._forget()
        elif len(audit.findings) < len(self.table.findings) or (audit.running and not old.running):
            self._begin()
        if new := audit.findings[len(self.table.findings) :]:
            self._show_table()
            self.table.append(new)
        if old.running and not audit.running:
            self.table.empty = "No findings."
            self.table.finish()

    @property
    def table(self) -> TokenTable:
        """The list of findings."""
        return self.query_one(TokenTable)

    def _forget(self) -> None:
        """Another tokenizer: nothing was looked for yet."""
        self.add_class("-nothing-yet")
        self.table.clear()
        self.query_one("#evidence", Static).update("")

    def _begin(self) -> None:
        """The same tokenizer is audited again: what was found goes; focus, order and place stay."""
        self.table.empty = "Looking …"
        self.table.begin_again()
        self.query_one("#evidence", Static).update("")

    def _show_table(self) -> None:
        """In the place of what an audit looks for; whoever has just asked for it with the button goes on in it."""
        if self.has_class("-nothing-yet"):
            self.remove_class("-nothing-yet")
            if self.query_one("#audit-go").has_focus:
                self.screen.set_focus(self.table)

    def focus_next_part(self) -> None:
        """Take the focus: to the findings, or to the button that looks for some."""
        self.screen.set_focus(self.query_one("#audit-go") if self.has_class("-nothing-yet") else self.table)

    def action_search(self) -> None:
        """Type what to look for."""
        self.screen.set_focus(self.query_one("#search"))

    @on(Input.Changed, "#search")
    def search(self, event: Input.Changed) -> None:
        """Show only what holds the text typed."""
        event.stop()
        self.table.search = event.value

    @on(Input.Submitted, "#search")
    def to_the_findings(self, event: Input.Submitted) -> None:
        """Enter goes on to what was found."""
        event.stop()
        self.screen.set_focus(self.table)

    @on(TokenTable.Highlighted)
    def show_evidence(self, event: TokenTable.Highlighted) -> None:
        """The finding under the cursor, in full."""
        event.stop()
        self.query_one("#evidence", Static).update(evidence(event.finding, self.tokenizer))


def legend() -> Table:
    """What an audit looks for: the kinds of findings, each with what it means."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(ratio=1, style="dim")
    for kind, meaning in KINDS.items():
        table.add_row(kind, meaning)
    return table


def evidence(finding: Finding, tokenizer: Tokenizer | None) -> Text:
    """The merge that made the token, the reason in full, and what was counted."""
    text = Text.assemble((token_label(finding.token), "bold"), (f"  id {finding.id:,}", "dim"))
    if tokenizer is not None and finding.id in tokenizer.vocabulary and (merge := merge_line(finding.id, tokenizer)):
        text.append(f"  {merge}")
    text.append(f"\n{finding.reason}")
    facts = [
        f"{visible(str(name)).replace('_', ' ')} {_shown(value)}"
        for name, value in finding.evidence.items()
        if name not in ("step", "parents", "witness")  # the line above says them
    ]
    if facts:
        text.append("\n" + " · ".join(facts), "dim")
    return text


def merge_line(token: int, tokenizer: Tokenizer) -> str:
    """The merge that made `token`, in words; empty if no merge did."""
    vocabulary = tokenizer.vocabulary
    if not vocabulary.knows_merges or token in vocabulary.special_tokens.values():
        return ""
    parents = vocabulary.parents(token)
    if parents is None:
        return ""
    left, right = (token_label(vocabulary.token_bytes(part)) for part in parents)
    return f"step {vocabulary.step_of(token):,}: {left} + {right}"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "yes" if value else "none"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    shown = visible(str(value).replace("\n", "↵"))
    return shown if len(shown) <= 60 else shown[:59] + "…"
