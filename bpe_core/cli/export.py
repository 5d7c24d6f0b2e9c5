"""`export`: the merges, the curve or the record of a training, for other programs and for print."""

import sys
from argparse import Namespace

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command
from bpe_core.cli.inputs import open_tokenizer
from bpe_core.errors import OptionError
from bpe_core.exports import exported
from bpe_core.formats.atomic import check_place, write_atomically


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "export",
        run,
        "Print the merges, the curve or the record of a training.",
        ("merges mine.json > merges.tsv", "curve mine.json larger.json -o curve.csv"),
        "merges: a line a merge, separated by tabs. curve: the corpus after every merge, as CSV, of one training\n"
        "or several. record: options, texts and steps, as JSON. convert writes a tokenizer for other libraries.",
    )
    parser.add_argument("what", choices=("merges", "curve", "record"), help="what to print")
    parser.add_argument("tokenizer", nargs="+", metavar="TOKENIZER", help=f"{A_TOKENIZER}; several for curve")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to write, instead of stdout")


def run(options: Namespace) -> int:
    """Print or write what was asked for; returns 0."""
    if options.what in ("merges", "record") and len(options.tokenizer) > 1:
        raise OptionError(f"export {options.what} takes one tokenizer; leave out {options.tokenizer[1]}.")
    if options.output:
        check_place(options.output)
    lines = exported(options.what, [open_tokenizer(name) for name in options.tokenizer], options.tokenizer)
    if options.output:
        write_atomically(options.output, list(lines))
    else:
        sys.stdout.writelines(lines)
    return 0
