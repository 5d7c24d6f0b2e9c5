"""Find, describe, compare and export training runs that left a tokenizer file or a checkpoint."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from bpe_core.errors import BpeError, OptionError
from bpe_core.formats import load
from bpe_core.formats.native import recognizes
from bpe_core.metrics import CurvePoint, merges_in_common, ratio, training_curve
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import OPTION_OF, OPTIONS, Options
from bpe_core.visible import counted, shortened, token_label, visible
from bpe_core.weighted import count_text, for_programs

_NAMED: Final = 5
"""Maximum number of tokens of only one training run that are listed."""
_NONE: Final = "none"
"""The value of an option that was not given."""


def run_options(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the options of a training run by name, from its record; {} without a record.

    The names come from `OPTIONS`, followed by "texts", the corpus without its weights.
    """
    record = tokenizer.record
    if record is None:
        return {}
    values = {}
    for field, option in OPTION_OF.items():
        values[option.name] = _written(getattr(record, field))
    values[OPTION_OF["special_tokens"].name] = _written(tokenizer.special_tokens)
    start = counted(record.n_given, "merge") if record.n_given else _NONE
    values[OPTIONS["extend"].name] = start
    values[OPTIONS["sample"].name] = record.sample or _NONE
    weights = [
        f"{source.name}={count_text(source.weight)}"
        for source in record.sources
        if source.weight != 1
    ]
    values[OPTIONS["weight"].name] = record.weights or " ".join(weights) or _NONE
    n_bytes = sum(source.bytes for source in record.sources)
    digests = "".join(source.sha256 for source in record.sources)
    digest = sha256(digests.encode()).hexdigest()[:8]
    texts = counted(len(record.sources), "text")
    values["texts"] = f"{texts} of {counted(n_bytes, 'byte')} ({digest})"
    return values


def _written(value: object) -> str:
    """Return the value of an option as text."""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        value = " ".join(value)
    return str(value or _NONE)


_ALWAYS_DESCRIBED: Final = ("pattern", "ties")
_DEFAULTS: Final = {
    option.name: _written(getattr(Options(), field))
    for field, option in OPTION_OF.items()
}


class TrainingRun(NamedTuple):
    """A tokenizer file or a checkpoint with the record of its training."""

    path: Path
    tokenizer: Tokenizer

    def described(self) -> dict[str, Any]:
        """Return the options, corpus and results of the training run, as `runs --json` prints them."""
        record = self.tokenizer.record
        assert record
        is_checkpoint = self.path.suffix == ".checkpoint"
        return {
            "path": str(self.path),
            "created": record.created or _written_at(self.path),
            "merges": self.tokenizer.step,
            "given": record.n_given,
            "vocab_size": self.tokenizer.n_tokens,
            "options": run_options(self.tokenizer),
            "texts": len(record.sources),
            "bytes": record.n_bytes,
            "corpus": record.corpus_digest,
            "bytes_per_token": _compression(self.tokenizer),
            "ended": "under way, or killed" if is_checkpoint else record.stop_reason,
        }

    @property
    def options(self) -> str:
        """The pattern, the tie rule and the unusual options: "pattern words, ties first"."""
        shown = []
        for name, value in run_options(self.tokenizer).items():
            if name in ("vocabulary", "texts"):
                continue
            if name in _ALWAYS_DESCRIBED or value != _DEFAULTS.get(name, _NONE):
                shown.append(f"{name} {value}")
        return ", ".join(shown)


def _written_at(path: Path) -> str:
    """Return when a file was written, in ISO 8601, UTC; "" if it no longer exists."""
    try:
        seconds = path.stat().st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def found(paths: Iterable[Path]) -> Iterator[TrainingRun]:
    """Yield the training runs in files and folders. Subfolders are not searched.

    Raises:
        OptionError: A path does not exist.
    """
    for path in paths:
        if not path.exists():
            raise OptionError(
                f"{path} does not exist; name a folder with tokenizer files, or two such files."
            )
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            with suppress(BpeError, OSError):
                if file.is_file():
                    with file.open("rb") as head:
                        is_native = recognizes(head.read(256))
                    tokenizer = load(file) if is_native else None
                    if tokenizer and tokenizer.record:
                        yield TrainingRun(file, tokenizer)


