"""The corpus pane: the texts to learn from, how large they are, how the pattern splits them; the kept tokenizers."""

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from rich.cells import set_cell_size
from rich.text import Text
from textual import getters, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import DescendantFocus
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from bpe_core.corpus import find_files
from bpe_core.errors import BpeError
from bpe_core.visible import shortened, visible
from bpe_core.weighted import Count
from tui.commands.command import features_of
from tui.disk.sources import first_characters, first_pieces
from tui.drawing.token_labels import colored_pieces
from tui.state import Corpus, KnownTokenizer, Totals, TrainingOptions
from tui.widgets.corpus_tree import CorpusTree, size_label
from tui.widgets.pane import Pane
from tui.widgets.tokenizer_lists import NONE, TokenizerList, sentences

PREVIEWED: Final = 600  # characters of a text that the preview splits
NAMED: Final = 2  # files that are left out whose reasons are said
SHARES: Final = 4  # texts whose part of all is said
SOON: Final = 0.2  # seconds after which one is told that a text is still being split


class CorpusPane(Pane):
    """Texts above, kept tokenizers in the middle, totals and preview below."""

    corpus: var[Corpus] = var(Corpus())
    totals: var[Totals | None] = var[Totals | None](None)
    options: var[TrainingOptions] = var(
        TrainingOptions()
    )  # of the next training; its pattern splits the preview
    kept: var[tuple[KnownTokenizer, ...]] = var(())
    path: var[str] = var(
        ""
    )  # path of the kept tokenizer in force; empty while one is being trained

    texts = getters.query_one(CorpusTree)
    tokenizers = getters.query_one(TokenizerList)

    def compose(self) -> ComposeResult:
        yield CorpusTree()
        with Vertical(id="about-corpus"):
            yield Label("Tokenizers", classes="heading")
            yield TokenizerList(Option(NONE, disabled=True), id="kept")
            yield Label("Chosen", classes="heading", id="chosen-heading", markup=False)
            yield Static(id="totals", markup=False)
            yield Static(id="pieces", markup=False)
            yield Label(
                "Preview", classes="heading", id="preview-heading", markup=False
            )
            yield Static(id="preview", markup=False)

    def on_mount(self) -> None:
        self._beside = ThreadPoolExecutor(
            1, "preview"
        )  # so that a slow pattern keeps one thread busy and no more
        self.app.theme_changed_signal.subscribe(
            self, lambda _: self.call_after_refresh(self._show_preview)
        )

    def on_unmount(self) -> None:
        self._beside.shutdown(wait=False, cancel_futures=True)

    def parts(self) -> tuple[Widget, ...]:
        return self.texts, self.tokenizers

    def watch_corpus(self, corpus: Corpus) -> None:
        self.texts.corpus = corpus
        self.watch_totals()

    @on(CorpusTree.NodeHighlighted)
    def preview(self) -> None:
        self._show_preview()

    def beginning(self) -> str:
        """The beginning of the text under the cursor, or else of those chosen; "" for none. Not for the main thread.

        Raises `TextError`.
        """
        source = self.texts.entry
        paths = (
            (source.path,)
            if source.path and not (source.is_folder or source.preset)
            else self.corpus.paths
        )
        return first_characters(paths[0], PREVIEWED) if paths else ""

    @on(DescendantFocus)
    @on(OptionList.OptionHighlighted, "#kept")
    def look(self) -> None:
        if self.has_focus_within:
            self._show_preview()

    def watch_options(self, old: TrainingOptions, options: TrainingOptions) -> None:
        self.texts.weights = options.weights
        if old.pattern != options.pattern:
            self._show_preview()

    def watch_totals(self) -> None:
        title = f"Chosen  {self.corpus.title}" if self.corpus.paths else "Chosen"
        self.query_one("#chosen-heading", Label).update(title, layout=False)
        self.query_one("#totals", Static).update(totals_table(self.totals, self.corpus))
        known = self.totals.counted if self.corpus.paths and self.totals else None
        pieces = (
            (("pieces", known.pieces), ("different", known.unique)) if known else ()
        )
        self.query_one("#pieces", Static).update(_numbers(pieces))

    def watch_kept(self) -> None:
        self.tokenizers.show(self.kept, self.path)

    watch_path = watch_kept

    @on(OptionList.OptionSelected, "#kept")
    def choose_tokenizer(self, event: OptionList.OptionSelected) -> None:
        if event.option_id:
            features_of(self).tokenizers.use(Path(event.option_id))

    @work(exclusive=True, group="preview")
    async def _show_preview(self) -> None:
        if not self.query("#preview"):  # it goes, and its widgets went first
            return
        source, pattern = self.texts.entry, self.options.pattern
        heading, body = (
            self.query_one("#preview-heading", Label),
            self.query_one("#preview", Static),
        )
        if self.tokenizers.has_focus and (one := self.tokenizers.pointed) is not None:
            heading.update(f"About  {visible(one.name)}", layout=False)
            body.update("\n".join(sentences(one)), layout=False)
            return
        # Neither changes its size, and the screen is not laid out again for each row that the cursor passes.
        heading.update(
            f"Pieces  {source.title}" if source.path else source.title, layout=False
        )
        if not source.path:
            body.update(source.reason, layout=False)
            return
        loop = asyncio.get_running_loop()
        split = loop.run_in_executor(
            self._beside, first_pieces, source, PREVIEWED, pattern
        )
        try:
            await asyncio.wait([split], timeout=SOON)
            if not split.done():
                body.update("splitting …", layout=False)
            pieces = colored_pieces(await split, body.rich_style, self.app)
            if source.size:
                (file,) = (
                    await loop.run_in_executor(self._beside, find_files, source.path)
                ).files
                heading.update(
                    f"Pieces  {file.source_name if file.field else source.title}",
                    layout=False,
                )
            body.update(
                pieces
                or "No text was found in its first entries; ^p adds any file by its path.",
                layout=False,
            )
        except BpeError as error:
            body.update(visible(str(error)), layout=False)
        finally:
            split.cancel()  # if it has not begun, for another row is looked at by now


