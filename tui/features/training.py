"""Training: learn in a worker process, show its merges as they come, keep them, and pause when a condition holds."""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual.worker import WorkerError

import bpe_core
from bpe_core import Tokenizer
from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Skipped
from bpe_core.errors import BpeError
from bpe_core.formats import load, save_beside
from bpe_core.tokenizer.training_record import named_as_on_screen
from bpe_core.trainer import Merges
from bpe_core.trainer.conditions import EXAMPLES, Condition, condition
from bpe_core.trainer.start import first_vocabulary
from bpe_core.visible import counted
from bpe_core.worker import messages
from bpe_core.worker.messages import Event, Stop
from bpe_core.worker.train import learned_by_heart
from tui.dialogs.ask import Ask
from tui.disk import config
from tui.disk.locked import Note, checkpoint_of
from tui.disk.tokenizer_files import without_twin
from tui.features.corpus import CorpusChoice, path_of
from tui.features.course import Course, TrainingTask, place_for
from tui.features.feature import NO_TEXT, Feature, StateScreen, sentence_of
from tui.features.shown import Shown
from tui.features.tokenizers import Tokenizers
from tui.process import WorkerProcess
from tui.state import Loaded, Phase, Run, Totals, TrainingOptions, name_of
from tui.terminal.background import in_thread


