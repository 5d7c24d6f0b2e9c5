"""RestylingScreen: where its own classes or the focus change, only those widgets are styled anew that this can concern.

Textual styles every widget of a screen whose classes changed, and every widget of a part of it that the focus comes to
or leaves: a tenth of a second. A style sheet tells beforehand which of them a class or the focus means anything to.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Self

from textual._compositor import ChopsUpdate, Compositor
from textual.css.model import Selector, SelectorType
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget


class RestylingScreen(Screen[None]):
    """A screen of many widgets, of which few depend on its classes. Change these by `update_classes` only."""

    def update_classes(
        self, classes: Mapping[str, bool], update: bool = True, animate: bool = True
    ) -> Self:
        """Set and unset classes, all at once, and style anew what they mean something to."""
        before = self.classes
        super().update_classes(classes, update=False)
        if update and (changed := before ^ self.classes):
            self._restyle(
                lambda part: part.type is SelectorType.CLASS and part.name in changed
            )
        return self

    def _update_focus_styles(
        self, focused: Widget | None = None, blurred: Widget | None = None
    ) -> None:
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
                or not names.isdisjoint(
                    f".{name}" for name in node._get_component_classes()
                )
            ],
            animate=True,
        )


class SelectiveCompositor(Compositor):
    """A compositor whose partial updates cost what has changed."""

    _changed: Set[Region] = (
        frozenset()
    )  # what the partial update that is being made is about; nothing while none is

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = frozenset(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = frozenset()

    def _get_renders(
        self, crop: Region | None = None
    ) -> Iterable[tuple[Region, Region, list[Strip]]]:
        return self._get_changed() if self._changed else super()._get_renders(crop)

    def _get_changed(self) -> Iterator[tuple[Region, Region, list[Strip]]]:
        """Of each widget that is seen in a changed region: its region, the rows around what is, and their lines.

        What is behind a widget that fills all of a changed region is not seen there.
        """
        changed = self._changed
        for widget, (
            region,
            clip,
        ) in self.visible_widgets.items():  # from front to back
            seen = region.intersection(clip)
            met = [part for part in map(seen.intersection, changed) if part]
            if met:
                changed = changed - set(met)
                top, bottom = (
                    min(part.y for part in met),
                    max(part.bottom for part in met),
                )
                # In its whole width: lines are put together from parts that are cut where widgets begin and end.
                rows = Region(seen.x, top, seen.width, bottom - top)
                yield (
                    region,
                    rows,
                    widget.render_lines(rows.translate((-region.x, -region.y))),
                )
                if not changed:
                    return
