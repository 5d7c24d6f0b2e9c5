"""What the mouse drags costs what has changed of the screen, and the screen looks as if all of it had been drawn."""

import asyncio
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from scope import Opened
from textual import events
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.widget import Widget

from tui.terminal.selective import SelectiveCompositor
from tui.widgets.curve import Curve
from tui.widgets.step_line import StepLine


def written(compositor: Compositor, update: object) -> str:
    """The bytes of a partial update, without the places at which nothing is written."""
    assert isinstance(update, ChopsUpdate)
    segments = update.render_segments(
        Console(width=compositor.size.width, color_system="truecolor")
    )
    return re.sub(r"\x1b\[\d+;\d+H(?=\x1b\[\d+;\d+H|\n|\Z)", "", segments)


@pytest.mark.slow
async def test_dragging_the_line_of_steps(
    opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as scope:
        screen, compositor = scope.screen, scope.screen._compositor
        line = screen.query_one(StepLine)
        (left, y), (right, _) = line.region.offset, line.region.bottom_right

        # A part of the screen drawn alone is the same as where all is asked that Textual would ask.
        assert isinstance(compositor, SelectiveCompositor)
        rng = random.Random(1)
        for _ in range(20):
            regions = {
                Region(
                    rng.randrange(90),
                    rng.randrange(31),
                    rng.randrange(1, 30),
                    rng.randrange(1, 9),
                )
                for _ in range(rng.randrange(1, 4))
            }
            compositor._dirty_regions = set(regions)
            selective = written(compositor, compositor.render_partial_update())
            compositor._dirty_regions = set(regions)
            assert selective == written(
                compositor, Compositor.render_partial_update(compositor)
            )

        def mouse(kind: type[events.MouseEvent], x: int) -> events.MouseEvent:
            return kind(None, x, y, 0, 0, 1, False, False, False)

        drawn = Counter[str]()
        for whole in ("render_full_update", "reflow"):
            draw = getattr(Compositor, whole)

            def counted(
                *given: object,
                _draw: object = draw,
                _whole: str = whole,
                **named: object,
            ) -> object:
                drawn[_whole] += 1
                return _draw(*given, **named)

            monkeypatch.setattr(Compositor, whole, counted)
        lines = Widget.render_lines

        def counting(widget: Widget, crop: Region) -> object:
            drawn[type(widget).__name__] += 1
            return lines(widget, crop)

        monkeypatch.setattr(Widget, "render_lines", counting)
        places = [*range(left + 30, right - 30, 5), *range(right - 31, left + 30, -11)]
        await scope.batch(mouse(events.MouseDown, places[0]))
        drawn.clear()
        seen = list[int]()
        screen.watch(screen, "step", lambda step: seen.append(step), init=False)
        for x in places:
            scope.app.post_message(mouse(events.MouseMove, x))
            await scope.pilot.pause()
        assert len(set(seen)) > 8, "it goes along"
        assert not drawn["render_full_update"], "nothing is drawn as a whole"
        assert drawn["reflow"] < len(places) / 3, "nor laid out with each step"
        assert drawn["StepLine"] and not drawn["CorpusTree"], (
            "nor what a step does not change"
        )
        assert not drawn["EditorPane"] and not drawn["MainScreen"], (
            "nor what is behind it and not seen"
        )
        training = screen.training
        curve, log = training.query_one(Curve), training.log_of_merges
        await scope.until(
            lambda: curve.step == log.step == screen.step, "log and curve come after"
        )

        # No place is gone to before the one before is drawn, and then only the last that was told of.
        told = list[int]()
        screen.watch(log, "step", lambda step: told.append(step), init=False)
        seen.clear()
        drawn.clear()
        for x in range(left + 30, right - 30):
            scope.app.post_message(mouse(events.MouseMove, x))
            await asyncio.sleep(0)
        await scope.until(
            lambda: (
                seen
                and seen[-1] == screen.step == log.step
                and screen.features.shown.is_drawn
            ),
            "rest",
        )
        assert len(seen) <= drawn["StepLine"] + 1 and len(told) <= len(seen)
        await scope.batch(
            mouse(events.MouseMove, places[0]), mouse(events.MouseMove, places[5])
        )
        before = screen.features.shown.requested_step
        await screen.features.shown.travel(1)
        assert screen.step == before + 1, "a key goes on from where the mouse is"
        await scope.batch(mouse(events.MouseUp, places[0]))
