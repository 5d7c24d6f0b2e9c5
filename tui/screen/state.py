"""The state of the main screen: frozen values in typed variables, and the panes that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from textual.reactive import var
from textual.screen import Screen

from bpe_core.visible import visible
from tui.panes.editor import EditorPane
from tui.state import Audit, Corpus, Kept, Run, Totals, TrainingOptions

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from bpe_core.audit.findings import Finding
    from bpe_core.tokenizer import Tokenizer
    from tui.config import Configuration
    from tui.panes.audit import AuditPane
    from tui.panes.corpus import CorpusPane
    from tui.panes.training import TrainingPane


class Memory(Protocol):
    """What the screen needs of the app: something that remembers."""

    configuration: Configuration
    """What comes back at the next start, as it is now."""

    def remember(self, **changes: object) -> None:
        """Change the configuration, and write it."""


class StateScreen(Screen[None]):
    """What every part of the main screen builds on."""

    corpus: var[Corpus] = var(Corpus())
    """The texts chosen."""
    totals: var[Totals | None] = var(None)
    """What they amount to; None while that is being counted."""
    options: var[TrainingOptions] = var(TrainingOptions())
    """What the next training is asked for."""
    pattern: var[str] = var("gpt4")
    """The split pattern chosen, by which the preview splits and the pieces are counted."""
    run: var[Run] = var(Run())
    """How far the training is."""
    tokenizer: var[Tokenizer | None] = var(None)
    """The tokenizer on the screen with all of its merges; while a training runs, those it has learned so far."""
    path: var[str] = var("")
    """Where that tokenizer is kept; empty while it is being trained."""
    step: var[int] = var(0)
    """How many of its merges are in force."""
    in_force: var[Tokenizer | None] = var(None)
    """The tokenizer after that many merges: what the editor shows."""
    findings: var[tuple[Finding, ...]] = var(())
    """What the audit of this tokenizer found."""
    audit: var[Audit] = var(Audit())
    """How far the audit is."""
    kept: var[tuple[Kept, ...]] = var(())
    """The shelf of kept tokenizers."""

    @property
    def corpus_pane(self) -> CorpusPane:
        """The pane of texts."""
        return cast("CorpusPane", self.query_one("#corpus"))

    @property
    def audit_pane(self) -> AuditPane:
        """The pane of findings."""
        return cast("AuditPane", self.query_one("#audit"))

    @property
    def training(self) -> TrainingPane:
        """The pane of merges."""
        return cast("TrainingPane", self.query_one("#training"))

    @property
    def editor(self) -> EditorPane:
        """The pane of text."""
        return self.query_one(EditorPane)

    def _forget_findings(self) -> None:
        """Another tokenizer takes the place of the one that was audited, or is being audited."""
        self.workers.cancel_group(self, "audit")
        self.findings, self.audit = (), Audit()
        self.audit_pane.begin()

    def action_show(self, pane: str) -> None:
        """Bring a pane to the front and put the cursor into it."""
        raise NotImplementedError

    def _say(self, sentence: str, severity: SeverityLevel = "information") -> None:
        self.notify(visible(sentence), severity=severity, markup=False)

    @property
    def _remembered(self) -> Configuration:
        """What comes back at the next start, as it is now."""
        return cast("Memory", self.app).configuration

    def _remember(self, **changes: object) -> None:
        cast("Memory", self.app).remember(**changes)
