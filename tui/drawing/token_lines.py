"""The lines that the table of tokens draws: its titles, a token, the kinds in its footer, and why it is empty."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style

from bpe_core.auditing.findings import Severity
from bpe_core.visible import token_label
from tui.drawing.choice_line import Titles
from tui.drawing.columns import PlacedColumn, line, tinted
from tui.drawing.token_columns import INKS, MARKS, number
from tui.drawing.token_rows import HOLE, SPECIAL, TokenRows, Wanted

if TYPE_CHECKING:
    from bpe_core.vocabulary import Vocabulary

SEVERITIES: Final = {0: "", 1: "○ and worse", 2: "● and worse", 3: "▲ only"}
"""What is shown, by the least severity."""


def title_line(places: Sequence[PlacedColumn], wanted: Wanted, style: Style, accent: Style) -> Iterator[Segment]:
    """The titles, an arrow at the one that sorts."""
    arrow = "↓" if wanted.reverse != (wanted.column == "score") else "↑"
    parts = []
    for place in places:
        sorts = place.column.key == wanted.column
        heading = place.column.heading.strip()
        title = (f"{arrow} {heading}" if place.column.right else f"{heading} {arrow}") if sorts else heading
        parts.append((place, title.strip(), style + accent if sorts else style))
    return line(parts, style)


def token_line(
    rows: TokenRows,
    row: int,
    reason: str,
    places: Sequence[PlacedColumn],
    style_of: Callable[[str], Style],
    base: Style,
    tint: Style | None,
) -> Iterator[Segment]:
    """A row: a token or a hole.

    `style_of` gives the theme's style for a part of the list over `base`, the background of the row; `tint` is the
    token's own color.
    """
    token, ink, muted = rows.ids[row], style_of("row"), style_of("muted")
    texts = {"id": (f"{token:,}", muted), "reason": (reason, muted)}
    if rows.hole(row):
        texts["kinds"] = (HOLE, ink)
    else:
        texts["token"] = (token_label(rows.tokens[row]), ink + Style(bold=True))
        texts["kinds"] = (SPECIAL if token in rows.specials else "", ink)
        texts |= {name: (number(name, column[token]), ink) for name, column in rows.measures.items() if token in column}
    if verdict := rows.verdicts.get(token):
        severity = verdict.severity or Severity.NOTE
        texts |= {
            "severity": (MARKS[severity], style_of(INKS[severity])),
            "score": (f"{verdict.score:.2f}", ink),
            "kinds": (", ".join(verdict.kinds), ink),
        }
    parts = [
        tinted(place, *texts.get(place.column.key, ("", ink)), tint if place.column.key == "token" else None)
        for place in places
    ]
    return line(parts, base)


def reason(rows: TokenRows, row: int, vocabulary: "Vocabulary | None") -> str:
    """What the last column tells of a row: what is wrong with it, or what it is made of."""
    token = rows.ids[row]
    if verdict := rows.verdicts.get(token):
        return verdict.reason
    if hole := rows.hole(row):
        return hole.sentence
    if vocabulary is None or not vocabulary.knows_merges or token not in vocabulary:
        return ""
    parents = vocabulary.parents(token)
    return " + ".join(token_label(vocabulary.token_bytes(part)) for part in parents) if parents else ""


def kind_titles(choices: Mapping[str, int]) -> Titles:
    """The kinds of rows, each with the number of its rows as its title."""
    return [(kind, f"{kind or 'all'} {n:,}") for kind, n in choices.items()]


def shown_told(wanted: Wanted, n_shown: int) -> str:
    """How many rows are shown, and of which severity, where that is not all; begins and ends with a space."""
    worst = SEVERITIES[wanted.severity]
    return f" {worst}{' · ' * bool(worst)}{n_shown:,} shown " if wanted.search or worst else " "


def none_shown(wanted: Wanted) -> str:
    """That there is no row of those that are wanted, in a sentence.

    >>> none_shown(Wanted(kind="unreachable", search="low"))
    'No token of the kind unreachable, with “low” in its text, its id or its bytes.'
    """
    what = [f"of the kind {wanted.kind}"] if wanted.kind else []
    what += [f"with {SEVERITIES[wanted.severity]}"] if wanted.severity else []
    what += [f"with “{wanted.search}” in its text, its id or its bytes"] if wanted.search else []
    return f"No token {', '.join(what)}."
