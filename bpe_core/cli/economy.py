"""`economy`: how many tokens the same data takes as JSON, YAML, XML, CSV and a Markdown table."""

import json
import sys
import time
from argparse import Namespace

from bpe_core.cli.arguments import Subcommands, add_command, add_input, add_stream
from bpe_core.cli.comparing import add_tokenizers, labels, opened
from bpe_core.cli.events import Done
from bpe_core.cli.result_events import Formats
from bpe_core.cli.source import text_blocks
from bpe_core.cli.table import table
from bpe_core.cli.wire import to_line
from bpe_core.metrics.economy import economy, read


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "economy",
        run,
        "Count the tokens of the same data as JSON, YAML, XML, CSV and a Markdown table.",
        ("-t gpt-4o prices.json", "-t gpt2 -t gpt-4o --json < prices.csv"),
        "YAML needs PyYAML, of the extra [economy]; a table needs a list of objects.",
    )
    add_tokenizers(parser, "repeatable")
    add_input(parser, "the data, as JSON, JSON lines, YAML or CSV, in UTF-8")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    add_stream(parser)


def run(options: Namespace) -> int:
    """Write the data in all formats, count the tokens of each and print a table; returns 0."""
    began = time.monotonic()
    tokenizers = opened(options)
    found = economy(read("".join(text_blocks(options.path))), tokenizers)
    if options.stream:
        sys.stdout.write(to_line(Formats([[name, n_bytes, list(tokens)] for name, n_bytes, tokens in found])))
        sys.stdout.write(to_line(Done("counted", len(found), time.monotonic() - began)))
        return 0
    if options.json:
        formats = [{"format": name, "bytes": n_bytes, "tokens": list(tokens)} for name, n_bytes, tokens in found]
        json.dump({"tokenizers": options.tokenizer, "formats": formats}, sys.stdout)
        print()
        return 0
    rows = [["format", "bytes", *labels(tokenizers, options.tokenizer), "beside the first line"]]
    least = found[0][2][0] or 1
    for name, n_bytes, tokens in found:
        rows.append([name, f"{n_bytes:,}", *(f"{n:,}" for n in tokens), f"{tokens[0] / least - 1:+.0%}"])
    print("\n".join(table(rows)))
    return 0
