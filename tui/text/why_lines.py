"""Lines that explain a merge: ties, what each tie rule chooses, examples, and later uses of its token."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.explain.merge_choice import GIVEN, CorpusPiece, MergeChoice, PairRow
from bpe_core.explain.places import CorpusPlace
from bpe_core.explain.trace import TokenUses
from bpe_core.trainer import Merge
from bpe_core.visible import counted, token_label, visible
from bpe_core.weighted import Count, formatted
from tui.drawing.charts import bar
from tui.drawing.lines import (
    InfoLine,
    cut,
    fit,
    how_often,
    in_one_or_two,
    in_rows,
    sentence,
)
from tui.glossary import TIE_MEANINGS
from tui.state import StepExplained

_MOST_TIED: Final = 6
"""Tied pairs that are listed, unless the tie rules choose more than these."""
_MOST_PARENTS: Final = 6
"""Later merges that are listed."""
_LEAD: Final = 8
"""Cells before a word, for its count."""

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LineForm:
    """How lines are written."""

    width: int
    """Cells in a line."""
    write: Callable[[int], str]
    """Writes a token, from its id."""
    inks: Mapping[str, Style]
    """Styles by name: "accent" for the chosen pair, "secondary" for pairs that tied with it."""

    def pair(self, left: int, right: int) -> str:
        return f"{self.write(left)} + {self.write(right)}"


def why_lines(
    explained: StepExplained,
    merge: Merge | None,
    ties: str,
    uses: TokenUses | None,
    form: LineForm,
    n_merges: int = 0,
) -> Iterator[InfoLine]:
    """Explain a step.

    Args:
        explained: What is known about it. If this is about another step, only the merge log is used.
        merge: The merge of the step; None for step 0.
        ties: The tie rule of the training.
        uses: The later uses of the new token, if they were counted.
        form: How lines are written.
        n_merges: The number of merges in the log.
    """
    step = merge.step if merge else 0
    explanation = explained.explanation if explained.step == step else None
    if merge is None:
        yield from _step_zero(n_merges, form.width)
    else:
        head = Text(form.pair(merge.left, merge.right), no_wrap=True)
        head.append(" → ", form.inks["muted"])
        head.append(form.write(merge.token), "bold")
        yield InfoLine(head, f"step {merge.step:,}")
        if not merge.ties:
            yield from sentence(GIVEN, form.width)
        choice = explanation.choice if explanation else None
        if choice:
            yield from _counted_again(choice, merge, ties, form)
            yield from _places(explained.places or (), choice, form)
        else:
            yield from _recorded(explained, merge, ties, form.width)
        if uses:
            yield from _uses(uses, form)
        if choice:
            yield from _new_and_vanished(choice, form)
    if explanation and explanation.words:
        yield InfoLine("words before and after", ink="accent")
        yield from word_lines(explanation.words, merge.token if merge else None, form)


def _step_zero(n_merges: int, width: int) -> Iterator[InfoLine]:
    text = (
        "Step 0: no merge yet, and each byte is a token. F7 learns one merge and waits."
    )
    if n_merges:
        text = "Step 0: each byte is a token. The merges are applied from step 1 on."
    return sentence(text, width)


def _new_and_vanished(choice: MergeChoice, form: LineForm) -> Iterator[InfoLine]:
    numbers = f"+{choice.n_born:,} −{choice.n_vanished:,}"
    yield from in_one_or_two("pairs new and vanished", numbers, form.width, "accent")
    for row in choice.born:
        yield _changed_pair(row, "+", "accent", form)
    for row in choice.vanished:
        yield _changed_pair(row, "−", "warning", form)


def _changed_pair(row: PairRow, sign: str, ink: str, form: LineForm) -> InfoLine:
    label = form.pair(row.left, row.right)
    pair = Text.assemble((f"{sign} ", form.inks[ink]), label, no_wrap=True)
    return InfoLine(pair, formatted(row.times or -row.change), lead=" ")


def _recorded(
    explained: StepExplained, merge: Merge, ties: str, width: int
) -> Iterator[InfoLine]:
    """Explain a merge by its record in the merge log, and say why more is not known."""
    times = how_often(merge.count)
    if not merge.ties:
        text = f"It occurred {times}."
    elif not merge.count:
        text = "Its file has no record of how often the pair occurred."
    elif merge.ties == 1:
        text = f"It occurred {times}; no other pair as often."
    else:
        rule = f"the rule “{ties}”" if ties else "the tie rule"
        text = f"{merge.ties:,} pairs occurred {times}; {rule} took this one."
    yield from sentence(text, width)
    reason = explained.problem
    if not reason and explained.waiting:
        reason = f"{explained.waiting.capitalize()} …"
    if reason:
        yield InfoLine()
    else:
        reason = (
            "The merge log (F3) counts each step again: which pairs tied, which came "
            "next, and in which words."
        )
    yield from sentence(reason, width)


class _Candidate(NamedTuple):
    """A pair that the step chose or could have chosen."""

    pair: Pair
    times: Count
    mark: str = ""
    ink: str = "text"
    note: str = ""


def _counted_again(
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
    reserved = bar_width + len(formatted(choice.most)) + len("●   by lowest-hf")
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
        yield from drawn(chosen)
    for candidate in listed:
        yield from drawn(candidate)
    n_more = choice.n_tied - len(listed)
    if n_more > 0:
        text = f"  and {n_more:,} more with {formatted(choice.most)}"
        yield InfoLine(text, ink="muted")
    for candidate in runners_up:
        yield from drawn(candidate)


def _places(
    places: Sequence[CorpusPlace], choice: MergeChoice, form: LineForm
) -> Iterator[InfoLine]:
    if places:
        total = f"of {formatted(choice.count)}"
        yield InfoLine("where it occurs most", total, ink="accent")
    for place in places:
        yield from _place(place, form)


def _place(place: CorpusPlace, form: LineForm) -> Iterator[InfoLine]:
    """A file with the line number and the pair's count there; below it, the text around the pair."""
    folder_and_file = visible("/".join(place.name.split("/")[-2:]))
    n = formatted(place.n) if place.n else ""
    name = cut(f"{folder_and_file}:{place.line:,}", form.width - len(n) - 2, "end")
    yield InfoLine(name, n, ink="muted", lead=" ")

    left = token_label(place.left.encode())
    right = token_label(place.right.encode())
    room = max(8, form.width - 3 - cell_len(left) - cell_len(right))
    # Terminals disagree about the width of joined emoji: draw the members of a family one by one.
    before = visible(place.before.lstrip()).replace("\u200d", "·")
    after = visible(place.after.rstrip()).replace("\u200d", "·")
    after = cut(after, max(room // 2, room - cell_len(before)))
    before = cut(before, room - cell_len(after), "end")

    muted = form.inks["muted"]
    pair = form.inks["accent"] + Style(bold=True, underline=True)
    text = Text.assemble(
        (before, muted),
        (left, pair),
        ("·", muted),
        (right, pair),
        (after, muted),
        no_wrap=True,
    )
    yield InfoLine(text, lead="  ")


def _uses(uses: TokenUses, form: LineForm) -> Iterator[InfoLine]:
    remaining = f"still used {how_often(uses.left)}"
    if uses.left != uses.made:
        remaining = f"{formatted(uses.left)} of {formatted(uses.made)} uses remain"
    yield from in_one_or_two("afterwards", remaining, form.width, "accent")
    if not uses.absorbed:
        yield InfoLine("no later merge uses it", ink="muted", lead=" ")
        return
    by_uses = sorted(uses.absorbed, key=lambda absorption: -absorption.n)
    most = by_uses[0].n
    listed = by_uses[:_MOST_PARENTS]
    for absorption in sorted(listed):
        label = fit(form.write(absorption.token), min(20, form.width // 3))
        text = Text(f"{label} ", no_wrap=True)
        text.append(
            bar(absorption.n, most, max(4, form.width // 5)), form.inks["muted"]
        )
        text.append(f" −{formatted(absorption.n)}")
        yield InfoLine(text, f"step {absorption.step:,}", lead=" ")
    n_more = len(by_uses) - len(listed)
    if n_more > 0:
        yield InfoLine(f"and {counted(n_more, 'other merge')}", ink="muted", lead=" ")


def word_lines(
    words: Sequence[CorpusPiece], token: int | None, form: LineForm
) -> Iterator[InfoLine]:
    """Yield each word with its count, and its tokens before and after the merge that made `token`."""
    text_ink = form.inks["text"]
    styles: dict[int, Style] = {}
    if token is not None:
        styles[token] = form.inks["accent"] + Style(bold=True)
    for word in words:
        count = f"{formatted(word.times)} ×"
        lead = f"{count:>6} "
        if word.before == word.after:
            yield from _word(word.before, lead, {}, form.inks["muted"], form)
            continue
        before = " ".join(map(form.write, word.before))
        after = " ".join(map(form.write, word.after))
        if cell_len(f"{before} → {after}") > form.width - _LEAD:
            yield from _word(word.before, lead, {}, text_ink, form)
            yield from _word(word.after, f"{'→':>6} ", styles, text_ink, form)
            continue
        text = Text(before, text_ink, no_wrap=True)
        text.append(" → ", form.inks["muted"])
        for id in word.after:
            text.append(form.write(id), styles.get(id, text_ink)).append(" ")
        text.rstrip()
        yield InfoLine(text, lead=lead)


def _word(
    ids: Sequence[int],
    lead: str,
    styles: Mapping[int, Style],
    ink: Style,
    form: LineForm,
) -> Iterator[InfoLine]:
    """Tokens separated by spaces, in as many lines as they need."""
    labels = [(f"{form.write(token)} ", styles.get(token, ink)) for token in ids]
    sizes = [cell_len(label) for label, _ in labels]
    for row in in_rows(labels, sizes, form.width - _LEAD):
        yield InfoLine(Text.assemble(*row, no_wrap=True), lead=lead)
        lead = " " * 7
