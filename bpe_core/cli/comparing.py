"""Encoding texts with several tokenizers, and telling what was found: all that `compare` and `measure` share."""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from bpe_core.cli.arguments import A_TOKENIZER
from bpe_core.cli.report import report_to_person
from bpe_core.cli.source import is_stream, text_blocks
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.errors import OptionError, TextError
from bpe_core.metrics import Comparison
from bpe_core.metrics.morphology import read_morphemes
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted, shortened, visible
from bpe_core.worker.compare import Text, compare, disk_texts, summary, texts_as_json
from bpe_core.worker.job import Job


def add_tokenizers(parser: ArgumentParser, number: str) -> None:
    """Declare tokenizers and their patterns; `number` says in the help how many there can be."""
    parser.add_argument(
        "-t", "--tokenizer", action="append", required=True, metavar="TOKENIZER", help=f"{A_TOKENIZER}; {number}"
    )
    parser.add_argument(
        "--pattern",
        action="append",
        metavar="P",
        help="how text is split, where TOKENIZER does not say it, or wrongly; once for all of them, or once for each, "
        'in their order, and "" for one that says it',
    )


def add_texts(parser: ArgumentParser, number: str) -> None:
    """Declare tokenizers as `add_tokenizers` does, the texts, and what is counted of them."""
    add_tokenizers(parser, number)
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
    parser.add_argument(
        "--morphemes",
        metavar="FILE",
        help="words as their morphemes, one a line, such as un+break+able; tells how far tokens follow them",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")


def run_comparison(options: Namespace, tables: Callable[[Comparison], str]) -> int:
    """Encode the texts of `add_texts` with all tokenizers, and print what was found; 130 if a signal cut it short.

    `tables` gives what to print for a person. `options` must have `sections`, `reference`, `examples` and `lines`, too.
    """
    with closing(Job(report_to_person())) as job:
        comparison = Comparison(opened(options), _words(options.morphemes) if options.morphemes else ())
        compare(comparison, _texts(options.paths or ["-"], job), job, sections=options.sections)
        if job.stopped:
            job.say("Interrupted before all texts were encoded.")
            return 130
        names = [name for text in comparison.texts for name in (text.amounts.name, text.folder)]
        if options.reference is not None and options.reference not in names:
            raise OptionError(
                f"There is no text or folder called {quoted(options.reference)} to relate parity to; "
                f"there are {shortened(', '.join(dict.fromkeys(names)), 200)}."
            )
    if options.json:
        found = summary(
            comparison,
            options.tokenizer,
            reference=options.reference,
            n_examples=options.examples,
            n_lines=options.lines,
        )
        json.dump(found | {"texts": texts_as_json(comparison, options.reference)}, sys.stdout, ensure_ascii=True)
        print()
    else:
        print(tables(comparison))
    return 0


def _words(path: str) -> Sequence[Sequence[str]]:
    try:
        return read_morphemes("".join(text_blocks(path)))
    except TextError as error:
        name = visible(shortened(path, 200))
        raise error if name in str(error) else TextError(f"{name}: {error}") from None


def opened(options: Namespace) -> list[Tokenizer]:
    """The tokenizers, each with its pattern. Raises what `open_tokenizer` raises, and `OptionError`."""
    names: list[str] = options.tokenizer
    patterns: list[str] = options.pattern or [""]
    if len(patterns) not in (1, len(names)):
        raise OptionError(
            f"There are {len(names)} tokenizers and {len(patterns)} patterns; give --pattern once, or once for each."
        )
    patterns *= len(names) // len(patterns)
    return [open_tokenizer(name, pattern or None) for name, pattern in zip(names, patterns, strict=True)]


def labels(tokenizers: Sequence[Tokenizer], names: Sequence[str]) -> list[str]:
    """What the tokenizers are called in tables: as short as tells them apart."""
    found = [one.name or Path(name).name or name for one, name in zip(tokenizers, names, strict=True)]
    for index, label in enumerate(found):
        if found.count(label) > 1 and not tokenizers[index].name:
            found[index] = os.path.join(Path(names[index]).parent.name, label)
    return [visible(label) for label in found]


def _texts(paths: list[str], job: Job) -> Iterator[Text]:
    """The texts of all files, or that of stdin."""
    if len(paths) == 1 and is_stream(paths[0]):
        return iter([Text("stdin", "", "", "".join(text_blocks(paths[0])))])
    if "-" in paths:
        raise OptionError("What comes in on stdin (-) is compared by itself; leave out the other texts, or the -.")
    return disk_texts(paths, job)
