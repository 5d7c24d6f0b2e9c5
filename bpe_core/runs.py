"""Trainings that left a tokenizer file or a checkpoint: found, described, compared, and exported."""

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

_NAMED: Final = 5  # tokens that are named of those that only one has
_NONE: Final = "none"  # of an option that a training was not asked for


def run_options(tokenizer: Tokenizer) -> dict[str, str]:
    """The name of each option -> its value, for a tokenizer that keeps the record of its training; {} for others.

    Names are those of `OPTIONS`; "texts", the corpus without its weights, comes last."""
    record = tokenizer.record
    if record is None:
        return {}
    values = {field: getattr(record, field) for field in OPTION_OF} | {
        "special_tokens": tokenizer.special_tokens
    }
    weights = record.weights or " ".join(
        f"{one.name}={count_text(one.weight)}"
        for one in record.sources
        if one.weight != 1
    )
    size = sum(source.bytes for source in record.sources)
    digest = sha256(
        "".join(source.sha256 for source in record.sources).encode()
    ).hexdigest()
    return {
        option.name: _written(values[field]) for field, option in OPTION_OF.items()
    } | {
        OPTIONS["extend"].name: counted(record.n_given, "merge")
        if record.n_given
        else _NONE,
        OPTIONS["sample"].name: record.sample or _NONE,
        OPTIONS["weight"].name: weights or _NONE,
        "texts": f"{counted(len(record.sources), 'text')} of {counted(size, 'byte')} ({digest[:8]})",
    }


def _written(value: object) -> str:
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        value = " ".join(value)
    return (f"{value:,}" if isinstance(value, int) else str(value or "")) or _NONE


_USUAL: Final = {
    option.name: ""
    if field in ("vocab_size", "pattern", "ties")
    else _written(getattr(Options(), field))
    for field, option in OPTION_OF.items()
}


class TrainingRun(NamedTuple):
    path: Path
    tokenizer: Tokenizer

    def described(self) -> dict[str, Any]:
        """Its options, corpus and results, as `--json` prints them."""
        record = self.tokenizer.record
        assert record
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
            "ended": "under way, or killed"
            if self.path.suffix == ".checkpoint"
            else record.stop_reason,
        }

    @property
    def options(self) -> str:
        """What it was asked for in words: pattern and ties, and what is not as usual."""
        rules = {
            name: value
            for name, value in run_options(self.tokenizer).items()
            if value != _USUAL.get(name, _NONE)
        }
        return ", ".join(
            f"{name} {value}"
            for name, value in rules.items()
            if name not in ("vocabulary", "texts")
        )


def _written_at(path: Path) -> str:
    """When a file was written, in ISO 8601, UTC; "" if it does not exist any more."""
    try:
        seconds = path.stat().st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def found(paths: Iterable[Path]) -> Iterator[TrainingRun]:
    """The trainings in files and in folders themselves, not below them; `OptionError` if a path does not exist."""
    for path in paths:
        if not path.exists():
            raise OptionError(
                f"There is no {path}; name a folder with tokenizer files, or two such files."
            )
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            with suppress(BpeError, OSError):
                if file.is_file():
                    with file.open("rb") as head:
                        is_ours = recognizes(head.read(256))
                    if is_ours and (tokenizer := load(file)).record:
                        yield TrainingRun(file, tokenizer)


