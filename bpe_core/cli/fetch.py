"""`fetch`: find a tokenizer by its name, in a cache or over the network, and print the path of its file."""

from argparse import Namespace

from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.inputs import print_fetching
from bpe_core.hub import KINDS, fetch


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


def run(options: Namespace) -> int:
    """Fetch and print the path; returns 0."""
    print(fetch(options.name, print_fetching))
    return 0
