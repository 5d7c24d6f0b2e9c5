"""What the tests of the app share: folders of its own for each test, a text, a tokenizer, and the app itself."""

import gc
import random
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from scope import PATIENCE, ROOT, TEXT, Ear, Opened, Scope
from terminal import children
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from workers import put_workers_in_threads

from bpe_core import save, train
from tui import process
from tui.app import BpeScope
from tui.disk import config
from tui.state import TrainingOptions


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker gets the time that it needs to save, and no sentence goes by the clock: a test takes it away."""
    monkeypatch.setattr(process, "PATIENCE", PATIENCE)
    monkeypatch.setattr(BpeScope, "NOTIFICATION_TIMEOUT", 3_600)


@pytest.fixture(autouse=True)
def small_heap() -> Iterator[None]:
    """Hide what is left of an app from the garbage collector.

    The app collects garbage whenever it changes tokenizers. That took 20 ms in the first journey
    and 150 ms in the thirtieth.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def styles_parsed_once() -> Iterator[None]:
    """Let all apps of a process share what Textual made of a style sheet: parsing is a tenth of a start."""
    parsed: dict[object, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def parse_once(sheet: Stylesheet, *source: Any, **options: Any) -> list[RuleSet]:
        key = (frozenset(sheet._variables.items()), source, frozenset(options.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, *source, **options)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, the current one too: all that the app lists and remembers is in there."""
    folder, temporary = tmp_path / "home", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(
        "PYTHONPATH", str(ROOT)
    )  # the workers run the code under test, installed or not
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(
        "COLORTERM", "truecolor"
    )  # where the tests run there may be no terminal at all
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def workers_in_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads of this process do what worker processes would do."""
    put_workers_in_threads(monkeypatch)


@pytest.fixture
def book(home: Path) -> Path:
    """A small text to train on."""
    path = home / "book.txt"
    path.write_text(TEXT)
    return path


def of_no_sense(path: Path, n_words: int) -> Path:
    """A file of words in which a training finds thousands of merges."""
    letters = random.Random(7)
    path.write_text(
        " ".join(
            "".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=9))
            for _ in range(n_words)
        )
    )
    return path


@pytest.fixture
def long_book(home: Path) -> Path:
    return of_no_sense(home / "long.txt", 3_000)


@pytest.fixture
def huge_book(home: Path) -> Path:
    """It takes its time to learn all merges, those of pairs that occur once too."""
    options = TrainingOptions(min_count=1)
    config.save_configuration(config.Configuration(options=options))
    return of_no_sense(home / "huge.txt", 200_000)


@pytest.fixture
def kept(home: Path) -> Path:
    """A tokenizer on the shelf, so that the app has no first start."""
    path = config.tokenizers_folder() / "small.json"
    save(train(TEXT, vocab_size=280), path)
    return path


@pytest.fixture
def opened(home: Path) -> Opened:
    """Opens the app on paths, with a tokenizer in force if it has any; leaving it is quitting it."""

    @asynccontextmanager
    async def opened(
        *paths: Path, size: tuple[int, int] = (120, 40), notifications: bool = False
    ) -> AsyncIterator[Scope]:
        app = BpeScope(tuple(map(str, paths)), full_speed=True)
        ear = Ear()
        async with app.run_test(
            size=size, notifications=notifications, message_hook=ear
        ) as pilot:
            scope = Scope(app, pilot, ear)
            await scope.screen.loaded.wait()
            if paths:
                await scope.until(lambda: scope.screen.corpus.paths, "they are chosen")
            if scope.screen.kept:
                await scope.until(
                    lambda: scope.screen.in_force, "a tokenizer is in force"
                )
            await pilot.pause()
            yield scope

    return opened


@pytest.fixture
def no_process_left() -> Iterator[None]:
    """Fails a test that leaves a process behind."""
    before = children()
    yield
    for _ in range(
        200
    ):  # one that has been told to end may need a moment where there is much to do
        if children() <= before:
            return
        time.sleep(0.05)
    pytest.fail(f"left behind: {children() - before}")
