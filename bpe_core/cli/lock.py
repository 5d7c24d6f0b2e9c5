"""`lock` and `check`: record which ids a tokenizer gives, and check whether a tokenizer still gives them."""

import json
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command
from bpe_core.cli.diff import EXIT_CODES, written_text
from bpe_core.cli.streams import open_tokenizer, print_fetching
from bpe_core.difference import Difference
from bpe_core.difference.check import check, check_probes
from bpe_core.difference.libraries import LIBRARIES, of_library
from bpe_core.difference.lock import lock, read_lock
from bpe_core.difference.records import Witness, label_of_id
from bpe_core.errors import OptionError
from bpe_core.formats.file import tokenizer_at
from bpe_core.hub import encoding_of, located
from bpe_core.process import print_to_stderr
from bpe_core.report import ReportTable, aligned
from bpe_core.visible import counted, visible
from bpe_core.whole_file import check_place


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_lock)
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    parser.add_argument(
        "-o", "--output", required=True, metavar="LOCK", help="the lock to write"
    )
    parser.add_given_pattern()
    parser = add_command(commands, run_check)
    parser.add_argument("lock", metavar="LOCK", help="a lock that bpescope lock wrote")
    parser.add_argument("tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    parser.add_argument(
        "--with",
        dest="library",
        choices=LIBRARIES,
        help="also check the ids that this library gives",
    )
    parser.add_given_pattern()
    parser.add_flag("json", "print one JSON object")


def run_lock(options: Namespace) -> int:
    """Write a lock: a file that records which ids a tokenizer gives.

    lock tokenizer.json -o tokenizer.lock
    lock gpt-4o -o gpt-4o.lock

    A lock is a text file to commit. It has a digest of each part of the tokenizer, and a few hundred
    texts with their ids (probes): numbers, white space, scripts, special tokens, and tokens of this
    tokenizer.
    """
    path = tokenizer_at(Path(located(options.tokenizer, print_fetching)))
    if os.path.realpath(options.output) == os.path.realpath(path):
        raise OptionError(
            f"{visible(options.output)} is the tokenizer; name another file for the lock."
        )
    check_place(options.output)
    made = lock(open_tokenizer(str(path), options.pattern))
    made.save(options.output)
    texts = counted(len(made.probes), "text")
    print_to_stderr(f"Wrote {texts} with their ids to {visible(options.output)}.")
    return 0


def run_check(options: Namespace) -> int:
    """Check a tokenizer against a lock, and show the shortest text that gets different ids.

    check tokenizer.lock tokenizer.json
    check tokenizer.lock model/ --with transformers
    check gpt-4o.lock gpt-4o --with tiktoken --json

    With tokenizers or transformers, the library reads the file or folder. With tiktoken, the library
    uses its own encoding of that name, or gets the ranks, pattern and special tokens of a file. The
    library must be installed.

    Exit code 0: the same. 1: different. 3: unknown, because data changed but no text shows it.
    """
    if options.pattern and options.library in ("tokenizers", "transformers"):
        raise OptionError(
            f"--with {options.library} reads the pattern from the file; leave out --pattern."
        )
    locked = read_lock(options.lock)
    path = located(options.tokenizer, print_fetching)
    tokenizer = open_tokenizer(str(path), options.pattern)
    found = check(locked, tokenizer)
    as_json = found.as_json()
    lines = list(_report(found, options.tokenizer, options.lock))
    exit_code = EXIT_CODES[found.verdict]
    if options.library:
        encoding = None
        if path != options.tokenizer and not options.pattern:
            encoding = encoding_of(options.tokenizer)
        library = of_library(options.library, Path(path), tokenizer, encoding)
        found = check_probes(locked, library)
        name = f"{options.library} {version(options.library)}"
        as_json["library"] = {"name": name} | found.as_json()
        lines += _report(found, name, options.lock)
        if found.verdict == "different":
            exit_code = EXIT_CODES["different"]
    if options.json:
        print(json.dumps(as_json))
    else:
        for line in lines:
            print(visible(line))
    return exit_code


def _report(found: Difference, name: str, lock: str) -> Iterator[str]:
    """Yield whether a tokenizer or library agrees with a lock, what changed, and the shortest probe that shows it."""
    probes = counted(found.n_tried, "probe")
    match found.verdict:
        case "same":
            yield f"{name} agrees with {lock} on {probes}."
        case "unknown":
            yield f"{name} may differ from {lock}: its data differ, but none of {probes} shows it."
        case "different":
            yield f"{name} does not agree with {lock}."
    yield from found.reasons
    for cause in found.causes:
        yield cause.what
    if found.verdict == "different" and found.reasons:
        yield "So the difference comes from another version of bpescope or of Unicode."
    witness = found.witness
    if witness is None:
        if found.verdict == "different":
            yield "No probe shows it, but the digest proves that some id has other bytes now."
        return
    if isinstance(witness, Witness):
        shown = f"text {written_text(witness)}"
        results = [_listed(witness.a), _listed(witness.b)]
    else:
        shown = f"ids {_listed(witness.ids)}, decoded"
        results = [label_of_id(witness.a), label_of_id(witness.b)]
    yield f"The shortest of {probes} that shows it: {shown}"
    rows = [["lock", results[0]], [name, results[1]]]
    for row in aligned(ReportTable(["", ""], rows, ())):
        yield f"  {row}"


def _listed(ids: Sequence[int] | None) -> str:
    if ids is None:
        return "an error"
    return " ".join(map(str, ids)) or "nothing"
