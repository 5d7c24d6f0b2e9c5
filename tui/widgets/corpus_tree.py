"""The tree of texts: groups, files and folders, each with the mark that says what it was chosen for.

Drawn by its own labels and not by Textual's guides, so that marks and sizes stand below each other.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.reactive import var
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from bpe_core.visible import visible
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.disk.sources import (
    computer_sources,
    file_source,
    listing,
    preset_sources,
    sample_sources,
    title_of,
)
from tui.drawing.lines import fit
from tui.state import EDITORS_TEXT, Corpus, TextSource
from tui.terminal.background import in_thread

_ENDINGS: Final = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow")
"""Of files whose rows have fields."""
_SIGNS: Final = {"": " ", "corpus": "✓", "reference": "≠"}
Node = TreeNode[TextSource]


def size_label(size: float) -> str:
    """A size in bytes in at most six cells.

    >>> size_label(999), size_label(12_345), size_label(24_100_000)
    ('999 B', '12 kB', '24 MB')
    """
    if size < 1000:
        return f"{size} B"
    size, unit = next(
        (size / n, unit)
        for n, unit in ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"))
        if size < 999.5 * n or unit == "GB"
    )
    return f"{size:.1f} {unit}" if size < 9.95 else f"{size:.0f} {unit}"


class CorpusTree(HasCommands, Tree[TextSource]):
    """Files, this computer, presets, samples: what each row is for is told by the keys that do something there.

    A heading or a remark is a source without a path.
    """

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Corpus")

    hint: var[str] = var("", bindings=True)  # what the row under the cursor is good for
    corpus: var[Corpus] = var(Corpus(), init=False)
    weights: var[Mapping[str, str]] = var[Mapping[str, str]](
        {}, init=False
    )  # path -> how often it counts, if not once

    def __init__(self) -> None:
        super().__init__("texts", TextSource("", "texts"))
        self.show_root = False
        self.show_guides = False
        self.guide_depth = 2
        self._was_seen = False
        self._marks: dict[
            str, str
        ] = {}  # path -> its mark, wherever in the tree it is listed, and however often
        self._n_added = 0  # texts listed above the folders
        self._listed: set[Node] = set()  # folders that are listed, or are just being

    def on_mount(self) -> None:
        here, home = Path.cwd(), Path.home()
        titles = {home: f"{home.name} (home)", here: f"{here.name or '/'} (here)"}
        named = (
            (str(path), visible(title)) for path, title in reversed(titles.items())
        )
        folders = [
            TextSource(path, title, visible(path), is_folder=True)
            for path, title in named
        ]
        reason = (
            "Your own texts, files or whole folders; ^p adds any other by its path."
        )
        self._files = self._add_group("Files", folders, reason)
        if large := computer_sources():
            self._add_group(
                "This computer",
                large,
                "Large real texts that this computer holds already.",
            )
        reason = (
            "Founding examples of the field, each with the result that must come out."
        )
        self._add_group("Presets", preset_sources(), reason, expand=False)
        reason = "Texts written for this app, each to show something. Space chooses all of them."
        samples = self._add_group("Samples", sample_sources(), reason)
        # The first sample under the cursor, so that the preview has something to show; and no scrolling: how high the
        # tree is may not be known yet.
        self.call_after_refresh(
            lambda: setattr(self, "cursor_line", samples.children[0].line)
        )

    def on_resize(self) -> None:
        if not self._was_seen and self.size.height:
            self._was_seen = True
            self.call_after_refresh(
                lambda: self.scroll_to_line(self.cursor_line, animate=False)
            )

    def _add_group(
        self,
        title: str,
        sources: Iterable[TextSource],
        reason: str,
        *,
        expand: bool = True,
    ) -> Node:
        group = self.root.add(title, TextSource("", title, reason), expand=expand)
        for source in sources:  # only a folder of the user's own is looked into
            group.add(
                source.title, source, allow_expand=source.is_folder and title == "Files"
            )
        return group

    def _add_source(
        self, parent: Node, source: TextSource, *, before: int | None = None
    ) -> Node:
        return parent.add(
            source.title, source, before=before, allow_expand=source.is_folder
        )

    # Marks

    def watch_corpus(self, corpus: Corpus) -> None:
        self._marks = dict.fromkeys(corpus.reference, "reference") | dict.fromkeys(
            corpus.paths, "corpus"
        )
        listed = {_source(node).path for node in self._all_nodes()}
        new = (
            path
            for path in self._marks
            if path not in listed and Path(path).name != EDITORS_TEXT
        )
        named = [
            TextSource(path, visible(Path(path).name or path), visible(path))
            for path in new
        ]
        nodes = [
            self._add_source(self._files, source, before=at)
            for at, source in enumerate(named, self._n_added)
        ]
        self._n_added += len(nodes)
        if nodes:
            self._files.expand()
            self._look_at(nodes)
        self._invalidate()  # a label's width never changes with its mark, so drawing again is enough
        self.refresh_bindings()

    @work
    async def _look_at(self, nodes: list[Node]) -> None:
        """Show what new files are, once the disk has told."""
        sources = await in_thread(
            lambda: [file_source(_source(node).path) for node in nodes]
        )
        for node, source in zip(nodes, sources, strict=True):
            node.data, node.allow_expand = source, source.is_folder
        self._invalidate()

    def _all_nodes(self) -> Iterator[Node]:
        waiting = [self.root]
        while waiting:
            yield (node := waiting.pop())
            waiting.extend(reversed(node.children))

    def _chosen_in(self, node: Node) -> int:
        """How many texts in a folder or under a heading are marked, listed or not."""
        source = _source(node)
        own = set() if source.path else {_source(child).path for child in node.children}
        folders = tuple(
            os.path.join(folder, "") for folder in own or [source.path] if folder
        )
        return sum(path in own or path.startswith(folders) for path in self._marks)

    # What the keys do

    @property
    def entry(self) -> TextSource:
        return _source(self.cursor_node) if self.cursor_node else TextSource("", "")

    @property
    def is_text(self) -> bool:
        return bool(self.entry.path) and not self.entry.is_folder

    @property
    def has_fields(self) -> bool:
        """Whether it is a text whose rows have fields."""
        path = self.entry.path.casefold()
        return self.is_text and any(ending in path for ending in _ENDINGS)

    @property
    def on_group(self) -> bool:
        return self.cursor_node is not None and self.cursor_node.allow_expand

    @property
    def has_others(self) -> bool:
        """Whether texts are chosen that are not under the cursor."""
        marked = self.markable
        return bool(marked and set(self.corpus.paths) - set(marked))

    @property
    def is_chosen(self) -> bool:
        return self._marks.get(self.entry.path) == "corpus"

    @property
    def markable(self) -> list[str]:
        """The path of the row under the cursor, or on a heading those of all its texts; a preset is run, not chosen."""
        node = self.cursor_node
        nodes = [] if node is None else [node] if _source(node).path else node.children
        return [
            _source(node).path
            for node in nodes
            if _source(node).path and not _source(node).preset
        ]

    def action_mark(self, mark: str) -> None:
        """Give or take the mark of the row under the cursor; on a heading, of all its texts."""
        paths = self.markable
        marks = {
            path: now
            for path, now in self._marks.items()
            if path not in paths or now == mark
        }
        if all(marks.get(path) == mark for path in paths):
            for path in paths:
                del marks[path]
        else:
            marks |= dict.fromkeys(paths, mark)
        self._choose(marks)

    def _choose(self, marks: Mapping[str, str]) -> None:
        chosen, reference = (
            tuple(path for path in marks if marks[path] == one) for one in _SIGNS if one
        )
        corpus = Corpus(chosen, reference, title_of(chosen))
        features_of(self).corpus.choose(corpus)

    def action_only(self) -> None:
        self._choose(
            dict.fromkeys(self.corpus.reference, "reference")
            | dict.fromkeys(self.markable, "corpus")
        )

    def action_weigh(self) -> None:
        corpus = features_of(self).corpus
        in_background(self, corpus.weigh(self.entry.path, self.entry.title))

    def action_choose_field(self) -> None:
        if self.is_text and not self.entry.preset:
            in_background(self, features_of(self).corpus.choose_field(self.entry.path))

    watch_weights = Tree._invalidate

    def action_run_preset(self, stepping: bool) -> None:
        training = features_of(self).training
        in_background(self, training.run_preset(self.entry.preset, stepping))

    def action_edit(self) -> None:
        features_of(self).texts.open(self.entry)

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[TextSource]) -> None:
        self.hint = _source(event.node).reason

    def on_tree_node_selected(self, event: Tree.NodeSelected[TextSource]) -> None:
        # Enter, or a click: choose a file, run a preset; a folder has just been opened or closed.
        event.stop()
        if _source(event.node).preset:
            self.action_run_preset(False)
        elif not event.node.allow_expand:
            self.action_mark("corpus")

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[TextSource]) -> None:
        # List a folder when it is opened for the first time.
        event.stop()
        if _source(event.node).is_folder and event.node not in self._listed:
            self._listed.add(event.node)
            self._list(event.node)

    @work
    async def _list(self, node: Node) -> None:
        """Read a folder beside the screen, and add what it holds: a thousand rows, which are the most, in 35 ms."""
        try:
            sources, remark = await in_thread(listing, Path(_source(node).path))
        except OSError as error:
            sources, remark = (), f"cannot be listed: {error.strerror}"
        for source in sources:
            self._add_source(node, source)
        if remark:
            reason = "^p adds any file or folder by its path; the folder can be chosen as a whole."
            node.add_leaf(remark, TextSource("", remark, reason))

    # Drawing

    def get_label_width(self, node: Node) -> int:
        # Rows fill the width there is and ask for no more, so none of them needs to be measured.
        return 1

    def render_label(self, node: Node, base_style: Style, style: Style) -> Text:
        source, is_open, depth, above = (
            _source(node),
            node.is_expanded and node.allow_expand,
            0,
            node.parent,
        )
        while above is not None and not above.is_root:
            depth, above = depth + 1, above.parent
        width = max(12, self.scrollable_content_region.width - self.guide_depth * depth)
        n_chosen = self._chosen_in(node)
        right = f"{n_chosen:,} ✓" if n_chosen else ""
        sign = "▾" if is_open else "▸" if node.allow_expand else " "
        if not source.path:
            style += Style(bold=True) if node.allow_expand else Style(dim=True)
            return Text(
                fit(f"{sign} {source.title}", width - len(right)) + right,
                style=style,
                no_wrap=True,
                end="",
            )
        mark = self._marks.get(source.path, "")
        if node.allow_expand:
            right = f"{right} {sign}"
        elif source.size is not None:
            right = size_label(source.size)
        if mark == "corpus" and (weight := self.weights.get(source.path)):
            right = f"×{weight} {right}"
        accent = style + Style(
            bold=True, color=self.get_component_rich_style("tree--highlight").color
        )
        label = Text(no_wrap=True, end="")
        title = fit(source.title, max(4, width - 3 - cell_len(right)))
        label.append(f"{_SIGNS[mark]} {title}", accent if mark else style)
        return label.append(
            f" {right}", accent if n_chosen else style + Style(dim=True)
        )


def _source(node: Node) -> TextSource:
    return node.data or TextSource("", str(node.label))
