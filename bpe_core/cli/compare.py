"""`measure` and `compare`: the metrics of one tokenizer or several on the same texts."""

import json
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Final

from bpe_core.cli.arguments import (
    A_TOKENIZER,
    TEXTS,
    Parser,
    Subcommands,
    add_command,
    natural,
)
from bpe_core.cli.compare_report import report_sections
from bpe_core.cli.streams import (
    StderrReporter,
    only_stream,
    open_tokenizer,
    text_blocks,
)
from bpe_core.corpus.streams import name_of
from bpe_core.errors import OptionError
from bpe_core.metrics.catalog import METRICS, OF_PARTS
from bpe_core.metrics.comparison import Comparison
from bpe_core.metrics.morphemes import read_morphemes
from bpe_core.process import INTERRUPTED
from bpe_core.report import as_csv, as_latex, as_markdown, as_text
from bpe_core.visible import quoted, shortened
from bpe_core.worker.compare import ComparedReading
from bpe_core.worker.comparison_json import (
    TokenizerSource,
    summary,
    texts_as_json,
)
from bpe_core.worker.job import Job

_OTHER_NAMES: Final = {"strr": "whole_words"}
"""Names under which metrics are published -> their names here."""


def add(commands: Subcommands) -> None:
    metrics = _describe_metrics(METRICS)
    parser = add_command(commands, run_measure, f"metrics:\n{metrics}")
    _add_arguments(parser, "repeatable")
    parser.set_defaults(
        compares=False, reference=None, metrics=None, examples=0, lines=0
    )
    metrics = _describe_metrics(OF_PARTS)
    parser = add_command(
        commands, run_compare, f"metrics of each text, folder and script:\n{metrics}"
    )
    _add_arguments(parser, "two or more")
    parser.set_defaults(compares=True)
    parser.add_value(
        "--reference",
        "NAME",
        "the text or folder that parity is relative to (default: the first)",
        None,
    )
    parser.add_value(
        "--metrics",
        "M,...",
        "the metrics to print for each text, folder and script; see below",
        None,
        type=_parse_metrics,
    )
    parser.add_value(
        "--examples",
        "N",
        "print the N most frequent disagreements with each tokenizer (default: %(default)s)",
        10,
        type=natural,
    )
    parser.add_value(
        "--lines",
        "N",
        "for each tokenizer, print the N lines with the most extra tokens (default: %(default)s)",
        10,
        type=natural,
    )


def _describe_metrics(keys: Iterable[str]) -> str:
    width = max(map(len, keys))
    return "\n".join(f"  {key:{width}}  {METRICS[key].meaning}" for key in keys)


def _add_arguments(parser: Parser, n_tokenizers: str) -> None:
    """Add the arguments of both commands; `n_tokenizers` describes how often to give -t."""
    parser.add_value(
        "-t --tokenizer",
        "TOKENIZER",
        f"{A_TOKENIZER}; {n_tokenizers}",
        None,
        action="append",
        required=True,
    )
    pattern = (
        "split text by this pattern instead of TOKENIZER's own; give it once for all "
        'tokenizers, or once per tokenizer in the same order, with "" to keep its own pattern'
    )
    parser.add_value("--pattern", "P", pattern, None, action="append")
    parser.add_argument("paths", nargs="*", metavar="PATH", help=TEXTS)
    parser.add_flag(
        "sections",
        'treat each part of a text that begins with a line "# Title" as a text of its own, such '
        "as a translation; parity is relative to the first part",
    )
    parser.add_value(
        "--morphemes",
        "FILE",
        "a file with one word per line, divided into morphemes, such as un+break+able; adds "
        "metrics of how well tokens match morphemes",
    )
    parser.add_forms(
        json="print one JSON object",
        markdown="print tables in Markdown",
        csv="print tables as CSV",
        latex="print tables in LaTeX (they need the package booktabs)",
    )


def _parse_metrics(text: str) -> tuple[str, ...]:
    """Parse the value of --metrics."""
    keys = []
    for name in text.split(","):
        key = name.strip().replace(" ", "_")
        key = _OTHER_NAMES.get(key, key)
        if key not in OF_PARTS:
            raise ArgumentTypeError(
                f"unknown metric {quoted(key)}; choose from {', '.join(OF_PARTS)}"
            )
        keys.append(key)
    return tuple(dict.fromkeys(keys))


