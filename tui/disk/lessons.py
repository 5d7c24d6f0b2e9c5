"""Lessons: files of TOML that tell what their steps say, show and wait for; a mistake is told with its line."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from bpe_core.content.samples import SAMPLES
from bpe_core.errors import BpeError
from bpe_core.tokenizer.training_record import Options
from bpe_core.trainer.conditions import condition
from bpe_core.visible import quoted, visible
from tui.commands.panes import PANE_BY_ID
from tui.commands.table import COMMANDS
from tui.disk.config import read_file

THE_TEXT: Final = "the text"  # what a step trains on that trains on the editor's
_ROOM: Final = 150  # characters that two lines of a terminal of 80 have room for
_LARGEST: Final = 1 << 20  # bytes of a lesson; those of bpescope have some thousand
_MOST_MERGES: Final = 10**9
_TOO_DEEP: Final = "it is nested too deeply"
_FOLDER: Final = Path(__file__).parents[1] / "lessons"


class LessonError(BpeError):
    """A file is no lesson."""


LessonStep = Mapping[str, Any]
"""What a step of a lesson says, shows and waits for, by the names of `_STEP`."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A title and steps. `name` tells it from others: of bpescope's own that of its file, else the path."""

    name: str
    title: str
    steps: tuple[LessonStep, ...]


@cache
def own_lessons() -> tuple[Lesson, ...]:
    """What is said at the first start, then the tour."""
    return tuple(map(read_lesson, sorted(_FOLDER.glob("*.toml"))))


def read_lesson(path: Path) -> Lesson:
    """The lesson in a file. Raises `LessonError` with the file, the line, and what is wrong there."""
    shown_name = visible(path.name)
    source = _read_text(path)
    try:
        data = tomllib.loads(source)
    except RecursionError:
        line = _line_with_most(r"[\[{.]", source)
        raise LessonError(f"{shown_name}, line {line}: {_TOO_DEEP}.") from None
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, str(error)) from None
    except ValueError:  # Python does not convert longer numbers
        line = _line_with_most(r"[\d_]", source)
        raise LessonError(
            f"{shown_name}, line {line}: a number has too many digits."
        ) from None
    steps, text = data.get("step"), ""
    for number, told in enumerate((data, *(steps if isinstance(steps, list) else ()))):
        text, fields = told.get("text", text), _STEP if number else _LESSON
        for name in dict.fromkeys((*told, *(fields if fields is _LESSON else ["say"]))):
            if wrong := _wrong(fields, name, told.get(name, ""), text):
                raise LessonError(
                    f"{shown_name}, line {_line(source, number, name)}: {wrong.rstrip('.')}."
                )
    name = path.stem if path.parent == _FOLDER else str(path.absolute())
    return Lesson(name, data["title"], tuple(data["step"]))


def _read_text(path: Path) -> str:
    """Return the text of a lesson file. Raise `LessonError`."""
    try:
        size = os.stat(path).st_size
        if size > _LARGEST:
            raise _unreadable(
                path, f"it has {size:,} bytes, and {_LARGEST:,} are the most"
            )
        data = read_file(path)
    except (OSError, ValueError) as error:  # a ValueError is of a path with a NUL
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _unreadable(path, str(reason)) from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LessonError(
            f"{visible(path.name)}, line {line}: it is not UTF-8."
        ) from None


def _unreadable(path: Path, reason: str) -> LessonError:
    return LessonError(f"{visible(path.name)} cannot be read as a lesson: {reason}.")


def _line_with_most(characters: str, source: str) -> int:
    """Return the number of the line that holds most characters of a class."""
    lines = source.split("\n")
    amounts = [len(re.findall(characters, line)) for line in lines]
    return amounts.index(max(amounts)) + 1


def path_of_text(name: str) -> str:
    """The path of a sample; any other name is a path."""
    return next((str(sample.path) for sample in SAMPLES if sample.name == name), name)


