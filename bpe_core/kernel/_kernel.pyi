"""What the C sources of this folder define, for type checkers and readers."""

from collections.abc import Callable

from typing_extensions import Buffer

STAMP: int
"""`stamp()` of the sources from which this was compiled."""

class Scanner:
    """Splits texts in UTF-8 into pieces; safe to use from several threads at once."""

    def __init__(
        self, ranges_of: Callable[[int], Buffer], contractions: int, max_digits: int, lines: bool, end_first: bool
    ) -> None:
        """For the numbers see scan.h, for the sets that are told plane by plane see `grammars`."""

    def ends(self, text: Buffer, /) -> bytes:
        """Where each piece ends, in bytes from the beginning of `text`: an unsigned 64-bit number for each."""
