"""Lessons: TOML files whose steps say something, show something and wait for the user.

An invalid file is reported with the number of the line.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.content.samples import SAMPLES
from bpe_core.errors import BpeError
from bpe_core.tokenizer.training_record import Options
from bpe_core.trainer.conditions import condition
from bpe_core.visible import quoted, visible
from tui.commands.panes import PANE_BY_ID
from tui.commands.table import COMMANDS
from tui.disk.config import read_file

THE_TEXT: Final = "the text"
"""The value of `train` with which a step trains on the editor's text."""
_LONGEST_TITLE: Final = 32
_LONGEST_SENTENCE: Final = 150
"""Characters of `say`: they fill two lines of a terminal of 80 columns."""
_LARGEST_FILE: Final = 1 << 20
"""Bytes of a lesson file; the lessons of bpescope have a few thousand."""
_MOST_MERGES: Final = 10**9
_TOO_DEEP: Final = "it is nested too deeply"
_FOLDER: Final = Path(__file__).parents[1] / "lessons"


class LessonError(BpeError):
    """A file is not a valid lesson."""


LessonStep = Mapping[str, Any]
"""The fields of one step; `_STEP_FIELDS` describes them."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A title and steps."""

    name: str
    """The file name without its suffix for bpescope's own lessons, else the absolute path."""
    title: str
    steps: tuple[LessonStep, ...]


@cache
def own_lessons() -> tuple[Lesson, ...]:
    """Return bpescope's own lessons: the greeting of the first start, then the tour."""
    return tuple(read_lesson(path) for path in sorted(_FOLDER.glob("*.toml")))


def read_lesson(path: Path) -> Lesson:
    """Read and check a lesson file. Raise `LessonError` with the file, the line and the reason."""
    source = _read_text(path)
    data = _parse(path, source)
    _check_table(path, source, 0, data, text="")
    text = ""
    for number, step in enumerate(data["step"], 1):
        text = step.get("text", text)
        _check_table(path, source, number, step, text)
    name = path.stem if path.parent == _FOLDER else str(path.absolute())
    return Lesson(name, data["title"], tuple(data["step"]))


def _parse(path: Path, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(source)
    except RecursionError:
        line = _line_with_most(r"[\[{.]", source)
        raise _invalid(path, line, _TOO_DEEP) from None
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, str(error)) from None
    except ValueError:
        # Python does not convert integers of more than 4,300 digits.
        line = _line_with_most(r"[\d_]", source)
        raise _invalid(path, line, "a number has too many digits") from None


def _check_table(
    path: Path, source: str, number: int, table: LessonStep, text: str
) -> None:
    """Raise `LessonError` if a field is unknown, missing or invalid.

    Args:
        number: The number of the step, or 0 for the table of the whole lesson.
        text: The text in the editor at this step.
    """
    fields: _Fields = _STEP_FIELDS if number else _LESSON_FIELDS
    required = ["say"] if number else list(_LESSON_FIELDS)
    for name in dict.fromkeys([*table, *required]):
        problem = _problem(fields, name, table.get(name, ""), text)
        if problem:
            raise _invalid(path, _line(source, number, name), problem)


def _read_text(path: Path) -> str:
    """Return the text of a lesson file. Raise `LessonError`."""
    try:
        size = os.stat(path).st_size
        if size > _LARGEST_FILE:
            problem = f"it has {size:,} bytes; at most {_LARGEST_FILE:,} are allowed"
            raise _unreadable(path, problem)
        data = read_file(path)
    except (OSError, ValueError) as error:
        # A path with a NUL raises ValueError.
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _unreadable(path, str(reason)) from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _invalid(path, line, "it is not UTF-8") from None


def _unreadable(path: Path, reason: str) -> LessonError:
    return LessonError(f"{visible(path.name)} cannot be read as a lesson: {reason}.")


def _invalid(path: Path, line: int, problem: str) -> LessonError:
    return LessonError(f"{visible(path.name)}, line {line}: {problem.rstrip('.')}.")


def _line_with_most(characters: str, source: str) -> int:
    """Return the number of the line with the most characters of a regular expression's class."""
    lines = source.split("\n")
    amounts = [len(re.findall(characters, line)) for line in lines]
    return amounts.index(max(amounts)) + 1


