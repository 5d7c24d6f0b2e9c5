"""The fields of a lesson file: their valid values, and the errors for others."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.content.samples import SAMPLES
from bpe_core.errors import BpeError
from bpe_core.tokenizer.training_record import Options
from bpe_core.trainer.conditions import condition
from bpe_core.visible import quoted
from tui.commands.panes import PANE_BY_ID
from tui.commands.table import COMMANDS
from tui.disk.quantities import OF_PART, OF_SCREEN, quantity

THE_TEXT: Final = "the text"
"""The value of `train` with which a step trains on the editor's text."""
SINGLE_TOKEN: Final = "a single token"
"""The value of `answer` that accepts any text that is one token."""
TOO_DEEP: Final = "it is nested too deeply"
_LONGEST_TITLE: Final = 32
LONGEST_SENTENCE: Final = 150
"""Characters of `say`: they fill two lines of a terminal of 80 columns."""
_LONGEST_QUESTION: Final = 50
"""Characters of `ask`: the rest of the line is for the answer."""
_MOST_MERGES: Final = 10**9

LessonStep = Mapping[str, Any]
"""The fields of one step; `STEP_FIELDS` describes them."""


class _Field(NamedTuple):
    """The rules for the value of a field."""

    types: tuple[type, ...]
    expected: str
    """The valid values in words, such as "a number of merges"."""
    is_valid: Callable[[Any, str], object] | None = None
    """Take a value and the text in the editor; a false result or a BpeError refuses the value."""


Fields = Mapping[str, _Field]


def problem_of(fields: Fields, name: str, value: Any, text: str) -> str:
    """Describe why a field is invalid while `text` is in the editor; return "" if it is valid."""
    if name not in fields:
        return f"Unknown field {quoted(name)}; use {', '.join(fields)}"
    field = fields[name]
    try:
        has_type = type(value) in field.types and value != ""
        if has_type and (field.is_valid is None or field.is_valid(value, text)):
            return ""
    except BpeError as error:
        return f"{name}: {error}"
    except OSError as error:
        # The path of a text may be invalid, such as too long.
        return f"{name}: {error.strerror}"
    except RecursionError:
        return f"{name}: {TOO_DEEP}"
    except TypeError:
        # A training option has a value of the wrong type.
        pass
    try:
        shown = quoted(str(value), 40)
    except (RecursionError, ValueError):
        # The value is nested too deeply, or has too many digits to be shown.
        shown = f"something else ({type(value).__name__})"
    return f"{name} must be {field.expected}, not {shown}"


def missing_field(step: LessonStep) -> str:
    """Describe which field of a question is missing or must go; return "" if the step is complete."""
    if "ask" in step and "answer" not in step:
        return "ask needs an answer"
    if "answer" in step and "ask" not in step:
        return "answer needs a question (ask)"
    if "ask" in step and "wait" in step:
        return "A step can have ask or wait, not both"
    return ""


def path_of_text(name: str) -> str:
    """Return the path of the sample called `name`; any other name is a path already."""
    for sample in SAMPLES:
        if sample.name == name:
            return str(sample.path)
    return name


def _is_short_title(title: str, _: str) -> bool:
    return len(title) <= _LONGEST_TITLE


def _are_tables(steps: list[object], _: str) -> bool:
    return bool(steps) and all(type(step) is dict for step in steps)


def _is_short_sentence(sentence: str, _: str) -> bool:
    return len(sentence) <= LONGEST_SENTENCE


def _is_short_question(question: str, _: str) -> bool:
    return len(question) <= _LONGEST_QUESTION


def _is_text_source(name: str, text: str) -> bool:
    if name == THE_TEXT:
        return bool(text)
    return Path(path_of_text(name)).is_file()


def _are_options(options: dict[str, Any], _: str) -> object:
    return set(options) <= set(_OPTIONS) and Options(**options).checked()


def _is_number_of_merges(number: int, _: str) -> bool:
    return 0 <= number <= _MOST_MERGES


def _is_in_editor(part: str, text: str) -> bool:
    return part in text


def _is_pane(name: str, _: str) -> bool:
    return name in PANE_BY_ID


def _is_side(name: str, _: str) -> bool:
    return name in _SIDES


