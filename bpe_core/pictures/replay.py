"""A text replayed merge by merge, from bytes to the last step: which steps are seen in it, and recordings of it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from bpe_core.cells import cells
from bpe_core.errors import OptionError
from bpe_core.picky.vocabulary import PickyVocabulary
from bpe_core.pictures.layout import laid_out
from bpe_core.pictures.picture import Picture
from bpe_core.pictures.svg import COLUMNS, body_of, document_of
from bpe_core.pictures.terminal import colored
from bpe_core.surrogates import utf8
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label

MOST_FRAMES: Final = 240
"""Frames of a recording at most; of more steps some are left out, evenly."""

SECONDS: Final = 0.25
"""Seconds that a frame of a recording is seen, by default."""

LAST_SECONDS: Final = 3.0
"""Seconds that the last frame is seen."""

_CLEAR: Final = "\x1b[H\x1b[2J"


def steps_seen(tokenizer: Tokenizer, text: str) -> list[int]:
    """The steps, in order, that change how `text` is split: those of its tokens, and of the tokens these are made of.

    A token comes about by its own merge only, so no other step is seen; but by Picky BPE those that remove tokens are.
    The merges of a rank file are recovered first.

    >>> from bpe_core import train
    >>> steps_seen(train("aaabdaaabac", vocab_size=259, pattern="none"), "aab")
    [1]
    """
    vocabulary = tokenizer.vocabulary
    if isinstance(vocabulary, PickyVocabulary):
        pieces = map(utf8, tokenizer.splitter.split(text))
        return sorted({change.step for piece in pieces for change in vocabulary.trace(piece)})
    waiting = set(tokenizer.encode_ordinary(text))
    seen: set[int] = set()
    while waiting:
        token = waiting.pop()
        if token not in seen and (parents := vocabulary.parents(token)) is not None:
            seen.add(token)
            waiting.update(parents)
    return sorted(map(vocabulary.step_of, seen))


@dataclass(frozen=True, slots=True)
class Frame:
    """A text as it is split after some step."""

    title: str
    """The step, and what it joined; safe to show."""
    picture: Picture


def frames(tokenizer: Tokenizer, text: str, most: int = MOST_FRAMES) -> list[Frame]:
    """The text before the first merge and after each step that is seen in it, at most so many frames.

    What is new in a frame, the tokens of its step and of those left out before it, is marked. Errors are those of
    `Picture.of`.
    """
    steps = [0, *steps_seen(tokenizer, text)]
    if len(steps) > most:
        steps = [steps[round(index * (len(steps) - 1) / (most - 1))] for index in range(most)]
    return [_frame(tokenizer, text, before, step) for before, step in pairwise((0, *steps))]


def _frame(tokenizer: Tokenizer, text: str, before: int, step: int) -> Frame:
    then = tokenizer.at(step)
    made = {token for _, _, token in then.merges[before:]}
    picture = Picture.of(then, text)
    chips = tuple(chip._replace(is_new=not made.isdisjoint(chip.ids)) for chip in picture.chips)
    return Frame(_title(tokenizer, step), replace(picture, chips=chips))


def _title(tokenizer: Tokenizer, step: int) -> str:
    if step == 0:
        return "bytes"
    left, right, _ = tokenizer.merges[step - 1]
    parts = " + ".join(token_label(tokenizer.token_bytes(part)) for part in (left, right))
    return f"step {step:,} of {tokenizer.step:,}: {parts}"


def cast(shown: Sequence[Frame], seconds: float = SECONDS, columns: int = COLUMNS) -> str:
    """The frames as a recording for a terminal, in the format asciicast v2 of asciinema.

    Each frame is seen for `seconds`, the last one longer. Raises `OptionError` if that is not above 0.
    """
    _check(seconds)
    screens = [list(_screen(frame, columns)) for frame in shown]
    height = max(row for parts in screens for row, _ in parts) + 1
    head = {"version": 2, "width": columns, "height": height, "title": shown[-1].picture.title}
    events = [
        [round(index * seconds, 3), "o", _CLEAR + "".join(told for _, told in parts)]
        for index, parts in enumerate(screens)
    ]
    events.append([round((len(screens) - 1) * seconds + LAST_SECONDS, 3), "o", ""])
    return "".join(json.dumps(line) + "\n" for line in (head, *events))


def _screen(frame: Frame, columns: int) -> Iterator[tuple[int, str]]:
    """(row, what is written there), the cursor being put before each: no terminal wraps as another does."""
    title = frame.title[: columns - 1]
    yield 0, f"\x1b[1m{title}\x1b[0m  \x1b[2m{frame.picture.summary[: max(0, columns - cells(title) - 2)]}\x1b[0m"
    for part in laid_out(frame.picture.chips, columns, 2):
        yield part.row, f"\x1b[{part.row + 1};{part.column + 1}H{colored(part.text, part.color, is_new=part.is_new)}"


def animation(shown: Sequence[Frame], seconds: float = SECONDS, columns: int = COLUMNS) -> str:
    """The frames as one SVG document that shows each for `seconds`, the last one longer, and begins again.

    It needs no script: the frames lie above each other, and style rules show one at a time; where nothing moves, in
    print say, the last one is seen. Raises `OptionError` if `seconds` is not above 0.
    """
    _check(seconds)
    drawn = [body_of(frame.picture, columns, title=frame.title) for frame in shown]
    height = max(rows for _, rows in drawn)
    total = seconds * (len(drawn) - 1) + LAST_SECONDS
    part, last = 100 * seconds / total, 100 * LAST_SECONDS / total
    rules = (
        ".f { visibility: hidden; } .l { visibility: visible; }\n"
        f".f {{ animation: f {total:.3f}s step-end infinite; }} .l {{ animation-name: l; }}\n"
        f"@keyframes f {{ 0% {{ visibility: visible; }} {part:.4f}%, 100% {{ visibility: hidden; }} }}\n"
        f"@keyframes l {{ 0% {{ visibility: visible; }} {last:.4f}%, 100% {{ visibility: hidden; }} }}\n"
    )
    kinds = ["f"] * (len(drawn) - 1) + ["f l"]
    groups = [
        f'<g class="{kind}" style="animation-delay: {index * seconds - total:.3f}s">\n' + "\n".join(body) + "\n</g>"
        for index, ((body, _), kind) in enumerate(zip(drawn, kinds, strict=True))
    ]
    return document_of(groups, columns, height, rules)


def _check(seconds: float) -> None:
    if not seconds > 0:
        raise OptionError(f"A frame is seen for more than 0 seconds, not {seconds:g}.")
