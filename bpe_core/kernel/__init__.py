"""The kernel: the inner loops of the engine, compiled from C. The only module that imports `bpe_core.kernel._kernel`.

`available` says whether it is in use. Without it, the implementations in Python give the same results in more time. The
environment variable BPESCOPE_KERNEL turns it off (0) or makes its absence an error (1).

`pip install` compiles it where a C compiler and Python's headers are. In a checkout, `python hatch_build.py` compiles
it in place, in a few seconds; repeat this when a C source has changed, since a kernel that was compiled from other
sources is not used. `.ci/sanitize` compiles it with AddressSanitizer and UndefinedBehaviorSanitizer, and tests it.
"""

import os
import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Final

from bpe_core.errors import KernelError
from bpe_core.kernel.stamp import stamp

SWITCH: Final = "BPESCOPE_KERNEL"  # the environment variable


def _why_not(switch: str) -> str:
    """Why the kernel is not used; "" if it is. KernelError if `switch` is "1" and it cannot be used."""
    if switch == "0":
        return f"turned off by {SWITCH}=0"
    try:
        from bpe_core.kernel._kernel import STAMP as compiled_from
    except ModuleNotFoundError:
        reason = "not compiled"
    except ImportError as error:
        reason = f"not to be loaded ({error})"
    else:
        if not getattr(
            sys, "_is_gil_enabled", lambda: True
        )():  # PYTHON_GIL=0; otherwise importing it switched it on
            reason = "not safe without the GIL"
        elif compiled_from == stamp():
            return ""
        else:
            reason = "compiled from other sources"
    if switch == "1":
        raise KernelError(
            f"{SWITCH}=1 asks for the compiled kernel, but it is {reason}; compile it with `python hatch_build.py`, "
            f"install bpescope where a C compiler is, or unset {SWITCH}."
        )
    return reason


why_not: Final = _why_not(os.environ.get(SWITCH, ""))
"""Why the kernel is not in use, such as "not compiled"; "" if it is."""

available: Final = not why_not  # otherwise the names below are those of `fallback`
description: Final = (
    "with the compiled kernel"
    if available
    else f"in pure Python: the kernel is {why_not}"
)
"""Whether the kernel is in use, in words for a person."""

__all__ = [
    "Encoder",
    "Learner",
    "PieceTable",
    "Scanner",
    "add_pieces",
    "decimals",
    "read_ranks",
]

if TYPE_CHECKING or available:
    from bpe_core.kernel._kernel import (
        Encoder,
        Learner,
        PieceTable,
        Scanner,
        decimals,
        read_ranks,
    )
else:
    from bpe_core.kernel.fallback import (
        Encoder,
        Learner,
        PieceTable,
        Scanner,
        decimals,
        read_ranks,
    )


def add_pieces(table: PieceTable, pieces: Sequence[str], document: int) -> None:
    """Count pieces, parts of the document of this number. UnicodeEncodeError for a lone surrogate."""
    counts = Counter(pieces)  # in C, too: most pieces of a text are there several times
    data, n = list(map(str.encode, counts)), len(counts)
    columns = chain(
        accumulate(map(len, data), initial=0),
        counts.values(),
        repeat(1, n),
        repeat(0, 2 * n),
    )
    table.extend(b"".join(data), array("Q", columns), document)
