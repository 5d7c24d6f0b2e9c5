"""The inputs of the work: count texts, and fetch tokenizers by name."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from bpe_core.content.presets import Preset
from bpe_core.corpus import Counts, Found, Skipped, find_files
from bpe_core.corpus.reading import OnRead, TextFile, split_field
from bpe_core.corpus.sampling import EVERYTHING, Sample, files_by_weight
from bpe_core.corpus.streams import streams_and_files
from bpe_core.corpus.unpacking import MEMORY
from bpe_core.difference.texts import TextsCompared, compare_texts, read_texts
from bpe_core.errors import OptionError, TextError
from bpe_core.hub import fetch
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import shortened, visible
from bpe_core.weighted import Count, count_text
from bpe_core.whole_file import check_place
from bpe_core.worker.job import Job, Request
from bpe_core.worker.messages import Counted, Done, Role, Saved
from bpe_core.worker.weights import tempered


def count_files(
    paths: Sequence[str],
    pattern: str,
    job: Job,
    *,
    role: Role = "corpus",
    preset: Preset | None = None,
    outputs: Collection[str | Path | None] = (),
    weights: Mapping[str, Fraction] | Fraction | None = None,
    sample: Sample = EVERYTHING,
    read: Callable[..., Counts] = Counts.read,
    with_streams: bool = False,
    memory: int = MEMORY,
) -> Counts:
    """Count the pieces of all texts at some paths, or of a published example.

    Reports the progress, the fields that were guessed, each skipped file, and `Counted`.

    Args:
        paths: Files and folders.
        pattern: The split pattern.
        job: Receives the reports.
        role: The role of the texts, for the reports.
        preset: A published example. Its texts are counted instead.
        outputs: Files that the command writes. If they are found in a folder, they are left out:
            they would change the corpus of the next run.
        weights: How many times the texts of some paths count, or the exponent for `tempered`.
        sample: The part of the texts to read.
        read: Reads and counts files as `Counts.read` does, perhaps on a cluster.
        with_streams: Whether to read stdin ("-") and pipes, too. They are read once.
        memory: Maximum number of bytes of memory for counting.

    Raises:
        TextError: A path can't be read.
        PatternError: The pattern is not valid.
        Stopped: The job is to stop.
    """
    if preset:
        counts = preset.counts()
    else:
        finding: AbstractContextManager[Found]
        if with_streams:
            finding = streams_and_files(
                paths, skip_bad=sample.skip_bad, heed=job.check, memory=memory
            )
        else:
            finding = nullcontext(
                find_files(paths, skip_bad=sample.skip_bad, memory=memory)
            )
        with finding as found:
            files = _without(outputs, found.files)
            _report_guesses(files, job)
            report = partial(job.progress, "counting", role=role)
            counts = _count_found(files, paths, pattern, report, weights, sample, read)
        for skipped in chain(found.skipped, counts.skipped):
            job.send(skipped)
    send_counted(counts, job, role)
    return counts


def compare_on_files(
    a: Tokenizer,
    b: Tokenizer,
    paths: Sequence[str],
    job: Job,
    *,
    skip_bad: bool = False,
    n_shown: int = 5,
) -> TextsCompared:
    """Compare two tokenizers on all texts at some paths: the sources that `count_files` reads.

    Reports the progress, the fields that were guessed, and what is skipped.

    Args:
        a: The first tokenizer.
        b: The second tokenizer.
        paths: Files, folders, addresses and pipes, and "-" for stdin. `::` and a field can follow.
        job: Receives the reports.
        skip_bad: Whether to skip rows that are not texts, and given files that can't be recognized.
        n_shown: See `compare_texts`.

    Raises:
        TextError: A text can't be read.
        UnknownTokenError: A character has no token in one of the tokenizers.
        Stopped: The job is to stop.
    """
    skipped: list[Skipped] = []
    with streams_and_files(paths, skip_bad=skip_bad, heed=job.check) as found:
        _report_guesses(found.files, job)
        texts = read_texts(found.files, partial(job.progress, "comparing"), skipped)
        compared = compare_texts(a, b, texts, n_shown=n_shown)
    for left_out in chain(found.skipped, skipped):
        job.send(left_out)
    return compared


def _without(
    outputs: Collection[str | Path | None], files: Iterable[TextFile]
) -> list[TextFile]:
    """Leave out the files that the command writes, unless they were named themselves.

    Raises `TextError` if no other file is left.
    """
    output_paths = {Path(output).resolve() for output in outputs if output}
    output_names = {path.name for path in output_paths}
    texts = [
        file
        for file in files
        if file.required
        or file.path.name not in output_names  # resolving a path takes longer
        or file.path.resolve() not in output_paths
    ]
    if not texts:
        raise TextError(
            "The only files found are those that this command writes; name the texts to read."
        )
    return texts


def _report_guesses(files: Sequence[TextFile], job: Job) -> None:
    """Report each guessed field of rows, with the first file for which it was guessed."""
    first_files: dict[object, TextFile] = {}
    for file in files:
        if len(file.fields) > 1:
            first_files.setdefault((file.field, file.fields), file)
    for file in first_files.values():
        others = ", ".join(other for other in file.fields if other != file.field)
        job.say(
            f"Reading the field {visible(shortened(file.field, 200))} of {file.name}, "
            f"not {visible(shortened(others, 200))}; to read another, name PATH::FIELD."
        )


class _CountedFiles(NamedTuple):
    """The counts of neighboring files that have the same weight."""

    counts: Counts
    weight: Fraction


def _count_found(
    files: list[TextFile],
    paths: Sequence[str],
    pattern: str,
    report: OnRead,
    weights: Mapping[str, Fraction] | Fraction | None,
    sample: Sample,
    read: Callable[..., Counts],
) -> Counts:
    """Count a sample of files with their weights. Raises `Stopped`."""
    left_out: list[Skipped] = []
    files = sample.documents(files, splitter(pattern), report, left_out)
    if isinstance(weights, Fraction):
        # The weights depend on the sizes of the paths, so each path is counted by itself first.
        # Files are grouped by weight, so each path has its number as its weight for now.
        numbers = {path: Fraction(number) for number, path in enumerate(paths, 1)}
        parts = _count_by_weight(files, numbers, pattern, report, read)
        sizes = [(part.counts.n_bytes, part.weight) for part in parts]
        weight_of = tempered(sizes, weights)
        parts = [_CountedFiles(part.counts, weight_of[part.weight]) for part in parts]
        weights = {
            path: weight_of[number]
            for path, number in numbers.items()
            if number in weight_of
        }
    else:
        parts = _count_by_weight(files, weights or {}, pattern, report, read)
    counts = parts[0].counts
    if weights:
        counts = Counts.weighted(parts)
        counts.weights = " ".join(
            f"{Path(path).name or path}={count_text(weight)}"
            for path, weight in weights.items()
        )
    counts.sample = str(sample)
    counts.skipped[:0] = left_out
    return counts


def _count_by_weight(
    files: Sequence[TextFile],
    weights: Mapping[str, Fraction],
    pattern: str,
    report: OnRead,
    read: Callable[..., Counts],
) -> list[_CountedFiles]:
    """Count neighboring files of the same weight together, in order."""
    total = sum(file.size for file in files)
    n_before = 0

    def report_all(done: int, group_total: int, name: str) -> None:
        report(n_before + done, total, name)

    parts = []
    for group, weight in files_by_weight(files, weights):
        counts = read(group, pattern, progress=report_all)
        parts.append(_CountedFiles(counts, weight))
        n_before += sum(file.size for file in group)
    return parts


def send_counted(counts: Counts, job: Job, role: Role = "corpus") -> None:
    """Report the size of a counted corpus."""
    sources = sizes_of_sources(counts)
    job.send(
        Counted(
            counts.n_documents,
            counts.n_bytes,
            counts.n_characters,
            counts.n_pieces,
            len(counts.table),
            role,
            sources,
        )
    )


def check_output(output: str, texts: Iterable[str]) -> None:
    """Raise an error now if writing to `output` would fail later, or would overwrite a text.

    Raises:
        FormatError: The file can't be written.
        OptionError: `output` is one of the texts.
    """
    check_place(output)
    if not os.path.exists(output):
        return
    for text in texts:
        path, _ = split_field(text)
        if os.path.exists(path) and os.path.samefile(path, output):
            raise OptionError(
                f"{output} is a text to learn from; name another file for the output."
            )


def sizes_of_sources(counts: Counts) -> tuple[tuple[str, int, Count], ...]:
    """Return (name, bytes, bytes times weight) of each file and folder that was named.

    The largest comes first.
    """
    n_bytes = Counter[str]()
    weighted = dict[str, Count]()
    for source in counts.sources:
        # Such as "texts" for "texts/a.txt (bytes 0 to 65,536)".
        name = source.name.partition("/")[0].partition(" (bytes ")[0]
        n_bytes[name] += source.bytes
        weighted[name] = weighted.get(name, 0) + source.bytes * source.weight
    in_order = sorted(weighted, key=weighted.__getitem__, reverse=True)
    return tuple((name, n_bytes[name], weighted[name]) for name in in_order)


@dataclass(frozen=True, slots=True)
class FetchRequest(Request):
    """Find the file of a tokenizer by its name, and download it if necessary."""

    name: str

    def run(self, job: Job) -> None:
        path = fetch(self.name, partial(job.progress, "fetching"))
        job.send(Saved(str(path)))
        job.send(Done("fetched", 0, job.seconds))
