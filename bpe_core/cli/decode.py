"""`decode`: token ids into the bytes that they stand for."""

import sys
from argparse import Namespace

from bpe_core import untrusted_json
from bpe_core.cli.arguments import Subcommands, add_command, add_input, add_tokenizer
from bpe_core.cli.source import read_bytes
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.errors import TextError
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
    add_input(parser, "ids separated by spaces, or what encode --json printed")


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
    """The ids in `data`: separated by whitespace, or a JSON list of them, or a JSON object that has one as "ids"."""
    try:
        if data.lstrip()[:1] not in (b"[", b"{"):
            return list(map(_id, data.split()))
        body = untrusted_json.parse(data)
        ids = body["ids"] if isinstance(body, dict) else body
        if all(type(token) is int for token in ids):
            return list(ids)
    except (ValueError, KeyError, TypeError) as error:
        raise TextError(f"These are no token ids ({error}); give numbers separated by spaces.") from error
    raise TextError("These are no token ids; give numbers separated by spaces.")


def _id(word: bytes) -> int:
    """`word` as a number; ValueError with `word` in its message if it is none."""
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{quoted(word.decode(errors='backslashreplace'))} is no number") from None
