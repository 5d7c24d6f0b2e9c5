"""What holds for every test: the same examples in every run, whatever the speed of the machine."""

import gc

from hypothesis import settings

settings.register_profile("house", derandomize=True, deadline=None, database=None)
settings.load_profile("house")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays to the end: the modules, the style rules and the tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
