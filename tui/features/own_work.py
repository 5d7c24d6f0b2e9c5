"""OwnWork: the user's text, tokenizer and view of the panes, set aside during a lesson."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.features.feature import StateScreen
from tui.state import Audit, ComparisonRun, Loaded

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.widget import Widget

    from tui.features.all import Features


class _Setting(NamedTuple):
    """A setting of a part of the screen, such as the order of a table."""

    owner: DOMNode
    name: str
    value: Any


class _OwnView(NamedTuple):
    """The user's tokenizer, and how the panes show it."""

    loaded: Loaded | None
    """None if there was no tokenizer yet."""
    step: int
    audit: Audit
    comparison: ComparisonRun
    put_last: str
    active: str
    focused: Widget | None
    panes: dict[str, str]
    classes: dict[DOMNode, frozenset[str]]
    """The classes of the screen and the training pane: sizes and open sides."""
    settings: list[_Setting]


class OwnWork:
    """Replaces the screen's `own_text`."""

    def __init__(self, screen: StateScreen, features: Features) -> None:
        self._screen = screen
        self._features = features
        self._view: _OwnView | None = None

    @property
    def is_aside(self) -> bool:
        return self._screen.own_text is not None

    async def set_aside(self) -> bool:
        """Save the user's text and view. Return False if a training prevents it."""
        screen = self._screen
        if self.is_aside:
            return True
        is_learning = screen.run.phase != "showing"
        if is_learning and self._features.tour.refuse_while_training():
            return False
        with suppress(ValueError):
            # Invalid options in the fields are not kept.
            options = screen.training.fields.chosen()
            self._features.corpus.choose_options(options)
        view = self._current_view()
        await self._features.training.finish()
        self._view = view._replace(
            loaded=self._features.shown.loaded, step=screen.step, audit=screen.audit
        )
        screen.own_place = screen.editor.area.place
        screen.own_text = screen.editor.area.text
        return True

    async def give_back(self) -> None:
        """Restore what was shown before the lesson."""
        screen = self._screen
        editor = screen.editor
        view = self._view
        if screen.own_text is None or view is None:
            return
        await self._features.training.finish()
        # If the user has changed the lesson's text, it is set aside as the last one.
        editor.put(screen.own_text, own=True)
        editor.put_last = view.put_last
        screen.own_text = None
        self._view = None
        if view.loaded is None:
            await self._features.bring_back()
        else:
            await self._show_tokenizer(view.loaded, view)
        self._restore(view)
        editor.area.show_place(screen.own_place)

    async def _show_tokenizer(self, loaded: Loaded, view: _OwnView) -> None:
        features = self._features
        await features.listed.refresh()
        await features.corpus.bring_back(first_time=False)
        features.lanes.choose(self._screen.remembered.lanes)
        if not loaded.tokenizer.vocabulary.knows_merges:
            # Its merges are still to be recovered.
            features.tokenizers.load(loaded.path)
            return
        features.shown.show(loaded)
        features.shown.go_to(view.step)
        if view.audit.subject and not view.audit.running:
            # Replaces the audit that the pane has just requested.
            features.audit.cancel()
            self._screen.audit = view.audit

    def _current_view(self) -> _OwnView:
        screen = self._screen
        return _OwnView(
            loaded=None,
            step=0,
            audit=screen.audit,
            comparison=screen.comparison,
            put_last=screen.editor.put_last,
            active=screen.active,
            focused=screen.focused,
            panes=screen.panes_in_front,
            classes={node: node.classes for node in (screen, screen.training)},
            settings=[
                _Setting(owner, name, getattr(owner, name))
                for owner, names in self._settings.items()
                for name in names.split()
            ],
        )

    @property
    def _settings(self) -> dict[DOMNode, str]:
        """Part of the screen -> the names of its settings that a lesson or the user may change."""
        screen = self._screen
        editor = screen.editor
        training = screen.training
        audit = screen.audit_pane
        return {
            editor: "specials view",
            editor.side: "seen",
            editor.area: "show_spaces",
            training.why: "seen writing",
            training.log_of_merges: "sort_key reverse choice search",
            training.curve: "logarithmic",
            audit.table: "severity sort_key reverse choice search",
            audit.panel: "side",
        }

    def _restore(self, view: _OwnView) -> None:
        screen = self._screen
        for owner, name, value in view.settings:
            if getattr(owner, name) != value:
                setattr(owner, name, value)
        if not screen.comparison.running:
            screen.comparison = view.comparison
        screen.training.set_classes(view.classes[screen.training])
        screen.update_classes({"-fill": "-fill" in view.classes[screen]})
        screen.active = view.active
        screen.put_in_front(view.panes)
        focused = view.focused
        if focused is not None and focused.is_attached and focused.focusable:
            screen.set_focus(focused)
        else:
            screen.action_show(view.active)
