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
from bpe_core.surrogates import utf8
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


@dataclass(frozen=True, slots=True)
class Step:
    """So many merges are made."""

    step: int

    @property
    def words(self) -> str:
        """As `condition` reads it, in ASCII."""
        return f"step {self.step}"

    @property
    def told(self) -> str:
        """For a person."""
        return f"step {self.step:,}"

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        """Whether it holds after this merge; `n_bytes` is the size of the corpus."""
        return merge.step >= self.step


@dataclass(frozen=True, slots=True)
class PowerOfTwo:
    """The number of merges is a power of two; true again and again."""

    words: ClassVar[str] = "power of two"
    told: ClassVar[str] = "a power of two"

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        """Whether it holds after this merge; `n_bytes` is the size of the corpus."""
        return not merge.step & (merge.step - 1)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The corpus has so many tokens or fewer."""

    most: int

    @property
    def words(self) -> str:
        """As `condition` reads it, in ASCII."""
        return f"tokens {self.most}"

    @property
    def told(self) -> str:
        """For a person."""
        return f"{self.most:,} tokens or fewer"

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        """Whether it holds after this merge; `n_bytes` is the size of the corpus. Unknown lengths, 0, never hold."""
        return 0 < merge.n_tokens <= self.most


@dataclass(frozen=True, slots=True)
class Ratio:
    """The corpus has so many bytes per token, or more."""

    least: float

    @property
    def words(self) -> str:
        """As `condition` reads it, in ASCII."""
        return f"ratio {self.least!r}"

    @property
    def told(self) -> str:
        """For a person."""
        return f"{self.least:g} bytes per token"

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        """Whether it holds after this merge; `n_bytes` is the size of the corpus. Unknown sizes, 0, never hold."""
        return 0 < merge.n_tokens * self.least <= n_bytes


@dataclass(frozen=True, slots=True)
class Longer:
    """The new token has more than so many bytes."""

    bytes: int

    @property
    def words(self) -> str:
        """As `condition` reads it, in ASCII."""
        return f"longer than {self.bytes}"

    @property
    def told(self) -> str:
        """For a person."""
        return f"a token longer than {self.bytes:,} bytes"

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        """Whether it holds after this merge; `n_bytes` is the size of the corpus."""
        return len(merge.token_bytes) > self.bytes


@dataclass(frozen=True, slots=True)
class Token:
    """The new token is this one."""

    token: bytes

    @property
    def words(self) -> str:
        """As `condition` reads it, in ASCII."""
        return f"token 0x{self.token.hex()}"

    @property
    def told(self) -> str:
        """For a person."""
        return f"the token {token_label(self.token)}"

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        """Whether it holds after this merge; `n_bytes` is the size of the corpus."""
        return merge.token_bytes == self.token


@dataclass(frozen=True, slots=True)
class CountBelow:
    """The pair that was merged occurred less often than that."""

    count: int

    @property
    def words(self) -> str:
        """As `condition` reads it, in ASCII."""
        return f"count below {self.count}"

    @property
    def told(self) -> str:
        """For a person."""
        return f"a count below {self.count:,}"

    def holds(self, merge: Learned, n_bytes: int) -> bool:
        """Whether it holds after this merge; `n_bytes` is the size of the corpus. An unknown count, 0, never holds."""
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
    if len(digits) > len(str(MOST)) or not least <= int(digits) <= MOST:
        raise OptionError(f"{quoted(digits)} is no number from {least} to {MOST:,}; write one.")
    return int(digits)


def _ratio(digits: str) -> float:
    ratio = float(digits)
    if not 0 < ratio < MOST:
        raise OptionError(f"A ratio of {quoted(digits)} bytes per token is never reached; write a number such as 3.5.")
    return ratio
