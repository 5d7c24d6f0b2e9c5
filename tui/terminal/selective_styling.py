"""RestylingScreen: where its own classes or the focus change, only those widgets are styled anew that this can concern.

Textual styles every widget of a screen whose classes changed, and every widget of a part of it that the focus comes to
or leaves: a tenth of a second. A style sheet tells beforehand which of them a class or the focus means anything to.
"""

from collections.abc import Callable, Mapping
from typing import Self

from textual.css.model import Selector, SelectorType
from textual.screen import Screen
from textual.widget import Widget


class RestylingScreen(Screen[None]):
    """A screen of many widgets, of which few depend on its classes. Change these by `update_classes` only."""

    def update_classes(self, classes: Mapping[str, bool], update: bool = True, animate: bool = True) -> Self:
        """Set and unset classes, all at once, and style anew what they mean something to."""
        before = self.classes
        super().update_classes(classes, update=False)
        if update and (changed := before ^ self.classes):
            self._restyle(lambda part: part.type is SelectorType.CLASS and part.name in changed)
        return self

    def _update_focus_styles(self, focused: Widget | None = None, blurred: Widget | None = None) -> None:
        self._restyle(lambda part: "focus-within" in part.pseudo_classes)

    def _restyle(self, changed: Callable[[Selector], bool]) -> None:
        """Style anew whatever a selector can be about that has a part for which `changed` holds."""
        sheet = self.app.stylesheet
        names = {
            f"{'.' * (last.type is SelectorType.CLASS)}{'#' * (last.type is SelectorType.ID)}{last.name}"
            for rule in sheet.rules
            for selectors in rule.selector_set
            if any(map(changed, selectors.selectors))
            for last in selectors.selectors[-1:]
        }
        sheet.update_nodes(
            [
                node
                for node in self.walk_children(with_self=True)
                if not names.isdisjoint(node._selector_names)
                or not names.isdisjoint(f".{name}" for name in node._get_component_classes())
            ],
            animate=True,
        )
