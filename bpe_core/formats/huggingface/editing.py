"""Change the vocabulary in a tokenizer.json, and leave everything else in the file as it is."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import FormatError
from bpe_core.formats import huggingface
from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.formats.json_fields import Fields
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.whole_file import write_atomically

_TARGET: Final = "as a change of the given tokenizer.json"


def write_edited(
    tokenizer: Tokenizer,
    source: TokenizerFile,
    path: Path,
    *,
    removed: Collection[int] = (),
    merges: Sequence[Triple] = (),
    new_ids: Mapping[int, int] | None = None,
) -> None:
    """Write a tokenizer.json that differs from another one in its tokens and merges alone.

    Added tokens that are not in the vocabulary are put into it, with their ids: Hugging Face's library gives the others
    ids that depend on the number of tokens, not the ids in the file.

    Args:
        tokenizer: The tokenizer after the change. The written file is checked against it.
        source: The tokenizer.json before the change.
        path: The file to write. An existing file is replaced.
        removed: Tokens to remove, with every merge that makes or uses them.
        merges: Merges to append, each of which makes a new token.
        new_ids: Old id -> new id of each token that is left; None if they keep their ids.

    Raises:
        FormatError: `source` is not a tokenizer.json, or is not the tokenizer before the change, or the file can't be
            written.
    """
    if not huggingface.recognizes(source.data):
        raise FormatError(
            f"{source.where} is not a tokenizer.json; leave it out to write a new file."
        )
    content = dict(source.fields().values)
    try:
        _change(content["model"], set(removed), merges)
        vocab = content["model"]["vocab"]
        for added in content.get("added_tokens") or ():
            vocab.setdefault(added["content"], added["id"])
        if new_ids is not None:
            _renumber(content, new_ids)
        # The configuration may have further special tokens.
        for text, token in tokenizer.special_tokens.items():
            vocab.setdefault(text, token)
    except (KeyError, TypeError, ValueError, AttributeError):
        refuse(_TARGET, "that file is not the tokenizer that was changed")
    indent = 2 if source.data.count(b"\n") > 1 else None
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    configured = Fields({}, source.where)
    if new_ids is None:  # the configuration has old ids
        configured = huggingface.configuration_of(source)
    written = TokenizerFile(text.encode(), source.where, source.path)
    read = huggingface.tokenizer_of(written.fields(), written, configured, None)
    if read != tokenizer:
        refuse(_TARGET, "that file would give some text other ids")
    write_atomically((path, [text]))


def _change(
    model: dict[str, Any], removed: Collection[int], merges: Sequence[Triple]
) -> None:
    """Remove tokens from a model, with their merges, and append merges."""
    removed_names = set()
    vocab = {}
    for name, token in model["vocab"].items():
        if token in removed:
            removed_names.add(name)
        else:
            vocab[name] = token
    rows = [row for row in model["merges"] if removed_names.isdisjoint(_names(row))]
    name_of = {token: name for name, token in vocab.items()}
    as_text = bool(rows) and isinstance(rows[0], str)
    for left, right, token in merges:
        pair = [name_of[left], name_of[right]]
        name = "".join(pair)
        if name in vocab:
            raise ValueError(name)
        vocab[name] = token
        name_of[token] = name
        rows.append(" ".join(pair) if as_text else pair)
    model["vocab"] = vocab
    model["merges"] = rows


def _names(merge: str | list[str]) -> list[str]:
    """Return the names of a merge's parts and of the token it makes."""
    pair = merge.split(" ") if isinstance(merge, str) else merge
    return [*pair, "".join(pair)]


def _renumber(content: dict[str, Any], new_ids: Mapping[int, int]) -> None:
    vocab = content["model"]["vocab"]
    for name, token in vocab.items():
        vocab[name] = new_ids[token]
    for added in content.get("added_tokens") or ():
        added["id"] = new_ids[added["id"]]
    if content.get("padding"):
        content["padding"]["pad_id"] = new_ids[content["padding"]["pad_id"]]
    _renumber_processor(content.get("post_processor"), new_ids)


def _renumber_processor(
    processor: dict[str, Any] | None, new_ids: Mapping[int, int]
) -> None:
    """Replace the ids in a post-processor, which adds special tokens to a text."""
    if not processor:
        return
    for part in processor.get("processors", ()):
        _renumber_processor(part, new_ids)
    for special in processor.get("special_tokens", {}).values():
        special["ids"] = [new_ids[token] for token in special["ids"]]
    for key in ("sep", "cls"):
        if key in processor:
            text, token = processor[key]
            processor[key] = [text, new_ids[token]]
