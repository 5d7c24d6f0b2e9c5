r"""What someone types to find tokens: a part of their text, an id, or bytes in hex. Pure."""

import re
from dataclasses import dataclass
from typing import Final, Self

_HEX: Final = re.compile(r"(?:0x|\\x)((?:[0-9a-f]{2})+(?:(?: *|\\x)(?:[0-9a-f]{2})+)*)|((?:[0-9a-f]{2} )+[0-9a-f]{2})")
_ID: Final = re.compile(r"#?(\d{1,3}(?:,\d{3})+|\d{1,18})")


@dataclass(frozen=True, slots=True)
class Search:
    r"""All readings of what is typed; a token is found by any of them.

    Text is found in labels, whatever the case, and a space finds the `␣` of a label. A number is an id, too; behind a
    `#` it is nothing else. `0x`, `\x`, or pairs of digits with spaces between begin bytes in hex.
    """

    text: str = ""
    """Part of a label, `casefold`ed."""
    id: int | None = None
    data: bytes = b""

    @classmethod
    def read(cls, typed: str) -> Self:
        r"""What is meant.

        >>> Search.read(" The"), Search.read("#1,024")
        (Search(text='␣the', id=None, data=b''), Search(text='', id=1024, data=b''))
        >>> Search.read("0xF09F"), Search.read("e2 80")
        (Search(text='0xf09f', id=None, data=b'\xf0\x9f'), Search(text='e2␣80', id=None, data=b'\xe2\x80'))
        """
        folded = typed.casefold()
        stripped = folded.strip()
        number, digits = _ID.fullmatch(stripped), _HEX.fullmatch(stripped)
        return cls(
            "" if number and stripped.startswith("#") else folded.replace(" ", "␣"),
            int(number[1].replace(",", "")) if number else None,
            bytes.fromhex((digits[1] or digits[2]).replace("\\x", "")) if digits else b"",
        )

    def match(self, label: str, token: bytes, id: int) -> int:
        """How well a token fits, given its `casefold`ed label: 3 by its id, 2 wholly, 1 in part, 0 not.

        >>> [Search.read("low").match(label, b"", 300) for label in ("low", "␣low", "slow", "high")]
        [2, 2, 1, 0]
        """
        if id == self.id:
            return 3
        if self.text and self.text in label:
            return 2 if label in (self.text, "␣" + self.text) else 1
        if self.data and self.data in token:
            return 2 if token == self.data else 1
        return 0
