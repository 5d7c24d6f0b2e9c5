"""`encode`: texts into token ids."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing

from bpe_core.cli.arguments import Subcommands, add_command, add_tokenizer
from bpe_core.cli.encoding import Encoding, Ids
from bpe_core.cli.report import SentenceReporter, report_to_person
from bpe_core.cli.source import is_stream, text_blocks
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.cores import most_threads
from bpe_core.corpus import TextFile, find_files
from bpe_core.errors import OptionError, SpecialTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.worker.job import PROGRESS_EVERY
from bpe_core.worker.messages import Skipped, WorkProgress


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "encode",
        run,
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


def run(options: Namespace) -> int:
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
            report.send(Skipped(str(skipped.path), skipped.reason))
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
        yield file.blocks_with_progress(progress)
        before += file.size


def _encode(documents: Iterable[Iterable[str]], options: Namespace) -> None:
    """Encode and print documents, a line each."""
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    allowed, disallowed = _specials(tokenizer, options)
    before, between, after = ('{"ids": [', ", ", "]}") if options.json else ("", " ", "")
    encoding = Encoding(tokenizer, allowed, disallowed, None if options.count else between)
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
