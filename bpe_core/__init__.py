"""Byte-pair encoding: training, encoding, explanation, audits.

The public names; each is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bpe_core.auditing import audit
    from bpe_core.auditing.findings import Finding, Findings
    from bpe_core.corpus import Counts
    from bpe_core.difference import Difference, diff
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
    from bpe_core.surgery.grafting import Grafted, graft
    from bpe_core.surgery.pruning import Pruned, prune
    from bpe_core.surgery.uniting import United, unite
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.trainer import Merge, Trainer, train
    from bpe_core.vocabulary import Vocabulary

__all__ = [
    "PATTERNS",
    "BpeError",
    "Change",
    "Counts",
    "Difference",
    "Finding",
    "Findings",
    "FormatError",
    "Grafted",
    "LiveText",
    "Merge",
    "OptionError",
    "PatternError",
    "Pruned",
    "SpecialTokenError",
    "TextError",
    "Tokenizer",
    "Trainer",
    "United",
    "UnknownTokenError",
    "UntrainedError",
    "Vocabulary",
    "audit",
    "diff",
    "graft",
    "load",
    "prune",
    "save",
    "train",
    "unite",
]

_ROOM_OF: Final = {
    "PATTERNS": "patterns",
    "Change": "live.live_text",
    "Counts": "corpus",
    "Difference": "difference",
    "Finding": "auditing.findings",
    "Findings": "auditing.findings",
    "Grafted": "surgery.grafting",
    "LiveText": "live.live_text",
    "Merge": "trainer",
    "Pruned": "surgery.pruning",
    "Tokenizer": "tokenizer",
    "Trainer": "trainer",
    "United": "surgery.uniting",
    "Vocabulary": "vocabulary",
    "audit": "auditing",
    "diff": "difference",
    "graft": "surgery.grafting",
    "load": "formats",
    "prune": "surgery.pruning",
    "save": "formats",
    "train": "trainer",
    "unite": "surgery.uniting",
}
"""The module of each public name, except errors."""


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import bpe_core` costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'bpe_core' has no attribute {name!r}")
    room = _ROOM_OF.get(name, "errors")
    value = getattr(import_module(f"bpe_core.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
