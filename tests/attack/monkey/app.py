"""A random player of the app within this process: deeds as events, and what must hold after each of them."""

import asyncio
import os
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from textual import events

import bpe_core
from bpe_core.errors import BpeError
from bpe_core.live.live_text import LiveText
from tests.attack.monkey.deeds import FILES, PASTES, Deed
from tests.tui.scope import events_of_click, key
from tui.app import BpeScope
from tui.disk import config
from tui.screen import MainScreen
from tui.state import steps_known
from tui.widgets.merge_log import MergeLog
from tui.widgets.screen_lines import TitleLine
from tui.widgets.step_line import StepLine

_PATIENCE: Final = 60.0
"""Seconds within which a training that was told to stop has stopped, and a text has all of its tokens."""
_ROUNDS: Final = 3
_READ_AGAIN: Final = 20_000
"""Characters of a text up to which it is looked whether it has really no tokens, where that is said."""


@dataclass
class Played:
    """What came of some deeds."""

    done: int = 0
    """How many were done."""
    wrong: str = ""
    """What did not hold, or the traceback of what ended the app; empty if all went well."""


def furnish_home(home: Path) -> None:
    """Put into a home folder what the player finds there: texts, and tokenizers of several kinds on the shelf."""
    for name, text in FILES.items():
        (home / name).write_text(text, "utf-8", newline="")
    shelf = config.tokenizers_folder()
    text = FILES["book.txt"] + FILES["words.txt"]
    bpe_core.save(
        bpe_core.train(text, vocab_size=300, special_tokens=("<|endoftext|>",)),
        shelf / "small.json",
    )
    bpe_core.save(
        bpe_core.train(text, vocab_size=290, pattern="words"), shelf / "words.json"
    )
    bpe_core.save(
        bpe_core.train(text, vocab_size=700, pattern="none"), shelf / "none.json"
    )
    changed = shelf / "changes.json"  # a text before it is split
    bpe_core.save(
        bpe_core.train(text, vocab_size=320, pattern="gpt2"),
        changed,
        format="huggingface",
    )
    written = changed.read_text("utf-8").replace(
        '"normalizer": null', '"normalizer": {"type": "NFKC"}', 1
    )
    assert "NFKC" in written
    changed.write_text(written, "utf-8")
    config.save_text("Type here. " * 3)


async def play(deeds: Sequence[Deed]) -> Played:
    """Do `deeds` in an app, opened again where one of them left it; stops at the first thing that is wrong."""
    played = Played()
    try:
        while played.done < len(deeds):
            await _session(deeds, played)
    except (Exception, asyncio.CancelledError) as error:
        played.wrong = "".join(traceback.format_exception(error))
    return played


async def _session(deeds: Sequence[Deed], played: Played) -> None:
    app = BpeScope(full_speed=True)
    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: failures.append(context)
    )

    async with app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
        await app.main.loaded.wait()
        player = Player(app)
        end = time.monotonic() + _PATIENCE
        while app.main.kept and app.main.tokenizer is None and time.monotonic() < end:
            await asyncio.sleep(
                0.01
            )  # until then there are no tokens that could be wrong
        await player.settle()
        while played.done < len(deeds) and player.goes_on:
            deed = deeds[played.done]
            played.done += 1
            await player.do(deed)
            await player.settle()
            if player.goes_on:
                player.check()
            assert not failures, f"a task failed: {failures}"
        if player.goes_on:
            await player.come_to_an_end()
            player.check()
        text = "\n".join(
            app.main.text_keeper.lines
        )  # in a lesson, the editor has another
        del pilot
    assert config.load_text() == text, "the text that is kept is another"


