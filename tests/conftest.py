"""What holds for every test: the same examples in every run, and nothing of the process left changed behind it."""

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

from bpe_core.process import available_cores

settings.register_profile(
    "house", derandomize=True, deadline=None, database=None, max_examples=50
)
settings.register_profile(
    "no shrinking",
    settings.get_profile("house"),
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("house")

# A shell starts what is to run in the background without the signal of Ctrl+C, which tests send themselves; nohup
# without that of a terminal that is closed, which the app listens to and then leaves as it is usually.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Left alone, examples depend on which modules are loaded, since Hypothesis mixes the constants of their sources into
# them; and every process of the tests reads all our sources for that, some seconds long, and again after each import.
assert providers._get_local_constants
providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers more than there are cores: tests of the app wait half of their time, until nothing happens."""
    return available_cores() + 2


def _process_state() -> dict[str, object]:
    """What a test must leave as it was: the next one may be any."""
    mask = os.umask(0)
    os.umask(mask)
    variables = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTEST_CURRENT_TEST"
    }
    handlers = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    state: dict[str, object] = {
        "cwd": os.getcwd(),
        "umask": mask,
        "sys.path": list(sys.path),
        **handlers,
    }
    return state | {
        "garbage collection": gc.isenabled(),
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        **variables,
    }


@pytest.fixture(autouse=True)
def nothing_left_changed() -> Iterator[None]:
    """Fail a test that leaves priority, signals, environment, folder, umask, sys.path or garbage collection changed."""
    before = _process_state()
    yield
    after = _process_state()
    changed = {
        name for name in before | after if before.get(name, "") != after.get(name, "")
    }
    if changed:
        pytest.fail(f"left changed: {', '.join(sorted(map(str, changed)))}")


# Told to keep no bytecode, each of the processes would rewrite the assertions of all tests and compile all modules.
sys.dont_write_bytecode = False

gc.disable()  # a quarter of the time of importing all tests would go to looking for garbage in them


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector pass over what stays to the end: the modules, the style rules and the tests."""
    found = yield
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()
    return found
