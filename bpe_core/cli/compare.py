"""`compare`: several tokenizers on the same texts, as tables or as JSON."""

import json
import math
import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from typing import Any

from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, add_given_pattern, integer
from bpe_core.cli.comparison_tables import tables
from bpe_core.cli.report import Report, report_to_person
from bpe_core.cli.source import is_stream, text_blocks
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.cli.wire import Counting, Skipped
from bpe_core.corpus import find_files
from bpe_core.errors import OptionError
from bpe_core.metrics import Comparison, merges_in_common, overlap, sections
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "compare",
        run,
        "Hold tokenizers against each other on the same texts.",
        (
            "-t gpt2 -t gpt-4o my_texts/",
            "-t mine.json -t gpt-4o --sections tale-in-many-languages.txt",
            "-t mine.json -t gpt-4o --price 2.50 --json notes.md",
        ),
        "The tokenizer named first is the one that the others are compared with.",
    )
    parser.add_argument(
        "-t", "--tokenizer", action="append", required=True, metavar="TOKENIZER", help=f"{A_TOKENIZER}; two or more"
    )
    add_given_pattern(parser)
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a text, also .gz and .xz, or a folder of them; stdin, in UTF-8, if left out or -",
    )
    parser.add_argument(
        "--sections",
        action="store_true",
        help='take each part of a text that begins with a line "# Title" as a text of its own, and tell its tokens for '
        "each one of the first part: parity, if they are translations",
    )
    parser.add_argument("--price", type=_price, metavar="P", help="what a million tokens cost; tells the price of all")
    parser.add_argument("--examples", type=integer, default=10, metavar="N", help="disagreements shown (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")


def run(options: Namespace) -> int:
    """Encode each text with all tokenizers and print the comparison; returns 0."""
    names: list[str] = options.tokenizer
    if len(names) < 2:
        raise OptionError("There is only one tokenizer to compare; name a second one with -t.")
    comparison = Comparison([open_tokenizer(name, options.pattern) for name in names])
    with closing(report_to_person()) as report:
        for name, text in _texts(options.paths or ["-"], report):
            for title, part in sections(text) if options.sections else [(name, text)]:
                comparison.add(title, part)
    if not comparison.texts:
        raise OptionError('There is no line "# Title" in these texts; leave out --sections.')
    if options.json:
        json.dump(_as_json(comparison, names, options), sys.stdout, ensure_ascii=True)
        print()
    else:
        labels = [one.name or os.path.basename(name) for one, name in zip(comparison.tokenizers, names, strict=True)]
        print(tables(comparison, labels, options.sections, options.price, options.examples))
    return 0


def _price(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (price := float(text)) < math.inf:
            return price
    raise ArgumentTypeError(f"{quoted(text)} is no price")


def _texts(paths: list[str], report: Report) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each file in `paths`, or of stdin; reports progress before each, and what is skipped."""
    if len(paths) == 1 and is_stream(paths[0]):
        yield "stdin", "".join(text_blocks(paths[0]))
        return
    if "-" in paths:
        raise OptionError("What comes in on stdin (-) is compared by itself; leave out the other texts, or the -.")
    found = find_files(paths, every_character=True)
    for skipped in found.skipped:
        report.send(Skipped(str(skipped.path), skipped.reason))
    done, total = 0, sum(file.size for file in found.files)
    for file in found.files:
        report.send(Counting(done, total, file.name))
        yield file.name, "".join(file.blocks())
        done += file.size


def _as_json(comparison: Comparison, names: Iterable[str], options: Namespace) -> dict[str, Any]:
    """The comparison as one JSON object; a list of numbers has one for each tokenizer, in the order of `names`."""
    tokenizers, totals = comparison.tokenizers, comparison.totals
    one = totals[0]
    found: dict[str, Any] = {
        "tokenizers": list(names),
        "vocabularies": [
            {"tokens": tokenizer.n_vocab, "merges": tokenizer.step, "pattern": tokenizer.pattern}
            for tokenizer in tokenizers
        ],
        "total": {
            "texts": one.n_texts,
            "bytes": one.n_bytes,
            "characters": one.n_characters,
            "words": one.n_words,
            "tokens": [total.n_tokens for total in totals],
            "bytes_per_token": [total.bytes_per_token for total in totals],
            "characters_per_token": [total.characters_per_token for total in totals],
            "fertility": [total.fertility for total in totals],
            "continued_words": [total.continued_words for total in totals],
            "renyi_efficiency": [total.renyi_efficiency for total in totals],
            "shannon_efficiency": [total.shannon_efficiency for total in totals],
            "utilization": [total.utilization(tokenizer) for total, tokenizer in zip(totals, tokenizers, strict=True)],
        },
        "texts": [
            {"name": text.name, "bytes": text.n_bytes, "characters": text.n_characters, "words": text.n_words}
            | {"tokens": list(text.n_tokens)}
            for text in comparison.texts
        ],
        "scripts": [
            {"script": script, "bytes": n_bytes, "tokens": list(n_tokens)}
            for script, n_bytes, n_tokens in comparison.scripts()
        ],
        "pairs": [_pair_as_json(comparison, index, options.examples) for index in range(len(comparison.pairs))],
    }
    if options.price is not None:
        found["total"]["price"] = [total.n_tokens * options.price / 1e6 for total in totals]
    return found


def _pair_as_json(comparison: Comparison, index: int, n_examples: int) -> dict[str, Any]:
    pair, first, other = comparison.pairs[index], comparison.tokenizers[0], comparison.tokenizers[index + 1]
    shared = overlap(first, other)
    return {
        "tokenizers": [0, index + 1],
        "boundaries": {
            "first": pair.agreement.n_first,
            "second": pair.agreement.n_second,
            "shared": pair.agreement.n_shared,
            "precision": pair.agreement.precision,
            "recall": pair.agreement.recall,
            "f1": pair.agreement.f1,
        },
        "vocabularies": {
            "shared": shared.n_shared,
            "only_first": len(shared.only_first),
            "only_second": len(shared.only_second),
            "same_merges": merges_in_common(first, other),
        },
        "disagreements": [
            {"text": example.stretch, "count": example.n_times, "in": example.name, "line": example.line}
            | {"tokens": [_hex(first, example.first), _hex(other, example.other)]}
            for example in pair.examples(n_examples)
        ],
    }


def _hex(tokenizer: Tokenizer, ids: Iterable[int]) -> list[str]:
    return [tokenizer.token_bytes(id).hex() for id in ids]
