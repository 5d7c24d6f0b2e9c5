"""The table of all commands: their keys, labels, methods and conditions.

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
    from tui.widgets.comparison_lanes import ComparisonLanes
    from tui.widgets.comparison_table import ComparisonTable
    from tui.widgets.comparison_verdicts import Verdicts
    from tui.widgets.corpus_tree import CorpusTree
    from tui.widgets.curve import Curve
    from tui.widgets.merge_log import MergeLog
    from tui.widgets.question_line import QuestionLine
    from tui.widgets.step_line import StepLine
    from tui.widgets.token_panel import TokenPanel
    from tui.widgets.token_table import TokenTable
    from tui.widgets.tokenizer_lists import TokenizerList, TokenizerPicker
    from tui.widgets.why_panel import WhyPanel

    _features: Features
    _app: BpeScope
    _audit: AuditPane
    _compare: ComparePane
    _compared_text: ComparisonLanes
    _comparison: ComparisonTable
    _curve: Curve
    _editor: EditorPane
    _evidence: TokenPanel
    _line: StepLine
    _log: MergeLog
    _picker: TokenizerPicker
    _question: QuestionLine
    _rows: RowList
    _screen: MainScreen
    _tokenizers: TokenizerList
    _tokens: TokenTable
    _training: TrainingPane
    _tree: CorpusTree
    _verdicts: Verdicts
    _why: WhyPanel
else:
    _features = Later("screen.features")
    _app = _audit = _compare = _comparison = _curve = _editor = _evidence = Later()
    _compared_text = _line = _log = _picker = _question = _rows = Later()
    _screen = _tokenizers = _tokens = Later()
    _training = _tree = _verdicts = _why = Later()


def _leading_to(pane: PaneEntry) -> Command:
    # All panes have the same help, and the help shows commands with the same help in one line.
    titles = ", ".join(entry.title.lower() for entry in PANES)
    return Command(
        partial(_screen.action_show, pane.id),
        pane.key,
        does=pane.shows,
        name=f"Show the {pane.title.lower()} pane",
        help=f"{titles}; press again for the next part of the pane",
        priority=True,
    )


def _picture(kind: str) -> Command:
    return Command(
        partial(_features.excerpts.save_picture, kind),
        does="the tokens in all lanes: the selection, or as much of the text as fits",
        name=f"Make a picture of the text: {kind}…",
        words="save export image",
    )


_TRAIN: Final = (
    "train on the chosen texts; while training, pause at the merge shown, or go on"
)
_GO_IN: Final = "close or open a group or folder, or leave or enter it"
_DELETE: Final = (
    "delete the file of a tokenizer trained here; remove any other from the list"
)
_OPEN: Final = "run an example; open a folder"
_ENDS: Final = "go to the start, before any merge, or to the last merge"
_PACE: Final = "show the merges faster or slower"
_PLAY: Final = "play the merges in the editor, from bytes to the last merge; or pause"
_LINE: Final = (
    "run the next line, and after the last line the next merge; or go one line back"
)
_COMPARE: Final = "compare the marked tokenizers"
_SHOW_STEP: Final = "show the editor's text after this merge"
_SHOW_TOKEN: Final = "show the merge of this token, and an example of it in the editor"
_TOUR: Final = "start or resume the tour; in a lesson: next step"
_SORT: Final = "sort by the next column, or reverse the order"
_VIEWS: Final = (
    "texts, folders, scripts, metrics, worst lines, disagreements, vocabularies"
)
_TURN: Final = "show the next or previous metric of each row, from tokens to parity"


# Commands that a button, a link or a hint refers to

TRAIN: Final = Command(
    _features.training.train,
    "f6",
    "Train",
    "learn merges from the chosen texts",
    name="Train",
    words="restart start run again merges",
    help=_TRAIN,
    when=_screen.is_idle,
)

STEP: Final = Command(
    _features.goals.step_once,
    "f7",
    "Step",
    "show one more merge, then pause",
    name="Step: one merge",
    words="next",
)

STOP: Final = Command(
    _features.training.stop,
    "f8",
    "Stop",
    "end the training and keep the vocabulary shown",
    name="Stop the training here",
    when=_screen.run.busy,
)

MORE_OPTIONS: Final = Command(
    _features.corpus.more_options,
    does="longest token, sample size, tokenizer to extend, …",
    name="More training options…",
    words="settings sample limit",
)

NEXT_STEP: Final = Command(
    _features.tour.next,
    "f12,alt+full_stop",
    does="do what the step waits for, and continue the lesson",
    name="Next step",
    help=_TOUR,
    when=_screen.caption,
)

TOUR: Final = Command(
    _features.tour.resume,
    "f12,alt+full_stop",
    does="eight short lessons; start, or resume where you left off",
    name="Take the tour",
    help=_TOUR,
    when=_screen.is_without_lesson,
)

STEP_BACK: Final = Command(
    _features.tour.back,
    "f11,alt+comma",
    does="go back one step in the lesson",
    name="Previous step",
    when=_screen.caption,
)

LEAVE_LESSON: Final = Command(
    _features.tour.leave,
    "escape",
    does="you can resume it later",
    name="Leave the lesson",
    when=_screen.caption,
)

COMPARE: Final = Command(
    _features.comparison.compare,
    does="compare the tokenizers marked in the compare pane",
    name="Compare tokenizers",
    words="diff difference versus",
)

AUDIT: Final = Command(
    _features.audit.audit,
    does="find tokens a model has barely learned; again: stop",
    name="Audit the current tokenizer",
    words="undertrained glitch suspicious",
)

FASTER: Final = Command(
    partial(_features.shown.change_pace, 1),
    "plus",
    "Faster",
    "show all merges in less time, or at once",
    name="Play faster",
    words="speed pace",
    help=_PACE,
)

SLOWER: Final = Command(
    partial(_features.shown.change_pace, -1),
    "minus",
    "Slower",
    "show all merges in more time",
    name="Play slower",
    help=_PACE,
)

TURN_SIDE: Final = Command(
    _editor.side.turn,
    "ctrl+t",
    "Why",
    "on the right: the token, why it is split this way, or possible next tokens",
    name="Turn the side: token, why this split, next tokens",
)

NEXT_PITFALL: Final = Command(
    partial(_editor.action_go_to_pitfall, 1),
    "ctrl+n",
    "Pitfall",
    "go to the next place that tokenizers handle badly",
    name="Go to the next pitfall",
)

TURN_VIEW: Final = Command(
    _editor.action_turn_view,
    "ctrl+l",
    does="each view in turn, then the plain text again",
    name="Change the view: borders, ids, one token per line",
)

SHOW_SPACES: Final = Command(
    _editor.action_toggle_spaces,
    "ctrl+g",
    does="as visible signs; again: as blanks",
    name="Show spaces and tabs",
    words="whitespace",
)

SHOW_SPECIALS: Final = Command(
    _editor.action_toggle_specials,
    "ctrl+r",
    does="in the editor; plain text by default",
    name="Read special tokens as tokens or as text",
    words="endoftext",
)

PIN: Final = Command(
    _editor.action_pin,
    "ctrl+b",
    does="show how later versions differ from this one",
    name="Pin the text, or unpin it",
)

NEXT_EXAMPLE: Final = Command(
    _editor.action_next_example,
    "alt+e",
    does="short texts that show how tokens behave",
    name="Next example",
)

COMMANDS: Final[Mapping[str, tuple[Command, ...]]] = {
    "Everywhere": (
        Command(
            _screen.action_help,
            "f1",
            "Help",
            "what the keys do and what the words mean",
            name="Keys and help",
            words="shortcuts keyboard manual glossary",
            always=True,
        ),
        *(_leading_to(pane) for pane in PANES),
        TRAIN,
        Command(
            _features.shown.stop,
            "f6",
            "Pause",
            "pause at this merge",
            name="Pause the training",
            help=_TRAIN,
            when=_screen.is_playing,
        ),
        Command(
            _features.shown.start,
            "f6",
            "Go on",
            "continue showing merges",
            name="Continue the training",
            help=_TRAIN,
            when=_screen.is_held,
        ),
        STEP,
        STOP,
        Command(
            _features.shown.show_all,
            does="jump to the newest merge, then follow the training",
            name="Show all merges",
            when=_screen.run.busy,
        ),
        Command(
            _screen.training.edit_options,
            does="or the pattern, ties, minimum count and special tokens",
            name="Set the vocabulary size",
            words="vocab options settings",
            when=_screen.is_idle,
        ),
        MORE_OPTIONS,
        Command(
            partial(_features.resuming.train_on, False),
            does="learn more merges for a larger vocabulary",
            name="Extend this tokenizer…",
            words="continue",
        ),
        Command(
            partial(_features.resuming.train_on, True),
            does="keep the merges up to this step, then learn others",
            name="Fork at this step…",
            words="branch",
        ),
        Command(
            _features.texts.convert,
            does="for another library, such as Hugging Face, tiktoken or minbpe",
            name="Export this tokenizer…",
            words="save convert",
        ),
        Command(
            partial(_features.texts.export, "merges"),
            does="one merge per line, in columns separated by tabs",
            name="Export merges…",
            words="tsv",
        ),
        Command(
            partial(_features.texts.export, "curve"),
            does="as CSV, one line per step",
            name="Export curve as numbers…",
            words="csv",
        ),
        Command(
            partial(_features.texts.export, "record"),
            does="options, texts and steps as JSON",
            name="Export training record…",
            words="json",
        ),
        Command(
            _features.shown.play,
            does="in the editor, from bytes to the last merge",
            name="Play the merges",
            words="restart replay watch animate",
        ),
        Command(
            _screen.action_fill,
            "f9",
            "Zoom",
            "let this pane fill the screen; again: show all",
            name="Fill the screen with this pane",
            words="zoom maximize",
            when=_screen.has_room,
        ),
        Command(
            _screen.action_jump,
            "alt+j,ctrl+f",
            does="a letter appears on each part of the screen; press it to go there",
            name="Jump to a part of the screen",
            help="jump: a letter appears on each part of the screen; press it to go there",
        ),
        *both(
            _features.shown.travel_or_skip,
            "alt+left alt+right",
            "go one merge back or forward",
            -1,
            1,
        ),
        Command(
            _features.texts.open,
            "ctrl+o",
            does="any UTF-8 file; Tab completes its path",
            name="Open a text in the editor…",
            words="file load",
        ),
        Command(
            _features.texts.save_text,
            "ctrl+s",
            does="as a file, unchanged",
            name="Save the editor's text…",
            words="file write",
        ),
        Command(
            _features.texts.bring_back,
            "alt+z",
            does="after an example or file replaced it",
            name="Bring my text back",
            words="restore revert",
        ),
        Command(
            _features.texts.ids_to_text,
            "alt+i",
            does="paste ids to see their text, and the ids that it encodes to",
            name="Turn ids into text…",
            words="decode detokenize",
        ),
        NEXT_STEP,
        TOUR,
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
            does="bytes per token and more",
            name="Measure the editor's text",
            words="count tokens number fertility metrics statistics",
        ),
        AUDIT,
        Command(
            _features.corpus.add_path,
            does="enter its path",
            name="Add a file or folder to the corpus…",
            words="load data dataset open",
        ),
        Command(
            _features.tokenizers.open,
            does="saved by bpescope or another program",
            name="Open a tokenizer file…",
            words="load import",
        ),
        Command(
            _features.listed.delete_stopped,
            does="those without a name of your own",
            name="Delete tokenizers from stopped trainings…",
        ),
        Command(
            _features.tokenizers.change_pattern,
            does="see how it splits text, and change it",
            name="Split pattern of this tokenizer…",
            words="regex regexp expression pretokenizer",
        ),
        Command(
            _features.tokenizers.fetch,
            does="gpt-4o, or OWNER/NAME on Hugging Face",
            name="Fetch a tokenizer by name…",
            words="gpt2 gpt4 gpt4o o200k cl100k tiktoken llama qwen mistral huggingface download",
        ),
        Command(
            None,
            "tab,shift+tab",
            help="go to the next or previous part of the screen; the line above the keys names it",
        ),
    ),
    "In dialogs too": (
        Command(
            _app.action_command_palette,
            "ctrl+p",
            "More",
            "all commands by name, and themes",
            priority=True,
            always=True,
        ),
        Command(
            _app.action_quit,
            "ctrl+q",
            "Quit",
            "leave; everything is restored at the next start",
            priority=True,
            always=True,
        ),
    ),
    "Question": (
        Command(
            _question.action_leave,
            "escape",
            does="return to the pane, and leave the question open",
        ),
    ),
    "Corpus": (
        Command(
            partial(_tree.action_run_preset, False),
            "enter",
            "Run",
            "train with its own options and check the result",
            help=_OPEN,
            when=_tree.entry.preset,
        ),
        Command(
            _tree.action_select_cursor,
            "enter",
            "Open",
            "open or close this folder",
            help=_OPEN,
            when=_tree.on_group,
        ),
        Command(_tree.action_select_cursor, "enter"),
        Command(_tree.action_cursor_up, "up,k", help="move by one row"),
        Command(_tree.action_cursor_down, "down,j", help="move by one row"),
        Command(_tree.action_go_out, "left,h", help=_GO_IN),
        Command(_tree.action_go_in, "right,l", help=_GO_IN),
        Command(
            partial(_tree.action_run_preset, True),
            "f7",
            "Step",
            "learn the merges of this example one by one",
            when=_tree.entry.preset,
        ),
        Command(
            partial(_tree.action_mark, "corpus"),
            "space",
            "Choose",
            "train on this text, or on all texts of a group",
            when=_tree.markable,
        ),
        Command(
            _tree.action_only,
            "o",
            "Only",
            "train on this text or group alone",
            when=_tree.has_others,
        ),
        Command(
            _tree.action_weigh,
            "number_sign",
            "Weight",
            "how many times this text counts compared with the others",
            when=_tree.is_chosen,
        ),
        Command(
            _tree.action_choose_field,
            "c",
            "Column",
            "choose the column or field of this file to read, and see its first documents",
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
            "compare the corpus with this text in the audit",
            when=_tree.markable,
        ),
    ),
    "Tokenizers": (
        Command(
            _tokenizers.action_select,
            "enter",
            "Use",
            "use this tokenizer in all panes",
        ),
        Command(
            _tokenizers.action_change_pattern,
            "p",
            "Pattern",
            "see how this tokenizer splits text, and change it",
        ),
        Command(
            _tokenizers.action_rename,
            "n",
            "Rename",
            "change its name in the list; its file keeps its name",
        ),
        Command(
            _tokenizers.action_delete,
            "delete",
            "Delete",
            "delete the file of this tokenizer",
            help=_DELETE,
            when=_tokenizers.on_trained,
        ),
        Command(
            _tokenizers.action_delete,
            "delete",
            "Remove",
            "remove it from the list; its file stays",
            help=_DELETE,
            when=_tokenizers.on_other,
        ),
    ),
    "Training": (
        Command(None, "enter", help="in a field: train"),
        Command(None, "space", help="on pattern or ties: show the choices"),
    ),
    "Lists": (
        *both(
            _rows.action_move,
            "up,k down,j",
            "move by one row; in the merge log, the editor follows to that step",
            -1,
            1,
        ),
        *both(
            _rows.action_move_page,
            "pageup pagedown",
            "move by one page",
            -1,
            1,
        ),
        *both(
            _rows.action_move_to_end,
            "home end",
            "go to the first or last row",
            0,
            1,
        ),
        Command(
            _rows.action_select,
            "enter",
            does="show what this row is about",
        ),
    ),
    "Merge log": (
        Command(
            _log.action_select,
            "enter",
            "Show step",
            _SHOW_STEP,
            help=_SHOW_STEP,
            when=_log.target,
        ),
        Command(_log.action_select, "enter", help=_SHOW_STEP),
        Command(
            _log.action_search,
            "slash",
            "Search",
            "find tokens by text, by bytes such as 0x2074, or by id",
        ),
        *both(
            _log.action_choice,
            "left,h right,l",
            "show all tokens, or the longest, most used, tied, partial UTF-8 or used-up ones",
            -1,
            1,
        ),
        *both(
            _log.action_copy,
            "c C",
            "copy this row, or (C) all rows shown",
            "row",
            "all",
        ),
    ),
    "Why and pairs": (
        Command(
            _training.action_turn_why,
            "w",
            "Why",
            "next to the merge log: why this merge, all pairs, the code, or nothing",
        ),
        Command(
            _training.action_turn_writing,
            "b",
            "Bytes",
            "show tokens as text, hexadecimal or decimal bytes, or ids",
        ),
        Command(
            _features.goals.go_to,
            "g",
            "Go to",
            "go to a step, or to the first where a condition holds",
            name="Go to a step…",
            words="jump merge",
        ),
        Command(
            _features.goals.train_until,
            "u",
            "Until",
            "train until a condition holds, then pause",
            name="Train until…",
            words="goal condition",
        ),
        FASTER,
        SLOWER,
        Command(
            _features.shown.play,
            "space",
            help="pause at the merge shown, or go on",
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
            "show the code that encodes the word in the editor, or the code of the merge",
            when=_why.shows_code,
        ),
        Command(
            _why.action_turn_length,
            "f",
            "Short/full",
            "show the merge in twelve lines of code, or in the reference with all options",
            when=_why.shows_code,
        ),
    ),
    "Curve": (
        Command(
            _curve.action_show_next,
            "m",
            "Metric",
            "show bytes per token, tokens saved, use, or Rényi efficiency",
        ),
        Command(
            _features.resuming.show_runs,
            does="compare them, or draw a second curve",
            name="List of trainings…",
            words="runs history",
        ),
        Command(
            _curve.action_change_scale,
            "z",
            "Log scale",
            "give more room to the first merges, which matter most",
        ),
        *both(
            _curve.action_travel,
            "left right",
            "go to the previous or next dot",
            -1,
            1,
        ),
        *both(_features.shown.travel_to_end, "home end", _ENDS, 0, 1),
        Command(
            _features.stage.replay,
            does="only the text, each merge and a curve, without the panes",
            name="Play on the full screen, from the start",
        ),
    ),
    "Line of steps": (
        Command(
            _features.shown.play,
            "space",
            "Play",
            "play the merges in the editor, from bytes to the last merge",
            help=_PLAY,
            when=_line.is_held,
        ),
        Command(
            _features.shown.play,
            "space",
            "Pause",
            "pause at this merge; again: go on",
            help=_PLAY,
            when=_line.playing,
        ),
        Command(
            partial(_features.shown.change_pace, 1),
            "plus",
            "Faster",
            "show all merges in less time",
            help=_PACE,
        ),
        Command(
            partial(_features.shown.change_pace, -1),
            "minus",
            "Slower",
            "show all merges in more time",
            help=_PACE,
        ),
        Command(
            partial(_features.shown.travel, -1),
            "left",
            "Back",
            "go one merge back",
        ),
        Command(
            partial(_features.shown.travel, 1),
            "right",
            "Forward",
            "go one merge forward",
        ),
        *both(
            _features.shown.travel,
            "shift+left shift+right",
            "go ten merges back or forward",
            -10,
            10,
        ),
        *both(
            _line.action_leap,
            "ctrl+left,pageup ctrl+right,pagedown",
            "go a twentieth of all merges back or forward",
            -1,
            1,
        ),
        *both(_features.shown.travel_to_end, "home end", _ENDS, 0, 1),
    ),
    "Editor": (
        Command(
            _features.training.train_on_text,
            "alt+t",
            "Train on this",
            "learn merges from the selection, or from this whole text, and watch them",
            name="Train on this text",
        ),
        TURN_SIDE,
        NEXT_PITFALL,
        Command(
            partial(_editor.action_go_to_pitfall, -1),
            "alt+n",
            does="go to the previous pitfall",
        ),
        TURN_VIEW,
        Command(
            _features.lanes.ask,
            "alt+l",
            "Lanes",
            "show the same text under up to three other tokenizers, or steps of this one",
            name="Lanes: other tokenizers under the text…",
            words="side parallel",
        ),
        Command(
            _features.surgery.one_token,
            "alt+g",
            "One token",
            "make the selection or a typed word one token; or review the change shown as a lane",
            name="One token for the selection or a word…",
            words="graft add extend vocabulary surgery merge",
        ),
        SHOW_SPACES,
        SHOW_SPECIALS,
        PIN,
        *both(
            _editor.status_lines.walk,
            "alt+up alt+down",
            "show what earlier edits changed",
            1,
            -1,
        ),
        NEXT_EXAMPLE,
        Command(
            _features.excerpts.copy_text,
            does="the selection, or the whole text",
            name="Copy the text",
        ),
        Command(
            _features.excerpts.copy_ids,
            does="of the selection or the whole text, separated by spaces",
            name="Copy token ids",
            words="encode",
        ),
        Command(
            _features.excerpts.copy_list,
            "alt+c",
            does="of the selection or the whole text",
            name="Copy token ids as a Python list",
        ),
        *map(_picture, ("html", "svg", "markdown")),
        Command(
            _editor.area.select_all,
            does="the whole text: Alt+A",
            name="Select all",
        ),
        Command(
            _editor.area.clear,
            does="empty the editor; undo brings the text back",
            name="Clear the text",
            words="delete empty reset erase",
        ),
        Command(
            _editor.area.undo,
            does="the last edit: Ctrl+Z",
            name="Undo",
        ),
        Command(
            _editor.area.redo,
            does="the edit undone last: Ctrl+Y",
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
            "stop this audit",
            when=_audit.audit.running,
        ),
        Command(
            _audit.action_search,
            "slash",
            "Search",
            "find tokens by text, by id, or by bytes in hex",
        ),
        Command(
            partial(_audit.panel.action_turn, 1),
            "w",
            "Why",
            "show more evidence about the token",
        ),
        Command(
            _features.audit.export,
            "x",
            "Export",
            "the rows shown, as .jsonl, .csv or .md",
            name="Export the tokens shown…",
        ),
        Command(
            _features.audit.with_model,
            does="or without them again",
            name="Audit with a model's embeddings…",
            words="weights safetensors",
        ),
        Command(
            _features.audit.with_texts,
            does="count the tokens in them; again: without them",
            name="Audit with the chosen texts",
        ),
    ),
    "Tokens": (
        Command(
            _tokens.action_select,
            "enter",
            "Show merge",
            _SHOW_TOKEN,
            help=_SHOW_TOKEN,
            when=_tokens.on_merge,
        ),
        Command(
            _tokens.action_select,
            "enter",
            "Example",
            _SHOW_TOKEN,
            help=_SHOW_TOKEN,
            when=_tokens.on_example,
        ),
        Command(
            _tokens.action_mark,
            "space",
            "Mark",
            "mark this token to see the tokenizer without it, or unmark it",
            when=_tokens.target,
        ),
        Command(
            _features.surgery.without_marked,
            "d",
            "Without",
            "what the tokenizer would be without the marked tokens; save it as a new file",
            name="Without the marked tokens…",
            words="prune remove delete drop vocabulary surgery",
        ),
        Command(
            _tokens.action_sort_next,
            "s",
            "Sort",
            "sort by the next column",
            help=_SORT,
        ),
        Command(
            _tokens.action_reverse, "S", "Reverse", "reverse the order", help=_SORT
        ),
        *both(
            _tokens.action_choice,
            "left,h right,l",
            "show one kind of finding, then the next; special tokens and unused ids come last",
            -1,
            1,
        ),
        Command(
            _tokens.action_family,
            "plus",
            "Related",
            "show the tokens that contain this one or are in it, or hide them again",
            when=_tokens.has_family,
        ),
        Command(
            _tokens.action_severity,
            "v",
            "Severity",
            "all tokens, notes and worse, warnings and worse, or problems",
        ),
    ),
    "Evidence": (
        Command(
            _evidence.action_select,
            "enter",
            "Open",
            "go to this token, or open this text in the editor",
            when=_evidence.target,
        ),
        *both(
            _evidence.action_turn,
            "left,h right,l",
            "show the next or previous evidence about the token",
            -1,
            1,
        ),
    ),
    "Compare": (
        Command(
            _features.comparison.compare,
            "escape",
            "Stop",
            "stop this comparison",
            when=_compare.comparison.running,
        ),
        Command(
            _compare.action_choose,
            "a",
            "Change",
            "choose other tokenizers or other texts",
            when=_compare.has_compared,
        ),
        Command(
            _features.comparison.export,
            "x",
            "Export",
            "the rows shown, as .csv, .md or .tex",
            name="Export this comparison…",
        ),
    ),
    "Tokenizers to compare": (
        Command(
            _picker.action_select,
            "enter",
            "Compare",
            _COMPARE,
            help=_COMPARE,
            when=_picker.target,
        ),
        # If no tokenizer is marked, it reports what is missing.
        Command(_picker.action_select, "enter", help=_COMPARE),
        Command(
            _picker.action_mark,
            "space",
            "Choose",
            "compare this tokenizer, or leave it out",
        ),
    ),
    "Verdicts": (
        Command(
            _verdicts.action_select,
            "enter",
            "Open",
            "put the text that shows the difference into the editor, with both tokenizers as lanes",
            when=_verdicts.target,
        ),
        Command(partial(_verdicts.action_view, -1), "left,h", help=_VIEWS),
        Command(
            partial(_verdicts.action_view, 1), "right", "View", _VIEWS, help=_VIEWS
        ),
        Command(partial(_verdicts.action_view, 1), "l", help=_VIEWS),
    ),
    "Comparison": (
        Command(
            _comparison.action_select,
            "enter",
            "Open",
            "open this place in the editor",
            when=_comparison.target,
        ),
        Command(partial(_comparison.action_choice, -1), "left,h", help=_VIEWS),
        Command(
            partial(_comparison.action_choice, 1), "right", "View", _VIEWS, help=_VIEWS
        ),
        Command(partial(_comparison.action_choice, 1), "l", help=_VIEWS),
        Command(
            partial(_comparison.action_metric, 1),
            "m",
            "Metric",
            "show the next metric, from tokens to parity",
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
            "measure parity relative to this text or folder",
            when=_comparison.has_references,
        ),
        Command(
            _comparison.action_sort_next,
            "s",
            "Sort",
            "sort by the next column",
            help=_SORT,
            when=_comparison.can_sort,
        ),
        Command(
            _comparison.action_reverse,
            "S",
            "Reverse",
            "reverse the order",
            help=_SORT,
            when=_comparison.can_sort,
        ),
    ),
    "Compared text": (
        Command(
            _compared_text.action_select,
            "enter",
            "Open",
            "open this difference in the editor",
            when=_compared_text.target,
        ),
    ),
}
"""Part of the screen -> its commands, in the order of the help."""
