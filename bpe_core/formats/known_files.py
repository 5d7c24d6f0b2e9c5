"""What published rank files do not contain themselves: their split patterns, special tokens and normalization.

A file is identified by the SHA-256 of its content; `known_files.json` has what is known of it. Patterns and ids are
those of the publishers' own code: tiktoken 0.14 (`tiktoken_ext/openai_public.py`, `model.py`), openai-whisper 20250625
(`whisper/tokenizer.py`, whose large-v3 has one language more, which moves the later ids by one), llama-models 0.3.0
(`tokenizer.py` of llama3 and llama4) and dashscope 2.0 (`qwen_tokenizer.py`). One file may serve several encodings:
GPT-2's is the English one of Whisper too, o200k_base that of gpt-oss, which adds special tokens; Llama 3's is that of
3.1, 3.2 and 3.3, whose names of special tokens are given.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

_NUMBERED: Final = re.compile(r"(\w*)\{(\d+)\.\.(\d+)\}")


@dataclass(frozen=True, slots=True)
class KnownFile:
    name: str  # of its encoding
    pattern: str  # a name in `PATTERNS`
    special_tokens: Mapping[str, int]
    normalization: Literal["NFC"] | None = (
        None  # that a text is put into before it is split
    )
    models: tuple[
        str, ...
    ] = ()  # of OpenAI's; a dated or smaller version is called by the name, a hyphen and more


def _names(row: str) -> Iterator[str]:
    """The names in a row; `extra_{0..9}` stands for ten."""
    for name in row.split():
        found = _NUMBERED.fullmatch(name)
        yield from (
            (f"{found[1]}{n}" for n in range(int(found[2]), int(found[3]) + 1))
            if found
            else (name,)
        )


def _read(
    sha256: str, *, special_tokens: Mapping[str, str], models: str = "", **more: Any
) -> tuple[str, KnownFile]:
    ids = {
        f"<|{name}|>": id
        for first, row in special_tokens.items()
        for id, name in enumerate(_names(row), int(first))
    }
    return sha256, KnownFile(special_tokens=ids, models=tuple(models.split()), **more)


_LISTED: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
KNOWN_FILES: Final[Mapping[str, KnownFile]] = dict(_read(**one) for one in _LISTED)
"""SHA-256 of the content, in hexadecimal digits -> the file."""
