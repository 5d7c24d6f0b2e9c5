"""Every command in one table: its keys, its words, what it does and when; bindings, palette, help, tooltips are made of it.

The table names methods and properties of widgets and features whose classes are imported later. mypy knows the classes,
and refuses a name that isn't there.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from inspect import iscoroutine
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from textual.binding import Binding, BindingType

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from tui.app import BpeScope
    from tui.features.all import Features
    from tui.panes.audit import AuditPane
    from tui.panes.compare import ComparePane
    from tui.panes.editor import EditorPane
    from tui.panes.training import TrainingPane
    from tui.screen import MainScreen
    from tui.table.row_list import RowList
    from tui.widgets.comparison_table import ComparisonTable
    from tui.widgets.corpus_tree import CorpusTree
    from tui.widgets.curve import Curve
    from tui.widgets.merge_log import MergeLog
    from tui.widgets.screen_lines import StepLine
    from tui.widgets.token_table import TokenPanel, TokenTable
    from tui.widgets.tokenizer_lists import TokenizerList, TokenizerPicker
    from tui.widgets.why_panel import WhyPanel

Value = TypeVar("Value")
Work = Coroutine[Any, Any, None]


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


# The seam between widgets and features


def main_screen(widget: DOMNode) -> MainScreen:
    """Return the main screen, which the widget is on."""
    return cast("MainScreen", widget.screen)


def features_of(widget: DOMNode) -> Features:
    """Return what can be asked of the features, such as `features_of(widget).audit.audit()`."""
    return main_screen(widget).features


def in_background(widget: DOMNode, work: Work) -> None:
    """Start what takes its time or asks the user, such as `features_of(widget).shown.play()`, in the background."""
    main_screen(widget).run_in_background(work)


# Commands


class _Later:
    """Stands in the table for an object whose class is imported later, and notes which attribute is meant.

    For mypy, `_tree` is a `CorpusTree`, so it checks `_tree.action_edit`. When the key is pressed, this is called with
    the real tree, and returns that one's method.

    >>> _Later().title("a line")()
    'A Line'
    """

    def __init__(self, path: str = "") -> None:
        self._path = path

    def __getattr__(self, name: str) -> _Later:
        return _Later(f"{self._path}.{name}" if self._path else name)

    def __call__(self, owner: object) -> Any:
        return attrgetter(self._path)(owner)


if TYPE_CHECKING:
    _features: Features
    _app: BpeScope
    _audit: AuditPane
    _compare: ComparePane
    _comparison: ComparisonTable
    _curve: Curve
    _editor: EditorPane
    _evidence: TokenPanel
    _line: StepLine
    _log: MergeLog
    _picker: TokenizerPicker
    _rows: RowList
    _screen: MainScreen
    _tokenizers: TokenizerList
    _tokens: TokenTable
    _training: TrainingPane
    _tree: CorpusTree
    _why: WhyPanel
else:
    _features = _Later("screen.features")
    _app = _audit = _compare = _comparison = _curve = _editor = _evidence = _Later()
    _line = _log = _picker = _rows = _screen = _tokenizers = _tokens = _Later()
    _training = _tree = _why = _Later()


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """Something that can be asked for by a key, by name, or by both."""

    deed: Callable[[], object] | None
    """The method that does it; None for keys that Textual's own widgets bind, which the help tells of."""
    keys: str = ""
    """As Textual calls them, commas between."""
    label: str = ""
    """What the line of keys says; empty if it is not there."""
    does: str = ""
    """What it does, in some words: for the tooltip, the palette and the help."""
    name: str = ""
    """What it is called in the palette; empty if it is not there."""
    help: str = ""
    """What the help says instead; neighbors with the same help share a line."""
    when: object = None
    """The property that says whether it applies now; None if it always does."""
    priority: bool = False
    """Whether its keys are for it, whatever has the focus."""
    always: bool = False
    """Whether the line of keys has it at its right end, however little room there is."""

    def applies(self, owner: object) -> bool:
        """Whether it can be done now; `owner` is the widget that has its keys."""
        return self.when is None or bool(cast(_Later, self.when)(owner))

    def run(self, owner: Any) -> object:
        """Do it. Textual awaits what the owner does; what a feature does goes on in the background."""
        deed: Any = self.deed
        arguments = ()
        if isinstance(deed, partial):
            deed, arguments = deed.func, deed.args
        method = deed(owner)
        work = method(*arguments)
        if not iscoroutine(work) or method.__self__ is owner:
            return work
        in_background(owner, work)
        return None

    @property
    def action(self) -> str:
        """The Textual action that runs it, on a widget with `HasCommands`."""
        return f"run_command({_NUMBERS[self]})"

    @property
    def told(self) -> str:
        """What the help says of it: its label, or else its name, tells what `does` is about."""
        return self.help or ": ".join(
            filter(None, ((self.label or self.name).rstrip(" …"), self.does))
        )


