"""What the curve of a training can show: each quantity's values, step by step, and how a value is told. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p
from typing import TYPE_CHECKING, Final

from bpe_core.plurals import counted

if TYPE_CHECKING:
    from bpe_core.metrics.training_curve import CurvePoint


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number for each step of a training."""

    told: Callable[[float], str]
    """A value for a person, with its unit."""
    label: Callable[[float], str]
    """A value at the edge of the plot."""
    is_logarithmic: bool = False
    """Whether it is drawn on a logarithmic scale."""
    of_point: "Callable[[CurvePoint], float | None] | None" = None
    """The value of a point of the whole curve; None where lengths are enough."""


QUANTITIES: Final[Mapping[str, Quantity]] = {
    "tokens": Quantity(lambda n: counted(int(n), "token"), lambda n: f"{n:,.0f}"),
    "ratio": Quantity(lambda n: f"{n:.2f} bytes/token", lambda n: f"{n:.2f}"),
    "saved": Quantity(lambda n: f"{n:,.0f} saved", lambda n: f"{n:,.0f}", is_logarithmic=True),
    "use": Quantity(lambda n: f"{n:.1%} used", lambda n: f"{n:.0%}", of_point=lambda point: point.utilization),
    "efficiency": Quantity(
        lambda n: f"Rényi {n:.3f}", lambda n: f"{n:.2f}", of_point=lambda point: point.renyi_efficiency
    ),
}
"""In the order in which they take turns."""


def values(name: str, lengths: Sequence[int], n_bytes: int, points: Sequence["CurvePoint"]) -> list[float]:
    """A value for each step, that before the first merge first; empty where the quantity is not known.

    `lengths` are those of the corpus in tokens, `n_bytes` its size, 0 if that is not known.

    >>> values("saved", [11, 9, 7], 11, []), values("ratio", [11, 5], 11, [])
    ([2.0, 2.0, 2.0], [1.0, 2.2])
    """
    of_point = QUANTITIES[name].of_point
    if of_point is not None:
        known = [value for value in map(of_point, points) if value is not None]
        return known if len(known) == len(lengths) else []
    if name == "ratio":
        return [n_bytes / length for length in lengths] if n_bytes and all(lengths) else []
    if name == "saved":
        saved = [float(before - after) for before, after in pairwise(lengths)]
        return [*saved[:1], *saved]
    return list(map(float, lengths))


def depth(name: str, value: float, least: float, most: float) -> float:
    """How far down from the greatest value to the least a value stands, 0 to 1."""
    if QUANTITIES[name].is_logarithmic:
        value, least, most = (log1p(max(0.0, number)) for number in (value, least, most))
    return (most - value) / (most - least) if most > least else 0.0
