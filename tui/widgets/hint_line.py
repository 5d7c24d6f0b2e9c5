"""HintLine: what the focused part of the screen is, in one line at the foot of it."""

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from bpe_core.visible import visible


class HintLine(Static):
    """Shows the `hint` of whatever has the focus.

    A widget tells something of itself by an attribute `hint`, reactive where it changes; one that has none, by its
    tooltip; one without either has what is said of the part of the screen it stands in.
    """

    DEFAULT_CSS = """
    HintLine { height: 1; padding: 0 1; background: $panel; color: $text; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def on_mount(self) -> None:
        """Follow the focus."""
        self.watch(self.screen, "focused", self._follow)

    def _follow(self, focused: Widget | None) -> None:
        if focused is None:  # as while another window has the keyboard: it will come back to where it was
            return
        for node in focused.ancestors_with_self:
            self.watch(node, "hint", self._show, init=False)
        self._show()

    def _show(self) -> None:
        if (focused := self.screen.focused) is not None:
            self.update(Content(visible(hint_of(focused))), layout=False)


def hint_of(widget: Widget) -> str:
    """What `widget` says of itself, or else what is said of the part of the screen around it."""
    for node in widget.ancestors_with_self:
        hint = getattr(node, "hint", "") or (isinstance(node, Widget) and node.tooltip)
        if hint and isinstance(hint, str):
            return hint
    return ""
