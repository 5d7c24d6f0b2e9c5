"""Explaining the merges of a vocabulary beside the app: the corpus is counted once, then one step after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bpe_core.errors import Stopped

if TYPE_CHECKING:
    from bpe_core.explain.merge_choice import Explanation
    from bpe_core.explain.places import CorpusPlace
    from bpe_core.vocabulary.merge_loop import Triple
    from bpe_core.worker.job import Job
    from bpe_core.worker.subject import Question
    from bpe_core.worker.train import Recipe


@dataclass(frozen=True, slots=True)
class ExplainFile:
    """Why the merges of a tokenizer's file were chosen in texts, or in those of a founding example."""

    NICE: ClassVar[int] = 10
    tokenizer: str
    pattern: str | None = None
    """How text is split where the file does not say it."""
    preset: str = ""
    paths: tuple[str, ...] = ()

    def run(self, job: Job) -> None:
        from bpe_core.content.presets import PRESETS
        from bpe_core.formats import load
        from bpe_core.worker.subject import Question

        tokenizer = load(self.tokenizer, pattern=self.pattern)
        tokenizer.vocabulary.recover()
        answer(Question.of_file(tokenizer, self.paths, PRESETS.get(self.preset)), job)


@dataclass(frozen=True, slots=True)
class ExplainTraining:
    """The same of a training under way, which no file holds: `Learned` tells its merges."""

    NICE: ClassVar[int] = 10
    recipe: Recipe

    def run(self, job: Job) -> None:
        from bpe_core.worker.subject import Question

        answer(Question.of_training(self.recipe, job), job)


@dataclass(frozen=True, slots=True)
class AskStep:
    """To a worker that explains: why was the merge of this step chosen?"""

    step: int


@dataclass(frozen=True, slots=True)
class LearnedMerges:
    """To a worker that explains: these merges were learned since."""

    merges: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """Why a merge was chosen, and the pairs after it."""

    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Places:
    """Where the pair of that merge stands in the corpus; follows `Explained`, unless another step is asked for."""

    step: int
    places: tuple[CorpusPlace, ...]


def answer(question: Question, job: Job) -> None:
    """Count the corpus, then answer `AskStep` after `AskStep` until the job is stopped.

    Raises `TextError` if the corpus is too large for that.
    """
    from bpe_core.worker.subject import counted_subject

    try:
        subject = counted_subject(question, job, is_limited=True)
    except Stopped:
        return
    while (message := job.next_message()) is not None:
        if isinstance(message, LearnedMerges):
            subject.grow(message.merges)
        elif isinstance(message, AskStep):
            step = min(message.step, subject.tokenizer.step)
            job.send(Explained(subject.explanation(step)))
            if not job.has_messages:  # nobody has gone on meanwhile
                job.send(Places(step, tuple(subject.places(step))))
