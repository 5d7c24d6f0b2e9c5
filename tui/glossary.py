"""The meaning of each word on the screen, for the hint line, tooltips and the help.

A sentence has at most `LONGEST` cells, so that a terminal of 80 columns shows all of it.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bpe_core.tokenizer.training_record import OPTIONS

LONGEST: Final = 78

_SPECIAL: Final = OPTIONS["special"]
FIELDS: Final[Mapping[str, str]] = {
    OPTIONS["vocab-size"].name: OPTIONS["vocab-size"].does,
    OPTIONS["pattern"].name: OPTIONS["pattern"].does,
    OPTIONS["ties"].name: OPTIONS["ties"].does,
    OPTIONS["min-count"].name: OPTIONS["min-count"].does,
    _SPECIAL.name: f"{_SPECIAL.does} Separate by spaces.",
}
"""Name of a field of the training pane -> its hint."""

_FILE: Final = Path(__file__).with_suffix(".toml")
_TEXTS: Final[Mapping[str, Any]] = tomllib.loads(_FILE.read_text("utf-8"))
PATTERN_MEANINGS: Final[Mapping[str, str]] = _TEXTS["patterns"]
ANOTHER_PATTERN: Final[str] = _TEXTS["another"]
OWN_PATTERN: Final[str] = _TEXTS["own"]
TIE_MEANINGS: Final[Mapping[str, str]] = _TEXTS["ties"]
WORDS: Final[Mapping[str, Mapping[str, str]]] = _TEXTS["words"]
"""Title of a pane -> word -> meaning."""
