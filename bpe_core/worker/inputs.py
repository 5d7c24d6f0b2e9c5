"""What work begins with: texts whose pieces are counted, and tokenizers that are fetched by name."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from bpe_core.content.presets import Preset
from bpe_core.corpus import Counts, TextFile, find_files
from bpe_core.corpus.sampling import Sample, files_by_weight
from bpe_core.errors import Stopped
from bpe_core.hub import fetch
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.typed_numbers import amount
from bpe_core.worker.job import Job, Request
from bpe_core.worker.messages import Counted, Done, Role, Saved


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
    preset: Preset | None = None,
    outputs: Collection[str | Path | None] = (),
    weights: Mapping[str, Fraction] | None = None,
    sample: Sample | None = None,
) -> Counts:
    """Count the pieces of all texts in `paths`, files or folders, or of a founding example.

    `outputs` are files that the command writes: in a folder they are no texts, or else the corpus would be another one
    after it. `weights` are those of some paths, `sample` is what is read of the files.
    Reports progress on the way, then `Skipped` for each file skipped and `Counted`, all with this `role`.
    Raises Stopped, TextError for a path that cannot be read, PatternError for a pattern that is none.
    """
    if preset:
        counts = preset.counts()
    else:
        found, own = find_files(paths), {Path(place).resolve() for place in outputs if place}
        names = {place.name for place in own}
        files = [
            one for one in found.files if one.required or one.path.name not in names or one.path.resolve() not in own
        ]
        parts: list[tuple[Counts, Fraction]] = []
        before, total = 0, sum(file.size for file in files)

        def progress(done: int, of: int, name: str) -> None:
            job.progress("counting", before + done, of if sample else total, name, role)

        for some, weight in files_by_weight(files, weights or {}):
            parts.append((Counts.read(some, pattern, progress=progress, sample=sample), weight))
            before += sum(file.size for file in some) * (sample is None)
        counts = Counts.weighted(parts) if weights else parts[0][0]
        asked = ((Path(path).name or path, amount(weight)) for path, weight in (weights or {}).items())
        counts.weights = " ".join(f"{name}={weight}" for name, weight in asked)
        for skipped in (*found.skipped, *counts.skipped):
            job.send(skipped)
    job.send(Counted(counts.n_documents, counts.n_bytes, counts.n_characters, counts.n_pieces, len(counts.table), role))
    return counts


def recorded_weights(record: TrainingRecord, files: Sequence[TextFile]) -> dict[str, Fraction]:
    """The weights that files had in a training, by path: in order if it read as many texts, else by name."""
    known: list[tuple[str, int]] = []  # of each text, how much it weighed: an amount
    for source in record.sources:
        name = re.sub(r" \(bytes [\d,]+ to [\d,]+\)$", "", source.name)
        if name == source.name or (name, source.weight) not in known[-1:]:  # stretches of one file have one weight
            known.append((name, source.weight))
    weights = [weight for _, weight in known]
    if len(known) != len(files):
        weights = [dict(known).get(file.name, 1) for file in files]
    return {str(file.path): Fraction(weight) for file, weight in zip(files, weights, strict=True) if weight != 1}


@dataclass(frozen=True, slots=True)
class FetchRequest(Request):
    """Where the file of the tokenizer of this name lies; it is downloaded if it is on no disk."""

    name: str

    def run(self, job: Job) -> None:
        job.send(Saved(str(fetch(self.name, partial(job.progress, "fetching")))))
        job.send(Done("fetched", 0, job.seconds))
