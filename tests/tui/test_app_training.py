"""A training in the app: choose texts, train, pause, step, go on, stop; and whatever can go wrong on the way."""

import os
import random
import re
import signal
from pathlib import Path
from threading import Event

import pytest
from scope import PATIENCE, TEXT, Opened, Scope
from textual.widgets import Button, Input, Select

from bpe_core import Tokenizer, load, save, train
from bpe_core.vocabulary import Vocabulary
from tui.dialogs.ask_pattern import AskPattern
from tui.disk import config
from tui.disk.tokenizer_files import load_file
from tui.features import tokenizers, training
from tui.state.tokenizers import Loaded
from tui.state.training import PACES
from tui.widgets.curve import Curve
from tui.widgets.option_fields import ANOTHER
from tui.workers.process import WorkerProcess

pytestmark = pytest.mark.usefixtures("no_process_left")


@pytest.fixture
def long_book(home: Path) -> Path:
    """Words of so little sense that there are more than 20,000 merges in them."""
    letters = random.Random(7)
    words = ("".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(6_000))
    path = home / "long.txt"
    path.write_text(" ".join(words))
    return path


def fill(scope: Scope, field: str, value: str) -> None:
    scope.training.query_one(f"#{field}", Input).value = value


async def merging(scope: Scope) -> None:
    """Begin a training of more merges than 5 a second make while a test waits, and wait for the first ones."""
    fill(scope, "vocab-size", "1000000")
    scope.screen.action_do("training.change_pace", PACES.index(5) - PACES.index(scope.screen.pace))
    await scope.press("f6")
    await scope.until(lambda: scope.screen.run.phase == "merging" and scope.screen.run.done > 3, "merges arrive")


@pytest.mark.slow
async def test_the_first_start_trains_on_the_samples_before_ones_eyes(opened: Opened) -> None:
    async with opened() as scope:
        assert scope.screen.active == "editor"
        await scope.until_learned()
        assert scope.screen.corpus.title == "all samples"
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.n_vocab == 1024
        assert scope.area.text.startswith("Type here.")
        assert len(scope.ids()) < len(scope.area.text.encode()) / 2  # the greeting shows learned tokens
        assert "768 merges" in scope.rows("#merge-log")[-1]
        assert f"{len(scope.ids())} tokens" in scope.shown("#totals-line")
        assert not scope.said
    assert [path.name for path in config.tokenizers_folder().iterdir()] == ["all-samples-gpt4.json"]


