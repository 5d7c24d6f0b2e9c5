"""Rank files of tiktoken: a line per token, with its bytes in base64, a space, and its rank, which is its id.

They contain no pattern, no special tokens and no merges. For published files the first two are in
`bpe_core.formats.known_files`; merges are not needed to encode, and are recovered when they are to be shown.
"""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from bpe_core import kernel
from bpe_core.errors import FormatError, PatternNeededError
from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.huggingface.writing import matching_all, specials_of
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

_FIRST: Final = (
    8  # lines that tell a file of ranks from a text, which may begin with "Book 1"
)


def recognizes(data: bytes) -> bool:
    lines = [line.split() for line in data[:4096].splitlines() if line.strip()][:_FIRST]
    if len(lines) < 2 or any(
        len(line) != 2 or from_base64(line[0]) is None for line in lines
    ):
        return False
    ranks = [rank for line in lines if (rank := id_in(line[1])) is not None]
    is_ascending = len(ranks) == len(lines) and ranks == sorted(set(ranks))
    return is_ascending and ranks[-1] - ranks[0] < 2 * len(ranks)  # a few may be unused


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    known = KNOWN_FILES.get(sha256(file.data).hexdigest(), KnownFile(file.stem, "", {}))
    tokens, id_of = kernel.read_ranks(file.data) or (_line_by_line(file), None)
    vocabulary = vocabulary_of(file, tokens, known.special_tokens, id_of)
    if pattern is None and not known.pattern:
        why = "holds ranks, but not how to split a text, and is none of the published files known here"
        raise PatternNeededError(
            f"{file.where} {why}; name its pattern, such as llama3 or qwen2 (--pattern)."
        )
    pattern = known.pattern if pattern is None else pattern
    preparation = known.normalization and Preparation(
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
    tokens: dict[int, bytes] = {}
    for number, line in enumerate(file.data.splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 2:
            file.broken(f"line {number} is not a token in base64, a space and a rank")
        word, digits = parts
        if (data := from_base64(word)) is None:
            file.broken(
                f"in line {number}, {quoted(word.decode(errors='replace'))} is not base64"
            )
        if (rank := id_in(digits)) is None:
            file.broken(
                f"in line {number}, {quoted(digits.decode(errors='replace'))} is no rank"
            )
        if rank in tokens:
            file.broken(f"in line {number}, the rank {rank} stands for a second time")
        tokens[rank] = data
    return tokens


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """The lines of the file, without special tokens and pattern, for which the format has no place."""
    for token, data in ranks_of(tokenizer).items():
        yield f"{b64encode(data).decode() or '='} {token}\n"


def warning_about(tokenizer: Tokenizer) -> str:
    """What to tell somebody who writes a file of ranks: that it lacks the special tokens, and how to keep them; "" if
    there are none, or if the file is a published one whose special tokens are known."""
    specials = tokenizer.special_tokens
    if not specials:
        return ""
    digest = sha256("".join(write(tokenizer)).encode()).hexdigest()
    known = KNOWN_FILES.get(digest)
    if known and known.special_tokens == specials:
        return ""
    text, token = next(iter(specials.items()))
    left_out = f"{quoted(text)} ({token}) is"
    if len(specials) > 1:
        left_out = f"{quoted(text)} ({token}) and {len(specials) - 1:,} more are"
    return (
        f"A file of ranks has no place for special tokens, so {left_out} left out. Name them where the file is "
        "read, in tiktoken as special_tokens, or keep them with the format huggingface or native."
    )


def to_tiktoken(tokenizer: Tokenizer) -> "tiktoken.Encoding":
    """A tiktoken encoding with the same ids for every text. Raises `FormatError` if merging by ranks or splitting in
    tiktoken would give others, and `FetchError` if tiktoken is not installed."""
    library = installed("tiktoken", "to_tiktoken", "hub")
    ranks = {data: token for token, data in ranks_of(tokenizer).items()}
    source = matching_all(tokenizer, "as an encoding of tiktoken") or r"[\s\S]+"
    name = tokenizer.name or "bpescope"
    try:
        encoding: tiktoken.Encoding = library.Encoding(
            name,
            pat_str=source,
            mergeable_ranks=ranks,
            special_tokens=tokenizer.special_tokens,
        )
    except ValueError as error:
        raise FormatError(f"tiktoken refuses this tokenizer: {error}.") from None
    return encoding
