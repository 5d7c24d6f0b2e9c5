"""The part of a comparison that looks for differences between the tokenizers themselves."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from bpe_core.corpus import find_files
from bpe_core.difference import Difference, Witness, diff
from bpe_core.difference.texts import read_texts
from bpe_core.errors import Stopped
from bpe_core.tokenizer import Tokenizer
from bpe_core.worker.job import Job

_MOST_TRIED: Final = 20
"""Texts whose beginnings are tried at most."""


class DifferenceFound(NamedTuple):
    """The difference between the first tokenizer, A, and another one."""

    other: int  # the index of the other tokenizer
    difference: Difference  # in its sentences, the other one is called B
    tokens: tuple[tuple[bytes, ...], ...]
    """The tokens of the witness in both tokenizers; () if there is no text, or if one of them can't encode it."""


def send_differences(
    tokenizers: Sequence[Tokenizer], paths: Sequence[str], job: Job
) -> None:
    """Look for differences between the first tokenizer and each other one, until the job is stopped.

    The beginnings of the texts in `paths` are tried if it is not decided otherwise whether two tokenizers are the same.
    """
    first, *others = tokenizers
    progress = partial(job.progress, "deciding")
    with suppress(Stopped):
        for index, other in enumerate(others, 1):
            job.check()
            difference = diff(first, other, texts=_texts(paths), progress=progress)
            tokens: tuple[tuple[bytes, ...], ...] = ()
            match difference.witness:
                case Witness(_, tuple(a), tuple(b)):
                    tokens_of_a = tuple(map(first.token_bytes, a))
                    tokens = (tokens_of_a, tuple(map(other.token_bytes, b)))
            job.send(DifferenceFound(index, difference, tokens))


def _texts(paths: Sequence[str]) -> Iterator[str]:
    """Yield the first block of each of the first texts."""
    files = find_files(paths, every_character=True).files
    for _, blocks in islice(read_texts(files), _MOST_TRIED):
        yield next(iter(blocks), "")
