"""`why`: why a merge was chosen, and the table of pair counts after it, for a person or as the worker of the app.

As a worker it counts the corpus once, and answers one question a line: `step N` asks for a step, `merges` before three
ids for each tells of merges that have been learned since. The end of stdin is the end.
"""

import json
import os
import select
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Final

from bpe_core import kernel
from bpe_core.cli.arguments import A_TOKENIZER, Subcommands, add_command, add_given_pattern, add_stream, integer
from bpe_core.cli.control import Control
from bpe_core.cli.counting import count_files
from bpe_core.cli.report import Report, report_to
from bpe_core.cli.result_events import Explained, Places
from bpe_core.cli.tokenizers import open_tokenizer
from bpe_core.cli.why_text import told_step
from bpe_core.cli.wire import WireError
from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Counts, find_files
from bpe_core.errors import OptionError, TextError
from bpe_core.explain.corpus_places import CorpusPlace, corpus_places
from bpe_core.explain.merge_choice import Explanation, explain
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.explain.token_uses import TokenUses, token_uses
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer.options import DEFAULT_PATTERN
from bpe_core.trainer.ties import TIES
from bpe_core.vocabulary import ID_LAYOUTS, Vocabulary

MOST_ON_DISK: Final = (1 << 24, 1 << 28)
"""Bytes of texts that a worker counts without and with the kernel: in about a second or two."""
MOST_IN_PIECES: Final = (1 << 18, 1 << 23)
"""Bytes of distinct pieces that a worker counts the pairs of, without and with the kernel."""
_MODESTY: Final = 5
"""How much less urgent a worker is than one that learns, in steps of `nice`."""


@dataclass(slots=True)
class _Subject:
    """What is asked about: merges, and the corpus in which their pairs are counted."""

    counts: PairCounts
    files: Iterable[tuple[str, Iterable[str]]]
    ties: str
    longest: int | None

    @property
    def tokenizer(self) -> Tokenizer:
        return self.counts.tokenizer

    def explanation(self, step: int) -> Explanation:
        return explain(self.counts, step, self.ties, self.longest)

    def places(self, step: int) -> list[CorpusPlace]:
        return list(corpus_places(self.counts, step, self.files, self.tokenizer.splitter)) if step else []

    def uses(self, step: int) -> TokenUses | None:
        """What became of the token; None where the corpus's lengths were not recorded."""
        record = self.tokenizer.record
        if not step or record is None or len(record.steps) < self.tokenizer.step:
            return None
        lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in record.steps)]
        return token_uses(self.tokenizer.vocabulary, lengths.__getitem__, step)


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
    add_stream(parser)
    growing = parser.add_argument_group("with --stream and without a TOKENIZER: by which rules one is being learned")
    growing.add_argument("--ties", choices=TIES, help="which of equally frequent pairs is merged")
    growing.add_argument("--id-layout", default="bytes-first", choices=ID_LAYOUTS)
    growing.add_argument("--special", action="append", default=[], metavar="S")
    growing.add_argument("--end-of-word", default="", metavar="S")
    growing.add_argument("--max-token-length", type=integer, metavar="N")


def run(options: Namespace) -> int:
    """Count the corpus, then tell of one step, of all, or of those that are asked for."""
    if options.stream:
        os.nice(_MODESTY)
    tokenizer = _tokenizer(options)
    with closing(Control(stdin=False)) as control, closing(report_to(options.stream, control)) as report:
        subject = _subject(options, tokenizer, control, report)
        if subject is None:
            return 130
    if options.stream:
        return _answer(subject, report)
    for step in _steps(options.step, tokenizer):
        told, places, uses = subject.explanation(step), subject.places(step), subject.uses(step)
        if options.json:
            print(json.dumps(told.to_json() | {"places": list(map(asdict, places))}))
        else:
            print(told_step(told, tokenizer, subject.ties, places, uses, options.rows))
    return 0


def _steps(asked: int | None, tokenizer: Tokenizer) -> Iterable[int]:
    if asked is None:
        return range(tokenizer.step + 1)
    if not 0 <= asked <= tokenizer.step:
        raise OptionError(f"There is no step {asked}; this vocabulary has the steps 0 to {tokenizer.step}.")
    return (asked,)


def _tokenizer(options: Namespace) -> Tokenizer:
    if options.tokenizer:
        tokenizer = open_tokenizer(options.tokenizer, options.pattern)
        tokenizer.vocabulary.recover()
        return tokenizer
    if options.stream:
        vocabulary = Vocabulary.of_bytes(options.id_layout, options.special, options.end_of_word)
        return Tokenizer(vocabulary, options.pattern or DEFAULT_PATTERN)
    if options.preset:
        return PRESETS[options.preset].train()
    raise OptionError("Name the tokenizer with -t and the texts it was learned from, or a --preset.")


def _subject(options: Namespace, tokenizer: Tokenizer, control: Control, report: Report) -> _Subject | None:
    """The corpus counted; None if a signal ended that."""
    preset = PRESETS.get(options.preset)
    files: Iterable[tuple[str, Iterable[str]]]
    if preset is not None:
        counts: Counts | None = preset.counts()
        one = len(preset.documents) == 1
        files = [(preset.name if one else f"text {n}", (text,)) for n, text in enumerate(preset.documents, 1)]
    else:
        if not options.paths:
            raise OptionError("Name the texts that the tokenizer was learned from.")
        files = _Files(options.paths)
        if options.stream:
            _check_size("texts", files.size, MOST_ON_DISK[kernel.available])
        counts = count_files(options.paths, tokenizer.pattern, control, report)
    if counts is None:
        return None
    if options.stream:
        n_bytes = sum(map(len, counts.pieces))
        _check_size("different pieces", n_bytes, MOST_IN_PIECES[kernel.available])
    record = tokenizer.record
    ties = options.ties or (record.ties if record else preset.options.ties if preset else "first")
    longest = record.max_token_length if record else options.max_token_length
    return _Subject(PairCounts(tokenizer, counts.pieces), files, ties, longest)


class _Files:
    """The texts of a corpus, read anew each time that one goes through them."""

    def __init__(self, paths: list[str]) -> None:
        self._files = find_files(paths).files
        self.size = sum(file.size for file in self._files)

    def __iter__(self) -> Iterator[tuple[str, Iterable[str]]]:
        return ((file.name, file.blocks()) for file in self._files)


def _check_size(what: str, n_bytes: int, most: int) -> None:
    if n_bytes > most:
        raise TextError(
            f"These are {n_bytes / 1e6:,.0f} MB of {what}, too much to count pairs in beside the screen (at most "
            f"{most / 1e6:,.0f} MB); `bpescope why` in a terminal has more patience."
        )


def _answer(subject: _Subject, report: Report) -> int:
    """Answer what is asked on stdin, one question after the other."""
    for line in sys.stdin:
        match line.split():
            case ["step", number] if number.isdecimal():
                step = min(int(number), subject.tokenizer.step)
                report.send(Explained(subject.explanation(step).to_json()))
                if not select.select([sys.stdin], [], [], 0)[0]:  # nobody has gone on meanwhile
                    report.send(Places(step, list(map(asdict, subject.places(step)))))
            case ["merges", *ids] if all(map(str.isdecimal, ids)) and len(ids) % 3 == 0:
                numbers = iter(map(int, ids))
                subject.counts.tokenizer = subject.tokenizer.with_merges(zip(numbers, numbers, numbers, strict=False))
            case _:
                raise WireError(f"Not a question: {line[:80]!r}; ask for step N, or tell merges of three ids each.")
    return 0
