"""`lock` and `check`: record which ids a tokenizer gives, and check whether a tokenizer still gives them."""

import json
import os
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command
from bpe_core.cli.diff import EXIT_CODES
from bpe_core.cli.streams import open_tokenizer, print_fetching
from bpe_core.difference.check import Check, check, check_library
from bpe_core.difference.libraries import (
    LIBRARIES,
    LibraryTokenizer,
    of_tiktoken,
    of_tokenizers,
    of_transformers,
)
from bpe_core.difference.lock import lock, read_lock
from bpe_core.difference.records import Witness, written, written_tokens
from bpe_core.errors import OptionError
from bpe_core.hub import encoding_of, located
from bpe_core.process import print_to_stderr
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible
from bpe_core.whole_file import check_place

_MOST_IDS: Final = 60
"""Maximum number of ids of one encoding that are printed."""


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
    check_place(options.output)
    made = lock(open_tokenizer(options.tokenizer, options.pattern))
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
    checks = [check(locked, tokenizer)]
    library = None
    if options.library:
        library = _library_tokenizer(options, Path(path), tokenizer)
        checks.append(check_library(locked, library.subject))
    if options.json:
        print(json.dumps(_as_json(checks, library)))
    else:
        for line in _report(options, checks, library):
            print(visible(line))
    verdicts = {found.verdict for found in checks}
    if "different" in verdicts:
        return EXIT_CODES["different"]
    return EXIT_CODES["unknown" if "unknown" in verdicts else "same"]


def _library_tokenizer(
    options: Namespace, path: Path, tokenizer: Tokenizer
) -> LibraryTokenizer:
    match options.library:
        case "tiktoken":
            encoding = None
            if not os.path.exists(options.tokenizer) and not options.pattern:
                encoding = encoding_of(options.tokenizer)
            return of_tiktoken(tokenizer, encoding)
        case "tokenizers":
            return of_tokenizers(path)
        case _:
            return of_transformers(path)


def _as_json(
    checks: list[Check], library: LibraryTokenizer | None
) -> dict[str, object]:
    found: dict[str, object] = checks[0].as_json()
    if library:
        found["library"] = {
            "name": library.name,
            "added": library.added,
            **checks[1].as_json(),
        }
    return found


def _report(
    options: Namespace, checks: list[Check], library: LibraryTokenizer | None
) -> Iterator[str]:
    found = checks[0]
    probes = counted(found.n_tried, "probe")
    name = options.tokenizer
    match found.verdict:
        case "same":
            yield f"{name} is the tokenizer of {options.lock}: all digests are equal, and {probes} agree."
        case "different":
            yield f"{name} is not the tokenizer of {options.lock}."
        case "unknown":
            yield f"{name} may differ from the tokenizer of {options.lock}: its data differ, but none of {probes} shows it."
    for change in found.changes:
        yield change.sentence
    if found.verdict == "different":
        if not found.changes:
            yield "All digests are equal, so the difference comes from another version of bpescope or of Unicode."
        yield from _shown_witness(found, "now")
    if library is None:
        return
    found = checks[1]
    if found.verdict == "same":
        yield f"{library.name} agrees with {options.lock} on {probes}."
    else:
        yield f"{library.name} does not agree with {options.lock}."
        yield from _shown_witness(found, library.name)
    if library.added:
        added = _listed(tuple(library.added))
        yield f"By default, its encode also adds the ids {added}; the check leaves them out (add_special_tokens=False)."


def _shown_witness(found: Check, name: str) -> Iterator[str]:
    """Yield the text of the witness, with the ids in the lock and those of the tokenizer or library."""
    witness = found.witness
    if witness is None:
        yield "No probe shows it, but the digest proves that some id has other bytes now."
        return
    if isinstance(witness, Witness):
        specials = ", with special tokens read" if witness.reads_specials else ""
        shown = f"The shortest is the text {written(witness.text)}{specials}:"
        rows = [_listed(witness.a), _listed(witness.b)]
    else:
        shown = f"The shortest are the ids {_listed(witness.ids)}, decoded:"
        rows = [_decoded(witness.a), _decoded(witness.b)]
    probes = counted(found.n_tried, "probe")
    yield f"{found.n_different} of {probes} give another result. {shown}"
    width = max(len(name), len("lock"))
    for label, row in zip(("lock", name), rows, strict=True):
        yield f"  {label:{width}}  {row}"


def _listed(ids: tuple[int, ...] | None) -> str:
    if ids is None:
        return "an error"
    dots = " …" if len(ids) > _MOST_IDS else ""
    return (" ".join(map(str, ids[:_MOST_IDS])) or "nothing") + dots


def _decoded(text: bytes | None) -> str:
    return written_tokens(None if text is None else [text])
