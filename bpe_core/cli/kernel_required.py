"""Whether the compiled kernel is there if it was required: looked at before anything that imports it."""

import os


def why_refused() -> str:
    """The sentence that says why nothing can begin; "" if nothing is wrong."""
    if os.environ.get("BPESCOPE_KERNEL") != "1":
        return ""
    from bpe_core.errors import KernelError

    try:
        from bpe_core import kernel
    except KernelError as error:
        return str(error)
    return "" if kernel.available else kernel.why_not
