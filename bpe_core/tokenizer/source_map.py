"""Maps ranges of a normalized text back to ranges of the original text, in code points.

Every rule of a normalizer rewrites some ranges and keeps what lies between; these ranges are a layer. A range is mapped
back through the layers of all rules, the last first. Any part of a rewritten range is mapped to all of it.
"""

from bisect import bisect_right
from typing import Final

from bpe_core.tokenizer.normalizers import Rule, longest


class Layer:
    """The ranges that one rule rewrote, ascending, with their offsets before (old) and after (new) the rule."""

    __slots__ = ("_new_ends", "_new_starts", "_old_ends", "_old_starts")

    def __init__(self) -> None:
        self._new_starts: Final[list[int]] = []
        self._new_ends: Final[list[int]] = []
        self._old_starts: Final[list[int]] = []
        self._old_ends: Final[list[int]] = []

    def rewrite(self, rule: Rule, text: str, new_start: int, old_start: int, most: int) -> str:
        """Apply `rule` to the next part of the text and return the result; `text` begins at `old_start` in the text
        before the rule, the result at `new_start` in the text after it.

        Raises `OptionError` if the result is longer than `most`.
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
        """The range before the rule that became the range from `start` to `end`; O(log n) for n rewritten ranges.

        An empty range is mapped to an empty one, or to a whole rewritten range if it lies strictly inside it.
        """
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
        """The old offset of the character at `at`; `index` is the last rewritten range with a start of at most `at`."""
        if index < 0:
            return at
        if at < self._new_ends[index]:
            return self._old_starts[index]
        return at - self._new_ends[index] + self._old_ends[index]

    def __bool__(self) -> bool:
        return bool(self._new_starts)


class SourceMap:
    """A map from a normalized text to its original; the text is added part by part."""

    __slots__ = ("_layers", "_lengths", "_rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._layers = [Layer() for _ in rules]
        self._lengths = [0] * (len(rules) + 1)

    @property
    def n_characters(self) -> int:
        """The length of the normalized text so far, in code points."""
        return self._lengths[-1]

    def add(self, text: str, starts: bool = True, ends: bool = True) -> str:
        """Normalize the next part of the text and return the result; `starts` and `ends` say whether it is at the start
        or the end of the text that the rules regard as a whole.

        Raises `OptionError` if it would be longer than `normalizers.longest` allows.
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
        """Add a part of the text that is not normalized, such as an added token."""
        self._lengths = [length + len(text) for length in self._lengths]

    def before(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original text that became this range of the normalized text; O(log n) per rule."""
        for layer in reversed(self._layers):
            if layer:
                start, end = layer.before(start, end)
        return start, end
