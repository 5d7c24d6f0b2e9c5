"""What a worker that audits is asked for, and what its events amount to: an audit as a stream of values."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bpe_core.auditing.verdicts import Verdict
from bpe_core.plurals import counted
from bpe_core.visible import visible
from bpe_core.worker.audit import AuditRequest, Measured, Verdicts
from bpe_core.worker.messages import Counted, Done, Failed, WorkProgress
from tui.disk.sources import title_of
from tui.state.audit import Audit, AuditInputs
from tui.state.training import Corpus
from tui.workers.process import WorkerProcess


@dataclass(frozen=True, slots=True)
class AuditTask:
    """An audit to be done."""

    tokenizer: Path
    pattern: str | None = None
    """How text is split where the tokenizer's file does not tell."""
    corpus: Corpus = field(default_factory=Corpus)
    """The texts in which tokens are counted, and the reference that they are compared with; perhaps none."""
    inputs: AuditInputs = field(default_factory=AuditInputs)

    @property
    def request(self) -> AuditRequest:
        """What the worker is asked for."""
        return AuditRequest(
            str(self.tokenizer),
            self.pattern,
            self.corpus.paths,
            self.corpus.reference,
            self.inputs.embeddings,
            self.inputs.tensor or None,
        )

    @property
    def looked_at(self) -> str:
        """What is looked at, in words."""
        parts = ["the tokenizer"]
        parts += [title_of(self.corpus.paths)] if self.corpus.paths else []
        parts += [f"reference {title_of(self.corpus.reference)}"] if self.corpus.reference else []
        parts += [visible(Path(self.inputs.embeddings).name)] if self.inputs.embeddings else []
        return ", ".join(parts) if len(parts) > 1 else "the tokenizer alone"


@dataclass(slots=True)
class AuditUpdate:
    """What one batch of events adds to an audit."""

    audit: Audit
    verdicts: list[Verdict] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    failed: str = ""


async def auditing(task: AuditTask) -> AsyncIterator[AuditUpdate]:
    """The updates of an audit, from the first file counted to its end."""
    audit = Audit(True, "starting", task.inputs)
    found = 0
    yield AuditUpdate(audit)
    async with WorkerProcess(task.request) as worker:
        async for events in worker.batches():
            update = AuditUpdate(audit)
            for event in events:
                match event:
                    case WorkProgress("counting", done, total, name, role):
                        share = done / total if total else 1
                        audit = replace(audit, progress=f"counting the {role} {share:.0%} · {visible(name)}")
                    case Counted(role=role):
                        audit = replace(audit, progress=f"the {role} is counted")
                    case WorkProgress(_, done, total, name):
                        audit = replace(audit, progress=f"{visible(name)} {done / total if total else 1:.0%}")
                    case Measured():
                        update.measured.append(event)
                    case Verdicts(verdicts):
                        update.verdicts += verdicts
                        found += len(verdicts)
                        audit = replace(audit, progress=f"{counted(found, 'token')} found")
                    case Done(_, _, seconds):
                        subject = f"{counted(found, 'token')} found in {task.looked_at} · {seconds:.1f} s"
                        audit = replace(audit, running=False, progress="", subject=subject)
                    case Failed(message):
                        update.failed = message
                        audit = replace(audit, running=False, progress="", subject=message)
            update.audit = audit
            yield update
