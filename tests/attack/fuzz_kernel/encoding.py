"""The kernel's encoder held against the one in Python, tiktoken and the slow definition: all must have the same ids."""

import random
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

from bpe_core import PATTERNS, Tokenizer, load, reference
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from tests.nasty import KNOWN, texts

_RANKS: Final = {"gpt2": "r50k_base", "gpt4o": "o200k_base"}
"""Pattern -> the published ranks that belong to it; others are tried with those of GPT-4."""


class Published:
    """The ranks of a published vocabulary under a published pattern, here and in tiktoken."""

    def __init__(self, pattern: str, folder: Path) -> None:
        import tiktoken

        self._tokenizer = load(
            folder / f"{_RANKS.get(pattern, 'cl100k_base')}.tiktoken", pattern=pattern
        )
        ranks = {
            data: token for token, data in self._tokenizer.vocabulary.bytes_of.items()
        }
        self._theirs: Any = tiktoken.Encoding(
            pattern, pat_str=PATTERNS[pattern], mergeable_ranks=ranks, special_tokens={}
        )
        self._in_python = lru_cache(1 << 16)(
            lambda piece: _in_python(self._tokenizer, piece)
        )
        self._in_tiktoken = lru_cache(1 << 16)(self._theirs._encode_single_piece)

    def difference(self, text: str, *, in_every_way: bool) -> str:
        """What differs between the kernel and tiktoken, or between every way to encode a text; "" if nothing does.

        tiktoken knows fewer letters than `regex`: it splits texts of `KNOWN` ones only, others are split for it.
        """
        tokenizer, pieces = self._tokenizer, list[str]()
        is_known = KNOWN.issuperset(text)
        if in_every_way or not is_known:
            pieces = tokenizer.splitter.split(text)
        ids = {
            "kernel": tokenizer.encode_ordinary(text),
            "tiktoken": self._theirs.encode_ordinary(text)
            if is_known
            else list(chain.from_iterable(map(self._in_tiktoken, pieces))),
        }
        if in_every_way:
            in_blocks = tokenizer.divide(_blocks(text), disallowed_special=())
            ids |= {
                "python": list(chain.from_iterable(map(self._in_python, pieces))),
                "pieces": tokenizer._ids_of_pieces(pieces),
                "batch": self._in_a_batch(text),
                "blocks": [
                    token
                    for part in in_blocks
                    for token in tokenizer.encode_ordinary(part)
                ],
            }
        return (
            ""
            if all(found == ids["kernel"] for found in ids.values())
            else f"{text!r}: {ids}"
        )

    def _in_a_batch(self, text: str) -> list[int] | None:
        """What the third of three texts becomes, the ids of which begin and end in the midst of those of all."""
        texts, scanner = (
            [text[1:], text[:1], text, text[::-1]],
            self._tokenizer.splitter.scanner,
        )
        found = self._tokenizer.vocabulary.encoding.encode_texts(
            texts, scanner, as_arrays=len(text) % 2 == 0
        )
        return list(found[2]) if found else None


def _in_python(tokenizer: Tokenizer, piece: str) -> tuple[int, ...]:
    vocabulary, data = tokenizer.vocabulary, piece.encode()
    whole = vocabulary.encoding.whole(data)
    return vocabulary.encoding.merge_in_python(data) if whole is None else (whole,)


def _blocks(text: str) -> Iterator[str]:
    """The text in blocks whose sizes depend on it alone."""
    at, size = 0, len(text) % 5 + 1
    while at < len(text):
        yield text[at : at + size]
        at, size = at + size, ord(text[at]) % 7 + 1


_published = lru_cache(1)(Published)


def published(pattern: str, folder: Path, rng: random.Random) -> Iterator[str]:
    """What differs in one text after the other, with ranks from `folder`; one of four is tried in every way."""
    difference = _published(pattern, folder).difference
    return (
        difference(text, in_every_way=number % 4 == 0)
        for number, text in enumerate(texts(rng))
    )


def merges(rng: random.Random) -> Iterator[str]:
    """Merges that no training would learn, on pieces of few letters that repeat themselves, at any step."""
    while True:
        triples = merges_of_few_letters(rng, rng.choice((3, 10, 40)))
        vocabulary = Vocabulary({byte: bytes([byte]) for byte in range(256)}, triples)
        for _ in range(20):
            unit = bytes(rng.choices(b"abc", k=rng.randint(1, 12)))
            piece = unit * rng.choice((1, 1, 7, 30)) + bytes(
                rng.choices(b"abc", k=rng.choice((0, 3, 200)))
            )
            step = rng.randint(0, len(triples))
            wanted = tuple(reference.encode(piece, triples[:step]))
            found = vocabulary.at(step).encode(piece)
            yield (
                ""
                if found == wanted
                else f"{piece!r} at {step} of {triples}: {found} instead of {wanted}"
            )


def merges_of_few_letters(rng: random.Random, n: int) -> list[Triple]:
    """So many merges of a, b and c, in any order that has a token before it is used."""
    ids, found = [*b"abc"], dict[tuple[int, int], int]()
    while len(found) < n:
        pair = rng.choice(ids), rng.choice(ids)
        if pair not in found:
            found[pair] = 256 + len(found)
            ids.append(found[pair])
    return [(left, right, token) for (left, right), token in found.items()]
