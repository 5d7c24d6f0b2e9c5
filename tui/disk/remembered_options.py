"""Options of a training that were remembered: those that this version does not know are the default."""

from dataclasses import replace
from typing import Final

from bpe_core.errors import PatternError
from bpe_core.patterns import splitter
from bpe_core.tokenizer.training_record import OPTIONS, TIES
from tui.state.training import TrainingOptions

_MORE: Final = {*OPTIONS} - {"weight", "end-of-word", "id-layout"}
"""What `TrainingOptions.more` may ask for: the last two are options of the command only."""


def possible(options: TrainingOptions) -> TrainingOptions:
    """`options` with the default for each that this version does not know."""
    default = TrainingOptions()
    return replace(
        options,
        vocab_size=options.vocab_size if options.vocab_size > 256 else default.vocab_size,
        pattern=options.pattern if _splits(options.pattern) else default.pattern,
        ties=options.ties if options.ties in TIES else default.ties,
        min_count=max(options.min_count, 1),
        more={name: value for name, value in options.more.items() if name in _MORE},
    )


def _splits(pattern: str) -> bool:
    try:
        return bool(splitter(pattern))
    except PatternError:
        return False