def path_of_text(name: str) -> str:
    """Return the path of the sample called `name`; any other name is a path already."""
    for sample in SAMPLES:
        if sample.name == name:
            return str(sample.path)
    return name


def _line(source: str, step: int, name: str) -> int:
    """Return the line number of a field, or of the beginning of its step."""
    headings = [match.start() for match in re.finditer(r"(?m)^[ \t]*\[\[", source)]
    # A step that is an inline table has no [[step]] heading: count it to the end.
    headings += [len(source)] * (step + 1)
    start = headings[step - 1] if step else 0
    end = headings[step] if step else len(source)
    field = re.compile(
        rf"(?m)^[ \t]*(\[step\.|\[+)?[\"']?{re.escape(name)}[\"']?\s*[.=\]]"
    )
    match = field.search(source, start, end)
    offset = match.start() if match else start
    return source.count("\n", 0, offset) + 1


class _Field(NamedTuple):
    """The rules for the value of a field."""

    type: type
    expected: str
    """The valid values in words, such as "a number of merges"."""
    is_valid: Callable[[Any, str], object] | None = None
    """Take a value and the text in the editor; a false result or a BpeError refuses the value."""


_Fields = Mapping[str, _Field]


def _problem(fields: _Fields, name: str, value: Any, text: str) -> str:
    """Describe why a field is invalid while `text` is in the editor; return "" if it is valid."""
    if name not in fields:
        return f"Unknown field {quoted(name)}; use {', '.join(fields)}"
    field = fields[name]
    try:
        has_type = type(value) is field.type and value != ""
        if has_type and (field.is_valid is None or field.is_valid(value, text)):
            return ""
    except BpeError as error:
        return f"{name}: {error}"
    except OSError as error:
        # The path of a text may be invalid, such as too long.
        return f"{name}: {error.strerror}"
    except RecursionError:
        return f"{name}: {_TOO_DEEP}"
    except TypeError:
        # A training option has a value of the wrong type.
        pass
    try:
        shown = quoted(str(value), 40)
    except (RecursionError, ValueError):
        # The value is nested too deeply, or has too many digits to be shown.
        shown = f"something else ({type(value).__name__})"
    return f"{name} must be {field.expected}, not {shown}"


def _is_short_title(title: str, _: str) -> bool:
    return len(title) <= _LONGEST_TITLE


def _are_tables(steps: list[object], _: str) -> bool:
    return bool(steps) and all(type(step) is dict for step in steps)


def _is_short_sentence(sentence: str, _: str) -> bool:
    return len(sentence) <= _LONGEST_SENTENCE


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


_OPTIONS: Final = ("vocab_size", "pattern", "ties", "min_count", "special_tokens")
_SIDES: Final = ("why", "pairs", "code", "token", "ahead")
_TEXTS: Final = f"a file, or one of {', '.join(sample.name for sample in SAMPLES)}"
_TRAIN: Final = f"“{THE_TEXT}” in the editor, {_TEXTS}"
_PANES: Final = f"one of {', '.join(PANE_BY_ID)}"
_WAIT: Final = "next, edit, a key as “key f7”, “step 3”, or “until ratio >= 2”"

_LESSON_FIELDS: Final[_Fields] = {
    "title": _Field(
        str, f"a text of at most {_LONGEST_TITLE} characters", _is_short_title
    ),
    "step": _Field(list, "tables that begin with [[step]]", _are_tables),
}
_STEP_FIELDS: Final[_Fields] = {
    "say": _Field(
        str, f"a text of at most {_LONGEST_SENTENCE} characters", _is_short_sentence
    ),
    # The app does the following in this order. First it puts a text into the editor:
    "text": _Field(str, "a text"),
    # then it trains with these options, or goes to a number of merges:
    "train": _Field(str, _TRAIN, _is_text_source),
    "options": _Field(dict, f"of {', '.join(_OPTIONS)}", _are_options),
    "reference": _Field(str, _TEXTS, _is_text_source),
    "merges": _Field(int, "a number of merges", _is_number_of_merges),
    # then it puts the cursor before a part of the text, and shows a pane and one of its sides:
    "at": _Field(str, "in the text that is in the editor", _is_in_editor),
    "pane": _Field(str, _PANES, _is_pane),
    "side": _Field(str, f"one of {', '.join(_SIDES)}", _is_side),
    # and at last it waits for the user.
    "wait": _Field(str, _WAIT, _is_awaited),
}
