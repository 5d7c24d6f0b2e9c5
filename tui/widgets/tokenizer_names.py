"""The names of the tokenizers in a list, distinct for files of the same name; and their descriptions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import PurePath
from typing import Final

from bpe_core.patterns import PATTERNS
from bpe_core.visible import counted, quoted, visible
from tui.state import KnownTokenizer

_DEEPEST: Final = 6
"""How many folders above a file may be used to tell it from another of its name."""
_LONGEST_PATTERN: Final = 60


def distinct_names(tokenizers: Iterable[KnownTokenizer]) -> dict[str, str]:
    """Return a name for each path. Add to equal names a folder, a kind of file, a size or a date."""
    by_name: defaultdict[str, list[KnownTokenizer]] = defaultdict(list)
    for tokenizer in tokenizers:
        by_name[tokenizer.name].append(tokenizer)
    names: dict[str, str] = {}
    for name, namesakes in by_name.items():
        if len(namesakes) == 1:
            names[namesakes[0].path] = name
            continue
        for tokenizer, mark in zip(namesakes, _marks(namesakes), strict=True):
            names[tokenizer.path] = f"{name} · {mark}"
    return names


def _marks(tokenizers: Sequence[KnownTokenizer]) -> list[str]:
    """Return the first property that differs for all tokenizers, or else their paths."""
    properties: list[Callable[[KnownTokenizer], str]] = [
        partial(_folder, depth) for depth in range(_DEEPEST)
    ]
    properties += [_suffix, _size, _pattern, _day_and_time]
    for mark_of in properties:
        marks = [mark_of(tokenizer) for tokenizer in tokenizers]
        if all(marks) and len(set(marks)) == len(marks):
            return marks
    return [tokenizer.path for tokenizer in tokenizers]


def _folder(depth: int, tokenizer: KnownTokenizer) -> str:
    """Return the name of the folder `depth` levels above the one that holds the file."""
    if tokenizer.origin == "trained":
        return "trained here"
    folders = PurePath(tokenizer.path).parts[:-1]
    return folders[-1 - depth] if depth < len(folders) else ""


def _suffix(tokenizer: KnownTokenizer) -> str:
    return PurePath(tokenizer.path).suffix


def _size(tokenizer: KnownTokenizer) -> str:
    return f"{tokenizer.n_vocab:,} tokens" if tokenizer.n_vocab else ""


def _pattern(tokenizer: KnownTokenizer) -> str:
    return tokenizer.pattern


def _day_and_time(tokenizer: KnownTokenizer) -> str:
    return _date(tokenizer, "%d %b, %H:%M")


def _date(tokenizer: KnownTokenizer, form: str = "%d %b %Y, %H:%M") -> str:
    if not tokenizer.modified:
        return ""
    return datetime.fromtimestamp(tokenizer.modified / 1e9).strftime(form)


def sentences(tokenizer: KnownTokenizer) -> list[str]:
    """Describe a tokenizer, the most important first: what is wrong with its file, if anything."""
    lines = []
    if tokenizer.trouble == "gone":
        lines.append(
            "Its file is missing: put it back, or remove it from the list with Delete."
        )
    elif tokenizer.trouble == "changed":
        lines.append("Its file has changed since it was opened: Enter reads it again.")
    if tokenizer.n_vocab:
        tokens = counted(tokenizer.n_vocab, "token")
        lines.append(f"{tokens}; text is {_split(tokenizer.pattern)}.")
    date = _date(tokenizer)
    if tokenizer.origin == "trained":
        lines.append(f"Trained here on {date}." if date else "Trained here.")
    elif tokenizer.origin == "found":
        program = visible(tokenizer.found_as)
        lines.append(f"Kept by another program as {program}.")
    elif date:
        lines.append(f"Opened from a file of {date}.")
    else:
        lines.append("Opened from a file.")
    lines.append(visible(tokenizer.path))
    return lines


def _split(pattern: str) -> str:
    """Describe how a pattern splits text."""
    if pattern in ("", "none"):
        return "not split"
    if pattern in PATTERNS:
        return f"split as {pattern}"
    return f"split by {quoted(pattern, _LONGEST_PATTERN)}"