def _wrong(fields: "_Fields", name: str, value: Any, text: str) -> str:
    """What is wrong with the value of a field, `text` being in the editor; empty if nothing is."""
    if name not in fields:
        return f"There is no {quoted(name)}, but {', '.join(fields)}"
    kind, wanted, fits = fields[name]
    try:
        if type(value) is kind and value != "" and fits(value, text):
            return ""
    except BpeError as error:
        return f"{name}: {error}"
    except OSError as error:  # the path of a text
        return f"{name}: {error.strerror}"
    except RecursionError:
        return f"{name}: {_TOO_DEEP}"
    except TypeError:  # an option of the wrong kind
        pass
    try:
        shown = quoted(str(value), 40)
    except (RecursionError, ValueError):  # nested too deeply, or a number too long
        shown = f"something else ({type(value).__name__})"
    return f"{name} is to be {wanted}, and not {shown}"


def _line(source: str, step: int, name: str) -> int:
    """The line of a field, or the one where its step begins."""
    starts = [0, *(found.start() for found in re.finditer(r"(?m)^[ \t]*\[\[", source))]
    starts += [len(source)] * (step + 2)  # inline tables begin with no bracket
    field = re.compile(
        rf"(?m)^[ \t]*(\[step\.|\[+)?[\"']?{re.escape(name)}[\"']?\s*[.=\]]"
    )
    found = field.search(
        source, starts[step], starts[step + 1] if step else len(source)
    )
    return source.count("\n", 0, found.start() if found else starts[step]) + 1


def _is_awaited(wait: str, _: object) -> bool:
    kind, _, what = wait.partition(" ")
    keys = {
        key
        for some in COMMANDS.values()
        for command in some
        for key in command.keys.split(",")
    }
    return (
        wait in ("next", "edit")
        or (kind == "key" and what != "" and what in keys)
        or (kind in ("step", "until") and bool(condition(what)))
    )


def _is_text(name: str, text: str) -> bool:
    return bool(text) if name == THE_TEXT else Path(path_of_text(name)).is_file()


_Fields = Mapping[str, tuple[type, str, Callable[[Any, str], object]]]
_OPTIONS: Final = ("vocab_size", "pattern", "ties", "min_count", "special_tokens")
_SIDES: Final = ("why", "pairs", "code", "token", "ahead")
_SAMPLES: Final = f"a file, or one of {', '.join(sample.name for sample in SAMPLES)}"
_LESSON: Final[_Fields] = {
    "title": (
        str,
        "a text of 32 characters at most",
        lambda title, _: len(title) <= 32,
    ),
    "step": (
        list,
        "tables that begin with [[step]]",
        lambda some, _: {*map(type, some)} == {dict},
    ),
}
_STEP: Final[_Fields] = {
    "say": (
        str,
        f"a text of {_ROOM} characters at most",
        lambda say, _: len(say) <= _ROOM,
    ),
    # What is done, in this order: a text is put in the editor;
    "text": (str, "a text", lambda *_: True),
    # merges are learned, with options, and shown at a pace; or so many, if there are as many, are in force;
    "train": (str, f"“{THE_TEXT}” in the editor, {_SAMPLES}", _is_text),
    "options": (
        dict,
        f"of {', '.join(_OPTIONS)}",
        lambda o, _: {*_OPTIONS} >= {*o} and Options(**o).checked(),
    ),
    "reference": (str, _SAMPLES, _is_text),  # of an audit
    "merges": (
        int,
        "a number of merges",
        lambda number, _: 0 <= number <= _MOST_MERGES,
    ),
    # the cursor is put before a part of the text; a pane gets the focus; beside its text or log this is seen.
    "at": (str, "in the text that is in the editor", lambda at, text: at in text),
    "pane": (
        str,
        f"one of {', '.join(PANE_BY_ID)}",
        lambda name, _: name in PANE_BY_ID,
    ),
    "side": (str, f"one of {', '.join(_SIDES)}", lambda name, _: name in _SIDES),
    "wait": (
        str,
        "next, edit, a key as “key f7”, “step 3”, or “until ratio >= 2”",
        _is_awaited,
    ),
}
"""Name of a field -> of which type it is, what it is to be, and whether something is that."""
