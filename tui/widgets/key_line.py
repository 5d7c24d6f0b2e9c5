"""KeyLine: the keys that do something now, in the last line of the screen."""

from textual.screen import Screen
from textual.widgets import Footer


class KeyLine(Footer):
    """Textual's footer, made anew only where it would show something else: it consists of a widget for each key."""

    _shown: tuple[object, ...] = ()

    def bindings_changed(self, screen: Screen[object]) -> None:
        """The keys may do something else than before."""
        shown = tuple(
            (active.binding, active.enabled, active.tooltip)
            for active in screen.active_bindings.values()
            if active.binding.show or active.binding.key == self.app.COMMAND_PALETTE_BINDING
        )
        if shown != self._shown and self.app.app_focus:
            self._shown = shown
            super().bindings_changed(screen)
