"""Rank files of js-tiktoken: a JSON object with "pat_str", "special_tokens" and "bpe_ranks".

A line of `bpe_ranks` is `!`, the rank of its first token, and tokens in base64 with consecutive ranks. A file may also
consist of such lines alone.
"""

import re
from typing import Final

from bpe_core.errors import PatternNeededError
from bpe_core.formats.file import TokenizerFile, id_in
from bpe_core.formats.ranks import from_base64, vocabulary_of
from bpe_core.patterns.pattern import Split
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_OBJECT: Final = re.compile(rb'"bpe_ranks"\s*:\s*"')
_LINE: Final = re.compile(rb"! \d+ [A-Za-z0-9+/]+={0,2}[ \r\n]")


def recognizes(data: bytes) -> bool:
    """Whether it is a JSON object with the key "bpe_ranks", or begins with such a line."""
    return _LINE.match(data[:4096]) is not None or (data.lstrip()[:1] == b"{" and _OBJECT.search(data) is not None)


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    """The tokenizer in a file; `pattern` replaces the file's. Raises `FormatError`; see `load`."""
    specials: dict[str, int] = {}
    if file.data.startswith(b"!"):
        text = file.text
    else:
        fields = file.fields()
        text, specials = fields.text("bpe_ranks"), fields.ids("special_tokens") if "special_tokens" in fields else {}
        pattern = str(Split.of_expression(fields.text("pat_str"))) if pattern is None else pattern
    if pattern is None:
        raise PatternNeededError(
            f"{file.where} holds ranks, but not how to split a text; name its pattern (--pattern)."
        )
    return Tokenizer(vocabulary_of(file, _tokens(file, text), specials), pattern, name=file.stem)


def _tokens(file: TokenizerFile, text: str) -> dict[int, bytes]:
    """Id -> bytes."""
    tokens: dict[int, bytes] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        sign, first, *words = (*line.split(), "", "")
        if sign != "!" or (first_rank := id_in(first)) is None:
            file.broken(f"line {number} of the ranks does not begin with ! and the rank of its first token")
        for rank, word in enumerate(filter(None, words), first_rank):
            if (data := from_base64(word)) is None:
                file.broken(f"in line {number} of the ranks, '{visible(word[:40])}' is not base64")
            if rank in tokens:
                file.broken(f"in line {number} of the ranks, the rank {rank} stands for a second time")
            tokens[rank] = data
    return tokens
