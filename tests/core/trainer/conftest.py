"""All that is said of training is said of the kernel's learner and of the one in Python."""

import pytest

from bpe_core import kernel
from bpe_core.kernel import fallback


@pytest.fixture(params=["kernel", "python"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with the kernel's learner, where it is there, and with the other one."""
    if request.param == "python":
        monkeypatch.setattr(kernel, "Learner", fallback.Learner)
    elif not kernel.available:
        pytest.skip(f"the kernel is {kernel.why_not}")
