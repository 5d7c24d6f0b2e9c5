"""The summary of the token under the cursor: as many blocks of lines as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.style import Style

from bpe_core.explain.unstable import longer_tokens
from bpe_core.visible import counted, token_label
from bpe_core.weighted import formatted
from tui.drawing.lines import InfoLine, sentence
from tui.drawing.token_labels import token_labels
from tui.text.byte_strip import TokenColumn, token_row
from tui.text.token_lines import (
    RECOVERING,
    TokenFacts,
    branches,
    findings,
    identity,
    origin,
)
from tui.text.token_uses import merge_plot, text_plot

if TYPE_CHECKING:
    from bpe_core.explain.trace import TokenUses
    from bpe_core.live.change import Span
    from tui.drawing.palette import Palette

_NEARBY: Final = 6
"""How many ids before a token, and after it, are shown as its neighbors in the vocabulary."""
_COUNTED: Final = 1_000
"""At most this many tokens that begin with a token are counted."""
_ROOMY: Final = 20
"""From this many lines on, plots are two lines high and the bytes of a long token take more rows."""


@dataclass(frozen=True, slots=True)
class EditedPlace:
    """A token at its place in the edited text."""

    under: Span
    """The span with the token."""
    tokens: Sequence[TokenColumn]
    """The tokens around it."""
    styles: Sequence[Style]
    """Two styles of its color, for the tokens that share its characters."""
    notes: Sequence[InfoLine]
    n_characters: int
    """The length of the text."""
    uses: Sequence[int] | None
    """The code points at which the token is used; None before they are known."""


class SummaryForm(NamedTuple):
    """The room for a summary, and its colors."""

    width: int
    height: int
    palette: Palette
    accent: Style
    is_sorted: bool
    """Whether tokens can be looked up by their first bytes without sorting them first."""


@dataclass(frozen=True, slots=True)
class _Block:
    write: Callable[[], Iterable[InfoLine]]
    least: int = 1
    """How many of its lines must fit. Others are cut off."""


def token_summary(
    facts: TokenFacts,
    place: EditedPlace,
    uses: TokenUses | None,
    form: SummaryForm,
) -> list[InfoLine]:
    """Describe a token: the most important blocks that fit, with blank lines between them if those fit too.

    `uses` has the uses in the corpus, if they are known.
    """
    if facts.token not in facts.vocabulary:
        text = f"Token {facts.token:,} is learned later than step {facts.tokenizer.step:,}."
        return list(sentence(text, form.width))

    head = _Block(lambda: _head(facts, place, form))
    plot_height = _plot_height(form)
    in_text = _Block(lambda: _in_text(place, form), 3 + plot_height)
    if not facts.vocabulary.knows_merges:
        recovering = _Block(lambda: sentence(RECOVERING, form.width))
        blocks = [head, recovering, in_text]
        return _joined(list(_that_fit(blocks, blocks, form.height)), form.height)
    notes = _Block(lambda: _notes(facts, place, form))
    in_corpus = _Block(lambda: _in_corpus(facts, uses, form), 1 + plot_height)
    next_ids = _Block(lambda: _next_ids(facts, place, form), 3)
    family = _Block(lambda: _family(facts, form))
    blocks = [head, notes, in_text, in_corpus, next_ids, family]
    by_importance = [head, in_text, notes, family, next_ids, in_corpus]
    chosen = _that_fit(blocks, by_importance, form.height)
    room = form.height - sum(len(lines) + 1 for lines in chosen)
    chosen.insert(1, branches(facts.vocabulary, facts.token, form.width, room))
    return _joined(chosen, form.height)


def _that_fit(
    blocks: Sequence[_Block], by_importance: Sequence[_Block], height: int
) -> list[list[InfoLine]]:
    """Return the lines of the most important blocks that fit, in the order of `blocks`."""
    written: dict[_Block, list[InfoLine]] = {}
    for block in by_importance:
        if block.least <= height:
            lines = list(block.write())[:height]
            written[block] = lines
            height -= len(lines)
    return [written[block] for block in blocks if block in written]


def _joined(blocks: Sequence[list[InfoLine]], height: int) -> list[InfoLine]:
    """Join the lines of blocks, with blank lines between the first of them as far as there is room."""
    room = height - sum(map(len, blocks))
    lines: list[InfoLine] = []
    for block in blocks:
        if lines and block and room > 0:
            lines.append(InfoLine())
            room -= 1
        lines += block
    return lines[:height]


def _head(
    facts: TokenFacts, place: EditedPlace, form: SummaryForm
) -> Iterator[InfoLine]:
    tokens = [facts.vocabulary.token_bytes(token) for token in place.under.ids]
    n_rows = 3 if form.height >= _ROOMY else 1
    yield from identity(facts, form.width, n_rows, tokens, place.styles)
    if facts.vocabulary.knows_merges:
        yield from origin(facts, form.width, 0)


def _notes(
    facts: TokenFacts, place: EditedPlace, form: SummaryForm
) -> Iterator[InfoLine]:
    yield from place.notes
    yield from findings(facts, form.width, brief=True)


def _in_text(place: EditedPlace, form: SummaryForm) -> Iterator[InfoLine]:
    """The token between its neighbors in the text, and a plot of its uses."""
    start, end, _ = place.under
    where = f"characters {start:,} to {end - 1:,}"
    if end - start == 1:
        where = f"character {start:,}"
    n_uses = ""
    if place.uses is not None:
        n_uses = counted(len(place.uses), "use")
        if len(where) + 1 + len(n_uses) > form.width:
            n_uses = f"{len(place.uses):,}×"
    yield InfoLine(where, n_uses, "muted")
    current = [token.is_current for token in place.tokens].index(True)
    yield from token_row(place.tokens, current, form.width)
    plot_height = _plot_height(form)
    if place.uses is None:
        yield from [InfoLine()] * plot_height
        return
    n = place.n_characters
    yield from text_plot(place.uses, start, n, form.accent, form.width, plot_height)


def _in_corpus(
    facts: TokenFacts, uses: TokenUses | None, form: SummaryForm
) -> Iterator[InfoLine]:
    n_merges = facts.vocabulary.n_merges
    if uses is not None and n_merges > 1:
        height = _plot_height(form)
        yield from merge_plot(uses, facts.step, n_merges, form.width, height)
        return
    n_uses = facts.verdict.evidence.get("count") if facts.verdict else None
    if n_uses is not None:
        yield InfoLine("uses in the corpus", formatted(n_uses), "muted")


def _plot_height(form: SummaryForm) -> int:
    return 2 if form.height >= _ROOMY else 1


def _next_ids(
    facts: TokenFacts, place: EditedPlace, form: SummaryForm
) -> Iterator[InfoLine]:
    """The tokens with the ids before and after this one."""
    vocabulary = facts.vocabulary
    colors = form.palette.tokens
    columns: list[TokenColumn] = []
    current = 0
    for token in range(facts.token - _NEARBY, facts.token + _NEARBY + 1):
        if token in vocabulary:
            is_current = token == facts.token
            style = colors[token % len(colors)].usual
            if is_current:
                current = len(columns)
                style = place.styles[0]  # as in the text
            data = vocabulary.token_bytes(token)
            columns.append(TokenColumn(token, data, style, is_current))
    yield InfoLine("ids next to it", ink="muted")
    yield from token_row(columns, current, form.width)


def _family(facts: TokenFacts, form: SummaryForm) -> Iterator[InfoLine]:
    """The tokens that have this one as a part, by step, and those that begin with it, by id.

    If more than `_COUNTED` begin with it, only the first of them in the order of their bytes are listed.
    """
    children = facts.vocabulary.children(facts.token)
    if children:
        n_children = counted(len(children), "token")
        yield from _listed("is part of", children, n_children, facts, form)
    if not form.is_sorted or facts.is_special:
        return
    # One more than are listed, to know whether there are more.
    longer = longer_tokens(facts.tokenizer, facts.token)
    found = list(islice(longer, _COUNTED + 1))
    listed = sorted(found[:_COUNTED])
    # The same tokens are not listed twice.
    if listed and set(listed) != set(children):
        n_longer = counted(len(listed), "token")
        if len(found) > _COUNTED:
            n_longer = f"{_COUNTED:,}+ tokens"
        yield from _listed("begins", listed, n_longer, facts, form)


def _listed(
    title: str,
    tokens: Sequence[int],
    n_tokens: str,
    facts: TokenFacts,
    form: SummaryForm,
) -> Iterator[InfoLine]:
    if form.height >= _ROOMY:
        yield InfoLine(title, n_tokens, "muted")
        bytes_of = facts.vocabulary.token_bytes
        yield InfoLine(token_labels(tokens, bytes_of, form.palette, room=form.width))
        return
    labels = [
        token_label(facts.vocabulary.token_bytes(token))
        for token in tokens[: form.width]
    ]
    yield InfoLine(f"{title} {'  '.join(labels)}", n_tokens, "muted")
