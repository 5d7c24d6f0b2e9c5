"""What the words on the screen mean, a sentence each: for the line at the foot, for tooltips, and for the help.

A sentence has at most `LONGEST` cells, so that it can be read whole in a terminal of 80.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bpe_core.tokenizer.training_record import OPTIONS

LONGEST: Final = 78

FIELDS: Final[Mapping[str, str]] = {
    option.name: option.does
    for option in map(
        OPTIONS.__getitem__, ("vocab-size", "pattern", "ties", "min-count")
    )
} | {OPTIONS["special"].name: f"{OPTIONS['special'].does} Spaces between."}

_TOLD: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
PATTERN_MEANINGS: Final[Mapping[str, str]] = _TOLD["patterns"]
ANOTHER_PATTERN: Final[str] = _TOLD["another"]
OWN_PATTERN: Final[str] = _TOLD["own"]
TIE_MEANINGS: Final[Mapping[str, str]] = _TOLD["ties"]
WORDS: Final[Mapping[str, Mapping[str, str]]] = _TOLD["words"]
"""By the title of a pane."""