def _is_awaited(wait: str, _: str) -> bool:
    kind, _, argument = wait.partition(" ")
    if kind == "key":
        return argument != "" and argument in _command_keys()
    if kind in ("step", "until"):
        return bool(condition(argument))
    return wait in ("next", "edit")


def _command_keys() -> set[str]:
    keys: set[str] = set()
    for commands in COMMANDS.values():
        for command in commands:
            keys.update(command.keys.split(","))
    return keys


def _is_answer(answer: str | list[object], _: str) -> bool:
    if isinstance(answer, list):
        return _are_texts(answer)
    return answer == SINGLE_TOKEN or bool(quantity(answer))


def _are_texts(values: list[object]) -> bool:
    return bool(values) and all(type(value) is str and value for value in values)


def _are_claims(claims: dict[str, Any], _: str) -> bool:
    for name, value in claims.items():
        if name == "shows":
            if type(value) is not list or not _are_texts(value):
                return False
        elif name not in _OF_PANES and quantity(name):
            if type(value) not in (int, str):
                return False
        elif type(value) is not str:
            return False
    return bool(claims)


_OPTIONS: Final = ("vocab_size", "pattern", "ties", "min_count", "special_tokens")
_SIDES: Final = ("why", "pairs", "code", "token", "ahead", "lines", "about")
_OF_PANES: Final = ("pane", "side", "cursor")
"""Claims about the panes: the one with the focus, its side, and the text that begins at the cursor."""
_TEXTS: Final = f"a file, or one of {', '.join(sample.name for sample in SAMPLES)}"
_TRAIN: Final = f"“{THE_TEXT}” in the editor, {_TEXTS}"
_PANES: Final = f"one of {', '.join(PANE_BY_ID)}"
_WAIT: Final = "next, edit, a key such as “key f7”, “step 3”, or “until ratio >= 2”"
_ANSWER: Final = (
    f"a quantity such as “tokens of é”, “{SINGLE_TOKEN}”, or a list of accepted texts"
)
_CLAIMS: Final = f"a table of {', '.join(['shows', *_OF_PANES, *OF_SCREEN, *OF_PART])}"
_SENTENCE: Final = f"a text of at most {LONGEST_SENTENCE} characters"

LESSON_FIELDS: Final[Fields] = {
    "title": _Field(
        (str,), f"a text of at most {_LONGEST_TITLE} characters", _is_short_title
    ),
    "step": _Field((list,), "tables that begin with [[step]]", _are_tables),
}
STEP_FIELDS: Final[Fields] = {
    "say": _Field((str,), _SENTENCE, _is_short_sentence),
    # The app does the following in this order. First it puts a text into the editor:
    "text": _Field((str,), "a text"),
    # then it trains with these options, or goes to a number of merges:
    "train": _Field((str,), _TRAIN, _is_text_source),
    "options": _Field((dict,), f"of {', '.join(_OPTIONS)}", _are_options),
    "reference": _Field((str,), _TEXTS, _is_text_source),
    "merges": _Field((int,), "a number of merges", _is_number_of_merges),
    # then it reads special tokens as tokens or as text, puts the cursor before or after a part of the text,
    # and shows a pane and one of its sides:
    "specials": _Field((bool,), "true or false"),
    "at": _Field((str,), "in the text that is in the editor", _is_in_editor),
    "after": _Field((str,), "in the text that is in the editor", _is_in_editor),
    "pane": _Field((str,), _PANES, _is_pane),
    "side": _Field((str,), f"one of {', '.join(_SIDES)}", _is_side),
    # then it waits for the user. F12 does what it waits for: it presses the key, or types this text.
    "wait": _Field((str,), _WAIT, _is_awaited),
    "type": _Field((str,), "a text to type"),
    # Or it asks a question, and gives this reason with the answer:
    "ask": _Field(
        (str,), f"a text of at most {_LONGEST_QUESTION} characters", _is_short_question
    ),
    "answer": _Field((str, list), _ANSWER, _is_answer),
    "because": _Field((str,), _SENTENCE, _is_short_sentence),
    # These must be true once the step is shown. The app ignores them; `python -m tests.check_lesson` checks them.
    "expect": _Field((dict,), _CLAIMS, _are_claims),
}
