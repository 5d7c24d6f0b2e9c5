"""Comparison: compares tokenizers on the corpus or the editor's text, and measures the one on the screen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.metrics.comparison import ComparedText
from bpe_core.metrics.sampled import SampledText
from bpe_core.visible import counted, shortened, visible
from bpe_core.worker.compare import ComparedTexts, CompareRequest, ComparisonFound
from bpe_core.worker.differences import DifferenceFound
from bpe_core.worker.messages import Done, Failed, Stop, WorkProgress
from tui.disk.locked import ScratchFolder
from tui.features.comparison_export import export_comparison
from tui.features.feature import NO_TEXT, Feature, StateScreen
from tui.features.lanes import Lanes
from tui.features.texts import Texts
from tui.process import WorkerProcess
from tui.state import (
    EDITORS_TEXT,
    IN_EDITOR,
    SECTIONS,
    ComparisonRun,
    KnownTokenizer,
    LaneChoice,
    PairWitness,
    steps_known,
)
from tui.terminal.background import in_thread
from tui.widgets.tokenizer_names import distinct_names

_NO_TOKENIZER: Final = (
    "No tokenizer is chosen. Mark two to four in the compare pane with Space."
)
_NOT_SAVED: Final = (
    "The screen shows no saved tokenizer. Train one (F6), or open one (Ctrl+P)."
)
_DISAGREEMENTS: Final = 200
"""How many disagreements are listed for each pair of tokenizers."""
_WORST_LINES: Final = 100
"""How many of its worst lines are listed for each tokenizer."""
_SAMPLED: Final = 32_000
"""How many characters are shown with their tokens, in all."""
_LONGEST_PATTERN: Final = 24
"""Characters of a pattern in the name of a tokenizer whose own pattern is replaced."""
_STEPS: Final = {
    "counting": "tokens",
    "comparing": "boundaries",
    "deciding": "differences of the tokenizers",
}
"""Activity of the worker -> the word for it on the screen."""


class ComparisonFeature(Feature):
    """Replaces the screen's `comparison`."""

    _worker: WorkerProcess | None = None
    _automatic: tuple[str, int] | None = None
    """The tokenizer and edit of a comparison that started by itself; None for one the user started."""

    def __init__(self, screen: StateScreen, texts: Texts, lanes: Lanes) -> None:
        super().__init__(screen)
        self._texts = texts
        self._lanes = lanes

    def start(self) -> None:
        """Compare the tokenizer on the screen with the newest other one, or with half of its merges.

        The text is the editor's. Do nothing if this comparison is shown already, or if the user has chosen another.
        """
        screen = self.screen
        pane = screen.compare_pane
        known = pane.picker.chosen
        if screen.run.busy or not known or known[0].path != screen.path:
            return
        can_replace = screen.comparison == ComparisonRun()
        if self._automatic:
            can_replace = pane.has_compared
        subject = (screen.path, screen.editor.area.document.n_edits)
        if can_replace and subject != self._automatic:
            half = 0
            if len(known) == 1:
                half = steps_known(screen.tokenizer) // 2
            self._start(known, IN_EDITOR, half, automatic=subject)

    def compare(self) -> None:
        """Compare the marked tokenizers on the chosen texts, or stop the running comparison."""
        can_replace = self._automatic and not self.screen.compare_pane.has_compared
        if self.screen.comparison.running and not can_replace:
            self._stop()
        else:
            self.compare_marked()

    def compare_marked(self) -> None:
        """Compare the marked tokenizers on the chosen texts, instead of a running comparison."""
        screen = self.screen
        pane = screen.compare_pane
        screen.active = "compare"
        if not pane.picker.chosen:
            screen.say(_NO_TOKENIZER, "warning")
        elif pane.texts_from != IN_EDITOR and not screen.corpus.paths:
            screen.say(f"{NO_TEXT} Or compare on the editor's text.", "warning")
        else:
            self._start(pane.picker.chosen, pane.texts_from)
        if screen.focused is None or pane not in screen.focused.ancestors:
            screen.action_show("compare")

    def measure_text(self) -> None:
        known = [
            listed for listed in self.screen.kept if listed.path == self.screen.path
        ]
        if not known:
            self.screen.say(_NOT_SAVED, "warning")
            return
        self._start(known, IN_EDITOR)
        self.screen.compare_pane.table.choice = "metrics"
        self.screen.action_show("compare")

    def _start(
        self,
        known: Sequence[KnownTokenizer],
        texts_from: str,
        half: int = 0,
        automatic: tuple[str, int] | None = None,
    ) -> None:
        """Compare tokenizers on `CHOSEN_TEXTS`, `SECTIONS` or `IN_EDITOR`.

        With `half`, also compare the first tokenizer after that many of its merges.
        """
        self._worker = None
        self._automatic = automatic
        screen = self.screen
        tokenizers = list(map(self._with_pattern, known))
        if half:
            tokenizers.append(replace(tokenizers[0], name=f"step {half:,}"))
        in_editor = texts_from == IN_EDITOR
        was_in_editor = screen.comparison.texts_from == IN_EDITOR
        if in_editor != was_in_editor:
            screen.compare_pane.table.choice = "metrics" if in_editor else "texts"
        comparison = ComparisonRun(
            running=True,
            progress="starting",
            texts_from=texts_from,
            tokenizers=tuple(tokenizers),
            text=screen.editor.area.text if in_editor else "",
            half=half,
        )
        name_of_texts = EDITORS_TEXT if in_editor else screen.corpus.title
        subject = f"{' · '.join(comparison.headings)} on {name_of_texts}"
        differences: Mapping[int, DifferenceFound] = {}
        if screen.comparison.tokenizers == comparison.tokenizers:
            # Show them until the worker has found them again: a file may have changed.
            differences = screen.comparison.differences
        # First remove the tables of the comparison before.
        screen.comparison = ComparisonRun()
        screen.comparison = replace(
            comparison, subject=subject, differences=differences
        )
        if in_editor:
            self.begin(self._run_on_text)
        else:
            by_section = texts_from == SECTIONS
            self.begin(partial(self._run, screen.corpus.paths, by_section))

    def _with_pattern(self, known: KnownTokenizer) -> KnownTokenizer:
        """Return a tokenizer with its distinct name, and with the pattern that replaces its own, if any."""
        name = distinct_names(self.screen.kept).get(known.path, known.name)
        pattern = self.screen.pattern_for(Path(known.path)) or ""
        if pattern:
            name = f"{name} ({shortened(pattern, _LONGEST_PATTERN)})"
        return replace(known, name=name, pattern=pattern)

    def show_witness(self, shown: PairWitness) -> None:
        """Put a text that two tokenizers encode differently into the editor, with both as lanes."""
        screen = self.screen
        editor = screen.editor
        lanes = [self._lane_of(0), self._lane_of(shown.other)]
        if screen.in_force is screen.tokenizer:
            # The first lane of the editor has all merges.
            lanes = [lane for lane in lanes if lane != LaneChoice()]
        self._lanes.choose([*lanes, *self._lanes.chosen])
        if editor.specials != shown.witness.reads_specials:
            editor.action_toggle_specials()
        if editor.area.text != shown.witness.text:
            editor.put(shown.witness.text)
            screen.say("The text is in the editor. F10 goes back to the comparison.")
        if self._automatic:
            # Do not compare again when the user comes back.
            self._automatic = (screen.path, editor.area.document.n_edits)
        screen.action_show("editor")

    def _lane_of(self, index: int) -> LaneChoice:
        """Return the lane of a compared tokenizer."""
        comparison = self.screen.comparison
        path = comparison.tokenizers[index].path
        if path == self.screen.path:
            path = ""
        return LaneChoice(path, comparison.half if index and comparison.half else None)

    async def export(self) -> None:
        await export_comparison(self.screen, self._texts)

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.send(Stop())
        else:
            self.cancel()
            self.screen.comparison = replace(
                self.screen.comparison, running=False, progress=""
            )

    async def _run_on_text(self) -> None:
        with ScratchFolder() as folder:
            text = self.screen.comparison.text
            path = await in_thread(folder.write, EDITORS_TEXT, text)
            await self._run((str(path),))

    async def _run(self, paths: tuple[str, ...], by_section: bool = False) -> None:
        """Compare in a worker process, and publish each batch of results."""
        comparison = self.screen.comparison
        sources = [
            (tokenizer.path, tokenizer.pattern) for tokenizer in comparison.tokenizers
        ]
        request = CompareRequest(
            tuple(sources),
            paths,
            by_section,
            _DISAGREEMENTS,
            _WORST_LINES,
            _SAMPLED,
            comparison.half,
            are_differences_known=self._automatic is not None and comparison.is_decided,
        )
        compared: list[ComparedText] = []
        async with WorkerProcess(request) as worker:
            self._worker = worker
            async for events in worker.batches():
                for event in events:
                    match event:
                        case WorkProgress(activity, done, total, name):
                            share = f" {done / total:.0%}" if total else ""
                            progress = f"{_STEPS[activity]}{share} · {visible(name)}"
                            comparison = replace(comparison, progress=progress)
                        case ComparedTexts(first, texts):
                            compared[first : first + len(texts)] = texts
                        case SampledText(index):
                            samples = {**comparison.samples, index: event}
                            comparison = replace(comparison, samples=samples)
                        case ComparisonFound(found):
                            comparison = replace(comparison, found=found)
                        case DifferenceFound(other):
                            differences = {**comparison.differences, other: event}
                            comparison = replace(comparison, differences=differences)
                        case Done(reason, _, seconds):
                            n_texts = counted(len(compared), "text")
                            subject = (
                                f"{comparison.subject} · {n_texts} · {seconds:.1f} s"
                            )
                            if reason == "stopped":
                                subject = f"stopped before the end · {subject}"
                            comparison = replace(
                                comparison, running=False, progress="", subject=subject
                            )
                        case Failed(sentence):
                            return self.failed(sentence)
                comparison = replace(comparison, texts=tuple(compared))
                self.screen.comparison = comparison

    def failed(self, sentence: str) -> None:
        self.screen.comparison = replace(
            self.screen.comparison, running=False, progress="", subject=sentence
        )
        if not self._automatic:
            super().failed(sentence)
