"""What the app remembers between two starts, and where; files read whole if they are files at all, and never lost."""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Sequence
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


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything that comes back at the next start; tokenizers and texts by their paths."""

    theme: str = "bpescope-dark"
    tokenizer: str = ""  # the tokenizer last in use
    opened: tuple[Opened, ...] = field(
        default=(), metadata={"of": Opened}
    )  # opened from elsewhere, the last one last
    names: dict[str, str] = field(
        default_factory=dict
    )  # path of a tokenizer file -> the name that it was given
    forgotten: tuple[
        str, ...
    ] = ()  # tokenizers that other programs keep, and that are not to be listed
    corpus: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    patterns: dict[str, str] = field(
        default_factory=dict
    )  # path of a tokenizer file -> the pattern given for it
    pace: int = USUAL_PACE  # seconds in which all merges of a training are shown; 0 for as soon as they are learned
    lanes: tuple[LaneChoice, ...] = field(
        default=(), metadata={"of": LaneChoice}
    )  # of the editor, after the first
    texts: tuple[
        str, ...
    ] = ()  # the user's, in whose place others were put in the editor; that comes back next first
    options: TrainingOptions = field(
        default_factory=TrainingOptions
    )  # of the last training, by whatever version
    lessons: dict[str, str] = field(
        default_factory=dict
    )  # a lesson that is not at its end -> the step it was left at


def data_folder() -> Path:
    return user_data_path("bpescope", appauthor=False)


def tokenizers_folder() -> Path:
    """Where trained tokenizers are kept; made when it is missing. Raises OSError if it cannot be."""
    folder = data_folder() / "tokenizers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def text_file(number: int = 1) -> Path:
    """Where the editor's text is kept; the second copy of the app that runs at the same time has a file of its own."""
    return data_folder() / ("editor.txt" if number == 1 else f"editor-{number}.txt")


def _configuration_file() -> Path:
    return user_config_path("bpescope", appauthor=False) / "configuration.json"


def load_configuration(tell: Teller = lambda sentence: None) -> Configuration:
    """The configuration of the last run, or the defaults where the file is missing, broken, or from another version.

    What of it is not understood is kept beside it, and that is told in a sentence.
    """
    path = _configuration_file()
    if (data := read_or_set_aside(path, tell)) is None:
        return Configuration()
    strange: list[str] = []
    try:
        kept = cast(
            Configuration, checked(Configuration(), untrusted_json.parse(data), strange)
        )
    except (ValueError, TypeError) as error:
        kept, strange = Configuration(), [str(error)]
    if strange:
        what = visible(shortened(", ".join(strange), 100))
        keep_aside(
            path, data, f"Parts of what is remembered are not understood ({what})", tell
        )
    return kept


def save_configuration(configuration: Configuration) -> None:
    """Write `configuration` for the next start. Raises OSError."""
    write_file(
        _configuration_file(),
        ((json.dumps(asdict(configuration), indent=1) + "\n").encode(),),
    )


def load_text(
    path: Path | None = None, tell: Teller = lambda sentence: None
) -> str | None:
    """The editor's text of the last run; None when there is none. What cannot be read is kept, and that is told."""
    path = path or text_file()
    if (data := read_or_set_aside(path, tell)) is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        what = f"{path.name} is not UTF-8 at byte {error.start:,}, and shown with \ufffd where it is not"
        keep_aside(path, data, what, tell)
        return data.decode(errors="replace")


def save_text(text: str | Sequence[str], path: Path | None = None) -> None:
    """Keep the editor's text, as a whole or in lines, for the next start. Raises OSError."""
    lines = text.split("\n") if isinstance(text, str) else text
    write_file(
        path or text_file(),
        (
            ("\n" * (n > 0) + line).encode(errors="replace")
            for n, line in enumerate(lines)
        ),
    )


def checked(
    defaults: Any, stored: Any, strange: list[str], within: str = "no settings"
) -> Any:
    """`defaults` with each stored field of the right type; what is unknown or odd is left out, and named in `strange`.

    `within` names all of it.
    """
    if not isinstance(stored, dict):
        strange.append(within)
        return defaults
    kept: dict[str, Any] = {}
    known = {item.name: item for item in fields(defaults)}
    strange += (name for name in stored if name not in known)
    for name in (name for name in known if name in stored):
        default, value, kind = (
            getattr(defaults, name),
            stored[name],
            known[name].metadata.get("of"),
        )
        entries = (
            list(value.values())
            if isinstance(value, dict)
            else value
            if isinstance(value, list)
            else []
        )
        if is_dataclass(default):
            value = checked(default, value, strange, name)
        elif isinstance(value, list) and all(
            isinstance(one, dict if kind else str) for one in entries
        ):
            value = tuple(
                checked(kind(), entry, strange, name) if kind else entry
                for entry in entries
            )
        elif isinstance(default, dict) and not all(
            isinstance(one, str) for one in entries
        ):
            value = None
        if type(value) is type(default) or (default is None and type(value) is int):
            kept[name] = value
        else:
            strange.append(name)
    return replace(defaults, **kept)


def read_file(path: Path) -> bytes:
    """What is in a file. Raises OSError; also for a folder, and for what would keep one waiting or has no end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return path.read_bytes()


def write_file(path: Path, parts: Iterable[bytes]) -> None:
    """Make `parts` what is in a file, in one step. Raises OSError, and then nothing in it has changed.

    Its folder is made; not the one that a link leads to, for that may be on a disk that is not there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = Path(os.path.realpath(path))
    if os.path.lexists(target) and not target.is_file():
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    replace_files((target, parts))


def read_or_set_aside(path: Path, tell: Teller) -> bytes | None:
    """What is in a file of ours; None if there is none, or none that can be read: that gets another name."""
    try:
        return read_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        keep_aside(path, None, f"{path.name} cannot be read ({error.strerror})", tell)
        return None


def keep_aside(path: Path, data: bytes | None, what: str, tell: Teller) -> None:
    """Give a file of ours another name, or a copy of its `data`, unless that was made before; and tell where."""

    def holds_it(taken: Path) -> bool:
        return data is not None and taken.is_file() and taken.read_bytes() == data

    names = (
        path.with_name(f"{path.stem}.aside-{number}{path.suffix}")
        for number in count(1)
    )
    try:
        aside = next(
            name for name in names if not os.path.lexists(name) or holds_it(name)
        )
        if data is None:
            path.rename(aside)
        elif not os.path.lexists(aside):
            write_file(aside, (data,))
        tell(f"{what}; {aside} keeps what it was.")
    except OSError as error:
        tell(f"{what}; it cannot be kept as another file: {error.strerror}.")


def lock(file: int) -> bool:
    """Lock an open file until it is closed; false if another copy of the app has. Where there are no locks, true."""
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk that knows no locks, such as one of another computer
        pass
    return True


def size_and_time(path: str | Path) -> tuple[int, int]:
    """Bytes of a file, and when it was changed last, in nanoseconds since 1970; zeros where that cannot be told."""
    try:
        file = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return file.st_size, file.st_mtime_ns
