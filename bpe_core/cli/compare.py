"""`measure` and `compare`: what one tokenizer or several make of texts."""

import json
import os
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bpe_core.cli.arguments import (
    A_TOKENIZER,
    Parser,
    Subcommands,
    add_command,
    natural,
)
from bpe_core.cli.streams import StderrReporter, open_tokenizer, text_blocks
from bpe_core.corpus.streams import is_stream
from bpe_core.errors import OptionError
from bpe_core.metrics.boundaries import read_morphemes
from bpe_core.metrics.catalog import METRICS, OF_PARTS
from bpe_core.metrics.comparison import WITHOUT_SPACES, Comparison
from bpe_core.process import INTERRUPTED
from bpe_core.report import ReportTable, Section, as_csv, as_latex, as_markdown, as_text
from bpe_core.visible import counted, quoted, shortened, token_label, visible
from bpe_core.worker.compare import compare
from bpe_core.worker.comparison_json import summary, texts_as_json
from bpe_core.worker.job import Job

_Found = Mapping[str, Any]  # `summary`, or a part of it


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_measure, f"metrics:\n{_meanings(METRICS)}")
    _add_arguments(parser, "repeatable")
    parser.set_defaults(reference=None, examples=0, lines=0)
    parser = add_command(
        commands,
        run_compare,
        f"metrics of each text, folder and script:\n{_meanings(OF_PARTS)}",
    )
    _add_arguments(parser, "two or more")
    parser.add_value(
        "--reference",
        "NAME",
        "the text or folder that parity relates to; the first if left out",
        None,
    )
    shown = "what is told of each text, folder and script; see below"
    parser.add_value("--metrics", "M,...", shown, None, type=_metrics)
    parser.add_value(
        "--examples", "N", "disagreements shown (%(default)s)", 10, type=natural
    )
    worst = "lines shown of those for which a tokenizer needs the most more tokens than another (%(default)s)"
    parser.add_value("--lines", "N", worst, 10, type=natural)


def _meanings(keys: Iterable[str]) -> str:
    return "\n".join(f"  {key:21} {METRICS[key].meaning}" for key in keys)


def _add_arguments(parser: Parser, number: str) -> None:
    """Declare tokenizers, `number` of them as the help says, the texts, and how these are read."""
    which = f"{A_TOKENIZER}; {number}"
    parser.add_value(
        "-t --tokenizer", "TOKENIZER", which, None, action="append", required=True
    )
    split = (
        "how text is split, where TOKENIZER does not say it, or wrongly; once for all of them, or once for each, "
        'in their order, and "" for one that says it'
    )
    parser.add_value("--pattern", "P", split, None, action="append")
    texts = "a text, packed ones and those with rows too, or a folder of them; stdin, in UTF-8, if left out or -"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=texts)
    parser.add_flag(
        "sections",
        'take each part of a text that begins with a line "# Title" as a text of its own, and tell its tokens for '
        "each one of the first part: parity, if they are translations",
    )
    morphemes = "words as their morphemes, one a line, such as un+break+able; tells how far tokens follow them"
    parser.add_value("--morphemes", "FILE", morphemes)
    forms = {
        "json": "one JSON object",
        "markdown": "tables in Markdown",
        "csv": "tables as CSV",
    }
    parser.add_forms(**forms, latex="tables in LaTeX, with booktabs")


def _metrics(text: str) -> tuple[str, ...]:
    named = (key.strip().replace(" ", "_") for key in text.split(","))
    keys = tuple(dict.fromkeys(named))
    for key in keys:
        if key not in OF_PARTS:
            raise ArgumentTypeError(
                f"there is no metric {quoted(key)} of a text; there are {', '.join(OF_PARTS)}"
            )
    return keys


def run_measure(options: Namespace) -> int:
    """Measure how a tokenizer does on texts: compression, fertility, entropies and more.

    measure -t gpt-4o book.txt
    measure -t gpt2 -t gpt-4o --json my_texts/
    measure -t mine.json --morphemes words.txt book.txt

    A long text is read in parts, cut where all tokenizers cut. If the pattern of one has no such places ("none" is
    one), the whole text is held, in about 60 times its size of memory.
    """
    return _run(options, compares=False)


def run_compare(options: Namespace) -> int:
    """Hold tokenizers against each other on the same texts.

    compare -t gpt2 -t gpt-4o my_texts/
    compare -t mine.json -t gpt-4o --sections tale-in-many-languages.txt
    compare -t mine.json -t gpt-4o --reference en --metrics tokens,parity translations/
    compare -t mine.json -t gpt-4o --json notes.md

    The tokenizer named first is the one that the others are compared with.

    A long text is read in parts, cut where all tokenizers cut. If the pattern of one has no such places ("none" is
    one), the whole text is held, in about 60 times its size of memory.
    """
    if len(options.tokenizer) < 2:
        raise OptionError(
            "There is only one tokenizer to compare; name a second one with -t, or see bpescope measure --help."
        )
    return _run(options, compares=True)


