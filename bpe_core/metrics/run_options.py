"""What a training was asked for, in words: for the history of trainings, and to say in what two of them differ."""

from collections.abc import Iterator
from hashlib import sha256

from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.trainer.option_table import RULES, TEXTS
from bpe_core.trainer.options import Options

NONE = "none"
"""Of an option that a training was not asked for."""


def run_options(tokenizer: Tokenizer) -> dict[str, str]:
    """The name of each option -> its value, for a tokenizer that keeps the record of its training; {} for others.

    Names are those of `option_table`; "texts", the corpus without its weights, comes last.

    >>> from bpe_core import train
    >>> list(run_options(train("low lower", vocab_size=260, ties="largest")).items())[:3]
    [('vocabulary', '260'), ('pattern', 'gpt4'), ('ties', 'largest')]
    """
    record = tokenizer.record
    return dict(_options(tokenizer, record)) if record else {}


def unusual(options: dict[str, str]) -> dict[str, str]:
    """Those of `run_options` that have another value than a training has which is asked for nothing; texts always."""
    return {name: value for name, value in options.items() if value != _USUAL.get(name, NONE)}


def _options(tokenizer: Tokenizer, record: TrainingRecord) -> Iterator[tuple[str, str]]:
    begun = counted(record.n_given, "merge") if record.n_given else NONE
    weights = [f"{source.name} {source.weight:,}" for source in record.sources if source.weight != 1]
    for argument, value in (
        ("vocab-size", f"{record.vocab_size:,}"),
        ("pattern", record.pattern),
        ("ties", record.ties),
        ("min-count", f"{record.min_count:,}"),
        ("special", " ".join(tokenizer.special_tokens)),
        ("max-token-length", record.max_token_length and f"{record.max_token_length:,}"),
        ("end-of-word", record.end_of_word),
        ("id-layout", record.id_layout),
        ("min-share", record.min_share),
        ("extend", begun),
    ):
        yield RULES[argument].name, value or NONE
    yield TEXTS["sample"].name, record.sample or NONE
    yield TEXTS["weight"].name, ", ".join(weights) or NONE
    digest = sha256("".join(source.sha256 for source in record.sources).encode()).hexdigest()
    size = sum(source.bytes for source in record.sources)
    yield "texts", f"{counted(len(record.sources), 'text')} of {counted(size, 'byte')} ({digest[:8]})"


_DEFAULT = Options(257)
_USUAL = {
    RULES["min-count"].name: str(_DEFAULT.min_count),
    RULES["id-layout"].name: _DEFAULT.id_layout,
}