class TrainingFeature(Feature):
    """Replaces the screen's `run`. One training at a time, at full speed. `Shown` shows its merges."""

    def __init__(
        self,
        screen: StateScreen,
        shown: Shown,
        tokenizers: Tokenizers,
        corpus: CorpusChoice,
    ) -> None:
        super().__init__(screen)
        self._shown = shown
        self._tokenizers = tokenizers
        self._corpus = corpus
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
            sentence = f"{screen.opening} is still being read. Wait, or mark another text (F2)."
            return screen.say(sentence, "warning")
        if not screen.corpus.paths:
            return screen.say(NO_TEXT, "warning")
        task = TrainingTask(
            screen.corpus.title, options, screen.corpus.paths, goal=goal
        )
        name = options.more.get("extend")
        if name:
            extending = await self._extending(task, path_of(name, screen.kept))
            if extending is None:
                return
            task = extending
        self.start(task, stepping=stepping)

    async def _extending(self, task: TrainingTask, path: Path) -> TrainingTask | None:
        """Let a task start with the merges of the tokenizer in a file; None if the user has changed their mind."""
        loaded = await self._tokenizers.read(path)
        if loaded is None:
            return None
        begin = loaded.tokenizer
        await in_thread(begin.vocabulary.recover)
        if self.screen.run.busy:
            return None
        task = replace(
            task,
            title=f"{name_of(path)} extended",
            options=replace(task.options, special_tokens=()),
            begin=begin,
            begin_path=str(path),
        )
        task.check()
        return task

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

    async def step_once(self) -> None:
        """Show one more merge and pause. Without a training, start one."""
        if self.screen.run.busy:
            await self._step_on()
        elif not self._reports_end():
            await self.train(stepping=True)

    async def _step_on(self) -> None:
        course, shown = self.newest, self._shown
        assert course is not None
        is_shown = shown.course is course
        if is_shown and (shown.requested_step < shown.n_steps or course.ended):
            course.stepped = True
            await shown.travel(1)
            if course.ended and shown.requested_step == shown.n_steps:
                # The user has stepped to the last merge, and need not press the key again.
                course.all_shown.set()
            return
        # The next merge is not learned yet. Several key presses ask for several merges.
        waits_for = int(course.goal.number) if course.goal and course.stepped else 0
        if is_shown:
            waits_for = max(waits_for, shown.requested_step)
        self._train_on(condition(str(waits_for + 1)), stepped=True)

    def _reports_end(self) -> bool:
        """Return whether the last merge was just stepped to, and say so once, before a new training replaces it."""
        course = self.newest
        if course is None or not course.stepped or self.screen.run.phase != "done":
            return False
        course.stepped = False
        self.screen.say(
            "That was the last merge. Press F7 again to start a new training."
        )
        return True

    async def run_preset(self, name: str, stepping: bool) -> None:
        """Train a preset on its own text with its own options, and check the result.

        With `stepping`, show one merge per call.
        """
        if self.screen.run.busy and stepping:
            await self._step_on()
            return
        if self.refuse_while_training() or (stepping and self._reports_end()):
            return
        preset = PRESETS[name]
        text = next(iter(preset.encodings), "\n".join(preset.documents))
        self.screen.editor.put(text)
        task = TrainingTask(preset.name, self.screen.options, preset=preset.name)
        self.start(task, stepping=stepping)

    # Until a condition holds

    async def go_to(self) -> None:
        screen = self.screen
        question = "Go to which step, or to the first step where which condition holds?"
        wanted = await screen.ask(_ask_condition(question))
        if wanted is None:
            return
        step = await self._first_step(wanted)
        if step:
            screen.training.log_of_merges.reveal(step - 1, tell=True)
        elif screen.run.busy:
            self._train_on(wanted)
        elif screen.tokenizer is not None:
            known = counted(self._shown.n_steps, "merge")
            screen.say(f"“{wanted}” holds at no step of the {known} learned.")

    async def train_until(self) -> None:
        wanted = await self.screen.ask(
            _ask_condition("Train until which condition holds? Then it pauses.")
        )
        if wanted is None:
            return
        if not self.screen.run.busy:
            await self.train(goal=wanted)
            return
        step = await self._first_step(wanted)
        if step:
            self.screen.say(
                f"This is true since step {step:,}. Press g in the merge log to go there."
            )
        else:
            self._train_on(wanted)

    async def _first_step(self, wanted: Condition) -> int:
        log = self.screen.training.log_of_merges
        return await in_thread(wanted.first_step, log.merges, log.n_bytes)

    def _train_on(self, wanted: Condition, *, stepped: bool = False) -> None:
        course = self.newest
        if course is not None:
            # Also before the training is shown.
            course.goal = wanted
            course.stepped = stepped
        self._shown.start(goal=wanted)

    # One training

    def start(self, task: TrainingTask, *, stepping: bool = False) -> None:
        """Start a training. It waits until the files of the one before are written."""
        # A tokenizer being loaded would replace the one in training.
        self._tokenizers.stop_waiting()
        self.screen.show_log(even_alone=bool(task.preset))
        self._corpus.leave_to_training(task)
        goal = task.goal
        if goal is None and stepping:
            n_known = task.begin.step if task.begin else 0
            goal = condition(str(n_known + 1))
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
            await self._end(course)

    async def _leave_for_next_start(self, course: Course) -> None:
        """Keep the merges and the note of a training, so that the next start can offer to resume it."""
        note = course.note
        if note is None:
            return
        # The worker has saved its merges, if it had the time.
        checkpoint = await in_thread(lambda: note.left)
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
        ended = course.ended or course.run
        if self._shown.course is course and ended.phase != "failed":
            await course.all_shown.wait()
        if course.stopped_at is not None and course.stopped_at < len(course.merges):
            detail = f"stopped at step {course.stopped_at:,}"
            ended = replace(ended, phase="stopped", detail=detail)
            if course.saved is not None and course.stopped_at:
                saved = str(course.saved)
                await in_thread(lambda: bpe_core.save(course.learned(), saved))
        elif course.goal is not None and ended.phase == "done":
            ended = replace(ended, detail=f"not reached: {course.goal}; {ended.detail}")
        self._publish(course, ended)

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
            case messages.WorkProgress(
                "counting" | "preparing" as phase, done, total, name
            ):
                if phase != run.phase or (phase == "preparing" and name != run.detail):
                    course.since = time.monotonic()
                return replace(
                    run,
                    phase=phase,
                    done=done,
                    total=total,
                    detail=name,
                    rate=course.rate(done),
                )
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
                final_phase: Phase = "stopped" if reason == "stopped" else "done"
                detail = f"{reason} · {seconds:.1f} s"
                course.ended = replace(run, phase=final_phase, rate=0.0, detail=detail)
                # There can be fewer merges than expected.
                self._shown.set_clock()
                return replace(run, phase="showing", total=len(course.merges), rate=0.0)
            case messages.Failed(sentence):
                sentence = named_as_on_screen(sentence)
                self.screen.say(sentence, "error")
                course.ended = replace(run, phase="failed", rate=0.0, detail=sentence)
                return course.ended
        return run

    def _start_learning(
        self, course: Course, run: Run, started: messages.Started
    ) -> Run:
        """Show the tokenizer of a training whose texts are counted."""
        task = course.task
        begin = task.begin.vocabulary if task.begin else None
        vocabulary = first_vocabulary(task.rules, begin)
        course.tokenizer = bpe_core.Tokenizer(vocabulary, task.rules.pattern)
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
        new_pairs = zip(*merges.pairs, strict=True)
        course.tokenizer = course.tokenizer.with_merges(new_pairs)
        # Index the new merges now: indexing many at once later would hold up the keys.
        new_id = merges.pairs[2][0]
        course.merges.length_of(new_id)
        course.tokenizer.vocabulary.children(new_id)

    # After the end

    async def _end(self, course: Course) -> None:
        """Keep the tokenizer and show its result. Without merges, show the tokenizer of before."""
        if course.stopped_at == 0 and course.saved:
            await in_thread(course.saved.unlink, missing_ok=True)
            course.saved = None
        if course.tokenizer is None or not (course.saved or course.has_learned):
            await self._end_without_merges(course)
            return
        learned = await in_thread(course.learned)
        if course.saved is None:
            course.saved = await self.keep(course.output, learned)
        elif course.saved != course.named:
            with suppress(BpeError, OSError):
                course.saved = await in_thread(without_twin, course.saved, course.named)
        await self._tokenizers.refresh_list()
        if course.saved:
            await self._show_saved(course, Loaded(learned, course.saved))
        self._report_result(course, learned)

    async def _end_without_merges(self, course: Course) -> None:
        if await in_thread(checkpoint_of(course.output).is_file):
            # The training could not resume from this checkpoint. Its merges are kept.
            await self.keep(course.output)
        await self._tokenizers.refresh_list()
        if course.tokenizer is not None:
            self._shown.take_back()
        elif self._shown.loaded is None:
            # The training began while the first tokenizer was being loaded.
            self._tokenizers.begin(self._tokenizers.load_first)

    async def _show_saved(self, course: Course, loaded: Loaded) -> None:
        """Let the tokenizer on the screen be the one in its file."""
        path = str(loaded.path)
        self._shown.keep(loaded)
        listed = {known.path for known in self.screen.kept}
        if not course.task.folder and path not in listed:
            # The disk was full, and the tokenizer is saved in another folder.
            await self._tokenizers.add(loaded.path, loaded.tokenizer)
        self.screen.remember(tokenizer=path)

    def _report_result(self, course: Course, learned: Tokenizer) -> None:
        """Show whether a preset has its known result, and warnings about the training."""
        if course.task.preset and course.run.phase == "done":
            as_expected, sentence = PRESETS[course.task.preset].verdict(learned)
            # The title line has no room for the rest.
            detail = sentence.partition(":")[0]
            self._publish(course, replace(course.run, detail=detail))
            self.screen.say(sentence, "information" if as_expected else "warning")
        n_unnamed = len(self._tokenizers.of_stopped)
        if course.run.phase == "stopped" and n_unnamed > 4:
            self.screen.say(
                f"{n_unnamed} tokenizers from stopped trainings have no name. To delete them: Ctrl+P, “stopped”."
            )
        warning = learned_by_heart(course.merges.counts)
        if course.saved and warning:
            self.screen.say(warning, "warning")

    async def keep(self, output: Path, learned: Tokenizer | None = None) -> Path | None:
        """Save the merges received from a training, or those of its checkpoint, as a tokenizer of the list."""
        checkpoint = checkpoint_of(output)
        try:
            if learned is None:
                learned = await in_thread(load, checkpoint)
            kept = await in_thread(save_beside, learned, output)
            await in_thread(checkpoint.unlink, missing_ok=True)
        except (BpeError, OSError) as error:
            self.screen.say(
                f"The merges of this training could not be saved. {sentence_of(error)}",
                "error",
            )
            return None
        n_merges = counted(learned.step, "merge")
        self.screen.say(
            f"The training ended early. Its {n_merges} are saved as {kept.stem}.",
            "warning",
        )
        await self._tokenizers.refresh_list()
        return kept


def _ask_condition(question: str) -> Ask[Condition]:
    """Return the question for a step or a condition."""
    hint = f"{', '.join(EXAMPLES)}. A number alone is a step. Tab completes."
    return Ask(
        question,
        condition,
        hint=hint,
        example="512, or: ratio >= 3.5",
        suggest=EXAMPLES,
    )
