"""Comparison: tokenizers compared on the chosen texts or the editor's, and one of them measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core import save
from bpe_core.metrics.comparison import ComparedText
from bpe_core.report import ReportTable, Section, as_csv, as_latex, as_markdown
from bpe_core.visible import counted, visible
from bpe_core.worker.compare import ComparedTexts, CompareRequest, ComparisonFound
from bpe_core.worker.messages import Done, Failed, Stop, WorkProgress
from tui.disk.config import write_file
from tui.disk.locked import ScratchFolder
from tui.features.feature import NO_TEXT, Feature, StateScreen
from tui.features.texts import Texts
from tui.process import WorkerProcess
from tui.state import EDITORS_TEXT, ComparisonRun, KnownTokenizer, steps_known
from tui.table.columns import Cell
from tui.terminal.background import in_thread
from tui.widgets.tokenizer_lists import distinct_names

_NO_TOKENIZER = (
    "No tokenizer is chosen: mark two to four in the compare pane with the space bar."
)
_NOT_SAVED = (
    "There is no tokenizer in force that is in a file: train one (F6), or open one."
)
_EXAMPLES: Final = 200  # disagreements that are listed of each pair
_WIDE: Final = 1000  # cells of a column in a file: names are whole there
_LINES: Final = 100  # lines that are listed of those that are worst for a tokenizer


class ComparisonFeature(Feature):
    """Replaces the screen's `comparison`."""

    _worker: WorkerProcess | None = None
    _unasked: tuple[
        object, ...
    ] = ()  # what the comparison that began by itself is of; empty for one asked for

    def __init__(self, screen: StateScreen, texts: Texts) -> None:
        super().__init__(screen)
        self._texts = texts

    def start(self) -> None:
        """Compare the tokenizer in force on the editor's text, unless that is what is seen, or others were chosen.

        It is compared with another one, the newest of the list; with its own half where there is no other.
        """
        screen, pane = self.screen, self.screen.compare_pane
        tokenizer, now = (
            screen.tokenizer,
            (screen.path, screen.editor.area.document.n_edits),
        )
        known = pane.picker.chosen
        rests = (
            not pane.has_class("-choosing")
            if self._unasked
            else screen.comparison == ComparisonRun()
        )
        if (
            rests
            and now != self._unasked
            and known
            and known[0].path == screen.path
            and not screen.run.busy
        ):
            half = steps_known(tokenizer) // 2 if len(known) == 1 else 0
            self._start(known, half=half)
            self._unasked = now

    def compare(self) -> None:
        """Compare the tokenizers that are marked on the texts that are chosen for it, or stop doing so."""
        screen, pane = self.screen, self.screen.compare_pane
        if screen.comparison.running and not (
            self._unasked and pane.has_class("-choosing")
        ):
            return self._stop()
        screen.active = "compare"
        paths = () if pane.subject == "editor's text" else screen.corpus.paths
        if not pane.picker.chosen:
            screen.say(_NO_TOKENIZER, "warning")
        elif not paths and pane.subject != "editor's text":
            screen.say(f"{NO_TEXT} Or compare on the editor's text.", "warning")
        else:
            self._start(pane.picker.chosen, paths, pane.subject == "their sections")
        if screen.focused is None or pane not in screen.focused.ancestors:
            screen.action_show("compare")

    def measure_text(self) -> None:
        known = [one for one in self.screen.kept if one.path == self.screen.path]
        if not known:
            return self.screen.say(_NOT_SAVED, "warning")
        self._start(known)
        self.screen.compare_pane.table.choice = "metrics"
        self.screen.action_show("compare")

    def _start(
        self,
        known: Sequence[KnownTokenizer],
        paths: tuple[str, ...] = (),
        by_section: bool = False,
        half: int = 0,
    ) -> None:
        """Compare these, and the first after `half` of its merges, on the texts at `paths`, or the editor's text."""
        self._worker, self._unasked = None, ()
        names, pattern_for = distinct_names(self.screen.kept), self.screen.pattern_for
        tokenizers = tuple(
            replace(
                one,
                name=names.get(one.path, one.name),
                pattern=pattern_for(Path(one.path)) or "",
            )
            for one in known
        )
        tokenizers += (replace(tokenizers[0], name=f"step {half:,}"),) if half else ()
        subject = self.screen.corpus.title if paths else EDITORS_TEXT
        if bool(paths) == (
            EDITORS_TEXT in self.screen.comparison.subject
        ):  # else the view that is seen stays
            self.screen.compare_pane.table.choice = "texts" if paths else "metrics"
        called = " · ".join(one.name for one in tokenizers)
        self.screen.comparison = (
            ComparisonRun()
        )  # one that is under way ends, and its tables go
        self.screen.comparison = ComparisonRun(
            True, "starting", f"{called} on {subject}", tokenizers
        )
        run = partial(self._run, paths, by_section)
        self.begin(
            run
            if paths
            else partial(self._run_on_text, self.screen.editor.area.text, half)
        )

    async def export(self) -> None:
        """Write the view that is seen, its rows in their order, without its drawing."""
        pane, title = self.screen.compare_pane, self.screen.comparison.subject
        table, view, order = pane.table, pane.table.view, tuple(pane.table.order)
        if not view.key:
            return self.screen.say("There is no comparison to export yet.", "warning")
        if not pane.display:
            self.screen.action_show("compare")
        columns = [column for column in view.columns if column.key != "plot"]
        forms: Mapping[str, Callable[[Sequence[Section]], str]]
        forms = {".csv": as_csv, ".md": partial(as_markdown, title), ".tex": as_latex}

        def text(cell: str | Cell) -> str:
            drawn = cell if isinstance(cell, str) else cell.text
            return (drawn if isinstance(drawn, str) else drawn(_WIDE)).strip()

        def write(path: Path) -> None:
            rows = [
                [text(column.cell(table, row)) for column in columns] for row in order
            ]
            numbers = [index for index, column in enumerate(columns) if column.right]
            shown = ReportTable([column.heading for column in columns], rows, numbers)
            write_file(
                path,
                [
                    forms[path.suffix](
                        [Section(view.title, [view.caption], shown)]
                    ).encode()
                ],
            )

        await self._texts.save(f"Where to? {', '.join(forms)}", write, "", tuple(forms))

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
            path = folder.path / EDITORS_TEXT
            await in_thread(path.write_bytes, text.encode("utf-8", "replace"))
            if half and (tokenizer := self.screen.tokenizer):
                comparison, part = self.screen.comparison, path.with_name("half.json")
                await in_thread(lambda: save(tokenizer.at(half), part))
                tokenizers = (
                    comparison.tokenizers[0],
                    replace(comparison.tokenizers[1], path=str(part)),
                )
                self.screen.comparison = replace(comparison, tokenizers=tokenizers)
            await self._run((str(path),), False)

    async def _run(self, paths: tuple[str, ...], by_section: bool) -> None:
        comparison = self.screen.comparison
        tokenizers = tuple((one.path, one.pattern) for one in comparison.tokenizers)
        request = CompareRequest(tokenizers, paths, by_section, _EXAMPLES, _LINES)
        compared: list[ComparedText] = []
        async with WorkerProcess(request) as worker:
            self._worker = worker
            async for events in worker.batches():
                for event in events:
                    match event:
                        case WorkProgress(activity, done, total, name):
                            what = "tokens" if activity == "counting" else "boundaries"
                            share = f" {done / total:.0%}" if total else ""
                            comparison = replace(
                                comparison, progress=f"{what}{share} · {visible(name)}"
                            )
                        case ComparedTexts(first, texts):
                            compared[first : first + len(texts)] = texts
                        case ComparisonFound(found):
                            comparison = replace(comparison, found=found)
                        case Done(reason, _, seconds):
                            stopped = (
                                "stopped before the end · "
                                if reason == "stopped"
                                else ""
                            )
                            n = counted(len(compared), "text")
                            subject = (
                                f"{stopped}{comparison.subject} · {n} · {seconds:.1f} s"
                            )
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
        if not self._unasked:
            super().failed(sentence)
