"""The options of a training, checked when they are made, before any text is read."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Final

from bpe_core.errors import OptionError
from bpe_core.exact_fraction import exact_fraction
from bpe_core.patterns import splitter
from bpe_core.trainer.ties import TIES
from bpe_core.utf8 import without_surrogates
from bpe_core.vocabulary import ID_LAYOUTS

LARGEST_VOCABULARY: Final = 0x110000 - 256
"""Ids at most; several times as many as any published vocabulary has."""

DEFAULT_PATTERN: Final = "gpt4"
"""The split pattern when none is given."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to learn and by which rules. Making one raises `OptionError` or `PatternError` for what makes no sense."""

    vocab_size: int
    """Ids in all: 256 bytes, the special tokens, and the merges, at least one."""
    pattern: str = DEFAULT_PATTERN
    """A name of `PATTERNS` or a regular expression."""
    ties: str = "first"
    """A name of `TIES`."""
    id_layout: str = "bytes-first"
    """A name of `ID_LAYOUTS`."""
    min_count: int = 1
    """Least count of a pair that is merged; learning ends when there is none."""
    max_token_length: int | None = None
    """Bytes of a learned token at most; None for no limit."""
    special_tokens: Sequence[str] = ()
    """Their texts, in the order of their ids."""
    end_of_word: str = ""
    """The marker behind every piece (Sennrich's `</w>`), one symbol that merges like a byte; "" for none."""
    min_share: Fraction | str | None = None
    """Learning ends with the first merge whose pair, overlaps included, makes up less than this share of the tokens
    before it: a fraction, such as "1/10000" or "0.0001", compared exactly. None to go on."""

    def __post_init__(self) -> None:
        self._check_special_tokens()
        self._check_end_of_word()
        smallest = 257 + len(self.special_tokens) + bool(self.end_of_word)
        _check_number("vocab_size", self.vocab_size, smallest, "256 bytes, the special tokens and a first merge")
        if self.vocab_size > LARGEST_VOCABULARY:
            raise OptionError(f"vocab_size is {self.vocab_size}; no more than {LARGEST_VOCABULARY} can be learned.")
        _check_number("min_count", self.min_count, 1, "a pair that does not occur cannot be merged")
        if self.max_token_length is not None:
            _check_number("max_token_length", self.max_token_length, 2, "a merge makes at least two bytes")
        self._check_min_share()
        _check_choice("ties", self.ties, TIES)
        _check_choice("id_layout", self.id_layout, ID_LAYOUTS)
        splitter(self.pattern)

    def arguments(self) -> dict[str, Any]:
        """All options by name, as `Trainer` takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _check_min_share(self) -> None:
        if self.min_share is None:
            return
        try:
            share = self.min_share if isinstance(self.min_share, Fraction) else exact_fraction(self.min_share)
        except (ValueError, TypeError):
            raise OptionError(f"min_share is a fraction such as 1/10000 or 0.0001, not {self.min_share!r}.") from None
        if not 0 <= share <= 1:
            raise OptionError(f"min_share is {self.min_share}, but a share is between 0 and 1.")
        object.__setattr__(self, "min_share", share)

    def _check_end_of_word(self) -> None:
        if not isinstance(self.end_of_word, str):
            raise OptionError(f"end_of_word is a text such as '</w>', not {self.end_of_word!r}.")
        if without_surrogates(self.end_of_word) != self.end_of_word:
            raise OptionError(f"end_of_word {self.end_of_word!r} holds half of a character; give it a text.")
        if self.end_of_word in self.special_tokens:
            raise OptionError(f"{self.end_of_word!r} is a special token already; choose another end_of_word.")

    def _check_special_tokens(self) -> None:
        if isinstance(self.special_tokens, str):
            raise OptionError(f"special_tokens is a list of texts, not the one text {self.special_tokens!r}.")
        texts: tuple[object, ...] = tuple(self.special_tokens)
        object.__setattr__(self, "special_tokens", texts)
        for number, text in enumerate(texts):
            if not isinstance(text, str) or not text:
                raise OptionError(f"The special token {text!r} is not a text of at least one character.")
            if text in texts[:number]:
                raise OptionError(f"The special token {text!r} is named twice; name it once.")


def _check_number(name: str, value: object, smallest: int, because: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise OptionError(f"{name} is a whole number, not {value!r}.")
    if value < smallest:
        raise OptionError(f"{name} is {value}, but must be at least {smallest}: {because}.")


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise OptionError(f"There is no {name} {value!r}; choose one of {', '.join(choices)}.")
