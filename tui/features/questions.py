"""Questions of lessons: whether an answer is right, and the reason, from the counts on the screen."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from bpe_core.explain.merge_choice import PairRanking
from bpe_core.visible import counted, quoted
from tui.disk.lesson_fields import SINGLE_TOKEN, LessonStep
from tui.disk.quantities import MeasuredQuantity, quantity
from tui.drawing.lines import how_often
from tui.features.quantities import Quantities

_NEXT_PAIR: Final = MeasuredQuantity("next pair")
_LONGEST_PART: Final = 20
"""How many characters of a typed answer are quoted."""
_MOST_DIGITS: Final = 18


class Judgment(NamedTuple):
    """Whether an answer is right, and a sentence with the reason."""

    is_right: bool
    reason: str


class Questions:
    """Judges answers to the question of a step, and knows the right answer."""

    def __init__(self, quantities: Quantities) -> None:
        self._quantities = quantities

    async def judge(self, step: LessonStep, typed: str) -> Judgment:
        """Judge a typed answer."""
        answer = step["answer"]
        if isinstance(answer, list):
            is_right = typed.casefold() in [text.casefold() for text in answer]
            if is_right:
                return Judgment(True, step.get("because", f"{answer[0]}."))
            return Judgment(False, f"It is not {_quoted(typed)}.")
        if answer == SINGLE_TOKEN:
            return self._judge_token(typed)
        asked = quantity(answer)
        if asked == _NEXT_PAIR:
            verdict = await self._judge_pair(typed)
        else:
            verdict = await self._judge_value(asked, typed)
        if verdict.is_right and "because" in step:
            return Judgment(True, step["because"])
        return verdict

    async def answer(self, step: LessonStep) -> str:
        """Return the right answer with its reason."""
        answer = step["answer"]
        if isinstance(answer, list):
            return f"{answer[0]}. {step.get('because', '')}".strip()
        if answer == SINGLE_TOKEN:
            return str(step.get("because", "Any text that is a single token."))
        asked = quantity(answer)
        if asked == _NEXT_PAIR:
            reason = self._why_next(await self._quantities.pairs())
        else:
            reason = await self._reason(asked)
        return str(step.get("because", reason))

    # Pairs

    async def _judge_pair(self, typed: str) -> Judgment:
        ranking = await self._quantities.pairs()
        pair = self._quantities.find_pair(typed, ranking)
        if pair is None:
            return Judgment(False, f"{_quoted(typed)} is not a pair of neighbors here.")
        first = ranking.rows[0]
        if pair == first:
            return Judgment(True, self._why_next(ranking))
        name = self._quantities.written(pair)
        if pair.times == first.times:
            return Judgment(
                False,
                f"{name} occurs {how_often(pair.times)}, and so does the pair that wins the tie.",
            )
        return Judgment(
            False,
            f"{name} occurs {how_often(pair.times)}; another pair occurs {how_often(first.times)}.",
        )

    def _why_next(self, ranking: PairRanking) -> str:
        if not ranking.rows:
            return "No pairs are left."
        first = ranking.rows[0]
        name = self._quantities.written(first)
        times = how_often(first.times)
        if ranking.n_tied > 1:
            others = counted(ranking.n_tied - 1, "other pair")
            return f"{name} occurs {times}, as often as {others}; the tie rule picks {name}."
        return f"{name} occurs {times}, more often than any other pair."

    # Numbers and texts

    async def _judge_value(self, asked: MeasuredQuantity, typed: str) -> Judgment:
        value = await self._quantities.measure(asked)
        if isinstance(value, str):
            if typed.split() == value.split():
                return Judgment(True, await self._reason(asked))
            return Judgment(False, f"It is not {_quoted(typed)}.")
        number = typed.replace(",", "")[:_MOST_DIGITS]
        if not number.isdecimal():
            return Judgment(False, f"Type a number, not {_quoted(typed)}.")
        if int(number) == value:
            return Judgment(True, await self._reason(asked))
        return Judgment(False, self._why_not(asked, int(number), value))

    def _why_not(self, asked: MeasuredQuantity, typed: int, value: int) -> str:
        """Report whether a number is too small or too large, and give a hint."""
        direction = "few" if typed < value else "many"
        sentence = f"{typed:,} is too {direction}"
        if asked.name in ("tokens of", "pieces of"):
            return f"{sentence}. {self._hint(asked, direction)}"
        return f"{sentence}."

    def _hint(self, asked: MeasuredQuantity, direction: str) -> str:
        quantities = self._quantities
        if asked.name == "pieces of":
            first = quantities.pieces_of(asked.part)[0]
            return f"The first piece is {_quoted(first)}."
        labels = quantities.labels(quantities.ids_of(asked.part))
        longest = max(labels, key=len)
        if direction == "many" and len(longest) > 1:
            return f"{longest} is one token."
        return f"The first token is {labels[0]}."

    async def _reason(self, asked: MeasuredQuantity) -> str:
        quantities = self._quantities
        value = await quantities.measure(asked)
        part = _quoted(asked.part)
        match asked.name:
            case "tokens of":
                labels = " ".join(quantities.labels(quantities.ids_of(asked.part)))
                return f"{part} is {counted(int(value), 'token')}: {labels}"
            case "bytes of":
                in_hex = asked.part.encode().hex(" ")
                return f"{part} is {counted(int(value), 'byte')}: {in_hex}"
            case "pieces of":
                pieces = " | ".join(_visible(quantities.pieces_of(asked.part)))
                return f"{part} is cut into {counted(int(value), 'piece')}: {pieces}"
            case "count of" | "occurrences of":
                return f"{asked.part} occurs {counted(int(value), 'time')}."
            case "tokens" | "bytes":
                return f"The text has {counted(int(value), asked.name[:-1])}."
        return f"It is {value}."

    def _judge_token(self, typed: str) -> Judgment:
        """Judge whether a part of the text is one token, perhaps with the space in front of it."""
        quantities = self._quantities
        if not quantities.holds(typed):
            return Judgment(False, f"{_quoted(typed)} is not in the text.")
        with_space = f" {typed}"
        part = with_space if quantities.holds(with_space) else typed
        ids = quantities.ids_of(part)
        tokens = quantities.labels(ids)
        if len(tokens) > 1:
            reason = f"{_quoted(typed)} is {len(tokens)} tokens: {' '.join(tokens)}"
            return Judgment(False, reason)
        if tokens[0] != _visible([part])[0]:
            return Judgment(False, f"{_quoted(typed)} is a part of {tokens[0]}.")
        return Judgment(True, f"{tokens[0]} is one token, with the id {ids[0]}.")


def _visible(texts: Sequence[str]) -> list[str]:
    return [text.replace(" ", "␣").replace("\n", "↵") for text in texts]


def _quoted(text: str) -> str:
    return quoted(text, _LONGEST_PART)
