"""`encode` and `decode`: texts into token ids, and back.

Documents are read and divided by this thread, one after the other. Where the kernel encodes, threads take what is
divided, some of it at a time, and make of it the ids as they are printed, which are put in order here. The kernel works
free of the GIL.
"""

import os
import sys
import time
from argparse import Namespace
from array import array
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from bpe_core import kernel
from bpe_core.cli.arguments import Subcommands, add_command, add_input, add_tokenizer
from bpe_core.cli.inputs import is_stream, open_tokenizer, read_bytes, text_blocks
from bpe_core.cli.progress import SentenceReporter, report_to_person
from bpe_core.cores import most_threads
from bpe_core.corpus import TextFile, find_files
from bpe_core.errors import OptionError, SpecialTokenError, TextError
from bpe_core.ids_in_text import ids_in
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.specials import Choice
from bpe_core.visible import quoted, visible
from bpe_core.worker.job import PROGRESS_EVERY
from bpe_core.worker.messages import FileSkipped, WorkProgress

if TYPE_CHECKING:  # most texts are small
    from concurrent.futures import Future, ThreadPoolExecutor

SHARE: Final = 1 << 18
"""Characters that are handed to a thread at a time, at least. What is less at the end is encoded by this thread."""

_MOST: Final = 1 << 20
"""Characters in a share at most, or else it is encoded by this thread: an interruption reaches the kernel only here."""

_AHEAD: Final = 2
"""Shares that wait for each thread, at most: they are in memory, and so is what is printed of them."""

Part = str | list[int] | Exception | None
"""What `Tokenizer.divide` gives; what was raised instead of more; None behind the last part of a document."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a part of a document."""

    n: int
    """How many ids there are."""
    text: str
    """The ids as they are printed, separated; "" if only their number was asked for."""


def add(commands: Subcommands) -> None:
    """Declare both subcommands."""
    parser = add_command(
        commands,
        "encode",
        run_encode,
        "Turn text into token ids.",
        (
            "-t mine.json notes.md",
            "-t gpt-4o --count < notes.md",
            "-t gpt-4o my_texts/ > ids.txt",
        ),
    )
    add_tokenizer(parser)
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a text, also .gz and .xz; stdin, in UTF-8, if left out or -. Several texts, or those of a folder, give a "
        "line each",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help='print {"ids": [...]} instead of ids separated by spaces')
    form.add_argument("--count", action="store_true", help="print only how many tokens there are")
    special = parser.add_mutually_exclusive_group()
    special.add_argument(
        "--allow-special",
        action="append",
        default=[],
        metavar="S",
        help='encode this special token as one; repeatable; "all" allows every one',
    )
    special.add_argument("--special-as-text", action="store_true", help="encode special tokens as ordinary text")
    parser = add_command(
        commands,
        "decode",
        run_decode,
        "Turn token ids back into text.",
        (
            "-t mine.json ids.txt",
            "-t mine.json < ids.txt > notes.md",
        ),
    )
    add_tokenizer(parser)
    add_input(parser, "ids separated by spaces or commas, a list of them, or what encode --json printed")


def run_encode(options: Namespace) -> int:
    """Encode and print, part by part, since a text may be larger than the memory; returns 0."""
    paths = options.paths or ["-"]
    if len(paths) == 1 and is_stream(paths[0]):
        _encode([text_blocks(paths[0])], options)
    elif "-" in paths:
        raise OptionError("What comes in on stdin (-) is encoded by itself; leave out the other texts, or the -.")
    elif len(paths) > 1 or os.path.isdir(paths[0]):
        _encode_all(paths, options)
    else:
        (file,) = find_files(paths, every_character=True).files
        _encode([file.blocks()], options)
    return 0


def _encode_all(paths: Sequence[str], options: Namespace) -> None:
    """Encode and print several texts, the ids of each on a line."""
    with closing(SentenceReporter() if sys.stdout.isatty() else report_to_person()) as report:
        found = find_files(paths, every_character=True)
        for skipped in found.skipped:
            report.send(FileSkipped(str(skipped.path), skipped.reason))
        _encode(_read(found.files, report), options)


