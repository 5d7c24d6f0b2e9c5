"""The tree of merges under a token, down to its bytes, drawn with box lines in as much room as there is. Pure."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bpe_core.visible import token_label
from bpe_core.vocabulary import Vocabulary

_INDENT: Final = 2
"""Cells a level of the tree takes."""
_LABEL: Final = 8
"""Cells that stay for a label, however deep it stands."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of the tree."""

    lines: str
    """The box lines to the left of the label."""
    label: str
    """The token as text."""
    note: str
    """The step that made it, or its byte in hex."""
    token: int
    """Its id."""


def branches(vocabulary: Vocabulary, token: int, width: int, height: int) -> list[Branch]:
    """What `token` was joined from, and those parts from, in at most `height` lines of `width` cells.

    The levels next to the token come first; a part that is made of others for which there is no room ends in "…".
    A token that no merge made has no lines.
    """
    opened: set[tuple[int, ...]] = set()
    queue: deque[tuple[tuple[int, ...], int]] = deque([((), token)])
    room = height
    while queue and room >= 2:
        path, part = queue.popleft()
        parents = vocabulary.parents(part)
        if parents is None or (len(path) + 1) * _INDENT + _LABEL > width:
            continue
        opened.add(path)
        room -= 2
        queue.extend(((*path, side), parent) for side, parent in enumerate(parents))
    return list(_drawn(vocabulary, token, (), "", opened))


def _drawn(
    vocabulary: Vocabulary, token: int, path: tuple[int, ...], lines: str, opened: set[tuple[int, ...]]
) -> Iterator[Branch]:
    if path not in opened:
        return
    for side, part in enumerate(vocabulary.parents(token) or ()):
        here = (*path, side)
        bytes_ = vocabulary.token_bytes(part)
        step = vocabulary.step_of(part)
        closed = step and here not in opened
        note = f"step {step:,}" if step else bytes_.hex(" ")
        yield Branch(lines + "├└"[side] + " ", token_label(bytes_) + (" …" if closed else ""), note, part)
        yield from _drawn(vocabulary, part, here, lines + "│ "[side] + " ", opened)
