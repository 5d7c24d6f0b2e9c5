"""The settings and texts that the app restores at the next start, and their files.

Files are replaced in one step. A file that cannot be read is kept under another name, never overwritten.
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from fcntl import LOCK_EX, LOCK_NB, flock
from itertools import count
from pathlib import Path
from typing import Any, cast

from platformdirs import user_config_path, user_data_path

from bpe_core import untrusted_json
from bpe_core.visible import shortened, visible
from bpe_core.whole_file import replace_files
from tui.state import USUAL_PACE, LaneChoice, Opened, TrainingOptions

Teller = Callable[[str], object]
"""A function that shows a sentence to the user."""


def _say_nothing(sentence: str) -> None:
    """Ignore the sentence: the default `Teller`."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything that is restored at the next start; tokenizers and texts are named by their paths."""

    theme: str = "bpescope-dark"
    tokenizer: str = ""
    """The tokenizer that was last on the screen."""
    opened: tuple[Opened, ...] = field(default=(), metadata={"of": Opened})
    """Tokenizers opened from elsewhere, the latest at the end."""
    names: dict[str, str] = field(default_factory=dict)
    """Path of a tokenizer file -> the name that the user gave it."""
    forgotten: tuple[str, ...] = ()
    """Paths of tokenizers of other programs that the user has removed from the list."""
    corpus: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    patterns: dict[str, str] = field(default_factory=dict)
    """Path of a tokenizer file -> the split pattern that the user gave for it."""
    pace: int = USUAL_PACE
    """Seconds in which all merges of a training are shown; 0 shows them without delay."""
    lanes: tuple[LaneChoice, ...] = field(default=(), metadata={"of": LaneChoice})
    """The lanes of the editor after the first."""
    texts: tuple[str, ...] = ()
    """The user's texts that an example replaced in the editor; the next to bring back is the first."""
    options: TrainingOptions = field(default_factory=TrainingOptions)
    """The options of the last training."""
    lessons: dict[str, str] = field(default_factory=dict)
    """Lesson -> the number of the step that was shown last. The lesson that was shown last is at the end."""


def data_folder() -> Path:
    return user_data_path("bpescope", appauthor=False)


def tokenizers_folder() -> Path:
    """Return the folder of trained tokenizers; make it if it is missing. Raise OSError."""
    folder = data_folder() / "tokenizers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def text_file(number: int = 1) -> Path:
    """Return the path of the saved editor text of the app's `number`-th copy that runs at the same time."""
    if number == 1:
        return data_folder() / "editor.txt"
    return data_folder() / f"editor-{number}.txt"


def _configuration_file() -> Path:
    return user_config_path("bpescope", appauthor=False) / "configuration.json"


def load_configuration(tell: Teller = _say_nothing) -> Configuration:
    """Return the configuration of the last run, with defaults for missing and invalid settings.

    If parts are invalid, keep a copy of the file and tell the user.
    """
    path = _configuration_file()
    data = read_or_set_aside(path, tell)
    if data is None:
        return Configuration()
    invalid: list[str] = []
    try:
        stored = untrusted_json.parse(data)
        configuration = cast(Configuration, checked(Configuration(), stored, invalid))
    except (ValueError, TypeError) as error:
        configuration = Configuration()
        invalid = [str(error)]
    if invalid:
        names = visible(shortened(", ".join(invalid), 100))
        keep_aside(path, data, f"Some settings are invalid and ignored ({names})", tell)
    return configuration


def save_configuration(configuration: Configuration) -> None:
    """Write `configuration` for the next start. Raise OSError."""
    text = json.dumps(asdict(configuration), indent=1) + "\n"
    write_file(_configuration_file(), [text.encode()])


def load_text(path: Path | None = None, tell: Teller = _say_nothing) -> str | None:
    """Return the editor's text of the last run, or None if it was not saved.

    If parts are not UTF-8, keep a copy of the file and tell the user.
    """
    path = path or text_file()
    data = read_or_set_aside(path, tell)
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"{path.name} is not UTF-8 at byte {error.start:,}; invalid bytes are shown as \ufffd"
        keep_aside(path, data, problem, tell)
        return data.decode(errors="replace")


def save_text(text: str | Sequence[str], path: Path | None = None) -> None:
    """Save the editor's text, given as one string or as lines, for the next start. Raise OSError."""
    lines = text.split("\n") if isinstance(text, str) else text
    write_file(path or text_file(), _encoded(lines))


