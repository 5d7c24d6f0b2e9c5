"""A comparison of tokenizers: each text is encoded with each of them, and what was found is given as JSON has it."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.corpus import TextFile, find_files
from bpe_core.errors import OptionError, Stopped
from bpe_core.formats import load
from bpe_core.metrics.catalog import OF_PARTS, OnMetric, of_all_texts
from bpe_core.metrics.comparison import (
    Amounts,
    ComparedText,
    Comparison,
    TokenCounts,
)
from bpe_core.metrics.disagreements import TextPlace
from bpe_core.metrics.sections import sections as sections_of
from bpe_core.worker.job import Job, Request
from bpe_core.worker.messages import Activity, Done

_SPLITS: Final = 10  # ways to cut numbers that are listed of each tokenizer: 7 for up to 3 digits, and 3 for more
_LISTED: Final = 100  # tokens of only one vocabulary that are listed, by rank


@dataclass(frozen=True, slots=True)
class CompareRequest(Request):
    """Tokenizers on the texts in files and folders; with a single one, what can be measured of it."""

    tokenizers: tuple[
        tuple[str, str], ...
    ]  # (file, pattern, empty where the file says it)
    paths: tuple[str, ...]
    sections: bool = False  # whether each part of a text that begins with a line "# Title" is a text of its own
    n_examples: int = 0  # disagreements that are listed of each pair
    n_lines: int = 0  # lines that are listed of those that are worst for a tokenizer

    def run(self, job: Job) -> None:
        tokenizers = [
            load(path, pattern=pattern or None) for path, pattern in self.tokenizers
        ]
        for comparison in TokenCounts(tokenizers), Comparison(tokenizers, n_sample=0):
            if not job.stopped:
                compare(
                    comparison,
                    self.paths,
                    job,
                    sections=self.sections,
                    tell=partial(self._tell, comparison, job),
                )
        if comparison.texts and job.stopped != "interrupted":
            self._tell(comparison, job)
        job.send(Done(job.stopped or "compared", len(comparison.texts), job.seconds))

    def _tell(self, comparison: Comparison, job: Job) -> None:
        names = [path for path, _ in self.tokenizers]
        job.send(
            ComparisonFound(
                summary(
                    comparison, names, n_examples=self.n_examples, n_lines=self.n_lines
                )
            )
        )


class ComparedTexts(NamedTuple):
    """Some of the texts, each sent when its tokens are counted, and again with all its amounts."""

    first: int  # so many come before these
    texts: tuple[ComparedText, ...]


class ComparisonFound(NamedTuple):
    """What `summary` makes of the texts that were added so far, in the end of all."""

    found: dict[str, Any]


def compare(
    comparison: Comparison,
    paths: Sequence[str],
    job: Job,
    *,
    sections: bool,
    streamed: Iterable[str] = (),
    tell: Callable[[], object] = bool,
) -> None:
    """Add the texts in files and folders, without any the one that is `streamed`, or all of their sections, until the
    job is stopped; reports them in batches, and which files are skipped. `tell` is called now and then, unless tokens
    alone are counted. Raises TextError for a text that cannot be read, and OptionError if there is no text.
    """
    reading = _ComparedReading(comparison, job, sections, tell)
    with suppress(Stopped):
        if not paths:
            reading.add("stdin", streamed)
        else:
            found = find_files(paths, every_character=True)
            for skipped in found.skipped:
                job.send(skipped)
            reading.add_files(
                found.files, [Path(path) for path in paths if os.path.isdir(path)]
            )
    reading.send()
    if not comparison.texts and not job.stopped:
        raise OptionError(
            'There is no line "# Title" in these texts; leave out --sections.'
        )


class _ComparedReading:
    """Reads texts into a comparison, block by block, and reports how far it has come."""

    def __init__(
        self,
        comparison: Comparison,
        job: Job,
        by_section: bool,
        tell: Callable[[], object],
    ) -> None:
        self._comparison, self._job, self._by_section, self._tell = (
            comparison,
            job,
            by_section,
            tell,
        )
        self._names = [one.name for one in comparison.tokenizers]
        self._counts_only = isinstance(comparison, TokenCounts)
        self._n_sent = 0
        self._tell_at = time.monotonic() + 1
        self._n_read = 0  # bytes on disk
        self._n_bytes = 0  # of all files; 0 if that is unknown

    def send(self) -> None:
        """Send the texts that were added since the last time; now and then tell of all."""
        texts = self._comparison.texts
        if self._n_sent < len(texts):
            self._job.send(ComparedTexts(self._n_sent, tuple(texts[self._n_sent :])))
        self._n_sent = len(texts)
        now = time.monotonic()
        may_tell = not (self._counts_only or self._comparison.is_within_a_text)
        if self._n_sent and now > self._tell_at and may_tell:
            self._tell()
            self._tell_at = time.monotonic() + 4 * (time.monotonic() - now)

    def add_files(self, files: Sequence[TextFile], roots: Sequence[Path]) -> None:
        self._n_bytes = sum(file.size for file in files)
        before = 0
        for file in files:

            def report(position: int, before: int = before) -> None:
                self._n_read = before + position

            folder, place = _folder(file.path, roots), str(file.path)
            for row, blocks in enumerate(file.documents(report), 1):
                name = f"{file.name} row {row:,}" if file.form else file.name
                self.add(name, blocks, place, folder)
            before += file.size

    def add(
        self, name: str, blocks: Iterable[str], path: str = "", folder: str = ""
    ) -> None:
        """Add a text, or its sections. Raises `Stopped`."""

        def encoding(index: int) -> None:
            label = f"{name} ({self._names[index]})" if self._names[index] else name
            activity: Activity = "counting" if self._counts_only else "comparing"
            if self._job.progress(activity, self._n_read, self._n_bytes, label):
                self.send()

        if not self._by_section:
            self._comparison.add(
                name, blocks, path=path, folder=folder, encoding=encoding
            )
            return
        for title, line, part in sections_of(blocks):
            self._comparison.add(
                title, part, line=line, path=path, folder=folder, encoding=encoding
            )


def _folder(path: Path, roots: Sequence[Path]) -> str:
    """The folder that a text is counted with: of those directly in one that was named, the one that holds it; the
    named one itself, or that of a named file, where there is none between."""
    for root in roots:
        if root in path.parents:
            between = path.relative_to(root).parts[:-1]
            return between[0] if between else root.name or root.resolve().name
    return path.parent.name or path.resolve().parent.name


def summary(
    comparison: Comparison,
    names: Sequence[str],
    *,
    reference: str | None = None,
    n_examples: int = 0,
    n_lines: int = 0,
    progress: OnMetric = lambda done, total, title: None,
) -> dict[str, Any]:
    """The comparison without its texts, as `compare --json` prints it; a list of numbers has one for each tokenizer.

    `names` are those of their files, `reference` that of the text or folder that parity relates to (None: the first).
    """
    tokenizers, total, folders = (
        comparison.tokenizers,
        comparison.total,
        comparison.folders(),
    )
    relative_to = next((one for one in folders if reference in (None, one.name)), None)
    return {
        "tokenizers": list(names),
        "vocabularies": [
            {"name": one.name, "tokens": one.n_tokens, "pattern": one.pattern}
            for one in tokenizers
        ],
        "total": {
            "texts": len(comparison.texts),
            **_measures(total, None),
            **of_all_texts(comparison, progress),
        },
        "folders": [
            {"folder": one.name, **_measures(one, relative_to)} for one in folders
        ],
        "scripts": [
            {"script": one.name, **_measures(one, None)} for one in comparison.scripts()
        ],
        "token_lengths": [
            dict(sorted(comparison.token_lengths(i).items()))
            for i in range(len(tokenizers))
        ],
        "number_splits": [
            [{"digits": way, "count": n} for way, n in splits.most_common(_SPLITS)]
            for splits in comparison.number_splits
        ],
        "pairs": [
            _pair(comparison, index, n_examples)
            for index in range(len(comparison.pairs))
        ],
        "worst_lines": [
            [
                {
                    "text": one.line,
                    "excess": one.excess(index),
                    "tokens": list(one.n_tokens),
                    "count": one.n_times,
                }
                | _place(comparison, one.place)
                for one in comparison.worst_lines(index)[: max(0, n_lines)]
            ]
            for index in range(len(tokenizers))
        ],
    }


def texts_as_json(
    comparison: Comparison, reference: str | None
) -> list[dict[str, Any]]:
    """Each text with its metrics, and where it comes from."""
    relative_to = next(
        (
            one.amounts
            for one in comparison.texts
            if reference in (None, one.amounts.name)
        ),
        None,
    )
    return [
        {"name": text.amounts.name, **_measures(text.amounts, relative_to)}
        | {"path": text.path, "folder": text.folder, "line": text.line}
        for text in comparison.texts
    ]


def _measures(amounts: Amounts, reference: Amounts | None) -> dict[str, Any]:
    values = {
        key: [compute(amounts, reference, i) for i in range(len(amounts.n_tokens))]
        for key, compute in OF_PARTS.items()
    }
    sizes = {
        "bytes": amounts.n_bytes,
        "characters": amounts.n_characters,
        "words": amounts.n_words,
    }
    return sizes | {key: found for key, found in values.items() if None not in found}


def _pair(comparison: Comparison, index: int, n_examples: int) -> dict[str, Any]:
    pair, first, other = (
        comparison.pairs[index],
        comparison.tokenizers[0],
        comparison.tokenizers[index + 1],
    )
    agreement, (n_shared, only_first, only_second, same_merges) = (
        pair.agreement,
        pair.vocabularies,
    )
    n_different = n_shared + len(only_first) + len(only_second)
    return {
        "tokenizers": [0, index + 1],
        "boundaries": {
            "first": agreement.n_first,
            "second": agreement.n_second,
            "shared": agreement.n_shared,
        }
        | {name: getattr(agreement, name) for name in ("precision", "recall", "f1")},
        "vocabularies": {
            "shared": n_shared,
            "only_first": len(only_first),
            "only_second": len(only_second),
            "jaccard": n_shared / n_different if n_different else 1.0,
            "same_merges": same_merges,
            "first_only_first": [
                [id, first.token_bytes(id).hex()] for id in only_first[:_LISTED]
            ],
            "first_only_second": [
                [id, other.token_bytes(id).hex()] for id in only_second[:_LISTED]
            ],
        },
        "disagreements": [
            {
                "text": example.stretch,
                "count": example.n_times,
                **_place(comparison, example.place),
            }
            | {
                "tokens": [
                    [one.token_bytes(id).hex() for id in ids] for one, ids in cuts
                ]
            }
            for example in pair.examples(n_examples)
            for cuts in [((first, example.first), (other, example.other))]
        ],
    }


def _place(comparison: Comparison, place: TextPlace) -> dict[str, Any]:
    """The name of the text, the line, and the place by numbers: index of the text, line, characters before it there."""
    return {
        "in": comparison.texts[place.text].amounts.name,
        "line": place.line,
        "place": list(place),
    }