class Player:
    """Does deeds in a running app, and looks whether it tells the truth."""

    def __init__(self, app: BpeScope) -> None:
        self._app = app
        self._verified: tuple[object, ...] = ()
        """The text whose ids were last looked at, and the tokenizers of its lanes."""

    @property
    def goes_on(self) -> bool:
        """Whether the app still runs: some deeds leave it, and some may end it."""
        return (
            self._app._exception is None
            and self._app.is_running
            and bool(self._app.screen_stack)
        )

    async def settle(self) -> None:
        """Wait until nothing is on its way, and all is drawn."""
        end, quiet = time.monotonic() + 20, 0
        while quiet < _ROUNDS and self.goes_on and time.monotonic() < end:
            await asyncio.sleep(0)
            still = not self._app.type_ahead.pending and not any(
                pump.message_queue_size
                for pump in (
                    self._app,
                    *self._app.screen_stack,
                    *self._app.screen.walk_children(),
                )
            )
            quiet = quiet + 1 if still else 0
            if quiet == 1:
                self._app.screen._on_timer_update()  # what is due at the next frame

    # The deeds

    async def do(self, deed: Deed) -> None:
        """Let a deed happen, all of its events at once."""
        name, *values = deed
        match name:
            case "wait":
                await asyncio.sleep(float(values[0]))
            case "resize":
                size = events.Size(int(values[0]), int(values[1]))
                self._app.post_message(events.Resize(size, size))
            case "step":
                line = self._app.main.query_one(StepLine)
                step = line.n_steps * int(values[0]) // 1000
                main = self._app.main
                main.run_in_background(main.features.shown.travel_to(step))
            case _:
                for event in self._events(str(name), values):
                    self._app.post_message(event)

    def _events(
        self, name: str, values: Sequence[str | int | float]
    ) -> Iterator[events.Event]:
        match name:
            case "keys":
                yield from map(key, map(str, values))
            case "paste":
                yield events.Paste(PASTES[str(values[0])](int(values[1])))
            case "click":
                yield from events_of_click(*self._place(*values[:2])) * int(values[2])
            case "click on":
                kind, which, times = str(values[0]), int(values[1]), int(values[2])
                seen = [
                    widget for widget in self._app.screen.query(kind) if widget.region
                ]
                if seen:
                    place = seen[which % len(seen)].region
                    x, y = (
                        place.x + which * 7 % place.width,
                        place.y + which * 3 % place.height,
                    )
                    yield from events_of_click(x, y) * times
            case "drag":
                (x, y), (to_x, to_y) = (
                    self._place(*values[:2]),
                    self._place(*values[2:]),
                )
                yield events_of_click(x, y)[0]
                for part in (1, 2):
                    yield self._move(
                        x + (to_x - x) * part // 2, y + (to_y - y) * part // 2
                    )
                yield events_of_click(to_x, to_y)[1]
            case "move":
                yield self._move(*self._place(*values))
            case "scroll":
                turns = int(values[2])
                kind = events.MouseScrollUp if turns < 0 else events.MouseScrollDown
                for _ in range(abs(turns)):
                    yield kind(
                        None, *self._place(*values[:2]), 0, 0, 0, False, False, False
                    )
            case _:
                raise ValueError(f"no deed is called {name}")

    def _place(self, x: float | str, y: float | str) -> tuple[int, int]:
        size = self._app.size
        return int(x) * size.width // 1000, int(y) * size.height // 1000

    def _move(self, x: int, y: int) -> events.Event:
        return events.MouseMove(None, x, y, 0, 0, 0, False, False, False)

    async def come_to_an_end(self) -> None:
        """Leave what is open, stop what runs, wait until all is known."""
        screen = self._app.main
        for _ in range(4):
            if self._app.screen is not screen:
                self._app.post_message(key("escape"))
                await self.settle()
        assert self._app.screen is screen, f"{self._app.screen} does not close"
        end = time.monotonic() + _PATIENCE
        while self.goes_on and (
            screen.run.busy or self._works_beside() or not self._all_known()
        ):
            assert time.monotonic() < end, (
                f"{screen.run} goes on, or tokens are not known: {screen.editor.area.edited.live}"
            )
            features = screen.features
            if screen.run.busy:
                screen.run_in_background(features.training.stop())
            elif screen.audit.running:
                features.audit.audit()
            elif screen.comparison.running:
                features.comparison.compare()
            await asyncio.sleep(0.02)
        await self.settle()

    def _works_beside(self) -> bool:
        return self._app.main.audit.running or self._app.main.comparison.running

    def _all_known(self) -> bool:
        area = self._app.main.editor.area
        return (
            area.tokenizer is None
            or bool(area.edited.why_none)
            or area.edited.n_tokens is not None
        )

    # What must hold

    def check(self) -> None:
        """Raises AssertionError with what does not hold."""
        screen = self._app.main
        if not screen.loaded.is_set():
            return
        self._check_steps(screen)
        self._check_tokens(screen)
        self._check_title(screen)

    def _check_steps(self, screen: MainScreen) -> None:
        tokenizer = screen.tokenizer
        if tokenizer is None:
            return
        line, log = screen.query_one(StepLine), screen.query_one(MergeLog)
        assert 0 <= screen.step <= line.n_steps, f"step {screen.step} of {line.n_steps}"
        assert line.step == screen.step, "the step line tells of another step"
        known = steps_known(
            tokenizer
        )  # the line also counts those that are learned, and not yet shown
        assert len(log.merges) == known, (
            f"the log has {len(log.merges)} merges, the tokenizer {known}"
        )
        if tokenizer.vocabulary.knows_merges:
            assert (
                screen.in_force is not None and screen.in_force.step == screen.step
            ), "another step is in force"

    def _check_tokens(self, screen: MainScreen) -> None:
        area = screen.editor.area
        live, text = area.edited.live, area.text
        if (
            area.edited.why_none
            and len(text) < _READ_AGAIN
            and area.tokenizer is not None
        ):
            with suppress(BpeError):
                LiveText(area.tokenizer, text)
                raise AssertionError(
                    f"it says of a text that has tokens: {area.edited.why_none}"
                )
        if live is None or area.edited.n_tokens is None:
            return
        assert live.text == text, "the tokens are those of another text"
        assert area.tokenizer is not None and live.tokenizer is area.tokenizer, (
            "the tokens are another tokenizer's"
        )
        assert (
            screen.in_force is not None
            and live.tokenizer.n_tokens == screen.in_force.n_tokens
        )
        known = [
            lane.live
            for lane in area.edited.lanes
            if lane.live is not None and lane.n_tokens is not None
        ]
        told = text, *(lane.tokenizer for lane in known)
        if self._verified != told:
            for lane in known:
                assert list(lane.ids) == lane.tokenizer.encode_ordinary(text), (
                    "other ids than encode gives"
                )
            self._verified = told

    def _check_title(self, screen: MainScreen) -> None:
        title = screen.query_one(TitleLine)
        if screen.tokenizer is None or title.size.width < 110 or not title.region:
            return
        said = title.render().plain
        if "loading " in said or "reading " in said:
            return  # a file takes the place of these facts while it is read
        of_run = (
            ""
            if screen.run.phase == "showing"
            else "%"
            if screen.run.busy
            else "not saved"
        )
        name = Path(screen.path).stem if screen.path else of_run
        for fact in (
            bpe_core.visible.visible(name)[:10],
            f"{screen.tokenizer.n_tokens:,} tokens",
        ):
            assert fact in said, f"{fact} is not in the title {said}"


@contextmanager
def own_home(folder: Path) -> Iterator[Path]:
    """A home folder for the player, with all that it finds there; the current one too."""
    home = folder / "home"
    home.mkdir(parents=True)
    names = {
        "XDG_DATA_HOME": "data",
        "XDG_CONFIG_HOME": "config",
        "XDG_CACHE_HOME": "cache",
    }
    changed = {
        "HOME": str(home),
        **{name: str(folder / part) for name, part in names.items()},
    }
    changed |= {
        "TIKTOKEN_CACHE_DIR": str(folder / "tiktoken"),
        "HF_HOME": str(folder / "hub"),
    }
    changed["PYTHONPATH"] = str(Path(bpe_core.__file__).parents[1])
    before, here = dict(os.environ), Path.cwd()
    os.environ.update(changed)
    os.chdir(home)
    try:
        furnish_home(home)
        yield home
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
