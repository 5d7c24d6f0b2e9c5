"""`python -m tests.attack.agreement`: all comparisons, as Markdown; exit code 1 if one is left unexplained."""

import importlib.metadata
import os
import sys
import tempfile
import unicodedata
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.attack.agreement import against_tiktoken, report, strings, texts, training
from tests.attack.agreement.characters import Disagreement
from tests.attack.agreement.comparing import Outcome, Subject, compare, compare_decoding

_BESIDE: Final = Path(__file__).resolve().parents[4] / "shared" / "vocabs"
_FEWER: Final = 5
"""A tokenizer that is trained on the spot gets so many times fewer texts than a published one: there are thirty."""


def main() -> int:
    """Compare and print; with the defaults it takes an hour, with --strings 2000 --megabytes 0.5 some minutes."""
    parser = ArgumentParser(prog="python -m tests.attack.agreement", description=__doc__)
    parser.add_argument("--strings", type=int, default=100_000, help="how many nasty strings (100,000)")
    parser.add_argument("--megabytes", type=float, default=10, help="of real text (10)")
    parser.add_argument("--vocabularies", type=Path, metavar="FOLDER", help="published files (BPESCOPE_VOCABS)")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="parts of it")
    parser.add_argument("--encodings", nargs="+", choices=against_tiktoken.ENCODINGS, help="only these published ones")
    options = parser.parse_args()
    options.vocabularies = options.vocabularies or Path(os.environ.get("BPESCOPE_VOCABS", _BESIDE))
    print(f"{_versions()}\n")
    n_unexplained = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        there = against_tiktoken.unpacked(options.vocabularies, folder)
        there = [name for name in options.encodings or there if name in there]
        for section in options.only:
            n_unexplained += SECTIONS[section](options, folder, there)
    print(f"{n_unexplained:,} differences are unexplained.")
    return 1 if n_unexplained else 0


def _tiktoken(options: Namespace, folder: Path, there: list[str]) -> int:
    print("## tiktoken\n")
    found: list[Disagreement] = []

    def outcomes() -> Iterator[Outcome]:
        for name in there:
            yield from _both(against_tiktoken.subject(name, folder), found, options.strings, options.megabytes)
            for subject in against_tiktoken.earlier(name, folder):
                yield compare(subject, "nasty strings", _strings(options.strings // _FEWER))

    return _told("tiktoken", outcomes(), found)


def _huggingface(options: Namespace, folder: Path, there: list[str]) -> int:
    from tests.attack.agreement import against_huggingface, pipelines

    print("## Hugging Face's tokenizers\n")
    found: list[Disagreement] = []

    def outcomes() -> Iterator[Outcome]:
        for name in there:
            yield from _both(against_huggingface.published(name, folder), found, options.strings, options.megabytes)
        learned = texts.mixed(1).documents
        for name in pipelines.PIPELINES:
            subject = against_huggingface.trained(name, learned, folder)
            yield from _both(subject, found, options.strings // _FEWER, options.megabytes / _FEWER)

    return _told("Hugging Face's tokenizers", outcomes(), found)


def _training(options: Namespace, folder: Path, there: list[str]) -> int:
    print("## Training\n")
    kept: list[training.Training] = []
    _print(report.training_table(training.trainings(max(0.1, options.megabytes / 5)), kept))
    return sum(not each.agrees for each in kept)


def _both(subject: Subject, found: list[Disagreement], n_strings: int, megabytes: float) -> Iterator[Outcome]:
    """Strings, texts, all the texts as one, and ids."""
    found += subject.disagreements()
    yield compare(subject, "nasty strings", _strings(n_strings))
    documents = texts.mixed(megabytes).documents
    yield compare(subject, "real texts", documents)
    yield compare(subject, "all of them as one text", ["".join(documents)])
    yield compare_decoding(subject, n_strings // _FEWER)


def _strings(n: int) -> Iterator[str]:
    return strings.strings(n, strings.newer_characters())


def _told(whose: str, outcomes: Iterable[Outcome], found: list[Disagreement]) -> int:
    kept: list[Outcome] = []
    _print(report.outcome_table(_keeping(outcomes, kept)))
    _print(report.disputed_table(whose, found))
    print(report.occurred(kept), "\n")
    return sum(len(each.unexplained) for each in kept)


def _keeping(outcomes: Iterable[Outcome], kept: list[Outcome]) -> Iterator[Outcome]:
    for each in outcomes:
        if each.n:
            kept.append(each)
            yield each


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)


def _versions() -> str:
    packages = ("tiktoken", "tokenizers", "rustbpe", "regex")
    known = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    return f"{known}; Python {sys.version.split()[0]} with Unicode {unicodedata.unidata_version}."


SECTIONS: Final[dict[str, Callable[[Namespace, Path, list[str]], int]]] = {
    "tiktoken": _tiktoken,
    "huggingface": _huggingface,
    "training": _training,
}
"""Name -> what compares, prints, and tells how many differences are unexplained."""

if __name__ == "__main__":
    sys.exit(main())
