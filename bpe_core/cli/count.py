"""`count` and `counts`: count the pre-tokens of texts for training, and merge such counts."""

import tempfile
from argparse import Namespace
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING

from bpe_core.cli.arguments import Parser, Subcommands, add_command
from bpe_core.cli.streams import StderrReporter
from bpe_core.cli.train import SOURCES, add_selection, recipe_of
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.report import ReportTable, aligned
from bpe_core.tokenizer.training_record import OPTION_OF
from bpe_core.visible import visible
from bpe_core.whole_file import file_of
from bpe_core.worker.inputs import check_output
from bpe_core.worker.job import Job

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_count)
    parser.add_argument("paths", nargs="+", metavar="SOURCE", help=SOURCES)
    pattern = OPTION_OF["pattern"]
    parser.add_value(
        "--pattern", "P", pattern.help("gpt4", f"such as {pattern.example}"), "gpt4"
    )
    add_selection(parser)
    _add_output(parser, required=False)
    parser = add_command(commands, run_counts)
    parser.add_argument("what", choices=("merge",), help="add up the counts")
    parser.add_argument(
        "paths", nargs="+", metavar="COUNTS", help="a file written by `count`"
    )
    _add_output(parser, required=True)


def _add_output(parser: Parser, required: bool) -> None:
    parser.add_value(
        "-o --output",
        "C",
        "the file of counts to write, in Parquet",
        "",
        required=required,
    )
    parser.add_value(
        "--memory",
        "SIZE",
        "memory limit, such as 1GB; the rest goes to a temporary file next to C (default: half "
        "of the memory)",
    )


def run_count(options: Namespace) -> int:
    """Count documents, bytes and pre-tokens (pieces); with -o, save the counts for training.

    count my_texts/ --pattern gpt2
    count my_texts/ notes.md -o counts.parquet
    count reviews.parquet::text --pattern gpt4o --memory 1GB -o counts.parquet
    count my_texts/ --dask tcp://scheduler:8786 -o counts.parquet

    C has one row per pre-token, in the order of first appearance: the pre-token, how often it
    occurs, in how many documents, and the first and last of them. train --counts C learns the same
    merges as from the texts, for every tie rule.
    """
    recipe = recipe_of(options, {})
    with ExitStack() as stack:
        # Dask takes seconds to react.
        job, spill = _begin(options, stack, patience=10 if options.dask else 0.05)
        counts = recipe.count(
            options.pattern, job, outputs=(options.output,), spill=spill
        )
        if spill:
            return _save(counts, options.output, job)
    rows = [
        ("documents", f"{counts.n_documents:,}"),
        ("bytes", f"{counts.n_bytes:,}"),
        ("characters", f"{counts.n_characters:,}"),
        ("pieces", f"{counts.n_pieces:,}"),
        ("different pieces", f"{len(counts.table):,}"),
    ]
    table = ReportTable(("", ""), rows, numbers=(1,))
    print("\n".join(aligned(table)))
    return 0


def run_counts(options: Namespace) -> int:
    """Merge the counts of several corpora, or parts of one, exactly.

    counts merge monday.parquet tuesday.parquet -o both.parquet

    The pre-tokens keep the order of the first file, followed by the new ones of each further file. The
    tie rule "first" depends on this order: name the files in the order of their texts. The other
    tie rules do not.
    """
    with ExitStack() as stack:
        job, spill = _begin(options, stack)
        others = options.paths[1:]
        counts = Counts.load(options.paths[0], spill)
        for number, other in enumerate(others, 1):
            job.progress("preparing", number, len(others), f"merging {other}")
            more = Counts.load(other, spill)
            try:
                counts.merge(more)
            except OptionError as error:
                raise OptionError(
                    f"{visible(other)} cannot be merged: {error}"
                ) from None
        return _save(counts, options.output, job)


def _begin(
    options: Namespace, stack: ExitStack, patience: float = 0.05
) -> "tuple[Job, Spill | None]":
    """Start the job. With an output file, also open the spill next to it, for pieces that exceed
    the memory."""
    job = stack.enter_context(closing(Job(StderrReporter(), patience=patience)))
    if not options.output:
        return job, None
    # Imported late, since it needs pyarrow.
    from bpe_core.corpus.spill import Spill, parsed_memory

    check_output(options.output, options.paths)
    file = file_of(options.output)
    folder = file.parent if file else tempfile.gettempdir()
    spill = Spill(parsed_memory(options.memory), folder)
    return job, stack.enter_context(closing(spill))


def _save(counts: Counts, output: str, job: Job) -> int:
    counts.save(output, partial(job.progress, "preparing", name="writing counts"))
    job.say(f"Saved in {visible(output)}.")
    return 0
