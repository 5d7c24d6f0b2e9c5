"""Lines that explain the tokens of a piece: why it was split this way, and what could still change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.errors import BpeError
from bpe_core.explain.trace import Trace, trace
from bpe_core.explain.unstable import Completion, why_unknown
from bpe_core.visible import counted, token_label
from tui.drawing.lines import InfoLine, in_rows, sentence
from tui.drawing.palette import Palette, Ways
from tui.drawing.token_labels import token_labels
from tui.text.review import Review
from tui.text.token_lines import RECOVERING, joined

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

_LONGEST: Final = 80
"""Bytes of a piece that is explained: nobody would read the merges of a longer one."""


def why_this_split(
    tokenizer: Tokenizer, piece: str, palette: Palette, width: int
) -> Iterator[InfoLine]:
    """Explain the tokens of `piece`: why its neighbors stay apart, and the merges that were applied.

    An empty `piece` means a special token, which is found before the text is split.
    """
    reason = _why_no_trace(tokenizer, piece)
    if reason:
        yield from sentence(reason, width)
        return
    try:
        traced = trace(tokenizer.vocabulary, piece)
    except BpeError as error:
        yield from sentence(str(error), width)
        return

    n_tokens = counted(len(traced.parts), "token")
    yield InfoLine(token_label(piece.encode()), n_tokens, "token")
    yield InfoLine("cut out by the pattern", ink="muted")
    yield InfoLine()
    yield from _colored_tokens(traced.parts, tokenizer, palette, width)
    yield from _why_apart(traced, tokenizer, width)
    yield InfoLine()
    if traced.whole is not None:
        text = "The whole piece is one token of the vocabulary. No merge makes it."
        yield from sentence(text, width)
    elif traced.applied:
        yield InfoLine("step by step", counted(len(traced.applied), "merge"), "muted")
        yield from _colored_tokens(traced.start, tokenizer, palette, width)
        for merge in traced.applied:
            pair = joined(tokenizer, (merge.left, merge.right))
            if merge.count > 1:
                pair = f"{pair} ×{merge.count}"
            yield InfoLine(pair, f"step {merge.step:,}", "muted")
            yield from _colored_tokens(
                merge.parts, tokenizer, palette, width, merge.token
            )


def _why_no_trace(tokenizer: Tokenizer, piece: str) -> str:
    """Why the merges of a piece can't be shown; empty if they can."""
    if not tokenizer.vocabulary.knows_merges:
        return RECOVERING
    if len(piece.encode()) > _LONGEST:
        return f"This piece has {len(piece):,} characters, too many to show its merges."
    if not piece:
        return "A special token: it is found before the text is split."
    splitter = tokenizer.splitter
    try:
        if tokenizer.by_piece and splitter.lossy and not splitter.split(piece):
            return "The pattern drops this text, so it has no tokens."
    except BpeError as error:
        return str(error)
    return ""


def _colored_tokens(
    tokens: Sequence[int],
    tokenizer: Tokenizer,
    palette: Palette,
    width: int,
    made: int | None = None,
) -> Iterator[InfoLine]:
    """Tokens in their colors, in as many lines as they need; `made` is emphasized."""
    # Without colors only underlines separate tokens, which are easily overlooked: add dots.
    between = "" if palette.underlines else "·"

    def style(ways: Ways, token: int) -> Style:
        if token == made:
            return ways.changed
        return ways.usual

    bytes_of = tokenizer.token_bytes
    sizes = [cell_len(token_label(bytes_of(token)) + between) for token in tokens]
    for row in in_rows(tokens, sizes, width - 1):
        labels = token_labels(row, bytes_of, palette, style=style, between=between)
        yield InfoLine(labels, lead=" ")


def _why_apart(traced: Trace, tokenizer: Tokenizer, width: int) -> Iterator[InfoLine]:
    later_steps = [step for _, step in traced.unmerged if step is not None]
    if not traced.unmerged:
        text = "One token: nothing is left to join."
    elif not later_steps:
        text = "No merge joins these:"
    else:
        text = f"The next one is learned only at step {min(later_steps):,}:"
    yield from sentence(text, width)
    for pair, step in traced.unmerged:
        when = "no merge" if step is None else f"step {step:,}"
        yield InfoLine(joined(tokenizer, pair), when, "muted", " ")


def what_may_come(
    review: Review | None, tokenizer: Tokenizer, palette: Palette, width: int
) -> Iterator[InfoLine]:
    """Show the tokens at the end that are not final, and the tokens they could become part of."""
    if review is None or review.end is None or review.open_from is None:
        text = "Checking the end of the text …"
        if review is not None and review.settled:
            text = why_unknown(review.live)
        yield from sentence(text, width)
        return
    ids = review.end.ids
    if not ids:
        text = "All tokens are final: text typed after them can't change them."
        yield from sentence(text, width)
        return
    n_tokens = counted(len(ids), "token")
    room = width - len(n_tokens) - 1
    yield InfoLine(
        token_labels(ids, tokenizer.token_bytes, palette, room=room), n_tokens
    )
    # Without colors, underlines separate tokens.
    note = "not final (underlined)" if palette.underlines else "not final"
    yield InfoLine(note, ink="muted")
    yield InfoLine()
    if review.completions:
        n_completions = counted(review.n_completions, "token")
        if review.is_lower_bound:
            n_completions = f"{review.n_completions:,}+ tokens"
        yield InfoLine("can grow into", n_completions, "muted")
    for completion in review.completions:
        yield _completion_line(completion, tokenizer)


def _completion_line(completion: Completion, tokenizer: Tokenizer) -> InfoLine:
    """A token that the end of the text could become: the existing part dim, the part to type bold."""
    token = completion.ids[-1]  # the tokens in front of it stay as they are
    # The text ends with `swallowed`: the first bytes of that token.
    existing = token_label(completion.swallowed)
    whole = token_label(tokenizer.token_bytes(token))
    label = Text(whole, no_wrap=True)
    # If the text ends inside a character, `existing` shows bytes such as \xE9, and `whole` does not begin with them.
    if whole.startswith(existing):
        missing = whole[len(existing) :]
        label = Text.assemble((existing, "dim"), (missing, "bold"), no_wrap=True)
    return InfoLine(label, f"{token:,}")
