"""What is known of one token, and why a piece became its tokens, as lines of a narrow column."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.text import Text

from bpe_core.auditing.findings import KINDS, Severity
from bpe_core.errors import BpeError
from bpe_core.explain.trace import trace
from bpe_core.explain.unstable import why_unknown
from bpe_core.visible import character_name, counted, token_label, visible
from bpe_core.weighted import Measure, formatted
from tui.drawing.lines import InfoLine, in_one_or_two, in_rows, sentence
from tui.drawing.palette import Palette, token_labels
from tui.drawing.token_rows import INKS, MARKS, number
from tui.text.tokens import Review

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.live.change import Span
    from bpe_core.live.live_text import LiveText
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.vocabulary import Vocabulary
    from tui.state import TokenLines

RECOVERING: Final = "The merges of this vocabulary are being recovered from its ranks."
NO_TOKEN: Final = "Move the cursor onto a token to see its bytes, the merge that made it and what it is built from."

_TREE: Final = 12  # lines of the tree of merges at most, where the lines scroll
_INDENT: Final = 2  # cells a level of the tree takes
_LABEL: Final = 8  # cells that stay for a label, however deep it stands
_CHILDREN: Final = 30  # tokens made of this one that are listed
_NAMED: Final = 2  # characters of a place whose names are written
_STRIP: Final = 6  # tokens of one character that are listed
_LONGEST: Final = 80  # bytes of a piece that is explained; of a longer one nobody would read the merges

WORDS: Final[Mapping[str, str]] = {  # measures, as the column calls them
    "count": "left in the texts",
    "merged": "taken there by later merges",
    "reference": "in the reference",
    "document_frequency": "texts that it occurs in",
    "largest_share": "largest part from one text",
    "indicator": "indicator of its row",
}


@dataclass(frozen=True, slots=True)
class TokenFacts:
    tokenizer: Tokenizer
    token: int
    verdict: Verdict | None = None
    measures: Mapping[str, Measure] = field(
        default_factory=dict
    )  # name of a measure -> number of this token

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
        """The step that made it, 0 if none is known."""
        return (
            self.vocabulary.step_of(self.token)
            if self.vocabulary.knows_merges and not self.is_special
            else 0
        )


def token_lines(facts: TokenFacts, width: int) -> list[InfoLine]:
    """Everything about a token in lines of `width` cells, the finding first."""
    numbers = [
        InfoLine(WORDS.get(name, name), number(name, value))
        for name, value in facts.measures.items()
    ]
    first = _identity(facts, width, 3), _findings(facts, width), _example(facts)
    return _separated(
        map(list, (*first, numbers, _origin(facts, width, _TREE), _children(facts)))
    )


def token_summary(
    facts: TokenFacts, place: Sequence[InfoLine], width: int, height: int
) -> list[InfoLine]:
    """The same in `height` lines: blank lines between the parts, and the tree, where there is room.

    `place` is what there is to say about the place where it stands.
    """
    if facts.token not in facts.vocabulary:
        text = f"The token {facts.token:,} is made by a later merge than step {facts.tokenizer.step:,}."
        return [*sentence(text, width)]
    head = [*_identity(facts, width, 3 if height >= 14 else 1)]
    if not facts.vocabulary.knows_merges:
        return [*head, *sentence(RECOVERING, width)][:height]
    head += _origin(facts, width, 0)
    left = facts.verdict.evidence.get("count") if facts.verdict else None
    head += (
        [InfoLine("left in the corpus", formatted(left), "muted")]
        if left is not None
        else []
    )
    notes = [*place, *_findings(facts, width, brief=True)]
    children = [
        *_first_children(facts, width, brief=height - len(head) - len(notes) < 6)
    ]
    room = height - len(head) - len(notes) - len(children)
    gaps = 1 + bool(notes) + bool(children)
    tree = branches(facts.vocabulary, facts.token, width, room - gaps)
    parts = [
        head,
        notes,
        tree or branches(facts.vocabulary, facts.token, width, room),
        children,
    ]
    separated = _separated(parts)
    return (
        separated
        if len(separated) <= height
        else [line for part in parts for line in part][:height]
    )


def _separated(parts: Iterable[list[InfoLine]]) -> list[InfoLine]:
    lines: list[InfoLine] = []
    for part in filter(None, parts):
        lines += [InfoLine(), *part] if lines else part
    return lines


def _identity(facts: TokenFacts, width: int, most: int) -> Iterator[InfoLine]:
    yield InfoLine(token_label(facts.data), f"id {facts.token:,}", "token")
    size = counted(len(facts.data), "byte")
    rows = wrap(facts.data[: width * most].hex(" "), max(8, width - len(size) - 2)) or [
        ""
    ]
    for row_number, row in enumerate(rows[:most]):
        cut = " …" if row_number == most - 1 and len(rows) > most else ""
        yield InfoLine(row + cut, "" if row_number else size, "muted")


def _findings(
    facts: TokenFacts, width: int, *, brief: bool = False
) -> Iterator[InfoLine]:
    """What an audit says; if `brief`, without the making of the score."""
    verdict = facts.verdict
    if verdict is None:
        if not brief:
            yield InfoLine("Nothing was found about this token.", ink="muted")
        return
    for kind in verdict.kinds:
        about = verdict.evidence[kind]
        severity = Severity[about["severity"].upper()]
        share = (
            f"{share:.2f}" if not brief and (share := verdict.shares.get(kind)) else ""
        )  # 0: the same evidence
        yield InfoLine(kind, share, INKS[severity], f"{MARKS[severity]} ")
        if brief:
            yield from sentence(about["reason"], width, lead="  ", most=3)
            continue
        yield from sentence(about["reason"], width, "text", "  ")
        yield from sentence(f"Why it counts: {KINDS[kind].why}", width, lead="  ")
    if not brief:
        yield from sentence(f"score {verdict.making}", width, "text")


def _example(facts: TokenFacts) -> Iterator[InfoLine]:
    text = facts.verdict.evidence.get("witness") if facts.verdict else None
    if text is not None:
        yield InfoLine("a text that holds it, for the editor", ink="muted")
        yield InfoLine(
            token_label(text.encode(errors="replace")), "enter", "accent", "↳ ", text
        )


def _origin(facts: TokenFacts, width: int, height: int) -> Iterator[InfoLine]:
    """The merge that made it, and what it is made of in so many lines."""
    vocabulary, made = facts.vocabulary, f"step {facts.step:,}"
    if not facts.step and not vocabulary.knows_merges and not facts.is_special:
        yield from sentence(RECOVERING, width)
    elif not facts.step:
        kind = "a single byte" if len(facts.data) == 1 else "not made by a merge"
        yield InfoLine(
            "a special token: outside the merges" if facts.is_special else kind,
            ink="muted",
        )
    else:
        pair = _joined(facts.tokenizer, vocabulary.parents(facts.token) or ())
        yield from in_one_or_two(pair, made, width)
        record = facts.tokenizer.record
        if record is not None and facts.step <= len(record.steps):
            count, ties, _ = record.steps[facts.step - 1]
            yield InfoLine(
                f"occurred {counted(count, 'time')}",
                f"{ties:,} tied" if ties > 1 else "",
                "muted",
            )
        yield from branches(vocabulary, facts.token, width, height)


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


def _first_children(
    facts: TokenFacts, width: int, *, brief: bool
) -> Iterator[InfoLine]:
    if children := facts.vocabulary.children(facts.token):
        first = "  ".join(
            [
                token_label(facts.vocabulary.token_bytes(child))
                for child in children[:width]
            ]
        )
        yield InfoLine(
            f"goes into {first}" if brief else "goes into",
            counted(len(children), "token"),
            "muted",
        )
        if not brief:
            yield InfoLine(first)


_Path = tuple[
    int, ...
]  # a place in the tree of merges: 0 for each left part and 1 for each right one on the way to it


def branches(
    vocabulary: Vocabulary, token: int, width: int, height: int
) -> list[InfoLine]:
    """The tree of merges: what `token` was joined from, and those parts from, in `height` lines of `width` cells.

    The levels next to the token come first; a part that is made of others for which there is no room ends in "…".
    A token that no merge made has no lines.
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
        for side, part in enumerate(
            (vocabulary.parents(token) or ()) if path in opened else ()
        ):
            here, step, data = (
                (*path, side),
                vocabulary.step_of(part),
                vocabulary.token_bytes(part),
            )
            label = token_label(data) + (" …" if step and here not in opened else "")
            yield InfoLine(
                label,
                f"step {step:,}" if step else data.hex(" "),
                lead=f"{lead}{'├└'[side]} ",
                target=part,
            )
            yield from drawn(part, here, f"{lead}{'│ '[side]} ")

    return [*drawn(token, (), "")]


