"""`python -m tests.attack.agreement`: all comparisons, a line each; exit code 1 if a difference is left unexplained."""

import importlib.metadata
import random
import sys
import tempfile
import unicodedata
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.attack.agreement import against_tiktoken, texts, training
from tests.attack.agreement.comparing import Outcome, Subject, compare, compare_decoding
from tests.attack.published import ENCODINGS, not_attacked, unpacked
from tests.nasty import newer_characters, strings

_FEWER: Final = 5
"""A tokenizer that is trained on the spot gets so many times fewer texts than a published one: there are thirty."""


def main() -> int:
    """Compare and print; with the defaults it takes an hour, with --strings 2000 --kilobytes 500 some minutes."""
    parser = ArgumentParser(
        prog="python -m tests.attack.agreement", description=__doc__
    )
    parser.add_argument(
        "--strings", type=int, default=100_000, help="how many nasty strings (100,000)"
    )
    parser.add_argument(
        "--kilobytes", type=int, default=10_000, help="of real text (10,000)"
    )
    parser.add_argument(
        "--pipelines",
        type=int,
        default=30,
        help="of Hugging Face's that are trained on the spot (30)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of the strings, and of which pipelines"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SECTIONS,
        default=list(SECTIONS),
        help="parts of it",
    )
    options = parser.parse_args()
    packages = ("tiktoken", "tokenizers", "rustbpe", "regex")
    versions = ", ".join(
        f"{package} {importlib.metadata.version(package)}" for package in packages
    )
    print(
        f"{versions}; Python {sys.version.split()[0]} with Unicode {unicodedata.unidata_version}",
        flush=True,
    )
    n_unexplained = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        there = unpacked(folder)
        for section in options.only:
            for found in SECTIONS[section](options, folder, there):
                print(found, flush=True)
                n_unexplained += found.n_unexplained
    print(f"{n_unexplained:,} differences are unexplained.")
    if len(there) < len(ENCODINGS):
        print(not_attacked(there))
    return 1 if n_unexplained else 0


def _tiktoken(options: Namespace, folder: Path, there: list[str]) -> Iterator[Outcome]:
    for name in there:
        yield from _both(against_tiktoken.subject(name, folder), options)
        for subject in against_tiktoken.earlier(name, folder):
            yield compare(subject, "nasty strings", _strings(options, _FEWER))


def _huggingface(
    options: Namespace, folder: Path, there: list[str]
) -> Iterator[Outcome]:
    from tests.attack.agreement import against_huggingface, pipelines

    for name in there:
        yield from _both(against_huggingface.published(name, folder), options)
    learned = texts.mixed(min(1000, options.kilobytes)).documents
    every = list(pipelines.PIPELINES)
    for name in random.Random(options.seed).sample(
        every, k=min(options.pipelines, len(every))
    ):
        yield from _both(
            against_huggingface.trained(name, learned, folder), options, _FEWER
        )


def _training(
    options: Namespace, folder: Path, there: list[str]
) -> Iterator[training.Training]:
    return training.trainings(max(100, options.kilobytes // 5))


def _both(subject: Subject, options: Namespace, fewer: int = 1) -> Iterator[Outcome]:
    """Strings, texts, all the texts as one, and ids."""
    yield compare(subject, "nasty strings", _strings(options, fewer))
    documents = texts.mixed(options.kilobytes // fewer).documents
    yield compare(subject, "real texts", documents)
    yield compare(subject, "all of them as one text", ["".join(documents)])
    yield compare_decoding(subject, options.strings // fewer // _FEWER, options.seed)


def _strings(options: Namespace, fewer: int) -> Iterator[str]:
    return strings(options.strings // fewer, newer_characters(), options.seed)


SECTIONS: Final = {
    "tiktoken": _tiktoken,
    "huggingface": _huggingface,
    "training": _training,
}
"""Name -> what compares."""

if __name__ == "__main__":
    sys.exit(main())
