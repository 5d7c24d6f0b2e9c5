"""Training: learn in a worker process, show what is learned as it comes, keep it; and go on until something is so."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Literal

import bpe_core
from bpe_core import Tokenizer
from bpe_core.content.presets import PRESETS
from bpe_core.content.samples import samples
from bpe_core.corpus import Skipped
from bpe_core.errors import BpeError
from bpe_core.formats import load, save_beside
from bpe_core.trainer import Merge
from bpe_core.trainer.conditions import EXAMPLES, Condition, condition
from bpe_core.trainer.start import first_vocabulary
from bpe_core.visible import counted
from bpe_core.worker import messages
from bpe_core.worker.messages import ONE_STEP, Event, JobCommand
from tui.dialogs.questions import Ask
from tui.disk import config
from tui.disk.locked import Note
from tui.disk.sources import title_of
from tui.disk.tokenizer_files import without_twin
from tui.features.audit import AuditFeature
from tui.features.corpus import CorpusChoice, path_of
from tui.features.course import RUN, WAIT, Course, TrainingTask, place_for
from tui.features.feature import NO_TEXT, Feature, StateScreen, sentence_of
from tui.features.shown import Shown
from tui.features.tokenizers import Tokenizers
from tui.process import WorkerProcess
from tui.state import PACES, Corpus, Loaded, Phase, Run, Totals, TrainingOptions, name_of
from tui.terminal.background import in_thread


class TrainingFeature(Feature):
    """Replaces the screen's `run` and `pace`. One training at a time; what it learns is shown as it comes."""

    def __init__(
        self, screen: StateScreen, shown: Shown, tokenizers: Tokenizers, corpus: CorpusChoice, audit: AuditFeature
    ) -> None:
        super().__init__(screen)
        self._shown, self._tokenizers, self._corpus, self._audit = shown, tokenizers, corpus, audit
        self._alone = asyncio.Lock()
        self.newest: Course | None = None  # the last training that was begun

    # What can be asked for

    async def train_or_pause(self) -> None:
        if self.screen.run.busy:
            self.steer("run" if self.screen.run.phase == "paused" else "pause")
        else:
            await self.train()

    async def train(self, first: JobCommand = RUN) -> None:
        """Learn from the chosen texts with the chosen options; `first` is what the worker begins with."""
        screen = self.screen
        options = self._corpus.chosen_options()
        if options is None:
            return
        if not screen.corpus.paths:
            return screen.say(NO_TEXT, "warning")
        task = TrainingTask(screen.corpus.title, options, screen.corpus.paths, first=first)
        if name := options.more.get("extend"):  # the merges of a tokenizer come first
            path = path_of(name, screen.kept)
            if (loaded := await self._tokenizers.read(path)) is None:
                return
            begin = loaded.tokenizer
            await in_thread(begin.vocabulary.recover)
            if screen.run.busy:
                return
            title, options = f"{name_of(path)} extended", replace(options, special_tokens=())
            task = replace(task, title=title, options=options, begin=begin, begin_path=str(path))
            _ = task.rules  # refuses options that make no sense together
        self.start(task)

    def steer(self, verb: Literal["run", "pause", "stop"]) -> None:
        self.tell(JobCommand(verb))

    async def step_once(self) -> None:
        """One merge and wait; without a training, begin one that waits."""
        if self.screen.run.busy:
            self.tell(ONE_STEP)
        elif not self._says_end():
            await self.train(ONE_STEP)

    def _says_end(self) -> bool:
        """Say once that this was the last merge to whoever steps on behind it: a new training would replace it all."""
        course = self.newest
        if course is None or course.last.verb != "step" or self.screen.run.phase != "done":
            return False
        course.last = RUN  # as if it had not been stepped through: it is not said again
        self.screen.say("That was the last merge; F7 again starts a new training.")
        return True

    def run_preset(self, name: str, stepping: bool) -> None:
        """Train a founding example with its own text and options, and see whether what it promises comes out.

        `stepping`: one merge, then wait; each time this is asked for again, one more.
        """
        if self.screen.run.busy and stepping:
            self.tell(ONE_STEP)
        elif not self.waits_for_training() and not (stepping and self._says_end()):
            preset = PRESETS[name]
            self.screen.editor.put(next(iter(preset.encodings), "\n".join(preset.documents)))
            first = ONE_STEP if stepping else RUN
            self.start(TrainingTask(preset.name, self.screen.options, preset=preset.name, first=first))

    def glitch_example(self) -> None:
        if self.waits_for_training():
            return
        paths = {sample.name: str(sample.path) for sample in samples()}
        forum = Corpus((paths["forum-with-names"],), (paths["forum-clean"],), title_of((paths["forum-with-names"],)))
        self.screen.say("A vocabulary is learned from a forum, then audited against the forum without its user names.")
        # By so many tokens the names become tokens of their own.
        self.start(TrainingTask(forum.title, TrainingOptions(vocab_size=512), forum.paths, guided=forum))

    def change_pace(self, by: int) -> None:
        """The next faster pace (1), or the next slower (-1), of this training and the next."""
        here = PACES.index(self.screen.pace)
        self.screen.pace = PACES[max(0, min(here + by, len(PACES) - 1))]
        self.screen.remember(pace=self.screen.pace)
        self.tell(JobCommand("pace", self.screen.pace))

    # Until something is so

    async def go_to(self) -> None:
        screen = self.screen
        wanted = await screen.ask(_ask_condition("Go to which step, or to the first where which condition holds?"))
        if wanted is None:
            return
        if step := await self._first_step(wanted):
            screen.training.log_of_merges.reveal(step - 1, tell=True)
        elif screen.run.busy and screen.training.log_of_merges.merges:
            self._train_on(wanted)
        elif screen.tokenizer is not None:
            known = counted(len(screen.training.log_of_merges.merges), "merge")
            screen.say(f"“{wanted}” holds at no step of the {known} learned.")

    async def train_until(self) -> None:
        wanted = await self.screen.ask(_ask_condition("Train until which condition holds? Then it pauses."))
        if wanted is None:
            return
        if not self.screen.run.busy:
            await self.train(JobCommand("until", condition=wanted))
        elif step := await self._first_step(wanted):
            self.screen.say(f"That has been so since step {step:,}; g in the merge log goes there.")
        else:
            self._train_on(wanted)

    async def _first_step(self, wanted: Condition) -> int:
        log = self.screen.training.log_of_merges
        return await in_thread(first_step, log.merges, wanted, log.n_bytes)

    def _train_on(self, wanted: Condition) -> None:
        self._shown.go_to(len(self.screen.training.log_of_merges.merges))  # it is followed on the way
        self.tell(JobCommand("until", condition=wanted))

    # One training

    def start(self, task: TrainingTask) -> None:
        """Train, once all is done of the training before, whose run is over."""
        # What is still being fetched or loaded would take the place of what is learned.
        self._tokenizers.stop_waiting()
        self.screen.show_log(even_alone=bool(task.preset))
        self._corpus.leave_to_training(task)
        course = self.newest = Course(task, last=task.first)
        self.screen.run = course.run
        self._tasks[""] = self.beside(partial(self._train, course))  # the one before may still have something to do

    def tell(self, command: JobCommand) -> None:
        """Steer the training that was begun last, also before it has a worker."""
        course = self.newest
        if course is None or not course.run.busy:
            return
        if command.verb != "pace":  # the worker forgets its goal then, too
            course.last = command
        self._publish(course, course.run)
        if course.worker is not None:
            course.worker.send(command)
        else:
            course.unsent.append(command)

    def _publish(self, course: Course, run: Run) -> None:
        """Show the run of the newest training."""
        goal = str(course.goal) if course.goal and run.busy else ""
        if self.screen.pace and run.phase == "merging":  # the first merges come before the first second has gone by
            run = replace(run, rate=min(run.rate, self.screen.pace))
        pausing = course.last.verb == "pause" and run.busy and run.phase != "paused"
        was_busy = course.run.busy
        run = course.run = replace(run, asked=course.asked, goal=goal, pausing=pausing)
        if course is self.newest:
            self.screen.run = run
            if was_busy and not run.busy:
                self._corpus.go_on()

    async def _train(self, course: Course) -> None:
        async with self._alone:
            try:
                await self._learn(course)
            except (BpeError, OSError) as error:
                self._publish(course, replace(course.run, phase="failed", rate=0.0, detail=sentence_of(error)))
                self.failed(course.run.detail)
            except asyncio.CancelledError:  # the app ends: the worker has kept what it had, if it was given the time
                if note := course.note:
                    left = await in_thread(getattr, note, "left")
                    if course.has_learned and left is None:
                        with suppress(BpeError, OSError):
                            bpe_core.save(course.learned(), note.output)
                            left = note.output
                    (note.leave if left else note.end)()
                raise
            finally:
                course.worker = None
            if course.note:
                await in_thread(course.note.end)
            await self._end(course)

    async def _learn(self, course: Course) -> None:
        task, rules = course.task, course.task.rules
        specials = tuple(rules.special_tokens)
        course.asked = TrainingOptions(rules.vocab_size, rules.pattern, rules.ties, rules.min_count, specials)
        try:
            folder, course.noted = await in_thread(config.tokenizers_folder), course.unfinished
            course.named = place_for(folder, f"{task.title} {rules.pattern}")
            if task.resume:
                output = Path(task.resume.removesuffix(".checkpoint"))
                course.note = await in_thread(Note.again, output, course.noted)
            else:
                course.note = await in_thread(Note.new, course.named, course.noted)
        except OSError as error:
            raise BpeError(f"Nothing is learned, because it could not be saved. {sentence_of(error)}") from error
        course.worker = WorkerProcess(task.request(course.output))
        for command in (JobCommand("pace", self.screen.pace), *course.unsent):
            course.worker.send(command)
        async with course.worker as worker:
            async for events in worker.batches():
                run, n_before = course.run, len(course.merges)
                for event in events:
                    run = self._hear(course, run, event)
                    await asyncio.sleep(0)
                if course.tokenizer and n_before < len(course.merges):
                    self._shown.grow(course.tokenizer, course.merges.n_tokens[n_before:])
                self._publish(course, self._towards_goal(course, run))
                if course.noted != (unfinished := course.unfinished):
                    with suppress(OSError):
                        await in_thread(course.note.write, unfinished)
                        course.noted = unfinished

    def _hear(self, course: Course, run: Run, event: Event) -> Run:
        """The run after an event of the worker; merges are added to those of the course."""
        task, pace = course.task, course.pace
        match event:
            case messages.WorkProgress("counting", done, total, name):
                return replace(run, done=done, total=total, detail=name, rate=pace.rate(done))
            case messages.WorkProgress("preparing", done, total, name):
                if (run.phase, run.detail) != ("preparing", name):
                    pace.restart()
                return replace(run, phase="preparing", done=done, total=total, detail=name, rate=pace.rate(done))
            case Skipped():
                course.n_skipped += 1
            case messages.Counted(documents, n_bytes, characters, pieces, unique):
                found = Totals(documents, n_bytes, characters, pieces, unique, course.n_skipped)
                self._corpus.leave_to_training(task, found)
            case messages.State("counting" | "preparing" as activity):
                pace.restart(run.done)
                return replace(run, phase=activity)
            case messages.Started(n_tokens, n_merges, n_known, first_counts, n_bytes):
                begin = task.begin.vocabulary if task.begin else None  # the worker begins with the same
                course.tokenizer = bpe_core.Tokenizer(first_vocabulary(task.rules, begin), task.rules.pattern)
                course.n_known, course.n_bytes = n_known, n_bytes
                pace.restart()
                run = Run("merging", 0, n_merges, tokens_at_start=n_tokens, first_counts=first_counts)
                self._publish(course, run)  # before its first step is shown: at full speed nobody asks why it was so
                self._shown.begin_training(course.task, course.tokenizer, course.merges, n_tokens, n_bytes)
                return run
            case messages.Merges() if course.tokenizer:
                course.merges.extend(event)
                course.tokenizer = course.tokenizer.with_merges(zip(*event.pairs, strict=True))
                for index in (course.merges.length_of, course.tokenizer.vocabulary.children):
                    index(event.pairs[2][0])  # takes up what has come: soon many would have to be at one go
                return replace(run, done=len(course.merges), rate=pace.rate(len(course.merges)))
            case messages.State("paused", reached):
                return replace(run, phase="paused", rate=0.0, detail=str(reached or ""))
            case messages.State("running"):
                pace.restart(run.done)
                return replace(run, phase="merging", detail="")
            case messages.Checkpoint(problem=problem):
                if problem and not course.unkept:  # once, and not every few seconds
                    self.screen.say(f"Nothing new of this training is kept until it ends. {problem}", "warning")
                course.unkept = problem
            case messages.Saved(path):
                course.saved = Path(path)
            case messages.Done(reason, _, seconds):
                phase: Phase = "stopped" if reason == "stopped" else "done"
                return replace(run, phase=phase, rate=0.0, detail=f"{reason} · {seconds:.1f} s")
            case messages.Failed(sentence):
                self.screen.say(sentence, "error")
                return replace(run, phase="failed", rate=0.0, detail=sentence)
        return run

    @staticmethod
    def _towards_goal(course: Course, run: Run) -> Run:
        """The run, which says so where it ended short of its goal; a goal that is reached is one no more."""
        goal = course.goal
        if goal is None or (run.phase == "done" and course.merges and goal.holds(course.merges[-1], course.n_bytes)):
            return run
        if run.phase == "paused" and run.detail:
            course.last = WAIT
        return replace(run, detail=f"not reached: {goal}; {run.detail}") if run.phase == "done" else run

    # After the end

    async def _end(self, course: Course) -> None:
        """Keep what was learned, and say what came of it; where that is nothing, what was there comes back."""
        if course.tokenizer is None or not (course.saved or course.has_learned):
            if await in_thread(course.checkpoint.is_file):  # it was to go on with that, and did not get so far
                await self.keep(course.checkpoint, course.output)
            await self._tokenizers.list_anew()
            if course.tokenizer is not None:
                self._shown.take_back()
            elif self._shown.loaded is None:  # it was still being loaded
                self._tokenizers.begin(self._tokenizers.load_first)
            return
        learned = await in_thread(course.learned)
        if course.saved is None:
            course.saved = await self.keep(course.checkpoint, course.output, learned)
        elif course.saved != course.named:
            with suppress(BpeError, OSError):
                course.saved = await in_thread(without_twin, course.saved, course.named)
        await self._tokenizers.list_anew()
        if path := course.saved:
            # What was learned stays on the screen, from now on as the tokenizer in its file.
            self._shown.keep(Loaded(learned, path))
            if str(path) not in {one.path for one in self.screen.kept}:  # a disk was full, and it is saved elsewhere
                await self._tokenizers.add(path, learned)
            self.screen.remember(tokenizer=str(path))
            if course.task.guided and course is self.newest:
                self.screen.call_later(self._audit.start)
        if course.task.preset and course.run.phase == "done":
            came_out, sentence = PRESETS[course.task.preset].verdict(learned)
            self._publish(course, replace(course.run, detail=sentence.partition(":")[0]))  # the rest may not fit there
            self.screen.say(sentence, "information" if came_out else "warning")
        if course.run.phase == "stopped" and (n := len(self._tokenizers.of_stopped)) > 4:
            self.screen.say(f"{n} tokenizers of stopped trainings have no name; Ctrl+P, “stopped” deletes them.")
        if course.saved and (warning := learned_by_heart(course.merges.counts)):
            self.screen.say(warning, "warning")

    async def keep(self, checkpoint: Path, output: Path, learned: Tokenizer | None = None) -> Path | None:
        """Make a tokenizer of the list of what a training had sent, or else of its checkpoint, which has no more."""
        try:
            whole = learned if learned else await in_thread(load, checkpoint)
            kept = await in_thread(save_beside, whole, output)
            await in_thread(checkpoint.unlink, missing_ok=True)
        except (BpeError, OSError) as error:
            self.screen.say(f"What it had learned could not be kept. {sentence_of(error)}", "error")
            return None
        self.screen.say(f"What it had learned, {counted(whole.step, 'merge')}, is kept as {kept.stem}.", "warning")
        await self._tokenizers.list_anew()
        return kept


def first_step(merges: Sequence[Merge], wanted: Condition, n_bytes: int) -> int:
    """The first step after which `wanted` holds, 0 if none. Not for the main thread: a millisecond per 1,000 merges."""
    is_far = wanted.field == "step" and ">" in wanted.op
    for index in range(max(0, ceil(wanted.number) - 1) if is_far else 0, len(merges)):
        if wanted.holds(merges[index], n_bytes):
            return index + 1
    return 0


def _ask_condition(question: str) -> Ask[Condition]:
    """Asks for a step, or for what should be so after it."""
    hint = f"{', '.join(EXAMPLES)}. A number alone is a step. Tab completes."
    return Ask(question, condition, hint=hint, example="512, or: ratio >= 3.5", suggest=EXAMPLES)


def learned_by_heart(counts: Sequence[int]) -> str:
    """What to say of merges whose pair occurred but once, given the counts of all; empty if there are none."""
    if not counts or counts[-1] > 1:
        return ""
    step = next(step for step, count in enumerate(counts, 1) if 0 < count <= 1)
    return (
        f"From step {step:,} on each pair occurred only once: such tokens only memorize this text. "
        "With a minimum count of 2 a training stops before them."
    )
