"""Whether a file ends in one sentence, or in a tokenizer that is sound: by itself, edited, audited, written, read."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from bpe_core import BpeError, Tokenizer, load, save
from bpe_core.auditing import examine
from bpe_core.auditing.subject import AuditSubject
from bpe_core.errors import LONGEST
from bpe_core.formats import WRITABLE
from bpe_core.live.live_text import LiveText
from bpe_core.utf8 import without_surrogates
from bpe_core.visible import visible

TEXTS: Final = (
    "",
    "the thing in there",
    "  aaaa\t\tabab aab abb 12345 it's THE éÉ ½ e\u0301\u0301 \n\n ",
    "<|end|>--World  <|x|>日本日本語▁▁a\x00\x7f😊\ud800<s>ca",
    "xyz abxyz the end\r\n\u3000,.;ab" + "thing " * 12,
)
"""What is encoded; a text of one's own follows, made of the tokens that the file has."""

_TOLD_APART: Final = ("native", "huggingface", "gpt2", "minbpe")
"""Formats in which a file keeps its special tokens; ranks do not."""


class Unsound(Exception):
    """What a file must not end in."""


def verdict(path: Path, pattern: str | None, *, most: int | None = None) -> str:
    """Either "refused" or "sound". Raises `Unsound`, or whatever goes wrong. An audit has to make `most` findings."""
    try:
        tokenizer = load(path, pattern=pattern)
    except BpeError as error:
        check_sentence(error)
        return "refused"
    texts = (*TEXTS, _own_text(tokenizer))
    ids = _ids(tokenizer, texts)
    _check_ids(tokenizer, ids)
    _check_edited(tokenizer, ids)
    list(islice(examine(AuditSubject(tokenizer)), most))
    with_specials = _ids(tokenizer, texts, specials=True)
    for format in WRITABLE:
        _check_written(tokenizer, format, ids, with_specials)
    if _ids(tokenizer, texts) != ids:
        raise Unsound("ids are others once the merges are known")
    return "sound"


def check_sentence(error: BpeError) -> None:
    """Raise `Unsound` unless an error is one printable sentence of a bearable length."""
    if not 0 < len(str(error)) <= LONGEST or visible(str(error)) != str(error):
        raise Unsound(f"no sentence: {ascii(str(error))[:200]}")


def _own_text(tokenizer: Tokenizer) -> str:
    tokens = list(tokenizer.vocabulary.bytes_of.values())
    return b"".join(tokens[-40:]).decode(errors="replace")[:300]


Ids = Mapping[str, Sequence[int] | None]
"""Text -> ids; None where a sentence says why there are none."""


def _ids(tokenizer: Tokenizer, texts: Sequence[str], *, specials: bool = False) -> Ids:
    def encode(text: str) -> list[int]:
        return (
            tokenizer.encode(text, allowed_special="all")
            if specials
            else tokenizer.encode_ordinary(text)
        )

    return {text: _or_sentence(encode, text) for text in texts}


def _or_sentence(encode: Callable[[str], list[int]], text: str) -> list[int] | None:
    try:
        return encode(text)
    except BpeError as error:
        check_sentence(error)
        return None


def _check_ids(tokenizer: Tokenizer, ids: Ids) -> None:
    for text, tokens in ids.items():
        if tokens is None:
            continue
        if not all(token in tokenizer.vocabulary for token in tokens):
            raise Unsound("an id that the vocabulary does not have")
        decoded = tokenizer.decode(tokens)
        if (
            tokenizer.by_piece
            and not tokenizer.splitter.lossy
            and decoded != without_surrogates(text)
        ):
            raise Unsound(f"the text does not come back: {ascii(text)[:80]}")


def _check_edited(tokenizer: Tokenizer, ids: Ids) -> None:
    for text, tokens in ids.items():
        with suppress(BpeError):
            live = LiveText(tokenizer, text[: len(text) // 2])
            live.splice(0, min(2, live.n_characters), "")
            live.splice(0, live.n_characters, text)
            if live.ids != tokens:
                raise Unsound(f"an edited text has other ids: {ascii(text)[:80]}")


def _check_written(
    tokenizer: Tokenizer, format: str, ids: Ids, with_specials: Ids
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vocab.json")
        try:
            save(tokenizer, path, format=format)
        except BpeError as error:
            check_sentence(error)
            return
        try:
            again = load(
                path, pattern=tokenizer.pattern if format == "tiktoken" else None
            )
        except BpeError as error:
            raise Unsound(
                f"what was written as {format} cannot be read: {error}"
            ) from None
        if _ids(again, list(ids)) != ids:
            raise Unsound(f"what was written as {format} gives other ids")
        if (
            format in _TOLD_APART
            and _ids(again, list(ids), specials=True) != with_specials
        ):
            raise Unsound(
                f"what was written as {format} gives other ids to special tokens"
            )
