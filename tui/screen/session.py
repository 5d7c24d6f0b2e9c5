"""Session: the owners of what the screen shows, and what follows for the others when one of them has news.

Each fact has one owner, and only its owner replaces it. The screen's variables are where panes are bound to it:

    corpus, options     `Choices`: what the user chose for the next training
    pace                `Moments`: how fast a training may be
    playing             `Replay`: how fast the text is played from bytes to the last merge
    totals              `Count`: what these texts amount to under the pattern of these options
    run                 `Training`
    notice              `Fetch`, `Loading` and `Recovery` together: what is being waited for
    tokenizer, path     `ShownTokenizer`: the tokenizer on the screen with all of its merges, and the file it is kept in
    step, in_force      `ShownTokenizer`: how many of its merges are in force, and the tokenizer that they are
    curve_under         `Results`: the training that is laid under the curve
    comparison          `ComparisonRun`
    explained           `Explaining`: why the merge of a step was chosen
    audit               `AuditRun`, with the verdicts
    token_lines         `OccurrenceSearch`
    kept                `KnownTokenizers`
    lanes               `EditorLanes`: the tokenizers whose tokens the editor shows under those of `in_force`
    active              the screen: the pane that has the focus

The rows of the merge log are the log's, the text and what is pinned in it the editor's.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bpe_core.content.presets import PRESETS
from bpe_core.content.samples import samples
from bpe_core.worker.messages import ONE_STEP
from tui.disk import config
from tui.disk.sources import sample_corpus, title_of
from tui.owners.count import Count
from tui.owners.explaining import Explaining, Subject, preset_of, subject_of_file, subject_of_task
from tui.owners.text_files import TextFiles
from tui.owners.training import Training
from tui.screen.audits import Audits
from tui.screen.choices import Choices
from tui.screen.comparisons import Comparisons
from tui.screen.editor_lanes import EditorLanes
from tui.screen.going_on import GoingOn
from tui.screen.moments import Moments
from tui.screen.replay import Replay
from tui.screen.results import Results
from tui.screen.shown_tokenizer import ShownTokenizer
from tui.screen.tokenizers import BUSY, Tokenizers
from tui.state.tokenizers import Loaded, name_of
from tui.state.training import Corpus, Run, TrainingOptions
from tui.workers.training_task import RUN, TrainingTask

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.trainer import Merge
    from bpe_core.worker.messages import Command, Started
    from tui.screen.main import MainScreen
    from tui.state.training import Totals

_GLITCHES: Final = TrainingOptions(vocab_size=512)
"""By which the names of a forum become tokens of their own."""


class Session:
    """Everything the main screen does beside showing panes; made once the panes are there."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.shown = ShownTokenizer(screen)
        self.count = Count(screen, partial(setattr, screen, "totals"))
        self.training = Training(screen, self._publish_run, self)
        self.tokenizers = Tokenizers(screen, self.shown, self._loaded)
        self.explaining = Explaining(screen, partial(setattr, screen, "explained"))
        self.moments = Moments(screen, self.shown, self.training, self.train)
        self.going_on = GoingOn(screen, self._train)
        self.results = Results(screen)
        self.replay = Replay(screen, self.shown.go_to_soon)
        self.lanes = EditorLanes(screen, self.shown, self.tokenizers.pattern_for, self.tokenizers.remember_pattern)
        self.files = TextFiles(screen, screen.open_in_editor, self.tokenizers.as_text)
        self.audits = Audits(screen, self.shown, self.files, self.tokenizers.pattern_for)
        self.choices = Choices(screen, self.count, self.tokenizers.as_text, self.audits.occurrences.forget)
        self.comparisons = Comparisons(screen, self.files, self.tokenizers.pattern_for)
        self._typed_ids = ""
        """Ids whose text was looked at last."""
        self._learning: TrainingTask | None = None
        """The training that the vocabulary on the screen came from, if it was one of this session."""

    _audits_next = False
    """Whether what is being learned is to be audited at once."""
    _told_of_end = False
    """Whether it was told that there is no step behind the last one."""

    def _publish_run(self, run: Run) -> None:
        was_busy, self._screen.run = self._screen.run.busy, run
        if was_busy and not run.busy:
            self.count.go_on()

    # Beginning

    def bring_back(self, configuration: config.Configuration, *, is_unfinished: bool) -> None:
        """Bring back what was there at the end of the last run; the first time, train on the samples.

        Unless `is_unfinished`: then a training that did not end is asked for.
        """
        screen = self._screen
        self.tokenizers.bring_back(configuration)
        first_time = not configuration.tokenizer and not screen.kept
        self.choices.bring_back(configuration, first_time=first_time)
        self.lanes.bring_back(configuration.lanes)
        if configuration.tokenizer and not os.path.exists(configuration.tokenizer):
            screen.say(f"The tokenizer that was used last is not there any more: {configuration.tokenizer}.", "warning")
        if os.path.exists(configuration.tokenizer):
            self.tokenizers.loading.load(Path(configuration.tokenizer))
        elif screen.kept:
            self.tokenizers.load_first()
        elif first_time and not is_unfinished:
            samples = sample_corpus()
            self._train(TrainingTask(samples.title, screen.options, samples.paths))

    # Ids

    async def ids_to_text(self) -> None:
        """Show the text of ids: of those that were typed before, or of the editor's selection."""
        from tui.dialogs.ids_to_text import IdsToText
        from tui.text.copies import ids_of

        screen = self._screen
        if screen.in_force is None:
            screen.say("There is no tokenizer yet: train one (F6), or open one.", "warning")
            return
        name = name_of(Path(screen.path)) if screen.path else "in training"
        area = screen.editor.area
        selected = ids_of(area.edited, area.selected) if not area.selection.is_empty else []
        decoded = await screen.ask(IdsToText(screen.in_force, name, str(selected) if selected else self._typed_ids))
        self._typed_ids = decoded.typed
        if decoded.text is not None:
            screen.open_in_editor(decoded.text)

    # A training

    def train(self, first: Command = RUN) -> None:
        """Learn from the chosen texts with the chosen options; `first` is what the worker is told to begin with."""
        screen = self._screen
        options = self.choices.chosen_options()
        if options is None:
            return
        if not screen.corpus.paths:
            screen.say("No text is chosen: press F2, go to one, and mark it with the space bar.", "warning")
            return
        task = TrainingTask(screen.corpus.title, options, screen.corpus.paths, first=first)
        if begin := options.more.get("extend"):
            screen.run_worker(self.going_on.start_from(begin, task), group="start", exclusive=True)
        else:
            self._train(task)

    def step(self) -> None:
        """Learn one merge of the training that is under way, or of a new one."""
        if self._screen.run.busy:
            self.training.tell(ONE_STEP)
        elif not self._tells_of_end():
            self.train(ONE_STEP)

    def _tells_of_end(self) -> bool:
        """Tell once of the last merge to whoever steps on behind it: a new training would take what it led to away."""
        if self._told_of_end or not self.training.stepped_to_end:
            return False
        self._told_of_end = True
        self._screen.say("That was the last merge; F7 again begins anew.")
        return True

    def run_preset(self, name: str, *, stepping: bool = False) -> None:
        """Train a founding example with its own text and options, and see whether what it promises comes out.

        `stepping`: one merge, then wait; each time this is asked for again, one more.
        """
        if self._screen.run.busy:
            if stepping:
                self.training.tell(ONE_STEP)
            else:
                self._screen.say(BUSY, "warning")
            return
        if stepping and self._tells_of_end():
            return
        preset = PRESETS[name]
        self._screen.editor.put(next(iter(preset.encodings), "\n".join(preset.documents)))
        self._train(
            TrainingTask(preset.name, self._screen.options, preset=preset.name, first=ONE_STEP if stepping else RUN)
        )

    def glitch_example(self) -> None:
        """Train on a forum with its user names, then audit against the same forum without them."""
        screen = self._screen
        if screen.run.busy:
            screen.say(BUSY, "warning")
            return
        paths = {sample.name: str(sample.path) for sample in samples()}
        names, clean = (paths["forum-with-names"],), (paths["forum-clean"],)
        self.choices.choose_corpus(Corpus(names, clean, title_of(names)))
        screen.say("A vocabulary is learned from a forum, then audited against the forum without its user names.")
        self._train(TrainingTask(screen.corpus.title, _GLITCHES, names))
        self._audits_next = True

    def _train(self, task: TrainingTask) -> None:
        self._audits_next = self._told_of_end = False
        # What was still being fetched or loaded would take the place of what is learned.
        self.tokenizers.stop_waiting()
        self.audits.run.forget()
        self._screen.arrangement.show_log(even_alone=bool(task.preset))
        if task.counts_all:
            self.count.leave_to_training(task.paths, task.options.pattern)
        self.training.start(task)

    def training_counted(self, task: TrainingTask, counted: Totals) -> None:
        """Take over the totals that a training has counted."""
        if task.counts_all:
            self.count.learn(task.paths, task.options.pattern, counted)

    def training_began(self, tokenizer: Tokenizer, started: Started) -> None:
        """Put the training in the place of the tokenizer that was on the screen."""
        self._forget()
        self._learning = self.training.task
        self.shown.begin(tokenizer, started)

    def training_learned(self, merges: list[Merge]) -> None:
        """Add merges to the log, which shows them once the tokenizer has them too."""
        self._screen.training.log_of_merges.add(merges)

    def training_grew(self, tokenizer: Tokenizer, merges: list[Merge]) -> None:
        """Show the tokenizer with the merges it has learned by now."""
        self.shown.grow(tokenizer, merges)

    def training_ended(self, tokenizer: Tokenizer | None, path: Path | None) -> None:
        """What was learned stays on the screen; where that is nothing, what was there comes back."""
        screen = self._screen
        self.going_on.end(self.training.output, learned=tokenizer is not None)
        self.tokenizers.known.list_anew()
        if tokenizer is not None and path is not None:
            self.shown.keep(Loaded(tokenizer, path))
            if str(path) not in {one.path for one in screen.kept}:  # a disk was full, and it is saved elsewhere
                with suppress(OSError):
                    self.tokenizers.known.add(path, tokenizer)
            screen.remember(tokenizer=str(path))
            if self._audits_next:
                screen.call_later(self.audits.audit)
        elif tokenizer is None and (before := self.shown.take_back()):
            self._show(before)
        elif tokenizer is None and self.shown.loaded is None:  # it was still being loaded
            self.tokenizers.load_first()

    # The tokenizer on the screen

    def _loaded(self, loaded: Loaded) -> None:
        self.training.dismiss()
        self._show(loaded)

    def _show(self, loaded: Loaded) -> None:
        """Show another tokenizer."""
        self._forget()
        self.shown.show(loaded)
        if not loaded.tokenizer.vocabulary.knows_merges:
            self.tokenizers.recovery.recover(loaded)

    def _forget(self) -> None:
        """Forget what is known of the tokenizer that leaves the screen: audit, searches, explanations."""
        self.replay.stop()
        self.tokenizers.recovery.cancel()
        self.explaining.forget()
        self._learning = None
        self.audits.forget()
        self._screen.editor.forget_edits()

    async def discard(self, path: Path) -> None:
        """Take a tokenizer off the list; one that was trained here is deleted, if that is really meant."""
        await self.tokenizers.known.discard(path)
        self.lanes.owner.drop_missing()

    # Why a merge

    def explain(self, step: int) -> None:
        """Find out why the merge of a step was chosen, and how often each pair occurs after it."""
        screen = self._screen
        if screen.tokenizer is not None:
            in_haste = screen.run.phase == "merging" and not screen.pace and screen.step == screen.tokenizer.step
            self.explaining.want(self._subject(screen.tokenizer), screen.tokenizer, step, in_haste=in_haste)

    def _subject(self, tokenizer: Tokenizer) -> Subject:
        """The texts that it was learned from in this session; else those of its founding example, or those chosen."""
        if self._learning is not None:
            return subject_of_task(self._learning)
        preset = preset_of(tokenizer.record) if tokenizer.record else ""
        path = self._screen.path
        return subject_of_file(
            tokenizer, path, self.tokenizers.pattern_for(Path(path)), preset, self._screen.corpus.paths
        )
