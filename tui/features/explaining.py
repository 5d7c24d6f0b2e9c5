"""Explaining: a worker counts pairs, to show why the merge of a step was chosen."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core.content.presets import PRESETS
from bpe_core.corpus.measure import Source
from bpe_core.errors import BpeError
from bpe_core.explain.merge_choice import Explanation
from bpe_core.tokenizer import Tokenizer
from bpe_core.worker.explain import AskStep, ExplainRequest, LearnedMerges, Places
from bpe_core.worker.messages import Event, WorkProgress
from tui.features.feature import Feature, StateScreen
from tui.features.shown import Shown
from tui.process import WorkerProcess
from tui.state import StepExplained

_MERGES_PER_MESSAGE: Final = 2000
"""Sending them takes some milliseconds."""


class _Question(NamedTuple):
    """What to ask the worker about a tokenizer, or why nothing can be asked."""

    request: ExplainRequest | None
    problem: str
    ties: str
    """The tie rule, or "" if it is not known."""


class Explaining(Feature):
    """Replaces the screen's `explained`. One worker counts the corpus, and then explains one step after another."""

    def __init__(self, screen: StateScreen, shown: Shown) -> None:
        super().__init__(screen)
        self._shown = shown
        self._request: ExplainRequest | None = None
        self._changed = asyncio.Event()
        """Set when another step is wanted."""
        self._answered = asyncio.Event()
        self._tokenizer: Tokenizer
        self._step = 0

    def explain(self, step: int) -> None:
        """Explain a step. Drop earlier requests that were not sent yet."""
        screen = self.screen
        if screen.tokenizer is None:
            return
        self._tokenizer = screen.tokenizer
        self._step = step
        last_request = self._request
        question = self._question_about(screen.tokenizer)
        self._request = question.request
        is_answering = self.is_working or screen.explained.problem
        if question.request is None:
            self.cancel()
            screen.explained = StepExplained(
                step, problem=question.problem, ties=question.ties
            )
        elif question.request != last_request or not is_answering:
            screen.explained = StepExplained(
                step, waiting="counting the pairs of the texts", ties=question.ties
            )
            answer = partial(self._answer, question.request)
            self.begin(answer, about_tokenizer=True)
        self._changed.set()

    def _question_about(self, tokenizer: Tokenizer) -> _Question:
        """Choose the texts to count pairs in.

        They are the texts of the tokenizer's training in this session, those of its preset, or the chosen texts.
        """
        task = self._shown.task
        if task is not None:
            return _Question(ExplainRequest(recipe=task.recipe), "", task.rules.ties)
        preset = ""
        ties = ""
        if tokenizer.record:
            preset = _preset_with(tokenizer.record.sources)
            ties = tokenizer.record.ties
        if tokenizer.preparation is not None:
            problem = "Pairs can't be counted: this tokenizer changes a text before splitting it."
            return _Question(None, problem, ties)
        paths: tuple[str, ...] = ()
        if not preset:
            paths = self.screen.corpus.paths
            if not paths:
                problem = "No text to count pairs in. Press F2 and mark one with Space."
                return _Question(None, problem, ties)
        path = self.screen.path
        pattern = self.screen.pattern_for(Path(path))
        return _Question(ExplainRequest(path, pattern, preset, paths), "", ties)

    async def _answer(self, request: ExplainRequest) -> None:
        self._changed.set()
        async with WorkerProcess(request) as worker:
            try:
                async with asyncio.TaskGroup() as tasks:
                    asking = tasks.create_task(self._ask(worker, request))
                    async for event in worker.events():
                        self._hear(event)
                    asking.cancel()
            except* (BpeError, OSError) as errors:
                raise errors.exceptions[0] from None

    async def _ask(self, worker: WorkerProcess, request: ExplainRequest) -> None:
        """Ask about one step after the other, always the last one wanted."""
        n_sent = 0
        while True:
            await self._changed.wait()
            self._changed.clear()
            tokenizer = self._tokenizer
            step = self._step
            if request.recipe:
                # A running training has no file, so its merges are sent, also the merge after the step.
                n_needed = min(step + 1, tokenizer.step)
                while n_sent < n_needed:
                    end = min(n_sent + _MERGES_PER_MESSAGE, n_needed)
                    steps = range(n_sent + 1, end + 1)
                    merges = tuple(map(tokenizer.vocabulary.merge_of, steps))
                    worker.send(LearnedMerges(merges))
                    n_sent = end
                    await asyncio.sleep(0)
            self._answered.clear()
            worker.send(AskStep(step))
            await self._answered.wait()

    def _hear(self, event: Event) -> None:
        screen = self.screen
        match event:
            case WorkProgress():
                waiting = f"reading the texts {event.share:.0%}"
                screen.explained = replace(screen.explained, waiting=waiting)
            case Explanation() as explanation:
                screen.explained = StepExplained(
                    explanation.step, explanation, ties=screen.explained.ties
                )
                self._answered.set()
            case Places(step, places) if step == screen.explained.step:
                screen.explained = replace(screen.explained, places=places)

    def failed(self, sentence: str) -> None:
        explained = self.screen.explained
        self.screen.explained = StepExplained(
            explained.step, problem=sentence, ties=explained.ties
        )


def _preset_with(sources: Sequence[Source]) -> str:
    """Return the name of the preset that was trained on these sources, or ""."""
    for name, preset in PRESETS.items():
        if tuple(preset.counts().sources) == sources:
            return name
    return ""
