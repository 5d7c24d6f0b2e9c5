"""What holds for every test: the same examples in every run, whatever the speed of the machine."""

import gc
import os
import signal
from zlib import crc32

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

from bpe_core.cores import available_cores

settings.register_profile("house", derandomize=True, deadline=None, database=None)
settings.register_profile("no shrinking", settings.get_profile("house"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("house")

# A shell starts what is to run in the background without the signal of Ctrl+C, which tests send themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Left alone, examples depend on which modules are loaded, since Hypothesis mixes the constants of their sources into
# them; and every process of the tests reads all our sources for that, some seconds long, and again after each import.
assert providers._get_local_constants
providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: tests of the app sleep a third of their time, until nothing happens."""
    return available_cores() + 1


def pytest_configure(config: pytest.Config) -> None:
    """With BPESCOPE_TURN=K, which stands for a number, a fifth of the exhaustive tests is run beside the others."""
    if "BPESCOPE_TURN" in os.environ and config.option.markexpr == "not exhaustive":
        config.option.markexpr = ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the exhaustive tests leave the fifth whose turn it is: another for each of five numbers K."""
    turn = os.environ.get("BPESCOPE_TURN")
    if turn is None:
        return
    waiting = [
        item for item in items if "exhaustive" in item.keywords and crc32(item.nodeid.encode()) % 5 != int(turn) % 5
    ]
    config.hook.pytest_deselected(items=waiting)
    items[:] = [item for item in items if item not in set(waiting)]


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays to the end: the modules, the style rules and the tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
