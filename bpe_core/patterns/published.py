"""The published split patterns by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_CONTRACTION: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SIGNS_AND_SPACE: Final = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

PATTERNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "none": "",
        "words": r"\S+",
        "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        "gpt4": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "gpt4o": rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "llama3": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_SIGNS_AND_SPACE}",
        "qwen2": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_SIGNS_AND_SPACE}",
    }
)
"""Name -> regular expression, as published with the model's tokenizer; "" makes one piece of a document.

"gpt4" is cl100k_base as in tiktoken today: white space at the end of a text is one piece, newlines included. In the
first version of cl100k_base, which Llama 3 adopted, it is split after the last newline: "llama3".
"""
