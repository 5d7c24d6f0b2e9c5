"""Experiments: ways to learn that are not byte-pair encoding as it is commonly done, each with a name and a number.

>>> experiment("superbpe=1000"), experiment("picky=0.9").words
(SuperBPE(step=1000), 'picky=0.9')
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

from bpe_core.errors import OptionError
from bpe_core.exact_fraction import exact_fraction
from bpe_core.visible import quoted

_MOST_STEPS: Final = 10**8


@dataclass(frozen=True, slots=True)
class SuperBPE:
    """Liu et al., "SuperBPE: Space Travel for Language Models" (2025, arXiv 2503.13423).

    The first merges are learned within pieces, as always; then texts are not split any more. What comes out is an
    ordinary vocabulary whose pattern is "none", since a text is encoded as it was merged in the second stage: all
    merges in their order, on the whole text.
    """

    name: ClassVar[str] = "superbpe"
    number: ClassVar[str] = "STEP"
    example: ClassVar[str] = "1000"
    does: ClassVar[str] = "after STEP merges, texts are not split any more, and tokens may reach across words"

    step: int
    """How many merges are learned within pieces."""

    @property
    def words(self) -> str:
        """As `experiment` reads it."""
        return f"{self.name}={self.step}"


@dataclass(frozen=True, slots=True)
class Picky:
    """Chizhov, Arnett, Korotkova and Yamshchikov, "BPE Gets Picky" (2024, arXiv 2409.04599); see `bpe_core.picky`."""

    name: ClassVar[str] = "picky"
    number: ClassVar[str] = "SHARE"
    example: ClassVar[str] = "0.9"
    does: ClassVar[str] = (
        "a token of which a merge takes this share or more is removed, and its id used again (Picky BPE); "
        "learned in Python, which is slower"
    )

    threshold: Fraction
    """The least intersection over self, above 0 and at most 1, with which a token is removed."""

    @property
    def words(self) -> str:
        """As `experiment` reads it."""
        decimal = f"{float(self.threshold):.12g}"
        return f"{self.name}={decimal if Fraction(decimal) == self.threshold else self.threshold}"


Experiment = SuperBPE | Picky

EXPERIMENTS: Final[tuple[type[SuperBPE] | type[Picky], ...]] = (SuperBPE, Picky)
"""All there are: each has a `name`, the name of its `number`, an `example` of that, and a line on what it `does`."""


def experiment(words: str) -> Experiment:
    """The experiment that words such as "picky=0.9" name. Raises `OptionError` for others."""
    name, _, number = words.strip().partition("=")
    if name == SuperBPE.name:
        if number.isascii() and number.isdigit() and len(number) < 10 and 0 < int(number) < _MOST_STEPS:
            return SuperBPE(int(number))
        raise OptionError(f"{quoted(words)} names no step; write superbpe=STEP, such as superbpe={SuperBPE.example}.")
    if name == Picky.name:
        try:
            threshold = exact_fraction(number)
        except ValueError:
            threshold = Fraction(0)
        if 0 < threshold <= 1:
            return Picky(threshold)
        raise OptionError(
            f"{quoted(words)} names no share; write a number above 0 and at most 1, such as picky={Picky.example}."
        )
    known = " and ".join(f"{one.name}={one.number}" for one in EXPERIMENTS)
    raise OptionError(f"There is no experiment {quoted(words)}; there are {known}.")
