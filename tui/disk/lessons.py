"""Lessons: TOML files. Each step displays a sentence, shows something, and waits for the user or asks a question.

`docs/reference/lessons.md` explains them to teachers. An invalid file is reported with the number of the line.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import BpeError
from bpe_core.visible import visible
from tui.disk.config import read_file
from tui.disk.lesson_fields import (
    LESSON_FIELDS,
    STEP_FIELDS,
    TOO_DEEP,
    Fields,
    LessonStep,
    missing_field,
    problem_of,
)

_LARGEST_FILE: Final = 1 << 20
"""Bytes of a lesson file; the lessons of bpescope have a few thousand."""
_FOLDER: Final = Path(__file__).parents[1] / "lessons"


class LessonError(BpeError):
    """A file is not a valid lesson."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A title and steps."""

    name: str
    """The file name without its suffix for bpescope's own lessons, else the absolute path."""
    title: str
    steps: tuple[LessonStep, ...]


@cache
def own_lessons() -> tuple[Lesson, ...]:
    """Return bpescope's own lessons: the tour, in its order."""
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
        raise _invalid(path, line, TOO_DEEP) from None
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, str(error)) from None
    except ValueError:
        # Python does not convert integers of more than 4,300 digits.
        line = _line_with_most(r"[\d_]", source)
        raise _invalid(path, line, "a number has too many digits") from None


def _check_table(
    path: Path, source: str, number: int, table: Mapping[str, Any], text: str
) -> None:
    """Raise `LessonError` if a field is unknown, missing or invalid.

    Args:
        number: The number of the step, or 0 for the table of the whole lesson.
        text: The text in the editor at this step.
    """
    fields: Fields = STEP_FIELDS if number else LESSON_FIELDS
    required = ["say"] if number else list(LESSON_FIELDS)
    for name in dict.fromkeys([*table, *required]):
        # An absent field counts as "", which no field allows.
        problem = problem_of(fields, name, table.get(name, ""), text)
        if problem:
            raise _invalid(path, _line(source, number, name), problem)
    if number:
        problem = missing_field(table)
        if problem:
            raise _invalid(path, _line(source, number, "say"), problem)


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
