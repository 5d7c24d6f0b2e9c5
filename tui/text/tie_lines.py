"""Lines that compare the pair that a step chose with the pairs that tied with it and with the next ones."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from bpe_core.explain.merge_choice import MergeChoice
from bpe_core.trainer import Merge
from bpe_core.weighted import Count, formatted
from tui.drawing.charts import bar
from tui.drawing.lines import InfoLine, fit, how_often, in_one_or_two, sentence
from tui.glossary import TIE_MEANINGS
from tui.text.line_form import LineForm

_MOST_TIED: Final = 6
"""Tied pairs that are listed, unless the tie rules choose more than these."""

_MARK_GAPS_AND_NOTE: Final = len("● ") + 3 * len(" ") + len("by lowest-hf")
"""Cells of a line next to its pair, bar and count. The note is the longest that names one rule."""

Pair = tuple[int, int]


class _Candidate(NamedTuple):
    """A pair that the step chose or could have chosen."""

    pair: Pair
    times: Count
    mark: str = ""
    ink: str = "text"
    note: str = ""


def choice_lines(
    choice: MergeChoice, merge: Merge, ties: str, form: LineForm
) -> Iterator[InfoLine]:
    """The chosen pair, the pairs that tied with it and the next ones, each with its count."""
    if merge.count and merge.count != choice.count:
        text = (
            "It was learned from other texts, where the pair occurred "
            f"{how_often(merge.count)}; the counts below come from the chosen texts."
        )
        yield from sentence(text, form.width)
    is_tied = choice.n_tied > 1
    is_decided = is_tied and choice.by_rule.get(ties) == (choice.left, choice.right)
    if choice.count == choice.most:
        # Otherwise the merge was learned from other texts, and a tie of other pairs did not decide.
        if is_tied:
            tied = Text(f"{choice.n_tied:,} pairs tied", form.inks["secondary"])
            yield InfoLine(tied, f"“{ties}” decides" if is_decided else "")
        else:
            yield InfoLine("no tie", ink="muted")
    listed = _listed_ties(choice)
    yield from _candidate_lines(choice, listed, form)
    if is_decided:
        yield from sentence(TIE_MEANINGS[ties], form.width)
    if choice.n_joined < choice.count:
        text = (
            f"{formatted(choice.n_joined)} of the {formatted(choice.count)} are "
            "joined: the others overlap these."
        )
        yield from sentence(text, form.width)


def _listed_ties(choice: MergeChoice) -> list[_Candidate]:
    """The tied pairs to list: the chosen one, the choices of the other tie rules, then some more."""
    rules_of: dict[Pair, list[str]] = {}
    for rule, pair in choice.by_rule.items():
        rules_of.setdefault(pair, []).append(rule)
    pairs = [pair for pair in choice.tied if pair in rules_of]
    pairs += [pair for pair in rules_of if pair not in pairs]
    others = [pair for pair in choice.tied if pair not in rules_of]
    pairs += others[: max(0, _MOST_TIED - len(pairs))]
    chosen = choice.left, choice.right
    pairs.sort(key=lambda pair: pair != chosen)

    candidates = []
    for pair in pairs:
        note = ""
        if choice.n_tied > 1 and pair in rules_of:
            note = f"by {', '.join(rules_of[pair])}"
        if pair == chosen:
            candidates.append(_Candidate(pair, choice.most, "●", "accent", note))
        else:
            candidates.append(_Candidate(pair, choice.most, "=", "secondary", note))
    return candidates


def _candidate_lines(
    choice: MergeChoice, listed: Sequence[_Candidate], form: LineForm
) -> Iterator[InfoLine]:
    chosen = _Candidate((choice.left, choice.right), choice.count, "●")
    runners_up = [
        _Candidate((other.left, other.right), other.times)
        for other in choice.runners_up
    ]
    bar_width = max(4, form.width // 6)
    reserved = bar_width + len(formatted(choice.most)) + _MARK_GAPS_AND_NOTE
    room = max(form.width // 3, form.width - reserved)
    everyone = (chosen, *listed, *runners_up)
    widest = max(cell_len(form.pair(*candidate.pair)) for candidate in everyone)
    pair_width = min(room, widest)

    def drawn(candidate: _Candidate) -> Iterator[InfoLine]:
        bar_ink = "muted" if candidate.ink == "text" else candidate.ink
        text = Text(no_wrap=True)
        text.append(f"{candidate.mark:2}", form.inks[candidate.ink])
        text.append(fit(form.pair(*candidate.pair), pair_width), form.inks["text"])
        text.append(" ")
        text.append(bar(candidate.times, choice.most, bar_width), form.inks[bar_ink])
        text.append(f" {formatted(candidate.times)}", form.inks["text"])
        return in_one_or_two(text, candidate.note, form.width)

    if choice.count < choice.most:
        # The merge was learned from other texts: here its pair is not one of the most frequent, which are `listed`.
        yield from drawn(chosen)
    for candidate in listed:
        yield from drawn(candidate)
    n_more = choice.n_tied - len(listed)
    if n_more > 0:
        text = f"  and {n_more:,} more with {formatted(choice.most)}"
        yield InfoLine(text, ink="muted")
    for candidate in runners_up:
        yield from drawn(candidate)
