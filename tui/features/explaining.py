"""Explaining: why the merge of a step was chosen, and how often each pair occurs after it, counted by a worker."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.content.presets import PRESETS
from bpe_core.errors import BpeError
from bpe_core.explain.merge_choice import Explanation
from bpe_core.tokenizer import Tokenizer
from bpe_core.worker.explain import AskStep, ExplainRequest, LearnedMerges, Places
from bpe_core.worker.messages import Event, WorkProgress
from tui.features.feature import Feature, StateScreen
from tui.features.shown import Shown
from tui.process import WorkerProcess
from tui.state import StepExplained

_AT_ONCE: Final = 2000  # merges that are sent in one go: some milliseconds of work


class Explaining(Feature):
    """Replaces the screen's `explained`; one worker has counted the corpus and answers step by step."""

    def __init__(self, screen: StateScreen, shown: Shown) -> None:
        super().__init__(screen)
        self._shown = shown
        self._request: ExplainRequest | None = None
        self._news, self._answered = asyncio.Event(), asyncio.Event()
        self._wanted: tuple[Tokenizer, int]

    def explain(self, step: int) -> None:
        """Find out about a step; what was wanted before and is not begun is forgotten."""
        screen = self.screen
        if screen.tokenizer is None:
            return
        self._wanted = screen.tokenizer, step
        before = self._request
        self._request, problem, ties = self._asked_of(screen.tokenizer)
        if self._request is None:
            self.cancel()
            screen.explained = StepExplained(step, problem=problem, ties=ties)
        elif self._request != before or not (
            self.is_working or screen.explained.problem
        ):
            screen.explained = StepExplained(
                step, waiting="counting the pairs of the texts", ties=ties
            )
            self.begin(partial(self._answer, self._request), about_tokenizer=True)
        self._news.set()

    def _asked_of(self, tokenizer: Tokenizer) -> tuple[ExplainRequest | None, str, str]:
        """What the worker that counts pairs is asked, or why there is nothing to ask; the tie rule, if it is known.

        They are counted in the texts that it was learned from in this session; else in those of its founding example,
        or those chosen.
        """
        if (task := self._shown.task) is not None:
            return ExplainRequest(recipe=task.recipe), "", task.rules.ties
        record, path, paths = (
            tokenizer.record,
            self.screen.path,
            self.screen.corpus.paths,
        )
        sources, ties = (record.sources, record.ties) if record else ((), "")
        preset = next(
            (
                name
                for name, one in PRESETS.items()
                if tuple(one.counts().sources) == sources
            ),
            "",
        )
        problem = ""
        if tokenizer.preparation is not None:
            problem = "This tokenizer changes a text before it splits it; its pairs cannot be counted."
        elif not preset and not paths:
            problem = (
                "No text is chosen to count pairs in: F2, and the space bar marks one."
            )
        pattern = self.screen.pattern_for(Path(path))
        request = (
            None
            if problem
            else ExplainRequest(path, pattern, preset, () if preset else paths)
        )
        return request, problem, ties

    async def _answer(self, request: ExplainRequest) -> None:
        self._news.set()
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
        """Ask about one step after the other, always the one that is wanted now."""
        n_sent = 0
        while True:
            await self._news.wait()
            self._news.clear()
            tokenizer, step = self._wanted
            # One merge more than asked for: it is marked in the table as the one that comes next.
            # No file holds a training under way.
            while request.recipe and n_sent < min(step + 1, tokenizer.step):
                end = min(n_sent + _AT_ONCE, step + 1, tokenizer.step)
                merges = tuple(
                    map(tokenizer.vocabulary.merge_of, range(n_sent + 1, end + 1))
                )
                worker.send(LearnedMerges(merges))
                n_sent += len(merges)
                await asyncio.sleep(0)
            self._answered.clear()
            worker.send(AskStep(step))
            await self._answered.wait()

    def _hear(self, event: Event) -> None:
        screen = self.screen
        match event:
            case WorkProgress(_, done, total):
                share = done / total if total else 1.0
                screen.explained = replace(
                    screen.explained, waiting=f"reading the texts {share:.0%}"
                )
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
