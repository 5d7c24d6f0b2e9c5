"""The tree of texts: groups, files and folders, each with the mark that says what it was chosen for.

Drawn by its own labels and not by Textual's guides, so that marks and sizes stand below each other.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tui.commands import applies, bindings
from tui.disk.sources import Listing, computer_sources, file_source, listing, preset_sources, sample_sources
from tui.drawing.cells import fit
from tui.state import TextSource, requests
from tui.terminal.background import in_thread

_SIGNS: Final = {"": " ", "corpus": "✓", "reference": "≠"}


def heading_label(title: str, *, is_open: bool | None, right: str, width: int, style: Style) -> Text:
    """The name of a group with a sign for whether it `is_open`; None: it does not open, and is a remark."""
    sign = "  " if is_open is None else "▾ " if is_open else "▸ "
    style += Style(dim=True) if is_open is None else Style(bold=True)
    return Text(fit(sign + title, width - len(right)) + right, style=style, no_wrap=True, end="")


def source_label(title: str, *, mark: str, right: str, is_lit: bool, width: int, style: Style, accent: Style) -> Text:
    """Mark ("", "corpus" or "reference"), title, and `right`, dim unless it `is_lit`, at the right edge."""
    label = Text(no_wrap=True, end="")
    label.append(_SIGNS[mark] + " ", style + accent if mark else style)
    label.append(fit(title, max(4, width - 3 - cell_len(right))), style + accent if mark else style)
    label.append(" " + right, style + (accent if is_lit else Style(dim=True)))
    return label


def size_label(size: int) -> str:
    """A size in bytes in at most six cells.

    >>> size_label(999), size_label(12_345), size_label(24_100_000)
    ('999 B', '12 kB', '24 MB')
    """
    if size < 1000:
        return f"{size} B"
    for unit in ("kB", "MB"):
        size_in_unit = size / 1000
        if size_in_unit < 999.5:
            return f"{size_in_unit:.1f} {unit}" if size_in_unit < 9.95 else f"{size_in_unit:.0f} {unit}"
        size = round(size_in_unit)
    return f"{size / 1000:.1f} GB"


Mark = Literal["corpus", "reference"]

_SLICE: Final = 100
"""Rows that are added to the tree at one go, before keys and drawing have their turn."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the tree."""

    title: str
    source: TextSource | None = None
    """None for a heading, or a remark."""
    reason: str = ""
    """What a heading stands for."""

    @property
    def preset(self) -> str:
        """The name of the preset it is, if it is one."""
        return self.source.preset if self.source else ""

    @property
    def is_text(self) -> bool:
        """Whether it can be opened in the editor."""
        return self.source is not None and not self.source.is_folder


