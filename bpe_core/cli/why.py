"""`why`: explain why a merge was chosen, where its pair occurs and what became of its token."""

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import Final

from bpe_core.cli.arguments import (
    A_TOKENIZER,
    Subcommands,
    add_command,
    integer,
    natural,
)
from bpe_core.cli.streams import StderrReporter, open_tokenizer
from bpe_core.content.presets import PRESETS, Preset
from bpe_core.errors import OptionError
from bpe_core.explain.merge_choice import (
    GIVEN,
    CorpusPiece,
    MergeChoice,
    PairRanking,
)
from bpe_core.explain.pair_counts import Pair
from bpe_core.explain.places import CorpusPlace
from bpe_core.explain.trace import token_uses
from bpe_core.report import ReportTable, Section, as_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import cells, counted, token_label
from bpe_core.weighted import for_programs, formatted
from bpe_core.worker.explain import Subject
from bpe_core.worker.job import Job

_LATER_MERGES_SHOWN: Final = 8


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_why)
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="the texts that TOKENIZER was trained on",
    )
    parser.add_value("-t --tokenizer", "TOKENIZER", A_TOKENIZER, None)
    parser.add_argument(
        "--preset", choices=PRESETS, help="a published example with its own text"
    )
    parser.add_given_pattern()
    parser.add_value(
        "--step",
        "N",
        "explain only merge number N, from 1 (default: all merges)",
        None,
        type=integer,
    )
    parser.add_value(
        "--rows",
        "N",
        "print the N most frequent pairs after each merge (default: %(default)s)",
        12,
        type=natural,
    )
    parser.add_flag("json", "print one JSON object per step")


def run_why(options: Namespace) -> int:
    """Explain why a merge was chosen, and count the pairs after it.

    why -t mine.json --step 311 my_texts/
    why --preset S2
    """
    preset = PRESETS.get(options.preset)
    if options.tokenizer and not (options.paths or preset):
        raise OptionError(
            "why needs texts to count the pairs in; name the texts that the tokenizer was "
            "trained on."
        )
    tokenizer = _find_tokenizer(options, preset)
    subject = Subject.of_file(tokenizer, options.paths, preset)
    shows_all = options.step is None
    with closing(Job(StderrReporter())) as job:
        subject.count(job)
        if shows_all:
            subject.read_once()
    steps = range(subject.tokenizer.step + 1) if shows_all else (options.step,)
    for step in steps:
        if options.json:
            # First the explanation, which raises if there is no such step.
            fields = asdict(subject.explanation(step))
            fields["places"] = [asdict(place) for place in subject.places(step)]
            print(json.dumps(fields, default=for_programs))
        else:
            print(as_text(_report(subject, step, options.rows)))
    return 0


def _find_tokenizer(options: Namespace, preset: Preset | None) -> Tokenizer:
    """Open the tokenizer that -t names, or train the preset's tokenizer."""
    if options.tokenizer:
        return open_tokenizer(options.tokenizer, options.pattern)
    if preset:
        return preset.train()
    raise OptionError(
        "why needs a tokenizer; name one with -t and the texts it was trained on, or choose a "
        "--preset."
    )


def _report(subject: Subject, step: int, n_rows: int) -> Iterator[Section]:
    """Yield the explanation of a merge, and the most frequent pairs after it."""
    explanation = subject.explanation(step)
    tokenizer = subject.tokenizer
    choice = explanation.choice
    pieces = list(_describe_pieces(explanation.words, tokenizer))
    if choice:
        pair = _labels(tokenizer, (choice.left, choice.right), " + ")
        token = _labels(tokenizer, (choice.token,))
        heading = f"Step {step:,}: {pair} → {token} (id {choice.token})"
        sentences = list(_describe_choice(choice, tokenizer, subject.rules.ties, step))
        sentences += map(_describe_place, subject.places(step))
        sentences += _describe_uses(tokenizer, step)
        yield Section(heading, sentences + pieces)
    elif pieces:
        yield Section(sentences=pieces)
    yield _ranking(explanation.table, step, tokenizer, n_rows)


