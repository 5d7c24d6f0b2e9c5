"""The mark and the color of each severity, and how what was measured of a token is written."""

from typing import Final

from bpe_core.auditing.findings import Severity

MARKS: Final = {Severity.PROBLEM: "▲", Severity.WARNING: "●", Severity.NOTE: "○"}
INKS: Final = {Severity.PROBLEM: "warning", Severity.WARNING: "accent", Severity.NOTE: "muted"}


def number(measure: str, value: float) -> str:
    """What was measured, as it is shown.

    >>> number("count", 12345), number("largest_share", 0.625), number("indicator", 0.123456)
    ('12,345', '62 %', '0.123')
    """
    if measure == "largest_share":
        return f"{100 * value:.0f} %"
    return f"{value:,.0f}" if measure != "indicator" else f"{value:.3g}"
