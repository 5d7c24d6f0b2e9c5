"""Byte-pair encoding: training, encoding, explanation, audits. The public names; each is imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bpe_core.auditing import audit
    from bpe_core.auditing.findings import Finding, Findings
    from bpe_core.corpus import Counts
    from bpe_core.errors import (
        BpeError,
        FormatError,
        OptionError,
        PatternError,
        SpecialTokenError,
        TextError,
        UnknownTokenError,
        UntrainedError,
    )
    from bpe_core.formats import load, save
    from bpe_core.live.live_text import Change, LiveText
    from bpe_core.patterns import PATTERNS
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.trainer import Merge, Trainer, train
    from bpe_core.vocabulary import Vocabulary

__all__ = [
    "PATTERNS",
    "BpeError",
    "Change",
    "Counts",
    "Finding",
    "Findings",
    "FormatError",
    "LiveText",
    "Merge",
]
__all__ += [
    "OptionError",
    "PatternError",
    "SpecialTokenError",
    "TextError",
    "Tokenizer",
    "Trainer",
]
__all__ += [
    "UnknownTokenError",
    "UntrainedError",
    "Vocabulary",
    "audit",
    "load",
    "save",
    "train",
]

_ROOM_OF: Final = {
    **dict.fromkeys(("Finding", "Findings"), "auditing.findings"),
    "audit": "auditing",
    **dict.fromkeys((name for name in __all__ if name.endswith("Error")), "errors"),
    **dict.fromkeys(("load", "save"), "formats"),
    **dict.fromkeys(("LiveText", "Change"), "live.live_text"),
    **dict.fromkeys(("Merge", "Trainer", "train"), "trainer"),
    "Counts": "corpus",
    "PATTERNS": "patterns",
    "Tokenizer": "tokenizer",
    "Vocabulary": "vocabulary",
}


def __getattr__(name: str) -> object:
    """Import a public name from its room the first time it is asked for, so that `import bpe_core` costs nothing."""
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'bpe_core' has no attribute {name!r}")
    value = getattr(import_module(f"bpe_core.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
