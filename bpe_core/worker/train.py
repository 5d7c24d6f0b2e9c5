"""A training beside the app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bpe_core.worker.messages import Command

if TYPE_CHECKING:
    from bpe_core.worker.job import Job


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """A training as the arguments of the command `train` say it."""

    NICE: ClassVar[int] = 5
    arguments: tuple[str, ...]
    first: Command
    """What is done first: all of it, so many steps, nothing yet ("step" 0), or all until a condition holds."""

    def run(self, job: Job) -> None:
        from bpe_core.cli.train import train_beside

        job.obey(self.first)
        train_beside(self.arguments, job)
