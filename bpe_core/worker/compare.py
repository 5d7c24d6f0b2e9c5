"""Comparing tokenizers: encode each text with each of them, and report the measures so far."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.corpus import TextFile, find_files
from bpe_core.errors import BpeError, OptionError, Stopped
from bpe_core.formats import load
from bpe_core.metrics.comparison import ComparedText, Comparison, TokenCounts
from bpe_core.metrics.sampled import sample_text
from bpe_core.metrics.sections import sections as sections_of
from bpe_core.worker.comparison_json import TokenizerSource, summary
from bpe_core.worker.differences import send_differences
from bpe_core.worker.job import Job, Request
from bpe_core.worker.messages import Activity, Done

_SAMPLE: Final = 16_000
"""Maximum number of characters in the sample of a text."""
_SHORT: Final = 1_000_000
"""Bytes of texts that are measured before the tokenizers themselves are compared, which takes seconds."""


@dataclass(frozen=True, slots=True)
class CompareRequest(Request):
    """Compare tokenizers on the texts in files and folders, or measure a single one.

    The worker first counts only tokens, which takes a tenth of the time, and then measures everything.
    It sends each text twice, once after each step. It also looks for differences between the first tokenizer and
    each other one: between these steps, or at the end if the texts are short.
    """

    tokenizers: tuple[TokenizerSource, ...]
    paths: tuple[str, ...]
    sections: bool = False
    """Whether each part of a text that begins with a line "# Title" is a text of its own."""
    n_examples: int = 0  # maximum number of disagreements of each pair
    n_lines: int = 0
    """Maximum number of lines to report per tokenizer, for which it needs many more tokens than another."""
    n_sampled: int = 0
    """The beginnings of the first texts are sent with their tokens, until they have this many characters."""

    def run(self, job: Job) -> None:
        tokenizers = [
            load(path, pattern=pattern or None) for path, pattern in self.tokenizers
        ]
        counts = TokenCounts(tokenizers)
        compare(counts, self.paths, job, sections=self.sections)
        are_short = sum(text.amounts.n_bytes for text in counts.texts) <= _SHORT
        if not are_short:
            send_differences(tokenizers, self.paths, job)
        comparison = Comparison(tokenizers, n_sample=0)
        send_summary = partial(self._send_summary, comparison, job)
        if not job.stopped:
            compare(
                comparison,
                self.paths,
                job,
                sections=self.sections,
                report_summary=send_summary,
                n_sampled=self.n_sampled,
            )
        if comparison.texts and job.stopped != "interrupted":
            send_summary()
        if are_short:
            send_differences(tokenizers, self.paths, job)
        job.send(Done(job.stopped or "compared", len(comparison.texts), job.seconds))

    def _send_summary(self, comparison: Comparison, job: Job) -> None:
        found = summary(
            comparison,
            self.tokenizers,
            n_examples=self.n_examples,
            n_lines=self.n_lines,
        )
        job.send(ComparisonFound(found))


class ComparedTexts(NamedTuple):
    """A batch of texts. Each is sent twice: after its tokens are counted, and with all its amounts."""

    first: int  # the number of texts before these
    texts: tuple[ComparedText, ...]


class ComparisonFound(NamedTuple):
    """A summary of the texts that were measured so far. The last summary covers all texts."""

    found: dict[str, Any]  # as `summary` returns it


def compare(
    comparison: Comparison,
    paths: Sequence[str],
    job: Job,
    *,
    sections: bool,
    streamed: Iterable[str] = (),
    report_summary: Callable[[], object] | None = None,
    n_sampled: int = 0,
) -> None:
    """Add texts to a comparison, until the job is stopped, and send them in batches.

    Args:
        comparison: Receives the texts.
        paths: Files and folders. Unreadable files of a folder are skipped, and reported.
        job: Receives the texts and the progress.
        sections: Whether each part of a text that begins with a line "# Title" is a text of its
            own.
        streamed: The blocks of the only text if there are no paths. The text is called "stdin".
        report_summary: Called from time to time between two texts.
        n_sampled: The number of characters to send as `SampledText`.

    Raises:
        TextError: A file that is itself one of `paths` can't be read.
        OptionError: The texts have no sections.
    """
    reading = _ComparedReading(comparison, job, sections, report_summary, n_sampled)
    with suppress(Stopped):
        if paths:
            found = find_files(paths, every_character=True)
            for skipped in found.skipped:
                job.send(skipped)
            folders = [Path(path) for path in paths if os.path.isdir(path)]
            reading.add_files(found.files, folders)
        else:
            reading.add("stdin", streamed)
    reading.send()
    if not comparison.texts and not job.stopped:
        raise OptionError('These texts have no line "# Title"; leave out --sections.')


class _ComparedReading:
    """Reads texts into a comparison, block by block, and reports the progress."""

    def __init__(
        self,
        comparison: Comparison,
        job: Job,
        by_section: bool,
        report_summary: Callable[[], object] | None,
        n_sampled: int = 0,
    ) -> None:
        self._comparison = comparison
        self._job = job
        self._by_section = by_section
        self._report_summary = report_summary
        self._activity: Activity = "comparing"
        if isinstance(comparison, TokenCounts):
            self._activity = "counting"
        self._n_sent = 0  # texts
        self._next_summary = time.monotonic() + 1
        self._n_read = 0  # bytes on disk
        self._n_bytes = 0  # of all files; 0 if that is unknown
        self._n_to_sample = n_sampled  # characters

    def send(self) -> None:
        """Send the texts that were added since the last call, and from time to time a summary."""
        texts = self._comparison.texts
        if self._n_sent < len(texts):
            new_texts = tuple(texts[self._n_sent :])
            self._job.send(ComparedTexts(self._n_sent, new_texts))
            self._n_sent = len(texts)
        now = time.monotonic()
        is_due = self._n_sent > 0 and now > self._next_summary
        if self._report_summary and is_due and not self._comparison.is_within_a_text:
            self._report_summary()
            seconds = time.monotonic() - now
            # Summaries take at most a fifth of the time.
            self._next_summary = time.monotonic() + 4 * seconds

    def add_files(self, files: Sequence[TextFile], folders: Sequence[Path]) -> None:
        """Add files. `folders` are the folders that were named. Raises `Stopped`."""
        self._n_bytes = sum(file.size for file in files)
        n_before = 0
        for file in files:
            folder = _folder(file.path, folders)
            documents = file.documents(partial(self._set_read, n_before))
            for row, blocks in enumerate(documents, 1):
                name = f"{file.name} row {row:,}" if file.form else file.name
                self.add(name, blocks, str(file.path), folder)
            n_before += file.size

    def _set_read(self, n_before: int, position: int) -> None:
        self._n_read = n_before + position

    def add(
        self, name: str, blocks: Iterable[str], path: str = "", folder: str = ""
    ) -> None:
        """Add a text, or its sections. Raises `Stopped`."""
        add = partial(
            self._comparison.add,
            path=path,
            folder=folder,
            encoding=partial(self._report_encoding, name),
        )
        if not self._by_section:
            beginning: list[str] = []
            add(name, _kept(blocks, beginning))
            self._sample(beginning)
            return
        for title, line, section in sections_of(blocks):
            beginning = []
            add(title, _kept(section, beginning), line=line)
            self._sample(beginning)

    def _sample(self, blocks: Sequence[str]) -> None:
        """Send the beginning of the text that was added last, given its first blocks."""
        n = min(self._n_to_sample, _SAMPLE)
        if not n:
            return
        index = len(self._comparison.texts) - 1
        text = "".join(blocks)
        with suppress(BpeError):
            sample = sample_text(index, text, self._comparison.tokenizers, n)
            self._n_to_sample -= min(n, len(sample.beginning))
            self._job.send(sample)

    def _report_encoding(self, name: str, index: int) -> None:
        """Report that the tokenizer at `index` is about to encode a text. Raises `Stopped`."""
        tokenizer = self._comparison.tokenizers[index].name
        label = f"{name} ({tokenizer})" if tokenizer else name
        if self._job.progress(self._activity, self._n_read, self._n_bytes, label):
            self.send()


def _kept(blocks: Iterable[str], beginning: list[str]) -> Iterator[str]:
    """Yield the blocks of a text, and append the first ones to `beginning`."""
    n_kept = 0
    for block in blocks:
        if n_kept < 2 * _SAMPLE:
            beginning.append(block)
            n_kept += len(block)
        yield block


def _folder(path: Path, folders: Sequence[Path]) -> str:
    """Return the name of the folder to which a text is added.

    If the folder texts/ was named, texts/en/1/a.txt counts for "en", and texts/b.txt for "texts".
    A text that was named itself counts for the folder that contains it.
    """
    for folder in folders:
        # Path(".") is also among the parents of ../a.txt, although this file is not in it.
        if folder in path.parents and ".." not in path.relative_to(folder).parts:
            folders_between = path.relative_to(folder).parts[:-1]
            if folders_between:
                return folders_between[0]
            return folder.name or folder.resolve().name
    return path.parent.name or path.resolve().parent.name
