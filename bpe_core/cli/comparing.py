"""Encoding texts with several tokenizers, and telling what was found: all that `compare` and `measure` share."""

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from bpe_core.cli.arguments import A_TOKENIZER, add_stream
from bpe_core.cli.comparison_json import as_json, texts_as_json
from bpe_core.cli.control import Control
from bpe_core.cli.counting import PROGRESS_EVERY
from bpe_core.cli.events import Counting, Done, Skipped
from bpe_core.cli.report import Report, report_to
from bpe_core.cli.result_events import Compared, ComparedTexts
from bpe_core.cli.source import is_stream, text_blocks
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.corpus import find_files
from bpe_core.errors import OptionError, TextError
from bpe_core.metrics import Comparison, sections
from bpe_core.metrics.morphology import read_morphemes
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted, shortened, visible

ROWS: Final = 256
"""Texts in one event at most."""


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
    add_stream(parser)


def run_comparison(options: Namespace, tables: Callable[[Comparison], str]) -> int:
    """Encode the texts of `add_texts` with all tokenizers, and print what was found; 130 if a signal cut it short.

    `tables` gives what to print for a person. `options` must have `sections`, `reference`, `examples` and `lines`, too.
    """
    began = time.monotonic()
    with (
        closing(Control(stdin=options.stream)) as control,
        closing(report_to(options.stream, control)) as report,
    ):
        comparison = Comparison(opened(options), _words(options.morphemes) if options.morphemes else ())
        _add_texts(comparison, options, control, report)
        if control.stopped == "interrupted":
            report.say("Interrupted before all texts were encoded.")
            report.send(Done(control.stopped, 0, time.monotonic() - began))
            return 130
        names = [name for text in comparison.texts for name in (text.amounts.name, text.folder)]
        if options.reference is not None and options.reference not in names:
            raise OptionError(
                f"There is no text or folder called {quoted(options.reference)} to relate parity to; "
                f"there are {shortened(', '.join(dict.fromkeys(names)), 200)}."
            )
        report.send(Counting(1, 1, "all texts"))
        found = as_json(comparison, options) if options.stream or options.json else {}
        report.send(Compared(found))
        report.send(Done(control.stopped or "compared", len(comparison.texts), time.monotonic() - began))
    if options.json:
        json.dump(found | {"texts": texts_as_json(comparison, options)}, sys.stdout, ensure_ascii=True)
        print()
    elif not options.stream:
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


def _add_texts(comparison: Comparison, options: Namespace, control: Control, report: Report) -> None:
    """Add the texts of `add_texts` to the comparison, until the control says stop; sends how far that is.

    With `options.sections`, each section of a text is a text of its own. Raises TextError for a path that cannot be
    read, and OptionError if there is no text.
    """
    labels = [one.name or "" for one in comparison.tokenizers]
    n_sent, shown = 0, 0.0
    for done, total, size, name, path, folder, text in _texts(options.paths or ["-"], report):

        def progress(index: int, done: int = done, total: int = total, size: int = size, name: str = name) -> None:
            nonlocal n_sent, shown
            control.receive()
            if time.monotonic() - shown >= PROGRESS_EVERY:
                shown = time.monotonic()
                n_sent += _send_texts(comparison, n_sent, report)
                done += size * index // len(labels)
                report.send(Counting(done, total, f"{name} ({labels[index]})" if labels[index] else name))

        progress(0)
        if control.stopped:
            break
        if not options.sections:
            comparison.add(name, text, path=path, folder=folder, encoding=progress)
            continue
        for title, part, line in sections(text):
            comparison.add(title, part, line=line, path=path, folder=folder, encoding=progress)
    while n_sent < len(comparison.texts):
        n_sent += _send_texts(comparison, n_sent, report)
    if not comparison.texts and not control.stopped:
        raise OptionError('There is no line "# Title" in these texts; leave out --sections.')


def _send_texts(comparison: Comparison, first: int, report: Report) -> int:
    """Send the texts from `first` on, `ROWS` at most; how many these were."""
    texts = comparison.texts[first : first + ROWS]
    if texts:
        report.send(ComparedTexts.of(texts))
    return len(texts)


def _texts(paths: list[str], report: Report) -> Iterator[tuple[int, int, int, str, str, str, str]]:
    """(bytes before it, bytes of all, its bytes on disk, name, path, folder, text) of each file in `paths`, or of
    stdin, which has no path. Sends what is skipped."""
    if len(paths) == 1 and is_stream(paths[0]):
        yield 0, 0, 0, "stdin", "", "", "".join(text_blocks(paths[0]))
        return
    if "-" in paths:
        raise OptionError("What comes in on stdin (-) is compared by itself; leave out the other texts, or the -.")
    found = find_files(paths, every_character=True)
    for skipped in found.skipped:
        report.send(Skipped(str(skipped.path), skipped.reason))
    roots = [Path(path) for path in paths if os.path.isdir(path)]
    done, total = 0, sum(file.size for file in found.files)
    for file in found.files:
        yield done, total, file.size, file.name, str(file.path), _folder(file.path, roots), "".join(file.blocks())
        done += file.size


def _folder(path: Path, roots: Sequence[Path]) -> str:
    """The folder that a text is counted with: of those directly in one that was named, the one that holds it; the
    named one itself, or that of a named file, where there is none between."""
    for root in roots:
        if root in path.parents:
            between = path.relative_to(root).parts[:-1]
            return between[0] if between else root.name or root.resolve().name
    return path.parent.name or path.resolve().parent.name
