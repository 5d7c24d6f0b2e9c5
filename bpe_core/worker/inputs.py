"""What work begins with: texts whose pieces are counted, and tokenizers that are fetched by name."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from bpe_core.corpus import Counts, Progress, find_files
from bpe_core.corpus.sampling import Sample, files_by_weight
from bpe_core.errors import Stopped
from bpe_core.hub import fetch
from bpe_core.worker.job import Job
from bpe_core.worker.messages import Counted, Done, FileSkipped, Request, Role, Saved


@dataclass(frozen=True, slots=True)
class CountRequest(Request):
    """How much text there is in files and folders, and into how many pieces a pattern splits it."""

    paths: tuple[str, ...]
    pattern: str

    def run(self, job: Job) -> None:
        with suppress(Stopped):
            count_files(self.paths, self.pattern, job)
        job.send(Done(job.stopped or "counted", 0, job.seconds))


def count_files(
    paths: Sequence[str],
    pattern: str,
    job: Job,
    *,
    role: Role = "corpus",
    outputs: Collection[Path] = (),
    weights: Mapping[str, Fraction] | None = None,
    sample: Sample | None = None,
) -> Counts:
    """Count the pieces of all texts in `paths`, files or folders.

    `outputs` are files that the command writes: in a folder they are no texts, or else the corpus would be another one
    after it. `weights` are those of some paths, `sample` is what is read of the files.
    Reports progress on the way, then `FileSkipped` for each file skipped and `Counted`, all with this `role`.
    Raises Stopped, TextError for a path that cannot be read, PatternError for a pattern that is none.
    """
    found, own = find_files(paths), {place.resolve() for place in outputs}
    names = {place.name for place in own}
    files = [
        file for file in found.files if file.required or file.path.name not in names or file.path.resolve() not in own
    ]
    parts: list[tuple[Counts, int]] = []
    before, total = 0, sum(file.size for file in files)

    def progress(now: Progress) -> None:
        job.progress("counting", before + now.done, now.total if sample else total, now.name, role)

    for some, weight in files_by_weight(files, weights or {}):
        counts = Counts.read(some, pattern, progress=progress, sample=sample)
        before += sum(file.size for file in some) * (sample is None)
        parts.append((counts, weight))
    counts = parts[0][0] if not weights else Counts.weighted(parts)
    for skipped in (*found.skipped, *counts.skipped):
        job.send(FileSkipped(str(skipped.path), skipped.reason))
    send_counted(counts, job, role)
    return counts


def send_counted(counts: Counts, job: Job, role: Role = "corpus") -> None:
    """Report how much text was read."""
    job.send(Counted(counts.n_documents, counts.n_bytes, counts.n_characters, counts.n_pieces, len(counts.table), role))


@dataclass(frozen=True, slots=True)
class FetchRequest(Request):
    """Where the file of the tokenizer of this name lies; it is downloaded if it is on no disk."""

    name: str

    def run(self, job: Job) -> None:
        place = fetch(self.name, lambda done, total, name: job.progress("fetching", done, total, name))
        job.send(Saved(str(place)))
        job.send(Done("fetched", 0, job.seconds))
