"""A picture as Markdown: the tokens with borders between them as code, and a table of them below."""

from collections import Counter
from collections.abc import Sequence

from bpe_core.pictures.picture import Picture
from bpe_core.pictures.terminal import in_terminal
from bpe_core.visible import token_label

_ROWS = 40
"""Different tokens told in the table at most, the most frequent ones."""


def document(pictures: Sequence[Picture], *, with_ids: bool = False) -> str:
    """The pictures below one another; `with_ids` puts the id of each token behind it."""
    return "\n".join(_part(picture, with_ids) for picture in pictures)


def _part(picture: Picture, with_ids: bool) -> str:
    body = in_terminal(picture, 0, with_ids=with_ids)
    fence = "`" * max(3, _longest_run(body, "`") + 1)
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
    """Text that can stand between backticks in a table."""
    return text.replace("|", "\\|").replace("`", "ˋ")


def _longest_run(text: str, character: str) -> int:
    longest = run = 0
    for other in text:
        run = run + 1 if other == character else 0
        longest = max(longest, run)
    return longest
