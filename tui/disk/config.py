"""What the app remembers between two starts, and where: the only file that asks platformdirs."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from platformdirs import user_config_path, user_data_path

from bpe_core import untrusted_json
from bpe_core.visible import shortened, visible
from tui.disk import files
from tui.state import Opened, TrainingOptions

_TOGETHER: Final = 500
"""Lines of the editor's text that are made bytes at a time."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything that comes back at the next start."""

    theme: str = "bpescope-dark"
    tokenizer: str = ""
    """Path of the tokenizer last in use."""
    opened: tuple[Opened, ...] = field(default=(), metadata={"of": Opened})
    """The tokenizers that were opened from elsewhere and stay in the list, the last one last."""
    names: dict[str, str] = field(default_factory=dict)
    """Path of a tokenizer file -> the name that it was given in the list."""
    forgotten: tuple[str, ...] = ()
    """Paths of tokenizers that other programs keep, and that are not to be listed."""
    corpus: tuple[str, ...] = ()
    """Paths chosen to train on."""
    reference: tuple[str, ...] = ()
    """Paths an audit compares the corpus with."""
    patterns: dict[str, str] = field(default_factory=dict)
    """Path of a tokenizer file that does not tell its split pattern -> the pattern that was given for it."""
    lanes: tuple[str, ...] = ()
    """The lanes of the editor after the first, each as `LaneChoice` writes itself."""
    options: TrainingOptions = field(default_factory=TrainingOptions)
    """Of the last training; another version may not know all of them (see `tui.features.corpus`)."""


def tokenizers_folder() -> Path:
    """Where trained tokenizers are kept; made when it is missing. Raises OSError if it cannot be."""
    folder = data_folder() / "tokenizers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def data_folder() -> Path:
    """Where what the user makes is kept."""
    return user_data_path("bpescope", appauthor=False)


def load_configuration(tell: Callable[[str], None] = lambda sentence: None, path: Path | None = None) -> Configuration:
    """The configuration of the last run, or the defaults where the file is missing, broken, or from another version.

    What of it is not understood is kept beside it, and that is told in a sentence.
    """
    path = path or _configuration_file()
    try:
        data = files.read_file(path)
    except FileNotFoundError:
        return Configuration()
    except OSError as error:
        _put_aside(path, f"cannot be read ({error.strerror})", tell)
        return Configuration()
    try:
        stored = untrusted_json.parse(data)
        kept = cast(Configuration, checked(Configuration(), stored))
        strange = _strange(stored, asdict(kept))
    except (ValueError, TypeError) as error:
        kept, strange = Configuration(), [str(error)]
    if strange:
        what = visible(shortened(", ".join(strange), 100))
        try:
            copy = files.copy_aside(path, data)
            tell(f"What is remembered is not understood in every part ({what}); {copy} keeps all of it.")
        except OSError as error:
            tell(
                f"What is remembered is not understood in every part ({what}), nor can it be copied: {error.strerror}."
            )
    return kept


def save_configuration(configuration: Configuration) -> None:
    """Write `configuration` for the next start. Raises OSError."""
    _write(_configuration_file(), ((json.dumps(asdict(configuration), indent=1) + "\n").encode(),))


def load_text(path: Path | None = None, tell: Callable[[str], None] = lambda sentence: None) -> str | None:
    """The editor's text of the last run; None when there is none. What cannot be read is kept, and that is told."""
    path = path or text_file()
    try:
        data = files.read_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        _put_aside(path, f"cannot be read ({error.strerror})", tell)
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        where = f"{path.name} is not UTF-8 at byte {error.start:,}"
        try:
            tell(f"{where}, and shown with \ufffd where it is not; {files.copy_aside(path, data)} keeps what it was.")
        except OSError as refused:
            tell(f"{where}, and shown with \ufffd where it is not; it cannot be copied: {refused.strerror}.")
        return data.decode(errors="replace")


def save_text(text: str | Sequence[str], path: Path | None = None) -> None:
    """Keep the editor's text, as a whole or in lines, for the next start. Raises OSError."""
    lines = text.split("\n") if isinstance(text, str) else text
    _write(path or text_file(), _encoded(lines))


def _encoded(lines: Sequence[str]) -> Iterator[bytes]:
    """The lines as a file holds them; in parts, between which the screen gets its turn where this is done beside it."""
    for start in range(0, len(lines), _TOGETHER):
        end = "\n" if start + _TOGETHER < len(lines) else ""
        yield ("\n".join(lines[start : start + _TOGETHER]) + end).encode(errors="replace")


def text_file(number: int = 1) -> Path:
    """Where the editor's text is kept; the second copy of the app that runs at the same time has a file of its own."""
    return data_folder() / ("editor.txt" if number == 1 else f"editor-{number}.txt")


def _configuration_file() -> Path:
    return user_config_path("bpescope", appauthor=False) / "configuration.json"


def _write(path: Path, parts: Iterable[bytes]) -> None:
    """Our own folder is made if it is missing; not what a link leads to, for that may be a disk that is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_file(path, parts)


def _put_aside(path: Path, problem: str, tell: Callable[[str], None]) -> None:
    """Give what cannot be read another name, before something is written in its place."""
    try:
        tell(f"{path.name} {problem}; it is kept as {files.set_aside(path)}.")
    except OSError as error:
        tell(f"{path} {problem}, nor can it be renamed: {error.strerror}.")


def _strange(stored: Any, kept: Any, within: str = "") -> list[str]:
    """Names of what is stored otherwise than it is kept."""
    if not isinstance(stored, dict) or not isinstance(kept, dict):
        plain = list(kept) if isinstance(kept, tuple) else kept
        return [] if stored == plain and type(stored) is type(plain) else [within or "no settings"]
    return [
        name for key, value in stored.items() for name in (_strange(value, kept[key], key) if key in kept else [key])
    ]


def checked(defaults: Any, stored: Any) -> Any:
    """`defaults` with each stored field of the right type; what is unknown or odd is left as it was."""
    if not isinstance(stored, dict):
        return defaults
    kept: dict[str, Any] = {}
    for item in fields(defaults):
        default = getattr(defaults, item.name)
        value = stored.get(item.name, default)
        if is_dataclass(default):
            value = checked(default, value)
        elif (kind := item.metadata.get("of")) is not None:
            rows = isinstance(value, list) and all(isinstance(entry, dict) for entry in value)
            value = tuple(checked(kind(), entry) for entry in value) if rows else default
        elif isinstance(default, tuple):
            strings = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
            value = tuple(value) if strings else default
        elif isinstance(default, dict) and not all(isinstance(entry, str) for entry in _values(value)):
            value = default
        if type(value) is type(default):
            kept[item.name] = value
    return replace(defaults, **kept)


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []
