"""What the app remembers between two starts, and where: the only file that asks platformdirs."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, cast

from platformdirs import user_cache_path, user_config_path, user_data_path

from bpe_core import untrusted_json
from tui.state import TrainingOptions

LARGEST_KEPT_TEXT: Final = 8_000_000
"""Characters of editor text that are written at exit; a longer text is better kept in a file of its own."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything that comes back at the next start."""

    theme: str = "bpescope-dark"
    tokenizer: str = ""
    """Path of the tokenizer last in use."""
    corpus: tuple[str, ...] = ()
    """Paths chosen to train on."""
    reference: tuple[str, ...] = ()
    """Paths an audit compares the corpus with."""
    patterns: dict[str, str] = field(default_factory=dict)
    """Path of a tokenizer file that does not tell its split pattern -> the pattern that was given for it."""
    options: TrainingOptions = field(default_factory=TrainingOptions)
    """Of the last training; another version may not know all of them (see `tui.options`)."""


def tokenizers_folder() -> Path:
    """Where trained tokenizers are kept; made when it is missing."""
    folder = user_data_path("bpescope", appauthor=False) / "tokenizers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def recovered_folder() -> Path:
    """Where merges that were recovered from rank files are kept, so that it need not be done twice."""
    folder = user_cache_path("bpescope", appauthor=False) / "recovered"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def load_configuration() -> Configuration:
    """The configuration of the last run, or the defaults where the file is missing, broken, or from another version."""
    try:
        stored = untrusted_json.parse(_configuration_file().read_bytes())
        return cast(Configuration, _checked(Configuration(), stored))
    except (OSError, ValueError, TypeError):
        return Configuration()


def save_configuration(configuration: Configuration) -> None:
    """Write `configuration` for the next start. Raises OSError."""
    _write(_configuration_file(), json.dumps(asdict(configuration), indent=1) + "\n")


def load_text() -> str | None:
    """The editor's text of the last run; None when there is none."""
    try:
        with _text_file().open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def save_text(text: str) -> None:
    """Keep the editor's text for the next start, unless it is very large. Raises OSError."""
    if len(text) <= LARGEST_KEPT_TEXT:
        _write(_text_file(), text)


def _configuration_file() -> Path:
    return user_config_path("bpescope", appauthor=False) / "configuration.json"


def _text_file() -> Path:
    return user_data_path("bpescope", appauthor=False) / "editor.txt"


def _checked(defaults: Any, stored: Any) -> Any:
    """`defaults` with each stored field of the right type; what is unknown or odd is left as it was."""
    if not isinstance(stored, dict):
        return defaults
    kept: dict[str, Any] = {}
    for item in fields(defaults):
        default = getattr(defaults, item.name)
        value = stored.get(item.name, default)
        if isinstance(default, TrainingOptions):
            value = _checked(default, value)
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


def _write(path: Path, text: str) -> None:
    """Replace `path` in one step, so that a crash leaves either the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
