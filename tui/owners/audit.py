"""AuditRun: an audit of the tokenizer in force, and what it found."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from bpe_core.auditing.verdicts import Verdict
from tui.owners.owner import Host, Owner
from tui.state.audit import Audit, AuditInputs
from tui.workers.auditing import AuditTask, auditing


class AuditRun(Owner[Audit]):
    """How far an audit is, and the verdicts of the last one that came to its end; they live nowhere else."""

    def __init__(self, host: Host, publish: Callable[[Audit], None]) -> None:
        super().__init__(host, Audit(), publish)

    def start(self, task: AuditTask) -> None:
        """Audit; what was found before stays until this has come to its end."""
        self._begin(partial(self._audit, task))

    def stop(self) -> None:
        """End it; what was found before stays."""
        self.cancel()
        self._replace(replace(self._value, running=False, subject=self._value.subject or "stopped"))

    def forget(self) -> None:
        """Another tokenizer takes the place of the one that was audited, or is being audited."""
        self.cancel()
        self._replace(Audit())

    def choose(self, inputs: AuditInputs) -> None:
        """Look at something else in the next audit."""
        self._replace(replace(self._value, inputs=inputs))

    async def _audit(self, task: AuditTask) -> None:
        found: dict[int, Verdict] = {}
        measures: dict[str, dict[int, float]] = {}
        before = self._value
        async for update in auditing(task):
            found.update((verdict.id, verdict) for verdict in update.verdicts)
            for part in update.measured:
                measures.setdefault(part.column, {}).update(part.values)
            audit = update.audit
            if audit.running or update.failed:
                audit = replace(before, running=audit.running, progress=audit.progress, subject=before.subject)
            else:
                audit = replace(audit, verdicts=found, measures=measures)
            if update.failed:
                audit = replace(audit, subject=update.failed)
                self._host.say(update.failed, "error")
            self._replace(audit)

    def _failed(self, sentence: str) -> None:
        self._replace(replace(self._value, running=False, subject=sentence))
        super()._failed(sentence)
