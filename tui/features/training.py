"""Training: learn in a worker process, show what is learned as it comes, keep it; and go on until something is so."""

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
from tui.dialogs.questions import Ask
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
    """Replaces the screen's `run`. One training at a time, at full speed; `Shown` shows what it has learned."""

    def __init__(
        self,
        screen: StateScreen,
        shown: Shown,
        tokenizers: Tokenizers,
        corpus: CorpusChoice,
    ) -> None:
        super().__init__(screen)
        self._shown, self._tokenizers, self._corpus = shown, tokenizers, corpus
        self._alone = asyncio.Lock()
        self.newest: Course | None = None  # the last training that was begun

    # What can be asked for

    async def train_or_pause(self) -> None:
        if self.screen.run.busy:
            await self._shown.play()
        else:
            await self.train()

    async def train(
        self, *, stepping: bool = False, goal: Condition | None = None
    ) -> None:
        """Learn from the chosen texts with the chosen options; show one step, all, or those until a goal."""
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
        if name := options.more.get("extend"):  # the merges of a tokenizer come first
            path = path_of(name, screen.kept)
            if (loaded := await self._tokenizers.read(path)) is None:
                return
            begin = loaded.tokenizer
            await in_thread(begin.vocabulary.recover)
            if screen.run.busy:
                return
            title, options = (
                f"{name_of(path)} extended",
                replace(options, special_tokens=()),
            )
            task = replace(
                task, title=title, options=options, begin=begin, begin_path=str(path)
            )
            _ = task.rules  # refuses options that make no sense together
        self.start(task, stepping=stepping)

    async def stop(self) -> None:
        """End it, and keep the vocabulary of the step that is shown."""
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
        """Show all that a training has learned, or stop what still learns; return when it is kept."""
        if self.screen.run.phase == "showing":
            await self._shown.show_all()
        else:
            await self.stop()
        with suppress(WorkerError):  # the app ends
            if self.is_working:
                await self._tasks[""].wait()

    async def step_once(self) -> None:
        """Show one merge more, and hold; without a training, begin one that is held after its first."""
        if self.screen.run.busy:
            await self._step_on()
        elif not self._says_end():
            await self.train(stepping=True)

    async def _step_on(self) -> None:
        course, shown = self.newest, self._shown
        assert course is not None
        if shown.course is course and (
            shown.requested_step < shown.n_steps or course.ended
        ):
            course.stepped = True
            await shown.travel(1)
            if course.ended and shown.requested_step == shown.n_steps:
                course.all_shown.set()  # whoever steps to the last merge is at the end, and not asked for a step more
        else:
            waits_for = int(course.goal.number) if course.goal and course.stepped else 0
            step = (
                max(waits_for, shown.requested_step if shown.course is course else 0)
                + 1
            )
            self._train_on(condition(str(step)), stepped=True)

    def _says_end(self) -> bool:
        """Say once that this was the last merge to whoever steps on behind it: a new training would replace it all."""
        course = self.newest
        if course is None or not course.stepped or self.screen.run.phase != "done":
            return False
        course.stepped = False  # it is not said again
        self.screen.say("That was the last merge; F7 again starts a new training.")
        return True

    async def run_preset(self, name: str, stepping: bool) -> None:
        """Train a founding example with its own text and options, and see whether what it promises comes out.

        `stepping`: one merge, then wait; each time this is asked for again, one more.
        """
        if self.screen.run.busy and stepping:
            await self._step_on()
        elif not self.refuse_while_training() and not (stepping and self._says_end()):
            preset = PRESETS[name]
            self.screen.editor.put(
                next(iter(preset.encodings), "\n".join(preset.documents))
            )
            self.start(
                TrainingTask(preset.name, self.screen.options, preset=preset.name),
                stepping=stepping,
            )

    # Until something is so

    async def go_to(self) -> None:
        screen = self.screen
        wanted = await screen.ask(
            _ask_condition(
                "Go to which step, or to the first where which condition holds?"
            )
        )
        if wanted is None:
            return
        if step := await self._first_step(wanted):
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
        elif step := await self._first_step(wanted):
            self.screen.say(
                f"That has been so since step {step:,}; g in the merge log goes there."
            )
        else:
            self._train_on(wanted)

    async def _first_step(self, wanted: Condition) -> int:
        log = self.screen.training.log_of_merges
        return await in_thread(wanted.first_step, log.merges, log.n_bytes)

    def _train_on(self, wanted: Condition, *, stepped: bool = False) -> None:
        if (course := self.newest) is not None:
            course.goal, course.stepped = (
                wanted,
                stepped,
            )  # also before there are merges
        self._shown.start(goal=wanted)

    # One training

    def start(self, task: TrainingTask, *, stepping: bool = False) -> None:
        """Train, once all is done of the training before, whose run is over."""
        # What is still being fetched or loaded would take the place of what is learned.
        self._tokenizers.stop_waiting()
        self.screen.show_log(even_alone=bool(task.preset))
        self._corpus.leave_to_training(task)
        first = (
            condition(str(task.begin.step + 1 if task.begin else 1))
            if stepping
            else None
        )
        course = self.newest = Course(task, goal=task.goal or first, stepped=stepping)
        self.screen.run = course.run
        self._shown.start()
        self._tasks[""] = self.start_worker(
            partial(self._train, course)
        )  # the one before may still have something to do

    def _publish(self, course: Course, run: Run) -> None:
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
                self._publish(
                    course,
                    replace(
                        course.run, phase="failed", rate=0.0, detail=sentence_of(error)
                    ),
                )
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
        asked = TrainingOptions(
            rules.vocab_size, rules.pattern, rules.ties, rules.min_count, specials
        )
        self._publish(course, replace(course.run, asked=asked))
        try:
            folder, course.noted = (
                Path(task.folder or await in_thread(config.tokenizers_folder)),
                course.unfinished,
            )
            course.named = place_for(folder, f"{task.title} {rules.pattern}")
            if task.resume:
                output = Path(task.resume.removesuffix(".checkpoint"))
                course.note = await in_thread(Note.again, output, course.noted)
            else:
                course.note = await in_thread(Note.new, course.named, course.noted)
        except OSError as error:
            raise BpeError(
                f"Nothing is learned, because it could not be saved. {sentence_of(error)}"
            ) from error
        async with WorkerProcess(task.request(course.output)) as worker:
            course.worker = worker
            if course.all_shown.is_set():  # it was stopped before there was a worker
                worker.send(Stop())
            async for events in worker.batches():
                run = course.run
                for event in events:
                    run = self._hear(course, run, event)
                self._publish(course, run)
                if course.noted != (unfinished := course.unfinished):
                    with suppress(OSError):
                        await in_thread(course.note.write, unfinished)
                        course.noted = unfinished
        ended = course.ended or course.run
        if self._shown.course is course and ended.phase != "failed":
            await course.all_shown.wait()
        if course.stopped_at is not None and course.stopped_at < len(course.merges):
            ended = replace(
                ended, phase="stopped", detail=f"stopped at step {course.stopped_at:,}"
            )
            if course.saved is not None and course.stopped_at:
                await in_thread(
                    lambda: bpe_core.save(course.learned(), str(course.saved))
                )
        elif course.goal is not None and ended.phase == "done":
            ended = replace(ended, detail=f"not reached: {course.goal}; {ended.detail}")
        self._publish(course, ended)

    def _hear(self, course: Course, run: Run, event: Event) -> Run:
        """The run after an event of the worker; merges are added to those of the course."""
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
                begin = (
                    task.begin.vocabulary if task.begin else None
                )  # the worker begins with the same
                course.tokenizer = bpe_core.Tokenizer(
                    first_vocabulary(task.rules, begin), task.rules.pattern
                )
                course.begun, course.n_known, course.since = (
                    event.record,
                    event.known,
                    time.monotonic(),
                )
                # Before its first step is shown: it is known then what it learns from.
                self._publish(course, Run("merging", 0, event.merges, asked=run.asked))
                self._shown.begin_training(course)
                return course.run
            case Merges() if course.tokenizer:
                course.merges.extend(event.columns)
                course.tokenizer = course.tokenizer.with_merges(
                    zip(*event.pairs, strict=True)
                )
                for index in (
                    course.merges.length_of,
                    course.tokenizer.vocabulary.children,
                ):
                    index(
                        event.pairs[2][0]
                    )  # takes up what has come: soon many would have to be at one go
                return replace(
                    run, done=len(course.merges), rate=course.rate(len(course.merges))
                )
            case messages.Checkpoint(problem=problem):
                if problem and not course.unkept:  # once, and not every few seconds
                    self.screen.say(
                        f"Nothing new of this training is kept until it ends. {problem}",
                        "warning",
                    )
                course.unkept = problem
            case messages.Saved(path):
                course.saved = Path(path)
                self.screen.remember(
                    tokenizer=path
                )  # whoever leaves before all is shown has it all at the next start
            case messages.Done(reason, _, seconds):
                course.reason = reason
                came_to: Phase = "stopped" if reason == "stopped" else "done"
                course.ended = replace(
                    run, phase=came_to, rate=0.0, detail=f"{reason} · {seconds:.1f} s"
                )
                self._shown.set_clock()  # there may be fewer merges than were asked for
                return replace(run, phase="showing", total=len(course.merges), rate=0.0)
            case messages.Failed(sentence):
                sentence = named_as_on_screen(sentence)
                self.screen.say(sentence, "error")
                course.ended = replace(run, phase="failed", rate=0.0, detail=sentence)
                return course.ended
        return run

    # After the end

    async def _end(self, course: Course) -> None:
        """Keep what was learned, and say what came of it; where that is nothing, what was there comes back."""
        if course.stopped_at == 0 and course.saved:
            await in_thread(course.saved.unlink, missing_ok=True)
            course.saved = None
        if course.tokenizer is None or not (course.saved or course.has_learned):
            if await in_thread(
                checkpoint_of(course.output).is_file
            ):  # it was to go on with that, and did not
                await self.keep(course.output)
            await self._tokenizers.refresh_list()
            if course.tokenizer is not None:
                self._shown.take_back()
            elif self._shown.loaded is None:  # it was still being loaded
                self._tokenizers.begin(self._tokenizers.load_first)
            return
        learned = await in_thread(course.learned)
        if course.saved is None:
            course.saved = await self.keep(course.output, learned)
        elif course.saved != course.named:
            with suppress(BpeError, OSError):
                course.saved = await in_thread(without_twin, course.saved, course.named)
        await self._tokenizers.refresh_list()
        if path := course.saved:
            # What was learned stays on the screen, from now on as the tokenizer in its file.
            self._shown.keep(Loaded(learned, path))
            if not course.task.folder and str(path) not in {
                one.path for one in self.screen.kept
            }:
                # A disk was full, and it is saved elsewhere.
                await self._tokenizers.add(path, learned)
            self.screen.remember(tokenizer=str(path))
        if course.task.preset and course.run.phase == "done":
            came_out, sentence = PRESETS[course.task.preset].verdict(learned)
            self._publish(
                course, replace(course.run, detail=sentence.partition(":")[0])
            )  # the rest may not fit there
            self.screen.say(sentence, "information" if came_out else "warning")
        if (
            course.run.phase == "stopped"
            and (n := len(self._tokenizers.of_stopped)) > 4
        ):
            self.screen.say(
                f"{n} tokenizers of stopped trainings have no name; Ctrl+P, “stopped” deletes them."
            )
        if course.saved and (warning := learned_by_heart(course.merges.counts)):
            self.screen.say(warning, "warning")

    async def keep(self, output: Path, learned: Tokenizer | None = None) -> Path | None:
        """Make a tokenizer of the list of what a training had sent, or else of its checkpoint, which has no more."""
        checkpoint = checkpoint_of(output)
        try:
            whole = learned if learned else await in_thread(load, checkpoint)
            kept = await in_thread(save_beside, whole, output)
            await in_thread(checkpoint.unlink, missing_ok=True)
        except (BpeError, OSError) as error:
            self.screen.say(
                f"What it had learned could not be kept. {sentence_of(error)}", "error"
            )
            return None
        self.screen.say(
            f"What it had learned, {counted(whole.step, 'merge')}, is kept as {kept.stem}.",
            "warning",
        )
        await self._tokenizers.refresh_list()
        return kept


def _ask_condition(question: str) -> Ask[Condition]:
    """Asks for a step, or for what should be so after it."""
    hint = f"{', '.join(EXAMPLES)}. A number alone is a step. Tab completes."
    return Ask(
        question,
        condition,
        hint=hint,
        example="512, or: ratio >= 3.5",
        suggest=EXAMPLES,
    )
