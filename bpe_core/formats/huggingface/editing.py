"""Change the vocabulary in a tokenizer.json, and leave everything else in the file as it is."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a vocabulary. The ids are those before the change, and those of new tokens."""

    removed: Collection[int] = frozenset()
    """Tokens to remove, with every merge that makes or uses them."""
    merges: Sequence[Triple] = ()
    """Merges to append, each of which makes a new token."""
    new_ids: Mapping[int, int] | None = None
    """Old id -> new id of each token that is left; None if they keep their ids."""


def write_edited(
    tokenizer: Tokenizer, edit: Edit, source: TokenizerFile, path: Path
) -> None:
    """Write a tokenizer.json that differs from another one in its tokens and merges alone.

    Added tokens that are not in the vocabulary are put into it, with their ids: Hugging Face's library gives the others
    ids that depend on the number of tokens, not the ids in the file.

    Args:
        tokenizer: The tokenizer after the change. The written file is checked against it.
        edit: The change.
        source: The tokenizer.json before the change.
        path: The file to write. An existing file is replaced.

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
        _change(content, edit, tokenizer.special_tokens)
    except (KeyError, TypeError, ValueError, AttributeError):
        refuse(_TARGET, "that file is not the tokenizer that was changed")
    indent = 2 if source.data.count(b"\n") > 1 else None
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    # The configuration may have further added tokens, with ids of before.
    configured = Fields({}, source.where)
    if edit.new_ids is None:
        configured = huggingface.configuration_of(source)
    written = TokenizerFile(text.encode(), source.where, source.path)
    read = huggingface.tokenizer_of(written.fields(), written, configured, None)
    if read != tokenizer:
        refuse(_TARGET, "that file would give some text other ids")
    write_atomically((path, [text]))


def _change(
    content: dict[str, Any], edit: Edit, special_tokens: Mapping[str, int]
) -> None:
    """Change the content of a file. `special_tokens` (text -> id) are those after the change."""
    model = content["model"]
    all_names: dict[str, int] = model["vocab"]
    removed = {name for name, token in all_names.items() if token in edit.removed}
    vocab = {name: token for name, token in all_names.items() if name not in removed}
    name_of = {token: name for name, token in vocab.items()}
    rows = [row for row in model["merges"] if removed.isdisjoint(_names(row))]
    as_text = bool(rows) and isinstance(rows[0], str)
    for left, right, token in edit.merges:
        pair = [name_of[left], name_of[right]]
        name = "".join(pair)
        if name in vocab:
            raise ValueError(name)
        vocab[name] = token
        name_of[token] = name
        rows.append(" ".join(pair) if as_text else pair)
    for added in content.get("added_tokens") or ():
        vocab.setdefault(added["content"], added["id"])
    model["vocab"] = vocab
    model["merges"] = rows
    if edit.new_ids is not None:
        model["vocab"] = {name: edit.new_ids[token] for name, token in vocab.items()}
        for added in content.get("added_tokens") or ():
            added["id"] = edit.new_ids[added["id"]]
        _renumber_processor(content.get("post_processor"), edit.new_ids)
        padding = content.get("padding")
        if padding:
            padding["pad_id"] = edit.new_ids[padding["pad_id"]]
    for (
        text,
        token,
    ) in special_tokens.items():  # also those that only the configuration has
        model["vocab"].setdefault(text, token)


def _names(merge: str | list[str]) -> list[str]:
    """Return the names of a merge's parts and of the token it makes."""
    pair = merge.split(" ") if isinstance(merge, str) else merge
    return [*pair, "".join(pair)]


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
