"""`fetch`: a tokenizer by its name, from a cache or over the network; where its file lies."""

import sys
import time
from argparse import Namespace

from bpe_core.cli.arguments import Subcommands, add_command, add_stream
from bpe_core.cli.standard_streams import tell as say
from bpe_core.cli.wire import Done, Fetching, Saved, to_line
from bpe_core.hub import KINDS, fetch
from bpe_core.visible import visible


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "fetch",
        run,
        "Fetch a tokenizer by its name, and say where its file lies.",
        ("gpt-4o", "Qwen/Qwen3-8B"),
        "What was fetched before, by whatever program, needs no network. The rest needs the extra [hub].",
    )
    parser.add_argument("name", metavar="NAME", help=KINDS)
    add_stream(parser)


def run(options: Namespace) -> int:
    """Fetch and print the path; an app is told of each file, and stops this by ending the process."""
    began = time.monotonic()
    path = fetch(options.name, _tell_app if options.stream else tell)
    if options.stream:
        seconds = time.monotonic() - began
        sys.stdout.write(to_line(Saved(str(path))) + to_line(Done("fetched", 0, seconds)))
    else:
        print(path)
    return 0


def _tell_app(done: int, total: int, name: str) -> None:
    sys.stdout.write(to_line(Fetching(done, total, name)))
    sys.stdout.flush()


def tell(done: int, total: int, name: str) -> None:
    """Say on stderr what comes over the network."""
    say(f"Fetching {visible(name)} ({done + 1} of {total}) …")
