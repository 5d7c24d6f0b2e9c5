"""A step of a training as text for a terminal: why its merge was chosen, where, what came of it, the table of pairs."""

from collections.abc import Callable, Iterator, Sequence

from bpe_core.cells import cells
from bpe_core.cli.table import table
from bpe_core.explain.merge_choice import CorpusPiece, Explanation, MergeChoice, PairRanking
from bpe_core.explain.pair_counts import Pair
from bpe_core.explain.places import CorpusPlace
from bpe_core.explain.token_uses import TokenUses
from bpe_core.plurals import counted
from bpe_core.visible import token_label, visible

Bytes = Callable[[int], bytes]
"""Gives the bytes of an id, as it is at the step that is told of."""


def told_step(
    told: Explanation,
    bytes_of: Bytes,
    ties: str,
    given: str,
    places: Sequence[CorpusPlace],
    uses: TokenUses | None,
    n_rows: int,
) -> str:
    """The lines of one step; `n_rows` of the table at most. `given` is a sentence on a merge that was not chosen."""
    lines: list[str] = []
    if told.choice:
        lines += _choice(told.step, told.choice, bytes_of, ties, given)
        lines += _places(places)
        lines += _uses(uses, bytes_of)
    lines += _words(told.words, bytes_of)
    lines += _table(told.table, told.step, bytes_of, n_rows)
    return visible_lines(lines)


def visible_lines(lines: Sequence[str]) -> str:
    """These lines, safe to print, and an empty one behind them."""
    return "\n".join((*map(visible, lines), ""))


def pair_label(pair: Pair, bytes_of: Bytes) -> str:
    """Both parts of a pair as text."""
    return " + ".join(token_label(bytes_of(part)) for part in pair)


def _choice(step: int, choice: MergeChoice, bytes_of: Bytes, ties: str, given: str) -> Iterator[str]:
    pair = choice.left, choice.right
    token = token_label(bytes_of(choice.token))
    yield f"Step {step:,}: {pair_label(pair, bytes_of)} → {token} (id {choice.token})"
    if given:
        yield f"  {given}"
    if choice.count < choice.most and given:
        yield f"  The pair occurs {choice.count:,} times here, others up to {choice.most:,} times."
    elif choice.count < choice.most:
        yield f"  The pair occurs {choice.count:,} times here, others up to {choice.most:,} times: another corpus."
    elif choice.n_tied == 1:
        yield f"  No other pair occurs as often: {choice.count:,} times."
    else:
        which = "this one" if choice.by_rule.get(ties) == pair else "another"
        yield f"  {choice.n_tied:,} pairs occur {choice.count:,} times; {ties!r} takes {which}:"
        more = ["…"] if choice.n_tied > len(choice.tied) else []
        yield "  " + ", ".join([*(pair_label(tied, bytes_of) for tied in choice.tied), *more])
        for rule, taken in choice.by_rule.items():
            yield f"    {rule:10} {pair_label(taken, bytes_of)}{' ●' if taken == pair else ''}"
    if choice.runners_up:
        rest = (f"{pair_label((row.left, row.right), bytes_of)} {row.count:,}" for row in choice.runners_up)
        yield f"  next: {', '.join(rest)}"
    if choice.n_joined < choice.count:
        yield f"  {choice.n_joined:,} of them are joined: the others overlap these."
    yield (
        f"  {counted(choice.n_born, 'pair')} born, {choice.n_vanished:,} vanished, "
        f"{counted(choice.n_changed, 'piece')} changed"
    )


def _places(places: Sequence[CorpusPlace]) -> Iterator[str]:
    for place in places:
        pair = f"[{token_label(place.left.encode())}·{token_label(place.right.encode())}]"
        yield f"  {place.name}:{place.line}: {place.before.lstrip()}{pair}{place.after.rstrip()}"


def _uses(uses: TokenUses | None, bytes_of: Bytes) -> Iterator[str]:
    if uses is None:
        return
    yield f"  {counted(uses.made, 'use')} when made, {uses.left():,} left in the end"
    for taken in uses.absorbed[:8]:
        token = token_label(bytes_of(taken.token))
        yield f"    step {taken.step:,} {token} absorbed {taken.n_absorbed:,}"
    if (more := len(uses.absorbed) - 8) > 0:
        yield f"    and {counted(more, 'later merge')}"


def _words(words: Sequence[CorpusPiece], bytes_of: Bytes) -> Iterator[str]:
    rows = [(f"{word.count:,} ×", _tokens(word.before, bytes_of), _tokens(word.after, bytes_of)) for word in words]
    width = max((cells(before) for _, before, _ in rows), default=0)
    for often, before, after in rows:
        changed = f"{' ' * (width - cells(before))} → {after}" if before != after else ""
        yield f"  {often:>8} {before}{changed}"


def _tokens(ids: Sequence[int], bytes_of: Bytes) -> str:
    return " ".join(token_label(bytes_of(token)) for token in ids)


def _table(told: PairRanking, step: int, bytes_of: Bytes, n_rows: int) -> Iterator[str]:
    after = f"After step {step:,}" if step else "Before the first merge"
    yield f"{after}: {told.n_tokens:,} tokens, {counted(told.n_pairs, 'pair')}"
    rows = [("pair", "count", "change", "")]
    for place, row in enumerate(told.rows[:n_rows]):
        tied = "tied" if told.n_tied > 1 and place < told.n_tied else ""
        change = f"{row.change:+,}" if row.change else ""
        rows.append((pair_label((row.left, row.right), bytes_of), f"{row.count:,}", change, tied))
    yield from (f"  {line}" for line in table(rows, numbers=(1, 2)))