def _run(options: Namespace, *, compares: bool) -> int:
    names, patterns = options.tokenizer, options.pattern or [""]
    n, m = len(names), len(patterns)
    if m not in (1, n):
        raise OptionError(
            f"There are {n} tokenizers and {m} patterns; give --pattern once, or once for each."
        )
    paths = options.paths or ["-"]
    streamed: Iterable[str] = ()
    if len(paths) == 1 and is_stream(paths[0]):
        paths, streamed = [], text_blocks(paths[0])
    elif "-" in paths:
        raise OptionError(
            "What comes in on stdin (-) is compared by itself; leave out the other texts, or the -."
        )
    with closing(
        Job(StderrReporter(), patience=0.5)
    ) as job:  # a part of a text takes less
        given = zip(names, patterns * (n // m), strict=True)
        tokenizers = [open_tokenizer(name, pattern or None) for name, pattern in given]
        path = options.morphemes
        words = (
            read_morphemes("".join(text_blocks(path)), visible(shortened(path, 200)))
            if path
            else ()
        )
        comparison = Comparison(tokenizers, words)
        compare(comparison, paths, job, sections=options.sections, streamed=streamed)
        if job.stopped:
            job.say("Interrupted before all texts were encoded.")
            return INTERRUPTED
        parts = [
            name
            for text in comparison.texts
            for name in (text.amounts.name, text.folder)
        ]
        if options.reference is not None and options.reference not in parts:
            raise OptionError(
                f"There is no text or folder called {quoted(options.reference)} to relate parity to; "
                f"there are {shortened(', '.join(dict.fromkeys(parts)), 200)}."
            )
        found = summary(
            comparison,
            names,
            reference=options.reference,
            n_examples=options.examples,
            n_lines=options.lines,
            progress=partial(job.progress, "comparing"),
        )
    found["texts"] = texts_as_json(comparison, options.reference)
    if options.json:
        print(json.dumps(found))
        return 0
    sections = list(_sections(found, options, compares=compares))
    if options.markdown:
        print(as_markdown("Tokenizers", sections), end="")
    else:
        print(
            (as_csv if options.csv else as_latex if options.latex else as_text)(
                sections
            ),
            end="",
        )
    return 0


def _short_labels(found: _Found) -> list[str]:
    """Return a name for each tokenizer, no two alike and none that of another column:
    the name that its file holds or the file's own, else with the folder, else the
    path, else with a number."""
    files = list(map(Path, found["tokenizers"]))
    labels = [
        vocabulary["name"] or file.name or str(file)
        for vocabulary, file in zip(found["vocabularies"], files, strict=True)
    ]
    with_folders = [os.path.join(file.parent.name, file.name) for file in files]
    for longer in (with_folders, list(map(str, files))):
        counts = Counter([*_OTHER_COLUMNS, *labels])
        labels = [
            other if counts[label] > 1 else label
            for label, other in zip(labels, longer, strict=True)
        ]
    counts = Counter([*_OTHER_COLUMNS, *labels])
    return [
        f"{label} ({number})" if counts[label] > 1 else label
        for number, label in enumerate(labels, 1)
    ]


def _sections(
    found: _Found, options: Namespace, *, compares: bool
) -> Iterator[Section]:
    labels = _short_labels(found)
    if compares:
        usual = (
            "tokens",
            "parity" if options.sections or options.reference else "bytes_per_token",
        )
        for what, parts in (
            ("text", found["texts"]),
            ("folder", found["folders"]),
            ("script", found["scripts"]),
        ):
            if what != "folder" or len(parts) > 1:
                total = (
                    [found["total"] | {"name": "all"}]
                    if what == "text" and len(parts) > 1
                    else []
                )
                metrics = options.metrics or usual
                is_in_terminal = not (options.markdown or options.csv or options.latex)
                yield Section(
                    table=_amounts(
                        what, [*parts, *total], labels, metrics, is_in_terminal
                    )
                )
    apart = [
        part["script"] for part in found["scripts"] if part["script"] in WITHOUT_SPACES
    ]
    doubt = f"{', '.join(apart)}: written without spaces between words, so fertility and what else counts words is of"
    yield Section(
        sentences=[f"{doubt} no use there."] * bool(apart),
        table=_totals(found["total"], labels),
    )
    yield _number_splits(found["number_splits"], labels)
    if compares:
        yield from (_pair(pair, labels) for pair in found["pairs"])
        for index, lines in enumerate(found["worst_lines"]):
            if lines:
                yield _worst_lines(lines, index, labels)


_OTHER_COLUMNS = (
    "text",
    "folder",
    "script",
    "bytes",
    "all texts",
    "unit",
    "times",
    "first in",
    "more",
    "in",
    "line",
)
_SHORT = {
    "bytes_per_token": "b/token",
    "characters_per_token": "c/token",
    "continued_words": "continued",
}


def _amounts(
    what: str,
    parts: Iterable[_Found],
    labels: Sequence[str],
    metrics: Sequence[str],
    is_in_terminal: bool,
) -> ReportTable:
    """Make a row for each text, folder or script: its bytes, and the metrics for each
    tokenizer; scripts have no parity.

    The column of a tokenizer's tokens has its name. Other columns have the name and
    the metric, except in a terminal if they follow the column of its tokens.
    """
    shown = [key for key in metrics if (what, key) != ("script", "parity")]
    follows_tokens = is_in_terminal and metrics[0] == "tokens"
    columns = [(index, key) for index in range(len(labels)) for key in shown]
    heads = []
    for index, key in columns:
        title = _SHORT.get(key, METRICS[key].title)
        if key == "tokens":
            heads.append(labels[index])
        elif follows_tokens:
            heads.append(title)
        else:
            heads.append(f"{labels[index]} {title}")
    rows = []
    for part in parts:
        name = part["name" if what == "text" else what]
        values = [
            format(part[key][index], METRICS[key].form) if key in part else ""
            for index, key in columns
        ]
        rows.append(
            [
                name.replace("_", " ") if what == "script" else name,
                f"{part['bytes']:,}",
                *values,
            ]
        )
    return ReportTable(
        [what, "bytes", *heads], rows, numbers=range(1, len(columns) + 2)
    )


def _totals(total: _Found, labels: Sequence[str]) -> ReportTable:
    first, *others = total["tokens"]
    rows = (
        [
            [
                "tokens beside the first",
                "",
                *(f"{n / (first or 1) - 1:+.1%}" for n in others),
                "",
            ]
        ]
        if others
        else []
    )
    for key, metric in METRICS.items():
        if key in total:
            rows.append(
                [
                    metric.title,
                    *(format(value, metric.form) for value in total[key]),
                    metric.unit,
                ]
            )
    return ReportTable(
        ["all texts", *labels, "unit"], rows, numbers=range(1, len(labels) + 1)
    )


def _number_splits(
    number_splits: Iterable[Iterable[_Found]], labels: Sequence[str]
) -> Section:
    """How numbers of four digits or more are cut into tokens: the three most frequent splits of each tokenizer."""
    long = (
        [one for one in splits if sum(one["digits"]) > 3][:3]
        for splits in number_splits
    )
    columns = [
        [f"{'+'.join(map(str, one['digits']))} ({one['count']:,})" for one in splits]
        for splits in long
    ]
    if not any(columns):
        return Section(sentences=["No number of 4 digits or more occurs."])
    rows = zip_longest(
        ("most often", "then", "then")[: max(map(len, columns))], *columns, fillvalue=""
    )
    head = ["numbers of 4 digits and more", *labels]
    return Section(table=ReportTable(head, list(rows), numbers=range(1, len(head))))


def _pair(pair: _Found, labels: Sequence[str]) -> Section:
    one, two = (labels[index] for index in pair["tokenizers"])
    cuts, both = pair["boundaries"], pair["vocabularies"]
    sentences = [
        f"boundaries: {cuts['first']:,} of {one}, {cuts['second']:,} of {two}, {cuts['shared']:,} in common; "
        f"of those of {two}, {cuts['precision']:.3f} are in {one} too (precision); "
        f"of those of {one}, {cuts['recall']:.3f} are in {two} too (recall); F1 {cuts['f1']:.3f}",
        f"vocabularies: {counted(both['shared'], 'token')} in common, {both['only_first']:,} only in {one}, "
        f"{both['only_second']:,} only in {two}",
    ]
    for name, only in (
        (one, both["first_only_first"]),
        (two, both["first_only_second"]),
    ):
        if only:
            sentences.append(
                f"  first only in {name}: {_labels(data for _, data in only[:8])}"
            )
    sentences.append(f"the same merges up to step {both['same_merges']:,}")
    rows = [
        (
            f"{one['count']:,}",
            *map(_labels, one["tokens"]),
            f"{one['in']}:{one['line']}",
        )
        for one in pair["disagreements"]
    ]
    agree = cuts["first"] == cuts["second"] == cuts["shared"]
    sentences += ["They do not disagree."] * agree + [
        "most frequent disagreements"
    ] * bool(rows)
    table = (
        ReportTable(["times", one, two, "first in"], rows, numbers=(0,))
        if rows
        else None
    )
    return Section(f"{one} and {two}", sentences, table)


def _labels(tokens: Iterable[str]) -> str:
    return " ".join(token_label(bytes.fromhex(token)) for token in tokens)


def _worst_lines(lines: Iterable[_Found], index: int, labels: Sequence[str]) -> Section:
    """The lines for which a tokenizer needs the most more tokens than the best of the others (`WorstLine.excess`)."""
    rows = [
        [
            f"+{one['excess']:,}",
            *(f"{n:,}" for n in one["tokens"]),
            f"{one['in']}:{one['line']}",
            one["text"].strip(),
        ]
        for one in lines
    ]
    best = "the other" if len(labels) == 2 else "the best of the others"
    table = ReportTable(
        ["more", *labels, "in", "line"], rows, numbers=range(len(labels) + 1), widest=60
    )
    return Section(
        f"{labels[index]}: the lines that are worst for it, in tokens more than by {best}",
        table=table,
    )
