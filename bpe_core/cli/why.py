"""`why`: why a merge was chosen, where its pair stood, what came of it, and the table of pair counts after it."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict

from bpe_core.cells import cells
from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, add_given_pattern, integer
from bpe_core.cli.inputs import open_tokenizer
from bpe_core.cli.progress import report_to_person
from bpe_core.cli.report import Report, ReportTable, Section, as_text
from bpe_core.content.presets import PRESETS
from bpe_core.errors import OptionError, Stopped
from bpe_core.explain.merge_choice import CorpusPiece, MergeChoice, PairRanking
from bpe_core.explain.pair_counts import Pair
from bpe_core.explain.places import CorpusPlace
from bpe_core.explain.token_uses import TokenUses
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label
from bpe_core.worker.job import Job
from bpe_core.worker.subject import Question, Subject, counted_subject

Bytes = Callable[[int], bytes]
"""Gives the bytes of an id."""


def add(commands: Subcommands) -> None:
    """Declare the subcommand."""
    parser = add_command(
        commands,
        "why",
        run,
        "Tell why a merge was chosen, and count the pairs at any step of a training.",
        ("-t mine.json --step 311 my_texts/", "--preset S2"),
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="the texts that TOKENIZER was learned from")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("-t", "--tokenizer", metavar="TOKENIZER", help=A_TOKENIZER)
    parser.add_argument("--preset", choices=PRESETS, help="a founding example, with its own text")
    add_given_pattern(parser)
    parser.add_argument("--step", type=integer, metavar="N", help="the merge asked about, from 1 (all of them)")
    parser.add_argument(
        "--rows", type=integer, default=12, metavar="N", help="rows of the table of pairs (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object for each step")


def run(options: Namespace) -> int:
    """Count the corpus, then tell of one step, of all, or of those that are asked for."""
    question = _question(options)
    with closing(Job(report_to_person())) as job:
        try:
            subject = counted_subject(question, job)
        except Stopped:
            return 130
    for step in _steps(options.step, subject.tokenizer):
        if options.json:
            places = [asdict(place) for place in subject.places(step)]
            print(json.dumps(subject.explanation(step).to_json() | {"places": places}))
        else:
            print(as_text(_report(subject, step, options.rows)))
    return 0


def _steps(asked: int | None, tokenizer: Tokenizer) -> Iterable[int]:
    if asked is None:
        return range(tokenizer.step + 1)
    if not 0 <= asked <= tokenizer.step:
        raise OptionError(f"There is no step {asked}; this vocabulary has the steps 0 to {tokenizer.step}.")
    return (asked,)


def _question(options: Namespace) -> Question:
    preset = PRESETS.get(options.preset)
    if options.tokenizer:
        if not (preset or options.paths):
            raise OptionError("Name the texts that the tokenizer was learned from.")
        tokenizer = open_tokenizer(options.tokenizer, options.pattern)
        tokenizer.vocabulary.recover()
    elif preset:
        tokenizer = preset.train()
    else:
        raise OptionError("Name the tokenizer with -t and the texts it was learned from, or a --preset.")
    return Question.of_file(tokenizer, options.paths, preset)


def _report(subject: Subject, step: int, n_rows: int) -> Report:
    """Why the merge of a step was chosen, where its pair stood, what came of the token, and `n_rows` of the pairs."""
    explanation, bytes_of = subject.explanation(step), subject.tokenizer.token_bytes
    choice, words = explanation.choice, list(_words(explanation.words, bytes_of))
    ranking = _ranking(explanation.table, step, bytes_of, n_rows)
    if choice is None:
        return Report("", (Section(sentences=words), ranking) if words else (ranking,))
    token = token_label(bytes_of(choice.token))
    sentences = [
        *_choice(choice, bytes_of, subject.asked.ties, subject.given(step)),
        *_places(subject.places(step)),
        *_uses(subject.uses(step), bytes_of),
        *words,
    ]
    heading = f"Step {step:,}: {_pair((choice.left, choice.right), bytes_of)} → {token} (id {choice.token})"
    return Report("", (Section(heading, sentences), ranking))


def _pair(pair: Pair, bytes_of: Bytes) -> str:
    """Both parts of a pair as text."""
    return " + ".join(token_label(bytes_of(part)) for part in pair)


def _choice(choice: MergeChoice, bytes_of: Bytes, ties: str, given: str) -> Iterator[str]:
    pair = choice.left, choice.right
    if given:
        yield f"{given}"
    if choice.count < choice.most and given:
        yield f"The pair occurs {choice.count:,} times here, others up to {choice.most:,} times."
    elif choice.count < choice.most:
        yield f"The pair occurs {choice.count:,} times here, others up to {choice.most:,} times: another corpus."
    elif choice.n_tied == 1:
        yield f"No other pair occurs as often: {choice.count:,} times."
    else:
        which = "this one" if choice.by_rule.get(ties) == pair else "another"
        yield f"{choice.n_tied:,} pairs occur {choice.count:,} times; {ties!r} takes {which}:"
        more = ["…"] if choice.n_tied > len(choice.tied) else []
        yield ", ".join([*(_pair(tied, bytes_of) for tied in choice.tied), *more])
        for rule, taken in choice.by_rule.items():
            yield f"  {rule:10} {_pair(taken, bytes_of)}{' ●' if taken == pair else ''}"
    if choice.runners_up:
        rest = (f"{_pair((row.left, row.right), bytes_of)} {row.count:,}" for row in choice.runners_up)
        yield f"next: {', '.join(rest)}"
    if choice.n_joined < choice.count:
        yield f"{choice.n_joined:,} of them are joined: the others overlap these."
    yield (
        f"{counted(choice.n_born, 'pair')} born, {choice.n_vanished:,} vanished, "
        f"{counted(choice.n_changed, 'piece')} changed"
    )


def _places(places: Sequence[CorpusPlace]) -> Iterator[str]:
    for place in places:
        pair = f"[{token_label(place.left.encode())}·{token_label(place.right.encode())}]"
        yield f"{place.name}:{place.line}: {place.before.lstrip()}{pair}{place.after.rstrip()}"


def _uses(uses: TokenUses | None, bytes_of: Bytes) -> Iterator[str]:
    if uses is None:
        return
    yield f"{counted(uses.made, 'use')} when made, {uses.left():,} left in the end"
    for taken in uses.absorbed[:8]:
        token = token_label(bytes_of(taken.token))
        yield f"  step {taken.step:,} {token} absorbed {taken.n_absorbed:,}"
    if (more := len(uses.absorbed) - 8) > 0:
        yield f"  and {counted(more, 'later merge')}"


def _words(words: Sequence[CorpusPiece], bytes_of: Bytes) -> Iterator[str]:
    rows = [(f"{word.count:,} ×", _tokens(word.before, bytes_of), _tokens(word.after, bytes_of)) for word in words]
    width = max((cells(before) for _, before, _ in rows), default=0)
    for often, before, after in rows:
        changed = f"{' ' * (width - cells(before))} → {after}" if before != after else ""
        yield f"{often:>8} {before}{changed}"


def _tokens(ids: Sequence[int], bytes_of: Bytes) -> str:
    return " ".join(token_label(bytes_of(token)) for token in ids)


def _ranking(ranking: PairRanking, step: int, bytes_of: Bytes, n_rows: int) -> Section:
    rows = []
    for place, row in enumerate(ranking.rows[:n_rows]):
        tied = "tied" if ranking.n_tied > 1 and place < ranking.n_tied else ""
        change = f"{row.change:+,}" if row.change else ""
        rows.append((_pair((row.left, row.right), bytes_of), f"{row.count:,}", change, tied))
    after = f"After step {step:,}" if step else "Before the first merge"
    return Section(
        f"{after}: {ranking.n_tokens:,} tokens, {counted(ranking.n_pairs, 'pair')}",
        table=ReportTable(("pair", "count", "change", ""), rows, numbers=(1, 2)),
    )
