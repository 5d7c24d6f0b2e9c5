"""The split patterns and special tokens of OpenAI's published rank files, which the files themselves do not contain.

A file is identified by the SHA-256 of its content. Digests, patterns and ids are those in the source of tiktoken 0.14
(`tiktoken_ext/openai_public.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_END: Final = "<|endoftext|>"


@dataclass(frozen=True, slots=True)
class KnownFile:
    """The name, split pattern and special tokens of a published rank file."""

    name: str
    """The encoding's name."""
    pattern: str
    """A name of `PATTERNS`."""
    special_tokens: Mapping[str, int]
    """Text -> id."""


KNOWN_FILES: Final[Mapping[str, KnownFile]] = MappingProxyType(
    {
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": KnownFile(
            "r50k_base", "gpt2", MappingProxyType({_END: 50256})
        ),
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": KnownFile(
            "p50k_base", "gpt2", MappingProxyType({_END: 50256})
        ),
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": KnownFile(
            "cl100k_base",
            "gpt4",
            MappingProxyType(
                {
                    _END: 100257,
                    "<|fim_prefix|>": 100258,
                    "<|fim_middle|>": 100259,
                    "<|fim_suffix|>": 100260,
                    "<|endofprompt|>": 100276,
                }
            ),
        ),
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": KnownFile(
            "o200k_base", "gpt4o", MappingProxyType({_END: 199999, "<|endofprompt|>": 200018})
        ),
    }
)
"""SHA-256 of the content, in hexadecimal digits -> the file."""
