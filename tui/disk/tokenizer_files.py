"""Tokenizer files: trained here, opened from elsewhere, or found in the caches of other programs.

Call the functions that read files in a thread.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final

from bpe_core import hub
from bpe_core.errors import BpeError, FormatError, PatternNeededError
from bpe_core.formats import load
from bpe_core.formats.file import TokenizerFile
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import STOPPED, TrainingRecord
from tui.disk.config import size_and_time
from tui.state import KnownTokenizer, Loaded, Opened, Trouble, name_of

_HEAD_BYTES: Final = 4096
"""Bytes at the beginning of a tokenizer file that include its vocabulary size and pattern."""


def load_file(path: Path, pattern: str | None = None) -> Loaded:
    """Load a tokenizer with the digest of its file. Raise the errors of `bpe_core.load`."""
    tokenizer = load(path, pattern=pattern)
    try:
        digest = sha256(TokenizerFile.open(path).data).hexdigest()
    except FormatError:
        # The path is a folder, which has no digest.
        digest = ""
    return Loaded(tokenizer, path, digest)


def kept_tokenizers(folder: Path) -> tuple[KnownTokenizer, ...]:
    """Return the tokenizers in the folder of trained tokenizers, newest first."""
    files = sorted((-size_and_time(path)[1], path) for path in folder.glob("*.json"))
    return tuple(_read_head(path, -negative_time) for negative_time, path in files)


def without_twin(path: Path, named: Path) -> Path:
    """Delete the new tokenizer file `path` if an older file has the same contents. Return the file to use.

    Only `named` and its numbered variants (book.json, book-2.json) are compared: their patterns, tokens,
    merges and counts. If several copies of the app end at the same time, all of them keep the oldest file.
    Raise `BpeError` or OSError.
    """
    new_contents = _contents(load(path))
    numbered = re.compile(re.escape(named.stem) + r"(-\d+)?")
    by_age = sorted(
        (size_and_time(other)[1], other) for other in named.parent.glob("*.json")
    )
    for _, other in by_age:
        if other == path:
            break
        if numbered.fullmatch(other.stem):
            with suppress(BpeError):
                if _contents(load(other)) == new_contents:
                    path.unlink()
                    return other
    return path


def _contents(tokenizer: Tokenizer) -> tuple[object, ...]:
    """Return what two tokenizers must share to count as the same."""
    vocabulary = tokenizer.vocabulary
    record = tokenizer.record
    learned: tuple[object, ...] = ()
    if record:
        learned = (record.steps, record.n_bytes, record.ties, record.min_count)
    return (
        tokenizer.pattern,
        vocabulary.merges,
        vocabulary.special_tokens,
        vocabulary.n_tokens,
        learned,
    )


def told_pattern(path: Path) -> str | None:
    """Return the split pattern in a tokenizer file; None if it has none. Raise `BpeError`."""
    try:
        return load(path).pattern
    except PatternNeededError:
        return None


def without_impossible_record(tokenizer: Tokenizer) -> Tokenizer:
    """Return `tokenizer`, without its training record if the record contradicts its merges."""
    record = tokenizer.record
    if record is None or _is_plausible(record, tokenizer.step):
        return tokenizer
    return Tokenizer(
        tokenizer.vocabulary,
        tokenizer.pattern,
        name=tokenizer.name,
        preparation=tokenizer.preparation,
    )


def _is_plausible(record: TrainingRecord, n_merges: int) -> bool:
    """Return whether a record may be of a training that learned `n_merges` merges.

    Each learned merge shortens the corpus. A merge that the training started with may not occur in it.
    """
    lengths = [record.n_tokens_start]
    lengths += [n_tokens for _, _, n_tokens in record.steps]
    for number, (before, after) in enumerate(pairwise(lengths)):
        may_stay = number < record.n_given
        if after > before or (after == before and not may_stay):
            return False
    is_countable = max(lengths[0], record.n_bytes) < 1 << 62
    return is_countable and len(record.steps) == n_merges


def _read_head(path: Path, modified: int) -> KnownTokenizer:
    """Describe a trained tokenizer by the first bytes of its file, so that long lists appear at once."""
    head = ""
    # Opening a pipe would block.
    if path.is_file():
        with suppress(OSError), path.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode("utf-8", "replace")
    size = re.search(r'"n_vocab":\s*(\d{1,9})\b', head)
    pattern = ""
    quoted_pattern = re.search(r'"pattern":\s*("(?:[^"\\]|\\.)*")', head)
    if quoted_pattern:
        with suppress(ValueError):
            pattern = json.loads(quoted_pattern[1])
    return KnownTokenizer(
        path=str(path),
        name=path.stem,
        n_vocab=int(size[1]) if size else 0,
        origin="trained",
        pattern=pattern,
        modified=modified,
        stopped=f'"stop_reason": "{STOPPED}"' in head,
    )


def seen(path: Path, tokenizer: Tokenizer, found_as: str = "") -> Opened:
    """Return what to remember of a tokenizer that was just read from `path`."""
    size, modified = size_and_time(path)
    return Opened(
        path=str(path),
        found_as=found_as,
        n_vocab=tokenizer.n_tokens,
        pattern=tokenizer.pattern,
        size=size,
        modified=modified,
    )


def described(opened: Opened, pattern: str | None) -> Opened:
    """Return `opened` with the size and pattern of its file, if it was never read and can be read now."""
    if opened.n_vocab > 0:
        return opened
    with suppress(BpeError):
        tokenizer = load(opened.path, pattern=pattern)
        return seen(Path(opened.path), tokenizer, opened.found_as)
    return opened


def trouble_of(opened: Opened) -> Trouble:
    """Return whether the file was deleted or changed since it was opened."""
    now = size_and_time(opened.path)
    if now == (0, 0):
        return "gone"
    if opened.modified and now != (opened.size, opened.modified):
        return "changed"
    return ""


def found(forgotten: Iterable[str] = ()) -> tuple[KnownTokenizer, ...]:
    """Return the tokenizers in the caches of Hugging Face and tiktoken, by name, except the forgotten.

    Rank files are read whole to be sure that they are complete.
    """
    left_out = set(forgotten)
    tokenizers = []
    for name, path in hub.all_cached():
        if str(path) in left_out:
            continue
        tokenizer = KnownTokenizer(
            path=str(path),
            name=name,
            n_vocab=0,
            origin="found",
            found_as=name,
        )
        tokenizers.append(tokenizer)
    return tuple(tokenizers)


def listed(
    trained: Sequence[KnownTokenizer],
    found: Sequence[KnownTokenizer],
    opened: Iterable[Opened],
    names: Mapping[str, str],
    patterns: Mapping[str, str],
    troubles: Mapping[str, Trouble],
) -> tuple[KnownTokenizer, ...]:
    """Return the app's list of tokenizers, each file once.

    Args:
        trained: The tokenizers trained here.
        found: The tokenizers in the caches of other programs.
        opened: The tokenizers opened from elsewhere, with the facts read from their files.
        names: Path -> the name that the user gave.
        patterns: Path -> the pattern that the user chose instead of the file's own.
        troubles: Path -> whether the file was deleted or changed.
    """
    by_path = {tokenizer.path: tokenizer for tokenizer in (*trained, *found)}
    for item in opened:
        known = by_path.get(item.path)
        if known is None:
            name = item.found_as or name_of(Path(item.path))
            known = KnownTokenizer(item.path, name, 0, "opened", found_as=item.found_as)
            if item.found_as:
                known = replace(known, origin="found")
        if known.origin != "trained":
            by_path[item.path] = replace(
                known,
                n_vocab=item.n_vocab,
                pattern=item.pattern,
                modified=item.modified,
            )
    return tuple(
        replace(
            tokenizer,
            name=names.get(path, tokenizer.name),
            pattern=patterns.get(path, tokenizer.pattern),
            trouble=troubles.get(path, ""),
        )
        for path, tokenizer in by_path.items()
    )
