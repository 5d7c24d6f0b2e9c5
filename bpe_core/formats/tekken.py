"""tekken.json of Mistral's models. Special tokens have the first ids; ranks follow after them.

Only the first `default_vocab_size` - `default_num_special_tokens` of the listed tokens are used.
Files of the first versions do not list the special tokens, which are those of mistral-common.
"""

import re
from typing import Final

from bpe_core.formats.file import TokenizerFile
from bpe_core.formats.json_fields import LARGEST_ID, Fields
from bpe_core.formats.ranks import from_base64, vocabulary_of
from bpe_core.patterns.pattern import Split
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted

_TOKEN: Final = re.compile(rb'"token_bytes"\s*:')
_FIRST_SPECIALS: Final = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)
"""The special tokens of files that do not list them, in the order of their ids."""
_MOST_SPECIALS: Final = 1 << 20


def recognizes(data: bytes) -> bool:
    return data.lstrip()[:1] == b"{" and _TOKEN.search(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    fields = file.fields()
    config = fields.fields("config")
    n_specials = config.number("default_num_special_tokens", largest=_MOST_SPECIALS)
    n_tokens = config.number("default_vocab_size", largest=LARGEST_ID) - n_specials
    rows = fields.objects("vocab")
    if not 256 <= n_tokens <= len(rows):
        fields.fail(
            "config.default_vocab_size",
            f"it asks for {n_tokens} tokens, and the file lists {len(rows)}",
        )
    tokens: dict[int, bytes] = {}
    for rank, row in enumerate(rows[:n_tokens]):
        if row.number("rank") != rank:
            row.fail(
                "rank",
                f"expected {rank}, because tokens are listed in the order of their ranks",
            )
        data = from_base64(row.text("token_bytes"))
        if data is None:
            row.fail("token_bytes", "it is not base64")
        tokens[n_specials + rank] = data
    special_tokens = _special_tokens(fields, n_specials)
    vocabulary = vocabulary_of(file, tokens, special_tokens, first=n_specials)
    if pattern is None:
        pattern = str(Split.of_expression(config.text("pattern")))
    return Tokenizer(vocabulary, pattern, name=file.stem)


def _special_tokens(fields: Fields, n_specials: int) -> dict[str, int]:
    """Return text -> id. Ids without a text of their own get one, such as <SPECIAL_20>."""
    text_of = dict(enumerate(_FIRST_SPECIALS[:n_specials]))
    if "special_tokens" in fields:
        text_of = {}
        listed = fields.objects("special_tokens")
        if len(listed) > n_specials:
            fields.fail(
                "config.default_num_special_tokens",
                f"it is {n_specials}, and the file lists {len(listed)} special tokens",
            )
        for token in listed:
            rank = token.number("rank", largest=n_specials - 1)
            text = token.text("token_str")
            if rank in text_of or not text:
                token.fail("rank", f"{rank} occurs twice, or its text is empty")
            if text in text_of.values():
                token.fail("token_str", f"{quoted(text)} has two ranks")
            text_of[rank] = text
    return {text_of.get(rank, f"<SPECIAL_{rank}>"): rank for rank in range(n_specials)}
