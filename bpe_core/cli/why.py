"""`why`: why a merge was chosen, where its pair stood, what came of it, and the table of pair counts after it."""

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict

from bpe_core.cli.arguments import (
    A_TOKENIZER,
    Subcommands,
    add_command,
    integer,
    natural,
)
from bpe_core.cli.streams import StderrReporter, open_tokenizer
from bpe_core.content.presets import PRESETS
from bpe_core.errors import OptionError
from bpe_core.explain.merge_choice import (
    GIVEN,
    CorpusPiece,
    MergeChoice,
    PairRanking,
)
from bpe_core.explain.pair_counts import Pair
from bpe_core.explain.trace import token_uses
from bpe_core.report import ReportTable, Section, as_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import cells, counted, token_label
from bpe_core.weighted import for_programs, formatted
from bpe_core.worker.explain import Subject
from bpe_core.worker.job import Job


def add(commands: Subcommands) -> None:
    parser = add_command(commands, run_why)
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="the texts that TOKENIZER was learned from",
    )
    parser.add_value("-t --tokenizer", "TOKENIZER", A_TOKENIZER, None)
    parser.add_argument(
        "--preset", choices=PRESETS, help="a founding example, with its own text"
    )
    parser.add_given_pattern()
    parser.add_value(
        "--step", "N", "the merge asked about, from 1 (all of them)", None, type=integer
    )
    parser.add_value(
        "--rows", "N", "rows of the table of pairs (%(default)s)", 12, type=natural
    )
    parser.add_flag("json", "print a JSON object for each step")


def run_why(options: Namespace) -> int:
    """Tell why a merge was chosen, and count the pairs at any step of a training.

    why -t mine.json --step 311 my_texts/
    why --preset S2
    """
    preset = PRESETS.get(options.preset)
    if not (options.tokenizer or preset):
        raise OptionError(
            "Name the tokenizer with -t and the texts it was learned from, or a --preset."
        )
    if not (options.paths or preset):
        raise OptionError("Name the texts that the tokenizer was learned from.")
    trained = preset.train() if preset and not options.tokenizer else None
    tokenizer = trained or open_tokenizer(options.tokenizer, options.pattern)
    subject = Subject.of_file(tokenizer, options.paths, preset)
    with closing(Job(StderrReporter())) as job:
        subject.count(job)
        if options.step is None:
            subject.read_once()
    for step in (
        range(subject.tokenizer.step + 1) if options.step is None else (options.step,)
    ):
        if options.json:
            explanation = asdict(
                subject.explanation(step)
            )  # first, as it refuses a step that there is not
            places = [asdict(place) for place in subject.places(step)]
            print(json.dumps(explanation | {"places": places}, default=for_programs))
        else:
            print(as_text(_report(subject, step, options.rows)))
    return 0


def _report(subject: Subject, step: int, n_rows: int) -> Iterator[Section]:
    """Why the merge of a step was chosen, where its pair stood, what came of the token, and `n_rows` of the pairs."""
    explanation, tokenizer = subject.explanation(step), subject.tokenizer
    choice, words = explanation.choice, list(_words(explanation.words, tokenizer))
    if choice:
        sentences = [*_choice(choice, tokenizer, subject.rules.ties, step)]
        for place in subject.places(step):
            pair = f"[{token_label(place.left.encode())}·{token_label(place.right.encode())}]"
            n = f"{formatted(place.n)} in " if place.n else ""
            sentences.append(
                f"{n}{place.name}:{place.line}: {place.before.lstrip()}{pair}{place.after.rstrip()}"
            )
        pair = _labels(tokenizer, (choice.left, choice.right), " + ")
        heading = f"Step {step:,}: {pair} → {_labels(tokenizer, (choice.token,))} (id {choice.token})"
        yield Section(heading, [*sentences, *_uses(tokenizer, step), *words])
    elif words:
        yield Section(sentences=words)
    yield _ranking(explanation.table, step, tokenizer, n_rows)


