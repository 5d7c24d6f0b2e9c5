"""Why a piece became its tokens, merge by merge, and what may yet come at the end of a text: in lines."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from bpe_core.errors import BpeError
from bpe_core.explain.trace import Trace, Unmerged, trace
from bpe_core.explain.unstable import Completion
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label
from tui.drawing.info_lines import InfoLine, sentence
from tui.drawing.palette import Palette
from tui.drawing.token_labels import joined, token_labels
from tui.text.review import Review
from tui.text.token_lines import RECOVERING

LONGEST: Final = 80
"""Bytes of a piece that is explained; of a longer one nobody would read the merges."""


def why_this_split(tokenizer: Tokenizer, piece: str, palette: Palette, width: int) -> list[InfoLine]:
    """The tokens of `piece`, why its neighbors stay apart, and the merges that made them, with its parts after each.

    "" stands for a token that is no piece.
    """
    try:
        return _why(tokenizer, piece, palette, width)
    except BpeError as error:
        return [*sentence(str(error), width)]


def _why(tokenizer: Tokenizer, piece: str, palette: Palette, width: int) -> list[InfoLine]:
    if not tokenizer.vocabulary.knows_merges:
        return [*sentence(RECOVERING, width)]
    if len(piece.encode()) > LONGEST:
        return [*sentence(f"This piece has {len(piece):,} characters, too many to follow its merges.", width)]
    if not piece:
        return [*sentence("This token is found as it stands, before the text is split.", width)]
    if tokenizer.by_piece and tokenizer.splitter.lossy and not tokenizer.splitter.split(piece):
        return [*sentence("The pattern drops this text, so it has no tokens.", width)]
    traced = trace(tokenizer.vocabulary, piece)
    n_tokens = counted(len(traced.parts), "token")
    label = token_label(piece.encode())
    lines = [InfoLine(label, n_tokens, "token"), InfoLine("a piece, cut by the pattern", ink="muted"), InfoLine()]
    lines += _parts(tokenizer, traced.parts, palette, width)
    return [*lines, *_ends(tokenizer, traced, width), InfoLine(), *_merges(tokenizer, traced, palette, width)]


def _merges(tokenizer: Tokenizer, traced: Trace, palette: Palette, width: int) -> Iterator[InfoLine]:
    if traced.whole is not None:
        yield from sentence("Looked up as a whole: no merge makes this token.", width)
        return
    if not traced.applied:
        return
    yield InfoLine("step by step", counted(len(traced.applied), "merge"), "muted")
    yield from _parts(tokenizer, traced.start, palette, width)
    for merge in traced.applied:
        times = f" ×{merge.count}" if merge.count > 1 else ""
        yield InfoLine(_pair(tokenizer, merge.left, merge.right) + times, f"step {merge.step:,}", "muted")
        yield from _parts(tokenizer, merge.parts, palette, width, merge.token)


def _parts(
    tokenizer: Tokenizer, parts: Sequence[int], palette: Palette, width: int, made: int | None = None
) -> Iterator[InfoLine]:
    """Tokens side by side in their colors, in as many lines as they need."""
    room = width - 1
    row: list[int] = []
    used = 0
    for token in parts:
        size = cell_len(token_label(tokenizer.token_bytes(token))) + (not palette.underlines)
        if row and used + size > room:
            yield InfoLine(joined(row, tokenizer.token_bytes, palette, made), lead=" ")
            row, used = [], 0
        row.append(token)
        used += size
    yield InfoLine(joined(row, tokenizer.token_bytes, palette, made), lead=" ")


def _ends(tokenizer: Tokenizer, traced: Trace, width: int) -> Iterator[InfoLine]:
    """Which pair comes next, and why it is not merged."""
    if not traced.unmerged:
        yield from sentence("One token: nothing is left to join.", width)
        return
    following = traced.next
    if following is None:
        yield from sentence("These stay apart, as no merge joins them:", width)
    else:
        yield from sentence(f"Next would be step {following.step:,}, which is later than the step in force:", width)
    for pair in traced.unmerged:
        yield InfoLine(_pair(tokenizer, pair.left, pair.right), _reason(pair), "muted", " ")


def _reason(pair: Unmerged) -> str:
    return "no merge" if pair.step is None else f"step {pair.step:,}"


def _pair(tokenizer: Tokenizer, left: int, right: int) -> str:
    return " + ".join(token_label(tokenizer.token_bytes(token)) for token in (left, right))


def what_may_come(review: Review | None, tokenizer: Tokenizer, palette: Palette, width: int) -> list[InfoLine]:
    """The tokens at the end that are not final, and the tokens that would swallow them."""
    if review is None or review.open_from is None or review.end is None:
        settled = review is not None and review.settled
        text = "Looking at the end of the text."
        if settled and tokenizer.by_piece:
            text = "The pattern may look anywhere, so nobody can tell."
        elif settled:
            text = "This tokenizer changes a text before it splits it, so nobody can tell."
        return [*sentence(text, width)]
    ids = review.end.ids
    if not ids:
        return [*sentence("All tokens are final: nothing that follows can change them.", width)]
    n_tokens = counted(len(ids), "token")
    lines = [InfoLine(token_labels(ids, tokenizer.token_bytes, palette, room=width - len(n_tokens) - 1), n_tokens)]
    lines += [InfoLine("not final (underlined)", ink="muted"), InfoLine()]
    if review.completions:
        n = review.n_completions
        number = f"{n:,}+ tokens" if review.is_lower_bound else counted(n, "token")
        lines.append(InfoLine("could become", number, "muted"))
    return [*lines, *(_completion(tokenizer, completion) for completion in review.completions)]


def _completion(tokenizer: Tokenizer, completion: Completion) -> InfoLine:
    """The token that would come: what of it is there already is dim, what one would have to type is not."""
    there, whole = token_label(completion.swallowed), token_label(tokenizer.token_bytes(completion.token))
    label = Text(no_wrap=True)
    if whole.startswith(there):
        label.append(there, "dim").append(whole[len(there) :], "bold")
    else:  # a character is torn
        label.append(whole)
    return InfoLine(label, f"{completion.token:,}")
