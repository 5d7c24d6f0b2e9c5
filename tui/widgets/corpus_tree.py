"""CorpusTree: the texts to learn from, in groups, files and folders, each with a mark if it is chosen.

Labels are drawn here instead of by Textual's guides, so that marks and sizes are aligned.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Final

from rich.style import Style
from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.reactive import var
from textual.widgets import Tree

from bpe_core.visible import visible
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.disk.sources import (
    N_FAMOUS,
    computer_sources,
    file_source,
    listing,
    own_folders,
    preset_sources,
    sample_sources,
    title_of,
)
from tui.state import EDITORS_TEXT, Corpus, TextSource
from tui.terminal.background import in_thread
from tui.widgets.corpus_labels import RowFacts, heading_label, text_label
from tui.widgets.corpus_marks import marks_of, n_marked, toggled
from tui.widgets.source_tree import Node, SourceTree, source_of

_ENDINGS: Final = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow")
"""The endings of files whose rows have fields."""


class CorpusTree(HasCommands, SourceTree):
    """Files, large texts of this computer, and samples, the best-known presets first.

    A heading or a remark is a source without a path.
    """

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Corpus")

    hint: var[str] = var("", bindings=True)
    """The purpose of the row under the cursor."""
    corpus: var[Corpus] = var(Corpus(), init=False)
    weights: var[Mapping[str, str]] = var[Mapping[str, str]]({}, init=False)
    """Path -> how often the text counts, if not once."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: dict[str, str] = {}
        """Path -> its mark. A path may be listed several times, or not at all."""
        self._n_added = 0
        """The texts listed above the folders."""
        self._listed: set[Node] = set()
        """The folders whose files are listed or are being listed."""

    def on_mount(self) -> None:
        self._files = self._add_group(
            "Files",
            own_folders(),
            "Your own texts, files or whole folders; ^p adds any other by its path.",
        )
        large = computer_sources()
        if large:
            self._add_group(
                "This computer", large, "Large real texts found on this computer."
            )
        presets = preset_sources()
        famous = presets[:N_FAMOUS]
        others = presets[N_FAMOUS:]
        self._samples = self._add_group(
            "Samples",
            [*famous, *sample_sources(), *others],
            "Classic examples (Enter runs one) and sample texts. Space chooses all the texts.",
        )
        # The lines of the tree are known only after the next layout.
        self.call_after_refresh(self._go_to_sample)

    def _go_to_sample(self) -> None:
        """Put the cursor on the first sample, to fill the preview. Don't scroll: the height may not be known."""
        self.cursor_line = self._sample(sample_sources()[0].path).line

    def show_sample(self, path: str) -> None:
        """Move the cursor to a sample and scroll to it."""
        self._samples.expand()
        # The lines of the tree are known only after the next layout.
        self.call_after_refresh(self.move_cursor, self._sample(path))

    def _sample(self, path: str) -> Node:
        return next(
            node for node in self._samples.children if source_of(node).path == path
        )

    def _add_group(
        self, title: str, sources: Iterable[TextSource], reason: str
    ) -> Node:
        group = self.root.add(title, TextSource("", title, reason), expand=True)
        for source in sources:
            # Only the user's own folders can be opened.
            can_open = source.is_folder and title == "Files"
            group.add(source.title, source, allow_expand=can_open)
        return group

    def _add_source(
        self, parent: Node, source: TextSource, *, before: int | None = None
    ) -> Node:
        return parent.add(
            source.title, source, before=before, allow_expand=source.is_folder
        )

    # Marks

    def watch_corpus(self, corpus: Corpus) -> None:
        self._marks = marks_of(corpus.paths, corpus.reference)
        listed = {source_of(node).path for node in self.all_nodes()}
        nodes = []
        for path in self._marks:
            name = Path(path).name
            if path not in listed and name != EDITORS_TEXT:
                source = TextSource(path, visible(name or path), visible(path))
                nodes.append(
                    self._add_source(self._files, source, before=self._n_added)
                )
                self._n_added += 1
        if nodes:
            self._files.expand()
            self._look_at(nodes)
        # A mark does not change the width of a label, so drawing again is enough.
        self._invalidate()
        self.refresh_bindings()

    @work
    async def _look_at(self, nodes: list[Node]) -> None:
        """Read from the disk whether new paths are folders, and their sizes."""
        paths = [source_of(node).path for node in nodes]
        sources = await in_thread(lambda: [file_source(path) for path in paths])
        for node, source in zip(nodes, sources, strict=True):
            node.data = source
            node.allow_expand = source.is_folder
        self._invalidate()

    def _n_chosen_in(self, node: Node) -> int:
        """Count the marked texts in a folder or under a heading, listed or not."""
        source = source_of(node)
        if source.path:
            return n_marked(self._marks, (), [source.path])
        children = {source_of(child).path for child in node.children}
        return n_marked(self._marks, children, children)

    # Keys

    @property
    def is_text(self) -> bool:
        return bool(self.entry.path) and not self.entry.is_folder

    @property
    def has_fields(self) -> bool:
        """Whether the row under the cursor is a text whose rows have fields."""
        path = self.entry.path.casefold()
        return self.is_text and any(ending in path for ending in _ENDINGS)

    @property
    def on_group(self) -> bool:
        return self.cursor_node is not None and self.cursor_node.allow_expand

    @property
    def has_others(self) -> bool:
        """Whether other texts are chosen than those under the cursor."""
        here = self.markable
        return bool(here and set(self.corpus.paths) - set(here))

    @property
    def is_chosen(self) -> bool:
        return self._marks.get(self.entry.path) == "corpus"

    @property
    def markable(self) -> list[str]:
        """The path under the cursor; on a heading, the paths of its texts. Presets run instead of being chosen."""
        node = self.cursor_node
        if node is None:
            return []
        nodes = [node] if source_of(node).path else node.children
        sources = [source_of(node) for node in nodes]
        return [source.path for source in sources if source.path and not source.preset]

    def action_mark(self, mark: str) -> None:
        """Add or remove a mark of the texts under the cursor."""
        self._choose(toggled(self._marks, self.markable, mark))

    def _choose(self, marks: Mapping[str, str]) -> None:
        chosen = tuple(path for path, mark in marks.items() if mark == "corpus")
        reference = tuple(path for path, mark in marks.items() if mark == "reference")
        corpus = Corpus(chosen, reference, title_of(chosen))
        features_of(self).corpus.choose(corpus)

    def action_only(self) -> None:
        self._choose(marks_of(self.markable, self.corpus.reference))

    def action_weigh(self) -> None:
        corpus = features_of(self).corpus
        in_background(self, corpus.weigh(self.entry.path, self.entry.title))

    def action_choose_field(self) -> None:
        if self.is_text and not self.entry.preset:
            in_background(self, features_of(self).corpus.choose_field(self.entry.path))

    watch_weights = Tree._invalidate

    def action_run_preset(self, stepping: bool) -> None:
        features = features_of(self)
        if stepping:
            in_background(self, features.goals.step_preset(self.entry.preset))
        else:
            features.training.run_preset(self.entry.preset)

    def action_edit(self) -> None:
        features_of(self).texts.open(self.entry)

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[TextSource]) -> None:
        self.hint = source_of(event.node).reason

    def on_tree_node_selected(self, event: Tree.NodeSelected[TextSource]) -> None:
        # Enter or a click chooses a file or runs a preset. A folder was opened or closed already.
        event.stop()
        if source_of(event.node).preset:
            self.action_run_preset(False)
        elif not event.node.allow_expand:
            self.action_mark("corpus")

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[TextSource]) -> None:
        # List the files of a folder when it is opened for the first time.
        event.stop()
        if source_of(event.node).is_folder and event.node not in self._listed:
            self._listed.add(event.node)
            self._list(event.node)

    @work
    async def _list(self, node: Node) -> None:
        """Read a folder in a thread and add its files. The most, a thousand rows, take 35 ms to add."""
        try:
            sources, remark = await in_thread(listing, Path(source_of(node).path))
        except OSError as error:
            sources = ()
            remark = f"cannot be listed: {error.strerror}"
        for source in sources:
            self._add_source(node, source)
        if remark:
            reason = "^p adds any file or folder by its path; the folder can be chosen as a whole."
            node.add_leaf(remark, TextSource("", remark, reason))

    # Drawing

    def render_label(self, node: Node, base_style: Style, style: Style) -> Text:
        source = source_of(node)
        arrow = ""
        if node.allow_expand:
            arrow = "▾" if node.is_expanded else "▸"
        facts = RowFacts(
            n_chosen=self._n_chosen_in(node),
            mark=self._marks.get(source.path, ""),
            weight=self.weights.get(source.path, ""),
            arrow=arrow,
        )
        width = self.room_of(node)
        if not source.path:
            return heading_label(source, facts, width, style)
        color = self.get_component_rich_style("tree--highlight").color
        accent = style + Style(bold=True, color=color)
        return text_label(source, facts, width, style, accent)
