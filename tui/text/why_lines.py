"""Lines that explain a merge: the pairs it won against, examples, and later uses of its token."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.explain.merge_choice import GIVEN, CorpusPiece, MergeChoice, PairRow
from bpe_core.explain.places import CorpusPlace
from bpe_core.explain.trace import TokenUses
from bpe_core.trainer import Merge
from bpe_core.visible import counted, token_label, visible
from bpe_core.weighted import formatted
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
from tui.state import StepExplained
from tui.text.line_form import LineForm
from tui.text.tie_lines import choice_lines

_MOST_PARENTS: Final = 6
"""Later merges that are listed."""
_LEAD: Final = 8
"""Cells before a word, for its count."""
_IN_LOG: Final = (
    "The merge log (F3) counts each step again: which pairs tied, which came next, "
    "and in which words."
)


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
        explained: The explanation so far. If it is about another step, only the merge log is used.
        merge: The merge of the step; None for step 0.
        ties: The tie rule of the training.
        uses: The later uses of the new token, if they were counted.
        form: How lines are written.
        n_merges: The number of merges in the log.
    """
    step = merge.step if merge else 0
    explanation = explained.explanation if explained.step == step else None
    if merge is None:
        yield from step_zero(n_merges, form.width)
    else:
        head = Text(form.pair(merge.left, merge.right), no_wrap=True)
        head.append(" → ", form.inks["muted"])
        head.append(form.write(merge.token), "bold")
        yield InfoLine(head, f"step {merge.step:,}")
        if not merge.ties:
            yield from sentence(GIVEN, form.width)
        choice = explanation.choice if explanation else None
        if choice:
            yield from choice_lines(choice, merge, ties, form)
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


def step_zero(n_merges: int, width: int) -> Iterator[InfoLine]:
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
    if not merge.count and not merge.ties:
        # It was given, as the line above says, and its pair does not occur or was not counted.
        text = ""
    elif not merge.count:
        # The file has no counts.
        text = "Its file has no record of how often the pair occurred."
    elif not merge.ties:
        # It was given, as the line above says.
        text = f"It occurred {times}."
    elif merge.ties == 1:
        text = f"It occurred {times}; no other pair occurred as often."
    else:
        rule = f"the rule “{ties}”" if ties else "the tie rule"
        text = f"{merge.ties:,} pairs occurred {times}; {rule} took this one."
    yield from sentence(text, width)
    reason = explained.problem
    if not reason and explained.waiting:
        reason = f"{explained.waiting.capitalize()} …"
    if reason:
        yield InfoLine()
        yield from sentence(reason, width)
    else:
        yield from sentence(_IN_LOG, width)


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
    name = cut(f"{folder_and_file}:{place.line:,}", form.width - len(n) - 2, keep="end")
    yield InfoLine(name, n, ink="muted", lead=" ")

    left = token_label(place.left.encode())
    right = token_label(place.right.encode())
    room = max(8, form.width - 3 - cell_len(left) - cell_len(right))
    # Terminals disagree about the width of joined emoji: draw the members of a family one by one.
    before = visible(place.before.lstrip()).replace("\u200d", "·")
    after = visible(place.after.rstrip()).replace("\u200d", "·")
    after = cut(after, max(room // 2, room - cell_len(before)))
    before = cut(before, room - cell_len(after), keep="end")

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
    yield from in_one_or_two("later", remaining, form.width, "accent")
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
