"""What leaves an edited text: copies of it and of its ids for a clipboard, and pictures of its lanes for files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tui.text.edited_text import EditedText
from tui.text.strips import Columns

MOST_COPIED: Final = 200_000
"""Ids that are copied without being selected; terminals do not take megabytes into their clipboards."""
MOST_DRAWN: Final = 20_000  # characters of a picture, at most
PICTURES: Final = {"html": "a page", "svg": "a drawing", "markdown": "Markdown"}
"""The kinds of pictures, each with what it is."""
_PATIENCE: Final = 0.5  # seconds that a pattern may take to split the part that is drawn
SUFFIXES: Final = {"html": ".html", "svg": ".svg", "markdown": ".md"}


def ids_of(edited: EditedText, selected: Columns) -> list[int]:
    """The tokens that meet a selection, or all of them where nothing is selected."""
    first, last = selected
    if first == last:
        return edited.ask(lambda live: live.ids, [])
    return [token for span in edited.spans(first, last) for token in span.ids]


def why_no_ids(edited: EditedText, selected: Columns) -> str:
    """What stands in the way of copying ids, in a sentence; empty if nothing does."""
    n_tokens = edited.n_tokens
    if n_tokens is None:
        return edited.why_none or "The tokens are not known yet: wait a moment, and copy then."
    if selected[0] == selected[1] and n_tokens > MOST_COPIED:
        return f"{n_tokens:,} ids are too many for a clipboard: select a part, or run bpescope encode."
    return ""


def picture(edited: EditedText, titles: Sequence[str], part: Columns, kind: str) -> str:
    """A part of the text under the tokenizers of all lanes that have tokens, as one of `PICTURES`.

    Of one lane it is what `bpescope show` makes of one tokenizer, of several what it makes of several. Raises what
    splitting and encoding raise: a part may be hard to split where the whole is not.
    """
    from bpe_core.patterns import patience

    with patience(_PATIENCE):
        return _drawn(edited, titles, part, kind)


def _drawn(edited: EditedText, titles: Sequence[str], part: Columns, kind: str) -> str:
    from bpe_core.live.live_text import LiveText
    from bpe_core.pictures.drawing import TextLanes, document, drawing, page

    lanes = [(title, lane.live) for title, lane in zip(titles, edited.lanes, strict=False) if lane.live is not None]
    draw: dict[str, Callable[[list[TextLanes]], str]] = {"html": page, "svg": drawing, "markdown": document}
    if len(lanes) == 1:  # alone, the part is encoded anew: its first and last tokens are not cut
        ((title, live),) = lanes
        return draw[kind]([TextLanes.of([(title, LiveText(live.tokenizer, live.between(*part)))])])
    return draw[kind]([TextLanes.of(lanes, *part)])