def lines_of_texts(search: TokenLines, width: int) -> Iterator[InfoLine]:
    """The lines in which a token occurs, by file, the token brought out; what stands before it is cut short."""
    file, room = None, max(4, width // 4)
    for at, one in search.found:
        if at != file:
            file = at
            yield InfoLine(file.name, ink="accent")
        text = Text("…" if one.column > room else "").append(
            visible(one.before[-room:])
        )
        text.append(
            token_label(one.left.encode(errors="replace")), "bold reverse"
        ).append(visible(one.after))
        yield InfoLine(text, lead=f"{one.line:>6,}  ", target=(at, one))
    if search.progress:
        end = f"Looking: {search.progress}." if search.running else search.progress
    elif search.found:
        end = f"{counted(len(search.found), 'line')}, each listed once."
    else:
        none = "No text is chosen: F2 leads to them, Space chooses one."
        end = "It occurs in none of the chosen texts (F2)." if search.searched else none
    yield from sentence(end, width)


def about_place(live: LiveText, under: Span, width: int) -> Iterator[InfoLine]:
    """The place where a token stands: its characters, and which token owns which byte."""
    start, end = under[:2]
    tokens = [*map(live.tokenizer.token_bytes, under.ids)]
    where = (
        f"character {start:,}"
        if end - start == 1
        else f"characters {start:,} to {end - 1:,}"
    )
    yield InfoLine(where, ink="muted")
    for character in islice(
        (one for one in live.between(start, end) if not " " <= one <= "~"), _NAMED
    ):
        yield InfoLine(
            f"{visible(character)}  {character_name(character)}",
            f"{ord(character):04X}",
            "muted",
        )
    if len(tokens) < 2:
        return
    n_bytes = sum(map(len, tokens))
    yield InfoLine(f"{len(tokens)} tokens share {n_bytes} bytes", ink="warning")
    if 3 * n_bytes <= width:
        yield InfoLine(b"".join(tokens).hex(" "))
        yield InfoLine(
            " ".join("╰" + "─" * (3 * len(token) - 3) + "╯" for token in tokens),
            ink="faint",
        )
    for token, data in islice(zip(under.ids, tokens, strict=True), _STRIP):
        yield InfoLine(data.hex(" "), f"id {token:,}", "muted")


def _joined(tokenizer: Tokenizer, tokens: Sequence[int]) -> str:
    return " + ".join(token_label(tokenizer.token_bytes(token)) for token in tokens)


# Why this split


def why_this_split(
    tokenizer: Tokenizer, piece: str, palette: Palette, width: int
) -> Iterator[InfoLine]:
    """The tokens of `piece`, why its neighbors stay apart, and the merges that made them, with its parts after each.

    "" stands for a token that is no piece.
    """
    bytes_of, vocabulary, text, traced = (
        tokenizer.token_bytes,
        tokenizer.vocabulary,
        "",
        None,
    )
    try:
        if not vocabulary.knows_merges:
            text = RECOVERING
        elif len(piece.encode()) > _LONGEST:
            text = f"This piece has {len(piece):,} characters, too many to follow its merges."
        elif not piece:
            text = "This token is found as it stands, before the text is split."
        elif (
            tokenizer.by_piece
            and tokenizer.splitter.lossy
            and not tokenizer.splitter.split(piece)
        ):
            text = "The pattern drops this text, so it has no tokens."
        else:
            traced = trace(vocabulary, piece)
    except BpeError as error:
        text = str(error)
    if traced is None:
        yield from sentence(text, width)
        return

    def side_by_side(
        tokens: Sequence[int], made: int | None = None
    ) -> Iterator[InfoLine]:
        """Tokens in their colors, `made` brought out; with dots between where underlines alone are overlooked."""
        between, style = (
            "" if palette.underlines else "·",
            lambda ways, id: ways.changed if id == made else ways.usual,
        )
        sizes = [cell_len(token_label(bytes_of(token)) + between) for token in tokens]
        for row in in_rows(tokens, sizes, width - 1):
            yield InfoLine(
                token_labels(row, bytes_of, palette, style=style, between=between),
                lead=" ",
            )

    yield InfoLine(
        token_label(piece.encode()), counted(len(traced.parts), "token"), "token"
    )
    yield InfoLine("a piece, cut by the pattern", ink="muted")
    yield InfoLine()
    yield from side_by_side(traced.parts)
    if not traced.unmerged:
        yield from sentence("One token: nothing is left to join.", width)
    elif not (later := [step for _, step in traced.unmerged if step is not None]):
        yield from sentence("These stay apart, as no merge joins them:", width)
    else:
        yield from sentence(
            f"The next merge, step {min(later):,}, is later than the step in force:",
            width,
        )
    for pair, step in traced.unmerged:
        yield InfoLine(
            _joined(tokenizer, pair),
            "no merge" if step is None else f"step {step:,}",
            "muted",
            " ",
        )
    yield InfoLine()
    if traced.whole is not None:
        yield from sentence("Looked up as a whole: no merge makes this token.", width)
    elif traced.applied:
        yield InfoLine("step by step", counted(len(traced.applied), "merge"), "muted")
        yield from side_by_side(traced.start)
        for merge in traced.applied:
            times = f" ×{merge.count}" if merge.count > 1 else ""
            yield InfoLine(
                _joined(tokenizer, (merge.left, merge.right)) + times,
                f"step {merge.step:,}",
                "muted",
            )
            yield from side_by_side(merge.parts, merge.token)


def what_may_come(
    review: Review | None, tokenizer: Tokenizer, palette: Palette, width: int
) -> Iterator[InfoLine]:
    """The tokens at the end that are not final, and the tokens that would swallow them."""
    ids = (
        review.end.ids
        if review and review.end and review.open_from is not None
        else None
    )
    if not review or not ids:
        text = "Looking at the end of the text."
        if ids is not None:
            text = "All tokens are final: nothing that follows can change them."
        elif review and review.settled:
            text = why_unknown(review.live)
        yield from sentence(text, width)
        return
    n_tokens = counted(len(ids), "token")
    yield InfoLine(
        token_labels(
            ids, tokenizer.token_bytes, palette, room=width - len(n_tokens) - 1
        ),
        n_tokens,
    )
    yield from (InfoLine("not final (underlined)", ink="muted"), InfoLine())
    if review.completions:
        n = review.n_completions
        could = f"{n:,}+ tokens" if review.is_lower_bound else counted(n, "token")
        yield InfoLine("can grow into", could, "muted")
    for completion in review.completions:
        there, whole = (
            token_label(completion.swallowed),
            token_label(tokenizer.token_bytes(completion.ids[-1])),
        )
        label = Text(whole, no_wrap=True)  # a character may be torn
        if whole.startswith(
            there
        ):  # what of it is there already is dim, what one would have to type is not
            label = Text.assemble(
                (there, "dim"), (whole[len(there) :], "bold"), no_wrap=True
            )
        yield InfoLine(label, f"{completion.ids[-1]:,}")
