"""Keys, help, palette and documentation are made from one table of commands, or held against it; the help has all words."""

import re
from collections.abc import Mapping
from functools import partial
from operator import attrgetter
from typing import Any
from unittest.mock import MagicMock

import pytest
from rich.cells import cell_len
from rich.console import Console
from scope import ROOT
from textual.binding import Binding, BindingsMap
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Select, TextArea

from bpe_core.auditing.findings import KINDS
from bpe_core.content.presets import PRESETS
from bpe_core.content.samples import SAMPLES
from bpe_core.patterns import PATTERNS
from bpe_core.trainer import TIES
from tui import glossary
from tui.app import BpeScope
from tui.commands.command import Command
from tui.commands.key_names import long_name
from tui.commands.keys import help_lines
from tui.commands.panes import PANES
from tui.commands.table import COMMANDS
from tui.dialogs.help import sections
from tui.features.all import Features
from tui.glossary import LONGEST, PATTERN_MEANINGS, TIE_MEANINGS, WORDS
from tui.panes.audit import AuditPane
from tui.panes.compare import ComparePane
from tui.panes.editor import EditorPane
from tui.panes.training import TrainingPane
from tui.screen import MainScreen
from tui.table.row_list import RowList
from tui.widgets import merge_columns, token_table
from tui.widgets.comparison_lanes import ComparisonLanes
from tui.widgets.comparison_table import ComparisonTable
from tui.widgets.comparison_verdicts import Verdicts
from tui.widgets.corpus_tree import CorpusTree
from tui.widgets.curve import Curve
from tui.widgets.merge_log import MergeLog
from tui.widgets.question_line import QuestionLine
from tui.widgets.step_line import StepLine
from tui.widgets.token_area import TokenArea
from tui.widgets.token_panel import TokenPanel
from tui.widgets.token_table import TokenTable
from tui.widgets.tokenizer_lists import TokenizerList, TokenizerPicker
from tui.widgets.why_panel import WhyPanel

WHERE: dict[str, tuple[type[object], ...]] = {
    "Everywhere": (MainScreen, Screen),
    "In dialogs too": (BpeScope,),
    "Question": (QuestionLine,),
    "Corpus": (CorpusTree,),
    "Tokenizers": (TokenizerList,),
    "Training": (Input, Select),
    "Lists": (RowList,),
    "Merge log": (MergeLog,),
    "Why and pairs": (TrainingPane,),
    "Code": (WhyPanel,),
    "Curve": (Curve,),
    "Line of steps": (StepLine,),
    "Editor": (EditorPane, TokenArea, TextArea),
    "Audit": (AuditPane,),
    "Tokens": (TokenTable,),
    "Evidence": (TokenPanel,),
    "Compare": (ComparePane,),
    "Tokenizers to compare": (TokenizerPicker,),
    "Verdicts": (Verdicts,),
    "Comparison": (ComparisonTable,),
    "Compared text": (ComparisonLanes,),
}
"""Part of the table -> the class that binds its keys, and those of which the help tells too."""


def bound(owner: type[object]) -> dict[str, Binding]:
    """Key -> binding, of a class and those it is made from."""
    found: dict[str, Binding] = {}
    for base in reversed(owner.__mro__):
        for binding in BindingsMap(
            base.__dict__.get("BINDINGS", ())
        ).key_to_bindings.values():
            found |= {one.key: one for one in binding}
    return found


def named(command: Command) -> str:
    """The method that does it, as the table names it; empty if Textual's own widgets do it."""
    method: Any = command.method
    if isinstance(method, partial):
        method = method.func
    return method._path if method else ""


def test_each_part_of_the_table_is_bound_somewhere() -> None:
    assert list(COMMANDS) == list(WHERE)


@pytest.mark.parametrize("part", WHERE)
def test_each_command_is_bound_and_nothing_else_is(part: str) -> None:
    owner, *others = WHERE[part]
    features = Features(MagicMock())
    keys = {
        key
        for command in COMMANDS[part]
        if command.method
        for key in command.keys.split(",")
        if key
    }
    if owner.__module__.startswith("tui"):
        assert set(BindingsMap(owner.__dict__["BINDINGS"]).key_to_bindings) == keys
        for path in {named(command) for command in COMMANDS[part]} - {""}:
            if path.startswith("screen.features."):
                path = path.removeprefix("screen.features.")
                assert callable(attrgetter(path)(features)), path
            else:
                first = path.partition(".")[0]
                annotated = set().union(
                    *(vars(base).get("__annotations__", ()) for base in owner.__mro__)
                )
                assert hasattr(owner, first) or first in annotated, path
    of_textual = {
        key
        for command in COMMANDS[part]
        if not command.method
        for key in command.keys.split(",")
    }
    assert of_textual <= {key for other in (owner, *others) for key in bound(other)}


