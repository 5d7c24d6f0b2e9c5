"""`encode`: text in, ids out."""

import sys
from argparse import Namespace
from typing import Final

from bpe_core.commands.arguments import Subcommands, add_command, add_input, add_tokenizer
from bpe_core.commands.source import read_text
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
    """Encode and print."""
    ids = _ids(open_tokenizer(options.tokenizer), read_text(options.path), options)
    if options.count:
        print(len(ids))
    else:
        _write(ids, *('{"ids": [', ", ", "]}") if options.json else ("", " ", ""))
    return 0


def _ids(tokenizer: Tokenizer, text: str, options: Namespace) -> list[int]:
    if options.special_as_text:
        return tokenizer.encode_ordinary(text)
    allowed = frozenset(options.allow_special)
    if unknown := allowed - tokenizer.special_tokens.keys() - {"all"}:
        raise SpecialTokenError(f"There is no special token {min(unknown)!r} in {options.tokenizer}.")
    try:
        return tokenizer.encode(text, allowed_special="all" if "all" in allowed else allowed)
    except SpecialTokenError as error:
        where, _, _ = str(error).partition(";")
        raise SpecialTokenError(f"{where}; name it with --allow-special, or use --special-as-text.") from None


def _write(ids: list[int], before: str, between: str, after: str) -> None:
    sys.stdout.write(before)
    for start in range(0, len(ids), _SLICE):
        sys.stdout.write((between if start else "") + between.join(map(str, ids[start : start + _SLICE])))
    sys.stdout.write(after + "\n")
