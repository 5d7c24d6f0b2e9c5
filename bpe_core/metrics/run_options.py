"""What a training was asked for, in words: for the history of trainings, and to say in what two of them differ."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import EXTEND, OPTION_OF, SAMPLE, WEIGHT, Options, TrainingRecord

NONE = "none"
"""Of an option that a training was not asked for."""


def run_options(tokenizer: Tokenizer) -> dict[str, str]:
    """The name of each option -> its value, for a tokenizer that keeps the record of its training; {} for others.

    Names are those of `OPTIONS`; "texts", the corpus without its weights, comes last.

    >>> from bpe_core import train
    >>> list(run_options(train("low lower", vocab_size=260, ties="largest")).items())[:3]
    [('vocabulary', '260'), ('pattern', 'gpt4'), ('ties', 'largest')]
    """
    record = tokenizer.record
    return dict(_options(tokenizer, record)) if record else {}


def unusual(options: dict[str, str]) -> dict[str, str]:
    """Those of `run_options` that have another value than a training has which is asked for nothing, but with the size,
    pattern, tie rule and texts always."""
    return {name: value for name, value in options.items() if value != _USUAL.get(name, NONE)}


def _options(tokenizer: Tokenizer, record: TrainingRecord) -> Iterator[tuple[str, str]]:
    for field, option in OPTION_OF.items():
        value = tokenizer.special_tokens if field == "special_tokens" else getattr(record, field)
        yield option.name, _written(value)
    yield EXTEND.name, counted(record.n_given, "merge") if record.n_given else NONE
    yield SAMPLE.name, record.sample or NONE
    weights = [f"{source.name} {source.weight:,}" for source in record.sources if source.weight != 1]
    yield WEIGHT.name, ", ".join(weights) or NONE
    digest = sha256("".join(source.sha256 for source in record.sources).encode()).hexdigest()
    size = sum(source.bytes for source in record.sources)
    yield "texts", f"{counted(len(record.sources), 'text')} of {counted(size, 'byte')} ({digest[:8]})"


def _written(value: object) -> str:
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        value = " ".join(value)
    return (f"{value:,}" if isinstance(value, int) else str(value or "")) or NONE


_USUAL = {
    option.name: _written(getattr(Options(), field))
    for field, option in OPTION_OF.items()
    if field not in ("vocab_size", "pattern", "ties")
}
