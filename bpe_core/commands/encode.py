"""`encode`: text in, ids out."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from bpe_core.commands.arguments import Subcommands, add_command, add_input, add_tokenizer
from bpe_core.commands.source import text_blocks
from bpe_core.commands.tokenizers import open_tokenizer
from bpe_core.errors import SpecialTokenError
from bpe_core.tokenizer import Tokenizer

_SLICE: Final = 1 << 16
"""Ids written at a time: as text they need far more memory than as numbers."""


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
        ),
    )
    add_tokenizer(parser)
    add_input(parser, "the text, in UTF-8")
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
    """Encode and print, block by block: a text may be larger than the memory."""
    ids = _ids(open_tokenizer(options.tokenizer, options.pattern), text_blocks(options.path), options)
    if options.count:
        print(sum(map(len, ids)))
    else:
        _write(ids, *('{"ids": [', ", ", "]}") if options.json else ("", " ", ""))
    return 0


def _ids(tokenizer: Tokenizer, blocks: Iterator[str], options: Namespace) -> Iterator[list[int]]:
    if options.special_as_text:
        yield from tokenizer.encode_blocks(blocks, disallowed_special=())
        return
    allowed = frozenset(options.allow_special)
    if unknown := allowed - tokenizer.special_tokens.keys() - {"all"}:
        raise SpecialTokenError(f"There is no special token {min(unknown)!r} in {options.tokenizer}.")
    try:
        yield from tokenizer.encode_blocks(blocks, allowed_special="all" if "all" in allowed else allowed)
    except SpecialTokenError as error:
        where, _, _ = str(error).partition(";")
        raise SpecialTokenError(f"{where}; name it with --allow-special, or use --special-as-text.") from None


def _write(ids: Iterator[list[int]], before: str, between: str, after: str) -> None:
    ids = filter(None, ids)
    first = next(ids, [])  # whatever is wrong from the beginning should be told before anything is written
    sys.stdout.write(before + between.join(map(str, first)))
    for more in ids:
        for start in range(0, len(more), _SLICE):
            sys.stdout.write(between + between.join(map(str, more[start : start + _SLICE])))
    sys.stdout.write(after + "\n")
