"""The tokenizers of a list: names under which none is taken for another, and each in some sentences."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import PurePath
from typing import Final

from bpe_core.patterns import PATTERNS
from bpe_core.visible import quoted, visible
from tui.state import KnownTokenizer

_DEEPEST: Final = 6  # folders above a file, of which one may tell it apart from another of its name
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
    properties: list[Callable[[KnownTokenizer], str]] = [
        *(partial(_folder, depth) for depth in range(_DEEPEST)),
        lambda one: PurePath(one.path).suffix,
        lambda one: f"{one.n_vocab:,} tokens" if one.n_vocab else "",
        lambda one: one.pattern,
        lambda one: _date(one, "%d %b, %H:%M"),
    ]
    for mark in properties:
        marks = list(map(mark, some))
        if all(marks) and len(set(marks)) == len(marks):
            return marks
    return [one.path for one in some]


def _folder(depth: int, one: KnownTokenizer) -> str:
    if one.origin == "trained":
        return "trained here"
    above = PurePath(one.path).parts[:-1]
    return above[-1 - depth] if depth < len(above) else ""


def _date(one: KnownTokenizer, form: str = "%d %b %Y, %H:%M") -> str:
    return datetime.fromtimestamp(one.modified / 1e9).strftime(form) if one.modified else ""


def sentences(one: KnownTokenizer) -> list[str]:
    """What there is to know of a tokenizer, the most important first: what is wrong with it, if anything is."""
    lines = []
    if one.trouble == "gone":
        lines.append("Its file is not there any more: put it back, or take it off the list with Delete.")
    elif one.trouble == "changed":
        lines.append("Its file has changed since it was opened: Enter reads it anew.")
    if one.n_vocab:
        pattern = one.pattern if one.pattern in PATTERNS else quoted(one.pattern, _LONGEST_PATTERN)
        split = f"split {'as' if one.pattern in PATTERNS else 'by'} {pattern}"
        lines.append(f"{one.n_vocab:,} tokens; a text is {'not split' if one.pattern in ('', 'none') else split}.")
    date = _date(one)
    if one.origin == "trained":
        lines.append(f"Trained here{date and f' on {date}'}.")
    elif one.origin == "found":
        lines.append(f"Kept by another program as {visible(one.found_as)}.")
    else:
        lines.append(f"Opened from a file{date and f' of {date}'}.")
    return [*lines, visible(one.path)]
