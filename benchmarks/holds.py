"""`python -m benchmarks.holds [TOKENIZER]`: how long the event loop is held by what users do, in CPU time.

Each deed is done several times, with a tokenizer of many merges on the screen; a row tells the longest single hold of
the loop after it, as median of the rounds and at worst, and what held it then.
"""

import asyncio
import shutil
import statistics
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "tui"))

from loop_watch import LoopWatch
from monkey_app import own_home
from scope import Ear, Scope, eventually
from textual import events
from textual.geometry import Size
from textual.message import Message

from bpe_core import save, train
from bpe_core.content.samples import editor_greeting
from tui.app import BpeScope
from tui.disk import config, sources
from tui.state.training import Corpus

_TEXT: Final = "the theme of the other thesis, the thing that they thought through\n"


class Table:
    """Measures deeds and prints a row for each."""

    def __init__(self, scope: Scope, rounds: int) -> None:
        self._scope = scope
        self._rounds = rounds

    async def row(self, name: str, *deeds: Callable[[], Awaitable[object]]) -> None:
        """Do these one after the other, as often as there are rounds; each time the longest hold counts."""
        watch, longest = self._scope.watch, []
        for _ in range(self._rounds):
            for deed in deeds:
                watch.holds.clear()
                await deed()
                longest.append(max(watch.holds, default=None))
        seconds = [hold.seconds if hold else 0.0 for hold in longest]
        worst = max(hold for hold in longest if hold) if any(longest) else ""
        print(f"{1000 * statistics.median(seconds):6.0f} {1000 * max(seconds):6.0f}  {name:32} {worst}", flush=True)


async def _play(tokenizer: Path, book: Path, rounds: int) -> None:
    ear, watch = Ear(), LoopWatch(least=0.0)
    app = BpeScope((), (str(tokenizer),))

    def hear(message: Message) -> None:
        ear(message)
        watch.heard(message)

    async with app.run_test(size=(120, 40), message_hook=hear) as pilot:
        scope = Scope(app, pilot, ear, watch)
        await scope.screen.loaded.wait()
        await scope.until_tokenizer()
        await eventually(lambda: scope.screen.step and scope.screen.path == str(tokenizer), "its merges are known")
        await scope.settle()
        scope.area.load(editor_greeting())
        table = Table(scope, rounds)

        def press(*keys: str) -> Callable[[], Awaitable[None]]:
            return lambda: scope.press(*keys)

        async def paste(text: str) -> None:
            scope.area.load("")
            scope.area.focus()
            await scope.settle()
            watch.holds.clear()
            await scope.batch(events.Paste(text))

        def resize(width: int, height: int) -> Callable[[], Awaitable[None]]:
            async def resized() -> None:
                app._driver._size = (width, height)
                size = Size(width, height)
                await scope.batch(events.Resize(size, size))

            return resized

        print("median  worst  deed (ms)")
        with watch.watching():
            await table.row("panes F2 F3 F4 F5", *(press(f"f{number}") for number in (2, 3, 4, 5)))
            await table.row("another part of one pane (tab)", press("f2"), *(press("tab") for _ in range(4)))
            await table.row("a pane fills the screen, F9", press("f9"), press("f9"))
            await table.row("resize by a column", resize(121, 40), resize(122, 40), resize(120, 40))
            await table.row("resize, other layout", resize(200, 60), resize(80, 24), resize(120, 40))
            await table.row("panes at 80x24", resize(80, 24), *(press(f"f{number}") for number in (2, 3, 4, 5)))
            await table.row("panes at 200x60", resize(200, 60), *(press(f"f{number}") for number in (2, 3, 4, 5)))
            await resize(120, 40)()
            await scope.press("f3")
            scope.screen.set_focus(scope.training.log_of_merges)
            await scope.settle()
            await table.row("log: home, end", press("home"), press("end"))
            await table.row("log: up, page up", press("up"), press("pageup"))
            await table.row("palette, escape", press("ctrl+p"), press("escape"))
            await table.row("help, escape", press("f1"), press("escape"))
            await scope.press("f4")
            await table.row("typing", press("a"), press("space"), press("backspace"))
            await table.row("paste of 4,000", lambda: paste(_TEXT * 60))
            await table.row("paste of 400,000", lambda: paste(_TEXT * 6000))
            await table.row("paste of 400,000 combining marks", lambda: paste("a" + "\u0301" * 400_000))
            scope.area.load(editor_greeting())

            async def audit() -> None:
                await scope.press("f5")
                scope.screen.action_audit()
                await eventually(
                    lambda: scope.screen.audit.subject and not scope.screen.audit.running, "the audit has ended"
                )
                await scope.settle()

            scope.screen.corpus = Corpus((str(book),), (), "book")
            await table.row("audit", audit)
            told = scope.screen.audit.subject
            print(f"               ({len(scope.screen.audit.verdicts):,} tokens: {told})")
            scope.screen.set_focus(scope.screen.audit_pane.query_one("#search"))
            await table.row("search", press("a"), press("b"), press("backspace"), press("backspace"))
            await scope.press("down")
            scope.screen.set_focus(scope.screen.audit_pane.table)
            await table.row("findings: end, home", press("end"), press("home"))
            await table.row("findings: kind", press("right"), press("left"))


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(prog="python -m benchmarks.holds", description=__doc__)
    parser.add_argument(
        "tokenizer", nargs="?", type=Path, help="on the screen, such as o200k_base.tiktoken (a small one)"
    )
    parser.add_argument("--pattern", default="gpt4o", help="that a rank file is split by (gpt4o)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each deed is done (5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, own_home(Path(folder)):
        sources.computer_sources = lambda: []  # tens of megabytes to be read
        path = config.tokenizers_folder() / "small.json"
        save(train(_TEXT, vocab_size=280), path)
        if options.tokenizer:
            path = Path(folder) / options.tokenizer.name
            shutil.copy(options.tokenizer, path)
            config.save_configuration(config.Configuration(patterns={str(path): options.pattern}))
        book = Path(folder) / "book.txt"
        book.write_text(_TEXT * 100)
        asyncio.run(_play(path, book, options.rounds))


if __name__ == "__main__":
    main()
