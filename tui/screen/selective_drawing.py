"""SelectiveCompositor: where parts of a screen have changed, only the lines that hold them are asked for.

Textual asks every widget in the rectangle around all changed parts for all of its lines; on a screen of many panes, of
which a few cells change in each corner, that is nearly everything, and most of what a frame costs.
"""

from collections.abc import Iterable, Iterator, Set

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip


class SelectiveCompositor(Compositor):
    """A compositor whose partial updates cost what has changed."""

    _changed: Set[Region] = frozenset()
    """What the partial update that is being made is about; nothing while none is."""

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = frozenset(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = frozenset()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        return self._get_changed() if self._changed else super()._get_renders(crop)

    def _get_changed(self) -> Iterator[tuple[Region, Region, list[Strip]]]:
        """Of each widget that is seen in a changed region: its region, the rows around what is, and their lines.

        What is behind a widget that fills all of a changed region is not seen there.
        """
        changed = self._changed
        for widget, (region, clip) in self.visible_widgets.items():  # from front to back
            seen = region.intersection(clip)
            met = [part for part in map(seen.intersection, changed) if part]
            if met:
                changed = changed - set(met)
                top, bottom = min(part.y for part in met), max(part.bottom for part in met)
                # In its whole width: lines are put together from parts that are cut where widgets begin and end.
                rows = Region(seen.x, top, seen.width, bottom - top)
                yield region, rows, widget.render_lines(rows.translate((-region.x, -region.y)))
                if not changed:
                    return