class HasCommands:
    """Runs the commands of the table for the widget, screen or app that has their keys."""

    def check_action(self, action: str, parameters: tuple[Any, ...]) -> bool | None:
        return action != "run_command" or _ALL[parameters[0]].applies(self)

    def action_run_command(self, number: int) -> object:
        return _ALL[number].run(self)


class PartBindings(list[BindingType]):
    """The keys of the commands for one part of the screen."""

    def __init__(self, part: str) -> None:
        self.part = part
        super().__init__(
            Binding(
                command.keys,
                command.action,
                command.label,
                show=bool(command.label),
                tooltip=_sentence(command.does),
                priority=command.priority,
            )
            for command in COMMANDS[part]
            if command.keys and command.deed
        )


def _both(
    deed: Callable[[Value], object], keys: str, help: str, back: Value, on: Value
) -> tuple[Command, Command]:
    """Return two commands without a label, one with the argument `back`; a space is between their keys."""
    back_keys, on_keys = keys.split()
    return (
        Command(partial(deed, back), back_keys, help=help),
        Command(partial(deed, on), on_keys, help=help),
    )


def _leading_to(pane: PaneEntry) -> Command:
    return Command(
        partial(_screen.action_show, pane.id),
        pane.key,
        does=pane.shows,
        name=f"Show the {pane.title.lower()} pane",
        help=_PANES,
        priority=True,
    )


