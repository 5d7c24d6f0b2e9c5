"""Keeping what a training has learned so far in a file, and resuming it from there after any end.

A checkpoint is a tokenizer file in bpescope's own format: its training record holds the options and the digests of the
texts. To resume, the texts are counted again, and the merges made again; each has to be the one in the file. So the
result is that of a training that was never interrupted, whatever the tie rule looks at.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bpe_core.corpus import Source
from bpe_core.errors import FormatError, OptionError
from bpe_core.formats import save
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import ENDING, OPTION_OF, Options
from bpe_core.visible import counted, quoted
from bpe_core.weighted import formatted

if TYPE_CHECKING:
    from bpe_core.trainer import Trainer

EVERY: Final = 5.0  # seconds between two checkpoints of a training under way, at least
LARGEST_PART: Final = 0.02  # of the time that writing may take: it becomes rarer where a vocabulary takes long to write


class Checkpoints:
    """Writes checkpoints of one training to `path`; to nowhere if that is None."""

    def __init__(
        self, path: Path | None, report: Callable[[str], object] = lambda *_: None
    ) -> None:
        """`report` is called after each with why it could not be written, or ""."""
        self.path: Final = path
        self._report = report
        self._n_kept = 0
        self._next = time.monotonic() + EVERY

    def keep_now_and_then(self, trainer: "Trainer") -> None:
        """Write a checkpoint if the last one is old enough; cheap enough for every turn of a loop."""
        if time.monotonic() >= self._next:
            self.keep(trainer)

    def keep(self, trainer: "Trainer") -> None:
        """Write a checkpoint if anything was learned that was not known before, in a file or given. What prevents it is
        reported, and ends nothing."""
        if self.path is None or trainer.n_merges <= max(self._n_kept, trainer.n_known):
            return
        began, problem = time.monotonic(), ""
        try:
            tokenizer = trainer.tokenizer()
            save(tokenizer, self.path)
            self._n_kept = tokenizer.step
        except FormatError as error:
            problem = str(error)
        now = time.monotonic()
        self._next = now + max(EVERY, (now - began) / LARGEST_PART)
        self._report(problem)

    def remove(self) -> None:
        """Remove the file: all it holds is saved elsewhere."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink()


def check_options(earlier: Tokenizer, options: Options, sample: str) -> None:
    """Raise `OptionError` if an earlier training cannot be resumed with these options, or this sample of the texts.
    Options that only end the learning (the sizes and least counts) may differ: they change no merge before the end."""
    record = earlier.record
    if record is None:
        raise OptionError(
            "The training to resume left no record of how it was done; begin anew."
        )
    if options.vocab_size < earlier.n_tokens:
        raise OptionError(
            f"The training to resume has {earlier.n_tokens:,} tokens already; ask for no fewer, or begin anew."
        )
    was, now = (
        {name: getattr(asked, name) for name in OPTION_OF}
        for asked in (record, options)
    )
    was["special_tokens"], now["special_tokens"] = (
        tuple(earlier.special_tokens),
        tuple(options.special_tokens),
    )
    if not earlier.special_tokens:  # then the layouts are the same
        was["id_layout"] = now["id_layout"]
    names = {
        name: option.name for name, option in OPTION_OF.items() if name not in ENDING
    } | {"sample": "sample"}
    was["sample"], now["sample"] = record.sample, sample
    for name, called in names.items():
        if was[name] != now[name]:
            raise OptionError(
                f"The training to resume had the {called} {_written(was[name])}, not {_written(now[name])}; "
                "give the same options, or begin anew."
            )


def check_texts(earlier: Tokenizer, now: Sequence[Source]) -> None:
    """Raise `OptionError` if these are not the texts of an earlier training, whatever they are called."""
    then = earlier.record.sources if earlier.record else ()
    texts, others = (
        [(one.sha256, one.weight) for one in sources] for sources in (then, now)
    )
    if texts != others and sorted(texts) == sorted(others):
        raise OptionError(
            "These are the texts of the training to resume in another order; give them as then."
        )
    for was, source in zip(then, now, strict=False):
        if was.weight != source.weight:
            raise OptionError(
                f"{source.name} counted {formatted(was.weight)} times in the training to resume, "
                f"not {formatted(source.weight)}; give the same weights, or begin anew."
            )
        if was.sha256 != source.sha256:
            changed = (
                "has changed"
                if was.name == source.name
                else f"is read where {was.name} was"
            )
            raise OptionError(
                f"{source.name} {changed} since the training to resume; begin anew."
            )
    if len(then) != len(now):
        n_texts = counted(len(now), "text")
        raise OptionError(
            f"The corpus has {n_texts} now, and had {len(then):,} in the training to resume; begin anew."
        )


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(quoted, value)) or "none"
    return (
        "none"
        if value in (None, "")
        else quoted(value)
        if isinstance(value, str)
        else str(value)
    )