def _choice(
    choice: MergeChoice, tokenizer: Tokenizer, ties: str, step: int
) -> Iterator[str]:
    def text(pair: Pair) -> str:
        return _labels(tokenizer, pair, " + ")

    pair = choice.left, choice.right
    is_given = tokenizer.record is not None and step <= tokenizer.record.n_given
    if is_given:
        yield GIVEN
    if choice.count < choice.most:
        other = "." if is_given else ": another corpus."
        yield f"The pair occurs {formatted(choice.count)} times here, others up to {formatted(choice.most)} times{other}"
    elif choice.n_tied == 1:
        yield f"No other pair occurs as often: {formatted(choice.count)} times."
    else:
        which = "this one" if choice.by_rule.get(ties) == pair else "another"
        yield f"{choice.n_tied:,} pairs occur {formatted(choice.count)} times; {ties!r} takes {which}:"
        yield ", ".join(
            [*map(text, choice.tied), *["…"] * (choice.n_tied > len(choice.tied))]
        )
        for rule, taken in choice.by_rule.items():
            yield f"  {rule:10} {text(taken)}{' ●' if taken == pair else ''}"
    if choice.runners_up:
        yield f"next: {', '.join(f'{text((row.left, row.right))} {formatted(row.times)}' for row in choice.runners_up)}"
    if choice.n_joined < choice.count:
        yield f"{formatted(choice.n_joined)} of them are joined: the others overlap these."
    born, changed = counted(choice.n_born, "pair"), counted(choice.n_changed, "piece")
    yield f"{born} born, {choice.n_vanished:,} vanished, {changed} changed"


def _uses(tokenizer: Tokenizer, step: int) -> Iterator[str]:
    """What became of the token; nothing where the corpus's lengths were not recorded."""
    record, vocabulary = tokenizer.record, tokenizer.vocabulary
    if record is None or len(record.steps) < vocabulary.n_merges:
        return
    lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in record.steps)]
    uses = token_uses(vocabulary, lengths.__getitem__, step)
    yield f"{counted(uses.made, 'use')} when made, {formatted(uses.left)} left in the end"
    for later, token, n in uses.absorbed[:8]:
        yield f"  step {later:,} {_labels(tokenizer, (token,))} absorbed {formatted(n)}"
    if (more := len(uses.absorbed) - 8) > 0:
        yield f"  and {counted(more, 'later merge')}"


def _words(words: Iterable[CorpusPiece], tokenizer: Tokenizer) -> Iterator[str]:
    rows = [
        (word.times, _labels(tokenizer, word.before), _labels(tokenizer, word.after))
        for word in words
    ]
    width = max((cells(before) for _, before, _ in rows), default=0)
    for count, before, after in rows:
        changed = (
            f"{' ' * (width - cells(before))} → {after}" if before != after else ""
        )
        yield f"{f'{formatted(count)} ×':>8} {before}{changed}"


def _labels(tokenizer: Tokenizer, ids: Iterable[int], between: str = " ") -> str:
    return between.join(token_label(tokenizer.token_bytes(id)) for id in ids)


def _ranking(
    ranking: PairRanking, step: int, tokenizer: Tokenizer, n_rows: int
) -> Section:
    rows = []
    for place, row in enumerate(ranking.rows[:n_rows]):
        tied = "tied" if ranking.n_tied > 1 and place < ranking.n_tied else ""
        change = formatted(row.change, signed=True) if row.change else ""
        rows.append(
            (
                _labels(tokenizer, (row.left, row.right), " + "),
                formatted(row.times),
                change,
                tied,
            )
        )
    after = f"After step {step:,}" if step else "Before the first merge"
    heading = f"{after}: {formatted(ranking.n_tokens)} tokens, {counted(ranking.n_pairs, 'pair')}"
    return Section(
        heading,
        table=ReportTable(("pair", "count", "change", ""), rows, numbers=(1, 2)),
    )
