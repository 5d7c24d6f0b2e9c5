r"""Conditions on which a training is interrupted, in words: a step, a length, a ratio, a token, a count.

Each is a predicate on a single merge and the size of the corpus, so that a worker can look at the merges it makes and
an app at those that are there already.

>>> condition("ratio 3.5"), condition("1,024").words, condition('token " the"').words
(Ratio(least=3.5), 'step 1024', 'token 0x20746865')
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from bpe_core.errors import OptionError
from bpe_core.utf8 import utf8
from bpe_core.visible import quoted, token_label

MOST: Final = 1 << 62
"""The largest number in a condition; no corpus is longer."""


class Learned(Protocol):
    """What a condition looks at; `bpe_core.trainer.Merge` is such a class."""

    @property
    def step(self) -> int:
        """From 1."""

    @property
    def token_bytes(self) -> bytes:
        """The bytes of the new token."""

    @property
    def count(self) -> int:
        """How often the pair occurred."""

    @property
    def n_tokens(self) -> int:
        """Tokens in the corpus after this merge."""


class _Condition:
    """What conditions have in common: sentences that are made of their fields."""

    __slots__ = ()
    in_words: ClassVar[str]
    for_a_person: ClassVar[str]

    @property
    def words(self) -> str:
        """As `condition` reads it, in ASCII."""
        return self.in_words.format(self)

    @property
    def told(self) -> str:
        """For a person."""
        return self.for_a_person.format(self)

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        """Whether it holds after this merge of a corpus of `n_bytes`. What is unknown is 0, and nothing holds of it."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Step(_Condition):
    """So many merges are made."""

    in_words, for_a_person = "step {0.step}", "step {0.step:,}"
    step: int

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        return merge.step >= self.step


@dataclass(frozen=True, slots=True)
class PowerOfTwo(_Condition):
    """The number of merges is a power of two; true again and again."""

    in_words, for_a_person = "power of two", "the next power of two"

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        return not merge.step & (merge.step - 1)


@dataclass(frozen=True, slots=True)
class Tokens(_Condition):
    """The corpus has so many tokens or fewer."""

    in_words, for_a_person = "tokens {0.most}", "{0.most:,} tokens or fewer"
    most: int

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        return 0 < merge.n_tokens <= self.most


@dataclass(frozen=True, slots=True)
class Ratio(_Condition):
    """The corpus has so many bytes per token, or more."""

    in_words, for_a_person = "ratio {0.least!r}", "{0.least:,g} bytes per token"
    least: float

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        return 0 < merge.n_tokens * self.least <= n_bytes


@dataclass(frozen=True, slots=True)
class Longer(_Condition):
    """The new token has more than so many bytes."""

    in_words, for_a_person = "longer than {0.bytes}", "a token longer than {0.bytes:,} bytes"
    bytes: int

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        return len(merge.token_bytes) > self.bytes


@dataclass(frozen=True, slots=True)
class Token(_Condition):
    """The new token is this one."""

    in_words, for_a_person = "token 0x{0.digits}", "the token {0.label}"
    token: bytes

    @property
    def digits(self) -> str:
        """Its bytes in hexadecimal."""
        return self.token.hex()

    @property
    def label(self) -> str:
        """As it is shown."""
        return token_label(self.token)

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        return merge.token_bytes == self.token


@dataclass(frozen=True, slots=True)
class CountBelow(_Condition):
    """The pair that was merged occurred less often than that."""

    in_words, for_a_person = "count below {0.count}", "a count below {0.count:,}"
    count: int

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        return 0 < merge.count < self.count


Condition = Step | PowerOfTwo | Tokens | Ratio | Longer | Token | CountBelow

WORDINGS: Final = (
    "step 512",
    "power of two",
    "tokens 100,000",
    "ratio 3.5",
    "longer than 12",
    'token "the"',
    "token 0x20746865",
    "count below 10",
)
"""An example of each wording that `condition` reads."""

_NUMBER: Final = r"(\d[\d,_]*)"
_WORDINGS: Final[tuple[tuple[str, Callable[[str], Condition]], ...]] = (
    (rf"(?:step )?{_NUMBER}", lambda number: Step(_whole(number, 1))),
    (r"(?:the )?(?:next )?power of (?:two|2)()", lambda _: PowerOfTwo()),
    (rf"tokens (?:below |under )?{_NUMBER}", lambda number: Tokens(_whole(number, 1))),
    (r"ratio (\d+(?:\.\d*)?)", lambda number: Ratio(_ratio(number))),
    (rf"(?:a |first )?(?:token )?longer than {_NUMBER}(?: bytes?)?", lambda number: Longer(_whole(number, 1))),
    (rf"counts? (?:below |under )?{_NUMBER}", lambda number: CountBelow(_whole(number, 1))),
    (r"token (?:hex |0x)((?:[0-9a-fA-F]{2} ?)+)", lambda digits: Token(bytes.fromhex(digits))),
    (r"token [\"“](.+)[\"”]", lambda text: Token(utf8(text))),
    (r"token (.+)", lambda text: Token(utf8(text.strip().replace("␣", " ")))),
)
"""Regular expression with one group -> what is made of that group."""


def condition(words: str) -> Condition:
    """The condition that `words` tell: one of `WORDINGS` with other numbers and texts, or a number alone for a step.

    In a token's text without quotation marks ␣ is a space. Raises `OptionError` for what is none.
    """
    for expression, make in _WORDINGS:
        if found := re.fullmatch(expression, words.strip(), re.ASCII | re.DOTALL | re.IGNORECASE):
            return make(found[1])
    examples = ", ".join(WORDINGS)
    raise OptionError(f"{quoted(words)} is no condition; write one such as {examples}.")


def _whole(digits: str, least: int) -> int:
    digits = re.sub("[,_]", "", digits)
    if len(digits) > len(str(MOST)) or int(digits) > MOST:
        raise OptionError(f"{quoted(digits)} is more than any corpus has; write a smaller number.")
    if int(digits) < least:
        raise OptionError(f"{quoted(digits)} is too small; write a number from {least} up.")
    return int(digits)


def _ratio(digits: str) -> float:
    ratio = float(digits)
    if not 0 < ratio < MOST:
        raise OptionError(f"A ratio of {quoted(digits)} bytes per token is never reached; write a number such as 3.5.")
    return ratio
