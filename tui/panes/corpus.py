"""The corpus pane: the texts to learn from, how large they are, how the pattern splits them; the kept tokenizers."""

import asyncio
from pathlib import Path
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import var
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from bpe_core.errors import BpeError
from bpe_core.visible import visible
from tui.messages import CorpusChosen, PresetChosen, TextWanted, TokenizerChosen, TokenizerDiscarded
from tui.sources import TextSource, beginning, title_of
from tui.state import Corpus, Kept, Totals
from tui.text.palette import Look, make_palette
from tui.widgets.corpus_tree import CorpusTree, Mark
from tui.widgets.pane import Pane

PREVIEWED = 600
"""Characters of a text that the preview splits."""


class CorpusPane(Pane):
    """Texts above, kept tokenizers in the middle, totals and preview below."""

    corpus: var[Corpus] = var(Corpus())
    totals: var[Totals | None] = var[Totals | None](None)
    pattern: var[str] = var("gpt4")
    kept: var[tuple[Kept, ...]] = var(())
    path: var[str] = var("")
    """Path of the kept tokenizer in force; empty while one is being trained."""

    def compose(self) -> ComposeResult:
        """Texts, and what is to be said of them: below, or beside where there is no room below."""
        yield CorpusTree()
        with Vertical(id="about-corpus"):
            yield Label("Tokenizers", classes="heading")
            yield TokenizerList(id="kept")
            yield Label("Chosen", classes="heading")
            yield Static(id="totals", markup=False)
            yield Label("Preview", classes="heading", id="preview-heading", markup=False)
            yield Static(id="preview", markup=False)

    def land(self) -> None:
        """Take the focus: to the texts."""
        self.screen.set_focus(self.query_one(CorpusTree))

    def choose(self, paths: tuple[str, ...]) -> None:
        """Choose these texts, adding to the list those that are not in it."""
        self.query_one(CorpusTree).choose(paths)

    def watch_corpus(self, corpus: Corpus) -> None:
        """The screen may set a choice itself, as at the start."""
        tree = self.query_one(CorpusTree)
        wanted: dict[Mark, tuple[str, ...]] = {"corpus": corpus.paths, "reference": corpus.reference}
        for mark, paths in wanted.items():
            if set(tree.marked(mark)) != set(paths):
                tree.choose(paths, mark)

    @on(CorpusTree.Marked)
    def tell_choice(self, event: CorpusTree.Marked) -> None:
        """The marks have changed: tell the screen."""
        event.stop()
        tree = self.query_one(CorpusTree)
        paths = tree.marked("corpus")
        self.post_message(CorpusChosen(Corpus(paths, tree.marked("reference"), title_of(paths))))

    @on(CorpusTree.PresetChosen)
    def tell_preset(self, event: CorpusTree.PresetChosen) -> None:
        """A preset is not added to the corpus: it is run, with its own options."""
        event.stop()
        self.post_message(PresetChosen(event.name))

    @on(CorpusTree.Wanted)
    def tell_text(self, event: CorpusTree.Wanted) -> None:
        """A text should be opened in the editor."""
        event.stop()
        self.post_message(TextWanted(event.source))

    @on(CorpusTree.Pointed)
    def preview(self, event: CorpusTree.Pointed) -> None:
        """Show the text under the cursor."""
        event.stop()
        self._source = event.source
        self._show_preview()

    _source: TextSource | None = None

    def watch_pattern(self) -> None:
        """Another pattern splits the preview in other places."""
        self._show_preview()

    def watch_totals(self, totals: Totals | None) -> None:
        """Sizes as a small table, numbers at the right."""
        self.query_one("#totals", Static).update(totals_table(totals, self.corpus))

    def watch_kept(self, kept: tuple[Kept, ...]) -> None:
        """List the kept tokenizers."""
        self.query_one(TokenizerList).show(kept, self.path)

    def watch_path(self) -> None:
        """Mark the one in force."""
        self.query_one(TokenizerList).show(self.kept, self.path)

    @on(OptionList.OptionSelected, "#kept")
    def choose_tokenizer(self, event: OptionList.OptionSelected) -> None:
        """Enter on a kept tokenizer puts it in force."""
        event.stop()
        if event.option_id:
            self.post_message(TokenizerChosen(Path(event.option_id)))

    @work(exclusive=True, group="preview")
    async def _show_preview(self) -> None:
        source, pattern = self._source, self.pattern
        heading, body = self.query_one("#preview-heading", Label), self.query_one("#preview", Static)
        reason = "" if source is None else source.reason
        # Neither changes its size, and the screen is not laid out again for each row that the cursor passes.
        heading.update("Preview" if source is None else f"Preview  {source.title}", layout=False)
        body.tooltip = Content(reason)  # a path may hold brackets, which are no markup
        if source is None or source.is_folder:
            body.update(reason, layout=False)
            return
        try:
            text = await asyncio.to_thread(beginning, source, PREVIEWED)
            body.update(self._split(text, pattern, body.rich_style), layout=False)
        except BpeError as error:
            body.update(visible(str(error)), layout=False)

    def _split(self, text: str, pattern: str, base: Style) -> Text:
        from bpe_core.patterns import splitter

        look = Look(
            base,
            *(Style(reverse=True), Style(reverse=True)),
            variables=self.app.theme_variables,
            ansi=self.app.native_ansi_color,
            colorless=self.app.no_color,
        )
        styles = [ways.usual for ways in make_palette(look).tokens]
        split = Text(no_wrap=False, end="")
        for number, piece in enumerate(splitter(pattern).split(text)):
            shown = visible(piece.replace("\n", "↵").replace("\t", "⇥")).replace("↵", "↵\n")
            split.append(shown, styles[number % len(styles)])
        return split


