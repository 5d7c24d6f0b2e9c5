"""ComparisonRun: tokenizers compared on texts, and what was found."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.metrics.comparison import ComparedText
from bpe_core.vocabulary.store import Prefix
from bpe_core.worker.messages import Command
from tui.owners.owner import Host, Owner
from tui.state.comparison import Comparison
from tui.terminal.background import in_thread
from tui.workers.comparing import Task, comparing
from tui.workers.process import WorkerProcess

EDITORS_TEXT: Final = "the editor's text"
"""What the text of the editor is called, and the file in which a worker gets it."""


class ComparisonRun(Owner[Comparison]):
    """How far a comparison is, with what it has found so far."""

    def __init__(self, host: Host, publish: Callable[[Comparison], None]) -> None:
        super().__init__(host, Comparison(), publish)
        self._worker_process: WorkerProcess | None = None

    def start(self, task: Task, text: str | None = None) -> None:
        """Compare; with a `text`, on that instead of the paths of the task. What was found before is forgotten."""
        self.cancel()
        self._worker_process = None
        self._replace(task.begun())
        self._begin(partial(self._compare, task, text))

    def stop(self) -> None:
        """Let the worker tell what it has found so far, and end."""
        if self._worker_process is not None:
            self._worker_process.send(Command("stop"))
        else:
            self.cancel()
            self._replace(replace(self._value, running=False, progress=""))

    async def _compare(self, task: Task, text: str | None) -> None:
        if text is None:
            await self._run(task)
            return
        folder = await in_thread(partial(tempfile.TemporaryDirectory, prefix="bpescope-"))
        try:
            path = Path(folder.name) / EDITORS_TEXT
            await in_thread(path.write_bytes, text.encode("utf-8", "replace"))
            await self._run(replace(task, paths=(str(path),)))
        finally:
            folder.cleanup()

    async def _run(self, task: Task) -> None:
        texts: list[ComparedText] = []
        async with WorkerProcess(task.request) as process:
            self._worker_process = process
            async for update in comparing(process, task):
                texts += update.texts
                self._replace(replace(update.comparison, texts=Prefix(texts, len(texts))))
                if update.failed:
                    self._host.say(update.failed, "error")
        self._worker_process = None

    def _failed(self, sentence: str) -> None:
        self._worker_process = None
        self._replace(replace(self._value, running=False, progress="", subject=sentence))
        super()._failed(sentence)
