"""Pictures as Markdown: the text with borders between its tokens in a code block, and a table of its tokens."""

import re
from collections import Counter
from collections.abc import Sequence

from bpe_core.cells import cells
from bpe_core.pictures.lanes import Lanes
from bpe_core.pictures.picture import Picture
from bpe_core.pictures.terminal import BORDER, in_terminal
from bpe_core.visible import token_label

_ROWS = 40
"""Rows of the table at most; the most frequent tokens are listed."""


def document(pictures: Sequence[Picture], *, with_ids: bool = False) -> str:
    """The pictures below one another, as a Markdown document; `with_ids` writes the ids of each token after it."""
    return "\n".join(_part(picture, with_ids) for picture in pictures)


def lanes_document(lanes: Lanes) -> str:
    """A text under several tokenizers, each line once for each with borders between its tokens, and their totals."""
    width = max(map(cells, lanes.titles))
    rows = [
        f"{title}{' ' * (width - cells(title))}  {BORDER.join(chip.lines[0] for chip in lane)}"
        for line in lanes.lines
        for title, lane in (*zip(lanes.titles, line, strict=True), ("", ()))
    ]
    body = "\n".join(map(str.rstrip, rows)).rstrip()
    fence = "`" * max(3, _longest_run_of_backticks(body) + 1)
    told = [f"| {_cell(title)} | {summary} |" for title, summary in zip(lanes.titles, lanes.summaries, strict=True)]
    head = ["| tokenizer | the text |", "|---|---|"]
    return "\n".join([f"### {' · '.join(lanes.titles)}", "", *head, *told, "", f"{fence}text", body, fence, ""])


def _part(picture: Picture, with_ids: bool) -> str:
    body = in_terminal(picture, 0, with_ids=with_ids)
    fence = "`" * max(3, _longest_run_of_backticks(body) + 1)
    counts = Counter((chip.ids, chip.data) for chip in picture.chips)
    rows = [
        f"| {' '.join(map(str, ids))} | `{_cell(token_label(data))}` | `{data.hex(' ')}` | {n:,} |"
        for (ids, data), n in counts.most_common(_ROWS)
    ]
    more = [f"\nand {len(counts) - _ROWS:,} more"] if len(counts) > _ROWS else []
    head = ["| id | token | bytes | times |", "|---:|---|---|---:|"]
    return "\n".join(
        [f"### {picture.title}", "", picture.summary, "", f"{fence}text", body, fence, "", *head, *rows, *more, ""]
    )


def _cell(text: str) -> str:
    """Text escaped for use between backticks in a table."""
    return text.replace("|", "\\|").replace("`", "ˋ")


def _longest_run_of_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
