"""What a worker that audits is asked for, and what its events amount to: an audit as a stream of values."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bpe_core.auditing.verdicts import Verdict
from bpe_core.cli.events import Auditing, Counted, Counting, Done, Failed
from bpe_core.cli.result_events import Measured, Verdicts
from bpe_core.plurals import counted
from bpe_core.visible import visible
from tui.disk.sources import title_of
from tui.state.audit import Audit, AuditInputs
from tui.state.training import Corpus
from tui.workers.process import Job


@dataclass(frozen=True, slots=True)
class AuditTask:
    """An audit to be done."""

    tokenizer: Path
    pattern: str | None = None
    """How text is split where the tokenizer's file does not tell."""
    corpus: Corpus = field(default_factory=Corpus)
    """The texts in which tokens are counted, and the reference that they are compared with; perhaps none."""
    inputs: AuditInputs = field(default_factory=AuditInputs)

    def arguments(self) -> list[str]:
        """The command line of the worker."""
        return [
            *("audit", "-t", str(self.tokenizer), "--stream"),
            *(() if self.pattern is None else (f"--pattern={self.pattern}",)),
            *(f"--corpus={path}" for path in self.corpus.paths),
            *(f"--reference={path}" for path in self.corpus.reference),
            *((f"--embeddings={self.inputs.embeddings}",) if self.inputs.embeddings else ()),
            *((f"--tensor={self.inputs.tensor}",) if self.inputs.tensor else ()),
        ]

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
    async with Job(*task.arguments()) as job:
        async for events in job.batches():
            update = AuditUpdate(audit)
            for event in events:
                match event:
                    case Counting(done, total, name, role):
                        share = done / total if total else 1
                        audit = replace(audit, progress=f"counting the {role} {share:.0%} · {visible(name)}")
                    case Counted(role=role):
                        audit = replace(audit, progress=f"the {role} is counted")
                    case Auditing(done, total, name):
                        audit = replace(audit, progress=f"{visible(name)} {done / total if total else 1:.0%}")
                    case Measured():
                        update.measured.append(event)
                    case Verdicts(rows):
                        update.verdicts += map(Verdict.from_json, rows)
                        found += len(rows)
                        audit = replace(audit, progress=f"{counted(found, 'token')} found")
                    case Done(_, _, seconds):
                        subject = f"{counted(found, 'token')} found in {task.looked_at} · {seconds:.1f} s"
                        audit = replace(audit, running=False, progress="", subject=subject)
                    case Failed(message):
                        update.failed = message
                        audit = replace(audit, running=False, progress="", subject=message)
            update.audit = audit
            yield update
