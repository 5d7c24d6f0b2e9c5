"""What a worker that compares tokenizers is asked for, and what its events amount to: a stream of values."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bpe_core.metrics.comparison import ComparedText
from bpe_core.plurals import counted
from bpe_core.visible import visible
from bpe_core.worker.compare import Compared as Found
from bpe_core.worker.compare import ComparedTexts, CompareRequest
from bpe_core.worker.messages import Done, Failed, WorkProgress
from tui.state.comparison import Compared, Comparison
from tui.workers.process import WorkerProcess

_EXAMPLES = 200
"""Disagreements that are listed of each pair."""
_LINES = 100
"""Lines that are listed of those that are worst for a tokenizer."""


Kind = Literal["texts", "sections"]
"""What is told: of each text, or of each of its sections."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be told of tokenizers: how they do on texts."""

    tokenizers: Sequence[Compared]
    paths: Sequence[str]
    subject: str
    """What `paths` are called, in a few words."""
    of: Kind = "texts"

    @property
    def request(self) -> CompareRequest:
        """What the worker is asked for."""
        tokenizers = tuple((one.path, one.pattern) for one in self.tokenizers)
        return CompareRequest(tokenizers, tuple(self.paths), self.of == "sections", _EXAMPLES, _LINES)

    def begun(self) -> Comparison:
        """What there is to tell before the worker has said anything."""
        names = " · ".join(one.name for one in self.tokenizers)
        return Comparison(True, "starting", f"{names} on {self.subject}", tuple(self.tokenizers))


@dataclass(slots=True)
class ComparisonUpdate:
    """What one batch of events adds to a comparison."""

    comparison: Comparison
    texts: list[ComparedText] = field(default_factory=list)
    failed: str = ""


async def comparing(worker: WorkerProcess, task: Task) -> AsyncIterator[ComparisonUpdate]:
    """The updates of a comparison, from the first text to its end."""
    comparison = task.begun()
    async for events in worker.batches():
        update = ComparisonUpdate(comparison)
        for event in events:
            match event:
                case WorkProgress(_, done, total, name):
                    share = f"{done / total:.0%} · " if total else ""
                    comparison = replace(comparison, progress=f"{share}{visible(name)}")
                case ComparedTexts(texts):
                    update.texts += texts
                case Found(found):
                    comparison = replace(comparison, found=found)
                case Done(reason, n, seconds):
                    told = f" · {counted(n, 'text')} · {seconds:.1f} s"
                    stopped = " · stopped before the end" if reason == "stopped" else ""
                    comparison = replace(
                        comparison, running=False, progress="", subject=f"{comparison.subject}{told}{stopped}"
                    )
                case Failed(message):
                    update.failed = message
                    comparison = replace(comparison, running=False, progress="", subject=message)
        update.comparison = comparison
        yield update
