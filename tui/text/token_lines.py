"""What is known of one token, as lines: bytes, what an audit found, the merge that made it, parts, places."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.text import Text

from bpe_core.auditing.findings import Severity
from bpe_core.auditing.weights import WEIGHTS
from bpe_core.plurals import counted
from bpe_core.visible import character_name, token_label, visible
from tui.drawing.info_lines import InfoLine, sentence
from tui.drawing.token_labels import INKS, MARKS, number
from tui.text.tokens import UnderCursor

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.explain.places import CorpusPlace
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.vocabulary import Vocabulary
    from tui.state import TokenLines

RECOVERING: Final = "The merges of this vocabulary are being recovered from its ranks."
NO_TOKEN: Final = "Move the cursor onto a token to see its bytes, the merge that made it and what it is built from."
_NO_TEXTS: Final = "No text is chosen: F2 leads to them, Space chooses one."

_TREE: Final = 12
"""Lines of the tree of merges at most, where the lines scroll."""
_INDENT: Final = 2
"""Cells a level of the tree takes."""
_LABEL: Final = 8
"""Cells that stay for a label, however deep it stands."""
_CHILDREN: Final = 30
"""Tokens made of this one that are listed."""
_NAMED: Final = 2
"""Characters of a place whose names are written."""
_STRIP: Final = 6
"""Tokens of one character that are listed."""

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
class TokenFacts:
    """A token, and all that is known of it."""

    tokenizer: "Tokenizer"
    token: int
    verdict: "Verdict | None" = None
    measures: Mapping[str, float] = field(default_factory=dict)
    """Name of a measure -> number of this token."""
    audited: bool = False
    """Whether there has been an audit."""

    @property
    def vocabulary(self) -> "Vocabulary":
        return self.tokenizer.vocabulary

    @property
    def data(self) -> bytes:
        return self.vocabulary.token_bytes(self.token)

    @property
    def step(self) -> int:
        """The step that made it, 0 if none is known."""
        is_merged = self.vocabulary.knows_merges and self.token not in self.vocabulary.special_tokens.values()
        return self.vocabulary.step_of(self.token) if is_merged else 0

    @property
    def learned(self) -> tuple[int, int] | None:
        """How often its pair occurred when it was merged, and how many pairs did as often."""
        record = self.tokenizer.record
        if record is None or not 0 < self.step <= len(record.steps):
            return None
        count, ties, _ = record.steps[self.step - 1]
        return count, ties


def token_lines(facts: TokenFacts, width: int) -> list[InfoLine]:
    """Everything about a token in lines of `width` cells, the finding first."""
    parts = [
        [*_identity(facts, width, 3)],
        [*_findings(facts, width)],
        [*_example(facts)],
        [*_numbers(facts)],
        [*_merge(facts, width)],
        [*_children(facts)],
    ]
    return _separated(parts)


def token_summary(facts: TokenFacts, place: Sequence[InfoLine], width: int, height: int) -> list[InfoLine]:
    """The same in `height` lines: blank lines between the parts, and the tree, where there is room.

    `place` is what there is to say about the place where it stands.
    """
    if facts.token not in facts.vocabulary:
        text = f"The token {facts.token:,} is made by a later merge than step {facts.tokenizer.step:,}."
        return [*sentence(text, width)]
    head = [*_identity(facts, width, 3 if height >= 14 else 1)]
    if not facts.vocabulary.knows_merges:
        return [*head, *sentence(RECOVERING, width)][:height]
    head += _origin(facts, width)
    notes = [*place, *_findings(facts, width, brief=True)]
    children = [*_first_children(facts, width, brief=height - len(head) - len(notes) < 6)]
    room = height - len(head) - len(notes) - len(children)
    gaps = 1 + bool(notes) + bool(children)
    tree = branches(facts.vocabulary, facts.token, width, room - gaps)
    parts = [head, notes, tree or branches(facts.vocabulary, facts.token, width, room), children]
    separated = _separated(parts)
    return separated if len(separated) <= height else [line for part in parts for line in part][:height]


def _separated(parts: Sequence[list[InfoLine]]) -> list[InfoLine]:
    """The parts, a blank line between two."""
    lines: list[InfoLine] = []
    for part in filter(None, parts):
        lines += [InfoLine(), *part] if lines else part
    return lines


def _identity(facts: TokenFacts, width: int, most: int) -> Iterator[InfoLine]:
    yield InfoLine(token_label(facts.data), f"id {facts.token:,}", "token")
    size = counted(len(facts.data), "byte")
    rows = wrap(facts.data[: width * most].hex(" "), max(8, width - len(size) - 2)) or [""]
    for row_number, row in enumerate(rows[:most]):
        cut = " …" if row_number == most - 1 and len(rows) > most else ""
        yield InfoLine(row + cut, "" if row_number else size, "muted")


def _findings(facts: TokenFacts, width: int, *, brief: bool = False) -> Iterator[InfoLine]:
    """What an audit says; if `brief`, without the making of the score."""
    verdict = facts.verdict
    if verdict is None:
        if facts.audited:
            yield InfoLine("Nothing was found about this token.", ink="muted")
        return
    points = {share.kind: share.points for share in verdict.shares}
    for kind in verdict.kinds:
        about = verdict.evidence[kind]
        severity = Severity[about["severity"].upper()]
        yield InfoLine(kind, "" if brief else f"{points.get(kind, 0.0):.2f}", INKS[severity], f"{MARKS[severity]} ")
        if brief:
            yield from sentence(about["reason"], width, lead="  ", most=3)
            continue
        yield from sentence(about["reason"], width, "text", "  ")
        if kind in WEIGHTS:
            yield from sentence(f"Why it counts: {WEIGHTS[kind].why}", width, lead="  ")
    if not brief:
        yield from sentence(f"score {verdict.making}", width, "text")


def _example(facts: TokenFacts) -> Iterator[InfoLine]:
    text = facts.verdict.evidence.get("witness") if facts.verdict else None
    if text is not None:
        yield InfoLine("a text that holds it, for the editor", ink="muted")
        yield InfoLine(token_label(text.encode(errors="replace")), "enter", "accent", "↳ ", text)


def _numbers(facts: TokenFacts) -> Iterator[InfoLine]:
    """What was counted, then and now."""
    if learned := facts.learned:
        count, ties = learned
        tied = f", {ties:,} pairs tied" if ties > 1 else ""
        yield InfoLine(f"pair when it was merged{tied}", f"{count:,}")
    for name, value in facts.measures.items():
        yield InfoLine(WORDS.get(name, name), number(name, value))


def _without_merge(facts: TokenFacts) -> InfoLine:
    if facts.token in facts.vocabulary.special_tokens.values():
        return InfoLine("a special token: outside the merges", ink="muted")
    return InfoLine("a single byte" if len(facts.data) == 1 else "not made by a merge", ink="muted")


def _merge(facts: TokenFacts, width: int) -> Iterator[InfoLine]:
    """What it is made of, down to its bytes."""
    if facts.step:
        yield InfoLine("made of", f"step {facts.step:,}", "muted")
        yield from branches(facts.vocabulary, facts.token, width, _TREE)
    elif facts.vocabulary.knows_merges or facts.token in facts.vocabulary.special_tokens.values():
        yield _without_merge(facts)
    else:
        yield from sentence(RECOVERING, width)


def _origin(facts: TokenFacts, width: int) -> Iterator[InfoLine]:
    """The same in a line or two."""
    if not facts.step:
        yield _without_merge(facts)
    else:
        vocabulary, made = facts.vocabulary, f"step {facts.step:,}"
        pair = " + ".join(token_label(vocabulary.token_bytes(part)) for part in vocabulary.parents(facts.token) or ())
        if cell_len(pair) + 1 + len(made) <= width:
            yield InfoLine(pair, made)
        else:
            yield InfoLine(pair)
            yield InfoLine("", made)
        if learned := facts.learned:
            count, ties = learned
            yield InfoLine(f"occurred {counted(count, 'time')}", f"{ties:,} tied" if ties > 1 else "", "muted")
    left = facts.verdict.evidence.get("count") if facts.verdict else None
    if left is not None:
        yield InfoLine("left in the corpus", f"{left:,}", "muted")


def _children(facts: TokenFacts) -> Iterator[InfoLine]:
    vocabulary = facts.vocabulary
    children = vocabulary.children(facts.token) if vocabulary.knows_merges else ()
    if not children:
        return
    yield InfoLine("goes into", counted(len(children), "token"), "muted")
    for child in children[:_CHILDREN]:
        step = f"step {vocabulary.step_of(child):,}"
        yield InfoLine(token_label(vocabulary.token_bytes(child)), step, target=child)
    if len(children) > _CHILDREN:
        yield InfoLine(f"and {len(children) - _CHILDREN:,} more", ink="muted")


def _first_children(facts: TokenFacts, width: int, *, brief: bool) -> Iterator[InfoLine]:
    """The same in a line or two."""
    children = facts.vocabulary.children(facts.token)
    if not children:
        return
    first = "  ".join([token_label(facts.vocabulary.token_bytes(child)) for child in children[:width]])
    yield InfoLine(f"goes into {first}" if brief else "goes into", counted(len(children), "token"), "muted")
    if not brief:
        yield InfoLine(first)


def branches(vocabulary: "Vocabulary", token: int, width: int, height: int) -> list[InfoLine]:
    """The tree of merges: what `token` was joined from, and those parts from, in `height` lines of `width` cells.

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
    vocabulary: "Vocabulary", token: int, path: tuple[int, ...], lines: str, opened: set[tuple[int, ...]]
) -> Iterator[InfoLine]:
    if path not in opened:
        return
    for side, part in enumerate(vocabulary.parents(token) or ()):
        here = (*path, side)
        bytes_ = vocabulary.token_bytes(part)
        step = vocabulary.step_of(part)
        closed = step and here not in opened
        note = f"step {step:,}" if step else bytes_.hex(" ")
        yield InfoLine(token_label(bytes_) + (" …" if closed else ""), note, lead=lines + "├└"[side] + " ", target=part)
        yield from _drawn(vocabulary, part, here, lines + "│ "[side] + " ", opened)