class RunDifference(NamedTuple):
    """The difference between two training runs. Merges are equal if they join the same bytes."""

    options: dict[str, tuple[str, str]]
    """Option -> its value in each training run, for the options that differ."""
    n_same: int
    """How many merges are the same, from the first on."""
    next: tuple[str, str]
    """The first different merge of each training run, in words; "" after the last merge."""
    n_both: int
    """How many tokens both learned after that, perhaps at other steps or from other parts."""
    only: tuple[tuple[bytes, ...], tuple[bytes, ...]]
    """The tokens that only one of them learned after that, in the order of the steps."""
    compression: tuple[float | None, float | None]
    """Bytes per token at the end of each training run, in its own corpus; None without a record."""

    @classmethod
    def of(cls, first: Tokenizer, second: Tokenizer) -> Self:
        """Compare two tokenizers, in time linear in the number of merges."""
        n_same = merges_in_common(first, second)
        ours = _tokens_after(first, n_same)
        theirs = _tokens_after(second, n_same)
        options = run_options(first)
        others = run_options(second)
        have_same_texts = _texts_of(first) == _texts_of(second)
        if have_same_texts and options.get("texts") != others.get("texts"):
            others["texts"] = "the same texts in another order"
        return cls(
            options={
                name: (value, others[name])
                for name, value in options.items()
                if value != others.get(name, value)
            },
            n_same=n_same,
            next=(_merge_at(first, n_same), _merge_at(second, n_same)),
            n_both=len(ours.keys() & theirs.keys()),
            only=(
                tuple(token for token in ours if token not in theirs),
                tuple(token for token in theirs if token not in ours),
            ),
            compression=(_compression(first), _compression(second)),
        )

    def sentences(self, first: str, second: str) -> Iterator[str]:
        """Describe the difference in sentences. `first` and `second` are the names of the training runs."""
        if self.options:
            differences = []
            for name, values in self.options.items():
                ours, theirs = (visible(shortened(value, 50)) for value in values)
                differences.append(f"{name} {ours} and {theirs}")
            yield f"Options of {first} and {second}: {'; '.join(differences)}."
        our_next, their_next = self.next
        if not our_next and not their_next:
            yield f"The merges are the same: {self.n_same:,}."
            return
        same = f"The same until step {self.n_same:,}"
        if not our_next:
            yield f"{same}, where {first} ends; {second} has {len(self.only[1]):,} more."
        elif not their_next:
            yield f"{same}, where {second} ends; {first} has {len(self.only[0]):,} more."
        else:
            yield f"{same}, then:"
            yield f"  {first}: {our_next}"
            yield f"  {second}: {their_next}"
            yield "Tokens learned after that:"
            yield f"  both: {self.n_both:,}"
            for name, tokens in ((first, self.only[0]), (second, self.only[1])):
                if tokens:
                    labels = [shortened(token_label(token), 30) for token in tokens]
                    if len(labels) > _NAMED:
                        labels[_NAMED:] = ["…"]
                    yield f"  only {name}: {len(tokens):,} ({', '.join(labels)})"
        ours_at_end, theirs_at_end = self.compression
        if ours_at_end is not None and theirs_at_end is not None:
            yield (
                f"Bytes per token after the last merge, each run on its own corpus: {first} {ours_at_end:.4f}, "
                f"{second} {theirs_at_end:.4f}."
            )


def _tokens_after(tokenizer: Tokenizer, step: int) -> dict[bytes, None]:
    """Return the bytes of the tokens that were learned after a step, in order."""
    merges = tokenizer.vocabulary.merges[step:]
    return dict.fromkeys(tokenizer.token_bytes(token) for _, _, token in merges)