def run_measure(options: Namespace) -> int:
    """Measure a tokenizer on texts: compression, fertility, entropies and more.

    measure -t gpt-4o book.txt
    measure -t gpt2 -t gpt-4o --json my_texts/
    measure -t mine.json --morphemes words.txt book.txt

    A long text is read in parts, between places where all tokenizers split. If one of the patterns
    has no such places (such as "none"), the whole text is kept in memory, which takes about 60
    times its size.
    """
    return _run(options)


def run_compare(options: Namespace) -> int:
    """Compare tokenizers on the same texts.

    compare -t gpt2 -t gpt-4o my_texts/
    compare -t mine.json -t gpt-4o --sections tale-in-many-languages.txt
    compare -t mine.json -t gpt-4o --reference en --metrics tokens,parity translations/
    compare -t mine.json -t gpt-4o --json notes.md

    Each of the other tokenizers is compared with the first one.

    A long text is read in parts, between places where all tokenizers split. If one of the patterns
    has no such places (such as "none"), the whole text is kept in memory, which takes about 100
    times its size with two tokenizers.
    """
    if len(options.tokenizer) < 2:
        raise OptionError(
            "compare needs two tokenizers; name a second one with -t, or use measure."
        )
    return _run(options)


def _run(options: Namespace) -> int:
    """Measure all texts with all tokenizers, and print the results."""
    paths = options.paths or ["-"]
    stream = only_stream(paths)
    blocks: Iterable[str] = ()
    if stream:
        paths = []
        blocks = text_blocks(stream)
    # Encoding one part of a text takes less than `patience`.
    with closing(Job(StderrReporter(), patience=0.5)) as job:
        sources = _sources(options)
        tokenizers = [
            open_tokenizer(name, pattern or None) for name, pattern in sources
        ]
        words: Sequence[tuple[str, ...]] = ()
        if options.morphemes:
            text = "".join(text_blocks(options.morphemes))
            words = read_morphemes(text, name_of(options.morphemes))
        comparison = Comparison(tokenizers, words)
        ComparedReading(comparison, job, options.sections).read(paths, blocks)
        if job.stopped:
            job.say("Interrupted before all texts were encoded.")
            return INTERRUPTED
        if options.reference is not None:
            _check_reference(options.reference, comparison)
        results = summary(
            comparison,
            sources,
            reference=options.reference,
            n_examples=options.examples,
            n_lines=options.lines,
            progress=partial(job.progress, "comparing"),
        )
    results["texts"] = texts_as_json(comparison, options.reference)
    print(_format_results(results, options), end="")
    return 0


def _sources(options: Namespace) -> list[TokenizerSource]:
    """Return the tokenizers, each with its --pattern, or all with the only --pattern."""
    names = options.tokenizer
    patterns = options.pattern or [""]
    if len(patterns) == 1:
        patterns = patterns * len(names)
    if len(patterns) != len(names):
        raise OptionError(
            f"There are {len(names)} tokenizers and {len(patterns)} patterns; give --pattern "
            "once, or once for each tokenizer."
        )
    return list(zip(names, patterns, strict=True))


def _check_reference(reference: str, comparison: Comparison) -> None:
    """Raise `OptionError` if no text and no folder has this name."""
    names = [text.amounts.name for text in comparison.texts]
    names += [text.folder for text in comparison.texts if text.folder]
    if reference not in names:
        raise OptionError(
            f"--reference: no text or folder is called {quoted(reference)}; choose from "
            f"{shortened(', '.join(dict.fromkeys(names)), 200)}."
        )


def _format_results(results: Mapping[str, Any], options: Namespace) -> str:
    """Return the results as JSON, or as a report in the chosen form."""
    if options.json:
        return json.dumps(results) + "\n"
    metrics = options.metrics
    if metrics is None:
        has_reference = options.sections or options.reference
        metrics = ("tokens", "parity" if has_reference else "bytes_per_token")
    is_for_terminal = not (options.markdown or options.csv or options.latex)
    sections = list(
        report_sections(results, metrics, is_for_terminal, options.compares)
    )
    if options.markdown:
        return as_markdown("Tokenizers", sections)
    if options.csv:
        return as_csv(sections)
    if options.latex:
        return as_latex(sections)
    return as_text(sections)
