"""`measure`: the metrics of one tokenizer or several on texts, each with its unit and its definition."""

from argparse import Namespace

from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.comparing import add_texts, labels, run_comparison
from bpe_core.cli.comparison_tables import Shown, measures, number_splits
from bpe_core.metrics import Comparison
from bpe_core.metrics.catalog import METRICS, OF_PARTS


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "measure",
        run,
        "Measure how a tokenizer does on texts: compression, fertility, entropies and more.",
        (
            "-t gpt-4o book.txt",
            "-t gpt2 -t gpt-4o --json my_texts/",
            "-t mine.json --morphemes words.txt book.txt",
        ),
        "metrics:\n" + "\n".join(f"  {key:22}{metric.meaning}" for key, metric in METRICS.items()),
    )
    add_texts(parser, "repeatable")
    parser.set_defaults(reference=None, examples=0, lines=0)


def run(options: Namespace) -> int:
    """Encode each text with all tokenizers and print the metrics; returns 0, or 130 if a signal cut it short."""

    def told(comparison: Comparison) -> str:
        shown = Shown(labels(comparison.tokenizers, options.tokenizer), OF_PARTS)
        parts = measures(comparison, shown), number_splits(comparison, shown.labels)
        return "\n\n".join("\n".join(part) for part in parts)

    return run_comparison(options, told)
