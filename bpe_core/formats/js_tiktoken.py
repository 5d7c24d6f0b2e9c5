"""Rank files of js-tiktoken: a JSON object with "pat_str", "special_tokens" and "bpe_ranks".

A line of `bpe_ranks` is `!`, the rank of its first token, and tokens in base64 with consecutive ranks.
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
    specials = fields.ids("special_tokens") if "special_tokens" in fields else {}
    source = str(Split.of_expression(fields.text("pat_str")))
    tokens: dict[int, bytes] = {}
    for number, line in enumerate(fields.text("bpe_ranks").splitlines(), 1):
        if not line.strip():
            continue
        sign, first, *words = (*line.split(), "", "")
        if sign != "!" or (first_rank := id_in(first)) is None:
            file.broken(
                f"line {number} of the ranks does not begin with ! and the rank of its first token"
            )
        for rank, word in enumerate(filter(None, words), first_rank):
            if (data := from_base64(word)) is None:
                file.broken(
                    f"in line {number} of the ranks, {quoted(word)} is not base64"
                )
            if rank in tokens:
                file.broken(
                    f"in line {number} of the ranks, the rank {rank} stands for a second time"
                )
            tokens[rank] = data
    return Tokenizer(
        vocabulary_of(file, tokens, specials),
        source if pattern is None else pattern,
        name=file.stem,
    )
