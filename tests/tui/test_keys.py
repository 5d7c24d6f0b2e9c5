"""Keys, help, palette and README tell the same: what a key does is found wherever one looks for it."""

import re

import pytest
from scope import ROOT
from textual.binding import Binding, BindingsMap
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Select, TextArea

from tui.app import BpeScope
from tui.commands import ACTIONS, EDITOR_ACTIONS
from tui.dialogs.help import KEYS
from tui.panes.audit import AuditPane
from tui.panes.corpus import TokenizerList
from tui.panes.editor import EditorPane
from tui.screen import MainScreen
from tui.widgets.corpus_tree import CorpusTree
from tui.widgets.curve import Curve
from tui.widgets.finding_table import FindingTable
from tui.widgets.merge_log import MergeLog
from tui.widgets.step_line import StepLine
from tui.widgets.token_area import TokenArea

WHERE: dict[str, tuple[type, ...]] = {
    "Everywhere": (MainScreen, BpeScope, Screen),
    "Corpus": (CorpusTree, TokenizerList),
    "Training": (Input, Select),
    "Merge log": (MergeLog,),
    "Curve and steps": (Curve, StepLine),
    "Editor": (EditorPane, TokenArea, TextArea),
    "Audit": (FindingTable, AuditPane),
}
"""Section of the help -> what has the keys that it tells of."""
NAMES = {"←": "left", "→": "right", "↑": "up", "↓": "down", "esc": "escape", "/": "slash"}


def key(shown: str) -> str:
    """Textual's name of a key."""
    return "+".join(NAMES.get(part, part) for part in shown.lower().split("+"))


def keys(shown: str) -> set[str]:
    """The keys in a cell of a table."""
    return {key(one) for one in re.split(r"[ ·]+", shown.strip()) if one}


def bound(owner: type) -> dict[str, Binding]:
    """Key -> binding, of a class and those it is made from."""
    found: dict[str, Binding] = {}
    for base in reversed(owner.__mro__):
        for binding in BindingsMap(base.__dict__.get("BINDINGS", ())).key_to_bindings.values():
            found |= {one.key: one for one in binding}
    return found


def told(section: str) -> set[str]:
    return {one for title, rows in KEYS if title == section for shown, _ in rows for one in keys(shown)}


def test_the_help_has_a_section_for_each_part() -> None:
    assert [title for title, _ in KEYS] == list(WHERE)


@pytest.mark.parametrize("section", WHERE)
def test_each_key_of_the_help_does_something(section: str) -> None:
    there = {name for owner in WHERE[section] for name in bound(owner)} | {BpeScope.COMMAND_PALETTE_BINDING}
    assert told(section) <= there


@pytest.mark.parametrize("section", [section for section in WHERE if section != "Training"])
def test_each_key_of_ours_is_told_in_the_help(section: str) -> None:
    for owner in WHERE[section]:
        if owner.__module__.startswith("tui"):
            own = BindingsMap(owner.__dict__.get("BINDINGS", ())).key_to_bindings
            # A second key for the same, and pages as in any list, need no words.
            actions = {bound(owner)[name].action for name in told(section) if name in bound(owner)}
            untold = {
                name for name, (one, *_) in own.items() if name not in told(section) and one.action not in actions
            }
            assert not untold, f"{owner.__name__}: {untold}"


def test_each_key_of_the_readme_is_in_the_help() -> None:
    table = (ROOT / "README.md").read_text("utf-8").partition("\n## Keys\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| ([^|]+) \|", table, flags=re.MULTILINE)[1:]
    assert len(cells) > 8
    in_help = {one for section in WHERE for one in told(section)}
    assert {one for cell in cells for one in keys(cell)} <= in_help
    assert told("Everywhere") - {"escape"} <= {one for cell in cells for one in keys(cell)}


def test_what_a_key_does_can_be_asked_for_by_name() -> None:
    by_name = {action.partition("(")[0] for _, action, _ in (*ACTIONS, *EDITOR_ACTIONS)}
    moves = {"travel", "walk_edits", "stop_waiting", "pause", "resume", "train"}
    for owner in (MainScreen, EditorPane):
        wanted = {one.action.partition("(")[0] for one in bound(owner).values() if one.key in told_all()}
        own = {name for name in wanted if hasattr(owner, f"action_{name}") and not hasattr(Widget, f"action_{name}")}
        assert own - moves - {name for name in own if hasattr(Screen, f"action_{name}")} <= by_name
    assert "train_or_pause" in by_name


def told_all() -> set[str]:
    return {one for section in WHERE for one in told(section)}
