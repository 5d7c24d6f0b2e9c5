"""From a text that was prepared back to the text as it was: which characters became which.

Rules rewrite ranges of a text, one rule after another, and keep what lies between. So each rule has a layer of such
ranges, and a place is followed down through all of them. What a range became stands for the whole range.
"""

from bisect import bisect_right
from typing import Final

from bpe_core.tokenizer.normalizers import Rule, longest


class Layer:
    """The ranges that one rule rewrote, in order."""

    __slots__ = ("_new_ends", "_new_starts", "_old_ends", "_old_starts")

    def __init__(self) -> None:
        self._new_starts: Final[list[int]] = []
        self._new_ends: Final[list[int]] = []
        self._old_starts: Final[list[int]] = []
        self._old_ends: Final[list[int]] = []

    def rewrite(self, rule: Rule, text: str, new_start: int, old_start: int, most: int) -> str:
        """Apply a rule to the next part of the text, which begins at these places; what it becomes.

        Raises `OptionError` if that is longer than `most`.
        """
        new = rule.within(text, most)
        if new == text or (rule.keeps_all and len(new) == len(text)):
            return new
        rewrites = list(rule.rewrites(text))
        parts: list[str] = []
        done = 0
        for start, end, came in rewrites:
            parts += text[done:start], came
            done = end
        if "".join((*parts, text[done:])) != new:  # nothing is known of this rule but what came of it
            rewrites = [(0, len(text), new)]
        shift = new_start - old_start
        for start, end, came in rewrites:
            begin = old_start + start
            if (end - start, len(came)) not in ((0, 0), (1, 1)):
                self._old_starts.append(begin)
                self._old_ends.append(old_start + end)
                self._new_starts.append(begin + shift)
                self._new_ends.append(begin + shift + len(came))
            shift += len(came) - (end - start)
        return new

    def before(self, start: int, end: int) -> tuple[int, int]:
        """What a range was before the rule; an empty range is a place, and so empty before, unless inside a range."""
        first = bisect_right(self._new_starts, start) - 1
        if start == end:
            inside = first >= 0 and self._new_starts[first] < start < self._new_ends[first]
            place = self._place(first, start)
            return (self._old_starts[first], self._old_ends[first]) if inside else (place, place)
        last = bisect_right(self._new_starts, end - 1) - 1
        if last >= 0 and end - 1 < self._new_ends[last]:
            return self._place(first, start), self._old_ends[last]
        return self._place(first, start), self._place(last, end - 1) + 1

    def _place(self, index: int, at: int) -> int:
        """Where the character at `at` began; the range `index` is the last that begins there or before."""
        if index < 0:
            return at
        if at < self._new_ends[index]:
            return self._old_starts[index]
        return at - self._new_ends[index] + self._old_ends[index]

    def __bool__(self) -> bool:
        return bool(self._new_starts)


class SourceMap:
    """The layers of all rules that a text went through, and how long it is after each of them by now."""

    __slots__ = ("_layers", "_lengths", "_rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._layers = [Layer() for _ in rules]
        self._lengths = [0] * (len(rules) + 1)

    @property
    def n_characters(self) -> int:
        """How long the prepared text is by now."""
        return self._lengths[-1]

    def add(self, text: str, starts: bool = True, ends: bool = True) -> str:
        """Prepare the next part of the text, or a range of one that starts or ends it or not; what it becomes.

        Raises `OptionError` as normalizers do.
        """
        most = longest(len(text))
        for index, (rule, layer) in enumerate(zip(self._rules, self._layers, strict=True)):
            part = rule.part(starts, ends)
            new = layer.rewrite(part, text, self._lengths[index + 1], self._lengths[index], most)
            self._lengths[index] += len(text)
            text = new
        self._lengths[-1] += len(text)
        return text

    def keep(self, text: str) -> None:
        """Go past a part of the text that no rule is applied to."""
        self._lengths = [length + len(text) for length in self._lengths]

    def before(self, start: int, end: int) -> tuple[int, int]:
        """What a range of the prepared text was in the text as it was."""
        for layer in reversed(self._layers):
            if layer:
                start, end = layer.before(start, end)
        return start, end
