"""Restyle and redraw only the widgets that a change concerns.

If the classes of a screen change, Textual restyles all its widgets, and if the focus moves, all widgets
of two panes. That takes a tenth of a second. The style sheet shows beforehand which widgets have a rule
with this class, or with the focus.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Self

from textual._compositor import ChopsUpdate, Compositor
from textual.css.model import Selector, SelectorType
from textual.dom import DOMNode
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget


class RestylingScreen(Screen[None]):
    """A screen on which few widgets depend on its classes. Change them only with `update_classes`."""

    def update_classes(
        self, classes: Mapping[str, bool], update: bool = True, animate: bool = True
    ) -> Self:
        """Add and remove classes together, and restyle the widgets that depend on them."""
        classes_before = self.classes
        super().update_classes(classes, update=False)
        changed = classes_before ^ self.classes

        def is_changed_class(part: Selector) -> bool:
            return part.type is SelectorType.CLASS and part.name in changed

        if update and changed:
            self._restyle(is_changed_class)
        return self

    def _update_focus_styles(
        self, focused: Widget | None = None, blurred: Widget | None = None
    ) -> None:
        self._restyle(_depends_on_focus)

    def _restyle(self, is_changed: Callable[[Selector], bool]) -> None:
        """Restyle the widgets that match the end of a selector with a changed part."""
        sheet = self.app.stylesheet
        names = {
            _name_in_css(selectors.selectors[-1])
            for rule in sheet.rules
            for selectors in rule.selector_set
            if any(is_changed(part) for part in selectors.selectors)
        }
        nodes = [
            node
            for node in self.walk_children(with_self=True)
            if not names.isdisjoint(_names_of(node))
        ]
        sheet.update_nodes(nodes, animate=True)


def _depends_on_focus(part: Selector) -> bool:
    return "focus-within" in part.pseudo_classes


def _name_in_css(part: Selector) -> str:
    """Return the name of a selector's part, such as "Pane", ".dim" or "#log"."""
    if part.type is SelectorType.CLASS:
        return f".{part.name}"
    if part.type is SelectorType.ID:
        return f"#{part.name}"
    return part.name


def _names_of(node: DOMNode) -> set[str]:
    """Return the names by which the style sheet can select a node or a part that it draws."""
    component_classes = {f".{name}" for name in node._get_component_classes()}
    return node._selector_names | component_classes


class SelectiveCompositor(Compositor):
    """A compositor whose partial updates render only the changed rows."""

    _changed: Set[Region] = frozenset()
    """The regions of the current partial update; empty at other times."""

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = frozenset(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = frozenset()

    def _get_renders(
        self, crop: Region | None = None
    ) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if self._changed:
            return self._get_changed()
        return super()._get_renders(crop)

    def _get_changed(self) -> Iterator[tuple[Region, Region, list[Strip]]]:
        """Yield the region, the changed rows and their lines of each widget that a changed region shows.

        A widget hides the widgets under it in the changed regions that it fills.
        """
        changed = self._changed
        # From front to back:
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip)
            parts = [part for part in map(shown.intersection, changed) if part]
            if not parts:
                continue
            changed = changed - set(parts)
            top = min(part.y for part in parts)
            bottom = max(part.bottom for part in parts)
            # Render full rows: the compositor joins lines from parts cut at the borders of widgets.
            rows = Region(shown.x, top, shown.width, bottom - top)
            lines = widget.render_lines(rows.translate((-region.x, -region.y)))
            yield region, rows, lines
            if not changed:
                return