async def test_choose_a_text_train_and_find_it_all_again(opened: Opened, book: Path, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("f2")
        scope.tree.move_cursor(scope.row("home (here)"))
        await scope.press("enter")
        scope.tree.move_cursor(scope.row("book.txt"))
        await scope.press("space")
        assert scope.screen.corpus.paths == (str(book),)
        await scope.until(lambda: scope.screen.totals, "the text is counted")
        assert f"{len(TEXT):,}" in scope.shown("#totals")

        scope.training.query_one("#vocab-size", Input).focus()
        await scope.press(*["backspace"] * 4, *"270", "f6")
        await scope.until(lambda: Path(scope.screen.path).stem == "book.txt-gpt4", "the training ends")
        expected = train(TEXT, vocab_size=270)
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.merges == expected.merges

        scope.app.theme = "nord"
        scope.area.focus()
        await scope.press("ctrl+end", *"now")
        text, ids = scope.area.text, scope.ids()
        assert ids == expected.encode(text)

    async with opened() as scope:  # the next day
        await scope.until_tokenizer()
        assert scope.app.theme == "nord"
        assert scope.area.text == text and scope.ids() == ids
        assert scope.screen.corpus.paths == (str(book),)
        assert scope.tree.marked("corpus") == (str(book),)
        assert scope.screen.options.vocab_size == 270
        assert scope.training.query_one("#vocab-size", Input).value == "270"
        assert [kept.name for kept in scope.screen.kept] == ["book.txt-gpt4", "small"]
        assert "14 merges" in scope.rows("#merge-log")[-1]


@pytest.mark.slow
async def test_pause_step_three_go_on_stop(opened: Opened, long_book: Path, kept: Path) -> None:
    async with opened(long_book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        scope.area.load("aeiou and sometimes y")
        await merging(scope)
        assert scope.training.query_one("#vocab-size", Input).disabled
        assert "Pause" in str(scope.training.query_one("#go", Button).label)

        await scope.press("f6")
        await scope.until(lambda: screen.run.phase == "paused", "it pauses")
        done = screen.run.done
        assert screen.step == done
        for further in (1, 2, 3):
            await scope.press("f7")
            await scope.until(lambda n=further: screen.run.done == done + n, "a step is made")
            await scope.until(lambda: screen.run.phase == "paused", "it waits again")
        assert screen.step == done + 3 and screen.in_force is not None
        assert scope.ids() == screen.in_force.encode(scope.area.text)  # the editor has followed
        assert f"paused at {done + 3:,}" in scope.shown("#status")

        await scope.press("f6")
        await scope.until(lambda: screen.run.phase == "merging" and screen.run.done > done + 3, "it goes on")
        await scope.press("f8")
        await scope.until(lambda: screen.path and not screen.run.busy, "it stops and is kept")
        assert screen.run.phase == "stopped"
        learned = load(screen.path)
        assert learned.step == screen.step == len(scope.training.log_of_merges.merges) >= done + 4
        assert "long.txt-gpt4" in [kept.name for kept in screen.kept]
        assert not scope.training.query_one("#vocab-size", Input).disabled
    async with opened() as scope:
        await scope.until_tokenizer()
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.merges == learned.merges


@pytest.mark.slow
async def test_the_buttons_do_what_the_keys_do(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await scope.pilot.click("#one")
        await scope.until(lambda: screen.run.phase == "paused" and screen.run.done == 1, "one step is made")
        await scope.pilot.click("#stop")
        await scope.until_learned()
        assert load(screen.path).step == 1
        await scope.pilot.click("#go")
        await scope.until(lambda: screen.run.phase == "done" and "-2" in screen.path, "another training ends")


@pytest.mark.slow
async def test_a_worker_killed_in_mid_training_loses_nothing(opened: Opened, long_book: Path, kept: Path) -> None:
    async with opened(long_book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await merging(scope)
        worker = screen.features.training.newest.worker
        assert worker is not None
        os.kill(worker.pid, signal.SIGKILL)
        await scope.until_learned()
        died, rescued, *_ = scope.said  # and perhaps that late merges know the text by heart
        assert died == "The worker process was killed (SIGKILL)."
        assert rescued == f"What it had learned, {screen.step:,} merges, is kept as long.txt-gpt4."
        assert load(screen.path).step == screen.step > 3
        assert screen.tokenizer is not None and load(screen.path).merges == screen.tokenizer.merges


@pytest.mark.slow
async def test_what_was_learned_and_cannot_be_saved_is_called_so(
    opened: Opened, long_book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(training, "save_beside", full)
    async with opened(long_book, size=(160, 40)) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await merging(scope)
        assert re.search(r"training \d+%", scope.shown("TitleLine"))
        worker = screen.features.training.newest.worker
        assert worker is not None
        os.kill(worker.pid, signal.SIGKILL)
        await scope.until(lambda: any("could not be kept" in said for said in scope.said), "it is told")
        await scope.settle()
        assert "not saved" in scope.shown("TitleLine") and "training" not in scope.shown("TitleLine")
        screen.action_do("audit.audit")
        await scope.settle()
        assert "What was learned is not saved" in scope.said[-1]


@pytest.mark.slow
async def test_a_worker_killed_before_its_first_merge_leaves_the_tokenizer_that_was_there(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerProcess, "send", lambda job, command: None)  # so a worker that begins paused stays so
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await scope.press("f7")
        await scope.until(lambda: screen.run.phase == "paused", "a worker has counted and waits")
        assert screen.path == "" and screen.step == screen.run.done == 0
        worker = screen.features.training.newest.worker
        assert worker is not None
        os.kill(worker.pid, signal.SIGKILL)
        await scope.until(lambda: screen.path == str(kept), "the tokenizer that was there is back")
        assert screen.tokenizer is not None and screen.tokenizer.merges == load(kept).merges and scope.ids()
        assert screen.run.phase == "failed"
        assert scope.said == ["The worker process was killed (SIGKILL)."]
    assert list(config.tokenizers_folder().iterdir()) == [kept]


@pytest.mark.slow
async def test_a_training_goes_before_a_tokenizer_that_is_still_loading(
    opened: Opened, book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Event()

    def load_late(path: Path, pattern: str | None = None) -> Loaded:
        if path == kept:
            read.wait(PATIENCE)
        return load_file(path, pattern)

    monkeypatch.setattr(tokenizers, "load_file", load_late)
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until(lambda: "loading small" in screen.notice, "the kept tokenizer is being loaded")
        fill(scope, "vocab-size", "270")
        await scope.press("f6")
        await scope.until_learned()
        read.set()
        await scope.settle()
        assert screen.run.phase == "done" and Path(screen.path).stem == "book.txt-gpt4"
        assert screen.tokenizer is not None and screen.tokenizer.merges == train(TEXT, vocab_size=270).merges


@pytest.mark.slow
async def test_quitting_in_mid_training_keeps_what_was_learned(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        await scope.press("f7")
        await scope.until(lambda: scope.screen.run.phase == "paused" and scope.screen.run.done, "a step is made")
    assert load(config.tokenizers_folder() / "book.txt-gpt4.json").step == 1


@pytest.mark.slow
async def test_what_cannot_be_trained_is_told_in_one_sentence(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        tokenizer = screen.tokenizer

        async def told(sentence: str) -> None:
            n = len(scope.said)
            await scope.press("f6")
            await scope.until(lambda: len(scope.said) > n and not screen.run.busy, "it is told")
            assert sentence in scope.said[-1] and len(scope.said) == n + 1
            assert screen.tokenizer is tokenizer and screen.path == str(kept)

        fill(scope, "vocab-size", "")
        await told("The vocabulary size is empty; it must be a number from 257.")
        assert screen.focused is scope.training.query_one("#vocab-size")
        fill(scope, "vocab-size", "many")
        await told("The vocabulary size is many")
        assert scope.training.query_one("#vocab-size", Input).selected_text == "many"
        fill(scope, "vocab-size", "256")
        await told("The vocabulary size is 256")
        fill(scope, "vocab-size", "9" * 5000)
        await told("The vocabulary size is 999")
        fill(scope, "vocab-size", "257")
        fill(scope, "special", "<a> <b> <c>")
        await told("“vocabulary” is 257, but must be at least 260")  # no room for three special tokens
        fill(scope, "vocab-size", "300")
        fill(scope, "special", "")
        fill(scope, "min-count", "0")
        await told("The minimum count is 0")
        fill(scope, "min-count", "1")
        book.write_bytes(bytes(range(256)))
        await told("book.txt cannot be read")
        book.unlink()
        await told("book.txt cannot be read")


@pytest.mark.slow
async def test_with_nothing_chosen_it_says_how_to_choose(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("f6")
        assert scope.said == ["No text is chosen: press F2, go to one, and mark it with the space bar."]
        assert scope.screen.run.phase == "idle"


@pytest.mark.slow
async def test_any_regular_expression_is_a_pattern(opened: Opened, book: Path, kept: Path) -> None:
    pattern = r"[a-z]+|[/b]|[^a-z]"
    async with opened(book) as scope:
        await scope.until_tokenizer()
        select = scope.training.query_one("#pattern", Select)
        select.value = ANOTHER
        dialog = await scope.asked(AskPattern)
        shown, hint = (dialog.query_one(of) for of in ("#tried", ".dialog--hint"))
        for wrong, sentence in ("[a-z", "not a valid regular expression"), (r"(?:a|aa)+\d", "tries too many ways"):
            await scope.answer(wrong)
            await scope.until(lambda sentence=sentence: sentence in str(hint.render()), "it is refused")
            assert scope.app.screen is dialog
        dialog.query_one(Input).value = pattern
        await scope.until(lambda: "pieces; Enter takes it" in str(shown.render()), "it is tried while it is typed")
        assert "gpt2, gpt4" in str(hint.render()), "and the names are told again"
        await scope.answer(pattern)
        await scope.until(lambda: select.value == pattern, "the pattern is taken")
        fill(scope, "vocab-size", "262")
        await scope.press("f6")
        await scope.until(lambda: scope.screen.path != str(kept) and not scope.screen.run.busy, "the training ends")
        assert scope.screen.tokenizer is not None
        assert scope.screen.tokenizer.merges == train(TEXT, vocab_size=262, pattern=pattern).merges
    async with opened() as scope:
        await scope.until_tokenizer()
        assert scope.training.query_one("#pattern", Select).value == pattern
        assert scope.rows("#pattern SelectCurrent #label")[0].startswith("[a-z]+")


@pytest.mark.slow
async def test_special_tokens_and_rules_reach_the_worker(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        fill(scope, "vocab-size", "262")
        fill(scope, "special", "<s> </s> <s>")
        scope.training.query_one("#pattern", Select).value = "words"
        scope.training.query_one("#ties", Select).value = "largest"
        await scope.press("f6")
        await scope.until(lambda: "words" in scope.screen.path, "the training ends")
        tokenizer = scope.screen.tokenizer
        assert tokenizer is not None
        expected = train(TEXT, vocab_size=262, pattern="words", ties="largest", special_tokens=("<s>", "</s>"))
        assert (tokenizer.merges, tokenizer.special_tokens) == (expected.merges, expected.special_tokens)
        assert "whitespace is dropped" in scope.shown("#totals-line")


@pytest.mark.slow
async def test_enter_in_the_log_and_a_click_on_the_curve_travel(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        log, curve = scope.training.log_of_merges, scope.training.query_one(Curve)
        scope.screen.set_focus(log)
        log.move_to(4)
        await scope.settle()
        assert scope.screen.step == 24, "the program has moved the cursor, nobody has travelled"
        await scope.press("enter")
        assert scope.screen.step == 5 and curve.step == 5
        await scope.pilot.click(Curve, offset=(curve.size.width - 2, 2))
        await scope.settle()
        assert scope.screen.step == 24
        await scope.press("left")
        assert scope.screen.step == 23 and log.current == 22


@pytest.mark.slow
async def test_a_pane_that_fills_the_screen_keeps_the_place_in_the_log(opened: Opened, home: Path) -> None:
    path = config.tokenizers_folder() / "long.json"
    merges = [(97 if step == 1 else 254 + step, 97, 255 + step) for step in range(1, 1504)]
    save(Tokenizer(Vocabulary.of_bytes().extended(merges), "none"), path)
    async with opened() as scope:
        await scope.until(lambda: scope.screen.step == 1503, "its merges are known")
        log = scope.training.log_of_merges
        scope.screen.set_focus(log)
        await scope.press("up", "up", "up")
        for _ in range(4):
            await scope.press("f9")
            assert scope.screen.step == 1500 and log.current == 1499 and not log.following
            assert any("●" in line and "1,500" in line for line in scope.rows("#merge-log"))
        await scope.press("f5", "f2", "f3")
        assert scope.screen.step == 1500 and log.current == 1499 and not log.following
        assert any("●" in line and "1,500" in line for line in scope.rows("#merge-log"))