def test_what_a_key_does_can_be_asked_for_by_name_and_is_told_in_the_help() -> None:
    moves = {
        "screen.features.shown.travel_or_skip",
        "status_lines.walk",
        "screen.features.tokenizers.stop_waiting",
    }
    for part in ("Everywhere", "Editor"):
        commands = COMMANDS[part]
        by_name = {named(command) for command in commands if command.name}
        by_key = {named(command) for command in commands if command.keys} - {""}
        assert by_key - moves <= by_name, part
    for part, commands in COMMANDS.items():
        for command in commands:
            if (part, named(command)) != ("Corpus", "action_select_cursor"):
                assert command.description, command


def test_the_help_tells_neighbors_that_do_the_same_in_one_line() -> None:
    lines = dict(help_lines(COMMANDS["Everywhere"]))
    assert lines[" ".join(long_name(pane.key) for pane in PANES)].startswith(
        "corpus, training, editor, audit, compare;"
    )
    assert (
        "Alt+← Alt+→" in lines
        and lines["Ctrl+S"] == "Save the editor's text: as a file, unchanged"
    )
    assert "Ctrl+Z Ctrl+Y" in dict(help_lines(COMMANDS["Editor"]))


def test_each_key_of_the_documentation_is_in_the_table_and_those_that_work_everywhere_are_documented() -> (
    None
):
    table = (ROOT / "docs/reference/keys.md").read_text("utf-8")
    cells = re.findall(r"^\| ([^|]+) \|", table, flags=re.MULTILINE)[1:]
    assert len(cells) > 8
    documented = {key for cell in cells for key in re.split(r"[ ·]+", cell.strip())}
    told = {
        part: {key for keys, _ in help_lines(commands) for key in keys.split()}
        for part, commands in COMMANDS.items()
    }
    assert documented <= set().union(*told.values())
    assert told["Everywhere"] | told["In dialogs too"] <= documented | {"Esc"}


def test_a_widget_has_no_action_that_nothing_asks_for() -> None:
    asked = {
        named(command).rpartition(".")[2].removeprefix("action_")
        for commands in COMMANDS.values()
        for command in commands
    }
    for owner in {
        owner
        for owners in WHERE.values()
        for owner in owners
        if owner.__module__.startswith("tui")
    }:
        own = {
            name.removeprefix("action_")
            for name in vars(owner)
            if name.startswith("action_")
        }
        assert own <= asked | INDIRECTLY | {
            name for name in own if hasattr(Widget, f"action_{name}")
        }, owner


INDIRECTLY = {"show_example", "cursor_text", "delete_left"}
"""An action of the palette, and those of keys of every text area."""


def test_the_palette_has_one_name_for_each_thing() -> None:
    names = [
        command.title
        for command in BpeScope().get_system_commands(MagicMock(is_modal=False))
    ]
    assert sorted(names) == [
        "Quit",
        "Screenshot",
        "Theme",
    ]  # help and zoom are commands of the main screen


async def test_the_palette_offers_the_lists_first_and_what_is_textuals_last() -> None:
    (provider,) = (
        BpeScope.COMMANDS
    )  # of two, it would be chance which is asked first: they are a set
    hits = [
        hit.text
        async for hit in provider()(
            MagicMock(is_modal=False, app=BpeScope())
        ).discover()
    ]
    assert hits[:2] == ["Lessons…", "Presets…"] and hits[-3:] == [
        "Quit",
        "Screenshot",
        "Theme",
    ]


SENTENCES: Mapping[str, Mapping[str, str]] = {
    "options": glossary.FIELDS,
    "patterns": {
        **PATTERN_MEANINGS,
        "": glossary.ANOTHER_PATTERN,
        "own": glossary.OWN_PATTERN,
    },
    "ties": TIE_MEANINGS,
    **{f"words of {pane}": words for pane, words in WORDS.items()},
    "kinds": {name: kind.meaning for name, kind in KINDS.items()},
    "presets": {name: preset.reason for name, preset in PRESETS.items()},
    "samples": {sample.name: sample.reason for sample in SAMPLES},
}


@pytest.mark.parametrize("of", SENTENCES)
def test_each_sentence_is_read_whole_in_a_terminal_of_80(of: str) -> None:
    for name, sentence in SENTENCES[of].items():
        assert cell_len(sentence) <= LONGEST and sentence.endswith("."), (
            f"{name}: {sentence}"
        )


def test_each_pattern_and_each_tie_rule_is_explained() -> None:
    assert PATTERN_MEANINGS.keys() == PATTERNS.keys()
    assert tuple(TIE_MEANINGS) == TIES


def test_the_help_knows_the_words_and_columns_of_the_screen() -> None:
    console = Console(width=66)  # what a dialog has in a terminal of 80
    with console.capture() as captured:
        console.print(*sections("Corpus", ()))
    names = {line.partition("  ")[0] for line in captured.get().splitlines()}
    columns = {
        column.heading
        for column in (*merge_columns.COLUMNS, *token_table.COLUMNS)
        if column.heading.strip()
    }
    assert {
        "rank",
        "step",
        "ratio",
        "pattern",
        "piece",
        "vocabulary",
        *KINDS,
        *columns,
    } <= names
