"""`encode`: texts into token ids, large ones by several processes."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

from bpe_core.cli.arguments import Subcommands, add_command, add_tokenizer
from bpe_core.cli.counting import PROGRESS_EVERY
from bpe_core.cli.encoding import BYTES_PER_PROCESS, EncodePortion, Ids, encode_together
from bpe_core.cli.events import Counting, Skipped
from bpe_core.cli.report import Report, SentenceReport, report_to_person
from bpe_core.cli.source import is_stream, text_blocks
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.corpus import TextFile, find_files
from bpe_core.errors import OptionError, SpecialTokenError
from bpe_core.parallel.portions import Portion
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.specials import without

_SLICE: Final = 1 << 16
"""Ids that are turned into text and written at a time, to bound the memory."""


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
    """Encode and print, block by block or portion by portion, since a text may be larger than the memory; returns 0."""
    paths = options.paths or ["-"]
    if len(paths) == 1 and is_stream(paths[0]):
        _one_after_the_other(text_blocks(paths[0]), options)
    elif "-" in paths:
        raise OptionError("What comes in on stdin (-) is encoded by itself; leave out the other texts, or the -.")
    elif len(paths) > 1 or os.path.isdir(paths[0]):
        _documents(paths, options)
    else:
        (file,) = find_files(paths, every_character=True).files
        if file.size < 2 * BYTES_PER_PROCESS or file.packing:
            _one_after_the_other(file.blocks(), options)
        else:
            _together([file], options, SentenceReport())
    return 0


def _one_after_the_other(blocks: Iterator[str], options: Namespace) -> None:
    """Encode and print the blocks of one text, in this process."""
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    allowed, disallowed = _specials(tokenizer, options)
    ids = tokenizer.encode_blocks(blocks, allowed_special=allowed, disallowed_special=disallowed)
    try:
        if options.count:
            print(sum(map(len, ids)))
        else:
            _write(ids, *_marks(options))
    except SpecialTokenError as error:
        raise _refused(error) from None


def _documents(paths: Sequence[str], options: Namespace) -> None:
    """Encode and print several texts, the ids of each on a line."""
    with closing(SentenceReport() if sys.stdout.isatty() else report_to_person()) as report:
        found = find_files(paths, every_character=True)
        for skipped in found.skipped:
            report.send(Skipped(str(skipped.path), skipped.reason))
        _together(found.files, options, report)


def _together(files: Sequence[TextFile], options: Namespace, report: Report) -> None:
    """Encode and print `files`, a line each, by as many processes as their size is worth."""
    total = sum(file.size for file in files)
    shown = 0.0

    def progress(n_bytes: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            report.send(Counting(n_bytes, total, "and encoding"))

    marks = _marks(options)
    work = EncodePortion(options.tokenizer, options.pattern, (), (), None if options.count else marks[1])
    allowed, disallowed = _specials(work.opened(), options)
    work = replace(work, allowed_special=allowed, disallowed_special=disallowed)
    try:
        _write_documents(encode_together(work, files, progress, report.say), marks)
    except SpecialTokenError:
        _refuse_in(files, frozenset(disallowed) - frozenset(allowed))
        raise


def _refuse_in(files: Sequence[TextFile], disallowed: frozenset[str]) -> None:
    """Raise `SpecialTokenError` for the first disallowed special token in `files`, with its offset in the whole file.

    The error of a process that encodes a part of a file only knows the offset in that part.
    """
    for file in files:
        try:
            for _ in without(disallowed, file.blocks()):
                pass
        except SpecialTokenError as error:
            raise _refused(error) from None


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


def _refused(error: SpecialTokenError) -> SpecialTokenError:
    where, _, _ = str(error).partition(";")
    return SpecialTokenError(f"{where}; name it with --allow-special, or use --special-as-text.")


def _marks(options: Namespace) -> tuple[str, str, str]:
    """What is printed before, between and after the ids of a document."""
    return ('{"ids": [', ", ", "]}") if options.json else ("", " ", "")


def _write(ids: Iterator[list[int]], before: str, between: str, after: str) -> None:
    ids = filter(None, ids)
    first = next(ids, [])  # whatever is wrong from the beginning should be told before anything is written
    sys.stdout.write(before + between.join(map(str, first)))
    for more in ids:
        for start in range(0, len(more), _SLICE):
            sys.stdout.write(between + between.join(map(str, more[start : start + _SLICE])))
    sys.stdout.write(after + "\n")


def _write_documents(encoded: Iterable[tuple[Portion, list[Ids]]], marks: tuple[str, str, str]) -> None:
    """Write a line for each document: its ids between `marks`, or how many they are if only that was asked for."""
    before, between, after = marks
    n, counts_only = 0, True
    for portion, parts in encoded:
        for file, part in zip(portion.files, parts, strict=True):
            if not portion.start:
                n, counts_only = 0, part.text is None
                sys.stdout.write("" if counts_only else before)
            if part.text:
                sys.stdout.write((between if n else "") + part.text)
            n += part.n
            if portion.end in (None, file.size):
                sys.stdout.write(f"{n}\n" if counts_only else after + "\n")
