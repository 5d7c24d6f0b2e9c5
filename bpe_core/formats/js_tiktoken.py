"""Rank files of js-tiktoken: a JSON object with "pat_str", "special_tokens" and "bpe_ranks".

"bpe_ranks" is a text. Each of its lines is `!`, the rank of its first token, and tokens in base64
with consecutive ranks.
"""

import re
from typing import Final

from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.json_fields import id_in
from bpe_core.formats.ranks import from_base64, vocabulary_of
from bpe_core.patterns.pattern import Split
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted

_RANKS: Final = re.compile(rb'"bpe_ranks"\s*:\s*"')


def recognizes(data: bytes) -> bool:
    return data.lstrip()[:1] == b"{" and _RANKS.search(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    fields = file.fields()
    special_tokens: dict[str, int] = {}
    if "special_tokens" in fields:
        special_tokens = fields.ids("special_tokens")
    if pattern is None:
        pattern = str(Split.of_expression(fields.text("pat_str")))
    tokens = _tokens(file, fields.text("bpe_ranks"))
    vocabulary = vocabulary_of(file, tokens, special_tokens)
    return Tokenizer(vocabulary, pattern, name=file.stem)


def _tokens(file: TokenizerFile, ranks: str) -> dict[int, bytes]:
    """Return rank -> bytes of the tokens in the text "bpe_ranks"."""
    tokens: dict[int, bytes] = {}
    for number, line in enumerate(ranks.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        first_rank = None
        if len(words) > 1 and words[0] == "!":
            first_rank = id_in(words[1])
        if first_rank is None:
            file.broken(
                f"line {number} of the ranks does not begin with '!' and the rank of its first token"
            )
        for rank, word in enumerate(words[2:], first_rank):
            data = from_base64(word)
            if data is None:
                file.broken(
                    f"in line {number} of the ranks, {quoted(word)} is not base64"
                )
            if rank in tokens:
                file.broken(
                    f"in line {number} of the ranks, the rank {rank} occurs a second time"
                )
            tokens[rank] = data
    return tokens
