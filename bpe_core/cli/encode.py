"""`encode` and `decode`: turn texts into token ids, and token ids into text."""

import sys
from argparse import Namespace
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core import kernel
from bpe_core.cli.arguments import TEXTS, Subcommands, add_command
from bpe_core.cli.streams import (
    StderrReporter,
    only_stream,
    open_tokenizer,
    text_blocks,
)
from bpe_core.corpus import Found, find_files
from bpe_core.corpus.reading import Reading
from bpe_core.corpus.streams import name_of
from bpe_core.errors import OptionError, SpecialTokenError, TextError
from bpe_core.process import Share, in_order, most_threads, shares
from bpe_core.token_ids import ids_in
from bpe_core.tokenizer import Choice, Tokenizer
from bpe_core.visible import counted, quoted, shortened, visible
from bpe_core.worker.job import Job
from bpe_core.worker.messages import WorkProgress

SHARE: Final = 1 << 18
"""Minimum number of characters that a thread gets at a time. This thread encodes a smaller remainder."""
LARGEST_SHARE: Final = 1 << 20
"""Maximum number of characters that a thread gets at a time. This thread encodes a larger share itself,
since Ctrl+C can interrupt the kernel only in this thread."""

Part = str | list[int] | None
"""A text or ids, as `Tokenizer.divide` yields them. None follows the last part of a document."""


class PartIds(NamedTuple):
    """The ids of one part of a document."""

    n_ids: int
    text: str
    """The ids as they are printed; empty if only their number is needed."""


class OutputForm(NamedTuple):
    """How the ids of a document are printed on a line."""

    start: str
    separator: str
    end: str


_PLAIN: Final = OutputForm(start="", separator=" ", end="\n")
_JSON: Final = OutputForm(start='{"ids": [', separator=", ", end="]}\n")


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_encode)
    parser.add_tokenizer()
    texts = f"{TEXTS}. Each text or row gives one line"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=texts)
    parser.add_forms(
        json='print {"ids": [...]} instead of ids separated by spaces',
        count='print only the number of tokens of each text; after several texts, also "N total"',
    )
    folder = "with --dask: the new folder for .parquet files of ids, with one row per document"
    parser.add_value("-o --output", "IDS", folder)
    parser.add_cluster()
    special = parser.add_mutually_exclusive_group()
    special.add_argument(
        "--allow-special",
        action="append",
        default=[],
        metavar="S",
        help='encode the special token S as one token; repeatable; "all" allows all of them',
    )
    special.add_argument(
        "--special-as-text",
        action="store_true",
        help="encode special tokens as ordinary text",
    )
    parser = add_command(commands, run_decode)
    parser.add_tokenizer()
    ids = (
        "a file of ids separated by spaces or commas, or the output of encode --json; standard "
        "input if left out or -"
    )
    parser.add_argument("path", nargs="?", default="-", metavar="PATH", help=ids)


def run_encode(options: Namespace) -> int:
    """Turn text into token ids.

    encode -t mine.json notes.md
    encode -t gpt-4o --count < notes.md
    encode -t gpt-4o my_texts/ > ids.txt
    encode -t gpt-4o my_texts/ --dask local -o ids/
    """
    paths = options.paths or ["-"]
    stream = only_stream(paths)
    uses_dask = bool(options.dask or options.output)
    if uses_dask:
        _check_dask_options(options, stream)
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    specials = _choose_specials(tokenizer, options)
    try:
        if stream:
            _print_ids(tokenizer, [text_blocks(stream)], options, specials)
            return 0
        found = find_files(paths, every_character=True)
        # A bar would be drawn between the ids if both went to the same terminal.
        has_bar = uses_dask or not sys.stdout.isatty()
        with closing(StderrReporter(has_bar)) as reporter:
            for skipped in found.skipped:
                reporter.send(skipped)
            if uses_dask:
                _encode_with_dask(tokenizer, found, options, specials, reporter)
                return 0

            def report(done: int, total: int, name: str) -> None:
                reporter.send(WorkProgress("counting", done, total, name))

            reading = Reading(found.files, report)
            documents = chain.from_iterable(map(reading.documents, found.files))
            _print_ids(tokenizer, documents, options, specials)
    except SpecialTokenError as error:
        # The advice after the semicolon names arguments of the library.
        problem, _, _ = str(error).rpartition(";")
        raise SpecialTokenError(
            f"{problem}; allow it with --allow-special, or use --special-as-text."
        ) from None
    return 0


def _check_dask_options(options: Namespace, stream: str | None) -> None:
    if not options.dask or not options.output:
        raise OptionError(
            "--dask and -o IDS only work together; give both, or neither."
        )
    if options.json or options.count:
        raise OptionError(
            "--dask writes .parquet files of ids and no other output; leave out --json and --count."
        )
    if stream:
        raise OptionError(
            f"--dask encodes files and folders, not {name_of(stream)}; name a file or a folder."
        )


