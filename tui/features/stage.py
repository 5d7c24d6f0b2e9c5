"""Stage: the editor's text and its merges alone on the screen. The panes appear around them afterwards."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from tui.features.feature import BUSY, Feature, StateScreen

# Imported when the stage opens, because most starts have none.
if TYPE_CHECKING:
    from tui.widgets.stage_view import StageView

_LEAST_WIDTH: Final = 60
_LEAST_HEIGHT: Final = 16
_PLACES: Final = ("left", "upper", "side")
"""The places of panes that are hidden, in the order in which they appear."""
_SECONDS_PER_PLACE: Final = 0.15


def first_sentence() -> str:
    """Return the first paragraph of the text that the first training learns from."""
    from bpe_core.content.samples import SAMPLES

    _title, paragraph, *_ = SAMPLES[0].path.read_text("utf-8").split("\n\n")
    return paragraph


class Stage(Feature):
    """Replaces the screen's `on_stage`. It hides the panes except the text of the editor, and shows them again."""

    def __init__(self, screen: StateScreen) -> None:
        super().__init__(screen)
        self.hidden_places: frozenset[str] = frozenset()
        """The places whose panes are hidden."""
        self._view: StageView | None = None

    def open(self) -> None:
        """Show the editor's text alone, if the screen has room for it and merges are shown one after the other."""
        if self.screen.on_stage or not (self._has_room and self.screen.pace):
            return
        from tui.widgets.stage_view import StageView

        area = self.screen.editor.area
        area.show_cursor = False
        self._view = StageView(area)
        self.screen.mount(self._view, after="#panes")
        self.screen.add_class("-stage")
        self.screen.on_stage = True
        self._hide(frozenset(_PLACES))

    @property
    def _has_room(self) -> bool:
        width, height = self.screen.app.size
        return width >= _LEAST_WIDTH and height >= _LEAST_HEIGHT

    def resized(self) -> None:
        """Close the stage if the screen has become too small for it."""
        if not self._has_room:
            self.close()

    def call_off(self) -> None:
        """Close the stage of a start that trains nothing. The editor gets its usual greeting."""
        if self.screen.on_stage:
            from bpe_core.content.samples import EDITOR_GREETING

            self.close()
            self.screen.editor.put(EDITOR_GREETING)

    async def replay(self) -> None:
        """Play the merges of the tokenizer on the stage, from the first one."""
        screen = self.screen
        shown = screen.features.shown
        if screen.run.busy:
            screen.say(BUSY, "warning")
            return
        if shown.n_steps:
            await shown.travel_to(0)
            self.open()
        await shown.play()

    def close(self, *, gently: bool = False) -> None:
        """Show the panes at once, or one after the other."""
        if self._view is None:
            if self.hidden_places and not gently:
                self._hide(frozenset())
            return
        self._view.remove()
        self._view = None
        screen = self.screen
        screen.editor.area.show_cursor = True
        screen.remove_class("-stage")
        screen.on_stage = False
        if screen.playing:
            # Without the stage, the pace is different.
            screen.features.shown.set_clock()
        if not gently or screen.app.animation_level == "none":
            self._hide(frozenset())
            return
        for number in range(len(_PLACES)):
            rest = frozenset(_PLACES[number + 1 :])
            show = partial(self._show_all_but, rest)
            screen.set_timer((number + 1) * _SECONDS_PER_PLACE, show)

    def _show_all_but(self, places: frozenset[str]) -> None:
        if not self.screen.on_stage:
            self._hide(self.hidden_places & places)

    def _hide(self, places: frozenset[str]) -> None:
        self.hidden_places = places
        self.screen.show_panes()
