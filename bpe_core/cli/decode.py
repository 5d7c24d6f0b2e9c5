"""`decode`: token ids into the bytes that they stand for."""

import sys
from argparse import Namespace

from bpe_core.cli.arguments import Subcommands, add_command, add_input, add_tokenizer
from bpe_core.cli.inputs import open_tokenizer, read_bytes
from bpe_core.errors import TextError
from bpe_core.ids_in_text import ids_in
from bpe_core.visible import quoted, visible


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "decode",
        run,
        "Turn token ids back into text.",
        (
            "-t mine.json ids.txt",
            "-t mine.json < ids.txt > notes.md",
        ),
    )
    add_tokenizer(parser)
    add_input(parser, "ids separated by spaces or commas, a list of them, or what encode --json printed")


def run(options: Namespace) -> int:
    """Decode and write exactly the bytes, or to a terminal, which would obey control characters, a visible form; 0."""
    tokenizer = open_tokenizer(options.tokenizer, options.pattern)
    data = tokenizer.decode_bytes(_ids(read_bytes(options.path)))
    if sys.stdout.isatty():
        text = data.decode(errors="backslashreplace")
        print("\n".join(map(visible, text.split("\n"))))
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return 0


def _ids(data: bytes) -> list[int]:
    """The ids in `data`, as `ids_in` finds them. Raises `TextError` for anything else."""
    found = ids_in(data.decode(errors="backslashreplace"))
    if found.odd:
        before, word = found.odd[0]
        raise TextError(f"These are no token ids: behind {before:,} of them stands {quoted(word)}; give numbers alone.")
    return found.ids
