"""`python -m benchmarks [--quick] [--rounds N] [--only train|encode]`: every comparison, as Markdown on stdout."""

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import inputs, peers, table
from benchmarks.inputs import Input
from benchmarks.measure import Measured, measure

TRAINING = ("corpus", "who", "seconds", "times ours", "CPU seconds", "peak MB")
ENCODING = ("text", "who", "cold MB/s", "times ours", "warm MB/s", "times ours", "peak MB")


def main() -> None:
    """Measure and print; a minute or two with --quick, most of an hour without."""
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1 MB only, and one round")
    parser.add_argument("--rounds", type=int, help="how often each is measured (3)")
    parser.add_argument("--only", choices=("train", "encode"), help="half of it")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="MB", help="of the corpora (1 10 100)")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.quick else 3)
    print(table.machine(), f"Medians of {rounds} interleaved rounds; peak memory is that of all processes.\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpora = [inputs.corpus(folder, size) for size in options.sizes or ([1] if options.quick else [1, 10, 100])]
        _say_notes(corpora)
        if options.only != "encode":
            _print(TRAINING, _training(corpora, rounds, folder))
        if options.only != "train":
            texts = [*corpora, inputs.multilingual(folder), *inputs.adversarial(folder)]
            _print(ENCODING, _encoding(texts, rounds, folder))


def _training(corpora: list[Input], rounds: int, folder: Path) -> Iterable[list[str]]:
    there = [name for name, (package, _) in peers.TRAINERS.items() if peers.installed(package)]
    tasks = [(corpus, vocab_size, there) for corpus in corpora for vocab_size in (4096, 32768)]
    for corpus, vocab_size, who in [(inputs.toy(folder), 512, there), *tasks]:
        n_bytes = corpus.n_bytes
        who = [name for name in who if n_bytes < inputs.MB or name not in peers.SLOW]
        who = [name for name in who if n_bytes < 2 * inputs.MB or name not in peers.UNLIKE]
        runs = _interleaved(who, rounds, "train", vocab_size, folder / "out", corpus.path)
        yield from table.training_rows(f"{corpus.name}, {vocab_size:,} tokens", runs)


def _encoding(texts: list[Input], rounds: int, folder: Path) -> Iterable[list[str]]:
    vocabulary = folder / "vocabulary.json"
    measure("train", "bpescope", 32768, vocabulary, texts[0].path)
    who = [name for name, (package, _) in peers.ENCODERS.items() if peers.installed(package)]
    for text in texts:
        runs = _interleaved(who, rounds, "encode", vocabulary, text.path)
        yield from table.encoding_rows(text.name, text.n_bytes, runs)


def _interleaved(who: list[str], rounds: int, job: str, *what: object) -> dict[str, list[Measured]]:
    """Everybody once, then everybody again: what else the machine does then hits all alike."""
    runs: dict[str, list[Measured]] = {name: [] for name in who}
    for number in range(rounds):
        for name in who:
            print(f"round {number + 1}: {name}", file=sys.stderr)
            runs[name].append(measure(job, name, *what))
    return runs


def _print(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    for line in table.markdown(head, rows):
        print(line, flush=True)
    print()


def _say_notes(corpora: list[Input]) -> None:
    for corpus in corpora:
        if corpus.note:
            print(f"{corpus.name}: {corpus.note}.\n")


if __name__ == "__main__":
    main()
