"""AuditRun: an audit of the tokenizer in force, and what it found."""

import gc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.auditing.findings import Finding
from bpe_core.vocabulary.prefix import Prefix
from tui.owners.owner import Host, Owner
from tui.state import Audit, Corpus
from tui.workers.updates import auditing

_MANY: Final = 5_000
"""Findings after which the garbage collector is told to leave them alone: it would hold the screen each time that it
looks at all of 200,000, a quarter of a second and longer. Findings hold no cycles, so they go with the last audit that
knows them; what was left alone at the start of the app, to mind which takes as long again, stays so."""


class AuditRun(Owner[Audit]):
    """How far an audit is, with the findings so far; they live nowhere else."""

    def __init__(self, host: Host, publish: Callable[[Audit], None]) -> None:
        super().__init__(host, Audit(), publish)

    def start(self, path: Path, corpus: Corpus, pattern: str | None) -> None:
        """Audit the tokenizer in this file; what was found before is forgotten."""
        self._begin(partial(self._audit, path, corpus, pattern))

    def stop(self) -> None:
        """End it; what was found so far stays."""
        self.cancel()
        self._replace(replace(self._value, running=False))

    def forget(self) -> None:
        """Another tokenizer takes the place of the one that was audited, or is being audited."""
        self.cancel()
        self._replace(Audit())

    async def _audit(self, path: Path, corpus: Corpus, pattern: str | None) -> None:
        found: list[Finding] = []
        n_left_alone = 0
        async for update in auditing(path, corpus, pattern):
            found += update.findings
            if len(found) - n_left_alone >= _MANY:
                gc.collect(1)  # garbage of now would be left alone for good
                gc.freeze()
                n_left_alone = len(found)
            self._replace(replace(update.audit, findings=Prefix(found, len(found))))
            if update.failed:
                self._host.say(update.failed, "error")

    def _failed(self, sentence: str) -> None:
        self._replace(replace(self._value, running=False, subject=sentence))
        super()._failed(sentence)
