"""The shelf of kept tokenizers: one native file each, in the user's data folder."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bpe_core.record import TrainingRecord
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merge
from tui.state import Kept, Run, Totals, TrainingOptions
from tui.widgets.merge_log import MergeRow

HEAD_BYTES = 4096


def kept_tokenizers(folder: Path) -> tuple[Kept, ...]:
    """What is on the shelf, newest first."""
    files = sorted(folder.glob("*.json"), key=_age)
    return tuple(Kept(str(path), path.stem, _vocabulary_size(path)) for path in files)


def free_place(folder: Path, title: str) -> Path:
    """A path on the shelf that is not taken, named after `title`.

    >>> free_place(Path("/nowhere"), "Python library · gpt4").name
    'python-library-gpt4.json'
    """
    stem = re.sub(r"[^\w.]+", "-", title.casefold()).strip("-.")[:60] or "tokenizer"
    number = 1
    while (path := folder / (f"{stem}.json" if number == 1 else f"{stem}-{number}.json")).exists():
        number += 1
    return path


def merges_of(tokenizer: Tokenizer) -> list[Merge]:
    """The rows of the merge log of a kept tokenizer, with the counts of its training record if it has one."""
    vocabulary = tokenizer.vocabulary
    if tokenizer.record is None:  # a file from elsewhere: which merges, but not how often
        token_bytes = vocabulary.token_bytes
        return [Merge(step, *merge, token_bytes(merge[2]), 0, 1, 0) for step, merge in enumerate(vocabulary.merges, 1)]
    return [
        Merge(step, left, right, token, vocabulary.token_bytes(token), count, ties, n_tokens)
        for step, ((left, right, token), (count, ties, n_tokens)) in enumerate(
            zip(vocabulary.merges, tokenizer.record.steps, strict=True), 1
        )
    ]


def told_record(
    options: TrainingOptions, merges: Sequence[MergeRow], totals: Totals | None, run: Run
) -> TrainingRecord:
    """The record of a training whose worker died: all that it had told by then, which leaves out the digests."""
    return TrainingRecord(
        pattern=options.pattern,
        ties=options.ties,
        id_layout="bytes-first",
        min_count=options.min_count,
        max_token_length=None,
        vocab_size=options.vocab_size,
        sources=(),
        steps=tuple((merge.count, merge.ties, merge.n_tokens) for merge in merges),
        n_bytes=totals.bytes if totals else run.tokens_at_start,
        n_tokens_start=run.tokens_at_start,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        stop_reason="the worker process died",
    )


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _vocabulary_size(path: Path) -> int:
    """Read from the first lines of the file, so that a full shelf is listed at once."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return 0
    match = re.search(r'"n_vocab":\s*(\d{1,9})\b', head)
    return int(match[1]) if match else 0
