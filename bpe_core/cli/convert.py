"""`convert`: a tokenizer from any format into another, with the same ids."""

import os
from argparse import Namespace
from pathlib import Path

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, add_given_pattern
from bpe_core.cli.inputs import open_tokenizer
from bpe_core.errors import OptionError
from bpe_core.formats import WRITABLE, save
from bpe_core.formats.atomic import check_place


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "convert",
        run,
        "Write a tokenizer in another format.",
        (
            "mine.json -o tokenizer.json --format huggingface",
            "ranks.tiktoken --pattern llama3 -o llama3.json --format native",
        ),
        "gpt2 writes two files: OUT, and beside it merges.txt for vocab.json, a-merges.txt for a.json. A format that\n"
        "cannot hold a tokenizer so that it gives the same ids is refused.",
    )
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write")
    parser.add_argument("--format", required=True, choices=WRITABLE, help="the format to write")
    add_given_pattern(parser)


def run(options: Namespace) -> int:
    """Load the tokenizer and save it in the other format; returns 0."""
    output = Path(options.output)
    check_place(output)
    if output.exists() and os.path.exists(options.tokenizer) and output.samefile(options.tokenizer):
        raise OptionError(f"{options.output} is the tokenizer to convert; name another file for the new one.")
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    save(tokenizer, output, format=options.format)
    return 0