def _encoded(lines: Sequence[str]) -> Iterator[bytes]:
    """Yield the bytes of lines joined by newlines, one line at a time."""
    for number, line in enumerate(lines):
        if number > 0:
            yield b"\n"
        yield line.encode(errors="replace")


def checked(
    defaults: Any, stored: Any, invalid: list[str], name: str = "the whole file"
) -> Any:
    """Return the dataclass `defaults` with the stored fields that have the right type.

    Add the names of the others to `invalid`, or `name` if `stored` is not an object.
    """
    if not isinstance(stored, dict):
        invalid.append(name)
        return defaults
    known = {item.name: item for item in fields(defaults)}
    invalid += [field_name for field_name in stored if field_name not in known]
    kept: dict[str, Any] = {}
    for field_name, item in known.items():
        if field_name not in stored:
            continue
        default = getattr(defaults, field_name)
        value = stored[field_name]
        if is_dataclass(default):
            value = checked(default, value, invalid, field_name)
        elif isinstance(value, list):
            value = _checked_list(value, item.metadata.get("of"), invalid, field_name)
        elif isinstance(value, dict) and not _are_strings(value.values()):
            value = None
        # A field that is None by default takes a whole number: the only one is `LaneChoice.step`.
        expected_type = int if default is None else type(default)
        if value is default or type(value) is expected_type:
            kept[field_name] = value
        else:
            invalid.append(field_name)
    return replace(defaults, **kept)


def _checked_list(
    values: list[Any], record: type | None, invalid: list[str], name: str
) -> tuple[Any, ...] | None:
    """Return strings, or records of the dataclass `record`, as a tuple; None if a value is neither."""
    if record is None:
        return tuple(values) if _are_strings(values) else None
    if not all(isinstance(value, dict) for value in values):
        return None
    return tuple(checked(record(), value, invalid, name) for value in values)


def _are_strings(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def read_file(path: Path) -> bytes:
    """Return the content of a regular file.

    Raise OSError, also for a folder, a pipe or a device: reading those could block, or never end.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.read_bytes()


def write_file(path: Path, parts: Iterable[bytes]) -> None:
    """Replace the content of a file in one step. Raise OSError, with the file unchanged.

    Make the folder of `path`, but not the folder that a link points to: its disk may not be mounted.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = Path(os.path.realpath(path))
    if os.path.lexists(target) and not target.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    replace_files((target, parts))


def read_or_set_aside(path: Path, tell: Teller) -> bytes | None:
    """Return the content of one of the app's files, or None if it does not exist.

    If the file cannot be read, rename it, tell the user, and return None.
    """
    try:
        return read_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = f"{path.name} cannot be read: {error.strerror}"
        keep_aside(path, None, problem, tell)
        return None


def keep_aside(path: Path, data: bytes | None, problem: str, tell: Teller) -> None:
    """Keep a copy of one of the app's files under a new name, and tell the user its name and `problem`.

    Without `data`, rename the file instead. A copy with the same content is not made twice.
    """
    try:
        aside = _name_aside(path, data)
        if data is None:
            path.rename(aside)
        elif not os.path.lexists(aside):
            write_file(aside, [data])
        tell(f"{problem}. The original is kept as {aside}.")
    except OSError as error:
        tell(f"{problem}. A copy of the file cannot be kept: {error.strerror}.")


def _name_aside(path: Path, data: bytes | None) -> Path:
    """Return the first numbered name that is free, or whose file already holds `data`."""
    for number in count(1):
        taken = path.with_name(f"{path.stem}.aside-{number}{path.suffix}")
        if not os.path.lexists(taken):
            return taken
        if data is not None and taken.is_file() and taken.read_bytes() == data:
            return taken
    raise AssertionError("count() never ends")


def lock(file: int) -> bool:
    """Lock an open file until it is closed; return False if another copy of the app has locked it.

    Return True on a disk without locks.
    """
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # The disk does not support locks: some network disks do not.
        pass
    return True


def size_and_time(path: str | Path) -> tuple[int, int]:
    """Return the size of a file in bytes and its time of change in nanoseconds, or zeros if unknown."""
    try:
        file = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return file.st_size, file.st_mtime_ns
