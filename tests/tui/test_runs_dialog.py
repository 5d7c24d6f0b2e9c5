"""The list of trainings is as high as its content, and draws the run under the cursor and the marked one."""

from pathlib import Path

import pytest
from scope import Alone, drawn
from textual.pilot import Pilot

from bpe_core import train
from bpe_core.runs import TrainingRun
from tui.dialogs.runs import Runs, _RunCurves

TEXT = "the theme of the other thesis, the thing that they thought through\n" * 20


def runs(*sizes: int) -> list[TrainingRun]:
    return [
        TrainingRun(Path(f"run-{size}.json"), train(TEXT, vocab_size=size))
        for size in sizes
    ]


async def plotted(pilot: Pilot[None], dialog: Runs, n_curves: int) -> list[str]:
    """The lines of the plot, once it has this many curves."""
    plot = dialog.query_one(_RunCurves)
    while len(plot.curves) != n_curves:
        await pilot.pause(0.01)
    await pilot.pause()
    return drawn(plot)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_all_runs_are_drawn_and_nothing_is_cut(size: tuple[int, int]) -> None:
    app = Alone()
    async with app.run_test(size=size) as pilot:
        dialog = Runs(runs(300, 280, 270))
        await app.push_screen(dialog)
        lines = await plotted(pilot, dialog, 1)
        assert lines[0] == "bytes/token" and lines[-1].endswith(" steps")
        assert lines[1].startswith(" 4.") and lines[-2].startswith(" 1.00 ")
        await pilot.press("down")
        lines = await plotted(pilot, dialog, 2)
        assert lines[0] == "bytes/token   this one   ●"
        braille = {sign for line in lines for sign in line if ord(sign) > 0x2800}
        assert len(braille) > 3
        box = dialog.query_one(".runs")
        assert box.outer_size.height <= size[1]
        assert box.virtual_size.height <= box.size.height, "the keys are in sight"


async def test_a_single_run_leaves_no_void() -> None:
    app = Alone()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = Runs(runs(300))
        await app.push_screen(dialog)
        await plotted(pilot, dialog, 1)
        assert dialog.query_one(".runs").outer_size.height <= 24
