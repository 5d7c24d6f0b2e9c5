"""Save the merges of a training run in a file while it runs, and resume the training from that file.

A checkpoint is a tokenizer file in bpescope's own format: its training record has the options and
the digests of the texts. To resume, the trainer counts the texts and makes the merges again, and
compares each with the file. So the result equals an uninterrupted training, under every tie rule.
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

EVERY: Final = 5.0
"""Minimum seconds between two checkpoints of a running training."""
LARGEST_PART: Final = 0.02
"""Maximum share of the time spent on writing, so large vocabularies are written less often."""


class Checkpoints:
    """Writes the checkpoints of one training run to `path`; none if it is None."""

    def __init__(
        self, path: Path | None, report: Callable[[str], object] | None = None
    ) -> None:
        """`report` is called after each attempt with the reason why it failed, or with ""."""
        self.path: Final = path
        self._report = report
        self._n_kept = 0
        self._next = time.monotonic() + EVERY

    def keep_now_and_then(self, trainer: "Trainer") -> None:
        """Write a checkpoint if the last one is old enough. Cheap enough for every iteration of a loop."""
        if time.monotonic() >= self._next:
            self.keep(trainer)

    def keep(self, trainer: "Trainer") -> None:
        """Write a checkpoint if there are merges that no file has. Report a failure, and go on."""
        if self.path is None or trainer.n_merges <= max(self._n_kept, trainer.n_known):
            return
        start = time.monotonic()
        problem = ""
        try:
            tokenizer = trainer.tokenizer()
            save(tokenizer, self.path)
            self._n_kept = tokenizer.step
        except FormatError as error:
            problem = str(error)
        now = time.monotonic()
        self._next = now + max(EVERY, (now - start) / LARGEST_PART)
        if self._report:
            self._report(problem)

    def remove(self) -> None:
        """Remove the file, after its content has been saved elsewhere."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink()


def check_options(earlier: Tokenizer, options: Options, sample: str) -> None:
    """Raise `OptionError` if these options, or this sample, differ from those of `earlier`.

    The options in `ENDING` may differ, since they change no merge before the end.
    """
    record = earlier.record
    if record is None:
        raise OptionError(
            "The tokenizer to resume from has no record of its training; start a new run."
        )
    if options.vocab_size < earlier.n_tokens:
        raise OptionError(
            f"The run to resume already has {earlier.n_tokens:,} tokens; "
            f"ask for a vocab_size of at least {earlier.n_tokens:,}, or start a new run."
        )
    for name, option in OPTION_OF.items():
        old_value = getattr(record, name)
        new_value = getattr(options, name)
        if name == "special_tokens":
            # The record does not repeat the special tokens of its vocabulary.
            old_value = tuple(earlier.special_tokens)
            new_value = tuple(new_value)
        # Without special tokens, all layouts are the same.
        is_ignored = name == "id_layout" and not earlier.special_tokens
        if name not in ENDING and not is_ignored:
            _check_same(option.name, old_value, new_value)
    _check_same("sample", record.sample, sample)


def _check_same(option: str, old_value: object, new_value: object) -> None:
    if old_value != new_value:
        raise OptionError(
            f"The run to resume used {option} {_describe(old_value)}, "
            f"not {_describe(new_value)}; use the same options, or start a new run."
        )


def check_texts(earlier: Tokenizer, sources: Sequence[Source]) -> None:
    """Raise `OptionError` if these are not the texts of an earlier training run. Names may differ."""
    old_sources = earlier.record.sources if earlier.record else ()
    old_texts = [(source.sha256, source.weight) for source in old_sources]
    texts = [(source.sha256, source.weight) for source in sources]
    if texts != old_texts and sorted(texts) == sorted(old_texts):
        raise OptionError(
            "The run to resume had these texts in another order; give them in the order of that run."
        )
    for old, source in zip(old_sources, sources, strict=False):
        if old.weight != source.weight:
            raise OptionError(
                f"{source.name} counted {formatted(old.weight)} times in the run to resume, "
                f"not {formatted(source.weight)}; give the same weights, or start a new run."
            )
        if old.sha256 != source.sha256:
            change = "has changed"
            if old.name != source.name:
                change = f"is read in place of {old.name}, which is another text,"
            raise OptionError(
                f"{source.name} {change} since the run to resume; start a new run."
            )
    if len(old_sources) != len(sources):
        n_texts = counted(len(sources), "text")
        raise OptionError(
            f"The corpus has {n_texts} now, and had {len(old_sources):,} in the run to resume; "
            "give the same texts, or start a new run."
        )


def _describe(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(quoted, value)) or "none"
    if value in (None, ""):
        return "none"
    if isinstance(value, str):
        return quoted(value)
    return str(value)
