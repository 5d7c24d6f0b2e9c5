"""Rank files of tiktoken. Each line is a token in base64, a space, and its rank, which is its id.

The files contain no split pattern, no special tokens and no merges. For published files,
`known_files` has the pattern and the special tokens. Merges are not needed to encode; they are
recovered when they are to be shown.
"""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from bpe_core import kernel
from bpe_core.errors import FormatError, PatternNeededError
from bpe_core.formats.expressions import matching_all
from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.formats.huggingface.writing import specials_of
from bpe_core.formats.json_fields import id_in
from bpe_core.formats.known_files import KNOWN_FILES, KnownFile
from bpe_core.formats.ranks import from_base64, ranks_of, vocabulary_of
from bpe_core.patterns import splitter
from bpe_core.process import installed
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import NormalForm, Normalizer
from bpe_core.tokenizer.preparation import Preparation, SplitStep
from bpe_core.visible import quoted

if TYPE_CHECKING:
    import tiktoken

_N_LINES_CHECKED: Final = 8
"""Lines that are checked to recognize a file of ranks. A text may begin with "Book 1"."""


def recognizes(data: bytes) -> bool:
    lines = [line.split() for line in data[:4096].splitlines() if line.strip()]
    ranks: list[int] = []
    for words in lines[:_N_LINES_CHECKED]:
        if len(words) != 2 or from_base64(words[0]) is None:
            return False
        rank = id_in(words[1])
        if rank is None:
            return False
        ranks.append(rank)
    if len(ranks) < 2 or ranks != sorted(set(ranks)):
        return False
    return ranks[-1] - ranks[0] < 2 * len(ranks)  # a few ranks may be unused


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    digest = sha256(file.data).hexdigest()
    known = KNOWN_FILES.get(digest)
    if known is None:
        known = KnownFile(name=file.stem, pattern="", special_tokens={})
    tables = kernel.read_ranks(file.data)
    if tables:
        tokens, id_of = tables
    else:
        tokens, id_of = _line_by_line(file), None
    vocabulary = vocabulary_of(file, tokens, known.special_tokens, id_of)
    if pattern is None:
        pattern = known.pattern
        if not pattern:
            raise PatternNeededError(
                f"{file.where} has no split pattern and is not a known published file; "
                "give its pattern, such as llama3 or qwen2 (--pattern)."
            )
    preparation = None
    if known.normalization:
        preparation = Preparation(
            added=specials_of(vocabulary),
            normalize=Normalizer([NormalForm(known.normalization)]),
            steps=(SplitStep(splitter(pattern)),),
            description={
                "normalizer": {"type": known.normalization},
                "decoder": {"type": "ByteLevel"},
            },
        )
    return Tokenizer(vocabulary, pattern, name=known.name, preparation=preparation)


def _line_by_line(file: TokenizerFile) -> dict[int, bytes]:
    """Return rank -> bytes of the tokens in a file that the kernel does not read.

    The kernel reads no file with an error, and no unusual file, such as one with blank lines.

    Raises:
        FormatError: The file is broken.
    """
    tokens: dict[int, bytes] = {}
    for number, line in enumerate(file.data.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if len(words) != 2:
            file.broken(f"line {number} must be a base64 token, a space and a rank")
        data = from_base64(words[0])
        if data is None:
            word = words[0].decode(errors="replace")
            file.broken(f"in line {number}, {quoted(word)} is not base64")
        rank = id_in(words[1])
        if rank is None:
            word = words[1].decode(errors="replace")
            file.broken(f"in line {number}, {quoted(word)} is not a valid rank")
        if rank in tokens:
            file.broken(f"in line {number}, the rank {rank} occurs a second time")
        tokens[rank] = data
    return tokens


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the lines of the file. The format has no place for special tokens and the pattern.

    Raises:
        FormatError: The tokenizer can't be written as ranks, or `recognizes` would not know the file again.
    """
    lines = [
        f"{b64encode(data).decode() or '='} {token}\n"
        for token, data in ranks_of(tokenizer).items()
    ]
    if not recognizes("".join(lines[:_N_LINES_CHECKED]).encode()):
        refuse(
            "as a file of ranks",
            "its first ids are too far apart for such a file to be recognized",
        )
    yield from lines


def warning_about(tokenizer: Tokenizer) -> str:
    """Return a warning that a file of ranks lacks special tokens, and how to keep them.

    Returns:
        "" if there are none, or if the file is a published one whose special tokens are known.

    Raises:
        FormatError: The tokenizer can't be written as ranks.
    """
    special_tokens = tokenizer.special_tokens
    if not special_tokens:
        return ""
    digest = sha256("".join(write(tokenizer)).encode()).hexdigest()
    known = KNOWN_FILES.get(digest)
    if known and known.special_tokens == special_tokens:
        return ""
    text, token = next(iter(special_tokens.items()))
    left_out = f"{quoted(text)} ({token}) is"
    if len(special_tokens) > 1:
        left_out = f"{quoted(text)} ({token}) and {len(special_tokens) - 1:,} more are"
    return (
        f"A file of ranks has no place for special tokens, so {left_out} left out. Pass them to "
        "the program that reads the file (special_tokens in tiktoken), or keep them with the "
        "format huggingface or native."
    )


def to_tiktoken(tokenizer: Tokenizer) -> "tiktoken.Encoding":
    """Return a tiktoken encoding that gives the same ids for every text.

    Raises:
        FormatError: Merging by ranks, or splitting in tiktoken, would give some text other ids.
        FetchError: tiktoken is not installed.
    """
    library = installed("tiktoken", "to_tiktoken", "hub")
    ranks = {data: token for token, data in ranks_of(tokenizer).items()}
    # An empty expression makes one piece of a text.
    expression = matching_all(tokenizer, "as an encoding of tiktoken")
    try:
        encoding: tiktoken.Encoding = library.Encoding(
            tokenizer.name or "bpescope",
            pat_str=expression or r"[\s\S]+",
            mergeable_ranks=ranks,
            special_tokens=tokenizer.special_tokens,
        )
    except ValueError as error:
        raise FormatError(f"tiktoken refuses this tokenizer: {error}.") from None
    return encoding