def lines_of_texts(search: "TokenLines", width: int) -> list[InfoLine]:
    """The lines in which a token occurs, by file, the token brought out."""
    lines: list[InfoLine] = []
    file = None
    for at, one in search.found:
        if at != file:
            file = at
            lines.append(InfoLine(file.name, ink="accent"))
        lines.append(InfoLine(_context(one, width), lead=f"{one.line:>6,}  ", target=(at, one)))
    if search.progress:
        end = f"Looking: {search.progress}." if search.running else search.progress
    elif search.found:
        end = f"{counted(len(search.found), 'line')}, each listed once."
    else:
        end = "It occurs in none of the chosen texts." if search.searched else _NO_TEXTS
    return [*lines, *sentence(end, width)]


def _context(one: "CorpusPlace", width: int) -> Text:
    """A line with what stands before the token cut short, so that the token is seen."""
    room = max(4, width // 4)
    text = Text("…" if one.column > room else "").append(visible(one.before[-room:]))
    return text.append(token_label(one.left.encode(errors="replace")), "bold reverse").append(visible(one.after))


def about_place(under: UnderCursor, width: int) -> Iterator[InfoLine]:
    """The place where a token stands: its characters, and which token owns which byte."""
    start, end = under.start, under.end
    where = f"character {start:,}" if end - start == 1 else f"characters {start:,} to {end - 1:,}"
    yield InfoLine(where, ink="muted")
    for character in islice((one for one in under.text if not " " <= one <= "~"), _NAMED):
        yield InfoLine(f"{visible(character)}  {character_name(character)}", f"{ord(character):04X}", "muted")
    if len(under.tokens) < 2:
        return
    n_bytes = sum(map(len, under.tokens))
    yield InfoLine(f"{len(under.tokens)} tokens share {n_bytes} bytes", ink="warning")
    if 3 * n_bytes <= width:
        yield InfoLine(b"".join(under.tokens).hex(" "))
        yield InfoLine(" ".join("╰" + "─" * (3 * len(token) - 3) + "╯" for token in under.tokens), ink="lines")
    for token, data in islice(zip(under.ids, under.tokens, strict=True), _STRIP):
        yield InfoLine(data.hex(" "), f"id {token:,}", "muted")
