"""The .model files of minbpe.

Line 1 is "minbpe v1", line 2 the split pattern, line 3 the number of special tokens, then a line for each ("text id"),
and a line for each merge ("left right", ids). Bytes have the ids 0 to 255 and merges those from 256 on.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from bpe_core.formats.atomic import refuse
from bpe_core.formats.file import LARGEST_ID, LONGEST_TOKEN, MOST_MADE, TokenizerFile
from bpe_core.formats.huggingface.writing import may_match_nothing
from bpe_core.patterns import PATTERNS
from bpe_core.patterns.pattern import Split, is_bare_word
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from bpe_core.vocabulary import Vocabulary

_FIRST_LINE: Final = "minbpe v1"
_NAME_OF: Final = {source: name for name, source in PATTERNS.items()}
_ALPHABET: Final = {byte: bytes([byte]) for byte in range(256)}
_TARGET: Final = "for minbpe"


def recognizes(data: bytes) -> bool:
    """Whether it begins with "minbpe v", in any version."""
    return data.startswith(b"minbpe v")


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file; `pattern` replaces the file's. Raises `FormatError`."""
    lines = file.text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != _FIRST_LINE:
        file.unsupported(f"it is of the version '{visible(lines[0][:40])}', and only {_FIRST_LINE} is known")
    if len(lines) < 3:
        file.broken("it ends before its third line, the number of special tokens")
    n_specials = _number(file, 3, lines[2])
    if len(lines) < 3 + n_specials:
        file.broken(f"it ends before its {n_specials} special tokens do")
    specials: dict[str, int] = {}
    for number, line in enumerate(lines[3 : 3 + n_specials], 4):
        name, _, token = line.rstrip().rpartition(" ")
        if not name:
            file.broken(f"line {number} is not a special token and its id")
        specials[name] = _number(file, number, token)
    vocabulary = Vocabulary(_ALPHABET, _merges(file, enumerate(lines[3 + n_specials :], 4 + n_specials)), specials)
    source = lines[1].strip()
    return Tokenizer(vocabulary, _NAME_OF.get(source, source) if pattern is None else pattern, name=file.stem)


def _number(file: TokenizerFile, line: int, digits: str) -> int:
    digits = digits.strip()
    if not digits.isascii() or not digits.isdigit() or len(digits) > 10 or int(digits) > LARGEST_ID:
        file.broken(f"in line {line}, '{visible(digits[:40])}' is not a number that can stand there")
    return int(digits)


def _merges(file: TokenizerFile, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, int, int]]:
    """The merges; raises `FormatError` for unknown ids, repeated merges, and tokens that are too long."""
    seen: set[tuple[int, int]] = set()
    lengths = [1] * 256
    room = MOST_MADE
    for line, text in lines:
        if not text:
            continue
        parts = text.split()
        if len(parts) != 2:
            file.broken(f"line {line} is not the ids of two tokens")
        left, right = (_number(file, line, part) for part in parts)
        if max(left, right) >= len(lengths):
            file.broken(f"in line {line}, the id {max(left, right)} is no byte, and no line before it makes it")
        if (left, right) in seen:
            file.broken(f"in line {line}, {left} and {right} have been merged before")
        seen.add((left, right))
        lengths.append(lengths[left] + lengths[right])
        room -= lengths[-1]
        if room < 0 or lengths[-1] > LONGEST_TOKEN:
            file.broken(f"in line {line}, the tokens become too long")
        yield left, right, len(lengths) - 1


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """The text of the file, in parts. Raises `FormatError` if the format cannot express the tokenizer."""
    vocabulary = tokenizer.vocabulary
    if tokenizer.preparation or not vocabulary.is_bytewise:
        refuse(_TARGET, "it does more to a text than split it")
    if vocabulary.base != _ALPHABET:
        refuse(_TARGET, "its first 256 ids are not the bytes in their order")
    if any(token != 256 + rank for rank, (_, _, token) in enumerate(vocabulary.merges)):
        refuse(_TARGET, "its merges do not make the ids from 256 on, one after another")
    if sum(map(len, vocabulary.bytes_of.values())) - 256 > MOST_MADE:
        refuse(_TARGET, "its tokens are too long together")
    if any(name.split() != [name] for name in vocabulary.special_tokens):
        refuse(_TARGET, "a special token has whitespace in it, which minbpe cannot read")
    yield f"{_FIRST_LINE}\n{_pattern(tokenizer)}\n{len(vocabulary.special_tokens)}\n"
    for name, token in vocabulary.special_tokens.items():
        yield f"{name} {token}\n"
    for left, right, _ in vocabulary.merges:
        yield f"{left} {right}\n"


def _pattern(tokenizer: Tokenizer) -> str:
    """The pattern on one line; one that is not published is extended to match all text, since minbpe drops the rest."""
    pattern = tokenizer.splitter.tree
    if not isinstance(pattern, Split):
        refuse(_TARGET, "its pattern is several, one after another")
    source = pattern.source
    if pattern.drops_rest and not pattern.name:
        refuse(_TARGET, "its pattern drops what it does not match, and says so in words of ours")
    if source and may_match_nothing(pattern):
        refuse(_TARGET, "its pattern may match nothing, and no library goes on behind that as another does")
    if source and not pattern.name:
        source = f"{source}|(?s:(?:(?!{source}).)+)"
    if is_bare_word(source):
        source = f"(?:{source})"
    if source != source.strip() or "\n" in source:
        refuse(_TARGET, "its pattern begins or ends with whitespace, or has more than a line")
    return source
