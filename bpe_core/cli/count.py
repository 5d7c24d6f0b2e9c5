"""`count`: how much text there is, and into how many pieces a pattern splits it."""

from argparse import Namespace
from contextlib import closing

from bpe_core.cli.arguments import Subcommands, add_command, add_pattern
from bpe_core.cli.progress import report_to_person
from bpe_core.cli.report import ReportTable, aligned
from bpe_core.errors import Stopped
from bpe_core.worker.counting import count_files
from bpe_core.worker.job import Job


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "count",
        run,
        "Count documents, bytes, characters and pieces.",
        ("my_texts/ --pattern gpt2",),
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a text, or a folder of them; also .gz and .xz")
    add_pattern(parser)


def run(options: Namespace) -> int:
    """Count and print; returns 0, or 130 after a signal."""
    with closing(Job(report_to_person())) as job:
        try:
            counts = count_files(options.paths, options.pattern, job)
        except Stopped:
            job.say("Interrupted while counting.")
            return 130
    rows = {
        "documents": counts.n_documents,
        "bytes": counts.n_bytes,
        "characters": counts.n_characters,
        "pieces": counts.n_pieces,
        "different pieces": len(counts.table),
    }
    print(*aligned(ReportTable(("", ""), [(name, f"{n:,}") for name, n in rows.items()])), sep="\n")
    return 0
