"""Who encodes a text, each to what it offers: a list of Python's integers, or an array of numbers.

A vocabulary is a file: one of ours, learned from the corpora here, or a published one (`o200k_base.tiktoken`).
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.peers import PATTERN, Encode, installed

PUBLISHED: Final = {"r50k_base": "gpt2", "cl100k_base": "gpt4", "o200k_base": "gpt4o"}
"""Stem of a file of published ranks -> its pattern."""

BEFORE: Final = "BPESCOPE_BEFORE"
"""The environment variable that names another checkout of bpescope, with its kernel compiled, to be measured too."""

_BUNDLED: Final = frozenset({"cl100k_base", "o200k_base"})
"""Published vocabularies that quicktok brings with it; it takes no file of ranks."""


def bpescope(vocabulary: Path) -> Encode:
    """Ours, a list."""
    from bpe_core import load

    return load(vocabulary).encode_ordinary


def bpescope_array(vocabulary: Path) -> Encode:
    """Ours, four bytes an id instead of a list."""
    from bpe_core import load

    return load(vocabulary).encode_to_array


def tiktoken(vocabulary: Path) -> Encode:
    """tiktoken, a list, with the very ranks of the file."""
    encode: Encode = encoding_tiktoken(vocabulary).encode_ordinary
    return encode


def tiktoken_array(vocabulary: Path) -> Encode:
    """tiktoken, an array of numpy."""
    return partial(encoding_tiktoken(vocabulary).encode_to_numpy, disallowed_special=())


def encoding_tiktoken(vocabulary: Path) -> Any:
    """The encoding that tiktoken makes of a vocabulary, its pattern written as tiktoken does."""
    import tiktoken

    from bpe_core import load

    read = load(vocabulary)
    ranks = {read.token_bytes(token): token for token in read.vocabulary.ids()}
    source = PATTERN if read.pattern == "gpt4" else read.splitter.source
    return tiktoken.Encoding(
        vocabulary.stem, pat_str=source, mergeable_ranks=ranks, special_tokens={}
    )


def gigatoken(vocabulary: Path) -> Encode:
    """gigatoken, with the very ranks of the file; an array of numpy."""
    import gigatoken

    from bpe_core import load, save

    if vocabulary.suffix == ".tiktoken":
        ranks, pattern = vocabulary, PUBLISHED[vocabulary.stem]
    else:
        ranks, read = (
            vocabulary.with_name(f"{vocabulary.stem}-ranks.tiktoken"),
            load(vocabulary),
        )
        save(read, ranks, format="tiktoken")
        pattern = read.pattern
    splits = {"gpt2": "gpt2", "gpt4": "gpt4", "gpt4o": "o200k"}[pattern]
    encode: Encode = gigatoken.Tokenizer.from_tiktoken(
        str(ranks), pretokenizer=splits, special_tokens={}
    ).encode
    return encode


def gigatoken_list(vocabulary: Path) -> Encode:
    """gigatoken, a list made of its array."""
    encode = gigatoken(vocabulary)
    return lambda text: encode(text).tolist()


def quicktok(vocabulary: Path) -> Encode:
    """quicktok, a list."""
    import quicktok

    encode: Encode = quicktok.get_encoding(vocabulary.stem).encode_ordinary
    return encode


def quicktok_array(vocabulary: Path) -> Encode:
    """quicktok, an array of numpy, in one thread."""
    import quicktok

    encode_batch = quicktok.get_encoding(vocabulary.stem).encode_batch
    return lambda text: encode_batch([text], threads=1)[0]


def before(make: Callable[[Path], Encode]) -> Callable[[Path], Encode]:
    """Ours, of the other checkout; nothing of this one may have been imported."""

    def make_before(vocabulary: Path) -> Encode:
        sys.path.insert(0, os.environ[BEFORE])
        return make(vocabulary)

    return make_before


ENCODERS: Final[dict[str, tuple[str, Callable[[Path], Encode]]]] = {
    "bpescope": ("", bpescope),
    "bpescope, array": ("", bpescope_array),
    "before": ("", before(bpescope)),
    "before, array": ("", before(bpescope_array)),
    "gigatoken": ("gigatoken", gigatoken_list),
    "gigatoken, array": ("gigatoken", gigatoken),
    "quicktok": ("quicktok", quicktok),
    "quicktok, array": ("quicktok", quicktok_array),
    "tiktoken": ("tiktoken", tiktoken),
    "tiktoken, array": ("tiktoken", tiktoken_array),
}
"""Name -> the package it needs, and what makes an encoder of a vocabulary."""


EncodeAll = Callable[[list[str]], Iterable[Any]]
"""Texts in, the ids of each out."""


def bpescope_batch(vocabulary: Path) -> EncodeAll:
    """Ours, lists."""
    from bpe_core import load

    return load(vocabulary).encode_ordinary_batch


def bpescope_batch_arrays(vocabulary: Path) -> EncodeAll:
    """Ours, arrays."""
    from bpe_core import load

    return load(vocabulary).encode_to_arrays


def tiktoken_batch(vocabulary: Path) -> EncodeAll:
    """tiktoken, lists, by a thread a core instead of its eight."""
    return partial(
        encoding_tiktoken(vocabulary).encode_ordinary_batch, num_threads=os.cpu_count()
    )


def tokenizers_batch(vocabulary: Path) -> EncodeAll:
    """Hugging Face, lists, in its quicker way, without offsets."""
    from bpe_core import load

    encode_all = load(vocabulary).to_tokenizers().encode_batch_fast
    return lambda texts: [
        each.ids for each in encode_all(texts, add_special_tokens=False)
    ]


def gigatoken_batch_arrays(vocabulary: Path) -> EncodeAll:
    """gigatoken, what it makes of a batch."""
    return gigatoken(vocabulary).__self__.encode_batch  # type: ignore[attr-defined, no-any-return]


def gigatoken_batch(vocabulary: Path) -> EncodeAll:
    """gigatoken, lists made of that."""
    encode_all = gigatoken_batch_arrays(vocabulary)
    return lambda texts: [ids.tolist() for ids in encode_all(texts)]


BATCHES: Final[dict[str, tuple[str, Callable[[Path], EncodeAll]]]] = {
    "bpescope": ("", bpescope_batch),
    "bpescope, array": ("", bpescope_batch_arrays),
    "gigatoken": ("gigatoken", gigatoken_batch),
    "gigatoken, array": ("gigatoken", gigatoken_batch_arrays),
    "tiktoken": ("tiktoken", tiktoken_batch),
    "tokenizers": ("tokenizers", tokenizers_batch),
}
"""The same of batches, encoded by as many threads as there are cores."""


def able(vocabulary: Path) -> Iterator[str]:
    """Names of those that are installed and can encode with a vocabulary."""
    for name, (package, _) in ENCODERS.items():
        is_there = installed(package) and (
            package != "quicktok" or vocabulary.stem in _BUNDLED
        )
        if is_there and (not name.startswith("before") or BEFORE in os.environ):
            yield name
