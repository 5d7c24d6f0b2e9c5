"""The tree of texts: groups, files and folders, each with the mark that says what it was chosen for."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Literal

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tui.sources import TextSource, computer_sources, file_source, folder_sources, preset_sources, sample_sources
from tui.widgets.columns import fit

Mark = Literal["", "corpus", "reference"]

_SIGNS: Final[dict[Mark, str]] = {"": " ", "corpus": "✓", "reference": "≠"}


@dataclass(slots=True)
class Entry:
    """One row of the tree."""

    title: str
    source: TextSource | None = None
    """None for a heading."""
    mark: Mark = field(default="")


class CorpusTree(Tree[Entry]):
    """Samples, this computer, files: space chooses a text, r marks it as a reference, e opens it in the editor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark('corpus')", "Choose", tooltip="Train on this text, or no longer"),
        Binding("e", "edit", "Edit", tooltip="Open this text in the editor"),
        Binding("r", "mark('reference')", "Reference", tooltip="Compare with this text in the audit, or no longer"),
    ]

    class Marked(Message):
        """A text was chosen, marked as reference, or neither any more."""

    class PresetChosen(Message):
        """A preset should be run."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Wanted(Message):
        """A text should be opened in the editor."""

        def __init__(self, source: TextSource) -> None:
            super().__init__()
            self.source = source

    class Pointed(Message):
        """The cursor is on another row."""

        def __init__(self, source: TextSource | None) -> None:
            super().__init__()
            self.source = source

    def __init__(self) -> None:
        super().__init__("texts", Entry("texts"))
        self.show_root = False
        self.show_guides = False
        self.guide_depth = 2
        self._files: TreeNode[Entry]

    def on_mount(self) -> None:
        """Plant the three groups; a folder is listed only once it is opened."""
        self._files = self.root.add("Files", Entry("Files"), expand=True)
        self._add_folder(self._files, file_source(Path.cwd(), f"{Path.cwd().name or '/'} (here)"))
        if (home := Path.home()) != Path.cwd():
            self._add_folder(self._files, file_source(home, f"{home.name} (home)"))
        self._add_group("This computer", computer_sources())
        self._add_group("Presets", preset_sources(), expand=False)
        samples = self._add_group("Samples", sample_sources())
        # The first sample under the cursor, so that the preview has something to show.
        self.call_after_refresh(self._point_at, samples.children[0])

    _was_seen = False

    def _point_at(self, node: TreeNode[Entry]) -> None:
        self.cursor_line = node.line  # and no scrolling: how high the tree is may not be known yet

    def on_resize(self) -> None:
        """When it is first seen, the row under the cursor is."""
        if not self._was_seen and self.size.height:
            self._was_seen = True
            self.call_after_refresh(lambda: self.scroll_to_line(self.cursor_line, animate=False))

    def marked(self, mark: Mark) -> tuple[str, ...]:
        """Paths that carry this mark, from top to bottom."""
        return tuple(e.source.path for e in map(_entry, self._all_nodes()) if e.source and e.mark == mark)

    def choose(self, paths: tuple[str, ...], mark: Mark = "corpus") -> None:
        """Give these paths this mark and take it from all others; a path not yet listed is added to the files."""
        found: dict[str, Entry] = {}
        for node in self._all_nodes():
            entry = _entry(node)
            if entry.source:
                found[entry.source.path] = entry
                if entry.mark == mark:
                    entry.mark = ""
        for path in paths:
            if path in found:
                found[path].mark = mark
            else:
                self.add_path(Path(path)).mark = mark
        self._marks_changed()

    def add_path(self, path: Path) -> Entry:
        """List a file or a folder under Files, at its top, unless it is there."""
        source = file_source(path)
        for node in self._files.children:
            entry = _entry(node)
            if entry.source and entry.source.path == source.path:
                return entry
        entry = Entry(source.title, source)
        self._files.add(source.title, entry, before=0, allow_expand=source.is_folder)
        self._files.expand()
        return entry

    def action_mark(self, mark: Mark) -> None:
        """Give or take the mark of the row under the cursor; on a heading, of all its texts."""
        node = self.cursor_node
        if node is None:
            return
        if (source := _entry(node).source) and source.preset:
            self.post_message(self.PresetChosen(source.preset))
            return
        entries = [_entry(node)] if source else [_entry(child) for child in node.children]
        entries = [entry for entry in entries if entry.source and not entry.source.preset]
        new: Mark = "" if all(entry.mark == mark for entry in entries) else mark
        for entry in entries:
            entry.mark = new
        self._marks_changed()

    def action_edit(self) -> None:
        """Open the text under the cursor in the editor; a folder is none."""
        source = _entry(self.cursor_node).source if self.cursor_node else None
        if source is not None and not source.is_folder:
            self.post_message(self.Wanted(source))

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Entry]) -> None:
        """Say which text the cursor is on."""
        event.stop()
        self.post_message(self.Pointed(_entry(event.node).source))

    def on_tree_node_selected(self, event: Tree.NodeSelected[Entry]) -> None:
        """Enter, or a click: choose a file; a folder has just been opened or closed."""
        event.stop()
        if not event.node.allow_expand:
            self.action_mark("corpus")

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry]) -> None:
        """List a folder when it is opened for the first time."""
        event.stop()
        source = _entry(event.node).source
        if source is None or not source.is_folder or event.node.children:
            return
        try:
            for child in folder_sources(Path(source.path)):
                self._add_folder(event.node, child)
        except OSError as error:
            event.node.add_leaf(f"cannot be listed: {error.strerror}", Entry(f"cannot be listed: {error.strerror}"))

    def render_label(self, node: TreeNode[Entry], base_style: Style, style: Style) -> Text:
        """Mark, title, and at the right edge the size."""
        entry = _entry(node)
        depth = 0
        parent = node.parent
        while parent is not None and not parent.is_root:
            depth, parent = depth + 1, parent.parent
        width = max(12, self.scrollable_content_region.width - self.guide_depth * depth)
        if entry.source is None:
            sign = "▾ " if node.is_expanded else "▸ " if node.allow_expand else "  "
            return Text(fit(sign + entry.title, width), style=style + Style(bold=True), no_wrap=True, end="")
        size = "" if entry.source.size is None else size_label(entry.source.size)
        if entry.source.is_folder and node.allow_expand:
            size = "▾" if node.is_expanded else "▸"
        title = fit(entry.title, max(4, width - 3 - cell_len(size)))
        accent = Style(bold=True, color=self.get_component_rich_style("tree--highlight").color)
        label = Text(no_wrap=True, end="")
        label.append(_SIGNS[entry.mark] + " ", style + accent if entry.mark else style)
        label.append(title, style + accent if entry.mark else style)
        label.append(" " + size, style + Style(dim=True))
        return label

    def _add_group(self, title: str, sources: list[TextSource], *, expand: bool = True) -> TreeNode[Entry]:
        group = self.root.add(title, Entry(title), expand=expand)
        for source in sources:
            group.add_leaf(source.title, Entry(source.title, source))
        return group

    def _add_folder(self, parent: TreeNode[Entry], source: TextSource) -> None:
        parent.add(source.title, Entry(source.title, source), allow_expand=source.is_folder)

    def _marks_changed(self) -> None:
        # A label's width never changes with its mark, so drawing again is enough.
        self._invalidate()
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
