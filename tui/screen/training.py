"""What the main screen does about trainings: start one, follow it, steer it, keep what it learned."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work

import bpe_core
from bpe_core.errors import BpeError
from tui import config, messages
from tui.screen.tokenizers import TokenizersScreen
from tui.state import Run, TrainingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_core.presets import Preset
    from bpe_core.tokenizer import Tokenizer
    from tui.engine import Job
    from tui.jobs import Task, TrainingUpdate
    from tui.widgets.merge_log import MergeRow


class TrainingScreen(TokenizersScreen):
    """The part that minds trainings."""

    _job: Job | None = None
    """The worker of the running training."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """F6 is one key with three meanings; the footer shows the one it has now."""
        phase = self.run.phase
        match action:
            case "train":
                return not self.run.busy
            case "pause":
                return phase in ("counting", "preparing", "merging")
            case "resume":
                return phase == "paused"
            case "stop":
                return self.run.busy
        return True

    def watch_run(self, old: Run, new: Run) -> None:
        """Keys mean something else in another phase."""
        if old.phase != new.phase:
            self.refresh_bindings()

    async def action_train_or_pause(self) -> None:
        """What the first button does now."""
        phase = self.run.phase
        action = "resume" if phase == "paused" else "pause" if self.run.busy else "train"
        await self.run_action(f"screen.{action}")

    def action_train(self, stepping: bool = False) -> None:
        """Learn from the chosen texts with the chosen options; `stepping`: one merge, then wait."""
        from tui.jobs import Task

        try:
            options = self.training.chosen_options()
        except ValueError as error:
            self._say(str(error), "error")
            return
        if not self.corpus.paths:
            self._say("No text is chosen: press F2, go to one, and mark it with the space bar.", "warning")
            return
        self.options = options
        self._remember(options=options)
        self._train(Task(self.corpus.title, options, self.corpus.paths, stepping=stepping))

    @on(messages.PresetChosen)
    def run_preset(self, event: messages.PresetChosen) -> None:
        """Train a founding example with its own text and options, and see whether what it promises comes out."""
        from bpe_core.presets import PRESETS
        from tui.jobs import Task

        if self.run.busy:
            self._say("A training is running: stop it first (F8), what it learned is kept.", "warning")
            return
        preset = PRESETS[event.name]
        rules = preset.options
        self.options = TrainingOptions(
            rules.vocab_size, rules.pattern, rules.ties, rules.min_count, tuple(rules.special_tokens)
        )
        self.pattern = rules.pattern
        self.editor.put(next(iter(preset.encodings), "\n".join(preset.documents)))
        self._train(Task(preset.name, self.options, preset=preset.name))

    def action_pause(self) -> None:
        """Let the worker wait."""
        self._command("pause")

    def action_resume(self) -> None:
        """Let the worker go on."""
        self._command("run")

    def action_step_once(self) -> None:
        """One merge and wait; without a training, begin one that waits."""
        if self.run.busy:
            self._command("step 1")
        else:
            self.action_train(stepping=True)

    def action_stop(self) -> None:
        """End the training; the worker saves what it learned."""
        self._command("stop")

    def _command(self, line: str) -> None:
        from bpe_core.wire import parse_command

        if self._job is not None:
            self._job.send(parse_command(line))

    @work(exclusive=True, group="train")
    async def _train(self, task: Task) -> None:
        from bpe_core.presets import PRESETS
        from tui.engine import Job
        from tui.jobs import training
        from tui.shelf import free_place

        output = free_place(config.tokenizers_folder(), f"{task.title} {task.options.pattern}")
        self.run = Run("counting")
        self.workers.cancel_group(self, "count")  # the training counts the same texts
        self.workers.cancel_group(self, "take")  # what was still being loaded would take the place of what is learned
        self._forget_findings()
        before, saved = self.path, None
        job = Job(*task.arguments(output))
        try:
            async with job:
                self._job = job
                if task.stepping:
                    self._command("step 1")
                async for update in training(job):
                    self._take_update(update, task)
                    saved = update.saved or saved
        finally:
            self._job = None
        if saved is None and self.tokenizer is not None and not self.path and self.tokenizer.step:
            saved = await self._rescue(self.tokenizer, task.options, output)
        if saved is not None:
            await self._take_kept(saved, keep_rows=True)
        elif not self.path and (back := before or next((kept.path for kept in self.kept), "")):
            ended = self.run  # before its first merge: back to what was there, or was being loaded
            await self._take_kept(Path(back))
            self.run = ended
        if task.preset and self.tokenizer is not None and self.run.phase == "done":
            came_out, sentence = verdict(PRESETS[task.preset], self.tokenizer)
            self.run = replace(self.run, detail=sentence.partition(":")[0])  # the rest may not fit there
            self._say(sentence, "information" if came_out else "warning")
        if saved is not None and (warning := learned_by_heart(self.training.log_of_merges.merges)):
            self._say(warning, "warning")

    def _take_update(self, update: TrainingUpdate, task: Task) -> None:
        if update.totals is not None:
            self.totals = update.totals
        if update.started is not None:
            self.path = ""
            self.tokenizer = bpe_core.Tokenizer(task.first_vocabulary(), task.options.pattern)
            self.step = 0
            self._enforce()
            n_bytes = self.totals.bytes if self.totals else update.started.tokens
            self.training.begin(update.started.tokens, n_bytes, update.started.merges)
        if update.merges and self.tokenizer is not None:
            following = self.step == self.tokenizer.step
            grown = self.tokenizer.with_merges((m.left, m.right, m.token) for m in update.merges)
            self.training.learned(update.merges)
            self.tokenizer = grown
            if following:
                self.step = grown.step
        self.run = update.run
        if update.failed:
            self._say(update.failed, "error")

    async def _rescue(self, tokenizer: Tokenizer, options: TrainingOptions, output: Path) -> Path | None:
        """Keep what a worker had told before it died."""
        from tui.shelf import told_record

        record = told_record(options, self.training.log_of_merges.merges, self.totals, self.run)
        whole = bpe_core.Tokenizer(tokenizer.vocabulary, tokenizer.pattern, record=record)
        try:
            await asyncio.to_thread(bpe_core.save, whole, output)
        except (BpeError, OSError) as error:
            self._say(f"What was learned could not be kept: {error}", "error")
            return None
        self._say(f"The {tokenizer.step:,} merges it had learned are kept as {output.stem}.", "warning")
        return output


def learned_by_heart(merges: Sequence[MergeRow]) -> str:
    """What to say of merges whose pair occurred but once; empty if there are none."""
    if not merges or merges[-1].count > 1:
        return ""
    step = next(merge.step for merge in merges if merge.count == 1)
    return (
        f"From merge {step:,} on each pair occurred only once: such tokens know this text by heart, and no other. "
        "A minimum count of 2 stops before them."
    )


def verdict(preset: Preset, tokenizer: Tokenizer) -> tuple[bool, str]:
    """Whether what a preset promises has come out, and that in a sentence."""
    lines = preset.check(tokenizer)
    wrong = next((line for line in lines if not line.came_out), None)
    if wrong is not None:
        return False, f"{preset.name} differs: {wrong.what}: {wrong.found}, promised {wrong.expected}"
    return True, f"{preset.name} came out as promised: " + ", ".join(f"{line.found} {line.what}" for line in lines[:2])
