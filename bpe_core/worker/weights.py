"""The weights of texts: compute them from sizes, or look them up in the record of a training run."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial

from bpe_core.corpus import Counts, find_files
from bpe_core.corpus.measure import Measure
from bpe_core.corpus.reading import Reading, TextFile, Unreadable
from bpe_core.corpus.sampling import Sample
from bpe_core.patterns import Splitter
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.visible import counted
from bpe_core.weighted import Count
from bpe_core.worker.job import Job


def tempered(
    sizes: Iterable[tuple[int, Fraction]], alpha: Fraction
) -> dict[Fraction, Fraction]:
    """Compute weights that balance sources: a share p of the bytes becomes p^alpha.

    Args:
        sizes: Pairs of (bytes, number of the source). The number is a Fraction, because the caller
            groups files by it as if it were their weight. Sizes of the same source are added.
        alpha: From 0 (all sources count alike) to 1 (each counts by its size).

    Returns:
        The weight by the number of the source. The largest source has weight 1; the others are
        rounded to hundredths.

    Examples:
        >>> sizes = [(900, Fraction(1)), (100, Fraction(2))]
        >>> tempered(sizes, Fraction(1, 2))
        {Fraction(1, 1): Fraction(1, 1), Fraction(2, 1): Fraction(3, 1)}
    """
    totals = Counter[Fraction]()
    for n_bytes, source in sizes:
        totals[source] += n_bytes
    largest = max(totals.values())
    weights = {}
    for source, total in totals.items():
        ratio = largest / total if total else 1
        weights[source] = Fraction(round(100 * ratio ** float(1 - alpha)), 100)
    return weights


def recorded_weights(
    record: TrainingRecord | Counts | None,
    splitter: Splitter,
    paths: Sequence[str],
    job: Job,
) -> dict[str, Fraction]:
    """Return the weights that texts had in a training run, by path. Weights of 1 are left out.

    A text is recognized by its digest, in any order and by any name, so all texts are read once if
    one of them had a weight. Reports how many texts are unknown. Raises `Stopped`.
    """
    known = defaultdict[str, list[Count]](list)
    if record is None or all(source.weight == 1 for source in record.sources):
        return {}
    for source in record.sources:
        known[source.sha256].append(source.weight)
    report = partial(job.progress, "counting")
    sample = Sample.parsed(record.sample)
    found = find_files(paths, skip_bad=sample.skip_bad)
    files = sample.documents(found.files, splitter, report)
    reading = Reading(files, report)
    weights = dict[str, Fraction]()
    n_unknown = 0
    for file in files:
        weights_of_text = known[_digest(file, reading)]
        if not weights_of_text:
            n_unknown += 1
            continue
        weight = weights_of_text[0]
        if len(weights_of_text) > 1:  # equal texts, in the order of the training
            weights_of_text.pop(0)
        path = f"{file.path}::{file.field}" if file.field else str(file.path)
        weights[path] = Fraction(weight)
    if n_unknown:
        job.say(
            f"The training run had weights, but {counted(n_unknown, 'of the texts is', 'of the texts are')} "
            "not in its record; each counts once."
        )
    return {path: weight for path, weight in weights.items() if weight != 1}


def _digest(file: TextFile, reading: Reading) -> str:
    """Return the digest that identifies a text in a training record."""
    measure = Measure()
    with suppress(Unreadable):  # the file is reported when it is counted
        for blocks in reading.documents(file):
            for _ in measure.document(blocks):
                pass
    return measure.digest.hexdigest()
