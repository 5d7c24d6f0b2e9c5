"""Lets one allocation after another fail in everything that the kernel can be asked for.

To be run in a process of its own: the failures hit whatever thread allocates next.
"""

import _testcapi
import sys
import tracemalloc

from kernel_calls import kernel_calls

N_ALLOCATIONS = 50
"""Of each call, of which one at a time fails."""

FAILED = object()


def failing(nth, call, arguments):
    """What comes of a call where the nth allocation fails; FAILED if it says so with a MemoryError."""
    _testcapi.set_nomemory(nth, nth + 1)
    try:
        return call(*arguments)
    except MemoryError:
        return FAILED
    finally:
        _testcapi.remove_mem_hooks()


def n_failures(new_call, expected):
    """How many calls fail. What does not is right all the same, and what does is right the next time."""
    n_failed = 0
    for nth in range(N_ALLOCATIONS):
        call, arguments = new_call()
        found = failing(nth, call, arguments)
        if found is FAILED:
            n_failed += 1
            found = call(*arguments)
        assert type(found) is type(expected), nth
        assert type(expected).__module__ != "builtins" or found == expected, nth
    return n_failed


def main():
    """Try everything; of its first time something may stay that is no leak."""
    for name, new_call in kernel_calls(1000).items():
        grown = []
        call, arguments = new_call()
        expected = call(*arguments)
        tracemalloc.start()
        for _ in range(2):
            before = tracemalloc.get_traced_memory()[0]
            n_failed = n_failures(new_call, expected)
            grown.append(tracemalloc.get_traced_memory()[0] - before)
        tracemalloc.stop()
        print(f"{name}: {n_failed} failures, {grown} bytes", file=sys.stderr)
        assert n_failed
        assert (
            grown[1] < 20_000
        )  # the module regex keeps some bytes of each of its own failures


if __name__ == "__main__":
    main()
