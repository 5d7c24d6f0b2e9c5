"""Work in portions rests while a key is on its way to the screen."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest
from textual.worker import Worker

from tui.terminal import keys_first, sliced_work
from tui.terminal.keys_first import KEY_SECONDS, key_pressed, let_keys_pass, seconds_of_rest
from tui.terminal.sliced_work import SlicedWork, Steps


@pytest.fixture(autouse=True)
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only resting moves, at a moment long after the last key; how long each rest was."""
    now, rests = [1e9], []

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        now[0] += seconds

    for module in (keys_first, sliced_work):
        monkeypatch.setattr(module.asyncio, "sleep", rest)
    monkeypatch.setattr(keys_first, "monotonic", lambda: now[0])
    monkeypatch.setattr(keys_first, "_drawn_by", 0.0)
    return rests


def test_a_key_has_its_time(rests: list[float]) -> None:
    asyncio.run(let_keys_pass())
    key_pressed()
    assert seconds_of_rest() == pytest.approx(KEY_SECONDS)
    asyncio.run(let_keys_pass())
    assert seconds_of_rest() == 0
    asyncio.run(let_keys_pass())
    assert rests == [0, pytest.approx(KEY_SECONDS), 0]


def test_slices_of_work_wait_for_it(rests: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SlicedWork, "AT_ONCE", 0)
    began: list[Callable[[], Coroutine[None, None, None]]] = []
    done: list[str] = []

    class Owner:
        def run_worker(self, work: Callable[[], Coroutine[None, None, None]]) -> Worker[None]:
            began.append(work)
            return None  # nobody cancels it here

    def steps() -> Steps[str]:
        yield
        yield
        return "done"

    monkeypatch.setattr(sliced_work, "perf_counter", iter(range(100)).__next__)
    SlicedWork[str](Owner()).run(steps(), done.append)
    key_pressed()
    monkeypatch.setattr(SlicedWork, "AT_ONCE", 2)
    asyncio.run(began[0]())
    assert (
        done == ["done"]
        and rests[0] == pytest.approx(KEY_SECONDS)
        and rests[1:] == [SlicedWork.REST] * (len(rests) - 1)
    )
