"""Every command in one table: its keys, its words, what it does and when.

The table names methods and properties of widgets and features whose classes are imported later. mypy knows the classes,
and refuses a name that isn't there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from tui.commands.command import Command, Later, both
from tui.commands.panes import PANES, PaneEntry

if TYPE_CHECKING:
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
    from tui.widgets.step_line import StepLine
    from tui.widgets.token_panel import TokenPanel
    from tui.widgets.token_table import TokenTable
    from tui.widgets.tokenizer_lists import TokenizerList, TokenizerPicker
    from tui.widgets.why_panel import WhyPanel

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
    _features = Later("screen.features")
    _app = _audit = _compare = _comparison = _curve = _editor = _evidence = Later()
    _line = _log = _picker = _rows = _screen = _tokenizers = _tokens = Later()
    _training = _tree = _why = Later()


def _leading_to(pane: PaneEntry) -> Command:
    titles = ", ".join(entry.title.lower() for entry in PANES)
    return Command(
        partial(_screen.action_show, pane.id),
        pane.key,
        does=pane.shows,
        name=f"Show the {pane.title.lower()} pane",
        help=f"{titles}; pressed again, the next part of it",
        priority=True,
    )


def _picture(kind: str) -> Command:
    return Command(
        partial(_editor.action_share, kind),
        does="the tokens in all lanes: of the selection, or else of all that fits",
        name=f"Save a picture of the text: {kind}",
    )


_TRAIN: Final = (
    "train on the chosen texts; then hold the merge that is shown, and go on"
)
_DELETE: Final = (
    "delete the file of a tokenizer trained here; take any other off the list"
)
_OPEN: Final = "run a preset; open a folder"
_ENDS: Final = "before the first merge, after the last"
_PACE: Final = "show the merges in less time, or in more"
_PLAY: Final = "the editor's text from bytes to the last merge; or pause"
_LINE: Final = "run the next line; after the last, the next merge; or one line back"
_VIEWS: Final = (
    "texts, folders, scripts, metrics, worst lines, disagreements, vocabularies"
)
_TURN: Final = "the next metric of each row, or the one before: from tokens to parity"


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
    name="Why this split, what may come",
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
    name="View: borders, ids, one token a line",
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
            name="Fill the screen with this pane",
            when=_screen.has_room,
        ),
        *both(
            _features.shown.travel,
            "alt+left alt+right",
            "one step back or on in the life of the vocabulary",
            -1,
            1,
        ),
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
            name="Split pattern of this tokenizer…",
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
        *both(
            _rows.action_move,
            "up,k down,j",
            "by one row; in the merge log, travel to that step: the editor follows",
            -1,
            1,
        ),
        *both(
            _rows.action_move_page,
            "pageup pagedown",
            "by what is seen at once",
            -1,
            1,
        ),
        *both(
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
        *both(
            _log.action_choice,
            "left,h right,l",
            "show the longest tokens, the most used, ties, partial UTF-8, used up; or all",
            -1,
            1,
        ),
        *both(
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
        *both(
            _curve.action_travel,
            "left right",
            "to the dot before, to the next",
            -1,
            1,
        ),
        *both(_curve.action_travel_to_end, "home end", _ENDS, 0, 1),
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
        *both(
            _features.shown.travel,
            "shift+left shift+right",
            "ten back or on",
            -10,
            10,
        ),
        *both(
            _line.action_leap,
            "ctrl+left,pageup ctrl+right,pagedown",
            "a twentieth of the way back or on",
            -1,
            1,
        ),
        *both(_line.action_go_to_end, "home end", _ENDS, 0, 1),
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
            "the same text under up to three other tokenizers, or other steps of this one",
            name="Lanes: other tokenizers under the text",
        ),
        SHOW_SPACES,
        SHOW_SPECIALS,
        PIN,
        *both(
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
        *map(_picture, ("html", "svg", "markdown")),
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
        *both(
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
        *both(
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
