"""Lines that describe one token: its id and bytes, findings, and the merges that make it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.style import Style

from bpe_core.auditing.findings import KINDS, Severity
from bpe_core.visible import counted, token_label
from bpe_core.weighted import Measure
from tui.drawing.charts import columns
from tui.drawing.lines import InfoLine, how_often, in_one_or_two, sentence
from tui.drawing.token_rows import INKS, MARKS, number
from tui.text.byte_strip import byte_strip

if TYPE_CHECKING:
    from bpe_core.auditing.distribution import Distribution
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.vocabulary import Vocabulary

RECOVERING: Final = "Recovering the merges of this vocabulary from its ranks …"
NO_TOKEN: Final = (
    "Move the cursor onto a token to see its bytes, its merge and its parts."
)

_TREE: Final = 12
"""Lines of the tree of merges, at most, in a list that scrolls."""
_INDENT: Final = 2
"""Cells for each level of the tree."""
_LABEL: Final = 8
"""Cells for the label of a token, at least, on the deepest level of the tree."""
_CHILDREN: Final = 30
"""Tokens made from this one that are listed."""

_CHART_WIDTH: Final = 50  # cells of the histogram, at most
_CHART_HEIGHT: Final = 4  # lines of the histogram

WORDS: Final[Mapping[str, str]] = {
    "count": "uses in the texts",
    "merged": "uses taken by later merges",
    "reference": "uses in the reference",
    "document_frequency": "texts that contain it",
    "largest_share": "largest share of one text",
    "vocabularies": "other vocabularies with it",
    "elsewhere": "tokens it becomes there, on average",
    "indicator": "indicator of its embedding",
}
"""Measures, as the lines name them."""


@dataclass(frozen=True, slots=True)
class TokenFacts:
    tokenizer: Tokenizer
    token: int
    verdict: Verdict | None = None
    measures: Mapping[str, Measure] = field(default_factory=dict)
    """The measures of the token, by name."""
    distribution: Distribution | None = None
    """The distribution of the measure "indicator" over all tokens."""

    @property
    def vocabulary(self) -> Vocabulary:
        return self.tokenizer.vocabulary

    @property
    def data(self) -> bytes:
        return self.vocabulary.token_bytes(self.token)

    @property
    def is_special(self) -> bool:
        return self.token in self.vocabulary.special_tokens.values()

    @property
    def step(self) -> int:
        """The step that made the token; 0 if unknown."""
        if self.is_special or not self.vocabulary.knows_merges:
            return 0
        return self.vocabulary.step_of(self.token)


def token_lines(facts: TokenFacts, width: int) -> list[InfoLine]:
    """Describe a token completely, in lines of `width` cells, the findings first."""
    measures = [
        InfoLine(WORDS.get(name, name), number(name, value))
        for name, value in facts.measures.items()
    ]
    label, *byte_lines = identity(facts, width, 3)
    return separated(
        [
            [label, *findings(facts, width)],
            list(_example(facts)),
            byte_lines,
            [*measures, *_distribution(facts, width)],
            list(origin(facts, width, _TREE)),
            list(_children(facts)),
        ]
    )


def separated(parts: Iterable[list[InfoLine]]) -> list[InfoLine]:
    """Put a blank line between the parts that are not empty."""
    lines: list[InfoLine] = []
    for part in parts:
        if lines and part:
            lines.append(InfoLine())
        lines += part
    return lines


def identity(
    facts: TokenFacts,
    width: int,
    most: int,
    sharing: Sequence[bytes] = (),
    styles: Sequence[Style] = (Style(),),
) -> Iterator[InfoLine]:
    """The label, the id and the bytes, which take at most `most` rows.

    If the token shares characters with others, `sharing` has the bytes of all these tokens.
    """
    label = token_label(facts.data)
    name = f"id {facts.token:,}"
    size_and_name = f"{counted(len(facts.data), 'byte')}  {name}"
    if cell_len(label) + 1 + len(size_and_name) <= width:
        name = size_and_name
    yield InfoLine(label, name, "token")
    yield from byte_strip(sharing or [facts.data], styles, width, most)


def findings(
    facts: TokenFacts, width: int, *, brief: bool = False
) -> Iterator[InfoLine]:
    """The findings of the audit; `brief` leaves out how the score is made up."""
    verdict = facts.verdict
    if verdict is None:
        if not brief:
            yield InfoLine("The audit found nothing about this token.", ink="muted")
        return
    for kind in verdict.kinds:
        evidence = verdict.evidence[kind]
        severity = Severity[evidence["severity"].upper()]
        mark = f"{MARKS[severity]} "
        if brief:
            yield InfoLine(kind, "", INKS[severity], mark)
            yield from sentence(evidence["reason"], width, lead="  ", most=3)
            continue
        # A finding with the same evidence as another one adds nothing to the score.
        share = verdict.shares.get(kind)
        yield InfoLine(kind, f"{share:.2f}" if share else "", INKS[severity], mark)
        yield from sentence(evidence["reason"], width, "text", "  ")
        yield from sentence(f"Why it counts: {KINDS[kind].why}", width, lead="  ")
    if not brief:
        yield from sentence(f"score {verdict.making}", width, "text")


def _example(facts: TokenFacts) -> Iterator[InfoLine]:
    text = facts.verdict.evidence.get("witness") if facts.verdict else None
    if text is not None:
        label = token_label(text.encode(errors="replace"))
        yield InfoLine("a text with this token; Enter edits it", ink="muted")
        yield InfoLine(label, "enter", "accent", "↳ ", text)


def _distribution(facts: TokenFacts, width: int) -> Iterator[InfoLine]:
    """A histogram of the indicator, with marks below it for the threshold and for this token."""
    distribution = facts.distribution
    if distribution is None or "indicator" not in facts.measures:
        return
    most = min(width, _CHART_WIDTH)
    bins = distribution.bins(most)
    for row in columns([part.n_rows for part in bins], _CHART_HEIGHT, "·"):
        yield InfoLine(row, ink="secondary")
    at_threshold = distribution.bin_of(distribution.threshold, most)
    at_token = distribution.bin_of(float(facts.measures["indicator"]), most)
    marks = [" "] * len(bins)
    marks[at_threshold] = "▲"
    marks[at_token] = "●"
    legend = "▲ threshold  ● this token"
    if at_threshold == at_token:
        legend = "● threshold and this token"
    yield InfoLine("".join(marks), ink="accent")
    yield InfoLine(legend, ink="muted")
    yield from sentence(distribution.sentence, width)


def origin(facts: TokenFacts, width: int, height: int) -> Iterator[InfoLine]:
    """The merge that made the token, and the tree of its parts in `height` lines."""
    vocabulary = facts.vocabulary
    if facts.is_special:
        yield InfoLine("a special token: outside the merges", ink="muted")
    elif not vocabulary.knows_merges:
        yield from sentence(RECOVERING, width)
    elif not facts.step:
        kind = "a single byte" if len(facts.data) == 1 else "not made by a merge"
        yield InfoLine(kind, ink="muted")
    else:
        pair = joined(facts.tokenizer, vocabulary.parents(facts.token) or ())
        yield from in_one_or_two(pair, f"step {facts.step:,}", width)
        record = facts.tokenizer.record
        if record is not None and facts.step <= len(record.steps):
            count, n_tied, _ = record.steps[facts.step - 1]
            tied = f"{n_tied:,} tied" if n_tied > 1 else ""
            yield InfoLine(f"occurred {how_often(count)}", tied, "muted")
        yield from branches(vocabulary, facts.token, width, height)


def _children(facts: TokenFacts) -> Iterator[InfoLine]:
    """The tokens that are made from this one."""
    vocabulary = facts.vocabulary
    children = vocabulary.children(facts.token) if vocabulary.knows_merges else ()
    if not children:
        return
    yield InfoLine("is part of", counted(len(children), "token"), "muted")
    for child in children[:_CHILDREN]:
        step = f"step {vocabulary.step_of(child):,}"
        yield InfoLine(token_label(vocabulary.token_bytes(child)), step, target=child)
    if len(children) > _CHILDREN:
        yield InfoLine(f"and {len(children) - _CHILDREN:,} more", ink="muted")


_Path = tuple[int, ...]
"""A place in the tree of merges: 0 for each left part and 1 for each right part on the way."""


def branches(
    vocabulary: Vocabulary, token: int, width: int, height: int
) -> list[InfoLine]:
    """Draw the tree of merges: the parts of `token`, their parts, and so on, in at most `height` lines.

    Levels next to the token are drawn first. A part ends in "…" if its own parts do not fit.
    A token that was not made by a merge has no lines.
    """
    opened: set[_Path] = set()
    queue: deque[tuple[_Path, int]] = deque([((), token)])
    while queue and height >= 2:
        path, part = queue.popleft()
        parents = vocabulary.parents(part)
        if parents is None or (len(path) + 1) * _INDENT + _LABEL > width:
            continue
        opened.add(path)
        height -= 2
        queue.extend(((*path, side), parent) for side, parent in enumerate(parents))

    def drawn(token: int, path: _Path, lead: str) -> Iterator[InfoLine]:
        if path not in opened:
            return
        for side, part in enumerate(vocabulary.parents(token) or ()):
            part_path = (*path, side)
            step = vocabulary.step_of(part)
            data = vocabulary.token_bytes(part)
            label = token_label(data)
            if step and part_path not in opened:
                label += " …"
            origin = f"step {step:,}" if step else data.hex(" ")
            branch, trunk = ("├", "│") if side == 0 else ("└", " ")
            yield InfoLine(label, origin, lead=f"{lead}{branch} ", target=part)
            yield from drawn(part, part_path, f"{lead}{trunk} ")

    return list(drawn(token, (), ""))


def joined(tokenizer: Tokenizer, tokens: Sequence[int]) -> str:
    return " + ".join(token_label(tokenizer.token_bytes(token)) for token in tokens)
