"""`python -m benchmarks [--quick] [--only SECTION ...]`: every comparison as Markdown on stdout; progress on stderr."""

import os
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from benchmarks import (
    corpora,
    encoders,
    inputs,
    livetext,
    loading,
    measure,
    peers,
    startup,
    table,
)
from benchmarks.inputs import Input
from benchmarks.measure import Measured

TRAINING: Final = ("corpus", "who", "seconds", "times ours", "CPU seconds", "peak MB")
ENCODING: Final = (
    "text",
    "who",
    "cold MB/s",
    "times ours",
    "warm MB/s",
    "times ours",
    "peak MB",
)
DOUBLING: Final = ("text", "who", "seconds", "for twice the text", "times")


class Bench:
    """The inputs, made when they are asked for, and the sections of the report."""

    def __init__(self, folder: Path, options: Namespace) -> None:
        self.folder = folder
        self.quick: bool = options.quick
        self.rounds: int = options.rounds or (1 if options.quick else 3)
        self.published_ranks: list[Path] = options.ranks
        self._keep_bytecode()
        self.sizes: list[int] = options.sizes or (
            [1] if options.quick else [1, 10, 100]
        )

    def _keep_bytecode(self) -> None:
        """Let modules be compiled once, as installed ones are, wherever this runs: a first run makes all of them."""
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(self.folder / "bytecode")
        for name, (package, _) in peers.TRAINERS.items():
            if peers.installed(package) and name not in peers.SLOW | peers.UNLIKE:
                measure.measure(
                    "train",
                    name,
                    300,
                    self.folder / "out",
                    inputs.toy(self.folder).path,
                )

    @cached_property
    def corpora(self) -> list[Input]:
        """Sources and documentation of this machine, in several sizes."""
        return [inputs.corpus(self.folder, size) for size in self.sizes]

    @cached_property
    def vocabularies(self) -> dict[str, Path]:
        """Pattern -> a vocabulary of 32,768 tokens, learned from the first corpus."""
        from bpe_core import Counts, save, train
        from bpe_core.corpus import find_files

        files = find_files(self.corpora[0].path).files
        paths = {
            pattern: self.folder / f"{pattern}.json" for pattern in ("gpt4", "gpt4o")
        }
        for pattern, path in paths.items():
            save(
                train(Counts.read(files, pattern), vocab_size=32768, pattern=pattern),
                path,
            )
        return paths

    def train(self) -> Iterator[list[str]]:
        """From files on disk to a saved vocabulary, everything included, split by the pattern of GPT-4."""
        there = [
            name
            for name, (package, _) in peers.TRAINERS.items()
            if peers.installed(package)
        ]
        tasks = [(inputs.toy(self.folder), 512)]
        tasks += [
            (corpus, vocab_size)
            for corpus in self.corpora
            for vocab_size in (4096, 32768)
        ]
        for corpus, vocab_size in tasks:
            who = [
                name
                for name in there
                if corpus.n_bytes < inputs.MB or name not in peers.SLOW
            ]
            who = [
                name
                for name in who
                if corpus.n_bytes < 2 * inputs.MB or name not in peers.UNLIKE
            ]
            what = f"{corpus.name}, {vocab_size:,} tokens"
            runs = self._interleaved(
                what, who, "train", vocab_size, self.folder / "out", corpus.path
            )
            yield from table.training_rows(what, runs)

    def encode(self) -> Iterator[list[str]]:
        """All texts once with a fresh encoder (cold), and again (warm), one thread each."""
        texts = [
            *self.corpora,
            inputs.multilingual(self.folder),
            *inputs.adversarial(self.folder),
        ]
        for text in texts:
            yield from table.encoding_rows(
                text.name, text.n_bytes, self._encoded(text, self.vocabularies["gpt4"])
            )

    def published(self) -> Iterator[list[str]]:
        """The same with published vocabularies, whose files `--ranks` names."""
        for vocabulary in self.published_ranks:
            for text in [
                *self.corpora,
                inputs.multilingual(self.folder),
                *inputs.adversarial(self.folder),
            ]:
                what = f"{vocabulary.stem}: {text.name}"
                yield from table.encoding_rows(
                    what, text.n_bytes, self._encoded(text, vocabulary)
                )

    def batch(self) -> Iterator[list[str]]:
        """Documents of 20,000 characters in one call, by a thread a core."""
        who = [
            name
            for name, (package, _) in encoders.BATCHES.items()
            if peers.installed(package)
        ]
        for vocabulary in (self.vocabularies["gpt4"], *self.published_ranks):
            for text in [*self.corpora, inputs.multilingual(self.folder)]:
                what = f"{vocabulary.stem}: {text.name}"
                runs = self._interleaved(
                    what, who, "encode_batch", vocabulary, text.path
                )
                yield from table.encoding_rows(what, text.n_bytes, runs)

    def corpus(self) -> Iterator[list[str]]:
        """From files on disk to ids in a file or to counts of tokens, everything included, on all cores and on one."""
        who = [
            name
            for name, (package, _) in corpora.ENCODERS.items()
            if peers.installed(package)
        ]
        for corpus in self.corpora:
            for wish, what in corpora.WISHES.items():
                title = f"{corpus.name}, {what}"
                runs = self._interleaved(
                    title,
                    who,
                    "encode_corpus",
                    wish,
                    self.vocabularies["gpt4"],
                    self.folder / "out",
                    corpus.path,
                )
                yield from corpora.rows(title, corpus.n_bytes, runs)

    def double(self) -> Iterator[list[str]]:
        """Texts without a place to cut, and twice as long: what is linear takes twice the time."""
        doubled, vocabulary = (
            inputs.adversarial(self.folder, times=2),
            self.vocabularies["gpt4"],
        )
        for text, longer in zip(inputs.adversarial(self.folder), doubled, strict=True):
            yield from table.doubling_rows(
                text.name, *(self._encoded(each, vocabulary) for each in (text, longer))
            )

    def edit(self) -> Iterator[list[str]]:
        """One edit in the engine behind the editor, half of them where the last one was, half anywhere."""
        texts = [
            inputs.sprinkled(self.folder, 1 if self.quick else 10),
            *islice(inputs.adversarial(self.folder), 4),
        ]
        return livetext.rows(texts, self.vocabularies, 200 if self.quick else 2000)

    def load(self) -> Iterator[list[str]]:
        """From a tokenizer's file to the first token, imports done."""
        yield from loading.rows(self.vocabularies["gpt4"], self.folder, self.rounds)
        for ranks in self.published_ranks:
            yield from loading.published_rows(ranks, self.rounds)

    def start(self) -> Iterator[list[str]]:
        """From the command to the first content on the screen, beside a bare Textual app."""
        return startup.rows(3 if self.quick else 15)

    def _encoded(self, text: Input, vocabulary: Path) -> dict[str, list[Measured]]:
        return self._interleaved(
            text.name, list(encoders.able(vocabulary)), "encode", vocabulary, text.path
        )

    def _interleaved(
        self, title: str, who: list[str], job: str, *what: object
    ) -> dict[str, list[Measured]]:
        """Everybody once, then everybody again: what else the machine does then hits all alike.

        Of a peer that fails nothing is kept: its list is empty, and stderr has told why.
        """
        runs: dict[str, list[Measured]] = {name: [] for name in who}
        able = dict.fromkeys(who)
        for number in range(self.rounds):
            for name in list(able):
                print(
                    f"{job} {title}, round {number + 1} of {self.rounds}: {name}",
                    file=sys.stderr,
                )
                try:
                    runs[name].append(measure.measure(job, name, *what))
                except measure.Failed as error:
                    if name.startswith("bpescope"):
                        raise SystemExit(str(error)) from None
                    runs[name].clear()
                    del able[name]
        return runs


