"""The kernel: the inner loops of the engine, compiled from C.

This is the only module that imports `bpe_core.kernel._kernel`. `available` is True if the kernel is
in use. Without the kernel, implementations in Python give the same results but take longer. The environment
variable BPESCOPE_KERNEL turns the kernel off (0) or makes its absence an error (1).

`pip install` compiles the kernel if it finds a C compiler and Python's headers. In a checkout,
`python hatch_build.py` compiles it in place, in a few seconds. Repeat this after changing a C
source: a kernel that was compiled from other sources is not used. `.ci/sanitize` compiles it with
AddressSanitizer and UndefinedBehaviorSanitizer, and tests it. kernel.h lists the C sources.
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

SWITCH: Final = "BPESCOPE_KERNEL"
"""The environment variable that turns the kernel off or makes its absence an error."""


def _why_not(switch: str) -> str:
    """Return why the kernel is not used; "" if it is used.

    Raises KernelError if `switch` is "1" and the kernel cannot be used.
    """
    if switch == "0":
        return f"turned off by {SWITCH}=0"
    problem = _problem()
    if problem and switch == "1":
        raise KernelError(
            f"{SWITCH}=1 asks for the compiled kernel, but it is {problem}; "
            "compile it with `python hatch_build.py`, "
            f"install a C compiler and reinstall bpescope, or unset {SWITCH}."
        )
    return problem


def _problem() -> str:
    """Return why the kernel cannot be used; "" if it can."""
    try:
        from bpe_core.kernel._kernel import STAMP as compiled_from
    except ModuleNotFoundError:
        return "not compiled"
    except ImportError as error:
        return f"not loadable ({error})"
    is_gil_enabled = getattr(sys, "_is_gil_enabled", None)
    # A free-threaded Python turns the GIL on when it imports the kernel, except with PYTHON_GIL=0.
    if is_gil_enabled and not is_gil_enabled():
        return "not safe without the GIL"
    if compiled_from != stamp():
        return "compiled from other sources"
    return ""


why_not: Final = _why_not(os.environ.get(SWITCH, ""))
"""Why the kernel is not in use, such as "not compiled"; "" if it is."""

available: Final = not why_not
"""Whether the kernel is in use. If not, `fallback` defines the names below."""

description: Final = (
    "with the compiled kernel"
    if available
    else f"in pure Python: the kernel is {why_not}"
)
"""A phrase for users: whether the kernel is in use, and if not, why."""

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
    """Count pieces of the document with this number. Raises UnicodeEncodeError for a lone surrogate."""
    # `Counter` is fast (it is written in C) and leaves fewer pieces, since most occur several times.
    counts = Counter(pieces)
    data = list(map(str.encode, counts))
    n_pieces = len(data)
    columns = chain(
        accumulate(map(len, data), initial=0),
        counts.values(),
        repeat(1, n_pieces),  # number of documents
        repeat(0, 2 * n_pieces),  # first and last document, relative to `document`
    )
    table.extend(b"".join(data), array("Q", columns), document)
