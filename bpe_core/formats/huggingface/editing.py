"""Change the vocabulary in a tokenizer.json, and leave everything else in the file as it is."""

import json
from collections.abc import Mapping, Sequence
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
_ID_FIELDS: Final = ("id", "ids", "pad_id", "sep", "cls")
"""Fields that have token ids, perhaps next to their texts, in added tokens, padding and post-processors."""


def write_edited(
    tokenizer: Tokenizer,
    source: TokenizerFile,
    path: Path,
    *,
    new_ids: Mapping[int, int],
    merges: Sequence[Triple] = (),
) -> None:
    """Write a tokenizer.json that differs from another one in its tokens, ids and merges alone.

    Added tokens that are not in the vocabulary are put into it, with their ids: Hugging Face's library gives the others
    ids that depend on the number of tokens, not the ids in the file.

    Args:
        tokenizer: The tokenizer after the change. The written file is checked against it.
        source: The tokenizer.json before the change.
        path: The file to write. An existing file is replaced.
        new_ids: Old id -> new id of each token that is left. The others are removed, with every merge that makes or uses
            them.
        merges: Merges to append, each of which makes a new token.

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
        model = content["model"]
        _change(model, new_ids, merges)
        for field in ("added_tokens", "padding", "post_processor"):
            if field in content:
                content[field] = _renumbered(content[field], new_ids)
        for added in content.get("added_tokens") or ():
            model["vocab"].setdefault(added["content"], added["id"])
        # The configuration may have further special tokens.
        for text, token in tokenizer.special_tokens.items():
            model["vocab"].setdefault(text, token)
    except (KeyError, TypeError, ValueError, AttributeError):
        refuse(_TARGET, "that file is not the tokenizer that was changed")
    indent = 2 if source.data.count(b"\n") > 1 else None
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    configured = huggingface.configuration_of(source)
    if any(old != new for old, new in new_ids.items()):
        configured = Fields({}, source.where)  # the configuration has old ids
    written = TokenizerFile(text.encode(), source.where, source.path)
    read = huggingface.tokenizer_of(written.fields(), written, configured, None)
    if read != tokenizer:
        refuse(_TARGET, "that file would give some text other ids")
    write_atomically((path, [text]))


def _change(
    model: dict[str, Any], new_ids: Mapping[int, int], merges: Sequence[Triple]
) -> None:
    """Renumber and remove tokens of a model, with their merges, and append merges."""
    vocab = {
        name: new_ids[token]
        for name, token in model["vocab"].items()
        if token in new_ids
    }
    removed = model["vocab"].keys() - vocab.keys()
    rows = []
    for row in model["merges"]:
        left, right = row.split(" ") if isinstance(row, str) else row
        if removed.isdisjoint((left, right, left + right)):
            rows.append(row)
    as_text = bool(rows) and isinstance(rows[0], str)
    name_of = {token: name for name, token in vocab.items()}
    for left_id, right_id, token in merges:
        pair = [name_of[left_id], name_of[right_id]]
        name = "".join(pair)
        if name in vocab:
            raise ValueError(name)
        vocab[name] = token
        name_of[token] = name
        rows.append(" ".join(pair) if as_text else pair)
    model["vocab"] = vocab
    model["merges"] = rows


def _renumbered(value: Any, new_ids: Mapping[int, int], field: str = "") -> Any:
    """Return a value of the file with new ids. `field` is the name of the field that it is in."""
    if isinstance(value, dict):
        return {name: _renumbered(part, new_ids, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_renumbered(part, new_ids, field) for part in value]
    if isinstance(value, int) and field in _ID_FIELDS:
        return new_ids[value]
    return value
