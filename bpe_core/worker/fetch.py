"""Fetching a tokenizer by its name, from a cache or over the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bpe_core.worker.messages import Done, Saved

if TYPE_CHECKING:
    from bpe_core.worker.job import Job


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Where the file of the tokenizer of this name lies; it is downloaded if it is on no disk."""

    NICE: ClassVar[int] = 5
    name: str

    def run(self, job: Job) -> None:
        from bpe_core.hub import fetch

        def progress(done: int, total: int, name: str) -> None:
            job.progress("fetching", done, total, name)

        job.send(Saved(str(fetch(self.name, progress))))
        job.send(Done("fetched", 0, job.seconds))
