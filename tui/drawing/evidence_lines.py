"""What is known of one token, as lines: what an audit found, how the score is made, counts, the family. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.text import Text

from bpe_core.auditing.findings import Severity
from bpe_core.auditing.weights import WEIGHTS
from bpe_core.plurals import counted
from bpe_core.visible import token_label, visible
from tui.drawing.info_lines import InfoLine
from tui.drawing.token_labels import INKS, MARKS, number
from tui.drawing.token_tree import branches

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.corpus.reading import TextFile
    from bpe_core.explain.places import CorpusPlace
    from bpe_core.tokenizer import Tokenizer
    from tui.state.audit import TokenLines

_TREE: Final = 12
"""Lines of the tree of merges at most."""
_CHILDREN: Final = 30
"""Tokens made of this one that are listed."""

_NO_TEXTS: Final = "No text is chosen: F2 leads to them, Space chooses one."

WORDS: Final[Mapping[str, str]] = {
    "count": "left in the texts",
    "merged": "taken there by later merges",
    "reference": "in the reference",
    "document_frequency": "texts that it occurs in",
    "largest_share": "largest part from one text",
    "indicator": "indicator of its row",
}
"""Measures, as the column calls them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the column, and what Enter on it leads to: at most one of these."""

    info: InfoLine
    token: int | None = None
    """A token to look at."""
    text: str | None = None
    """A text for the editor."""
    place: "tuple[TextFile, CorpusPlace] | None" = None
    """A place in a text, to be shown in the editor."""

    @property
    def hint(self) -> str:
        """What Enter does, in a sentence; empty if nothing."""
        if self.token is not None:
            return "Enter looks at this token."
        if self.text is not None:
            return "Enter puts this text into the editor; Ctrl+Z there brings yours back."
        return "Enter opens this text in the editor, at this line." if self.place else ""


@dataclass(frozen=True, slots=True)
class Known:
    """A token, and all that is known of it."""

    tokenizer: "Tokenizer"
    token: int
    verdict: "Verdict | None" = None
    measures: Mapping[str, float] = field(default_factory=dict)
    """Name of a measure -> number of this token."""
    audited: bool = False
    """Whether there has been an audit."""


def token_lines(known: Known, width: int) -> list[Line]:
    """Everything about a token in lines of `width` cells, the finding first."""
    parts = [
        [*_identity(known, width)],
        [*_findings(known, width)],
        [*_example(known)],
        [*_numbers(known)],
        [*_merge(known, width)],
        [*_children(known)],
    ]
    return [line for part in parts if part for line in ([Line(InfoLine()), *part] if part is not parts[0] else part)]


def lines_of_texts(known: "TokenLines", width: int) -> list[Line]:
    """The lines in which a token occurs, by file, the token brought out."""
    lines: list[Line] = []
    file = None
    for at, one in known.found:
        if at != file:
            file = at
            lines.append(Line(InfoLine(file.name, ink="accent")))
        lines.append(Line(InfoLine(_context(one, width), lead=f"{one.line:>6,}  "), place=(at, one)))
    if known.progress:
        lines += paragraph(f"Looking: {known.progress}." if known.running else known.progress, width, "muted")
    elif not known.found:
        lines += paragraph("It occurs in none of the chosen texts." if known.searched else _NO_TEXTS, width, "muted")
    else:
        lines += paragraph(f"{counted(len(known.found), 'line')}; each is told once.", width, "muted")
    return lines


def _context(one: "CorpusPlace", width: int) -> Text:
    """A line with what stands before the token cut short, so that the token is seen."""
    room = max(4, width // 4)
    text = Text("…" if one.column > room else "").append(visible(one.before[-room:]))
    return text.append(token_label(one.left.encode(errors="replace")), "bold reverse").append(visible(one.after))


def paragraph(text: str, width: int, ink: str = "text", lead: str = "") -> Iterator[Line]:
    """A text in as many lines as it needs; cells count, not characters."""
    row, room = "", max(8, width - len(lead))
    for word in text.split():
        if row and cell_len(row) + 1 + cell_len(word) > room:
            yield Line(InfoLine(row, ink=ink, lead=lead))
            row = word
        else:
            row = f"{row} {word}" if row else word
    yield Line(InfoLine(row, ink=ink, lead=lead))


def _identity(known: Known, width: int) -> Iterator[Line]:
    data = known.tokenizer.vocabulary.token_bytes(known.token)
    yield Line(InfoLine(token_label(data), f"id {known.token:,}", "token"))
    size = counted(len(data), "byte")
    rows = wrap(data.hex(" "), max(8, width - len(size) - 2)) or [""]
    for place, row in enumerate(rows[:3]):
        cut = " …" if place == 2 and len(rows) > 3 else ""
        yield Line(InfoLine(row + cut, "" if place else size, "muted"))


def _findings(known: Known, width: int) -> Iterator[Line]:
    verdict = known.verdict
    if verdict is None:
        if known.audited:
            yield Line(InfoLine("Nothing was found about this token.", ink="muted"))
        return
    points = {share.kind: share.points for share in verdict.shares}
    for kind in verdict.kinds:
        about = verdict.evidence[kind]
        severity = Severity[about["severity"].upper()]
        yield Line(InfoLine(kind, f"{points.get(kind, 0.0):.2f}", INKS[severity], f"{MARKS[severity]} "))
        yield from paragraph(visible(about["reason"]), width, lead="  ")
        if kind in WEIGHTS:
            yield from paragraph(f"Why it counts: {WEIGHTS[kind].why}", width, "muted", "  ")
    yield from paragraph(f"score {verdict.making}", width)


def _example(known: Known) -> Iterator[Line]:
    """A text that the token occurs in."""
    text = known.verdict.evidence.get("witness") if known.verdict else None
    if text is not None:
        yield Line(InfoLine("a text that holds it, for the editor", ink="muted"))
        yield Line(InfoLine(token_label(text.encode(errors="replace")), "enter", "accent", "↳ "), text=text)


def _numbers(known: Known) -> Iterator[Line]:
    """What was counted, then and now."""
    vocabulary, record = known.tokenizer.vocabulary, known.tokenizer.record
    step = vocabulary.step_of(known.token) if vocabulary.knows_merges else 0
    if record is not None and 0 < step <= len(record.steps):
        count, ties, _ = record.steps[step - 1]
        tied = f", {ties:,} pairs tied" if ties > 1 else ""
        yield Line(InfoLine(f"pair when it was merged{tied}", f"{count:,}"))
    for name, value in known.measures.items():
        yield Line(InfoLine(WORDS.get(name, name), number(name, value)))


def _merge(known: Known, width: int) -> Iterator[Line]:
    """What it is made of, down to its bytes."""
    vocabulary, token = known.tokenizer.vocabulary, known.token
    if token in vocabulary.special_tokens.values():
        yield Line(InfoLine("A special token: no merge makes it.", ink="muted"))
    elif not vocabulary.knows_merges:
        yield Line(InfoLine("The merges are being recovered from the ranks.", ink="muted"))
    elif (step := vocabulary.step_of(token)) == 0:
        one = len(vocabulary.token_bytes(token)) == 1
        yield Line(InfoLine("A single byte." if one else "No merge makes it.", ink="muted"))
    else:
        yield Line(InfoLine("made of", f"step {step:,}", "muted"))
        for branch in branches(vocabulary, token, width, _TREE):
            yield Line(InfoLine(branch.label, branch.note, "text", branch.lines), token=branch.token)


def _children(known: Known) -> Iterator[Line]:
    """What it is a part of."""
    vocabulary = known.tokenizer.vocabulary
    children = vocabulary.children(known.token) if vocabulary.knows_merges else ()
    if not children:
        return
    yield Line(InfoLine("goes into", counted(len(children), "token"), "muted"))
    for child in children[:_CHILDREN]:
        step = f"step {vocabulary.step_of(child):,}"
        yield Line(InfoLine(token_label(vocabulary.token_bytes(child)), step), token=child)
    if len(children) > _CHILDREN:
        yield Line(InfoLine(f"and {len(children) - _CHILDREN:,} more", ink="muted"))
