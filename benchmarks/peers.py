"""What is compared: each entry trains or encodes the way a user of that library would, and says which way that is.

Everybody gets the same split pattern, the same documents, and may use all cores in the way the library offers.
"""

import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

PATTERN: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""cl100k as tiktoken writes it."""

ONIGURUMA: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s"
)
"""The same for Hugging Face's Oniguruma, where `+` after a bound is no possessive, and `$` is the end of any line."""

Train = Callable[[list[Path], int, Path], None]
"""(files, vocabulary size, where to save)."""

Encode = Callable[[str], Any]
"""A text in, its ids out."""


def texts(paths: list[Path]) -> Iterator[str]:
    """Each file a document, not a newline translated."""
    return (path.read_bytes().decode() for path in paths)


def train_bpescope(
    paths: list[Path], vocab_size: int, out: Path, *, workers: int | None = None
) -> None:
    """Ours, on as many cores as the machine has."""
    from bpe_core import Counts, save, train
    from bpe_core.corpus import find_files

    counts = Counts.read(find_files(paths).files, "gpt4", workers=workers)
    save(train(counts, vocab_size=vocab_size, pattern="gpt4"), out)


def train_bpescope_one(paths: list[Path], vocab_size: int, out: Path) -> None:
    """Ours, on one core."""
    train_bpescope(paths, vocab_size, out, workers=1)


def train_tokenizers(paths: list[Path], vocab_size: int, out: Path) -> None:
    """Hugging Face, documents by an iterator: its own reading of files would split at every line."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(ONIGURUMA), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, show_progress=False, initial_alphabet=letters
    )
    tokenizer.train_from_iterator(texts(paths), trainer)
    tokenizer.save(str(out))


def train_rustbpe(paths: list[Path], vocab_size: int, out: Path) -> None:
    """rustbpe; its ranks are saved as a tiktoken file."""
    import base64

    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(texts(paths), vocab_size, pattern=PATTERN)
    ranks = tokenizer.get_mergeable_ranks()
    out.write_bytes(
        b"".join(
            base64.b64encode(bytes(token)) + b" %d\n" % rank for token, rank in ranks
        )
    )


def train_bpeasy(paths: list[Path], vocab_size: int, out: Path) -> None:
    """bpeasy, with the longest token that it documents; where pairs tie, it learns others than we do."""
    import bpeasy

    vocabulary = bpeasy.train_bpe(texts(paths), PATTERN, 128, vocab_size)
    bpeasy.save_vocab_to_tiktoken(vocabulary, str(out), special_tokens=[])


def train_naive(paths: list[Path], vocab_size: int, out: Path) -> None:
    """The algorithm of minbpe: count all pairs anew before every merge."""
    from benchmarks.naive import train

    out.write_text(
        "".join(
            f"{left} {right}\n"
            for left, right in train(texts(paths), vocab_size, PATTERN)
        )
    )


def train_sentencepiece(paths: list[Path], vocab_size: int, out: Path) -> None:
    """SentencePiece, whose splitting and whose characters differ: a note, no equal."""
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        input=[str(path) for path in paths],
        model_prefix=str(out),
        vocab_size=vocab_size,
        model_type="bpe",
        hard_vocab_limit=False,  # a small corpus may not have so many
        minloglevel=1,  # no word of its progress
    )


TRAINERS: Final[dict[str, tuple[str, Train]]] = {
    "bpescope": ("", train_bpescope),
    "bpescope, 1 core": ("", train_bpescope_one),
    "tokenizers": ("tokenizers", train_tokenizers),
    "rustbpe": ("rustbpe", train_rustbpe),
    "bpeasy": ("bpeasy", train_bpeasy),
    "naive": ("", train_naive),
    "sentencepiece": ("sentencepiece", train_sentencepiece),
}
"""Name -> the package it needs, and what trains."""

SLOW: Final = frozenset({"naive"})
"""Those that would take hours: only for a toy."""

UNLIKE: Final = frozenset({"sentencepiece"})
"""Those that learn something else than the others: a note for small inputs."""


Load = Callable[[Path], Encode]
"""A file in, an encoder out."""


def loader_bpescope() -> Load:
    """Ours, whatever the format."""
    from bpe_core import load

    return lambda path: (
        load(
            path, pattern="gpt4" if path.name == "saved.tiktoken" else None
        ).encode_ordinary
    )


def loader_tiktoken() -> Load:
    """tiktoken, from its own kind of file."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    from bpe_core.patterns.pattern import PATTERNS

    def read(path: Path) -> Encode:
        ranks = load_tiktoken_bpe(str(path))
        source = PATTERNS["gpt4o"] if path.stem == "o200k_base" else PATTERN
        return tiktoken.Encoding(
            "read", pat_str=source, mergeable_ranks=ranks, special_tokens={}
        ).encode_ordinary

    return read


def loader_gigatoken() -> Load:
    """gigatoken, from a published file of ranks, whose name tells it the pattern."""
    import gigatoken

    return lambda path: gigatoken.Tokenizer.from_tiktoken(str(path)).encode


def loader_quicktok() -> Load:
    """quicktok, from the file of its own that it brings with it."""
    import quicktok

    return lambda path: quicktok.get_encoding(path.stem).encode_ordinary


def loader_tokenizers() -> Load:
    """Hugging Face, from its own kind of file."""
    from tokenizers import Tokenizer

    return lambda path: lambda text: Tokenizer.from_file(str(path)).encode(text).ids


LOADERS: Final[dict[str, tuple[str, Callable[[], Load]]]] = {
    "bpescope": ("", loader_bpescope),
    "tiktoken": ("tiktoken", loader_tiktoken),
    "gigatoken": ("gigatoken", loader_gigatoken),
    "quicktok": ("quicktok", loader_quicktok),
    "tokenizers": ("tokenizers", loader_tokenizers),
}
"""Name -> the package it needs, and what imports it and makes a reader of files."""


def installed(package: str) -> bool:
    """Whether a package can be compared with here."""
    return not package or importlib.util.find_spec(package) is not None


def versions() -> dict[str, str]:
    """Package -> version, of those that are installed."""
    packages = (
        "tokenizers",
        "tiktoken",
        "gigatoken",
        "quicktok-v1",
        "rustbpe",
        "bpeasy",
        "sentencepiece",
        "regex",
    )
    return {
        package: importlib.metadata.version(package)
        for package in packages
        if installed(package)
    }