class TokenizerList(OptionList):
    """The kept tokenizers: Enter puts one in force, Delete discards it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "Use", tooltip="Put this tokenizer in force"),
        Binding("delete", "discard", "Discard", tooltip="Delete this tokenizer's file"),
    ]

    def show(self, kept: tuple[Kept, ...], in_force: str) -> None:
        """List `kept`, the one in force marked."""
        place = self.highlighted
        self.clear_options()
        width = max(16, self.scrollable_content_region.width or 26)
        for tokenizer in kept:
            sign = "● " if tokenizer.path == in_force else "  "
            size = f"{tokenizer.n_vocab:,}" if tokenizer.n_vocab else ""
            name = visible(tokenizer.name)
            room = width - len(size) - 3
            name = name if len(name) <= room else name[: room - 1] + "…"
            self.add_option(Option(Text(f"{sign}{name:<{room}} {size}", no_wrap=True), id=tokenizer.path))
        if kept:
            self.highlighted = min(place or 0, len(kept) - 1)

    def action_discard(self) -> None:
        """Ask the screen to delete the tokenizer under the cursor."""
        if self.highlighted is not None and (path := self.get_option_at_index(self.highlighted).id):
            self.post_message(TokenizerDiscarded(Path(path)))


def totals_table(totals: Totals | None, corpus: Corpus) -> Text:
    """What the chosen texts amount to, one number a line."""
    if not corpus.paths:
        return Text("Space chooses a text, r marks\na reference for the audit.", style="dim")
    if totals is None:
        return Text("counting …", style="dim")
    if totals.error:
        return Text(visible(totals.error))
    rows = (
        ("documents", totals.documents),
        ("bytes", totals.bytes),
        ("characters", totals.characters),
        ("pieces", totals.pieces),
        ("different", totals.unique),
    )
    table = Text("\n").join(Text.assemble((f"{name:<11}", "dim"), f"{number:>15,}") for name, number in rows)
    if totals.skipped:
        table.append(f"\n{'left out':<11}{totals.skipped:>15,}", "dim")
    return table
