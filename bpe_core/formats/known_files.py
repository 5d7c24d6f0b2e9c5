"""Provide the split patterns, special tokens and normalizers that published rank files lack.

A file is identified by the SHA-256 of its content. `known_files.json` lists the files. Patterns
and ids come from the publishers' own code:

- tiktoken 0.14 (`tiktoken_ext/openai_public.py` and `model.py`)
- openai-whisper 20250625 (`whisper/tokenizer.py`). Its large-v3 has one more language, which moves
  the later ids by one.
- llama-models 0.3.0 (`tokenizer.py` of llama3 and llama4)
- dashscope 2.0 (`qwen_tokenizer.py`)

One file may be used by several encodings. GPT-2's file is also Whisper's for English, and that of
o200k_base is also gpt-oss's, which adds special tokens. Llama 3, 3.1, 3.2 and 3.3 share a file; the
special tokens have the names that they have since 3.1.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

_NUMBERED: Final = re.compile(r"(\w*)\{(\d+)\.\.(\d+)\}")


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A published rank file."""

    name: str
    """The name of its encoding."""
    pattern: str
    """A name in `PATTERNS`."""
    special_tokens: Mapping[str, int]
    """Text -> id."""
    normalization: Literal["NFC"] | None = None
    """The Unicode normalization form that a text gets before the split."""
    models: tuple[str, ...] = ()
    """OpenAI's models that use it. The names of dated or smaller versions begin with such a name
    and a hyphen."""


def _names(row: str) -> list[str]:
    """Return the names in a row of `known_files.json`.

    >>> _names("endoftext extra_{0..2}")
    ['endoftext', 'extra_0', 'extra_1', 'extra_2']
    """
    names: list[str] = []
    for word in row.split():
        numbered = _NUMBERED.fullmatch(word)
        if numbered:
            numbers = range(int(numbered[2]), int(numbered[3]) + 1)
            names += [f"{numbered[1]}{n}" for n in numbers]
        else:
            names.append(word)
    return names


def _known_file(entry: Mapping[str, Any]) -> KnownFile:
    special_tokens: dict[str, int] = {}
    for first_id, row in entry["special_tokens"].items():
        for token, name in enumerate(_names(row), int(first_id)):
            special_tokens[f"<|{name}|>"] = token
    return KnownFile(
        name=entry["name"],
        pattern=entry["pattern"],
        special_tokens=special_tokens,
        normalization=entry.get("normalization"),
        models=tuple(entry.get("models", "").split()),
    )


_ENTRIES: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
KNOWN_FILES: Final[Mapping[str, KnownFile]] = {
    entry["sha256"]: _known_file(entry) for entry in _ENTRIES
}
"""SHA-256 of the content, in hexadecimal digits -> the file."""
