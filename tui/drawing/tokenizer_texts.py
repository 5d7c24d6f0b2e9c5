"""The tokenizers of a list: names under which none is taken for another, and each in some sentences."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import PurePath
from typing import Final

from bpe_core.patterns import PATTERNS
from bpe_core.visible import quoted, visible
from tui.state import KnownTokenizer

_DEEPEST: Final = 6
"""Folders above a file, of which one may tell it apart from another of its name."""
_LONGEST_PATTERN: Final = 60


def distinct_names(known: Iterable[KnownTokenizer]) -> dict[str, str]:
    """Path -> name; where several have one name, with what tells them apart: folder, kind of file, size or date."""
    of_name: defaultdict[str, list[KnownTokenizer]] = defaultdict(list)
    for one in known:
        of_name[one.name].append(one)
    names: dict[str, str] = {}
    for name, some in of_name.items():
        marks = _marks(some) if len(some) > 1 else [""]
        names |= {one.path: f"{name} · {mark}" if mark else name for one, mark in zip(some, marks, strict=True)}
    return names


def _marks(some: Sequence[KnownTokenizer]) -> list[str]:
    """The first of their properties that is another one for each of them; the whole path if none is."""
    for mark in _properties():
        marks = list(map(mark, some))
        if all(marks) and len(set(marks)) == len(marks):
            return marks
    return [one.path for one in some]


def _properties() -> Iterator[Callable[[KnownTokenizer], str]]:
    for depth in range(_DEEPEST):
        yield partial(_folder, depth)
    yield lambda one: PurePath(one.path).suffix
    yield lambda one: f"{one.n_vocab:,} tokens" if one.n_vocab else ""
    yield lambda one: one.pattern
    yield lambda one: f"{_time(one):%d %b, %H:%M}" if one.modified else ""


def _folder(depth: int, one: KnownTokenizer) -> str:
    if one.origin == "trained":
        return "trained here"
    above = PurePath(one.path).parts[:-1]
    return above[-1 - depth] if depth < len(above) else ""


def _time(one: KnownTokenizer) -> datetime:
    return datetime.fromtimestamp(one.modified / 1e9)


def sentences(one: KnownTokenizer) -> list[str]:
    """What there is to know of a tokenizer, the most important first: what is wrong with it, if anything is."""
    lines = []
    if one.trouble == "gone":
        lines.append("Its file is not there any more: put it back, or take it off the list with Delete.")
    elif one.trouble == "changed":
        lines.append("Its file has changed since it was opened: Enter reads it anew.")
    if one.n_vocab:
        lines.append(f"{one.n_vocab:,} tokens; a text is {_split(one.pattern)}.")
    lines.append(f"{_origin(one)}.")
    lines.append(visible(one.path))
    return lines


def _origin(one: KnownTokenizer) -> str:
    date = f"{_time(one):%d %b %Y, %H:%M}" if one.modified else ""
    if one.origin == "trained":
        return f"Trained here on {date}" if date else "Trained here"
    if one.origin == "found":
        return f"Kept by another program as {visible(one.found_as)}"
    return f"Opened from a file of {date}" if date else "Opened from a file"


def _split(pattern: str) -> str:
    if not pattern or pattern == "none":
        return "not split"
    return f"split as {pattern}" if pattern in PATTERNS else f"split by {quoted(pattern, _LONGEST_PATTERN)}"