def _picture(kind: str) -> Command:
    return Command(
        partial(_editor.action_share, kind),
        does=_PICTURE,
        name=f"Save a picture of the text: {kind}",
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


# Those that have a button, a link or a hint

TRAIN: Final = Command(
    _features.training.train,
    "f6",
    "Train",
    "learn merges from the chosen texts",
    name="Train",
    help=_TRAIN,
    when=_screen.is_idle,
)

STEP: Final = Command(
    _features.training.step_once,
    "f7",
    "Step",
    "show one merge more and hold",
    name="Step: one merge",
)

STOP: Final = Command(
    _features.training.stop,
    "f8",
    "Stop",
    "end, keep this vocabulary",
    name="Stop the training here",
    when=_screen.run.busy,
)

MORE_OPTIONS: Final = Command(
    _features.corpus.more_options,
    does="longest token, sample, a start, …",
    name="More training options …",
)

NEXT_STEP: Final = Command(
    _features.tour.next,
    "f12,alt+full_stop",
    does="what the lesson says next",
    name="Next step",
    when=_screen.caption,
)

STEP_BACK: Final = Command(
    _features.tour.back,
    "f11,alt+comma",
    does="what the lesson said before",
    name="Step back",
    when=_screen.caption,
)

LEAVE_LESSON: Final = Command(
    _features.tour.leave,
    "escape",
    does="it goes on here the next time",
    name="Leave the lesson",
    when=_screen.caption,
)

COMPARE: Final = Command(
    _features.comparison.compare,
    does="those marked in the compare pane",
    name="Compare tokenizers",
)

AUDIT: Final = Command(
    _features.audit.audit,
    does="tokens that a model hardly learns; again: stop",
    name="Audit the tokenizer in force",
)

FASTER: Final = Command(
    partial(_features.shown.change_pace, 1),
    "plus",
    "Faster",
    "all merges in less time, up to none",
    name="Play faster",
    help=_PACE,
)

SLOWER: Final = Command(
    partial(_features.shown.change_pace, -1),
    "minus",
    "Slower",
    "all merges in more time",
    name="Play slower",
    help=_PACE,
)

TURN_SIDE: Final = Command(
    _editor.side.turn,
    "ctrl+t",
    "Why",
    "at the right: the token, why this split, what may come",
    name=_SIDE,
)

NEXT_PITFALL: Final = Command(
    partial(_editor.action_go_to_pitfall, 1),
    "ctrl+n",
    "Pitfall",
    "to what trips tokenizers next",
    name="Go to the next pitfall",
)

TURN_VIEW: Final = Command(
    _editor.action_turn_view,
    "ctrl+l",
    does="one after the other, then the text again",
    name=_VIEW,
)

SHOW_SPACES: Final = Command(
    _editor.action_toggle_spaces,
    "ctrl+g",
    does="as glyphs; again: as blanks",
    name="Show spaces and tabs",
)

SHOW_SPECIALS: Final = Command(
    _editor.action_toggle_specials,
    "ctrl+r",
    does="in the editor; as text at first",
    name="Special tokens as tokens or as text",
)

PIN: Final = Command(
    _editor.action_pin,
    "ctrl+b",
    does="see what differs from it from now on",
    name="Pin the text, or unpin it",
)

NEXT_EXAMPLE: Final = Command(
    _editor.action_next_example,
    "alt+e",
    does="small texts that show what tokens do",
    name="Next example",
)

COMMANDS: Final[Mapping[str, tuple[Command, ...]]] = {
    "Everywhere": (
        Command(
            _screen.action_help,
            "f1",
            "Help",
            "what the keys do, what the words mean",
            name="Keys and help",
            always=True,
        ),
        *(_leading_to(pane) for pane in PANES),
        TRAIN,
        Command(
            _features.shown.stop,
            "f6",
            "Hold",
            "stay at this merge",
            name="Hold the training",
            help=_TRAIN,
            when=_screen.is_playing,
        ),
        Command(
            _features.shown.start,
            "f6",
            "Go on",
            "show the next merges",
            name="Go on with the training",
            help=_TRAIN,
            when=_screen.is_held,
        ),
        STEP,
        STOP,
        Command(
            _features.shown.show_all,
            does="the last, and more as they are learned",
            name="Show all merges",
            when=_screen.run.busy,
        ),
        MORE_OPTIONS,
        Command(
            partial(_features.resuming.train_on, False),
            does="a larger vocabulary: more merges",
            name="Extend this tokenizer …",
        ),
        Command(
            partial(_features.resuming.train_on, True),
            does="keep the merges in force, learn others",
            name="Fork at this step …",
        ),
        Command(
            partial(_features.texts.export, "merges"),
            does="a line each, tabs between",
            name="Export the merges …",
        ),
        Command(
            partial(_features.texts.export, "curve"),
            does="as CSV, a line a step",
            name="Export the curve as numbers …",
        ),
        Command(
            partial(_features.texts.export, "record"),
            does="options, texts and steps as JSON",
            name="Export the training record …",
        ),
        Command(
            _features.texts.convert,
            does="Hugging Face, tiktoken, …",
            name="Save this tokenizer for another library …",
        ),
        Command(
            _features.shown.play,
            does="the editor's text, from bytes to the last one",
            name="Play the merges",
        ),
        Command(
            _screen.action_fill,
            "f9",
            "Zoom",
            "let this pane fill the screen, and back",
            name=_FILL,
            when=_screen.has_room,
        ),
        *_both(_features.shown.travel, "alt+left alt+right", _TRAVEL, -1, 1),
        Command(
            _features.texts.open,
            "ctrl+o",
            does="any UTF-8 file; Tab completes its path",
            name="Open a text in the editor",
        ),
        Command(
            _features.texts.save_text,
            "ctrl+s",
            does="as a file, exactly as it is",
            name="Save the editor's text",
        ),
        Command(
            _features.texts.bring_back,
            "alt+z",
            does="the one before an example, preset or file",
            name="Bring my text back",
        ),
        Command(
            _features.texts.ids_to_text,
            "alt+i",
            does="of pasted ids; and what encoding that gives",
            name="Ids in, text out",
        ),
        NEXT_STEP,
        STEP_BACK,
        LEAVE_LESSON,
        Command(
            _features.tokenizers.stop_waiting,
            "escape",
            does="stop waiting for a tokenizer being fetched or loaded",
        ),
        COMPARE,
        Command(
            _features.comparison.measure_text,
            does="its bytes per token and more",
            name="Measure the editor's text",
        ),
        AUDIT,
        Command(
            _features.corpus.add_path,
            does="by its path",
            name="Add a file or folder to the corpus",
        ),
        Command(
            _features.tokenizers.open,
            does="one that was saved elsewhere",
            name="Open a tokenizer file",
        ),
        Command(
            _features.tokenizers.delete_stopped,
            does="that nobody named",
            name="Delete tokenizers of stopped trainings…",
        ),
        Command(
            _features.tokenizers.change_pattern,
            does="see how it splits a text, and change that",
            name=_PATTERN,
        ),
        Command(
            _features.tokenizers.fetch,
            does="gpt-4o, or OWNER/NAME of a hub",
            name="Fetch a tokenizer by name…",
        ),
        Command(
            None,
            "tab,shift+tab",
            help="to the next part of the screen, and back; the line above the keys names it",
        ),
    ),
    "In dialogs too": (
        Command(
            _app.action_command_palette,
            "ctrl+p",
            "More",
            "every command by name, themes too",
            priority=True,
            always=True,
        ),
        Command(
            _app.action_quit,
            "ctrl+q",
            "Quit",
            "leave; everything comes back next time",
            priority=True,
            always=True,
        ),
    ),
    "Corpus": (
        Command(
            partial(_tree.action_run_preset, False),
            "enter",
            "Run",
            "with its own options: see what comes out",
            help=_OPEN,
            when=_tree.entry.preset,
        ),
        Command(
            _tree.action_select_cursor,
            "enter",
            "Open",
            "open it, or close it",
            help=_OPEN,
            when=_tree.on_group,
        ),
        Command(_tree.action_select_cursor, "enter"),
        Command(
            partial(_tree.action_run_preset, True),
            "f7",
            "Step",
            "learn the merges of a preset one by one",
            when=_tree.entry.preset,
        ),
        Command(
            partial(_tree.action_mark, "corpus"),
            "space",
            "Choose",
            "train on this text, or all of a group",
            when=_tree.markable,
        ),
        Command(
            _tree.action_only,
            "o",
            "Only",
            "train on this text alone, or on those of a group",
            when=_tree.has_others,
        ),
        Command(
            _tree.action_weigh,
            "number_sign",
            "Weight",
            "how many times this text counts beside the others",
            when=_tree.is_chosen,
        ),
        Command(
            _tree.action_choose_field,
            "c",
            "Column",
            "which field of this file is read; its first documents",
            when=_tree.has_fields,
        ),
        Command(
            _tree.action_edit,
            "e",
            "Edit",
            "open this text in the editor",
            when=_tree.is_text,
        ),
        Command(
            partial(_tree.action_mark, "reference"),
            "r",
            "Reference",
            "compare with this text in the audit",
            when=_tree.markable,
        ),
    ),
    "Tokenizers": (
        Command(
            _tokenizers.action_select,
            "enter",
            "Use",
            "put this tokenizer in force",
        ),
        Command(
            _tokenizers.action_change_pattern,
            "p",
            "Pattern",
            "see how this tokenizer splits a text, and change that",
        ),
        Command(
            _tokenizers.action_rename,
            "n",
            "Rename",
            "what this tokenizer is called in the list; its file stays as it is",
        ),
        Command(
            _tokenizers.action_delete,
            "delete",
            "Delete",
            "delete the file of this tokenizer of yours",
            help=_DELETE,
            when=_tokenizers.on_trained,
        ),
        Command(
            _tokenizers.action_delete,
            "delete",
            "Forget",
            "take it off the list; its file stays",
            help=_DELETE,
            when=_tokenizers.on_other,
        ),
    ),
    "Training": (
        Command(None, "enter", help="in a field: train"),
        Command(None, "space", help="on pattern or ties: see what there is to choose"),
    ),
    "Lists": (
        *_both(_rows.action_move, "up,k down,j", _ROW, -1, 1),
        *_both(
            _rows.action_move_page,
            "pageup pagedown",
            "by what is seen at once",
            -1,
            1,
        ),
        *_both(
            _rows.action_move_to_end,
            "home end",
            "to the first row, to the last",
            0,
            1,
        ),
        Command(
            _rows.action_select,
            "enter",
            does="in the audit: show the merge, put an example into the editor",
        ),
    ),
    "Merge log": (
        Command(
            _log.action_search,
            "slash",
            "Search",
            "tokens by their text, their bytes as 0x2074, or id",
        ),
        *_both(_log.action_choice, "left,h right,l", _SHOWN, -1, 1),
        *_both(
            _log.action_copy,
            "c C",
            "copy this row, or (C) all that are shown",
            "row",
            "all",
        ),
    ),
    "Why and pairs": (
        Command(
            _training.action_turn_why,
            "w",
            "Why",
            "beside the merge log: why this merge, its pairs, the code, or nothing",
        ),
        Command(
            _training.action_turn_writing,
            "b",
            "Bytes",
            "tokens there as text, hexadecimal or decimal bytes, or ids",
        ),
        Command(
            _features.training.go_to,
            "g",
            "Go to",
            "a step, or the first at which a condition holds",
            name="Go to a step …",
        ),
        Command(
            _features.training.train_until,
            "u",
            "Until",
            "train until a condition holds, then wait",
            name="Train until …",
        ),
        FASTER,
        SLOWER,
        Command(
            _features.shown.play,
            "space",
            help="hold the merge that is shown, and go on",
        ),
    ),
    "Code": (
        Command(
            partial(_why.action_run_line, 1),
            "f7,right",
            "Line",
            _LINE,
            help=_LINE,
            when=_why.shows_code,
        ),
        Command(
            partial(_why.action_run_line, -1),
            "left",
            help=_LINE,
            when=_why.shows_code,
        ),
        Command(
            _why.action_turn_code,
            "i",
            "Encode",
            "the code of encoding the editor's word, or of the merge",
            when=_why.shows_code,
        ),
    ),
    "Curve": (
        Command(
            _curve.action_show_next,
            "m",
            "Metric",
            "bytes per token, tokens saved, use, Rényi efficiency",
        ),
        Command(
            _features.resuming.show_runs,
            does="compare them; lay a curve under this",
            name="List of trainings …",
        ),
        Command(
            _curve.action_change_scale,
            "z",
            "Log scale",
            "give the first merges, which matter most, more room",
        ),
        *_both(
            _curve.action_travel,
            "left right",
            "to the dot before, to the next",
            -1,
            1,
        ),
        *_both(_curve.action_travel_to_end, "home end", _ENDS, 0, 1),
    ),
    "Line of steps": (
        Command(
            _features.shown.play,
            "space",
            "Play",
            "the editor's text from bytes to the last merge",
            help=_PLAY,
            when=_line.is_held,
        ),
        Command(
            _features.shown.play,
            "space",
            "Pause",
            "stay at this merge; again: play on",
            help=_PLAY,
            when=_line.playing,
        ),
        Command(
            partial(_features.shown.change_pace, 1),
            "plus",
            "Faster",
            "all merges in less time",
            help=_PACE,
        ),
        Command(
            partial(_features.shown.change_pace, -1),
            "minus",
            "Slower",
            "all merges in more time",
            help=_PACE,
        ),
        Command(
            partial(_features.shown.travel, -1),
            "left",
            "Back",
            "one merge back",
        ),
        Command(
            partial(_features.shown.travel, 1),
            "right",
            "Forward",
            "one merge on",
        ),
        *_both(
            _features.shown.travel,
            "shift+left shift+right",
            "ten back or on",
            -10,
            10,
        ),
        *_both(
            _line.action_leap,
            "ctrl+left,pageup ctrl+right,pagedown",
            "a twentieth of the way back or on",
            -1,
            1,
        ),
        *_both(_line.action_go_to_end, "home end", _ENDS, 0, 1),
    ),
    "Editor": (
        TURN_SIDE,
        NEXT_PITFALL,
        Command(
            partial(_editor.action_go_to_pitfall, -1),
            "alt+n",
            does="to the pitfall before",
        ),
        TURN_VIEW,
        Command(
            _features.lanes.ask,
            "alt+l",
            "Lanes",
            _LANES,
            name="Lanes: other tokenizers under the text",
        ),
        SHOW_SPACES,
        SHOW_SPECIALS,
        PIN,
        *_both(
            _editor.status_lines.walk,
            "alt+up alt+down",
            "what earlier edits did",
            1,
            -1,
        ),
        NEXT_EXAMPLE,
        Command(
            partial(_editor.action_copy, "text"),
            does="the selection, or all of it",
            name="Copy the text",
        ),
        Command(
            partial(_editor.action_copy, "ids"),
            does="of the selection, or of all; with spaces between",
            name="Copy token ids",
        ),
        Command(
            partial(_editor.action_copy, "list"),
            "alt+c",
            does="of the selection, or of all",
            name="Copy token ids as a Python list",
        ),
        *(_picture(kind) for kind in _PICTURES),
        Command(
            _editor.area.undo,
            does="the last edit: Ctrl+Z",
            name="Undo",
        ),
        Command(
            _editor.area.redo,
            does="the edit that was undone last: Ctrl+Y",
            name="Redo",
        ),
        Command(None, "ctrl+z,ctrl+y", help="undo, redo"),
        Command(None, "ctrl+c,ctrl+v", help="copy, paste"),
    ),
    "Audit": (
        Command(
            _features.audit.audit,
            "escape",
            "Stop",
            "do without the audit that is under way",
            when=_audit.audit.running,
        ),
        Command(
            _audit.action_search,
            "slash",
            "Search",
            "by the token's text, its id, or its bytes in hex",
        ),
        Command(
            partial(_audit.panel.action_turn, 1),
            "w",
            "Why",
            "what else is known of the token",
        ),
        Command(
            _features.audit.export,
            "x",
            "Export",
            "what is shown, as .jsonl, .csv or .md",
            name="Export the tokens shown…",
        ),
        Command(
            _features.audit.with_model,
            does="or no longer",
            name="Audit with a model's embeddings …",
        ),
        Command(
            _features.audit.with_texts,
            does="count the tokens in them, or stop that",
            name="Audit with the chosen texts",
        ),
    ),
    "Tokens": (
        Command(_tokens.action_sort_next, "s", "Sort", "by the next column"),
        Command(
            _tokens.action_reverse,
            "S",
            "Reverse",
            "turn the order around",
        ),
        *_both(
            _tokens.action_choice,
            "left,h right,l",
            "one kind only, then the next; special tokens and unused ids at the end",
            -1,
            1,
        ),
        Command(
            _tokens.action_severity,
            "v",
            "Worse",
            "only what is worse: notes, warnings, problems, then all",
        ),
    ),
    "Evidence": (
        *_both(
            _evidence.action_turn,
            "left,h right,l",
            "what is known of the token: see the next, see the one before",
            -1,
            1,
        ),
    ),
    "Compare": (
        Command(
            _features.comparison.compare,
            "escape",
            "Stop",
            "do without the rest of the comparison",
            when=_compare.comparison.running,
        ),
        Command(
            _compare.action_choose,
            "a",
            "Choose anew",
            "other tokenizers, or other texts",
            when=_compare.has_compared,
        ),
        Command(
            _features.comparison.export,
            "x",
            "Export",
            "what is shown, as .csv, .md or .tex",
            name="Export this comparison…",
        ),
    ),
    "Tokenizers to compare": (
        Command(
            _picker.action_mark,
            "space",
            "Choose",
            "compare this tokenizer, or leave it out",
        ),
    ),
    "Comparison": (
        Command(partial(_comparison.action_choice, -1), "left,h", help=_VIEWS),
        Command(
            partial(_comparison.action_choice, 1), "right", "View", _VIEWS, help=_VIEWS
        ),
        Command(partial(_comparison.action_choice, 1), "l", help=_VIEWS),
        Command(
            partial(_comparison.action_metric, 1),
            "m",
            "Metric",
            "the next metric, from tokens to parity",
            help=_TURN,
            when=_comparison.has_metrics,
        ),
        Command(
            partial(_comparison.action_metric, -1),
            "M",
            help=_TURN,
            when=_comparison.has_metrics,
        ),
        Command(
            _comparison.action_tokenizer,
            "t",
            "Tokenizer",
            "show another tokenizer",
            when=_comparison.has_tokenizers,
        ),
        Command(
            _comparison.action_reference,
            "r",
            "Parity",
            "relate parity to this text or folder",
            when=_comparison.has_references,
        ),
        Command(
            _comparison.action_sort_next,
            "s",
            "Sort",
            "by the next column",
            when=_comparison.can_sort,
        ),
        Command(
            _comparison.action_reverse,
            "S",
            "Reverse",
            "turn the order around",
            when=_comparison.can_sort,
        ),
    ),
}
"""By the part of the screen that they are for; in the order in which the help tells them."""
_ALL: Final = [command for commands in COMMANDS.values() for command in commands]
_NUMBERS: Final = {command: number for number, command in enumerate(_ALL)}


def tooltip(command: Command) -> str:
    """Return the sentence for a button of a command: what it does, and which key does so where."""
    if not command.keys:
        return _sentence(command.does)
    part = next(part for part, commands in COMMANDS.items() if command in commands)
    where = "anywhere" if part == "Everywhere" else f"in the {part.lower()}"
    return _sentence(f"{command.does}; {long_name(command.keys)} {where}")


def help_lines(commands: Iterable[Command]) -> list[tuple[str, str]]:
    """(keys, what they do) for each line of the help."""
    told = [command for command in commands if command.keys and command.told]
    lines = []
    for does, some in groupby(told, key=lambda command: command.told):
        first = [
            key
            for command in some
            for key in command.keys.split(",")[: None if not command.deed else 1]
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
