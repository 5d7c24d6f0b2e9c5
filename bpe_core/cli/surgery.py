"""`prune`, `graft` and `unite`: change the vocabulary of a tokenizer, and report what that changes."""

import csv
import json
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from io import StringIO
from typing import Any

from bpe_core.auditing.usage import Usage
from bpe_core.auditing.verdicts import verdicts
from bpe_core.cli.arguments import Subcommands, add_command
from bpe_core.cli.audit import parse_kinds
from bpe_core.cli.streams import StderrReporter, open_tokenizer, text_blocks
from bpe_core.cli.surgery_arguments import add_graft, add_prune, add_unite
from bpe_core.cli.surgery_output import Source, finish
from bpe_core.corpus import Counts
from bpe_core.corpus.streams import name_of
from bpe_core.errors import OptionError, Stopped
from bpe_core.surgery import UNSEEN
from bpe_core.surgery.best_words import best_words
from bpe_core.surgery.grafting import graft
from bpe_core.surgery.pruning import needed_by_texts, prune, renumbered
from bpe_core.surgery.uniting import unite
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted
from bpe_core.weighted import Count
from bpe_core.whole_file import write_atomically
from bpe_core.worker.audit import AuditRequest, counted_texts, examine_request
from bpe_core.worker.job import Job
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.surgery import latest_tokens, listed_tokens, listed_words
from bpe_core.worker.surgery_lists import grafted_lists, pruned_lists, united_rows


def add(commands: Subcommands) -> None:
    add_prune(add_command(commands, run_prune))
    add_graft(add_command(commands, run_graft, UNSEEN))
    add_unite(add_command(commands, run_unite, UNSEEN))


def run_prune(options: Namespace) -> int:
    """Remove tokens from a vocabulary.

    prune mine.json -o cleaner.json --tokens tokens.txt
    prune mine.json my_texts/ -o cleaner.json --audit scaffold,verbatim --score 0.5 --keep-parents
    prune gpt2 -o smaller.tiktoken --unused-in my_texts/ --keep-parents
    prune mine.json -o small.json --size 8000 --renumber --embeddings model.safetensors small.safetensors

    A text keeps its tokens if merging it formed none of the removed tokens. Bytes, special tokens and added
    tokens can't be removed: --audit, --unused-in and --size leave them out.

    Without a token, the tokens that are built on it may become unreachable, or encode only a whole pre-token.
    prune then lists them and writes nothing, until you add --with-descendants or --keep-parents.
    """
    _check_needed_options(options)
    mapping_file = f"{options.output}.mapping.json"
    source = Source.open(options, mapping_file if options.renumber else "")
    before = source.tokenizer
    with closing(Job(StderrReporter())) as job:
        tokens = _chosen_tokens(before, options, job)
        if not tokens:
            raise OptionError("No token that can be removed is chosen; choose others.")
        job.progress("preparing", 0, 0, "removing tokens")
        pruned = prune(before, tokens, unreachable=options.decision)
        unmade = [*pruned.unreachable, *pruned.only_whole]
        if unmade and options.decision == "list":
            names = [
                f"{token} {quoted(before.decode([token]))}" for token in unmade[:5]
            ]
            raise OptionError(
                f"{counted(len(unmade), 'other token')} built on these could not be merged any more, such as "
                f"{', '.join(names)}. Add --with-descendants to also remove those that no text becomes any more, or "
                "--keep-parents to keep the tokens that they are built on."
            )
        lists = pruned_lists(before, pruned)
        if options.renumber:
            saved = renumbered(pruned)
            note = f"The ids below are the old ones; see {mapping_file}."
            finish(source, job, pruned, lists, note=note, saved=saved)
            mapping = json.dumps(dict(saved.mapping)) + "\n"
            write_atomically((mapping_file, [mapping]))
        else:
            finish(source, job, pruned, lists)
    return 0


def _check_needed_options(options: Namespace) -> None:
    """Raise `OptionError` if an option is given without the one that it needs."""
    for option, needed in (
        ("--score", "--audit"),
        ("--corpus", "--audit"),
        ("--fewer-than", "--unused-in"),
        ("--embeddings", "--renumber"),
    ):
        # 0 is a value: --score 0
        is_given = _value(options, option) not in (None, [], ())
        if is_given and not _value(options, needed):
            raise OptionError(
                f"{option} needs {needed}; add {needed}, or leave out {option}."
            )


def _value(options: Namespace, option: str) -> object:
    return getattr(options, option.removeprefix("--").replace("-", "_"))