def _texts_of(tokenizer: Tokenizer) -> Counter[tuple[str, object]] | None:
    """Return the texts of a training run with their weights, without their order."""
    if tokenizer.record is None:
        return None
    return Counter(
        (source.sha256, source.weight) for source in tokenizer.record.sources
    )


def _merge_at(tokenizer: Tokenizer, index: int) -> str:
    """Describe merge `index`, from 0, with its counts if there is a record; "" after the last merge."""
    if index >= tokenizer.step:
        return ""
    left, right, _ = tokenizer.vocabulary.merge_of(index + 1)
    parts = [token_label(tokenizer.token_bytes(part)) for part in (left, right)]
    pair = " + ".join(parts)
    if tokenizer.record is None or index >= len(tokenizer.record.steps):
        return pair
    count, n_tied, _ = tokenizer.record.steps[index]
    reason = f"one of {n_tied:,} with this count"
    if n_tied == 0:
        reason = "given"
    elif n_tied == 1:
        reason = "no tie"
    return f"{pair}, which occurs {counted(count, 'time')} ({reason})"


def _compression(tokenizer: Tokenizer) -> float | None:
    """Return the bytes per token of the training corpus; None without a record."""
    record = tokenizer.record
    if record is None:
        return None
    n_tokens = record.n_tokens_start
    if tokenizer.step and record.steps:
        _, _, n_tokens = record.steps[: tokenizer.step][-1]
    return ratio(record.n_bytes, n_tokens)


def exported(
    what: str, tokenizers: Sequence[Tokenizer], names: Sequence[str]
) -> Iterable[str]:
    """Return the lines that `export` prints.

    Args:
        what: "merges" for columns with tabs, "record" for JSON, or "curve" for CSV.
        tokenizers: One tokenizer; several only for a curve.
        names: The files of the tokenizers.

    Raises:
        OptionError: The file has no record of a training run, which a record or curve is made from.
    """
    if what == "merges":
        return _merges(tokenizers[0])
    if what == "record":
        return [_record(tokenizers[0])]
    return _curves(tokenizers, [os.path.basename(name) for name in names])


def _record(tokenizer: Tokenizer) -> str:
    record = tokenizer.record
    if record is None:
        raise OptionError(
            "This tokenizer's file has no record of its training; name one that bpescope has "
            "trained."
        )
    fields = asdict(record)
    fields["corpus_digest"] = record.corpus_digest
    fields["steps"] = record.steps[: tokenizer.step]
    return json.dumps(fields, ensure_ascii=False, default=for_programs) + "\n"


def _curves(tokenizers: Sequence[Tokenizer], names: Sequence[str]) -> list[str]:
    """Return a row for each step of each training run, with its name if there are several."""
    are_several = len(tokenizers) > 1
    header = ",".join(CurvePoint._fields)
    lines = [f"run,{header}\n" if are_several else f"{header}\n"]
    for number, (name, tokenizer) in enumerate(zip(names, tokenizers, strict=True), 1):
        start = ""
        if are_several:
            label = name if names.count(name) == 1 else f"{name} {number}"
            escaped = label.replace('"', '""')
            start = f'"{escaped}",'
        for point in training_curve(tokenizer):
            values = [
                "" if value is None else repr(for_programs(value)) for value in point
            ]
            lines.append(f"{start}{','.join(values)}\n")
    return lines


def _merges(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield a line for each merge, with its counts if there is a record."""
    steps = tokenizer.record.steps if tokenizer.record else ()
    columns = ["step", "left_id", "right_id", "id", "left", "right", "token", "hex"]
    if steps:
        columns += ["count", "ties", "n_tokens"]
    yield "\t".join(columns) + "\n"
    for index, merge in enumerate(tokenizer.merges):
        values = [str(index + 1), *map(str, merge)]
        values += [token_label(tokenizer.token_bytes(id)) for id in merge]
        values.append(tokenizer.token_bytes(merge[2]).hex())
        if index < len(steps):
            values += [repr(for_programs(count)) for count in steps[index]]
        yield "\t".join(values) + "\n"