def _choose_specials(tokenizer: Tokenizer, options: Namespace) -> dict[str, Choice]:
    """Return the keyword arguments of `Tokenizer.encode` about special tokens."""
    allowed = set(options.allow_special)
    choices = ["all", *tokenizer.special_tokens]
    unknown = allowed.difference(choices)
    if unknown:
        raise SpecialTokenError(
            f"{quoted(min(unknown))} is not a special token of {options.tokenizer}; choose from "
            f"{shortened(', '.join(choices), 200)}."
        )
    return {
        "allowed_special": "all" if "all" in allowed else allowed,
        "disallowed_special": () if options.special_as_text else "all",
    }


def _encode_with_dask(
    tokenizer: Tokenizer,
    found: Found,
    options: Namespace,
    specials: Mapping[str, Choice],
    reporter: StderrReporter,
) -> None:
    """Encode files on a cluster, into a folder of .parquet files."""
    from bpe_core.worker.dask_connection import connected  # imported late: few need it

    with (
        closing(Job(reporter, patience=10)) as job,
        connected(options.dask, look=job.check) as cluster,
    ):
        n_tokens = cluster.encode(
            found.files,
            tokenizer,
            Path(options.output).absolute(),
            partial(job.progress, "counting"),
            **specials,
        )
        tokens = counted(n_tokens, "token")
        files = counted(len(found.files), "file")
        job.say(f"Saved {tokens} of {files} in {options.output}.")


def _print_ids(
    tokenizer: Tokenizer,
    documents: Iterable[Iterable[str]],
    options: Namespace,
    specials: Mapping[str, Choice],
) -> None:
    """Print the ids of each document on a line, or only their number.

    Ids are printed part by part, since a document can be larger than the memory. Nothing is printed
    before the first ids, so that an error in the first part leaves no half line.
    """
    form = _JSON if options.json else _PLAIN
    separator = None if options.count else form.separator
    n_documents = 0
    n_total = 0
    n_ids = 0  # of this document
    with closing(
        encode_documents(tokenizer, documents, separator, **specials)
    ) as parts:
        for part in parts:
            if part is not None:
                if part.n_ids and not options.count:
                    sys.stdout.write(form.separator if n_ids else form.start)
                    sys.stdout.write(part.text)
                n_ids += part.n_ids
                continue
            if options.count:
                sys.stdout.write(f"{n_ids}\n")
            else:
                start = "" if n_ids else form.start
                sys.stdout.write(start + form.end)
            n_documents += 1
            n_total += n_ids
            n_ids = 0
    if options.count and n_documents > 1:
        sys.stdout.write(f"{n_total} total\n")


def encode_documents(
    tokenizer: Tokenizer,
    documents: Iterable[Iterable[str]],
    separator: str | None,
    **specials: Choice,
) -> Generator[PartIds | None, None, None]:
    """Encode documents part by part, with several threads if the C kernel encodes.

    Args:
        documents: The blocks of text of each document.
        separator: Printed between ids. None if only their number is needed.
        specials: See `Tokenizer.encode`.

    Yields:
        The ids of the parts of a document, in their order, and None after each document.
    """

    def divide_documents() -> Iterator[Part]:
        for blocks in documents:
            yield from tokenizer.divide(blocks, **specials)
            yield None

    def encode_part(part: Part) -> PartIds | None:
        if part is None:
            return None
        ids = (
            tokenizer.encode_to_array(part)
            if isinstance(part, str)
            else array("I", part)
        )
        text = ""
        if separator is not None:
            text = kernel.decimals(ids.tobytes(), separator)
        return PartIds(len(ids), text)

    def encode_share(share: Share[Part]) -> list[PartIds | None]:
        return [encode_part(part) for part in share.items]

    def is_for_this_thread(share: Share[Part]) -> bool:
        is_for_others = kernel.available and SHARE <= share.size <= LARGEST_SHARE
        return n_threads == 1 or not is_for_others

    n_threads = most_threads()
    work = shares(divide_documents(), SHARE)
    for results in in_order(
        encode_share, work, n_threads, in_this_thread=is_for_this_thread
    ):
        yield from results


def run_decode(options: Namespace) -> int:
    """Turn token ids back into text.

    decode -t mine.json ids.txt
    decode -t mine.json < ids.txt > notes.md
    """
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    ids, odd_words = ids_in("".join(text_blocks(options.path)))
    if odd_words:
        n_before, word = odd_words[0]
        place = f" (after {counted(n_before, 'valid id')})" if n_before else ""
        raise TextError(
            f"Invalid token id {quoted(word)}{place}: expected a whole number."
        )
    data = tokenizer.decode_bytes(ids)
    if sys.stdout.isatty():
        # A terminal would obey control characters.
        lines = data.decode(errors="backslashreplace").split("\n")
        print("\n".join(map(visible, lines)))
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return 0