def _chosen_tokens(tokenizer: Tokenizer, options: Namespace, job: Job) -> list[int]:
    """Return the tokens to remove."""
    if options.tokens is not None:
        text = "".join(text_blocks(options.tokens))
        return listed_tokens(text, name_of(options.tokens), tokenizer)
    if options.size is not None:
        return latest_tokens(tokenizer, options.size)
    if options.unused_in:
        counts = _count_texts(options.unused_in, tokenizer, job)
        usage = Usage.of(tokenizer, counts, partial(job.progress, "auditing"))
        least = 1 if options.fewer_than is None else options.fewer_than
        tokens = [token for token, n in usage.remaining.items() if n < least]
    else:
        kinds = set(parse_kinds(options.audit, "--audit"))
        request = AuditRequest(options.tokenizer, corpus=tuple(options.corpus))
        findings, subject = examine_request(tokenizer, request, job)
        if subject is None or job.stopped:
            raise Stopped
        tokens = [
            row.id
            for row in verdicts(subject, findings)
            if row.score >= (options.score or 0) and not kinds.isdisjoint(row.kinds)
        ]
    needed = needed_by_texts(tokenizer)
    return [token for token in tokens if token not in needed]


def _count_texts(paths: Sequence[str], tokenizer: Tokenizer, job: Job) -> Counts:
    recipe = Recipe(paths=tuple(paths))
    counts = counted_texts(recipe, "corpus", {}, tokenizer.pattern, job)
    assert counts is not None  # there are paths
    return counts


def run_graft(options: Namespace) -> int:
    """Make words single tokens, by merges after all others.

    graft mine.json -o larger.json --words words.txt
    graft gpt2 my_texts/ -o larger.tiktoken --from my_texts/ --size 50500
    graft qwen.json -o larger.json --words words.txt --embeddings model.safetensors larger.safetensors

    All tokens keep their ids, and a text keeps its tokens unless it contains a pair that a new merge joins. A
    word is refused if the split pattern cuts it. "hello" and " hello" are different words.
    """
    if bool(options.counts) != (options.size is not None):
        raise OptionError(
            "--from and --size N only work together; give both, or --words."
        )
    source = Source.open(options)
    before = source.tokenizer
    savings: dict[str, Count] = {}
    with closing(Job(StderrReporter())) as job:
        if options.words is not None:
            text = "".join(text_blocks(options.words))
            words = listed_words(text, name_of(options.words))
        else:
            savings = _best_words(before, options, job)
            words = list(savings)
        job.progress("preparing", 0, 0, "adding words")
        grafted = graft(before, words)
        lists = grafted_lists(before, grafted, savings)
        finish(source, job, grafted, lists)
    return 0


def _best_words(tokenizer: Tokenizer, options: Namespace, job: Job) -> dict[str, Count]:
    """Return the words that save most tokens, and how many each saves, as long as the vocabulary is small enough."""
    n_left = options.size - tokenizer.n_tokens
    if n_left < 1:
        raise OptionError(
            f"The vocabulary has {counted(tokenizer.n_tokens, 'token')} already; choose a larger --size."
        )
    counts = _count_texts(options.counts, tokenizer, job)
    job.progress("preparing", 0, 0, "choosing words")
    savings: dict[str, Count] = {}
    for word in best_words(tokenizer, counts):
        n_left -= word.n_new_tokens
        if n_left < 0:
            break
        savings[word.word] = word.saving
    if not savings:
        raise OptionError(
            "No word of these texts saves tokens with so few new ones; choose a larger --size, or other texts."
        )
    return savings


def run_unite(options: Namespace) -> int:
    """Add the tokens of one tokenizer to another.

    unite mine.json japanese.json -o both.json
    unite gpt-4 mine.json my_texts/ -o both.tiktoken --table tokens.csv

    A keeps its ids, its split pattern and everything else. The tokens of B follow in their order,
    by merges after all others. A token of B that A's split pattern always cuts can't be added.
    """
    source = Source.open(options, options.table)
    before = source.tokenizer
    # Only the vocabulary of B is used, so its pattern, which some files lack, can be any.
    other = open_tokenizer(options.other, before.pattern)
    with closing(Job(StderrReporter())) as job:
        job.progress("preparing", 0, 0, "adding tokens")
        united = unite(before, other)
        rows = united_rows(before, united, other)
        lists = {
            outcome: [row for row in rows if row["outcome"] == outcome]
            for outcome in ("same", "new", "part", "impossible")
        }
        sentence = (
            f"Of {counted(len(united.tokens), 'token')} of B, {len(lists['same']):,} were there already, "
            f"{len(lists['new']):,} are new and {len(lists['impossible']):,} are not possible."
        )
        finish(source, job, united, lists, note=sentence)
        if options.table:
            write_atomically((options.table, [_as_csv(rows)]))
    return 0


def _as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the table of `unite`. Texts are labels, since some readers end a row at a carriage return."""
    text = StringIO()
    head = ("id_b", "id", "outcome", "token", "text", "reason")
    writer = csv.DictWriter(text, head, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
