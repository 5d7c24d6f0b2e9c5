"""Every command in one table: its keys, its words, when it applies; bindings, palette, help, tooltips are made of it.

A widget takes its BINDINGS from its part of the table, and its `check_action` by `checks` where a `when` is told.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from typing import Any, Final, Literal

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class PaneEntry:
    """A pane before its class is imported."""

    id: str
    key: str  # the key that leads to it, as Textual calls it
    title: str
    shows: str  # what is in it, in a few words
    place: Literal["left", "upper", "side", "lower"]
    """Where it stands. Those of one place take turns; where there is no side, its panes take turns with the upper."""
    path: str  # the module and, after a colon, the class; imported when the first frame is on the screen

    def load(self) -> Any:
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


PANES: Final = (
    PaneEntry(
        "corpus",
        "f2",
        "Corpus",
        "choose texts, see them split",
        "left",
        "tui.panes.corpus:CorpusPane",
    ),
    PaneEntry(
        "training",
        "f3",
        "Training",
        "vocabulary, merge log, curve",
        "upper",
        "tui.panes.training:TrainingPane",
    ),
    PaneEntry(
        "editor",
        "f4",
        "Editor",
        "type among the tokens",
        "lower",
        "tui.panes.editor:EditorPane",
    ),
    PaneEntry(
        "audit",
        "f5",
        "Audit",
        "tokens that were never learned well",
        "side",
        "tui.panes.audit:AuditPane",
    ),
    PaneEntry(
        "compare",
        "f10",
        "Compare",
        "tokenizers on the same texts",
        "side",
        "tui.panes.compare:ComparePane",
    ),
)
"""In the order of their keys: all that the screen, its title, the keys, the palette and the help know of them."""
PANE_BY_ID: Final = {entry.id: entry for entry in PANES}


@dataclass(frozen=True, slots=True)
class Command:
    """Something that can be asked for by a key, by name, or by both."""

    action: str
    """What Textual runs, or a deed of a feature ("training.train"), with arguments; empty for keys that Textual's own
    widgets bind, which the help tells of."""
    keys: str = ""  # as Textual calls them, commas between
    label: str = ""  # what the line of keys says; empty: it is not there
    does: str = (
        ""  # what it does, in some words: for the tooltip, the palette and the help
    )
    name: str = ""  # what it is called in the palette; empty: it is not there
    help: str = ""  # what the help says instead; neighbors of which it says the same share a line
    when: str = ""  # the condition under which it applies (`_WHEN`); empty: always
    priority: bool = False  # whether its keys are for it, whatever has the focus
    always: bool = False  # whether the line of keys has it at its right end, however little room there is

    def applies(self, owner: object) -> bool:
        """Whether it can be done now; `owner` is the widget that has the action."""
        return not self.when or bool(_WHEN[self.when](owner))

    @property
    def run(self) -> str:
        """The action as Textual runs it: what a feature does is done through the screen."""
        name, _, arguments = self.action.partition("(")
        if name.partition(".")[0] in ("", name, "screen", "app", "focused"):
            return self.action
        return f"screen.do({name!r}{', ' + arguments if arguments else ')'}"

    @property
    def told(self) -> str:
        """What the help says of it: its label, or else its name, tells what `does` is about."""
        return self.help or ": ".join(
            filter(None, ((self.label or self.name).rstrip(" …"), self.does))
        )


_ENDINGS: Final = (
    ".jsonl",
    ".ndjson",
    ".csv",
    ".tsv",
    ".parquet",
    ".arrow",
)  # of files whose rows have fields
_WHEN: Final[Mapping[str, Callable[[Any], object]]] = {
    "in lesson": lambda screen: screen.caption,
    "idle": lambda screen: not screen.run.busy,
    "busy": lambda screen: screen.run.busy,
    "running": lambda screen: screen.run.busy and screen.playing,
    "held": lambda screen: screen.run.busy and not screen.playing,
    # Elsewhere each pane fills the screen anyway.
    "has room": lambda screen: (
        not (screen.has_class("-narrow") or screen.has_class("-low"))
    ),
    "on preset": lambda tree: tree.entry.preset,
    "on group": lambda tree: (
        tree.cursor_node is not None and tree.cursor_node.allow_expand
    ),
    "on text": lambda tree: tree.is_text,
    "on rows": lambda tree: (
        tree.is_text
        and any(ending in tree.entry.path.casefold() for ending in _ENDINGS)
    ),
    "markable": lambda tree: tree.markable,
    "has others": lambda tree: (
        tree.markable and set(tree.corpus.paths) - set(tree.markable)
    ),
    "chosen": lambda tree: tree.is_chosen,
    "on own": lambda tokenizers: (
        tokenizers.pointed is not None and tokenizers.pointed.origin == "trained"
    ),
    "on other": lambda tokenizers: (
        tokenizers.pointed is not None and tokenizers.pointed.origin != "trained"
    ),
    "auditing": lambda pane: pane.audit.running,
    "comparing": lambda pane: pane.comparison.running,
    "has compared": lambda pane: not pane.has_class("-choosing"),
    "plays": lambda line: line.playing,
    "stands": lambda line: not line.playing,
    "on code": lambda panel: panel.seen == "code",
    "can sort": lambda table: any(column.sort for column in table.columns),
    "metric": lambda table: table.can_turn("metric"),
    "tokenizer": lambda table: table.can_turn("tokenizer"),
    "reference": lambda table: table.can_turn("reference"),
}


def _both(
    action: str, keys: str, help: str, *arguments: object
) -> tuple[Command, Command]:
    """Two commands without a label, one back and one on (or for two `arguments`); `keys` of each, a space between."""
    one, other = keys.split()
    back, on = arguments or (-1, 1)
    return Command(f"{action}({back!r})", one, help=help), Command(
        f"{action}({on!r})", other, help=help
    )


_PANES: Final = f"{', '.join(pane.title.lower() for pane in PANES)}; pressed again, the next part of it"
_TRAVEL: Final = "one step back or on in the life of the vocabulary"
_TRAIN: Final = (
    "train on the chosen texts; then hold the merge that is shown, and go on"
)
_DELETE: Final = (
    "delete the file of a tokenizer trained here; take any other off the list"
)
_FILL: Final = "Fill the screen with this pane"
_PATTERN: Final = "Split pattern of this tokenizer…"
_OPEN: Final = "run a preset; open a folder"
_LANES: Final = (
    "the same text under up to three other tokenizers, or other steps of this one"
)
_PICTURES: Final = ("html", "svg", "markdown")
_PICTURE: Final = "the tokens in all lanes: of the selection, or else of all that fits"
_ROW: Final = "by one row; in the merge log, travel to that step: the editor follows"
_ENDS: Final = "before the first merge, after the last"
_PACE: Final = "show the merges in less time, or in more"
_PLAY: Final = "the editor's text from bytes to the last merge; or pause"
_SHOWN: Final = (
    "show the longest tokens, the most used, ties, partial UTF-8, used up; or all"
)
_LINE: Final = "run the next line; after the last, the next merge; or one line back"
_SIDE: Final = "Why this split, what may come"
_VIEWS: Final = (
    "texts, folders, scripts, metrics, worst lines, disagreements, vocabularies"
)
_TURN: Final = "the next metric of each row, or the one before: from tokens to parity"
_VIEW: Final = "View: borders, ids, one token a line"


def _leading_to(pane: PaneEntry) -> Command:
    name = f"Show the {pane.title.lower()} pane"
    return Command(
        f"show('{pane.id}')", pane.key, "", pane.shows, name, _PANES, priority=True
    )


COMMANDS: Final[Mapping[str, tuple[Command, ...]]] = {
    "Everywhere": (
        Command(
            "help",
            "f1",
            "Help",
            "what the keys do, what the words mean",
            "Keys and help",
            always=True,
        ),
        *(_leading_to(pane) for pane in PANES),
        Command(
            "training.train",
            "f6",
            "Train",
            "learn merges from the chosen texts",
            "Train",
            _TRAIN,
            "idle",
        ),
        Command(
            "shown.stop",
            "f6",
            "Hold",
            "stay at this merge",
            "Hold the training",
            _TRAIN,
            "running",
        ),
        Command(
            "shown.start",
            "f6",
            "Go on",
            "show the next merges",
            "Go on with the training",
            _TRAIN,
            "held",
        ),
        Command(
            "training.step_once",
            "f7",
            "Step",
            "show one merge more and hold",
            "Step: one merge",
        ),
        Command(
            "training.stop",
            "f8",
            "Stop",
            "end, keep this vocabulary",
            "Stop the training here",
            when="busy",
        ),
        Command(
            "shown.show_all",
            "",
            "",
            "the last, and more as they are learned",
            "Show all merges",
            when="busy",
        ),
        Command(
            "corpus.more_options",
            "",
            "",
            "longest token, sample, a start, …",
            "More training options …",
        ),
        Command(
            "resuming.train_on(False)",
            "",
            "",
            "a larger vocabulary: more merges",
            "Extend this tokenizer …",
        ),
        Command(
            "resuming.train_on(True)",
            "",
            "",
            "keep the merges in force, learn others",
            "Fork at this step …",
        ),
        Command(
            "texts.export('merges')",
            "",
            "",
            "a line each, tabs between",
            "Export the merges …",
        ),
        Command(
            "texts.export('curve')",
            "",
            "",
            "as CSV, a line a step",
            "Export the curve as numbers …",
        ),
        Command(
            "texts.export('record')",
            "",
            "",
            "options, texts and steps as JSON",
            "Export the training record …",
        ),
        Command(
            "texts.convert",
            "",
            "",
            "Hugging Face, tiktoken, …",
            "Save this tokenizer for another library …",
        ),
        Command(
            "shown.play",
            "",
            "",
            "the editor's text, from bytes to the last one",
            "Play the merges",
        ),
        Command(
            "fill",
            "f9",
            "Zoom",
            "let this pane fill the screen, and back",
            _FILL,
            when="has room",
        ),
        *_both("shown.travel", "alt+left alt+right", _TRAVEL),
        Command(
            "texts.open",
            "ctrl+o",
            "",
            "any UTF-8 file; Tab completes its path",
            "Open a text in the editor",
        ),
        Command(
            "texts.save_text",
            "ctrl+s",
            "",
            "as a file, exactly as it is",
            "Save the editor's text",
        ),
        Command(
            "texts.bring_back",
            "alt+z",
            "",
            "the one before an example, preset or file",
            "Bring my text back",
        ),
        Command(
            "texts.ids_to_text",
            "alt+i",
            "",
            "of pasted ids; and what encoding that gives",
            "Ids in, text out",
        ),
        Command(
            "tour.next",
            "f12,alt+full_stop",
            "",
            "what the lesson says next",
            "Next step",
            when="in lesson",
        ),
        Command(
            "tour.back",
            "f11,alt+comma",
            "",
            "what the lesson said before",
            "Step back",
            when="in lesson",
        ),
        Command(
            "tour.leave",
            "escape",
            "",
            "it goes on here the next time",
            "Leave the lesson",
            when="in lesson",
        ),
        Command(
            "tokenizers.stop_waiting",
            "escape",
            "",
            "stop waiting for a tokenizer being fetched or loaded",
        ),
        Command(
            "comparison.compare",
            "",
            "",
            "those marked in the compare pane",
            "Compare tokenizers",
        ),
        Command(
            "comparison.measure_text",
            "",
            "",
            "its bytes per token and more",
            "Measure the editor's text",
        ),
        Command(
            "audit.audit",
            "",
            "",
            "tokens that a model hardly learns; again: stop",
            "Audit the tokenizer in force",
        ),
        Command(
            "corpus.add_path",
            "",
            "",
            "by its path",
            "Add a file or folder to the corpus",
        ),
        Command(
            "tokenizers.open",
            "",
            "",
            "one that was saved elsewhere",
            "Open a tokenizer file",
        ),
        Command(
            "tokenizers.delete_stopped",
            "",
            "",
            "that nobody named",
            "Delete tokenizers of stopped trainings…",
        ),
        Command(
            "tokenizers.change_pattern",
            "",
            "",
            "see how it splits a text, and change that",
            _PATTERN,
        ),
        Command(
            "tokenizers.fetch",
            "",
            "",
            "gpt-4o, or OWNER/NAME of a hub",
            "Fetch a tokenizer by name…",
        ),
        Command(
            "",
            "tab,shift+tab",
            help="to the next part of the screen, and back; the line above the keys names it",
        ),
    ),
    "In dialogs too": (
        Command(
            "command_palette",
            "ctrl+p",
            "More",
            "every command by name, themes too",
            priority=True,
            always=True,
        ),
        Command(
            "quit",
            "ctrl+q",
            "Quit",
            "leave; everything comes back next time",
            priority=True,
            always=True,
        ),
    ),
    "Corpus": (
        Command(
            "run_preset(False)",
            "enter",
            "Run",
            "with its own options: see what comes out",
            "",
            _OPEN,
            "on preset",
        ),
        Command("open", "enter", "Open", "open it, or close it", "", _OPEN, "on group"),
        Command("select_cursor", "enter"),
        Command(
            "run_preset(True)",
            "f7",
            "Step",
            "learn the merges of a preset one by one",
            when="on preset",
        ),
        Command(
            "mark('corpus')",
            "space",
            "Choose",
            "train on this text, or all of a group",
            when="markable",
        ),
        Command(
            "only",
            "o",
            "Only",
            "train on this text alone, or on those of a group",
            when="has others",
        ),
        Command(
            "weigh",
            "number_sign",
            "Weight",
            "how many times this text counts beside the others",
            when="chosen",
        ),
        Command(
            "choose_field",
            "c",
            "Column",
            "which field of this file is read; its first documents",
            when="on rows",
        ),
        Command("edit", "e", "Edit", "open this text in the editor", when="on text"),
        Command(
            "mark('reference')",
            "r",
            "Reference",
            "compare with this text in the audit",
            when="markable",
        ),
    ),
    "Tokenizers": (
        Command("select", "enter", "Use", "put this tokenizer in force"),
        Command(
            "change_pattern",
            "p",
            "Pattern",
            "see how this tokenizer splits a text, and change that",
        ),
        Command(
            "rename",
            "n",
            "Rename",
            "what this tokenizer is called in the list; its file stays as it is",
        ),
        Command(
            "delete",
            "delete",
            "Delete",
            "delete the file of this tokenizer of yours",
            "",
            _DELETE,
            "on own",
        ),
        Command(
            "forget",
            "delete",
            "Forget",
            "take it off the list; its file stays",
            "",
            _DELETE,
            "on other",
        ),
    ),
    "Training": (
        Command("", "enter", help="in a field: train"),
        Command("", "space", help="on pattern or ties: see what there is to choose"),
    ),
    "Lists": (
        *_both("move", "up,k down,j", _ROW),
        *_both("move_page", "pageup pagedown", "by what is seen at once"),
        *_both("move_to_end", "home end", "to the first row, to the last", 0, 1),
        Command(
            "select",
            "enter",
            "",
            "in the audit: show the merge, put an example into the editor",
        ),
    ),
    "Merge log": (
        Command(
            "search",
            "slash",
            "Search",
            "tokens by their text, their bytes as 0x2074, or id",
        ),
        *_both("choice", "left,h right,l", _SHOWN),
        *_both("copy", "c C", "copy this row, or (C) all that are shown", "row", "all"),
    ),
    "Why and pairs": (
        Command(
            "turn_why",
            "w",
            "Why",
            "beside the merge log: why this merge, its pairs, the code, or nothing",
        ),
        Command(
            "turn_writing",
            "b",
            "Bytes",
            "tokens there as text, hexadecimal or decimal bytes, or ids",
        ),
        Command(
            "training.go_to",
            "g",
            "Go to",
            "a step, or the first at which a condition holds",
            "Go to a step …",
        ),
        Command(
            "training.train_until",
            "u",
            "Until",
            "train until a condition holds, then wait",
            "Train until …",
        ),
        Command(
            "shown.change_pace(1)",
            "plus",
            "Faster",
            "all merges in less time, up to none",
            "Play faster",
            _PACE,
        ),
        Command(
            "shown.change_pace(-1)",
            "minus",
            "Slower",
            "all merges in more time",
            "Play slower",
            _PACE,
        ),
        Command(
            "shown.play", "space", "", help="hold the merge that is shown, and go on"
        ),
    ),
    "Code": (
        Command("run_line(1)", "f7,right", "Line", _LINE, help=_LINE, when="on code"),
        Command("run_line(-1)", "left", help=_LINE, when="on code"),
        Command(
            "turn_code",
            "i",
            "Encode",
            "the code of encoding the editor's word, or of the merge",
            when="on code",
        ),
    ),
    "Curve": (
        Command(
            "show_next",
            "m",
            "Metric",
            "bytes per token, tokens saved, use, Rényi efficiency",
        ),
        Command(
            "resuming.show_runs",
            "",
            "",
            "compare them; lay a curve under this",
            "List of trainings …",
        ),
        Command(
            "toggle('logarithmic')",
            "z",
            "Log scale",
            "give the first merges, which matter most, more room",
        ),
        *_both("travel", "left right", "to the dot before, to the next"),
        *_both("travel_to_end", "home end", _ENDS, 0, 1),
    ),
    "Line of steps": (
        Command(
            "play",
            "space",
            "Play",
            "the editor's text from bytes to the last merge",
            help=_PLAY,
            when="stands",
        ),
        Command(
            "pause",
            "space",
            "Pause",
            "stay at this merge; again: play on",
            help=_PLAY,
            when="plays",
        ),
        Command(
            "shown.change_pace(1)",
            "plus",
            "Faster",
            "all merges in less time",
            help=_PACE,
            when="plays",
        ),
        Command(
            "shown.change_pace(-1)",
            "minus",
            "Slower",
            "all merges in more time",
            help=_PACE,
            when="plays",
        ),
        Command("shown.travel(-1)", "left", "Back", "one merge back"),
        Command("shown.travel(1)", "right", "Forward", "one merge on"),
        *_both("shown.travel", "shift+left shift+right", "ten back or on", -10, 10),
        *_both(
            "leap",
            "ctrl+left,pageup ctrl+right,pagedown",
            "a twentieth of the way back or on",
        ),
        *_both("go_to_end", "home end", _ENDS, 0, 1),
    ),
    "Editor": (
        Command(
            "turn_side",
            "ctrl+t",
            "Why",
            "at the right: the token, why this split, what may come",
            _SIDE,
        ),
        Command(
            "go_to_pitfall(1)",
            "ctrl+n",
            "Pitfall",
            "to what trips tokenizers next",
            "Go to the next pitfall",
        ),
        Command("go_to_pitfall(-1)", "alt+n", "", "to the pitfall before"),
        Command(
            "turn_view", "ctrl+l", "", "one after the other, then the text again", _VIEW
        ),
        Command(
            "lanes.ask",
            "alt+l",
            "Lanes",
            _LANES,
            "Lanes: other tokenizers under the text",
        ),
        Command(
            "toggle_spaces",
            "ctrl+g",
            "",
            "as glyphs; again: as blanks",
            "Show spaces and tabs",
        ),
        Command(
            "toggle_specials",
            "ctrl+r",
            "",
            "in the editor; as text at first",
            "Special tokens as tokens or as text",
        ),
        Command(
            "pin",
            "ctrl+b",
            "",
            "see what differs from it from now on",
            "Pin the text, or unpin it",
        ),
        *_both("walk_edits", "alt+up alt+down", "what earlier edits did", 1, -1),
        Command(
            "next_example",
            "alt+e",
            "",
            "small texts that show what tokens do",
            "Next example",
        ),
        Command("copy('text')", "", "", "the selection, or all of it", "Copy the text"),
        Command(
            "copy('ids')",
            "",
            "",
            "of the selection, or of all; with spaces between",
            "Copy token ids",
        ),
        Command(
            "copy('list')",
            "alt+c",
            "",
            "of the selection, or of all",
            "Copy token ids as a Python list",
        ),
        *(
            Command(
                f"share('{kind}')",
                "",
                "",
                _PICTURE,
                f"Save a picture of the text: {kind}",
            )
            for kind in _PICTURES
        ),
        Command("history('undo')", "", "", "the last edit: Ctrl+Z", "Undo"),
        Command(
            "history('redo')", "", "", "the edit that was undone last: Ctrl+Y", "Redo"
        ),
        Command("", "ctrl+z,ctrl+y", help="undo, redo"),
        Command("", "ctrl+c,ctrl+v", help="copy, paste"),
    ),
    "Audit": (
        Command(
            "stop",
            "escape",
            "Stop",
            "do without the audit that is under way",
            when="auditing",
        ),
        Command(
            "search",
            "slash",
            "Search",
            "by the token's text, its id, or its bytes in hex",
        ),
        Command("turn_panel", "w", "Why", "what else is known of the token"),
        Command(
            "audit.export",
            "x",
            "Export",
            "what is shown, as .jsonl, .csv or .md",
            "Export the tokens shown…",
        ),
        Command(
            "audit.with_model",
            "",
            "",
            "or no longer",
            "Audit with a model's embeddings …",
        ),
        Command(
            "audit.with_texts",
            "",
            "",
            "count the tokens in them, or stop that",
            "Audit with the chosen texts",
        ),
    ),
    "Tokens": (
        Command("sort_next", "s", "Sort", "by the next column"),
        Command("toggle('reverse')", "S", "Reverse", "turn the order around"),
        *_both(
            "choice",
            "left,h right,l",
            "one kind only, then the next; special tokens and unused ids at the end",
        ),
        Command(
            "severity",
            "v",
            "Worse",
            "only what is worse: notes, warnings, problems, then all",
        ),
    ),
    "Evidence": (
        *_both(
            "turn",
            "left,h right,l",
            "what is known of the token: see the next, see the one before",
        ),
    ),
    "Compare": (
        Command(
            "stop",
            "escape",
            "Stop",
            "do without the rest of the comparison",
            when="comparing",
        ),
        Command(
            "choose",
            "a",
            "Choose anew",
            "other tokenizers, or other texts",
            when="has compared",
        ),
        Command(
            "comparison.export",
            "x",
            "Export",
            "what is shown, as .csv, .md or .tex",
            "Export this comparison…",
        ),
    ),
    "Tokenizers to compare": (
        Command("mark", "space", "Choose", "compare this tokenizer, or leave it out"),
    ),
    "Comparison": (
        Command("choice(-1)", "left,h", help=_VIEWS),
        Command("choice(1)", "right", "View", _VIEWS, help=_VIEWS),
        Command("choice(1)", "l", help=_VIEWS),
        Command(
            "metric(1)",
            "m",
            "Metric",
            "the next metric, from tokens to parity",
            help=_TURN,
            when="metric",
        ),
        Command("metric(-1)", "M", help=_TURN, when="metric"),
        Command(
            "tokenizer", "t", "Tokenizer", "show another tokenizer", when="tokenizer"
        ),
        Command(
            "reference",
            "r",
            "Parity",
            "relate parity to this text or folder",
            when="reference",
        ),
        Command("sort_next", "s", "Sort", "by the next column", when="can sort"),
        Command(
            "toggle('reverse')",
            "S",
            "Reverse",
            "turn the order around",
            when="can sort",
        ),
    ),
}
"""By the part of the screen that they are for; in the order in which the help tells them."""


def bindings(part: str) -> list[BindingType]:
    return [
        Binding(
            *(command.keys, command.run, command.label),
            show=bool(command.label),
            tooltip=_sentence(command.does),
            priority=command.priority,
        )
        for command in COMMANDS[part]
        if command.keys and command.action
    ]


def applies(
    part: str, owner: object, action: str, parameters: Sequence[object] = ()
) -> bool:
    """Whether an action of a part of the screen can be done now; one that the table does not know always can."""
    done = f"screen.do({', '.join(map(repr, parameters))})" if action == "do" else ""
    some = [
        one
        for one in COMMANDS[part]
        if one.run == done or one.action.partition("(")[0] == action
    ]
    return all(command.applies(owner) for command in some)


def checks(part: str) -> Any:
    """The `check_action` of what has the commands of a part."""
    return lambda owner, action, parameters: applies(part, owner, action, parameters)


def tooltip(action: str) -> str:
    """What stands on a button for a command: what it does, and the key that does so, and where."""
    all_of_them = (
        (part, command) for part, commands in COMMANDS.items() for command in commands
    )
    part, command = next(one for one in all_of_them if one[1].action == action)
    where = "anywhere" if part == "Everywhere" else f"in the {part.lower()}"
    return _sentence(
        f"{command.does}; {long_name(command.keys)} {where}"
        if command.keys
        else command.does
    )


def key_of(action: str) -> str:
    """The key of a command of the editor, in short."""
    return short_name(
        next(command.keys for command in COMMANDS["Editor"] if command.action == action)
    )


def help_lines(commands: Iterable[Command]) -> list[tuple[str, str]]:
    """(keys, what they do) for each line of the help."""
    told = [command for command in commands if command.keys and command.told]
    lines = []
    for does, some in groupby(told, key=lambda command: command.told):
        first = [
            key
            for command in some
            for key in command.keys.split(",")[: None if not command.action else 1]
        ]
        lines.append((" ".join(map(long_name, dict.fromkeys(first))), does))
    return lines


_SIGNS: Final = {"number_sign": "#", "pageup": "PageUp", "pagedown": "PageDown"} | dict(
    left="←",
    right="→",
    up="↑",
    down="↓",
    slash="/",
    escape="Esc",
    plus="+",
    minus="-",
    full_stop=".",
    comma=",",
)


def short_name(key: str) -> str:
    """A key, or the first of some, as lines have room for it.

    >>> short_name("ctrl+t"), short_name("alt+up"), short_name("f6"), short_name("enter")
    ('^t', 'alt+↑', 'F6', 'enter')
    """
    *shifts, name = key.partition(",")[0].split("+")
    name = _SIGNS.get(
        name, name.upper() if name[0] == "f" and name[1:].isdigit() else name
    )
    return f"^{name}" if shifts == ["ctrl"] else "+".join((*shifts, name))


def long_name(key: str) -> str:
    """A key as a sentence tells it.

    >>> long_name("ctrl+t"), long_name("alt+up"), long_name("f6"), long_name("x")
    ('Ctrl+T', 'Alt+↑', 'F6', 'x')
    """
    *shifts, name = key.split("+")
    name = _SIGNS.get(name) or (
        name if len(name) == 1 and not shifts else name.capitalize()
    )
    return "+".join((*(shift.capitalize() for shift in shifts), name))


def _sentence(does: str) -> str:
    return f"{does[:1].upper()}{does[1:]}"
