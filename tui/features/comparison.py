"""Comparison: compares tokenizers on the corpus or the editor's text, and measures the one on the screen."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core import save
from bpe_core.metrics.comparison import ComparedText
from bpe_core.metrics.sampled import SampledText
from bpe_core.report import ReportTable, Section, as_csv, as_latex, as_markdown
from bpe_core.visible import counted, shortened, visible
from bpe_core.worker.compare import ComparedTexts, CompareRequest, ComparisonFound
from bpe_core.worker.messages import Done, Failed, Stop, WorkProgress
from tui.disk.config import write_file
from tui.disk.locked import ScratchFolder
from tui.drawing.charts import LETTERS
from tui.features.feature import NO_TEXT, Feature, StateScreen
from tui.features.texts import Texts
from tui.process import WorkerProcess
from tui.state import (
    EDITORS_TEXT,
    IN_EDITOR,
    SECTIONS,
    ComparisonRun,
    KnownTokenizer,
    steps_known,
)
from tui.table.columns import Cell
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
_WIDE: Final = 1000
"""Cells for a column in an exported file, so that no name is cut."""


class ComparisonFeature(Feature):
    """Replaces the screen's `comparison`."""

    _worker: WorkerProcess | None = None
    _automatic: tuple[str, int] | None = None
    """The tokenizer and edit of a comparison that started by itself; None for one the user started."""

    def __init__(self, screen: StateScreen, texts: Texts) -> None:
        super().__init__(screen)
        self._texts = texts

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
            self._start(known, IN_EDITOR, half)
            self._automatic = subject

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
    ) -> None:
        """Compare tokenizers on `CHOSEN_TEXTS`, `SECTIONS` or `IN_EDITOR`.

        With `half`, also compare the first tokenizer after that many of its merges.
        """
        self._worker = None
        self._automatic = None
        screen = self.screen
        names = distinct_names(screen.kept)
        tokenizers = []
        for tokenizer in known:
            name = names.get(tokenizer.path, tokenizer.name)
            pattern = screen.pattern_for(Path(tokenizer.path)) or ""
            if pattern:
                name = f"{name} ({shortened(pattern, _LONGEST_PATTERN)})"
            tokenizers.append(replace(tokenizer, name=name, pattern=pattern))
        if half:
            tokenizers.append(replace(tokenizers[0], name=f"step {half:,}"))
        in_editor = texts_from == IN_EDITOR
        was_in_editor = screen.comparison.texts_from == IN_EDITOR
        if in_editor != was_in_editor:
            screen.compare_pane.table.choice = "metrics" if in_editor else "texts"
        names_of_tokenizers = tokenizers[0].name
        if len(tokenizers) > 1:
            names_of_tokenizers = " · ".join(
                f"{letter} {tokenizer.name}"
                for letter, tokenizer in zip(LETTERS, tokenizers, strict=False)
            )
        name_of_texts = EDITORS_TEXT if in_editor else screen.corpus.title
        # First remove the tables of the comparison before.
        screen.comparison = ComparisonRun()
        screen.comparison = ComparisonRun(
            running=True,
            progress="starting",
            subject=f"{names_of_tokenizers} on {name_of_texts}",
            texts_from=texts_from,
            tokenizers=tuple(tokenizers),
        )
        if in_editor:
            text = screen.editor.area.text
            self.begin(partial(self._run_on_text, text, half))
        else:
            by_section = texts_from == SECTIONS
            self.begin(partial(self._run, screen.corpus.paths, by_section))

    async def export(self) -> None:
        """Save the current view with its rows in their current order, without the plots."""
        pane = self.screen.compare_pane
        title = self.screen.comparison.subject
        table = pane.table
        view = table.view
        order = tuple(table.order)
        if not view.key:
            self.screen.say(
                "Nothing to export yet: compare tokenizers first.", "warning"
            )
            return
        if not pane.display:
            self.screen.action_show("compare")
        columns = [column for column in view.columns if column.key != "plot"]
        forms: dict[str, Callable[[list[Section]], str]] = {
            ".csv": as_csv,
            ".md": partial(as_markdown, title),
            ".tex": as_latex,
        }

        def write(path: Path) -> None:
            rows = []
            for row in order:
                cells = [column.cell(table, row) for column in columns]
                rows.append([_text_of(cell) for cell in cells])
            headings = [column.heading for column in columns]
            numbers = [index for index, column in enumerate(columns) if column.right]
            shown = ReportTable(headings, rows, numbers)
            section = Section(view.title, [view.caption], shown)
            text = forms[path.suffix]([section])
            write_file(path, [text.encode()])

        question = f"Save the comparison to which file? {', '.join(forms)}"
        await self._texts.save(question, write, "", tuple(forms))

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.send(Stop())
        else:
            self.cancel()
            self.screen.comparison = replace(
                self.screen.comparison, running=False, progress=""
            )

    async def _run_on_text(self, text: str, half: int) -> None:
        with ScratchFolder() as folder:
            path = await in_thread(folder.write, EDITORS_TEXT, text)
            tokenizer = self.screen.tokenizer
            if half and tokenizer:
                half_path = path.with_name("half.json")
                await in_thread(lambda: save(tokenizer.at(half), half_path))
                comparison = self.screen.comparison
                whole, part = comparison.tokenizers
                part = replace(part, path=str(half_path))
                self.screen.comparison = replace(comparison, tokenizers=(whole, part))
            await self._run((str(path),), False)

    async def _run(self, paths: tuple[str, ...], by_section: bool) -> None:
        """Compare in a worker process, and publish each batch of results."""
        comparison = self.screen.comparison
        tokenizers = tuple(
            (tokenizer.path, tokenizer.pattern) for tokenizer in comparison.tokenizers
        )
        request = CompareRequest(
            tokenizers, paths, by_section, _DISAGREEMENTS, _WORST_LINES, _SAMPLED
        )
        compared: list[ComparedText] = []
        async with WorkerProcess(request) as worker:
            self._worker = worker
            async for events in worker.batches():
                for event in events:
                    match event:
                        case WorkProgress(activity, done, total, name):
                            unit = "tokens"
                            if activity == "comparing":
                                unit = "boundaries"
                            share = f" {done / total:.0%}" if total else ""
                            progress = f"{unit}{share} · {visible(name)}"
                            comparison = replace(comparison, progress=progress)
                        case ComparedTexts(first, texts):
                            compared[first : first + len(texts)] = texts
                        case SampledText(index):
                            samples = {**comparison.samples, index: event}
                            comparison = replace(comparison, samples=samples)
                        case ComparisonFound(found):
                            comparison = replace(comparison, found=found)
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


def _text_of(cell: str | Cell) -> str:
    """Return the text of a cell, not cut to a width."""
    text = cell if isinstance(cell, str) else cell.text
    if not isinstance(text, str):
        text = text(_WIDE)
    return text.strip()
