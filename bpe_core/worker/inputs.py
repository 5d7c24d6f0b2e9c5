"""What work begins with: texts whose pieces are counted, and tokenizers that are fetched by name."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from bpe_core.content.presets import Preset
from bpe_core.corpus import Counts, Found, Skipped, find_files
from bpe_core.corpus.measure import Measure
from bpe_core.corpus.reading import Reading, TextFile, Unreadable, split_field
from bpe_core.corpus.sampling import EVERYTHING, Sample, files_by_weight
from bpe_core.corpus.streams import StreamFile, streams_and_files
from bpe_core.corpus.unpacking import MEMORY
from bpe_core.errors import OptionError, Stopped
from bpe_core.hub import fetch
from bpe_core.patterns import Splitter, splitter
from bpe_core.process import most_threads
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.visible import counted, shortened, visible
from bpe_core.weighted import Count, count_text
from bpe_core.whole_file import check_place
from bpe_core.worker.job import Job, Request
from bpe_core.worker.messages import Counted, Done, Role, Saved


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
    """Count the pieces of all texts in `paths`, files or folders, or of a founding example.

    `outputs` are files that the command writes: in a folder they are no texts, or else the corpus would be another one
    after it. `weights` are those of some paths, or what `tempered` makes them of; `sample` is what is read of the
    files, and `read` reads them: as `Counts.read`, or on a cluster. `with_streams`: whether "-" for stdin and pipes are
    read, too, once and as a whole. `memory` is what counting may take, in bytes.
    Reports progress on the way, then `Skipped` for each file skipped and `Counted`, all with this `role`; says which
    fields were guessed.
    Raises Stopped, TextError for a path that cannot be read, PatternError for a pattern that is none.
    """
    if preset:
        counts = preset.counts()
    else:
        finding: AbstractContextManager[Found]
        if with_streams:
            finding = streams_and_files(
                paths,
                skip_bad=sample.skip_bad,
                heed=partial(_heed, job),
                memory=memory,
            )
        else:
            finding = nullcontext(
                find_files(paths, skip_bad=sample.skip_bad, memory=memory)
            )
        with finding as found:
            files = _without(outputs, found.files)
            counts = _count_found(
                files, paths, pattern, job, role, weights, sample, read
            )
        for skipped in (*found.skipped, *counts.skipped):
            job.send(skipped)
    send_counted(counts, job, role)
    return counts


def _heed(job: Job) -> None:
    """Raise `Stopped` if the job is to stop."""
    job.receive()
    if job.stopped:
        raise Stopped


def _without(
    outputs: Collection[str | Path | None], files: Iterable[TextFile]
) -> list[TextFile]:
    """Leave out the files that the command writes, unless they were named themselves."""
    own = {Path(place).resolve() for place in outputs if place}
    names = {place.name for place in own}
    return [
        one
        for one in files
        if one.required or one.path.name not in names or one.path.resolve() not in own
    ]


def _count_found(
    files: list[TextFile],
    paths: Sequence[str],
    pattern: str,
    job: Job,
    role: Role,
    weights: Mapping[str, Fraction] | Fraction | None,
    sample: Sample,
    read: Callable[..., Counts],
) -> Counts:
    guesses = {
        (file.field, file.fields): file.name
        for file in reversed(files)
        if len(file.fields) > 1
    }
    for (field, fields), name in guesses.items():
        others = ", ".join(other for other in fields if other != field)
        others = visible(shortened(others, 200))
        job.say(
            f"Of {name} the field {visible(shortened(field, 200))} is read, not {others}: PATH::FIELD names another."
        )
    left_out: list[Skipped] = []
    before = total = 0

    def progress(done: int, of: int, name: str) -> None:
        job.progress("counting", before + done, total or of, name, role)

    files = sample.documents(files, splitter(pattern), progress, left_out)
    by_path = {path: Fraction(number) for number, path in enumerate(paths, 1)}
    parts: list[tuple[Counts, Fraction]] = []
    total = sum(file.size for file in files)
    for some, weight in files_by_weight(
        files, by_path if isinstance(weights, Fraction) else weights or {}
    ):
        more = (
            {"workers": most_threads()}
            if any(isinstance(file, StreamFile) for file in some)
            else {}
        )
        parts.append((read(some, pattern, progress=progress, **more), weight))
        before += sum(file.size for file in some)
    counts = parts[0][0]
    if isinstance(weights, Fraction):
        of_path = tempered([(part.n_bytes, number) for part, number in parts], weights)
        parts = [(part, of_path[number]) for part, number in parts]
        weights = {
            path: of_path[number]
            for path, number in by_path.items()
            if number in of_path
        }
    if weights:
        counts = Counts.weighted(parts)
        counts.weights = " ".join(
            f"{Path(path).name or path}={count_text(weight)}"
            for path, weight in weights.items()
        )
    counts.sample = str(sample)
    counts.skipped[:0] = left_out
    return counts


def send_counted(counts: Counts, job: Job, role: Role = "corpus") -> None:
    amounts = counts.n_documents, counts.n_bytes, counts.n_characters, counts.n_pieces
    job.send(Counted(*amounts, len(counts.table), role, sizes_of_sources(counts)))


def check_output(output: str, texts: Iterable[str]) -> None:
    """Raise FormatError now if writing to `output` would fail later, and OptionError if it would destroy a text."""
    check_place(output)
    places = (Path(split_field(text)[0]) for text in texts)
    if os.path.exists(output) and any(
        place.exists() and place.samefile(output) for place in places
    ):
        raise OptionError(
            f"{output} is a text to learn from; name another file for what is written."
        )


def sizes_of_sources(counts: Counts) -> tuple[tuple[str, int, Count], ...]:
    """Return (name, bytes, bytes times their weight) of each file and folder that was
    named, the largest first."""
    n_bytes, weighted = Counter[str](), dict[str, Count]()
    for source in counts.sources:
        name = source.name.partition("/")[0].partition(" (bytes ")[0]
        n_bytes[name] += source.bytes
        weighted[name] = weighted.get(name, 0) + source.bytes * source.weight
    in_order = sorted(weighted, key=lambda name: -weighted[name])
    return tuple((name, n_bytes[name], weighted[name]) for name in in_order)


def tempered(
    sizes: Iterable[tuple[int, Fraction]], alpha: Fraction
) -> dict[Fraction, Fraction]:
    """Weights that make of each share p of the bytes p^alpha, up to a factor for all: the largest has 1, and the others
    are rounded to hundredths; `sizes` has (bytes, of which source), and those of a source are added up.

    >>> tempered([(400, Fraction(1)), (100, Fraction(2))], Fraction(1, 2))
    {Fraction(1, 1): Fraction(1, 1), Fraction(2, 1): Fraction(2, 1)}
    """
    totals = Counter[Fraction]()
    for n_bytes, source in sizes:
        totals[source] += n_bytes
    largest = max(totals.values())
    return {
        one: Fraction(
            round(100 * (largest / (size or largest)) ** float(1 - alpha)), 100
        )
        for one, size in totals.items()
    }


def recorded_weights(
    record: TrainingRecord | Counts | None,
    splitter: Splitter,
    paths: Sequence[str],
    job: Job,
) -> dict[str, Fraction]:
    """The weights that files had in a training, by path. A text is known by its digest, in any order and by any name,
    so that all is read once if any has a weight; how many are none of those texts is said. Raises `Stopped`."""
    known = defaultdict[str, list[Count]](list)
    if record is None or all(source.weight == 1 for source in record.sources):
        return {}
    for source in record.sources:
        known[source.sha256].append(source.weight)
    sample, report = Sample.parsed(record.sample), partial(job.progress, "counting")
    files = sample.documents(
        find_files(paths, skip_bad=sample.skip_bad).files, splitter, report
    )
    reading, weights, n_unknown = Reading(files, report), dict[str, Fraction](), 0
    for file in files:
        measure = Measure()
        with suppress(Unreadable):  # counting says so
            for blocks in reading.documents(file):
                for _ in measure.document(blocks):
                    pass
        if same := known[measure.digest.hexdigest()]:
            path = f"{file.path}::{file.field}" if file.field else str(file.path)
            weights[path] = Fraction(same[0] if len(same) == 1 else same.pop(0))
        n_unknown += not same
    if n_unknown:
        job.say(
            f"{counted(n_unknown, 'text')} of these, unknown to the training, which had weights, count once each."
        )
    return {path: weight for path, weight in weights.items() if weight != 1}


@dataclass(frozen=True, slots=True)
class FetchRequest(Request):
    """Where the file of the tokenizer of this name lies; it is downloaded if it is on no disk."""

    name: str

    def run(self, job: Job) -> None:
        job.send(Saved(str(fetch(self.name, partial(job.progress, "fetching")))))
        job.send(Done("fetched", 0, job.seconds))
