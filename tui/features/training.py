"""Training: a worker process learns merges, which are passed on to the screen as they arrive."""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from textual.worker import WorkerError

import bpe_core
from bpe_core import Tokenizer
from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Skipped
from bpe_core.errors import BpeError
from bpe_core.tokenizer.training_record import named_as_on_screen
from bpe_core.trainer import Merges
from bpe_core.trainer.conditions import Condition, condition
from bpe_core.trainer.start import first_vocabulary
from bpe_core.worker import messages
from bpe_core.worker.messages import Event, Stop
from tui.disk import config
from tui.disk.locked import Note, ScratchFolder
from tui.features.corpus import CorpusChoice, path_of
from tui.features.course import Course, TrainingTask, place_for
from tui.features.feature import NO_TEXT, Feature, StateScreen, sentence_of
from tui.features.results import Results
from tui.features.shown import Shown
from tui.features.tokenizers import Tokenizers
from tui.process import WorkerProcess
from tui.state import EDITORS_TEXT, Phase, Run, Totals, TrainingOptions, name_of
from tui.terminal.background import in_thread

_YOUR_TEXT: Final = "your text"
"""The title of a training on the editor's text."""
NO_MORE_MERGES: Final = (
    "That was the last merge. Press F7 again to start a new training."
)


class TrainingFeature(Feature):
    """Replaces the screen's `run`. One training at a time, at full speed. `Shown` shows its merges."""

    def __init__(
        self,
        screen: StateScreen,
        shown: Shown,
        tokenizers: Tokenizers,
        corpus: CorpusChoice,
        results: Results,
    ) -> None:
        super().__init__(screen)
        self._shown = shown
        self._tokenizers = tokenizers
        self._corpus = corpus
        self._results = results
        self._scratch = screen.at_end.enter_context(ScratchFolder())
        """The folder of the editor's text that is trained on."""
        self._alone = asyncio.Lock()
        self.newest: Course | None = None
        """The training that was started last."""

    # Commands

    async def train_or_pause(self) -> None:
        if self.screen.run.busy:
            await self._shown.play()
        else:
            await self.train()

    async def train(
        self, *, stepping: bool = False, goal: Condition | None = None
    ) -> None:
        """Train on the chosen texts with the chosen options; show one step, all, or those up to a goal."""
        screen = self.screen
        options = self._corpus.chosen_options()
        if options is None:
            return
        if screen.opening:
            screen.say(
                f"{screen.opening} is still being read. Wait, or mark another text (F2).",
                "warning",
            )
            return
        texts = screen.corpus
        if not texts.paths:
            screen.say(NO_TEXT, "warning")
            return
        task = TrainingTask(texts.title, options, texts.paths, goal=goal)
        await self._start_or_extend(task, stepping=stepping)

    async def train_on_text(self) -> None:
        """Train on the selection of the editor, or on its whole text, and play the merges on the stage."""
        screen = self.screen
        area = screen.editor.area
        text = area.selected_text or area.text
        options = self._corpus.chosen_options()
        if options is None or self.refuse_while_training():
            return
        if not text.strip():
            screen.say("The editor is empty. Type a text to train on.")
            return
        path = await in_thread(self._scratch.write, EDITORS_TEXT, text)
        area.move_cursor(area.selection.end)
        # The text is shown as bytes until the training begins.
        await self._shown.travel_to(0)
        screen.stage.open()
        # In a short text few pairs occur twice. Those that occur once let its words close up.
        options = replace(options, min_count=1)
        task = TrainingTask(_YOUR_TEXT, options, (str(path),))
        await self._start_or_extend(task)

    async def _start_or_extend(
        self, task: TrainingTask, *, stepping: bool = False
    ) -> None:
        """Start a training. If the options name a tokenizer to extend, start with its merges."""
        name = task.options.more.get("extend")
        extended: TrainingTask | None = task
        if name:
            path = path_of(name, self.screen.kept)
            extended = await self._extending(task, path)
        if extended is not None:
            self.start(extended, stepping=stepping)

    async def _extending(self, task: TrainingTask, path: Path) -> TrainingTask | None:
        """Return the task with the merges of a tokenizer file at its start; None if the user changes their mind."""
        loaded = await self._tokenizers.read(path)
        if loaded is None:
            return None
        begin = loaded.tokenizer
        await in_thread(begin.vocabulary.recover)
        if self.screen.run.busy:
            return None
        extending = replace(
            task,
            title=f"{name_of(path)} extended",
            options=replace(task.options, special_tokens=()),
            begin=begin,
            begin_path=str(path),
        )
        extending.check()
        return extending

    def run_preset(self, name: str, *, stepping: bool = False) -> None:
        """Train a preset on its own text with its own options, and check the result."""
        if self.refuse_while_training():
            return
        preset = PRESETS[name]
        text = next(iter(preset.encodings), "\n".join(preset.documents))
        self.screen.editor.put(text)
        task = TrainingTask(name, self.screen.options, preset=name)
        self.start(task, stepping=stepping)

    async def stop(self) -> None:
        """End the training, and keep the vocabulary of the step shown."""
        course = self.newest
        if course is None or not course.run.busy:
            return
        if course.tokenizer is not None and self._shown.course is course:
            course.stopped_at = self._shown.requested_step
        course.all_shown.set()
        self._shown.stop()
        if course.worker is not None:
            course.worker.send(Stop())

    async def finish(self) -> None:
        """Show all merges of a training that has learned them, or stop it. Return when its tokenizer is kept."""
        if self.screen.run.phase == "showing":
            await self._shown.show_all()
        else:
            await self.stop()
        # A WorkerError: the app is ending.
        with suppress(WorkerError):
            if self.is_working:
                await self._tasks[""].wait()

    # One training

    def start(self, task: TrainingTask, *, stepping: bool = False) -> None:
        """Start a training. It waits until the last one has saved its tokenizer."""
        # A tokenizer that is still loading would replace the merges of the training.
        self._tokenizers.stop_waiting()
        self.screen.show_log(even_alone=bool(task.preset))
        self._corpus.leave_to_training(task)
        goal = task.goal
        if goal is None and stepping:
            goal = condition(str(task.begin_step + 1))
        course = Course(task, goal=goal, stepped=stepping)
        self.newest = course
        self.screen.run = course.run
        self._shown.start()
        # Not `begin`, which would cancel the training before.
        self._tasks[""] = self.start_worker(partial(self._train, course))

    def _publish(self, course: Course, run: Run) -> None:
        """Set the state of a training, and show it if no other training was started since."""
        was_busy = course.run.busy
        course.run = run
        if course is self.newest:
            self.screen.run = run
            if was_busy and not run.busy:
                self._corpus.go_on()

    async def _train(self, course: Course) -> None:
        async with self._alone:
            try:
                await self._learn(course)
            except (BpeError, OSError) as error:
                problem = sentence_of(error)
                failed = replace(course.run, phase="failed", rate=0.0, detail=problem)
                self._publish(course, failed)
                self.failed(problem)
            except asyncio.CancelledError:
                # The app is ending.
                await self._leave_for_next_start(course)
                raise
            finally:
                course.worker = None
            if course.note:
                await in_thread(course.note.end)
            verdict = await self._results.conclude(course)
            if verdict:
                self._publish(course, replace(course.run, detail=verdict))

    async def _leave_for_next_start(self, course: Course) -> None:
        """Keep the merges and the note of a training, so that the next start can offer to resume it."""
        note = course.note
        if note is None:
            return
        # The worker has saved its merges, if it had the time.
        checkpoint = await in_thread(note.find_merges)
        if course.has_learned and checkpoint is None:
            with suppress(BpeError, OSError):
                bpe_core.save(course.learned(), note.output)
                checkpoint = note.output
        if checkpoint:
            note.leave()
        else:
            note.end()

    async def _learn(self, course: Course) -> None:
        """Run the worker of a training until all merges are learned and shown."""
        rules = course.task.rules
        asked = TrainingOptions(
            rules.vocab_size,
            rules.pattern,
            rules.ties,
            rules.min_count,
            tuple(rules.special_tokens),
        )
        self._publish(course, replace(course.run, asked=asked))
        note = await self._note_for(course, rules.pattern)
        async with WorkerProcess(course.task.request(course.output)) as worker:
            course.worker = worker
            if course.all_shown.is_set():
                # It was stopped before the worker existed.
                worker.send(Stop())
            async for events in worker.batches():
                run = course.run
                for event in events:
                    run = self._hear(course, run, event)
                self._publish(course, run)
                unfinished = course.unfinished
                if course.noted != unfinished:
                    with suppress(OSError):
                        await in_thread(note.write, unfinished)
                        course.noted = unfinished
        self._publish(course, await self._end_of(course))

    async def _end_of(self, course: Course) -> Run:
        """Wait until all merges are shown, and return how the training ended."""
        ended = course.ended or course.run
        shown = self._shown
        if shown.course is course and ended.phase != "failed":
            has_all_steps = shown.requested_step == len(course.merges)
            if course.stepped and has_all_steps and not self.screen.playing:
                # The user has stepped to the last merge, and need not press the key again.
                course.all_shown.set()
            await course.all_shown.wait()
        step = course.stopped_at
        if step is not None and step < len(course.merges):
            if course.saved is not None and step:
                learned = await in_thread(course.learned)
                await in_thread(bpe_core.save, learned, str(course.saved))
            return replace(ended, phase="stopped", detail=f"stopped at step {step:,}")
        if course.goal is None or ended.phase != "done":
            return ended
        if course.stepped:
            # The user has asked for one more merge than there are.
            course.stepped = False
            self.screen.say(NO_MORE_MERGES)
            return ended
        return replace(ended, detail=f"not reached: {course.goal}; {ended.detail}")

    async def _note_for(self, course: Course, pattern: str) -> Note:
        """Choose the output file, and write the note from which the training can be resumed."""
        task = course.task
        try:
            folder = Path(task.folder or await in_thread(config.tokenizers_folder))
            course.noted = course.unfinished
            course.named = place_for(folder, f"{task.title} {pattern}")
            if task.resume:
                output = Path(task.resume.removesuffix(".checkpoint"))
                course.note = await in_thread(Note.again, output, course.noted)
            else:
                course.note = await in_thread(Note.new, course.named, course.noted)
        except OSError as error:
            problem = "The training was not started, because its tokenizer could not be saved."
            raise BpeError(f"{problem} {sentence_of(error)}") from error
        return course.note

    def _hear(self, course: Course, run: Run, event: Event) -> Run:
        """Return the run after an event of the worker, and add the merges in the event to the course."""
        task = course.task
        match event:
            case messages.WorkProgress("counting" | "preparing" as phase):
                return self._progress(course, run, phase, event)
            case Skipped():
                course.skipped.append(event)
            case messages.Counted():
                self._corpus.leave_to_training(task, Totals(event, course.skipped))
            case messages.Started():
                return self._start_learning(course, run, event)
            case Merges() if course.tokenizer:
                self._add_merges(course, event)
                n_learned = len(course.merges)
                return replace(run, done=n_learned, rate=course.rate(n_learned))
            case messages.Checkpoint(problem=problem):
                if problem and not course.unkept:
                    self.screen.say(
                        f"New merges of this training are not saved until it ends. {problem}",
                        "warning",
                    )
                course.unkept = problem
            case messages.Saved(path):
                course.saved = Path(path)
                # A user who leaves before all merges are shown gets all of them at the next start.
                self.screen.remember(tokenizer=path)
            case messages.Done(reason, _, seconds):
                course.reason = reason
                last_phase: Phase = "done"
                if reason == "stopped":
                    last_phase = "stopped"
                detail = f"{reason} · {seconds:.1f} s"
                course.ended = replace(run, phase=last_phase, rate=0.0, detail=detail)
                # There can be fewer merges than expected.
                self._shown.set_clock()
                return replace(run, phase="showing", total=len(course.merges), rate=0.0)
            case messages.Failed(sentence):
                sentence = named_as_on_screen(sentence)
                self.screen.say(sentence, "error")
                course.ended = replace(run, phase="failed", rate=0.0, detail=sentence)
                return course.ended
        return run

    def _progress(
        self, course: Course, run: Run, phase: Phase, event: messages.WorkProgress
    ) -> Run:
        """Return the run while the texts are counted or prepared."""
        is_next_step = phase == "preparing" and event.name != run.detail
        if phase != run.phase or is_next_step:
            course.since = time.monotonic()
        return replace(
            run,
            phase=phase,
            done=event.done,
            total=event.total,
            detail=event.name,
            rate=course.rate(event.done),
        )

    def _start_learning(
        self, course: Course, run: Run, started: messages.Started
    ) -> Run:
        """Show the tokenizer of a training once its texts have been counted."""
        rules = course.task.rules
        vocabulary = first_vocabulary(rules, course.task.begin_vocabulary)
        course.tokenizer = Tokenizer(vocabulary, rules.pattern)
        course.begun = started.record
        course.n_known = started.known
        course.since = time.monotonic()
        # Publish before its first step is shown, so that watchers see the new task.
        self._publish(course, Run("merging", 0, started.merges, asked=run.asked))
        self._shown.begin_training(course)
        return course.run

    def _add_merges(self, course: Course, merges: Merges) -> None:
        assert course.tokenizer is not None
        course.merges.extend(merges.columns)
        left_ids, right_ids, new_ids = merges.pairs
        new_merges = zip(left_ids, right_ids, new_ids, strict=True)
        course.tokenizer = course.tokenizer.with_merges(new_merges)
        # Index the new merges now: indexing many at once later would hold up the keys.
        new_id = new_ids[0]
        course.merges.length_of(new_id)
        course.tokenizer.vocabulary.children(new_id)
