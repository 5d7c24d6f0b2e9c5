"""SelectiveCompositor: where parts of a screen have changed, only the lines that hold them are asked for.

Textual asks every widget in the rectangle around all changed parts for all of its lines; on a screen of many panes, of
which a few cells change in each corner, that is nearly everything, and most of what a frame costs. And it draws all
that has changed at once; while somebody types that is done in portions, between which keys are heard.
"""

from collections.abc import Iterable, Iterator, Set
from typing import Final

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip

PORTION: Final = 10
"""Lines of changed regions that are drawn at once while somebody types: some 5 to 10 ms of work."""
OVERRIDDEN = {"render_partial_update": ("self",), "_get_renders": ("self", "crop")}
"""The methods of `Compositor` that are overridden, with the parameters they count on."""


class SelectiveCompositor(Compositor):
    """A compositor whose partial updates cost what has changed."""

    first: Region | None = None
    """Where somebody types: what has changed there is drawn first, all else in portions. None: all is drawn at once."""
    _changed: Set[Region] = frozenset()
    """What the partial update that is being made is about; nothing while none is."""

    @property
    def is_behind(self) -> bool:
        """Whether something has changed that is not drawn yet."""
        return bool(self._dirty_regions)

    def render_partial_update(self) -> ChopsUpdate | None:
        """What is to be written for the regions that have changed, or for a portion of them."""
        changed, later = self._portion(self.first) if self.first else (self._dirty_regions, set[Region]())
        self._changed, self._dirty_regions = frozenset(changed), changed
        try:
            return super().render_partial_update()
        finally:
            self._changed, self._dirty_regions = frozenset(), later

    def _portion(self, first: Region) -> tuple[set[Region], set[Region]]:
        """What is drawn now, and what is later, of the regions that have changed."""
        now, later, room = set[Region](), set[Region](), PORTION
        for region in sorted(self._dirty_regions, key=lambda region: (not region.overlaps(first), region.y, region.x)):
            upper, lower = region.split_horizontal(min(room, region.height))
            room -= upper.height
            now |= {upper} if upper else set()
            later |= {lower} if lower else set()
        return now, later

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
