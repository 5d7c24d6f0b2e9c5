"""The corpus pane: the texts to train on, their size and a preview; and the list of tokenizers."""

import asyncio
from collections.abc import Mapping
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
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from bpe_core.corpus import find_files
from bpe_core.errors import BpeError
from bpe_core.visible import shortened, visible
from bpe_core.worker.messages import Counted
from tui.commands.command import features_of
from tui.disk.sources import first_characters, first_pieces
from tui.drawing.token_labels import colored_pieces
from tui.state import Corpus, KnownTokenizer, TextSource, Totals, TrainingOptions
from tui.widgets.corpus_labels import size_label
from tui.widgets.corpus_tree import CorpusTree
from tui.widgets.pane import Pane
from tui.widgets.tokenizer_lists import NONE, TokenizerList
from tui.widgets.tokenizer_names import sentences

_PREVIEWED_CHARACTERS: Final = 600
_SECONDS_BEFORE_NOTICE: Final = 0.2
"""If splitting takes longer, the preview says that it is running."""
_MOST_REASONS: Final = 2
"""The number of skipped files whose reasons are shown."""
_MOST_SHARES: Final = 4
"""The number of lines with shares of the corpus."""
_NO_CORPUS: Final = (
    "Space chooses a text, F6 trains on it; r marks a reference for the audit."
)
_NO_PREVIEW: Final = (
    "No text among the first entries of this folder; ^p adds any file by its path."
)


class CorpusPane(Pane):
    """The texts, and next to them or below: the tokenizers, the size of the corpus and the preview."""

    corpus: var[Corpus] = var(Corpus())
    totals: var[Totals | None] = var[Totals | None](None)
    options: var[TrainingOptions] = var(TrainingOptions())
    """The options of the next training; the preview uses their split pattern."""
    kept: var[tuple[KnownTokenizer, ...]] = var(())
    path: var[str] = var("")
    """The file of the tokenizer in use; "" while it is being trained."""

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
        # A slow pattern keeps only this thread busy.
        self._preview_thread = ThreadPoolExecutor(1, "preview")
        self.app.theme_changed_signal.subscribe(self, self._recolor_preview)

    def on_unmount(self) -> None:
        self._preview_thread.shutdown(wait=False, cancel_futures=True)

    def _recolor_preview(self, theme: Theme) -> None:
        self.call_after_refresh(self._show_preview)

    def parts(self) -> tuple[Widget, ...]:
        return self.texts, self.tokenizers

    # The corpus

    def watch_corpus(self, corpus: Corpus) -> None:
        self.texts.corpus = corpus
        self.watch_totals()

    def watch_options(self, old: TrainingOptions, options: TrainingOptions) -> None:
        self.texts.weights = options.weights
        if old.pattern != options.pattern:
            self._show_preview()

    def watch_totals(self) -> None:
        title = "Chosen"
        pieces = Text()
        if self.corpus.paths:
            title = f"Chosen  {self.corpus.title}"
            if self.totals and self.totals.counted:
                counted = self.totals.counted
                pieces = _numbers(
                    {"pieces": counted.pieces, "different": counted.unique}
                )
        self.query_one("#chosen-heading", Label).update(title, layout=False)
        self.query_one("#totals", Static).update(_totals(self.totals, self.corpus))
        self.query_one("#pieces", Static).update(pieces)

    # The tokenizers

    def watch_kept(self) -> None:
        self.tokenizers.show(self.kept, self.path)

    watch_path = watch_kept

    @on(OptionList.OptionSelected, "#kept")
    def use_tokenizer(self, event: OptionList.OptionSelected) -> None:
        if event.option_id:
            features_of(self).tokenizers.use(Path(event.option_id))

    # The preview

    @on(CorpusTree.NodeHighlighted)
    def preview_text(self) -> None:
        self._show_preview()

    @on(DescendantFocus)
    @on(OptionList.OptionHighlighted, "#kept")
    def preview(self) -> None:
        if self.has_focus_within:
            self._show_preview()

    def beginning(self) -> str:
        """Return the beginning of the text under the cursor, or else of the first chosen one; "" for none.

        Call this in a thread. Raise `TextError`.
        """
        source = self.texts.entry
        if source.path and not source.is_folder and not source.preset:
            return first_characters(source.path, _PREVIEWED_CHARACTERS)
        if self.corpus.paths:
            return first_characters(self.corpus.paths[0], _PREVIEWED_CHARACTERS)
        return ""

    @work(exclusive=True, group="preview")
    async def _show_preview(self) -> None:
        """Describe the tokenizer under the cursor, or show how the text under the cursor is split."""
        if not self.query("#preview"):
            return  # the pane is being removed, its widgets first
        tokenizer = self.tokenizers.pointed
        if self.tokenizers.has_focus and tokenizer is not None:
            self._set_preview_heading(f"About  {visible(tokenizer.name)}")
            self._set_preview("\n".join(sentences(tokenizer)))
            return
        source = self.texts.entry
        if source.path:
            self._set_preview_heading(f"Pieces  {source.title}")
            await self._show_pieces(source)
        else:
            self._set_preview_heading(source.title)
            self._set_preview(source.reason)

    async def _show_pieces(self, source: TextSource) -> None:
        """Show the pieces of the beginning of a text; in the heading, also the column that it is in."""
        base = self.query_one("#preview").rich_style
        loop = asyncio.get_running_loop()
        splitting = loop.run_in_executor(
            self._preview_thread,
            first_pieces,
            source,
            _PREVIEWED_CHARACTERS,
            self.options.pattern,
        )
        try:
            await asyncio.wait([splitting], timeout=_SECONDS_BEFORE_NOTICE)
            if not splitting.done():
                self._set_preview("splitting …")
            pieces = await splitting
            is_file = bool(source.size)  # a folder or a preset has no size
            if is_file:
                found = await loop.run_in_executor(
                    self._preview_thread, find_files, source.path
                )
                file = found.files[0]
                if file.field:  # a table, whose rows have their texts in this column
                    self._set_preview_heading(f"Pieces  {file.source_name}")
            self._set_preview(colored_pieces(pieces, base, self.app) or _NO_PREVIEW)
        except BpeError as error:
            self._set_preview(visible(str(error)))
        finally:
            # The cursor may be on another row by now: don't begin to split this one.
            splitting.cancel()

    # These two do not lay out the screen again, since the cursor may pass many rows. When the pane
    # is removed, its widgets go first, so a preview can come too late for them.

    def _set_preview_heading(self, heading: str) -> None:
        for label in self.query("#preview-heading").results(Label):
            label.update(heading, layout=False)

    def _set_preview(self, content: str | Text) -> None:
        for preview in self.query("#preview").results(Static):
            preview.update(content, layout=False)


