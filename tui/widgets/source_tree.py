"""SourceTree: a tree of texts that is drawn without Textual's guides and has the keys of lists."""

from collections.abc import Iterator

from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tui.state import TextSource

Node = TreeNode[TextSource]


class SourceTree(Tree[TextSource]):
    """Groups, folders and files. The root is not shown."""

    def __init__(self) -> None:
        super().__init__("texts", TextSource("", "texts"))
        self.show_root = False
        self.show_guides = False
        self.guide_depth = 2
        self._was_seen = False

    def on_resize(self) -> None:
        if not self._was_seen and self.size.height:
            self._was_seen = True
            self.call_after_refresh(self._scroll_to_cursor)

    def _scroll_to_cursor(self) -> None:
        self.scroll_to_line(self.cursor_line, animate=False)

    @property
    def entry(self) -> TextSource:
        """The text or folder under the cursor."""
        return source_of(self.cursor_node) if self.cursor_node else TextSource("", "")

    def all_nodes(self) -> Iterator[Node]:
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def action_go_in(self) -> None:
        """Open the group or folder under the cursor; if it is open, go to its first row."""
        node = self.cursor_node
        if node is None or not node.allow_expand:
            return
        if node.is_expanded and node.children:
            self.move_cursor(node.children[0])
        else:
            node.expand()

    def action_go_out(self) -> None:
        """Close the group or folder under the cursor; if it is closed, go to the one that it is in."""
        node = self.cursor_node
        if node is None:
            return
        if node.allow_expand and node.is_expanded:
            node.collapse()
        elif node.parent is not None and not node.parent.is_root:
            self.move_cursor(node.parent)

    def get_label_width(self, node: Node) -> int:
        # Rows fill the width of the tree, so none of them needs to be measured.
        return 1

    def room_of(self, node: Node) -> int:
        """Return the cells of a label, which is indented by its depth."""
        width = self.scrollable_content_region.width
        above = node.parent
        while above is not None and not above.is_root:
            width -= self.guide_depth
            above = above.parent
        return max(12, width)


def source_of(node: Node) -> TextSource:
    return node.data or TextSource("", str(node.label))
