"""`python -m benchmarks.keystroke`: from a key to the first byte at the terminal, the app beside a plain text area.

Each editor runs in a pseudo-terminal of its own. A key is pressed when nothing has been written for a while, so what is
measured is the way from the key to the first frame that shows it, tokens included; the next one waits in its turn. The
processor time of the editor on that way is told, too, for a machine that has other things to do as well.
"""

import gc
import os
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from benchmarks import table
from benchmarks.terminals import Terminal, python_in_terminal

TEXTS: Final[dict[str, Callable[[], str]]] = {
    "100 KB": lambda: _prose(100_000),
    "1 MB": lambda: _prose(1_000_000),
    "10 MB": lambda: _prose(10_000_000),
    "one line of 1 MB": lambda: _prose(1_000_000).replace("\n", " "),
    "1 MB of one letter": lambda: "a" * 1_000_000,
}
EDITORS: Final = ("bpescope", "TextArea")
READY: Final = b"\x1b]9;ready\x07"
"""What an editor writes once it has read its text."""
_SLOWEST: Final = 20.0
"""Seconds that a key may take before the editor is given up."""
_QUIET: Final = 0.25
"""Seconds without a byte after which an editor is at rest."""
_VOCABULARY: Final = "BENCHMARK_VOCABULARY"
_LANES: Final = "BENCHMARK_LANES"
_HEAD: Final = ("text", "editor", "median ms", "95 % ms", "median CPU ms", "95 % CPU ms", "keys")


def main() -> None:
    """Press keys and print the table; some minutes."""
    parser = ArgumentParser(prog="python -m benchmarks.keystroke", description=__doc__)
    parser.add_argument("--keys", type=int, default=30, help="how many are pressed in each editor (30)")
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=list(TEXTS), metavar="TEXT")
    parser.add_argument("--editors", nargs="+", choices=EDITORS, default=list(EDITORS), metavar="EDITOR")
    parser.add_argument("--vocabulary", type=Path, help="a tokenizer file; else one is learned from the samples")
    parser.add_argument("--lanes", nargs="+", type=Path, default=[], help="tokenizer files that are lanes, too")
    parser.add_argument("--edit", nargs=2, metavar=("EDITOR", "TEXT"), help="be one of the editors")
    options = parser.parse_args()
    if options.edit:
        _edit(*options.edit)
        return
    print(table.machine(), "120 x 40 cells.\n")
    with tempfile.TemporaryDirectory() as home:
        vocabulary = options.vocabulary or _vocabulary(Path(home))
        rows = (
            [text, editor, *_pressed(editor, text, options.keys, home, (vocabulary, *options.lanes))]
            for text in options.texts
            for editor in options.editors
        )
        for line in table.markdown(_HEAD, rows):
            print(line, flush=True)


def _prose(n_characters: int) -> str:
    from bpe_core.content.samples import samples

    text = "\n".join(sample.path.read_text("utf-8") for sample in samples() if sample.group != "Long")
    return (text * (n_characters // len(text) + 1))[:n_characters]


def _vocabulary(home: Path) -> Path:
    from bpe_core import save, train
    from bpe_core.content.samples import samples

    path = home / "samples.json"
    save(train((sample.path.read_text("utf-8") for sample in samples()), vocab_size=4096), path)
    return path


# Outside: a terminal that presses keys and looks at the clock


def _pressed(editor: str, text: str, n_keys: int, home: str, vocabularies: Sequence[Path]) -> list[str]:
    """Median and 95th percentile of what passes and of processor time, and how many keys it took them from."""
    times, worked = list[float](), list[float]()
    command = ("-m", "benchmarks.keystroke", "--edit", editor, text)
    with python_in_terminal(*command, kind=Terminal, environment=_environment(home, vocabularies)) as screen:
        try:
            screen.until(lambda: READY in screen.sent, "it is ready", patience=120)
        except TimeoutError:
            return ["did not begin", *[""] * 3, "0"]
        while screen.read(4 * _QUIET):
            pass
        for number in range(n_keys):
            began, began_work = time.perf_counter(), screen.processor_time
            screen.type(b"x" if number % 4 else b" ")
            if not screen.read(_SLOWEST):
                break
            times.append(1000 * (time.perf_counter() - began))
            worked.append(1000 * (screen.processor_time - began_work))
            while screen.read(_QUIET):
                pass
    if not times:
        return [f"more than {1000 * _SLOWEST:,.0f}", *[""] * 3, "0"]
    return [f"{table.quantile(of, part):.1f}" for of in (times, worked) for part in (0.5, 0.95)] + [str(len(times))]


def _environment(home: str, vocabularies: Sequence[Path]) -> dict[str, str]:
    folders = {name: f"{home}/{name}" for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    vocabulary, *lanes = map(str, map(Path.absolute, vocabularies))
    return {**os.environ, **folders, _VOCABULARY: vocabulary, _LANES: os.pathsep.join(lanes)}


# Inside: an editor with the text, the cursor in the middle of it


def _edit(editor: str, text: str) -> None:
    (_be_bpescope if editor == "bpescope" else _be_plain)(TEXTS[text]())


def _be_bpescope(text: str) -> None:
    import tui.app
    from tui.disk import config
    from tui.screen import MainScreen
    from tui.widgets.token_area import TokenArea

    class Scope(tui.app.BpeScope):
        CSS_PATH = Path(tui.app.__file__).with_name("app.tcss")

        def on_mount(self) -> None:
            super().on_mount()
            self._waiting = self.set_interval(0.2, self._wait_for_tokenizer)

        def _wait_for_tokenizer(self) -> None:
            assert isinstance(self.screen, MainScreen)
            if self.screen.in_force is not None and len(self.screen.lanes) == len(lanes):
                self._waiting.stop()
                area = self.screen.query_one(TokenArea)
                area.cursor_blink = False
                area.load(text)
                area.focus()
                self._waiting = self.set_interval(0.2, self._wait_for_review)

        def _wait_for_review(self) -> None:
            area = self.screen.query_one(TokenArea)
            if (
                area.edited.next_reading is None
                and area.edited.is_all_settled
                and area.live is not None
                and area.edited.review is not None
                and area.edited.review.settled
            ):
                self._waiting.stop()
                area.move_cursor(area.document.get_location_from_index(len(text) // 2), center=True)
                _say_ready(self)

    lanes = tuple(f":{path}" for path in filter(None, os.environ[_LANES].split(os.pathsep)))
    kept = config.tokenizers_folder() / "benchmark.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(Path(os.environ[_VOCABULARY]).read_bytes())
    config.save_configuration(config.Configuration(tokenizer=str(kept), lanes=lanes))
    gc.freeze()  # and collected as seldom as `tui.__main__` says
    gc.set_threshold(700, 10, 200)
    Scope().run()


def _be_plain(text: str) -> None:
    from textual.app import App, ComposeResult
    from textual.widgets import TextArea

    class Plain(App[None]):
        def compose(self) -> ComposeResult:
            yield TextArea()

        def on_mount(self) -> None:
            area = self.query_one(TextArea)
            area.cursor_blink = False
            area.focus()
            area.load_text(text)
            row = area.document.line_count // 2
            area.move_cursor((row, len(area.document[row]) // 2), center=True)
            self.set_timer(1, lambda: _say_ready(self))

    Plain().run()


def _say_ready(app: object) -> None:
    driver = app._driver
    driver.write(READY.decode())
    driver.flush()


if __name__ == "__main__":
    main()
