"""What is said of counting is said of the kernel and of the Python beside it."""

import pytest

from bpe_core import kernel


@pytest.fixture(params=["kernel", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with the kernel, where it is there, and without it, in helping processes too."""
    if request.param == "python":
        monkeypatch.setattr(kernel, "available", False)
        monkeypatch.setenv(kernel.SWITCH, "0")
    elif not kernel.available:
        pytest.skip(f"the kernel is {kernel.why_not}")
