"""Play a lesson and check what its steps `expect`, from the screen.

python -m tests.check_lesson my.toml      prints what is not true, and exits with 1 if anything is

The lesson is played twice in terminals of 80 by 24 and 120 by 40 cells: once by doing what it says, once by pressing
only F12.
"""

import asyncio
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from bpe_core.errors import BpeError
from tests.tui.journeys.player import Cells, Player, play
from tui.disk.lesson_fields import SINGLE_TOKEN, LessonStep
from tui.disk.lessons import Lesson, read_lesson
from tui.disk.quantities import quantity
from tui.screen import MainScreen

SIZES: Final = ((80, 24), (120, 40))
_FRAMES: Final = 60
"""How many frames without any change are waited before a claim is false."""


class LessonCheck:
    """Plays lessons one after the other, and collects what is not true."""

    def __init__(self, player: Player, *, obeys: bool) -> None:
        self._player = player
        self._obeys = obeys
        """Whether to do what the steps say, and not press only F12."""
        self.problems: list[str] = []

    @property
    def _main(self) -> MainScreen:
        return self._player._app.main

    async def play(self, lesson: Lesson) -> None:
        """Play a lesson that has begun, up to the last key of its last step."""
        for number, step in enumerate(lesson.steps, 1):
            place = f"{lesson.title} · {number} of "
            await self._player.until(f" {place}", shows_sentence(step["say"]))
            for name, value in step.get("expect", {}).items():
                if not await self._soon(name, value):
                    problem = f"{place}: {name} = {value!r}"
                    self.problems.append(
                        f"{problem}, but it is {await self._shown(name)!r}"
                    )
            await self._go_on(step)

    # What is expected

    async def _soon(self, name: str, value: Any) -> bool:
        """Whether a claim is true, or becomes true while the screen changes."""
        idle = 0
        while idle < _FRAMES:
            if await self._holds(name, value):
                return True
            before = self._player.screen.text
            is_idle = await self._player.frame()
            if is_idle and self._player.screen.text == before:
                idle += 1
        return False

    async def _holds(self, name: str, value: Any) -> bool:
        screen = self._player.screen
        if name == "shows":
            drawn = squeezed(screen.text)
            return all(text in drawn for text in value)
        shown = await self._shown(name)
        if name == "cursor":
            return bool(shown.startswith(value)) if value else shown == ""
        if shown != value:
            return False
        if name in ("tokens", "bytes") and self._main.editor.display:
            return f" {value:,} {name}" in screen
        if name == "step":
            return screen.step[0] == value
        return True

    async def _shown(self, name: str) -> Any:
        """What a claim is about, as the app has it."""
        main = self._main
        match name:
            case "shows":
                return "not on the screen"
            case "pane":
                return main.active if main.query_one(f"#{main.active}").display else ""
            case "side":
                sides = {
                    "training": main.training.why.seen,
                    "audit": main.audit_pane.panel.side,
                    "editor": main.editor.side.seen,
                }
                return sides.get(main.active, "")
            case "cursor":
                area = main.editor.area
                index = area.document.get_index_from_location(area.cursor_location)
                return area.text[index:]
        try:
            return await main.features.quantities.measure(quantity(name))
        except BpeError as error:
            return str(error)

    # What to do

    async def _go_on(self, step: LessonStep) -> None:
        player = self._player
        if "ask" in step:
            await self._answer(step)
            player.press("f12")
            return
        if not self._obeys:
            player.press("f12")
            return
        kind, _, wanted = step.get("wait", "next").partition(" ")
        if kind == "key":
            player.press(wanted)
        elif kind == "edit":
            player.write(step.get("type", "x"))
        elif kind == "step" and "merges" in step:
            player.press("f7")
        elif kind in ("step", "until"):
            player.press("end")
        else:
            player.press("f12")

    async def _answer(self, step: LessonStep) -> None:
        """Type a wrong answer and the right one, or let F12 show it."""
        player = self._player
        await player.until(step["ask"])
        if not self._obeys:
            player.press("f12")
            await player.until("Answer: ", lambda screen: step["ask"] not in screen)
            return
        player.write("7777")
        player.press("enter")
        await player.until("Not yet. ")
        player.press("ctrl+u")
        player.write(await self._right_answer(step))
        player.press("enter")
        await player.until("Right. ", lambda screen: step["ask"] not in screen)

    async def _right_answer(self, step: LessonStep) -> str:
        answer = step["answer"]
        if isinstance(answer, list):
            return str(answer[0])
        if answer == SINGLE_TOKEN:
            return str(step["type"])
        value = await self._main.features.quantities.measure(quantity(answer))
        return str(value).replace("␣", " ")


def squeezed(text: str) -> str:
    """Return a text with one space in place of several, and in place of drawn bars."""
    return re.sub(r"[ \u2580-\u259f]+", " ", text)


def shows_sentence(sentence: str) -> Callable[[Cells], bool]:
    """Whether the rows above the keys show a sentence, on one line or two."""
    words = " ".join(sentence.split())
    return lambda screen: words in " ".join(" ".join(screen.rows[-4:-1]).split())


async def problems_of(
    lessons: Sequence[Lesson], size: tuple[int, int], *, obeys: bool
) -> list[str]:
    """Play lessons once, and return what is not true. F12 leads from one of them to the next."""
    async with play(lesson=lessons[0].name, size=size, full_speed=False) as player:
        check = LessonCheck(player, obeys=obeys)
        for lesson in lessons:
            await check.play(lesson)
        # The app may not end before what the last key began.
        while not await player.frame():
            pass
    way = "doing what it says" if obeys else "pressing only F12"
    return [f"{size[0]}x{size[1]}, {way}: {problem}" for problem in check.problems]


async def check_lesson(path: Path) -> list[str]:
    """Play a lesson twice in each size, and return what is not true."""
    lesson = read_lesson(path)
    problems = []
    for size in SIZES:
        for obeys in (True, False):
            problems += await problems_of([lesson], size, obeys=obeys)
    return problems


def main(path: str) -> int:
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", home)
        for name in ("DATA", "CONFIG", "CACHE"):
            patched.setenv(f"XDG_{name}_HOME", f"{home}/{name}")
        problems = asyncio.run(check_lesson(Path(path).absolute()))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