SECTIONS: Final[
    dict[str, tuple[str, Sequence[str], Callable[[Bench], Iterable[Sequence[str]]]]]
] = {
    "train": ("Training", TRAINING, Bench.train),
    "encode": ("Encoding", ENCODING, Bench.encode),
    "published": ("Encoding with published vocabularies", ENCODING, Bench.published),
    "batch": ("Encoding a batch", ENCODING, Bench.batch),
    "corpus": ("Encoding a corpus", corpora.HEAD, Bench.corpus),
    "double": ("Twice the text", DOUBLING, Bench.double),
    "edit": ("An edit", livetext.HEAD, Bench.edit),
    "load": ("Loading a vocabulary", loading.HEAD, Bench.load),
    "start": ("Start-up", startup.HEAD, Bench.start),
}
"""Name -> title, columns, and what measures row by row; its first line says what it measures."""


def main() -> None:
    """Measure and print; two minutes with --quick, forty to fifty without."""
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1 MB only, and one round")
    parser.add_argument("--rounds", type=int, help="how often each is measured (3)")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SECTIONS,
        default=list(SECTIONS),
        help="these sections",
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="MB", help="of the corpora (1 10 100)"
    )
    parser.add_argument(
        "--ranks",
        nargs="+",
        type=Path,
        metavar="FILE",
        default=[],
        help=f"published ones to encode with as well, named {', '.join(encoders.PUBLISHED)}.tiktoken",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), options)
        print(
            table.machine(),
            f"Medians of {bench.rounds} interleaved rounds; peak memory is that of all processes.\n",
        )
        for note in (
            f"{corpus.name}: {corpus.note}.\n"
            for corpus in bench.corpora
            if corpus.note
        ):
            print(note)
        for section in options.only:
            title, head, rows = SECTIONS[section]
            print(f"### {title}\n\n{rows.__doc__}\n")
            for line in table.markdown(head, rows(bench)):
                print(line, flush=True)
            print()


if __name__ == "__main__":
    main()
