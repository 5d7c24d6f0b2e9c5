"""Why a merge was chosen, in lines: the ties and what each rule takes, the others, where it stands, what came of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.explain.merge_choice import GIVEN, CorpusPiece, MergeChoice, PairRow
from bpe_core.explain.places import CorpusPlace
from bpe_core.explain.token_uses import TokenUses
from bpe_core.plurals import counted
from bpe_core.trainer import Merge
from bpe_core.visible import token_label, visible
from tui.drawing.cells import cut, fit
from tui.drawing.info_lines import InfoLine, sentence
from tui.drawing.plots import bar
from tui.glossary import TIE_MEANINGS
from tui.state import StepExplained

_MOST_TIED = 6
"""Tied pairs that have a line; of more, those that some rule takes, and then the first."""
_MOST_PARENTS = 6
"""Merges that absorbed the token that have a line."""
_LEAD = 8
"""Cells before a word, for how often it occurs."""


@dataclass(frozen=True, slots=True)
class LineForm:
    """How the lines are drawn."""

    width: int
    """Cells of a line."""
    write: Callable[[int], str]
    """Writes a token."""
    inks: Mapping[str, Style]
    """The styles "text" and "muted", "accent" for what was chosen, "tied" for what might have been, "warning"."""


def why_lines(
    explained: StepExplained, merge: Merge | None, ties: str, uses: TokenUses | None, form: LineForm
) -> list[InfoLine]:
    """All about a step, whose merge is `merge`, None for step 0; `ties` is the rule of the training.

    `uses` tells what became of the token. `explained` may be of another step, or tell nothing yet: then the log and the
    record are all that is known.
    """
    explanation = explained.explanation if explained.step == (merge.step if merge else 0) else None
    words = [*_title("words before and after", form)] if explanation and explanation.words else []
    words += word_lines(explanation.words, merge.token if merge else None, form) if explanation else ()
    if merge is None:
        text = "Step 0: no merge yet, and each byte is a token. F7 learns one merge and waits."
        return [*sentence(text, form.width), *words]
    choice = explanation.choice if explanation else None
    lines = [_head(merge, form)]
    if not merge.ties:
        lines += sentence(GIVEN, form.width)
    if choice is not None:
        lines += _counts(choice, merge, ties, form)
    else:
        lines += _recorded(merge, ties, form)
    if explained.problem and choice is None:
        lines += [InfoLine(), *sentence(explained.problem, form.width)]
    elif choice is None and explained.waiting:
        lines += [InfoLine(), *sentence(f"{explained.waiting.capitalize()} …", form.width)]
    elif choice is None:
        lines += sentence(
            "In the merge log (F3) each step is counted again: the ties, the others, the words.", form.width
        )
    if choice is not None and explained.places:
        lines += _title("where it stands", form)
        lines += (line for place in explained.places for line in _place(place, form))
    if uses is not None:
        lines += _uses(uses, form)
    if choice is not None:
        lines += _changes(choice, form)
    return lines + words


def _title(text: str, form: LineForm, numbers: str = "") -> Iterator[InfoLine]:
    """A heading, its numbers at the right or, where there is no room, in a line below."""
    if cell_len(text) + 1 + cell_len(numbers) <= form.width:
        yield InfoLine(text, numbers, "accent")
    else:
        yield InfoLine(text, ink="accent")
        yield InfoLine("", numbers)


def _head(merge: Merge, form: LineForm) -> InfoLine:
    text = Text(no_wrap=True)
    text.append(f"{form.write(merge.left)} + {form.write(merge.right)}")
    text.append(" → ", form.inks["muted"]).append(form.write(merge.token), "bold")
    return InfoLine(text, f"step {merge.step:,}")


def _recorded(merge: Merge, ties: str, form: LineForm) -> list[InfoLine]:
    """What the log tells without a corpus."""
    if not merge.ties:
        return [*sentence(f"It occurred {counted(merge.count, 'time')}.", form.width)]
    if not merge.count:
        return [*sentence("Its file does not tell how often the pair occurred.", form.width)]
    if merge.ties < 2:
        return [*sentence(f"It occurred {counted(merge.count, 'time')}; no other pair as often.", form.width)]
    rule = f"the rule “{ties}”" if ties else "the tie rule"
    text = f"{merge.ties:,} pairs occurred {counted(merge.count, 'time')}; {rule} took this one."
    return [*sentence(text, form.width)]


def _counts(choice: MergeChoice, merge: Merge, ties: str, form: LineForm) -> Iterator[InfoLine]:
    pair = choice.left, choice.right
    if merge.count and merge.count != choice.count:
        yield from sentence(
            f"It was learned from other texts, where the pair occurred {counted(merge.count, 'time')}; "
            "all that follows is counted in those that are chosen now.",
            form.width,
        )
    decided = choice.n_tied > 1 and choice.by_rule.get(ties) == pair
    if choice.n_tied > 1 and choice.count == choice.most:
        how_many = Text(f"{choice.n_tied:,} pairs tied", form.inks["tied"])
        yield InfoLine(how_many, f"“{ties}” decides" if decided else "")
    elif choice.count == choice.most:
        yield InfoLine("no tie: no other as often", ink="muted")
    taken_by: dict[tuple[int, int], list[str]] = {}
    for rule, taken in choice.by_rule.items():
        taken_by.setdefault(taken, []).append(rule)
    first = [tied for tied in choice.tied if tied in taken_by]
    first += [tied for tied in taken_by if tied not in first]
    rest = [tied for tied in choice.tied if tied not in taken_by]
    listed = [*first, *rest[: max(0, _MOST_TIED - len(first))]]
    bars: list[_Bar | str] = []
    if choice.count < choice.most:
        bars.append(_Bar("●", pair, choice.count, "text"))
    for tied in sorted(listed, key=lambda tied: tied != pair):
        rules = ", ".join(taken_by.get(tied, ())) if choice.n_tied > 1 else ""
        mark, ink = ("●", "accent") if tied == pair else ("=", "tied")
        bars.append(_Bar(mark, tied, choice.most, ink, f"by {rules}" if rules else ""))
    if (more := choice.n_tied - len(listed)) > 0:
        bars.append(f"  and {more:,} more with {choice.most:,}")
    bars += [_Bar("", (row.left, row.right), row.count, "text") for row in choice.runners_up]
    yield from _bar_lines(bars, choice.most, form)
    if decided:
        yield from sentence(TIE_MEANINGS[ties], form.width)
    if choice.n_joined < choice.count:
        text = f"{choice.n_joined:,} of the {choice.count:,} are joined: the others overlap these."
        yield from sentence(text, form.width)


@dataclass(frozen=True, slots=True)
class _Bar:
    mark: str
    pair: tuple[int, int]
    count: int
    ink: str
    """Of the mark; runners-up have a muted bar."""
    rules: str = ""
    """By which tie rules the pair is taken."""


def _bar_lines(bars: Sequence[_Bar | str], most: int, form: LineForm) -> Iterator[InfoLine]:
    """Mark, pair, bar, count, and behind them, or in a line below, the rules that take the pair; a string between."""
    pairs = {row.pair: " + ".join(map(form.write, row.pair)) for row in bars if isinstance(row, _Bar)}
    size, n_digits = max(4, form.width // 6), len(f"{most:,}")
    room = max(form.width // 3, form.width - size - n_digits - len("●   by lowest-hf"))
    width = min(room, max(map(cell_len, pairs.values()), default=0))
    for row in bars:
        if isinstance(row, str):
            yield InfoLine(row, ink="muted")
            continue
        text = Text(no_wrap=True)
        text.append(f"{row.mark:2}", form.inks[row.ink]).append(fit(pairs[row.pair], width), form.inks["text"])
        text.append(" ").append(bar(row.count, most, size), form.inks["muted" if row.ink == "text" else row.ink])
        text.append(f" {row.count:,}", form.inks["text"])
        if text.cell_len + 1 + cell_len(row.rules) <= form.width:
            yield InfoLine(text, row.rules)
        else:
            yield InfoLine(text)
            yield InfoLine("", row.rules)


def _place(place: CorpusPlace, form: LineForm) -> Iterator[InfoLine]:
    """File, by its folder and name, and line, and below them the line around the pair."""
    name = visible("/".join(place.name.split("/")[-2:]))
    yield InfoLine(cut(f"{name}:{place.line:,}", form.width - 1, "end"), ink="muted", lead=" ")
    left, right = (token_label(part.encode()) for part in (place.left, place.right))
    room = max(8, form.width - 3 - cell_len(left) - cell_len(right))
    # What terminals join differently has no certain width: a family of emoji is written as its members.
    before, after = (visible(part).replace("\u200d", "·") for part in (place.before.lstrip(), place.after.rstrip()))
    n_after = max(room // 2, room - cell_len(before))
    after = cut(after, n_after)
    before = cut(before, room - cell_len(after), "end")
    text = Text(no_wrap=True)
    text.append(before, form.inks["muted"])
    text.append(left, form.inks["accent"] + Style(bold=True, underline=True))
    text.append("·", form.inks["muted"])
    text.append(right, form.inks["accent"] + Style(bold=True, underline=True))
    text.append(after, form.inks["muted"])
    yield InfoLine(text, lead="  ")


def _uses(uses: TokenUses, form: LineForm) -> Iterator[InfoLine]:
    left = uses.left()
    yield from _title("what came of it", form, f"{left:,} of {uses.made:,} uses left")
    if not uses.absorbed:
        yield InfoLine("no later merge has it as a part", ink="muted", lead=" ")
    most = max((taken.n_absorbed for taken in uses.absorbed), default=0)
    listed = sorted(uses.absorbed, key=lambda taken: -taken.n_absorbed)[:_MOST_PARENTS]
    for taken in sorted(listed, key=lambda taken: taken.step):
        text = Text(no_wrap=True)
        text.append(fit(form.write(taken.token), min(20, form.width // 3))).append(" ")
        text.append(bar(taken.n_absorbed, most, max(4, form.width // 5)), form.inks["muted"])
        text.append(f" −{taken.n_absorbed:,}")
        yield InfoLine(text, f"step {taken.step:,}", lead=" ")
    if (more := len(uses.absorbed) - len(listed)) > 0:
        yield InfoLine(f"and {counted(more, 'other merge')}", ink="muted", lead=" ")


def _changes(choice: MergeChoice, form: LineForm) -> Iterator[InfoLine]:
    yield from _title("pairs born and vanished", form, f"+{choice.n_born:,} −{choice.n_vanished:,}")
    yield from (_change("+", row, form) for row in choice.born)
    yield from (_change("−", row, form) for row in choice.vanished)


def _change(sign: str, row: PairRow, form: LineForm) -> InfoLine:
    text = Text(no_wrap=True)
    text.append(f"{sign} ", form.inks["accent" if sign == "+" else "warning"])
    text.append(f"{form.write(row.left)} + {form.write(row.right)}")
    return InfoLine(text, f"{row.count or -row.change:,}", lead=" ")


def word_lines(words: Sequence[CorpusPiece], token: int | None, form: LineForm) -> Iterator[InfoLine]:
    """How often each word occurs, its tokens before the merge and after it; `token` is what the merge made."""
    for word in words:
        lead = f"{word.count:,} ×"
        if word.before == word.after:
            yield from _word(word.before, lead, None, form, "muted")
            continue
        before, after = (" ".join(map(form.write, ids)) for ids in (word.before, word.after))
        if cell_len(before) + cell_len(after) + len(" → ") > form.width - _LEAD:
            yield from _word(word.before, lead, None, form, "text")
            yield from _word(word.after, "→", token, form, "text")
            continue
        text = Text(before, form.inks["text"], no_wrap=True).append(" → ", form.inks["muted"])
        for id in word.after:
            text.append(form.write(id), _ink_of(id, token, form, "text")).append(" ")
        text.rstrip()
        yield InfoLine(text, lead=f"{lead:>6} ")


def _word(ids: Sequence[int], lead: str, made: int | None, form: LineForm, ink: str) -> Iterator[InfoLine]:
    """Tokens with spaces between, in as many lines as they need."""
    text, used = Text(no_wrap=True), 0
    lead = f"{lead:>6} "
    for token in ids:
        label = form.write(token)
        size = cell_len(label) + 1
        if used and used + size > form.width - _LEAD:
            yield InfoLine(text, lead=lead)
            text, used, lead = Text(no_wrap=True), 0, " " * 7
        text.append(label, _ink_of(token, made, form, ink)).append(" ")
        used += size
    yield InfoLine(text, lead=lead)


def _ink_of(token: int, made: int | None, form: LineForm, ink: str) -> Style:
    return form.inks["accent"] + Style(bold=True) if token == made else form.inks[ink]
