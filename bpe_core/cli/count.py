"""`count`: how much text there is, and into how many pieces a pattern splits it."""

import time
from argparse import Namespace
from contextlib import closing

from bpe_core.cli.arguments import Subcommands, add_command, add_pattern, add_stream
from bpe_core.cli.control import Control
from bpe_core.cli.counting import count_files
from bpe_core.cli.events import Done
from bpe_core.cli.report import report_to
from bpe_core.corpus import Counts


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
    add_stream(parser)


def run(options: Namespace) -> int:
    """Count and print; returns 0, or 130 after a signal."""
    began = time.monotonic()
    with (
        closing(Control(stdin=options.stream)) as control,
        closing(report_to(options.stream, control)) as report,
    ):
        counts = count_files(options.paths, options.pattern, control, report)
        report.send(Done(control.stopped or "counted", 0, time.monotonic() - began))
        if control.stopped:
            report.say(f"{control.stopped.capitalize()} while counting.")
    if counts is not None and not options.stream:
        print(_table(counts))
    return 130 if control.stopped == "interrupted" else 0


def _table(counts: Counts) -> str:
    rows = {
        "documents": counts.n_documents,
        "bytes": counts.n_bytes,
        "characters": counts.n_characters,
        "pieces": counts.n_pieces,
        "different pieces": len(counts.table),
    }
    width = max(len(f"{n:,}") for n in rows.values())
    return "\n".join(f"{name:16}  {n:>{width},}" for name, n in rows.items())