def _read(files: Sequence[TextFile], report: SentenceReporter) -> Iterator[Iterator[str]]:
    """The texts of files in blocks; tells on the way how much was read."""
    total = sum(file.size for file in files)
    shown, before = 0.0, 0

    def progress(n_bytes: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            report.send(WorkProgress("counting", before + n_bytes, total, "and encoding"))

    for file in files:
        yield file.blocks(progress)
        before += file.size


def _encode(documents: Iterable[Iterable[str]], options: Namespace) -> None:
    """Encode and print documents, a line each."""
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    allowed, disallowed = _specials(tokenizer, options)
    before, between, after = ('{"ids": [', ", ", "]}") if options.json else ("", " ", "")
    encoding = DocumentEncoder(tokenizer, allowed, disallowed, None if options.count else between)
    try:
        with closing(encoding.encode(documents, most_threads())) as encoded:
            if options.count:
                _write_numbers(encoded)
            else:
                _write(encoded, before, between, after)
    except SpecialTokenError as error:
        where, _, _ = str(error).partition(";")
        raise SpecialTokenError(f"{where}; name it with --allow-special, or use --special-as-text.") from None


def _specials(tokenizer: Tokenizer, options: Namespace) -> tuple[Collection[str], Collection[str]]:
    """(those encoded as special tokens, those that are an error): the special tokens as the options ask."""
    specials = tokenizer.special_tokens.keys()
    if options.special_as_text:
        return (), ()
    asked = frozenset(options.allow_special)
    if unknown := asked - specials - {"all"}:
        raise SpecialTokenError(f"There is no special token {min(unknown)!r} in {options.tokenizer}.")
    allowed = specials if "all" in asked else asked
    return tuple(allowed), tuple(specials - allowed)


def _write_numbers(encoded: Iterable[Ids | None]) -> None:
    """Write how many ids each document has, on a line each."""
    n = 0
    for ids in encoded:
        if ids is None:
            sys.stdout.write(f"{n}\n")
        n = n + ids.n if ids else 0


def _write(encoded: Iterable[Ids | None], before: str, between: str, after: str) -> None:
    """Write the ids of each document, on a line each."""
    is_begun = False  # nothing is written before the first ids: whatever is wrong by then should be told first
    for ids in encoded:
        if ids is None:
            sys.stdout.write(("" if is_begun else before) + after + "\n")
            is_begun = False
        elif ids.n:
            sys.stdout.write((between if is_begun else before) + ids.text)
            is_begun = True


class DocumentEncoder:
    """How documents are encoded, and their ids printed."""

    def __init__(self, tokenizer: Tokenizer, allowed: Choice, disallowed: Choice, between: str | None) -> None:
        """`allowed` and `disallowed` are special tokens as in `Tokenizer.encode`.

        `between` separates printed ids; None if only their number is asked for.
        """
        self._tokenizer, self._allowed, self._disallowed, self._between = tokenizer, allowed, disallowed, between

    def encode(self, documents: Iterable[Iterable[str]], n_threads: int) -> Generator[Ids | None, None, None]:
        """Yield the ids of documents, each of which comes in blocks: those of its parts in order, then None.

        It is the same for any number of threads, also what is yielded before an error: one of
        `Tokenizer.divide`, or of whoever reads the documents. Closing the iterator waits for no thread.
        """
        parts = self._parts(documents)
        if n_threads > 1 and kernel.available:
            shares = in_order(self._encoded_share, _shares(parts), n_threads, _stays)
        else:
            shares = ([self._encoded(part)] for part in parts)
        for share in shares:
            for ids in share:
                if isinstance(ids, Exception):
                    raise ids
                yield ids

    def _parts(self, documents: Iterable[Iterable[str]]) -> Iterator[Part]:
        options = {"allowed_special": self._allowed, "disallowed_special": self._disallowed}
        try:
            for blocks in documents:
                yield from self._tokenizer.divide(blocks, **options)
                yield None
        except Exception as error:
            yield error

    def _encoded_share(self, parts: Sequence[Part]) -> list[Ids | Exception | None]:
        return list(map(self._encoded, parts))

    def _encoded(self, part: Part) -> Ids | Exception | None:
        if part is None or isinstance(part, Exception):
            return part
        try:
            ids = self._tokenizer.encode_to_array(part) if isinstance(part, str) else part
            return Ids(len(ids), "" if self._between is None else _printed(ids, self._between))
        except Exception as error:
            return error


def _printed(ids: Sequence[int], between: str) -> str:
    return kernel.decimals((ids if isinstance(ids, array) else array("I", ids)).tobytes(), between)


def _size(part: Part) -> int:
    return len(part) if isinstance(part, str | list) else 0


def _shares(parts: Iterable[Part]) -> Iterator[list[Part]]:
    share: list[Part] = []
    size = 0
    for part in parts:
        share.append(part)
        size += _size(part) + 1
        if size >= SHARE:
            yield share
            share, size = [], 0
    yield share


def _stays(share: Sequence[Part]) -> bool:
    """Whether a share is encoded by this thread: the last one, and one that takes long."""
    return not SHARE <= sum(map(_size, share)) + len(share) <= _MOST


def in_order(work: Callable[[T], R], jobs: Iterable[T], n_threads: int, stays: Callable[[T], bool]) -> Iterator[R]:
    """Yield what `work` makes of each job, in their order; so many threads work, on all jobs but those that `stays`.

    A few jobs are taken ahead of the result that is next. No thread is started before the first job that needs one.
    """
    threads: ThreadPoolExecutor | None = None
    waiting: deque[Future[R]] = deque()
    try:
        for job in jobs:
            if stays(job):
                while waiting:
                    yield waiting.popleft().result()
                yield work(job)
                continue
            if threads is None:
                threads = _new_threads(n_threads)
            waiting.append(threads.submit(work, job))
            if len(waiting) > _AHEAD * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        if threads:
            threads.shutdown(wait=False, cancel_futures=True)


def _new_threads(n_threads: int) -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor  # late: most texts are small

    return ThreadPoolExecutor(n_threads)


def run_decode(options: Namespace) -> int:
    """Decode and write exactly the bytes, or to a terminal, which would obey control characters, a visible form; 0."""
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    data = tokenizer.decode_bytes(_ids(read_bytes(options.path)))
    if sys.stdout.isatty():
        text = data.decode(errors="backslashreplace")
        print("\n".join(map(visible, text.split("\n"))))
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return 0


def _ids(data: bytes) -> list[int]:
    """The ids in `data`, as `ids_in` finds them. Raises `TextError` for anything else."""
    found = ids_in(data.decode(errors="backslashreplace"))
    if found.odd:
        before, word = found.odd[0]
        raise TextError(f"These are no token ids: behind {before:,} of them stands {quoted(word)}; give numbers alone.")
    return found.ids
