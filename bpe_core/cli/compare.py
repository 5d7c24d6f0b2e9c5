"""`compare`: several tokenizers on the same texts, as tables or as JSON."""

from argparse import ArgumentTypeError, Namespace

from bpe_core.cli.arguments import Subcommands, add_command, integer
from bpe_core.cli.comparing import add_texts, labels, run_comparison
from bpe_core.cli.comparison_tables import Shown, tables
from bpe_core.errors import OptionError
from bpe_core.metrics.catalog import METRICS, OF_PARTS
from bpe_core.visible import quoted


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "compare",
        run,
        "Hold tokenizers against each other on the same texts.",
        (
            "-t gpt2 -t gpt-4o my_texts/",
            "-t mine.json -t gpt-4o --sections tale-in-many-languages.txt",
            "-t mine.json -t gpt-4o --reference en --metrics tokens,parity translations/",
            "-t mine.json -t gpt-4o --json notes.md",
        ),
        "The tokenizer named first is the one that the others are compared with.\n\n"
        "metrics of each text, folder and script:\n"
        + "\n".join(f"  {key:22}{METRICS[key].meaning}" for key in OF_PARTS),
    )
    add_texts(parser, "two or more")
    parser.add_argument(
        "--reference", metavar="NAME", help="the text or folder that parity relates to; the first if left out"
    )
    parser.add_argument(
        "--metrics", type=_metrics, metavar="M,...", help="what is told of each text, folder and script; see below"
    )
    parser.add_argument("--examples", type=integer, default=10, metavar="N", help="disagreements shown (%(default)s)")
    parser.add_argument(
        "--lines",
        type=integer,
        default=10,
        metavar="N",
        help="lines shown of those for which a tokenizer needs the most more tokens than another (%(default)s)",
    )


def run(options: Namespace) -> int:
    """Encode each text with all tokenizers and print the comparison; returns 0, or 130 if a signal cut it short."""
    if len(options.tokenizer) < 2:
        raise OptionError(
            "There is only one tokenizer to compare; name a second one with -t, or see bpescope measure --help."
        )
    return run_comparison(
        options,
        lambda comparison: tables(
            comparison,
            Shown(
                labels(comparison.tokenizers, options.tokenizer),
                options.metrics or _usual(options),
                options.reference,
                options.examples,
                options.lines,
            ),
        ),
    )


def _usual(options: Namespace) -> tuple[str, ...]:
    """The metrics that are told of each text unless others are asked for."""
    ratio = "parity" if options.sections or options.reference else "bytes_per_token"
    return "tokens", ratio


def _metrics(text: str) -> tuple[str, ...]:
    keys = tuple(key.strip().replace(" ", "_") for key in text.split(","))
    for key in keys:
        if key not in OF_PARTS:
            raise ArgumentTypeError(f"there is no metric {quoted(key)} of a text; there are {', '.join(OF_PARTS)}")
    return keys
