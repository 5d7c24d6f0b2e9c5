"""What the main screen does about audits: run one, show where a finding comes from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work

from tui import messages
from tui.screen.state import StateScreen
from tui.state import Corpus

if TYPE_CHECKING:
    from tui.jobs import AuditUpdate


class AuditsScreen(StateScreen):
    """The part that minds audits."""

    def action_audit(self) -> None:
        """Audit the tokenizer on the screen, or stop doing so."""
        if self.audit.running:
            self.workers.cancel_group(self, "audit")
            self.audit = replace(self.audit, running=False)
        elif self.run.busy or not self.path:
            self._say("A training is running: stop it first (F8), then audit what it learned.", "warning")
        else:
            self.action_show("audit")
            self._audit(Path(self.path), self.corpus)

    @work(exclusive=True, group="audit")
    async def _audit(self, path: Path, corpus: Corpus) -> None:
        from tui.jobs import auditing

        self.findings = ()
        self.audit_pane.begin()
        async for update in auditing(path, corpus, self._remembered.patterns.get(str(path))):
            self._take_findings(update)

    def _take_findings(self, update: AuditUpdate) -> None:
        self.audit = update.audit
        if update.findings:
            self.findings += tuple(update.findings)
            self.audit_pane.found(update.findings)
        if not update.audit.running and self.findings:
            self.audit_pane.finish()
            if self.audit_pane.has_focus_within:
                self.audit_pane.land()
        if update.failed:
            self._say(update.failed, "error")

    @on(messages.FindingOpened)
    def open_finding(self, event: messages.FindingOpened) -> None:
        """The merge a finding came from under the log's cursor, a text that holds the token in the editor."""
        finding = event.finding
        tokenizer = self.tokenizer
        if tokenizer is None or finding.id not in tokenizer.vocabulary:
            return
        if finding.witness is None:
            self._say("No text is known in which this token occurs.", "warning")
            return
        self.step = tokenizer.step
        self.training.log_of_merges.move_to(max(0, finding.evidence.get("step", 0) - 1))
        self.editor.put(finding.witness, token=finding.id)
        self._say("An example is in the editor; Ctrl+Z there brings your text back.")
