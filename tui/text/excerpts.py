"""Excerpts of a text: the ids of a part, and pictures of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from tui.text.edited_text import EditedText
from tui.text.lane import impatient
from tui.text.strips import Columns

MOST_COPIED: Final = 200_000
"""Ids that are copied without a selection, at most: no clipboard takes megabytes."""


class PictureKind(NamedTuple):
    name: str
    """What the question calls it."""
    suffix: str


PICTURES: Final = {
    "html": PictureKind("a page", ".html"),
    "svg": PictureKind("a drawing", ".svg"),
    "markdown": PictureKind("Markdown", ".md"),
}


def ids_of(edited: EditedText, selected: Columns) -> list[int]:
    """Return the ids of the tokens that meet a selection, or all ids if it is empty."""
    first, last = selected
    if first == last:
        return edited.ask(lambda live: live.ids, [])
    return [token for span in edited.spans(first, last) for token in span.ids]


def why_no_ids(edited: EditedText, selected: Columns) -> str:
    """Say why ids can't be copied; empty if they can."""
    n_tokens = edited.n_tokens
    if n_tokens is None:
        if edited.why_none:
            return edited.why_none
        return "The tokens are still being counted. Wait a moment and copy again."
    first, last = selected
    if first == last and n_tokens > MOST_COPIED:
        return f"{n_tokens:,} ids don't fit the clipboard. Select a part, or run bpescope encode."
    return ""


def picture(
    edited: EditedText, titles: Sequence[str], part: Columns, kind: str
) -> Callable[[], str]:
    """Return a function that draws a part of the text under all lanes with tokens, to be called in a thread.

    `kind` is one of `PICTURES`. The picture is the one that `bpescope show` makes. Splitting and encoding errors
    are raised: a part can be hard to split even if the whole text is not.
    """
    from bpe_core.live.live_text import LiveText
    from bpe_core.pictures.drawing import TextLanes, document, drawing, page

    first, last = part
    lanes = [
        (title, lane.live)
        for title, lane in zip(titles, edited.lanes, strict=False)
        if lane.live is not None
    ]
    with impatient():
        if len(lanes) == 1:
            # Encode the part separately, so that its first and last tokens are not cut.
            title, live = lanes[0]
            part_alone = LiveText(live.tokenizer, live.between(first, last))
            drawn = TextLanes.of([(title, part_alone)])
        else:
            drawn = TextLanes.of(lanes, first, last)
    draw: dict[str, Callable[[list[TextLanes]], str]] = {
        "html": page,
        "svg": drawing,
        "markdown": document,
    }
    return partial(draw[kind], [drawn])
