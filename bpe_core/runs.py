"""The trainings that left a tokenizer file or a checkpoint in a folder."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.errors import BpeError, OptionError
from bpe_core.formats import load
from bpe_core.formats.native import recognizes
from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.metrics.run_options import run_options, unusual
from bpe_core.tokenizer import Tokenizer

_HEAD: Final = 256
"""Bytes of a file that show whether it is a tokenizer file of ours."""


class TrainingRun(NamedTuple):
    """A training that left a file."""

    path: Path
    tokenizer: Tokenizer

    def described(self) -> dict[str, Any]:
        """Its options, corpus and results, as `--json` prints them."""
        record = self.tokenizer.record
        assert record
        end = record.steps[-1][2] if record.steps else record.n_tokens_start
        return {
            "path": str(self.path),
            "created": record.created,
            "merges": self.tokenizer.step,
            "given": record.n_given,
            "vocab_size": self.tokenizer.n_vocab,
            "options": run_options(self.tokenizer),
            "texts": len(record.sources),
            "bytes": record.n_bytes,
            "corpus": record.corpus_digest,
            "bytes_per_token": bytes_per_token(record.n_bytes, end),
            "ended": "under way, or killed" if self.path.suffix == ".checkpoint" else record.stop_reason,
        }

    @property
    def options(self) -> str:
        """What it was asked for, as far as it is not what is usual, in words."""
        rules = unusual(run_options(self.tokenizer))
        del rules["vocabulary"], rules["texts"]
        return ", ".join(f"{name} {value}" for name, value in rules.items())


def found(paths: Iterable[Path]) -> Iterator[TrainingRun]:
    """The trainings in files and in the folders themselves, not below them. Files that are none are passed over.

    Raises `OptionError` for a path that does not exist.
    """
    for path in paths:
        if not path.exists():
            raise OptionError(f"There is no {path}; name a folder with tokenizer files, or two such files.")
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if tokenizer := _trained(file):
                yield TrainingRun(file, tokenizer)


def _trained(file: Path) -> Tokenizer | None:
    try:
        if not file.is_file():
            return None
        with file.open("rb") as head:
            if not recognizes(head.read(_HEAD)):
                return None
        tokenizer = load(file)
    except (BpeError, OSError):
        return None
    return tokenizer if tokenizer.record else None
