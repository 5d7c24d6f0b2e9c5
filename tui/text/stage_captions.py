"""The sentences of the stage. Each is true when it appears, and stays true while more merges are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from bpe_core.visible import counted, token_label

_WORDS_PER_SECOND: Final = 200 / 60
"""An unhurried reading speed."""
_SECONDS_TO_LOOK: Final = 0.5
"""Added to the time for reading: the eye has to find the sentence first."""
_FASTER_FROM: Final = 20
"""From this merge on, the replay is visibly faster than at its start."""
_LEAST_PLAY: Final = 100
"""A replay of fewer merges does not become much faster."""


class MergeLabels(NamedTuple):
    """A merge as the tokens are written on the screen."""

    left: str
    right: str
    token: str

    @classmethod
    def of(cls, left: bytes, right: bytes) -> "MergeLabels":
        """Write the two parts and the new token.

        >>> MergeLabels.of(b" t", b"he")
        MergeLabels(left='␣t', right='he', token='␣the')
        """
        return cls(token_label(left), token_label(right), token_label(left + right))


@dataclass(frozen=True, slots=True)
class StageFacts:
    """What the stage shows now."""

    step: int
    n_steps: int
    """The number of merges at the end of the replay."""
    n_bytes: int
    n_tokens: int
    first: MergeLabels | None = None
    """The first merge, once it is shown."""
    nested: MergeLabels | None = None
    """The first merge of a token that was merged before, once it is shown."""
    nested_step: int = 0
    whole_word: str = ""
    """A long word of the text that has become one token; "" if there is none yet."""


def _about_bytes(facts: StageFacts) -> str:
    return "Text starts as bytes, one token each."


def _about_first_merge(facts: StageFacts) -> str:
    if facts.first is None:
        return ""
    left, right, _ = facts.first
    return f"Merge 1 joined the most frequent pair of neighbors: {left} + {right}."


def _about_nested_merge(facts: StageFacts) -> str:
    if facts.nested is None:
        return ""
    left, right, token = facts.nested
    step = facts.nested_step
    return f"Merges build on merges. Merge {step} made {token} of {left} and {right}."


def _about_pace(facts: StageFacts) -> str:
    if facts.n_steps < _LEAST_PLAY or facts.step < _FASTER_FROM:
        return ""
    return "Faster now. Frequent pairs come first, rare ones later."


def _about_word(facts: StageFacts) -> str:
    if not facts.whole_word or facts.step == facts.n_steps:
        return ""
    return f"By now, “{facts.whole_word}” is one token."


def _about_end(facts: StageFacts) -> str:
    if not facts.step or facts.step < facts.n_steps:
        return ""
    merges = counted(facts.step, "merge")
    tokens = counted(facts.n_tokens, "token")
    return f"{merges}: {tokens} instead of {facts.n_bytes:,}. Now type, or press F12 for lessons."


_SENTENCES: Final[Sequence[Callable[[StageFacts], str]]] = (
    _about_bytes,
    _about_first_merge,
    _about_nested_merge,
    _about_pace,
    _about_word,
    _about_end,
)
"""In the order in which they are shown. Each returns "" while it is not true yet."""


class Captions:
    """Chooses the sentence to show, and keeps each long enough to be read."""

    def __init__(self) -> None:
        self.sentence = ""
        self._n_passed = 0
        """How many of `_SENTENCES` were shown, or passed over at the end."""
        self._stays_until = 0.0

    def choose(self, facts: StageFacts, now: float) -> None:
        """Go to the next sentence that is true, if the current one has been shown long enough.

        Args:
            facts: What the stage shows.
            now: The time in seconds, of any clock.
        """
        if not self.may_change(now):
            return
        first = self._n_passed
        if _about_end(facts):
            first = len(_SENTENCES) - 1
        for number in range(first, len(_SENTENCES)):
            sentence = _SENTENCES[number](facts)
            if sentence:
                self.sentence = sentence
                self._n_passed = number + 1
                self._stays_until = now + seconds_to_read(sentence)
                return

    def may_change(self, now: float) -> bool:
        """Whether there is another sentence, and the current one has been shown long enough."""
        return self._n_passed < len(_SENTENCES) and now >= self._stays_until

    def is_over(self, now: float) -> bool:
        """Whether the last sentence has been read."""
        return self._n_passed == len(_SENTENCES) and now >= self._stays_until


def seconds_to_read(sentence: str) -> float:
    """Return how long a sentence stays.

    >>> seconds_to_read("one two three four five six seven eight nine ten")
    3.5
    """
    return len(sentence.split()) / _WORDS_PER_SECOND + _SECONDS_TO_LOOK