def totals_table(totals: Totals | None, corpus: Corpus) -> Text:
    """What the chosen texts amount to, one number a line."""
    if not corpus.paths:
        return Text(
            "Space chooses a text, F6 trains on it; r marks a reference for the audit.",
            style="dim",
        )
    if totals is None:
        return Text("counting …", style="dim")
    if (counted := totals.counted) is None:
        return Text(visible(totals.error))
    counts = (
        ("documents", counted.documents),
        ("bytes", counted.bytes),
        ("characters", counted.characters),
    )
    lines = _numbers(counts).append_text(_shares(counted.sources))
    if totals.skipped:
        lines.append("\n").append_text(_numbers((("left out", len(totals.skipped)),)))
    for one in totals.skipped[:NAMED]:
        lines.append(
            f"\n{shortened(visible(one.path.name), 26)}: {visible(shortened(one.reason, 60))}",
            "dim",
        )
    return lines


def _shares(sources: Sequence[tuple[str, int, Count]]) -> Text:
    """Of several texts the largest, a line each: its bytes, and what part of all they are as often as they count."""
    whole, lines, rest = (
        sum(after for *_, after in sources),
        Text(),
        sources[SHARES - 1 :],
    )
    if len(rest) > 1:
        of_rest = (
            f"{len(rest)} more",
            sum(size for _, size, _ in rest),
            sum(after for *_, after in rest),
        )
        sources = (*sources[: SHARES - 1], of_rest)
    for name, before, after in sources if len(sources) > 1 else ():
        lines.append(f"\n{set_cell_size(shortened(visible(name), 12), 12)}", "dim")
        lines.append(f"{size_label(before):>7} {float(after / whole):>6.1%}")
    return lines


def _numbers(rows: Iterable[tuple[str, int]]) -> Text:
    return Text("\n").join(
        Text.assemble((f"{name:<11}", "dim"), f"{number:>15,}") for name, number in rows
    )