class CorpusTree(Tree[Entry]):
    """Files, this computer, presets, samples: what each row is for is told by the keys that do something there."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Corpus")

    hint: var[str] = var("", bindings=True)
    """What the row under the cursor is good for."""
    weights: var[Mapping[str, str]] = var[Mapping[str, str]]({}, init=False)
    """Path -> how many times its texts count, where that is not once."""

    class Marked(Message):
        """A text was chosen, marked as reference, or neither any more."""

    class Pointed(Message):
        def __init__(self, source: TextSource | None) -> None:
            super().__init__()
            self.source = source

    def __init__(self) -> None:
        super().__init__("texts", Entry("texts"))
        self.show_root = False
        self.show_guides = False
        self.guide_depth = 2
        self._files: TreeNode[Entry]
        self._marks: dict[str, Mark] = {}
        """Path -> its mark, wherever in the tree it is listed, and however often."""
        self._listed: set[TreeNode[Entry]] = set()
        """Folders that are listed, or are just being."""

    def on_mount(self) -> None:
        reason = "Your own texts, files or whole folders; ^p adds any other by its path."
        self._files = self.root.add("Files", Entry("Files", reason=reason), expand=True)
        self._add_source(self._files, file_source(Path.cwd(), f"{Path.cwd().name or '/'} (here)"))
        if (home := Path.home()) != Path.cwd():
            self._add_source(self._files, file_source(home, f"{home.name} (home)"))
        if large := computer_sources():
            self._add_group("This computer", large, "Large real texts that this computer holds already.")
        reason = "The founding examples: texts, options, and what must come out. Open, run one."
        self._add_group("Presets", preset_sources(), reason, expand=False)
        reason = "Texts written for this app, each to show something. Space chooses all of them."
        samples = self._add_group("Samples", sample_sources(), reason)
        # The first sample under the cursor, so that the preview has something to show.
        self.call_after_refresh(self._point_at, samples.children[0])

    _was_seen = False

    def _point_at(self, node: TreeNode[Entry]) -> None:
        self.cursor_line = node.line  # and no scrolling: how high the tree is may not be known yet

    def on_resize(self) -> None:
        if not self._was_seen and self.size.height:
            self._was_seen = True
            self.call_after_refresh(lambda: self.scroll_to_line(self.cursor_line, animate=False))

    # Marks

    def marked(self, mark: Mark) -> tuple[str, ...]:
        """Paths that carry this mark, from top to bottom."""
        paths = dict.fromkeys(map(_path, self._all_nodes()))
        return tuple(path for path in paths if self._marks.get(path) == mark)

    def choose(self, paths: tuple[str, ...], mark: Mark = "corpus") -> None:
        """Give these paths this mark and take it from all others; a path not yet listed is added to the files."""
        listed = set(map(_path, self._all_nodes()))
        self._marks = {path: other for path, other in self._marks.items() if other != mark}
        for path in map(Path, dict.fromkeys(paths)):  # a command line may name one twice
            if str(path) not in listed:
                self._add_source(self._files, file_source(path), before=0)
                self._files.expand()
            self._marks[str(path)] = mark
        self._marks_changed()

    def _chosen_in(self, node: TreeNode[Entry]) -> int:
        """How many texts in a folder or under a heading are marked, listed or not."""
        source = _entry(node).source
        if source is None:
            return sum(self._chosen_in(child) + (_path(child) in self._marks) for child in node.children)
        return sum(path.startswith(os.path.join(source.path, "")) for path in self._marks) if source.is_folder else 0

    # What the keys do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # Only what can be done with the row under the cursor.
        return applies("Corpus", self, action)

    @property
    def entry(self) -> Entry:
        return _entry(self.cursor_node) if self.cursor_node else Entry("")

    @property
    def markable(self) -> list[str]:
        """The path of the row under the cursor, or on a heading those of all its texts; a preset is run, not chosen."""
        node = self.cursor_node
        nodes = [] if node is None else [node] if _entry(node).source else node.children
        return [_path(node) for node in nodes if _path(node) and not _entry(node).preset]

    def action_mark(self, mark: Mark) -> None:
        """Give or take the mark of the row under the cursor; on a heading, of all its texts."""
        paths = self.markable
        if all(self._marks.get(path) == mark for path in paths):
            for path in paths:
                del self._marks[path]
        else:
            self._marks |= dict.fromkeys(paths, mark)
        self._marks_changed()

    @property
    def is_chosen(self) -> bool:
        """Whether the row under the cursor is a text, or a folder, to train on."""
        return self.entry.source is not None and self._marks.get(self.entry.source.path) == "corpus"

    def action_weigh(self) -> None:
        """Say how much the text, or the folder, under the cursor counts."""
        if self.is_chosen and self.entry.source is not None:
            requests(self).weigh(self.entry.source.path, self.entry.title)

    def watch_weights(self) -> None:
        self._invalidate()

    def action_run_preset(self, stepping: bool) -> None:
        """Run the preset under the cursor, to its end or one merge at a time."""
        if self.entry.preset:
            requests(self).run_preset(self.entry.preset, stepping)

    def action_open(self) -> None:
        """Open or close the folder, or the group, under the cursor."""
        self.action_select_cursor()

    def action_edit(self) -> None:
        """Open the text under the cursor in the editor; a folder is none."""
        if self.entry.is_text and self.entry.source is not None:
            requests(self).open_text(self.entry.source)

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Entry]) -> None:
        event.stop()
        entry = _entry(event.node)
        self.hint = entry.source.reason if entry.source else entry.reason
        self.post_message(self.Pointed(entry.source))

    def on_tree_node_selected(self, event: Tree.NodeSelected[Entry]) -> None:
        # Enter, or a click: choose a file, run a preset; a folder has just been opened or closed.
        event.stop()
        if _entry(event.node).preset:
            self.action_run_preset(False)
        elif not event.node.allow_expand:
            self.action_mark("corpus")

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry]) -> None:
        # List a folder when it is opened for the first time.
        event.stop()
        node = event.node
        source = _entry(node).source
        if source is not None and source.is_folder and node not in self._listed:
            self._listed.add(node)
            self._list(node, Path(source.path))

    @work
    async def _list(self, node: TreeNode[Entry], path: Path) -> None:
        """Read a folder beside the screen, and add what it holds in slices."""
        try:
            found = await in_thread(listing, path)
        except OSError as error:
            found = Listing((), 0, f"cannot be listed: {error.strerror}")
        for start in range(0, len(found.sources), _SLICE):
            for source in found.sources[start : start + _SLICE]:
                self._add_source(node, source)
            await asyncio.sleep(0)
        if found.remark:
            reason = "^p adds any file or folder by its path; the folder can be chosen as a whole."
            node.add_leaf(found.remark, Entry(found.remark, reason=reason))

    def get_label_width(self, node: TreeNode[Entry]) -> int:
        # Rows fill the width there is and ask for no more, so none of them needs to be measured.
        return 1

    def render_label(self, node: TreeNode[Entry], base_style: Style, style: Style) -> Text:
        entry = _entry(node)
        source, is_open = entry.source, node.is_expanded if node.allow_expand else None
        width = max(12, self.scrollable_content_region.width - self.guide_depth * _depth(node))
        n_chosen = 0 if is_open else self._chosen_in(node)
        right = f"{n_chosen:,} ✓" if n_chosen else ""
        if source is None:
            return heading_label(entry.title, is_open=is_open, right=right, width=width, style=style)
        mark = self._marks.get(source.path, "")
        if is_open is not None:
            right = f"{right} {'▾' if is_open else '▸'}"
        elif source.size is not None:
            right = size_label(source.size)
        if mark == "corpus" and (weight := self.weights.get(source.path)):
            right = f"×{weight} {right}"
        accent = Style(bold=True, color=self.get_component_rich_style("tree--highlight").color)
        return source_label(
            entry.title, mark=mark, right=right, is_lit=n_chosen > 0, width=width, style=style, accent=accent
        )

    def _add_group(self, title: str, sources: list[TextSource], reason: str, *, expand: bool = True) -> TreeNode[Entry]:
        group = self.root.add(title, Entry(title, reason=reason), expand=expand)
        for source in sources:
            group.add_leaf(source.title, Entry(source.title, source))
        return group

    def _add_source(self, parent: TreeNode[Entry], source: TextSource, *, before: int | None = None) -> None:
        parent.add(source.title, Entry(source.title, source), before=before, allow_expand=source.is_folder)

    def _marks_changed(self) -> None:
        # A label's width never changes with its mark, so drawing again is enough.
        self._invalidate()
        self.refresh_bindings()
        self.post_message(self.Marked())

    def _all_nodes(self) -> list[TreeNode[Entry]]:
        nodes, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            nodes.append(node)
            waiting.extend(reversed(node.children))
        return nodes


def _entry(node: TreeNode[Entry]) -> Entry:
    return node.data or Entry(str(node.label))


def _path(node: TreeNode[Entry]) -> str:
    source = _entry(node).source
    return source.path if source else ""


def _depth(node: TreeNode[Entry]) -> int:
    depth, parent = 0, node.parent
    while parent is not None and not parent.is_root:
        depth, parent = depth + 1, parent.parent
    return depth
