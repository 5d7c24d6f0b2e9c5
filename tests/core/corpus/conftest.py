"""What is said of counting is said of the kernel and of the Python beside it."""

from collections.abc import Iterator

import pytest

from bpe_core import kernel
from bpe_core.kernel import fallback, grammars
from bpe_core.patterns import splitter


@pytest.fixture(params=["kernel", "python"])
def engine(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Run a test with the kernel, where it is there, and without it, in helping processes too."""
    grammars.scanner.cache_clear()
    splitter.cache_clear()
    if request.param == "python":
        for name in ("Learner", "PieceTable", "Scanner"):
            monkeypatch.setattr(kernel, name, getattr(fallback, name))
        monkeypatch.setenv(kernel.SWITCH, "0")
    elif not kernel.available:
        pytest.skip(f"the kernel is {kernel.why_not}")
    yield
    grammars.scanner.cache_clear()
    splitter.cache_clear()