def _totals(totals: Totals | None, corpus: Corpus) -> Text:
    """Return the size of the chosen texts, one number per line."""
    if not corpus.paths:
        return Text(_NO_CORPUS, style="dim")
    if totals is None:
        return Text("counting …", style="dim")
    counted = totals.counted
    if counted is None:
        return Text(visible(totals.error))
    lines = _numbers(
        {
            "documents": counted.documents,
            "bytes": counted.bytes,
            "characters": counted.characters,
        }
    )
    lines.append_text(_shares(counted))
    if totals.skipped:
        lines.append("\n").append_text(_numbers({"left out": len(totals.skipped)}))
    for skipped in totals.skipped[:_MOST_REASONS]:
        name = shortened(visible(skipped.path.name), 26)
        reason = visible(shortened(skipped.reason, 60))
        lines.append(f"\n{name}: {reason}", "dim")
    return lines


def _shares(counted: Counted) -> Text:
    """Return a line for each of the largest texts: its bytes, and its weighted share of all."""
    lines = Text()
    if len(counted.sources) < 2:
        return lines
    weight_of_all = sum(weight for _, _, weight in counted.sources)
    shown = list(counted.sources)
    if len(shown) > _MOST_SHARES:
        others = shown[_MOST_SHARES - 1 :]
        n_bytes = sum(size for _, size, _ in others)
        weight_of_others = sum(weight for _, _, weight in others)
        shown[_MOST_SHARES - 1 :] = [(f"{len(others)} more", n_bytes, weight_of_others)]
    for name, n_bytes, weight in shown:
        short_name = shortened(visible(name), 12)
        share = float(weight / weight_of_all)
        lines.append(f"\n{set_cell_size(short_name, 12)}", "dim")
        lines.append(f"{size_label(n_bytes):>7} {share:>6.1%}")
    return lines


def _numbers(rows: Mapping[str, int]) -> Text:
    """Return a line for each name and its number."""
    lines = [
        Text.assemble((f"{name:<11}", "dim"), f"{number:>15,}")
        for name, number in rows.items()
    ]
    return Text("\n").join(lines)
