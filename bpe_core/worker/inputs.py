"""What work begins with: texts whose pieces are counted, and tokenizers that are fetched by name."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path

from bpe_core.content.presets import Preset
from bpe_core.corpus import Counts, find_files
from bpe_core.corpus.reading import Reading, Unreadable
from bpe_core.corpus.sampling import Sample, files_by_weight
from bpe_core.errors import Stopped
from bpe_core.hub import fetch
from bpe_core.tokenizer import Tokenizer
from bpe_core.typed_numbers import amount
from bpe_core.visible import counted
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


def recorded_weights(tokenizer: Tokenizer, paths: Sequence[str], job: Job) -> dict[str, Fraction]:
    """The weights that files had in its training, by path. A text is known by its digest, in any order and by any name,
    so that all is read once if any has a weight; how many are none of those texts is said. Raises `Stopped`."""
    record, known = tokenizer.record, defaultdict[str, list[int]](list)
    if record is None or all(source.weight == 1 for source in record.sources):
        return {}
    for source in record.sources:
        known[source.sha256].append(source.weight)
    files, sample = find_files(paths).files, Sample.parsed(record.sample)
    documents = sample.documents(files, tokenizer.splitter) if sample else files
    reading, weights, n_unknown = Reading(documents, partial(job.progress, "counting")), dict[str, Fraction](), 0
    for document in documents:
        digest = sha256()
        with suppress(Unreadable):  # counting says so
            for block in reading.blocks(document):
                digest.update(block.encode())
        if same := known[digest.hexdigest()]:
            weights[str(document.path)] = Fraction(same[0] if len(same) == 1 else same.pop(0))
        n_unknown += not same
    if n_unknown:
        job.say(f"{counted(n_unknown, 'text')} of these, unknown to the training, which had weights, count once each.")
    return {path: weight for path, weight in weights.items() if weight != 1}


@dataclass(frozen=True, slots=True)
class FetchRequest(Request):
    """Where the file of the tokenizer of this name lies; it is downloaded if it is on no disk."""

    name: str

    def run(self, job: Job) -> None:
        job.send(Saved(str(fetch(self.name, partial(job.progress, "fetching")))))
        job.send(Done("fetched", 0, job.seconds))
