"""Comparing tokenizers: encode each text with each of them, and report the measures so far."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.corpus import TextFile, find_files
from bpe_core.errors import BpeError, OptionError, Stopped, TextError
from bpe_core.formats import load
from bpe_core.metrics.comparison import ComparedText, Comparison, TokenCounts
from bpe_core.metrics.sampled import sample_text
from bpe_core.metrics.sections import TextSection
from bpe_core.metrics.sections import sections as sections_of
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
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
    each other one, unless they are known: between these steps, or at the end if the texts are short.
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
    half: int = 0
    """If it is not 0, the second tokenizer is the first one after this many merges, instead of its file."""
    are_differences_known: bool = False

    def run(self, job: Job) -> None:
        tokenizers = [
            load(path, pattern=pattern or None) for path, pattern in self.tokenizers
        ]
        if self.half:
            tokenizers[1] = tokenizers[0].at(self.half)
        counts = TokenCounts(tokenizers)
        ComparedReading(counts, job, self.sections).read(self.paths)
        n_bytes = sum(text.amounts.n_bytes for text in counts.texts)
        if n_bytes > _SHORT:
            self._send_differences(tokenizers, job)
        comparison = Comparison(tokenizers, n_sample=0)
        send_summary = partial(self._send_summary, comparison, job)
        if not job.stopped:
            reading = ComparedReading(
                comparison, job, self.sections, send_summary, self.n_sampled
            )
            reading.read(self.paths)
        if comparison.texts and job.stopped != "interrupted":
            send_summary()
        if n_bytes <= _SHORT:
            self._send_differences(tokenizers, job)
        job.send(Done(job.stopped or "compared", len(comparison.texts), job.seconds))

    def _send_differences(self, tokenizers: Sequence[Tokenizer], job: Job) -> None:
        if not self.are_differences_known:
            send_differences(tokenizers, self.paths, job)

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


@dataclass
class ComparedReading:
    """Reads texts into a comparison, block by block, and sends them in batches with the progress."""

    comparison: Comparison
    job: Job
    by_section: bool = False
    """Whether each part of a text that begins with a line "# Title" is a text of its own."""
    report_summary: Callable[[], object] | None = None
    """Called from time to time between two texts."""
    n_to_sample: int = 0
    """The number of characters that are still to be sent as `SampledText`."""

    def __post_init__(self) -> None:
        self._n_sent = 0  # texts
        self._next_summary = time.monotonic() + 1
        self._n_read = 0  # bytes on disk
        self._n_bytes = 0  # of all files; 0 if that is unknown

    def read(self, paths: Sequence[str], streamed: Iterable[str] = ()) -> None:
        """Add texts to the comparison, until the job is stopped.

        Args:
            paths: Files and folders. Unreadable files of a folder are skipped, and reported.
            streamed: The blocks of the only text if there are no paths. The text is called "stdin".

        Raises:
            TextError: A file that is itself one of `paths` can't be read, or no file has rows.
            OptionError: The texts have no sections.
        """
        with suppress(Stopped):
            if paths:
                found = find_files(paths, every_character=True)
                for skipped in found.skipped:
                    self.job.send(skipped)
                folders = [Path(path) for path in paths if os.path.isdir(path)]
                self._add_files(found.files, folders)
            else:
                self.add("stdin", streamed)
        self.send()
        if not self.comparison.texts and not self.job.stopped:
            if self.by_section:
                raise OptionError(
                    'These texts have no line "# Title"; leave out --sections.'
                )
            raise TextError(f"{visible(paths[0])} has no rows; name other texts.")

    def send(self) -> None:
        """Send the texts that were added since the last call, and from time to time a summary."""
        texts = self.comparison.texts
        if self._n_sent < len(texts):
            new_texts = tuple(texts[self._n_sent :])
            self.job.send(ComparedTexts(self._n_sent, new_texts))
            self._n_sent = len(texts)
        now = time.monotonic()
        is_due = self._n_sent > 0 and now > self._next_summary
        if self.report_summary and is_due and not self.comparison.is_within_a_text:
            self.report_summary()
            seconds = time.monotonic() - now
            # Summaries take at most a fifth of the time.
            self._next_summary = time.monotonic() + 4 * seconds

    def _add_files(self, files: Sequence[TextFile], folders: Sequence[Path]) -> None:
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
        sections: Iterable[TextSection] = [TextSection(name, 1, iter(blocks))]
        if self.by_section:
            sections = sections_of(blocks)
        for title, line, section_blocks in sections:
            beginning = _read_beginning(section_blocks)
            self.comparison.add(
                title,
                chain([beginning], section_blocks),
                path=path,
                folder=folder,
                line=line,
                encoding=partial(self._report_encoding, name),
            )
            self._sample(beginning)

    def _sample(self, beginning: str) -> None:
        """Send the beginning of the text that was added last with its tokens."""
        n = min(self.n_to_sample, _SAMPLE)
        if not n:
            return
        index = len(self.comparison.texts) - 1
        with suppress(BpeError):
            sample = sample_text(index, beginning, self.comparison.tokenizers, n)
            self.n_to_sample -= min(n, len(sample.beginning))
            self.job.send(sample)

    def _report_encoding(self, name: str, index: int) -> None:
        """Report that the tokenizer at `index` is about to encode a text. Raises `Stopped`."""
        tokenizer = self.comparison.tokenizers[index].name
        label = f"{name} ({tokenizer})" if tokenizer else name
        activity: Activity = "comparing"
        if isinstance(self.comparison, TokenCounts):
            activity = "counting"
        if self.job.progress(activity, self._n_read, self._n_bytes, label):
            self.send()


def _read_beginning(blocks: Iterator[str]) -> str:
    """Read the first blocks of a text, or all if it is short."""
    beginning = ""
    for block in blocks:
        beginning += block
        if len(beginning) >= 2 * _SAMPLE:
            break
    return beginning


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