class RunDifference(NamedTuple):
    """Two lists of merges compared; merges are equal if they join the same two byte strings, whatever the ids."""

    options: dict[
        str, tuple[str, str]
    ]  # name -> its value in each, of those that differ
    n_same: int  # the first so many merges are the same
    next: tuple[
        str, str
    ]  # the one after them of each in words, "" where there are no more
    n_both: int  # tokens learned after that by both, perhaps at other steps or from other parts
    only: tuple[
        tuple[bytes, ...], tuple[bytes, ...]
    ]  # and those by one, in the order of the steps
    compression: tuple[
        float | None, float | None
    ]  # bytes a token of its own corpus at the end, None without a record

    @classmethod
    def of(cls, first: Tokenizer, second: Tokenizer) -> Self:
        """Compare two tokenizers; linear in their merges."""
        n_same = merges_in_common(first, second)
        ours, theirs = (
            dict.fromkeys(
                one.token_bytes(token) for _, _, token in one.vocabulary.merges[n_same:]
            )
            for one in (first, second)
        )
        options, others = run_options(first), run_options(second)
        texts = [
            Counter((one.sha256, one.weight) for one in of.record.sources)
            for of in (first, second)
            if of.record
        ]
        if options.get("texts") != others.get("texts") and texts[1:] == texts[:1]:
            others["texts"] = "the same texts in another order"
        return cls(
            {
                name: (value, others[name])
                for name, value in options.items()
                if value != others.get(name, value)
            },
            n_same,
            (_merge_at(first, n_same), _merge_at(second, n_same)),
            len(ours.keys() & theirs.keys()),
            (
                tuple(one for one in ours if one not in theirs),
                tuple(one for one in theirs if one not in ours),
            ),
            (_compression(first), _compression(second)),
        )

    def sentences(self, first: str, second: str) -> Iterator[str]:
        """The difference for a person; `first` and `second` are what the two are called."""
        if self.options:
            values = (
                (name, [visible(shortened(value, 50)) for value in two])
                for name, two in self.options.items()
            )
            asked = "; ".join(f"{name} {' and '.join(two)}" for name, two in values)
            yield f"Asked of {first} and {second}: {asked}."
        ours, theirs = self.next
        if not ours and not theirs:
            yield f"The same merges: all {self.n_same:,}."
            return
        if not ours or not theirs:
            shorter, longer, more = (
                (second, first, self.only[0]) if ours else (first, second, self.only[1])
            )
            yield f"The same until step {self.n_same:,}, where {shorter} ends; {longer} has {len(more):,} more."
        else:
            yield f"The same until step {self.n_same:,}, then:"
            yield f"  {first}: {ours}"
            yield f"  {second}: {theirs}"
            yield f"What they learned after that has {counted(self.n_both, 'token')} in common."
            for name, only in ((first, self.only[0]), (second, self.only[1])):
                if only:
                    labels = ", ".join(
                        shortened(token_label(token), 30) for token in only[:_NAMED]
                    )
                    yield f"  only {name}: {len(only):,}: {labels}{', …' if len(only) > _NAMED else ''}"
        if None not in self.compression:
            a, b = self.compression
            yield f"Bytes a token of its corpus at the end: {first} {a:.4f}, {second} {b:.4f}."


def _merge_at(tokenizer: Tokenizer, index: int) -> str:
    """The merge of that index in words, with what a record tells of it; "" if there are not so many."""
    if index >= tokenizer.step:
        return ""
    left, right, _ = tokenizer.vocabulary.merge_of(index + 1)
    pair = f"{token_label(tokenizer.token_bytes(left))} + {token_label(tokenizer.token_bytes(right))}"
    if tokenizer.record is None or index >= len(tokenizer.record.steps):
        return pair
    count, ties, _ = tokenizer.record.steps[index]
    why = (
        "given"
        if not ties
        else "no tie"
        if ties == 1
        else f"one of {ties:,} with this count"
    )
    return f"{pair}, which occurs {counted(count, 'time')} ({why})"


def _compression(tokenizer: Tokenizer) -> float | None:
    record = tokenizer.record
    if record is None:
        return None
    steps = record.steps[: tokenizer.step]
    return ratio(record.n_bytes, steps[-1][2] if steps else record.n_tokens_start)


def exported(
    what: str, tokenizers: Sequence[Tokenizer], names: Sequence[str]
) -> Iterable[str]:
    """Lines of the "merges" of a training, separated by tabs, of its "record" in JSON, or of the "curve" of several as
    CSV; `names` are files. Raises `OptionError` for a record or curve that there is not."""
    if what == "merges":
        return _merges(tokenizers[0])
    if what == "record":
        record = tokenizers[0].record
        if record is None:
            raise OptionError(
                "There is no record of a training in this tokenizer's file."
            )
        steps = record.steps[: tokenizers[0].step]
        told = {**asdict(record), "corpus_digest": record.corpus_digest, "steps": steps}
        return [json.dumps(told, ensure_ascii=False, default=for_programs) + "\n"]
    short = list(map(os.path.basename, names))
    labels = [
        name if short.count(name) == 1 else f"{name} {number}"
        for number, name in enumerate(short, 1)
    ]
    is_several = len(labels) > 1
    lines = [",".join([*["run"] * is_several, *CurvePoint._fields]) + "\n"]
    for label, tokenizer in zip(labels, tokenizers, strict=True):
        run = ['"' + label.replace('"', '""') + '"'] * is_several
        for point in training_curve(tokenizer):
            lines.append(
                ",".join(
                    [
                        *run,
                        *(
                            "" if value is None else repr(for_programs(value))
                            for value in point
                        ),
                    ]
                )
                + "\n"
            )
    return lines


def _merges(tokenizer: Tokenizer) -> Iterator[str]:
    steps = tokenizer.record.steps if tokenizer.record else ()
    columns = ["step", "left_id", "right_id", "id", "left", "right", "token", "hex"]
    yield (
        "\t".join([*columns, *(("count", "ties", "n_tokens") if steps else ())]) + "\n"
    )
    for number, merge in enumerate(tokenizer.merges):
        labels = (token_label(tokenizer.token_bytes(id)) for id in merge)
        values = (number + 1, *merge, *labels, tokenizer.token_bytes(merge[2]).hex())
        counts = map(
            repr, map(for_programs, steps[number] if number < len(steps) else ())
        )
        yield "\t".join((*map(str, values), *counts)) + "\n"
