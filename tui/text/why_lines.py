"""In lines: why a merge was chosen, the ties and what each rule takes, where it stands, what came of it; its code."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import dropwhile, groupby
from textwrap import wrap
from typing import Any, Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.explain.code import SOURCE, CodeLine
from bpe_core.explain.merge_choice import GIVEN, CorpusPiece, MergeChoice
from bpe_core.explain.places import CorpusPlace
from bpe_core.explain.trace import TokenUses
from bpe_core.trainer import Merge
from bpe_core.visible import counted, token_label, visible
from bpe_core.weighted import Count, formatted
from tui.drawing.lines import InfoLine, bar, cut, fit, in_one_or_two, in_rows, sentence
from tui.glossary import TIE_MEANINGS
from tui.state import StepExplained

_MOST_TIED: Final = 6  # tied pairs that have a line; of more, those that some rule takes, and then the first
_MOST_PARENTS: Final = 6  # merges that absorbed the token that have a line
_LEAD: Final = 8  # cells before a word, for how often it occurs


@dataclass(frozen=True, slots=True)
class LineForm:
    width: int  # cells of a line
    write: Callable[[int], str]  # writes a token
    inks: Mapping[
        str, Style
    ]  # styles of `INKS`: "accent" for what was chosen, "secondary" for what might have been

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
    """All about a step, whose merge is one of `n_merges`, None for step 0; `ties` is the rule of the training.

    `uses` tells what became of the token. `explained` may be of another step, or tell nothing yet: then the log and the
    record are all that is known.
    """
    explanation = (
        explained.explanation
        if explained.step == (merge.step if merge else 0)
        else None
    )
    if merge is None:
        text = "Step 0: no merge yet, and each byte is a token. F7 learns one merge and waits."
        if n_merges:
            text = f"Step 0: none of {counted(n_merges, 'merge')} is in force, and each byte is a token."
        yield from sentence(text, form.width)
    else:
        head = Text(form.pair(merge.left, merge.right), no_wrap=True)
        head.append(" → ", form.inks["muted"]).append(form.write(merge.token), "bold")
        yield InfoLine(head, f"step {merge.step:,}")
        yield from () if merge.ties else sentence(GIVEN, form.width)
        choice = explanation.choice if explanation else None
        yield from (
            _counts(choice, merge, ties, form)
            if choice
            else _recorded(explained, merge, ties, form.width)
        )
        if choice and explained.places:
            yield InfoLine(
                "where it occurs most", f"of {formatted(choice.count)}", ink="accent"
            )
            yield from (
                line for place in explained.places for line in _place(place, form)
            )
        yield from _uses(uses, form) if uses else ()
        yield from _born_and_vanished(choice, form) if choice else ()
    if explanation and explanation.words:
        yield InfoLine("words before and after", ink="accent")
        yield from word_lines(explanation.words, merge.token if merge else None, form)


def _born_and_vanished(choice: MergeChoice, form: LineForm) -> Iterator[InfoLine]:
    numbers = f"+{choice.n_born:,} −{choice.n_vanished:,}"
    yield from in_one_or_two("pairs new and vanished", numbers, form.width, "accent")
    for sign, ink, rows in (
        ("+", "accent", choice.born),
        ("−", "warning", choice.vanished),
    ):
        for row in rows:
            pair = Text.assemble(
                (f"{sign} ", form.inks[ink]),
                form.pair(row.left, row.right),
                no_wrap=True,
            )
            yield InfoLine(pair, formatted(row.times or -row.change), lead=" ")


def _recorded(
    explained: StepExplained, merge: Merge, ties: str, width: int
) -> Iterator[InfoLine]:
    """What the log tells without a corpus, and why there is none yet."""
    times = counted(merge.count, "time")
    rule = f"the rule “{ties}”" if ties else "the tie rule"
    text = f"{merge.ties:,} pairs occurred {times}; {rule} took this one."
    if not merge.ties:
        text = f"It occurred {times}."
    elif not merge.count:
        text = "Its file does not tell how often the pair occurred."
    elif merge.ties < 2:
        text = f"It occurred {times}; no other pair as often."
    yield from sentence(text, width)
    if waiting := explained.problem or (
        f"{explained.waiting.capitalize()} …" if explained.waiting else ""
    ):
        yield InfoLine()
    text = "In the merge log (F3) each step is counted again: which pairs tied, which came next, in which words."
    yield from sentence(waiting or text, width)


def _counts(
    choice: MergeChoice, merge: Merge, ties: str, form: LineForm
) -> Iterator[InfoLine]:
    pair = choice.left, choice.right
    if merge.count and merge.count != choice.count:
        yield from sentence(
            f"It was learned from other texts, where the pair occurred {counted(merge.count, 'time')}; "
            "all that follows is counted in those that are chosen now.",
            form.width,
        )
    decided = choice.n_tied > 1 and choice.by_rule.get(ties) == pair
    if choice.n_tied > 1 and choice.count == choice.most:
        tied = Text(f"{choice.n_tied:,} pairs tied", form.inks["secondary"])
        yield InfoLine(tied, f"“{ties}” decides" if decided else "")
    elif choice.count == choice.most:
        yield InfoLine("no tie: none as frequent", ink="muted")
    taken_by: dict[tuple[int, int], list[str]] = {}
    for rule, taken in choice.by_rule.items():
        taken_by.setdefault(taken, []).append(rule)
    first = [
        *dict.fromkeys([*(one for one in choice.tied if one in taken_by), *taken_by])
    ]
    rest = [one for one in choice.tied if one not in taken_by]
    listed = [*first, *rest[: max(0, _MOST_TIED - len(first))]]
    size = max(4, form.width // 6)
    room = max(
        form.width // 3,
        form.width - size - len(formatted(choice.most)) - len("●   by lowest-hf"),
    )
    others = [((other.left, other.right), other.times) for other in choice.runners_up]
    width = min(
        room,
        max(
            cell_len(form.pair(*one))
            for one in (pair, *listed, *(other for other, _ in others))
        ),
    )

    def drawn(
        mark: str, one: tuple[int, int], count: Count, ink: str, rules: str = ""
    ) -> Iterator[InfoLine]:
        """Mark, pair, bar, count, and behind them, or in a line below, by which rules it is taken."""
        text = Text(no_wrap=True)
        text.append(f"{mark:2}", form.inks[ink]).append(
            fit(form.pair(*one), width), form.inks["text"]
        )
        text.append(" ").append(
            bar(count, choice.most, size), form.inks["muted" if ink == "text" else ink]
        )
        return in_one_or_two(
            text.append(f" {formatted(count)}", form.inks["text"]), rules, form.width
        )

    if choice.count < choice.most:
        yield from drawn("●", pair, choice.count, "text")
    for one in sorted(listed, key=lambda one: one != pair):
        rules = ", ".join(taken_by.get(one, ())) if choice.n_tied > 1 else ""
        mark, ink = ("●", "accent") if one == pair else ("=", "secondary")
        yield from drawn(mark, one, choice.most, ink, f"by {rules}" if rules else "")
    if (more := choice.n_tied - len(listed)) > 0:
        yield InfoLine(
            f"  and {more:,} more with {formatted(choice.most)}", ink="muted"
        )
    for other, count in others:
        yield from drawn("", other, count, "text")
    if decided:
        yield from sentence(TIE_MEANINGS[ties], form.width)
    if choice.n_joined < choice.count:
        text = f"{formatted(choice.n_joined)} of the {formatted(choice.count)} are joined: the others overlap these."
        yield from sentence(text, form.width)


def _place(place: CorpusPlace, form: LineForm) -> Iterator[InfoLine]:
    """File, by its folder and name, and line, how often the pair is in it, and below the line around the pair."""
    name = visible("/".join(place.name.split("/")[-2:]))
    n = formatted(place.n) if place.n else ""
    yield InfoLine(
        cut(f"{name}:{place.line:,}", form.width - len(n) - 2, "end"),
        n,
        ink="muted",
        lead=" ",
    )
    left, right = (token_label(part.encode()) for part in (place.left, place.right))
    room = max(8, form.width - 3 - cell_len(left) - cell_len(right))
    # What terminals join differently has no certain width: a family of emoji is written as its members.
    before, after = (
        visible(part).replace("\u200d", "·")
        for part in (place.before.lstrip(), place.after.rstrip())
    )
    n_after = max(room // 2, room - cell_len(before))
    after = cut(after, n_after)
    before = cut(before, room - cell_len(after), "end")
    muted, pair = (
        form.inks["muted"],
        form.inks["accent"] + Style(bold=True, underline=True),
    )
    parts = (before, muted), (left, pair), ("·", muted), (right, pair), (after, muted)
    yield InfoLine(Text.assemble(*parts, no_wrap=True), lead="  ")


def _uses(uses: TokenUses, form: LineForm) -> Iterator[InfoLine]:
    yield from in_one_or_two(
        "what came of it",
        f"{formatted(uses.left)} of {formatted(uses.made)} uses left",
        form.width,
        "accent",
    )
    if not uses.absorbed:
        yield InfoLine("no later merge has it as a part", ink="muted", lead=" ")
    most = max((n for _, _, n in uses.absorbed), default=0)
    listed = sorted(uses.absorbed, key=lambda taken: -taken[2])[:_MOST_PARENTS]
    for step, token, n in sorted(listed):
        text = Text(no_wrap=True)
        text.append(fit(form.write(token), min(20, form.width // 3))).append(" ")
        text.append(bar(n, most, max(4, form.width // 5)), form.inks["muted"])
        text.append(f" −{formatted(n)}")
        yield InfoLine(text, f"step {step:,}", lead=" ")
    if (more := len(uses.absorbed) - len(listed)) > 0:
        yield InfoLine(f"and {counted(more, 'other merge')}", ink="muted", lead=" ")


def word_lines(
    words: Sequence[CorpusPiece], token: int | None, form: LineForm
) -> Iterator[InfoLine]:
    """How often each word occurs, its tokens before the merge and after it; `token` is what the merge made."""
    made = {token: form.inks["accent"] + Style(bold=True)}
    for word in words:
        lead = f"{f'{formatted(word.times)} ×':>6} "
        if word.before == word.after:
            yield from _word(word.before, lead, {}, form.inks["muted"], form)
            continue
        before, after = (
            " ".join(map(form.write, ids)) for ids in (word.before, word.after)
        )
        if cell_len(before) + cell_len(after) + len(" → ") > form.width - _LEAD:
            yield from _word(word.before, lead, {}, form.inks["text"], form)
            yield from _word(word.after, f"{'→':>6} ", made, form.inks["text"], form)
            continue
        text = Text(before, form.inks["text"], no_wrap=True).append(
            " → ", form.inks["muted"]
        )
        for id in word.after:
            text.append(form.write(id), made.get(id, form.inks["text"])).append(" ")
        text.rstrip()
        yield InfoLine(text, lead=lead)


def _word(
    ids: Sequence[int],
    lead: str,
    made: Mapping[int | None, Style],
    ink: Style,
    form: LineForm,
) -> Iterator[InfoLine]:
    """Tokens with spaces between, in as many lines as they need."""
    labels = [(f"{form.write(token)} ", made.get(token, ink)) for token in ids]
    for row in in_rows(
        labels, [cell_len(label) for label, _ in labels], form.width - _LEAD
    ):
        yield InfoLine(Text.assemble(*row, no_wrap=True), lead=lead)
        lead = " " * 7


@cache
def _code(dark: bool) -> Sequence[InfoLine]:
    from rich.syntax import Syntax  # once somebody wants to see it: 20 ms

    code = Syntax("", "python", theme="ansi_dark" if dark else "ansi_light").highlight(
        "\n".join(SOURCE)
    )
    return [InfoLine(text, lead="  ") for text in code.split("\n")]


def _value(name: str, value: Any, form: LineForm) -> str:
    """The value of a variable of the reference, as short as it can be read."""
    match name:
        case "words":
            same = (
                (len([*some]), " ".join(map(form.write, word)))
                for word, some in groupby(value)
            )
            return " | ".join(f"{n} × {word}" if n > 1 else word for n, word in same)
        case "counts" | "corpus":
            return " · ".join(
                f"{form.pair(*pair)} {formatted(n)}"
                for pair, n in sorted(value.items(), key=lambda one: -one[1])
            )
        case "tied" | "best":
            return " · ".join(
                form.pair(*pair) for pair in (value if name == "tied" else [value])
            )
        case "ids":
            return " ".join(map(form.write, value))
    return formatted(value) if name == "most" else f"{form.write(value)} (id {value:,})"


def code_lines(
    run: Sequence[CodeLine],
    choice: MergeChoice | None,
    form: LineForm,
    height: int,
    dark: bool,
) -> Sequence[InfoLine]:
    """The reference around the last line of `run`, which has words of the corpus of `choice`; below, its variables."""
    values: list[InfoLine] = []
    for line in run:
        told = dict(line.values)
        if choice and (counts := told.get("counts")):
            corpus = {(choice.left, choice.right): choice.count} | dict.fromkeys(
                choice.tied, choice.most
            )
            corpus |= {
                (other.left, other.right): other.times for other in choice.runners_up
            }
            told |= (
                {"corpus": corpus}
                if any(counts.get(pair) != n for pair, n in corpus.items())
                else {}
            )
        for name, value in told.items():
            ink = "accent" if line is run[-1] else "text"
            written = sentence(_value(name, value, form), form.width - 7, ink, most=2)
            values += (
                replace(row, lead=f"{'' if n else name:>6} ")
                for n, row in enumerate(written)
            )
    values = [
        *dropwhile(lambda row: row.lead.isspace(), values[-max(3, height // 2) :])
    ]
    room, number, width = height - len(values), run[-1].number, form.width - 2
    style = form.inks["accent"] + Style(reverse=True)
    marked = wrap(SOURCE[number - 1], width, subsequent_indent=" " * 12)
    bars = [
        InfoLine(Text.assemble((fit(row, width), style)), lead="  " if n else "▸ ")
        for n, row in enumerate(marked)
    ]
    first = max(0, number - 1 - max(0, room - len(bars)) // 2)
    rows = [*_code(dark)[first : number - 1], *bars, *_code(dark)[number:]]
    return [*rows[:room], *values]
