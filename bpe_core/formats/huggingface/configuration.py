"""tokenizer_config.json, in the folder of a tokenizer file: the model's name, the tokenizer's class, added tokens.

Everything else in it (chat templates, lengths, padding) is ignored. It is read leniently, since transformers writes NaN
and Infinity into it.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from bpe_core.formats.fields import Fields, is_number, is_text, parse
from bpe_core.formats.file import TokenizerFile

_CACHED: Final = re.compile(r"models--(.+)/snapshots")
_NAME: Final = "tokenizer_config.json"


def configuration_of(file: TokenizerFile) -> Fields:
    """The object in tokenizer_config.json beside `file`; empty if there is no such file. Raises `FormatError`."""
    beside = file.beside([_NAME])
    return Fields(parse(beside.data, beside.where, strict=False), beside.where) if beside else Fields({}, file.where)


def name_of(file: TokenizerFile) -> str:
    """The name of the model: from tokenizer_config.json, or else the path in the hub's cache, or else the folder."""
    named = configuration_of(file).values.get("name_or_path")
    if named and is_text(named):
        return named
    folder = file.path.absolute().parent if file.path else None
    if folder and (cached := _CACHED.fullmatch(f"{folder.parent.parent.name}/{folder.parent.name}")):
        return cached[1].replace("--", "/")
    return folder.name if folder else ""


def with_added(tokens: Sequence[Any], configured: Fields, vocab: object) -> list[Any]:
    """The added tokens of a file, `tokens`, and those that only the configuration has, merged as in transformers.

    A token of the configuration is ignored if the file gives its id to another text. Raises `FormatError`.
    """
    if "added_tokens_decoder" not in configured:
        return list(tokens)
    names = vocab if isinstance(vocab, dict) else {}
    objects = [token for token in tokens if isinstance(token, dict)]  # nothing in the file has been looked at yet
    known = {text for token in objects if isinstance(text := token.get("content"), str)}
    taken = {number for number in (*(token.get("id") for token in objects), *names.values()) if is_number(number)}
    added = configured.fields("added_tokens_decoder")
    more = []
    for digits in added.values:
        text = added.fields(digits).text("content")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 10:
            added.fail(digits[:40], "the id of a token was expected")
        if text not in known and (names.get(text) == int(digits) or int(digits) not in taken):
            more.append({**added.fields(digits).values, "id": int(digits)})
    return [*tokens, *more]