def _describe_choice(
    choice: MergeChoice, tokenizer: Tokenizer, ties: str, step: int
) -> Iterator[str]:
    """Explain by which counts and which tie rule the pair was chosen."""

    def label(pair: Pair) -> str:
        return _labels(tokenizer, pair, " + ")

    pair = (choice.left, choice.right)
    is_given = tokenizer.record is not None and step <= tokenizer.record.n_given
    if is_given:
        yield GIVEN
    if choice.count < choice.most:
        times = counted(choice.count, "time")
        counts = (
            f"The pair occurs {times} here, other pairs up to {formatted(choice.most)}"
        )
        if is_given:
            yield f"{counts}."
        else:
            yield f"{counts}: the tokenizer was trained on other texts."
    elif choice.n_tied == 1:
        yield f"The most frequent pair: it occurs {counted(choice.count, 'time')}."
    else:
        taken = "this one" if choice.by_rule.get(ties) == pair else "another one"
        times = counted(choice.count, "time")
        yield f"{choice.n_tied:,} pairs occur {times}; the tie rule {ties!r} takes {taken}:"
        tied = [label(tied_pair) for tied_pair in choice.tied]
        if choice.n_tied > len(tied):
            tied.append("…")
        yield ", ".join(tied)
        for rule, taken_pair in choice.by_rule.items():
            mark = " ●" if taken_pair == pair else ""
            yield f"  {rule:10} {label(taken_pair)}{mark}"
    if choice.runners_up:
        next_pairs = [
            f"{label((row.left, row.right))} {formatted(row.times)}"
            for row in choice.runners_up
        ]
        yield f"next: {', '.join(next_pairs)}"
    if choice.n_joined < choice.count:
        yield f"{formatted(choice.n_joined)} occurrences are joined; the others overlap these."
    n_new = counted(choice.n_born, "new pair")
    n_changed = counted(choice.n_changed, "piece")
    yield f"{n_new}, {choice.n_vanished:,} gone, {n_changed} changed"


def _describe_place(place: CorpusPlace) -> str:
    """Show an occurrence of the pair in its line, and how many there are in the text."""
    left = token_label(place.left.encode())
    right = token_label(place.right.encode())
    line = f"{place.before.lstrip()}[{left}·{right}]{place.after.rstrip()}"
    total = f" ({formatted(place.n)} in this text)" if place.n else ""
    return f"{place.name}:{place.line}: {line}{total}"


def _describe_uses(tokenizer: Tokenizer, step: int) -> Iterator[str]:
    """Describe what became of the token, if the training record has the lengths of the corpus."""
    record = tokenizer.record
    vocabulary = tokenizer.vocabulary
    if record is None or len(record.steps) < vocabulary.n_merges:
        return
    length_after = [
        record.n_tokens_start,
        *(n_tokens for _, _, n_tokens in record.steps),
    ]
    uses = token_uses(vocabulary, length_after.__getitem__, step)
    yield f"{counted(uses.made, 'use')} when made, {formatted(uses.left)} left at the end"
    for absorption in uses.absorbed[:_LATER_MERGES_SHOWN]:
        token = _labels(tokenizer, (absorption.token,))
        yield f"  step {absorption.step:,}: {formatted(absorption.n)} became part of {token}"
    n_more = len(uses.absorbed) - _LATER_MERGES_SHOWN
    if n_more > 0:
        yield f"  and {counted(n_more, 'more merge')}"


def _describe_pieces(
    pieces: Iterable[CorpusPiece], tokenizer: Tokenizer
) -> Iterator[str]:
    """Show the tokens of pieces before and after the merge, aligned at the arrow."""
    pieces = list(pieces)
    before = [_labels(tokenizer, piece.before) for piece in pieces]
    width = max(map(cells, before), default=0)
    for piece, tokens in zip(pieces, before, strict=True):
        line = f"{f'{formatted(piece.times)} ×':>8} {tokens}"
        if piece.after != piece.before:
            space = " " * (width - cells(tokens))
            line += f"{space} → {_labels(tokenizer, piece.after)}"
        yield line


def _labels(tokenizer: Tokenizer, ids: Iterable[int], separator: str = " ") -> str:
    return separator.join(token_label(tokenizer.token_bytes(id)) for id in ids)


def _ranking(
    ranking: PairRanking, step: int, tokenizer: Tokenizer, n_rows: int
) -> Section:
    """Make the table of the most frequent pairs."""
    rows = []
    for place, row in enumerate(ranking.rows[:n_rows]):
        is_tied = ranking.n_tied > 1 and place < ranking.n_tied
        pair = _labels(tokenizer, (row.left, row.right), " + ")
        change = formatted(row.change, signed=True) if row.change else ""
        rows.append([pair, formatted(row.times), change, "tied" if is_tied else ""])
    moment = f"After step {step:,}" if step else "Before the first merge"
    n_pairs = counted(ranking.n_pairs, "pair")
    table = ReportTable(["pair", "count", "change", ""], rows, numbers=(1, 2))
    return Section(
        f"{moment}: {formatted(ranking.n_tokens)} tokens, {n_pairs}", table=table
    )
