"""Read and write the .model files of minbpe.

Line 1 is "minbpe v1", line 2 the split pattern, line 3 the number of special tokens. Then comes one
line per special token ("text id"), and one per merge ("left right", two ids). Bytes have the ids 0
to 255, and merges make the ids from 256 on.
"""

from collections.abc import Iterator
from itertools import count
from typing import Final

from bpe_core.formats.expressions import matching_all
from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.formats.json_fields import id_in
from bpe_core.formats.native import bytes_from, check_pairs
from bpe_core.patterns import PATTERNS
from bpe_core.patterns.pattern import is_bare_word
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted, visible
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple

_FIRST_LINE: Final = "minbpe v1"
_NAME_OF: Final = {source: name for name, source in PATTERNS.items()}
_ALPHABET: Final = bytes_from(0)
_TARGET: Final = "for minbpe"
_MOST_BYTES: Final = 1 << 24
"""Bytes of all tokens. A million real tokens have less, but each merge may double a token."""


def recognizes(data: bytes) -> bool:
    return data.startswith(b"minbpe v")


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    lines = file.text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != _FIRST_LINE:
        file.unsupported(
            f"it has the version '{visible(lines[0][:40])}', and only {_FIRST_LINE} is supported"
        )
    if len(lines) < 3:
        file.broken("it ends before its third line, the number of special tokens")
    n_specials = _id_in(file, 3, lines[2])
    first_merge = 3 + n_specials
    if len(lines) < first_merge:
        file.broken(f"it ends before its {n_specials} special tokens do")
    special_tokens = _special_tokens(file, lines[3:first_merge])
    merges = _merges(file, lines, first_merge)
    vocabulary = Vocabulary(_ALPHABET, merges, special_tokens, most_bytes=_MOST_BYTES)
    if pattern is None:
        pattern = lines[1].strip()
        pattern = _NAME_OF.get(pattern, pattern)
    return Tokenizer(vocabulary, pattern, name=file.stem)


def _special_tokens(file: TokenizerFile, lines: list[str]) -> dict[str, int]:
    """Return text -> id of the special tokens, which begin in line 4 of the file."""
    special_tokens: dict[str, int] = {}
    for number, line in enumerate(lines, 4):
        text, _, digits = line.rstrip().rpartition(" ")
        if not text:
            file.broken(f"line {number} is not a special token and its id")
        special_tokens[text] = _id_in(file, number, digits)
    return special_tokens


def _merges(file: TokenizerFile, lines: list[str], first: int) -> list[Triple]:
    """Return the merges in the lines from the index `first` on. Blank lines are ignored."""
    merges: list[Triple] = []
    new_ids = count(256)
    for number, line in enumerate(lines[first:], first + 1):
        if not line:
            continue
        words = line.split()
        if len(words) != 2:
            file.broken(f"line {number} is not the ids of two tokens")
        left = _id_in(file, number, words[0])
        right = _id_in(file, number, words[1])
        merges.append((left, right, next(new_ids)))
    check_pairs(file, merges)
    return merges


def _id_in(file: TokenizerFile, line_number: int, digits: str) -> int:
    token = id_in(digits.strip())
    if token is None:
        file.broken(f"in line {line_number}, {quoted(digits)} is not a valid number")
    return token


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the text of the file, in parts.

    Raises:
        FormatError: minbpe would give some text other ids, or can't read the file.
    """
    vocabulary = tokenizer.vocabulary
    _check_vocabulary(tokenizer)
    pattern = _written_pattern(tokenizer)
    yield f"{_FIRST_LINE}\n{pattern}\n{len(vocabulary.special_tokens)}\n"
    for text, token in vocabulary.special_tokens.items():
        yield f"{text} {token}\n"
    for left, right, _ in vocabulary.merges:
        yield f"{left} {right}\n"


def _check_vocabulary(tokenizer: Tokenizer) -> None:
    vocabulary = tokenizer.vocabulary
    if tokenizer.preparation or not vocabulary.is_bytewise:
        refuse(_TARGET, "it does more to a text than split it")
    if vocabulary.base != _ALPHABET:
        refuse(_TARGET, "its first 256 ids are not the bytes 0 to 255 in order")
    made = [token for _, _, token in vocabulary.merges]
    if made != list(range(256, 256 + len(made))):
        refuse(_TARGET, "its merges do not make the ids from 256 on, one after another")
    if sum(map(len, vocabulary.bytes_of.values())) - 256 > _MOST_BYTES:
        refuse(_TARGET, f"its tokens have more than {_MOST_BYTES:,} bytes in all")
    for text in vocabulary.special_tokens:
        if text.split() != [text]:
            refuse(
                _TARGET,
                "a special token has whitespace in it, which minbpe cannot read",
            )


def _written_pattern(tokenizer: Tokenizer) -> str:
    """Return the line with the pattern, which `read` understands as an expression, not a name."""
    pattern = matching_all(tokenizer, _TARGET, in_regex=True)
    if tokenizer.splitter.lossy and tokenizer.pattern != "words":
        refuse(
            _TARGET,
            "its pattern drops what it does not match, which only bpescope can express",
        )
    if is_bare_word(pattern):
        pattern = f"(?:{pattern})"
    if pattern != pattern.strip() or "\n" in pattern:
        refuse(
            _TARGET,
            "its pattern begins or ends with whitespace, or has several lines",
        )
    return pattern
