"""Two stories in lines: why a piece became its tokens, merge by merge, and what may yet come at the end of a text."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final

from rich.cells import cell_len

from bpe_core.tokenizer import Tokenizer
from bpe_core.trace import Trace, trace
from bpe_core.visible import token_label, visible
from tui.text.facts import Fact
from tui.text.review import Review

LONGEST: Final = 80
"""Bytes of a piece that is explained; of a longer one nobody would read the merges."""


def why_this_split(tokenizer: Tokenizer, piece: str, width: int) -> list[Fact]:
    """The merges that made the tokens of `piece`, in order, with its parts after each, and why no more followed."""
    if not tokenizer.vocabulary.knows_merges:
        return _sentence("The merges of this vocabulary are being recovered from its ranks.", width)
    if len(piece.encode()) > LONGEST:
        return _sentence(f"This piece has {len(piece):,} characters, too many to follow its merges.", width)
    if tokenizer.splitter.lossy and not tokenizer.splitter.split(piece):
        return _sentence("The pattern drops this text, so it has no tokens.", width)
    story = trace(tokenizer.vocabulary, piece)
    facts = [Fact(_label(piece.encode()), _count(len(story.parts), "token"), "token")]
    facts += [Fact("a piece of the pattern", ink="muted"), Fact()]
    return [*facts, *_merges(tokenizer, story, width), Fact(), *_ends(tokenizer, story, width)]


def _merges(tokenizer: Tokenizer, story: Trace, width: int) -> Iterator[Fact]:
    if story.whole is not None:
        yield from _sentence("Looked up as a whole: no merge makes this token.", width)
        return
    yield from _parts(tokenizer, story.start, width)
    for merge in story.applied:
        left, right = (_label(tokenizer.token_bytes(part)) for part in (merge.left, merge.right))
        times = f" ×{merge.places}" if merge.places > 1 else ""
        yield Fact(f"{left} + {right}{times}", f"step {merge.step:,}", "muted")
        yield from _parts(tokenizer, merge.parts, width)


def _parts(tokenizer: Tokenizer, parts: Sequence[int], width: int) -> Iterator[Fact]:
    """Tokens with dots between them, in as many lines as they need."""
    line = ""
    for token in parts:
        label = _label(tokenizer.token_bytes(token))
        if line and cell_len(line) + 1 + cell_len(label) > width - 2:
            yield Fact(line, lead="  ")
            line = ""
        line += ("·" if line else "") + label
    yield Fact(line, lead="  ")


def _ends(tokenizer: Tokenizer, story: Trace, width: int) -> Iterator[Fact]:
    if not story.unmerged:
        yield from _sentence("One token: there is nothing left to join.", width)
        return
    following = story.next
    if following is None:
        yield from _sentence("No merge joins what is left side by side:", width)
    else:
        yield from _sentence(f"A later step would go on, step {following.step:,} first:", width)
    for pair in story.unmerged:
        left, right = (_label(tokenizer.token_bytes(part)) for part in (pair.left, pair.right))
        yield Fact(f"{left} + {right}", "no merge" if pair.step is None else f"step {pair.step:,}", "muted", "  ")


def what_may_come(review: Review | None, tokenizer: Tokenizer, width: int) -> list[Fact]:
    """The tokens at the end that are not final, and the tokens that would swallow them."""
    if review is None or review.open_from is None or review.end is None:
        settled = review is not None and review.settled
        text = "The pattern may look anywhere, so nobody can tell." if settled else "Looking at the end of the text."
        return _sentence(text, width)
    ids = review.end.ids
    if not ids:
        return _sentence("All tokens are final: nothing that follows can change them.", width)
    labels = "·".join(_label(tokenizer.token_bytes(token)) for token in ids)
    facts = [Fact(labels, _count(len(ids), "token"), "token")]
    facts += [Fact("not final (underlined)", ink="muted"), Fact()]
    if review.completions:
        number = f"{review.n_completions:,}{'+' if review.is_lower_bound else ''}"
        facts.append(Fact("may become", number, "muted"))
    for completion in review.completions:
        facts.append(Fact(_from_the_first_other(completion.ids, ids, tokenizer), f"{completion.token:,}"))
    return facts


def _from_the_first_other(new: Sequence[int], old: Sequence[int], tokenizer: Tokenizer) -> str:
    """Tokens as text, without those at the beginning that are as before."""
    same = next((i for i, (one, other) in enumerate(zip(new, old, strict=False)) if one != other), len(old))
    labels = [_label(tokenizer.token_bytes(token)) for token in new[min(same, len(new) - 1) :]]
    return "·".join(["…", *labels] if same else labels)


def _sentence(text: str, width: int) -> list[Fact]:
    return [Fact(line, ink="muted") for line in wrap(visible(text), max(8, width))]


def _label(token: bytes) -> str:
    return token_label(token)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"
