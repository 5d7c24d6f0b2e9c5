"""The .model files of minbpe.

Line 1 is "minbpe v1", line 2 the split pattern, line 3 the number of special tokens, then a line for each ("text id"),
and a line for each merge ("left right", ids). Bytes have the ids 0 to 255 and merges those from 256 on.
"""

from collections.abc import Iterator
from typing import Final

from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.formats.huggingface.writing import matching_all
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
_MOST_BYTES: Final = (
    1 << 24
)  # of all tokens, of which each can be made of the one before twice; a million have less


def recognizes(data: bytes) -> bool:
    return data.startswith(b"minbpe v")


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    lines = file.text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != _FIRST_LINE:
        file.unsupported(
            f"it is of the version '{visible(lines[0][:40])}', and only {_FIRST_LINE} is known"
        )
    if len(lines) < 3:
        file.broken("it ends before its third line, the number of special tokens")
    n_specials = _id_in(file, 3, lines[2])
    if len(lines) < 3 + n_specials:
        file.broken(f"it ends before its {n_specials} special tokens do")
    specials: dict[str, int] = {}
    for line, text in enumerate(lines[3 : 3 + n_specials], 4):
        name, _, digits = text.rstrip().rpartition(" ")
        if not name:
            file.broken(f"line {line} is not a special token and its id")
        specials[name] = _id_in(file, line, digits)
    rows = [
        (line, text.split())
        for line, text in enumerate(lines[3 + n_specials :], 4 + n_specials)
        if text
    ]
    merges: list[Triple] = []
    for rank, (line, words) in enumerate(rows):
        if len(words) != 2:
            file.broken(f"line {line} is not the ids of two tokens")
        merges.append(
            (_id_in(file, line, words[0]), _id_in(file, line, words[1]), 256 + rank)
        )
    check_pairs(file, merges)
    vocabulary, source = (
        Vocabulary(_ALPHABET, merges, specials, most_bytes=_MOST_BYTES),
        lines[1].strip(),
    )
    return Tokenizer(
        vocabulary,
        _NAME_OF.get(source, source) if pattern is None else pattern,
        name=file.stem,
    )


def _id_in(file: TokenizerFile, line: int, digits: str) -> int:
    if (found := id_in(digits.strip())) is None:
        file.broken(
            f"in line {line}, {quoted(digits)} is not a number that can stand there"
        )
    return found


def write(tokenizer: Tokenizer) -> Iterator[str]:
    vocabulary = tokenizer.vocabulary
    if tokenizer.preparation or not vocabulary.is_bytewise:
        refuse(_TARGET, "it does more to a text than split it")
    if vocabulary.base != _ALPHABET:
        refuse(_TARGET, "its first 256 ids are not the bytes in their order")
    if any(token != 256 + rank for rank, (_, _, token) in enumerate(vocabulary.merges)):
        refuse(_TARGET, "its merges do not make the ids from 256 on, one after another")
    if sum(map(len, vocabulary.bytes_of.values())) - 256 > _MOST_BYTES:
        refuse(_TARGET, "its tokens are too long together")
    if any(name.split() != [name] for name in vocabulary.special_tokens):
        refuse(
            _TARGET, "a special token has whitespace in it, which minbpe cannot read"
        )
    source = matching_all(tokenizer, _TARGET, in_regex=True)
    if tokenizer.splitter.lossy and tokenizer.pattern != "words":
        refuse(
            _TARGET,
            "its pattern drops what it does not match, and says so in words of ours",
        )
    source = f"(?:{source})" if is_bare_word(source) else source
    if source != source.strip() or "\n" in source:
        refuse(
            _TARGET,
            "its pattern begins or ends with whitespace, or has more than a line",
        )
    yield f"{_FIRST_LINE}\n{source}\n{len(vocabulary.special_tokens)}\n"
    for name, token in vocabulary.special_tokens.items():
        yield f"{name} {token}\n"
    for left, right, _ in vocabulary.merges:
        yield f"{left} {right}\n"
