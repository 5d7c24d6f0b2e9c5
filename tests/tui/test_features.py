"""What features do where few people come: resuming, keeping, fetching, a model's rows; on a screen without widgets."""

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy
import pytest
from scope import TEXT

from bpe_core import Tokenizer, Trainer, load, save, train
from bpe_core.content.presets import PRESETS
from bpe_core.difference import Witness
from bpe_core.errors import FormatError
from bpe_core.tokenizer.training_record import STOPPED
from bpe_core.trainer import Merges
from bpe_core.trainer.conditions import condition
from bpe_core.vocabulary import Vocabulary
from bpe_core.worker.inputs import FetchRequest
from bpe_core.worker.messages import Event, Failed, Saved, Stop, WorkProgress
from tests.core.worker_process import merges_of
from tui.dialogs.runs import ChosenRun
from tui.disk import config, tokenizer_files
from tui.disk.config import Configuration
from tui.disk.locked import Note, checkpoint_of, left_behind
from tui.features import results as results_module
from tui.features.audit import AuditFeature, example
from tui.features.comparison import ComparisonFeature
from tui.features.course import Course, TrainingTask
from tui.features.explaining import Explaining
from tui.features.feature import BUSY
from tui.features.goals import Goals
from tui.features.listed_tokenizers import ListedTokenizers
from tui.features.results import Results
from tui.features.resuming import Resuming
from tui.features.shown import Shown
from tui.features.tokenizers import Tokenizers
from tui.features.training import NO_MORE_MERGES, TrainingFeature
from tui.process import WorkerProcess
from tui.screen import MainScreen
from tui.state import (
    CHOSEN_TEXTS,
    IN_EDITOR,
    PACES,
    SECTIONS,
    Audit,
    ComparisonRun,
    Corpus,
    KnownTokenizer,
    LaneChoice,
    Loaded,
    PairWitness,
    Run,
    RunCurve,
    StepExplained,
    TrainingOptions,
    UnfinishedTraining,
)
from tui.widgets.kept_merges import KeptMerges

SMALL = train(TEXT, vocab_size=270)
LEARNED = list(Trainer(TEXT, vocab_size=270))


class FakeScreen(SimpleNamespace):
    """A screen that keeps what it is told, and answers questions one after the other as a test says."""

    def __init__(self, *answers: object, **values: object) -> None:
        self.said: list[str] = []
        self.asked: list[Any] = []
        self.answers = list(answers)
        self.tasks: list[asyncio.Task[None]] = []
        self.notices: list[str] = []
        self.at_end = ExitStack()
        usual: dict[str, object] = {
            "run": Run(),
            "caption": "",
            "path": "",
            "tokenizer": None,
            "step": 0,
            "on_stage": False,
            "lanes": (),
            "kept": (),
            "corpus": Corpus(),
            "totals": None,
            "options": TrainingOptions(),
            "audit": Audit(),
            "curve_under": None,
            "remembered": Configuration(),
            "active": "audit",
        }
        super().__init__(**{**usual, **values})

    def __setattr__(self, name: str, value: object) -> None:
        if name == "notice":
            self.notices.append(str(value))
        super().__setattr__(name, value)

    def say(self, sentence: str, severity: str = "") -> None:
        self.said.append(sentence)

    async def ask(self, question: Any) -> Any:
        self.asked.append(question)
        return self.answers.pop(0)

    def remember(self, **changes: Any) -> None:
        self.remembered = replace(self.remembered, **changes)

    def pattern_for(self, path: Path) -> str | None:
        return self.remembered.patterns.get(str(path))

    def watch(self, *_: object, **__: object) -> None: ...

    def run_worker(self, work: Callable[[], Any], group: str) -> asyncio.Task[None]:
        self.tasks.append(asyncio.create_task(work()))
        return self.tasks[-1]

    async def rest(self) -> None:
        """Wait until all that was begun has ended."""
        while self.tasks:
            with suppress(asyncio.CancelledError):  # by what it has begun itself
                await self.tasks.pop(0)


def as_screen(screen: FakeScreen) -> MainScreen:
    return cast(MainScreen, screen)


class House:
    """The features that resume a training, on a screen that answers."""

    def __init__(self, *answers: object, **values: object) -> None:
        self.screen = FakeScreen(*answers, **values)
        screen = as_screen(self.screen)
        self.loaded: list[Loaded] = []
        shown = SimpleNamespace(loaded=None, show=self.loaded.append, course=None)
        corpus = SimpleNamespace(chosen_options=lambda: self.screen.options)
        self.listed = ListedTokenizers(screen)
        self.tokenizers = Tokenizers(screen, cast(Shown, shown), self.listed)
        self.results = Results(screen, cast(Any, shown), self.tokenizers, self.listed)
        self.training = TrainingFeature(
            screen,
            cast(Any, shown),
            self.tokenizers,
            cast(Any, corpus),
            self.results,
        )
        self.goals = Goals(screen, cast(Any, shown), self.training)
        self.started: list[TrainingTask] = []
        self.training.start = lambda task, stepping=False: self.started.append(task)  # type: ignore[method-assign]
        self.resuming = Resuming(
            screen,
            self.tokenizers,
            self.training,
            cast(Any, corpus),
            self.results,
        )


class SavingTask:
    """The task of a training that still saves what it has learned."""

    is_finished = is_cancelled = False

    def __init__(self, wait: Callable[[], Any]) -> None:
        self.wait = wait


@pytest.fixture
def shelf(home: Path) -> Path:
    return config.tokenizers_folder()


UNFINISHED = UnfinishedTraining("book", TrainingOptions(300, "gpt2"), ("book.txt",))


def leave_note(shelf: Path, unfinished: UnfinishedTraining = UNFINISHED) -> Path:
    """A note on a training that did not end; the file that it was to be kept in."""
    output = shelf / "book.json"
    note = Note.new(output, unfinished)
    note.leave()
    return output


def save_checkpoint(output: Path) -> Tokenizer:
    checkpoint = checkpoint_of(output)
    save(SMALL, checkpoint)
    return load(checkpoint)


def note_of(output: Path) -> Path:
    return Path(f"{output}.unfinished")


# Resuming


@pytest.mark.parametrize("answer", [1, 0, None])
async def test_a_training_with_a_checkpoint_goes_on_or_what_it_has_is_kept(
    shelf: Path, answer: int | None
) -> None:
    output = leave_note(shelf)
    save_checkpoint(output)
    house = House(answer)
    await house.resuming.offer(house.resuming.notes())
    (question,) = house.screen.asked
    assert "book was interrupted after 14 merges" in question._question
    assert (question._yes, question._no) == ("Resume", "Keep these merges")
    if answer:
        task = TrainingTask(
            "book",
            UNFINISHED.options,
            ("book.txt",),
            resume=str(checkpoint_of(output)),
        )
        assert house.started == [task]
        assert note_of(output).exists() and checkpoint_of(output).exists()
        (again,) = left_behind(shelf)  # nobody holds it: the training takes it
        again.leave()
    else:
        assert not house.started and not note_of(output).exists()
        assert not checkpoint_of(output).exists()
        assert load(output).merges == SMALL.merges
        assert house.screen.said == [
            "The training ended early. Its 14 merges are saved as book."
        ]
        assert [one.path for one in house.screen.kept] == [str(output)]


@pytest.mark.parametrize("answer", [1, 0])
async def test_a_training_that_kept_nothing_is_begun_again_or_forgotten(
    shelf: Path, answer: int
) -> None:
    output = leave_note(
        shelf, replace(UNFINISHED, preset="letters", goal="step >= 3", title="a\x1b")
    )
    house = House(answer)
    await house.resuming.offer(house.resuming.notes())
    (question,) = house.screen.asked
    assert "interrupted before its first merge was saved" in question._question
    assert "\x1b" not in question._question
    assert (question._yes, question._no) == ("Start", "Leave it")
    assert not note_of(output).exists() and not output.exists()
    assert not house.screen.said
    if answer:
        (task,) = house.started
        assert (task.preset, task.resume, str(task.goal)) == (
            "letters",
            "",
            "step >= 3",
        )
        assert task.begin is None and task.paths == ("book.txt",)
    else:
        assert not house.started


@pytest.mark.parametrize(("reason", "asks"), [(STOPPED, True), ("no pair left", False)])
async def test_a_training_that_ended_after_the_app_is_offered_only_where_it_was_stopped(
    shelf: Path, reason: str, asks: bool
) -> None:
    output = leave_note(shelf)
    record = replace(SMALL.record, stop_reason=reason) if SMALL.record else None
    save(Tokenizer(SMALL.vocabulary, SMALL.pattern, record=record), output)
    house = House(1)
    await house.resuming.offer(house.resuming.notes())
    assert bool(house.screen.asked) == asks
    assert [task.resume for task in house.started] == [str(output)] * asks
    assert note_of(output).exists() == asks
    assert load(output).merges == SMALL.merges


async def test_what_a_stopped_training_has_kept_stays_where_it_does_not_go_on(
    shelf: Path,
) -> None:
    output = leave_note(shelf)
    record = replace(SMALL.record, stop_reason=STOPPED) if SMALL.record else None
    save(Tokenizer(SMALL.vocabulary, SMALL.pattern, record=record), output)
    house = House(0)
    await house.resuming.offer(house.resuming.notes())
    assert house.screen.asked and not house.started and not house.screen.said
    assert [path.name for path in shelf.iterdir()] == ["book.json"]


async def test_a_training_goes_on_with_the_vocabulary_that_it_began_with(
    shelf: Path, home: Path
) -> None:
    begin = home / "begin.json"
    save(SMALL, begin)
    output = leave_note(shelf, replace(UNFINISHED, begin=str(begin), begin_step=5))
    save_checkpoint(output)
    house = House(1)
    await house.resuming.offer(house.resuming.notes())
    (task,) = house.started
    assert task.begin is not None and task.begin.merges == SMALL.merges[:5]
    assert task.begin_path == str(begin)


@pytest.mark.parametrize("wrong", ["note", "begin", "goal", "checkpoint"])
async def test_a_training_that_cannot_be_resumed_is_told_and_what_it_has_is_kept(
    shelf: Path, home: Path, wrong: str
) -> None:
    output = leave_note(shelf)
    save_checkpoint(output)
    if wrong == "note":
        note_of(output).write_text("{")
    elif wrong == "checkpoint":
        checkpoint_of(output).write_text("{")
    else:
        note = Note.again(output, replace(UNFINISHED, **{wrong: "nowhere"}))
        note.leave()
    house = House(1)
    await house.resuming.offer(house.resuming.notes())
    first, *others = house.screen.said
    assert first.startswith("An unfinished training cannot be resumed. ")
    assert not house.screen.asked and not house.started
    assert not note_of(output).exists()
    if wrong == "checkpoint":
        assert others[0].startswith("The merges of this training could not be saved. ")
        assert checkpoint_of(output).exists() and not output.exists()
    else:
        assert others == ["The training ended early. Its 14 merges are saved as book."]
        assert load(output).merges == SMALL.merges
        assert not checkpoint_of(output).exists()


async def test_a_note_on_nothing_goes_and_those_after_one_that_goes_on_wait(
    shelf: Path,
) -> None:
    (shelf / "empty.json.unfinished").write_text("{")
    Note.new(shelf / "first.json", UNFINISHED).leave()
    Note.new(shelf / "second.json", UNFINISHED).leave()
    house = House(1)
    notes = [Note(shelf / f"{name}.json", -1) for name in ("empty", "first", "second")]
    await house.resuming.offer(notes)
    assert len(house.screen.asked) == 1 and len(house.started) == 1
    assert [path.name for path in shelf.iterdir()] == ["second.json.unfinished"]


async def test_extending_keeps_the_pattern_and_forking_begins_at_the_step(
    shelf: Path, book: Path
) -> None:
    path = shelf / "old.json"
    save(train(TEXT, vocab_size=270, pattern="gpt2"), path)
    old = load(path)
    options = TrainingOptions(500, "gpt4", "lowest", special_tokens=("<s>",))
    for forks in False, True:
        house = House(
            290,
            tokenizer=old,
            path=str(path),
            step=4,
            options=options,
            corpus=Corpus((str(book),), (), "book.txt"),
        )
        await house.resuming.train_on(forks)
        (question,), (task,) = house.screen.asked, house.started
        begins = 4 if forks else 14
        assert task.begin is not None and task.begin.step == begins
        assert task.begin_path == str(path) and task.paths == (str(book),)
        assert task.options.vocab_size == 290 and task.options.special_tokens == ()
        assert task.options.pattern == ("gpt4" if forks else "gpt2")
        assert task.title == ("old fork 4 lowest" if forks else "old extended")
        assert question._start == ("270" if forks else "540")
        least = 257 + begins
        assert question.parse(str(least)) == least
        with pytest.raises(ValueError, match=f"from {least:,}"):
            question.parse(str(least - 1))
    cancelled = House(
        None, tokenizer=old, path=str(path), corpus=Corpus((str(book),), (), "book.txt")
    )
    await cancelled.resuming.train_on(False)
    assert cancelled.screen.asked and not cancelled.started


async def test_extending_waits_until_the_training_that_just_ended_is_saved(
    shelf: Path, book: Path
) -> None:
    path = shelf / "old.json"
    save(SMALL, path)
    house = House(None, tokenizer=SMALL, corpus=Corpus((str(book),), (), "book.txt"))

    async def save_the_rest() -> None:
        house.screen.path = str(path)

    house.training._tasks[""] = cast(Any, SavingTask(save_the_rest))
    await house.resuming.train_on(False)
    assert len(house.screen.asked) == 1 and not house.screen.said


async def test_a_training_of_the_list_is_used_or_its_curve_laid_under_and_taken_away(
    shelf: Path,
) -> None:
    empty = House()
    await empty.resuming.show_runs()
    assert empty.screen.said == [
        "There is no saved training yet. Press F6 to start one."
    ]
    for name, created in ("old", "2020-01-01"), ("new", "2021-01-01"):
        record = SMALL.record and replace(SMALL.record, created=created)
        save(
            Tokenizer(SMALL.vocabulary, SMALL.pattern, record=record),
            shelf / f"{name}.json",
        )
    house = House()
    screen = house.screen
    for is_curve, under in (True, True), (True, False), (None, False), (False, False):

        async def answer(question: Any, is_curve: bool | None = is_curve) -> Any:
            screen.asked.append(question)
            if is_curve is None:
                return None
            return ChosenRun(question._runs[0], as_curve=is_curve)

        screen.ask = answer
        await house.resuming.show_runs()
        curve = screen.curve_under
        assert (curve is not None) == under
        if isinstance(curve, RunCurve):
            assert (curve.path, curve.name) == (str(shelf / "new.json"), "new")
            assert curve.n_bytes == len(TEXT) and len(curve.points) == 15
    assert [run.path.stem for run in screen.asked[-1]._runs] == ["new", "old"]
    assert screen.asked[1]._curve_path == str(shelf / "new.json")
    await screen.rest()
    assert [loaded.path for loaded in house.loaded] == [shelf / "new.json"]


# Keeping


async def test_what_was_learned_is_kept_next_to_what_has_its_name(shelf: Path) -> None:
    output = shelf / "book.json"
    save(SMALL.at(3), output)
    save_checkpoint(output)
    house = House()
    kept = await house.results.keep(output)
    assert kept == shelf / "book-2.json" and load(kept).merges == SMALL.merges
    assert load(output).step == 3 and not checkpoint_of(output).exists()
    assert house.screen.said == [
        "The training ended early. Its 14 merges are saved as book-2."
    ]
    assert {one.path for one in house.screen.kept} == {str(output), str(kept)}
    given = await house.results.keep(shelf / "given.json", SMALL.at(5))
    assert given is not None and load(given).step == 5


async def test_what_cannot_be_kept_stays_in_its_checkpoint(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise FormatError("The disk is full.")

    output = shelf / "book.json"
    save_checkpoint(output)
    monkeypatch.setattr(results_module, "save_beside", refuse)
    house = House()
    assert await house.results.keep(output) is None
    assert house.screen.said == [
        "The merges of this training could not be saved. The disk is full."
    ]
    assert checkpoint_of(output).exists() and not house.screen.kept


def test_the_record_of_a_training_says_why_it_ended_as_its_file_does() -> None:
    course = Course(TrainingTask("book", TrainingOptions(270)))
    record = SMALL.record
    assert record is not None
    course.begun = replace(record, steps=(), stop_reason="")
    assert _reason(course) == STOPPED, "it has not ended"
    course.reason = "no pair left"
    assert _reason(course) == "no pair left"
    course.run = Run("failed")
    assert _reason(course) == "the worker process died"
    course.stopped_at = 0
    assert _reason(course) == STOPPED


def _reason(course: Course) -> str:
    record = course.learned().record
    assert record is not None
    return record.stop_reason


# Fetching


@pytest.fixture
def cached(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model that the library of the hub has fetched before."""
    monkeypatch.setenv("HF_HUB_CACHE", str(home / "hub"))
    folder = home / "hub" / "models--some--model" / "snapshots" / "0123abc"
    folder.mkdir(parents=True)
    path = folder / "tokenizer.json"
    save(SMALL, path, format="huggingface")
    return path


@pytest.mark.usefixtures("workers_in_thread")
async def test_a_tokenizer_that_was_fetched_before_is_found_listed_and_used(
    cached: Path,
) -> None:
    house = House("some/model")
    screen = house.screen
    await house.tokenizers.fetch()
    await screen.rest()
    assert screen.notices[0] == "fetching some/model … Esc cancels"
    assert screen.notices[-1] == "" and not screen.said
    (loaded,) = house.loaded
    assert loaded.path == cached and loaded.tokenizer.merges == SMALL.merges
    assert screen.remembered.tokenizer == str(cached)
    (listed,) = screen.kept
    assert (listed.path, listed.name, listed.origin) == (
        str(cached),
        "some/model",
        "found",
    )


async def test_it_is_told_how_far_a_tokenizer_is_fetched_and_why_it_is_not(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Event] = [
        WorkProgress("fetching", 0, 2, "tokenizer.json"),
        WorkProgress("fetching", 1, 2, "config\x1b.json"),
    ]
    requests = []

    async def enter(worker: WorkerProcess) -> WorkerProcess:
        requests.append(worker.request)
        return worker

    async def leave(worker: WorkerProcess, *_: object) -> None: ...

    async def batches(worker: WorkerProcess) -> AsyncIterator[list[Event]]:
        yield heard

    monkeypatch.setattr(WorkerProcess, "__aenter__", enter)
    monkeypatch.setattr(WorkerProcess, "__aexit__", leave)
    monkeypatch.setattr(WorkerProcess, "batches", batches)
    path = home / "fetched.json"
    save(SMALL, path)
    for last, sentences in (Saved(str(path)), []), (Failed("It is not there."), 1):
        heard[2:] = [last]
        house = House("some/model")
        await house.tokenizers.fetch()
        await house.screen.rest()
        assert house.screen.notices[1:3] == [
            "fetching some/model · tokenizer.json, 1 of 2 … Esc cancels",
            "fetching some/model · config␛.json, 2 of 2 … Esc cancels",
        ]
        assert house.screen.notices[-1] == ""
        assert house.screen.said == (["It is not there."] if sentences else [])
        assert [one.path for one in house.loaded] == ([] if sentences else [path])
    assert requests == [FetchRequest("some/model")] * 2
    busy = House("some/model", run=Run("merging"))
    await busy.tokenizers.fetch()
    assert busy.screen.said == [BUSY] and not busy.screen.asked
    cancelled = House(None)
    await cancelled.tokenizers.fetch()
    assert not cancelled.screen.tasks


@pytest.mark.parametrize(
    ("answer", "is_text", "opens"), [(1, 1, 0), (0, 0, 1), (None, 0, 0)]
)
async def test_a_tokenizer_is_taken_for_a_text_only_where_that_is_chosen(
    home: Path, book: Path, answer: int | None, is_text: int, opens: int
) -> None:
    path = home / "small.json"
    save(SMALL, path)
    house = House(answer)
    assert await house.tokenizers.path_if_text(book, "Read it") == book
    assert not house.screen.asked, "a text is taken for one"
    found = await house.tokenizers.path_if_text(path, "Read it")
    (question,) = house.screen.asked
    assert (
        question._question == "small.json is a tokenizer."
        and question._yes == "Read it"
    )
    await house.screen.rest()
    assert found == (path if is_text else None)
    assert [one.path for one in house.loaded] == [path] * opens


async def test_a_folder_that_holds_a_tokenizer_is_opened_where_nothing_can_be_chosen(
    home: Path,
) -> None:
    (home / "model").mkdir()
    save(SMALL, home / "model" / "tokenizer.json", format="huggingface")
    house = House(None)
    assert await house.tokenizers.path_if_text(home / "model", "Read it") is None
    assert house.screen.asked[0]._question == "model contains a tokenizer."
    assert await house.tokenizers.path_if_text(home / "model", "") is None
    assert len(house.screen.asked) == 1
    await house.screen.rest()
    assert [one.path.name for one in house.loaded] == ["tokenizer.json"]


# A training that is begun


async def test_a_preset_is_run_or_stepped_with_its_text_in_the_editor() -> None:
    preset = next(iter(PRESETS))
    for stepping in False, True:
        put: list[str] = []
        editor = SimpleNamespace(put=put.append)
        house = House(editor=editor, options=TrainingOptions(999))
        starts: list[tuple[TrainingTask, bool]] = []
        house.training.start = lambda task, stepping=False, starts=starts: (  # type: ignore[method-assign]
            starts.append((task, stepping))
        )
        if stepping:
            await house.goals.step_preset(preset)
        else:
            house.training.run_preset(preset)
        (task, steps), (text,) = starts[0], put
        assert steps is stepping and task.preset == preset
        assert task.request(Path("out.json")).recipe.preset == preset
        assert text == next(
            iter(PRESETS[preset].encodings), "\n".join(PRESETS[preset].documents)
        )
    busy = House(run=Run("merging"), editor=editor)
    stepped: list[bool] = []

    async def step_on() -> None:
        stepped.append(True)

    busy.goals._step = step_on  # type: ignore[method-assign]
    busy.training.run_preset(preset)
    assert busy.screen.said == [BUSY] and not stepped
    await busy.goals.step_preset(preset)
    assert stepped and len(busy.screen.said) == 1


# A model's rows


def safetensors(path: Path, **matrices: "numpy.ndarray[Any, Any]") -> Path:
    head, data = dict[str, object](), b""
    for name, matrix in matrices.items():
        begin = len(data)
        data += matrix.tobytes()
        head[name] = {
            "dtype": "F32",
            "shape": list(matrix.shape),
            "data_offsets": [begin, len(data)],
        }
    written = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(written)) + written + data)
    return path


@pytest.fixture
def rows() -> "Iterator[numpy.ndarray[Any, Any]]":
    yield numpy.random.default_rng(5).standard_normal((270, 4)).astype(numpy.float32)


class AuditHouse:
    """The audit on a screen that answers."""

    def __init__(self, path: Path, *answers: object) -> None:
        self.screen = FakeScreen(
            *answers, path=str(path), tokenizer=load(path), totals=None
        )
        self.feature = AuditFeature(
            as_screen(self.screen), cast(Shown, None), cast(Any, None)
        )

    async def with_model(self) -> Audit:
        await self.feature.with_model()
        await self.screen.rest()
        audit = self.screen.audit
        assert isinstance(audit, Audit)
        return audit


@pytest.mark.usefixtures("workers_in_thread")
async def test_a_model_is_asked_for_audited_with_and_left_out_again(
    home: Path, rows: "numpy.ndarray[Any, Any]"
) -> None:
    path, model = home / "small.json", home / "rows.npy"
    save(SMALL, path)
    numpy.save(model, rows)
    house = AuditHouse(path, model)
    audit = await house.with_model()
    assert audit.inputs.embeddings == str(model) and len(house.screen.asked) == 1
    assert set(audit.measures["indicator"]) == set(SMALL.vocabulary.ids())
    assert "tokenizer, rows.npy" in audit.subject and not audit.running
    assert audit.distribution is not None and audit.distribution.n_low >= 1
    audit = await house.with_model()  # without it again
    assert audit.inputs.embeddings == "" and "indicator" not in audit.measures
    assert audit.distribution is None
    assert len(house.screen.asked) == 1 and "tokenizer alone" in audit.subject
    house.screen.answers = [None]
    assert await house.with_model() is audit, "no file is given"
    numpy.save(model, rows[:100])
    house.screen.answers = [model]
    audit = await house.with_model()
    assert (
        "100 rows" in house.screen.said[-1] and audit.subject == house.screen.said[-1]
    )
    numpy.save(model, rows)
    house.screen.answers = [model]
    audit = await house.with_model()
    assert len(house.screen.asked) == 4, "where it failed, a file is asked for at once"
    assert "indicator" in audit.measures


@pytest.mark.usefixtures("workers_in_thread")
async def test_of_several_matrices_with_a_row_for_each_token_one_is_asked_for(
    home: Path, rows: "numpy.ndarray[Any, Any]"
) -> None:
    path = home / "small.json"
    save(SMALL, path)
    model = safetensors(
        home / "model.safetensors", first=rows, second=-rows, third=rows[:9]
    )
    house = AuditHouse(path, model, "second")
    audit = await house.with_model()
    _, question = house.screen.asked
    assert (question._start, question.parse("second")) == ("first", "second")
    assert "first, second" in question._question and "third" not in question._question
    assert audit.inputs.tensor == "second" and "indicator" in audit.measures
    other = AuditHouse(path, model, None)
    await other.with_model()
    assert other.screen.audit == Audit()
    alone = AuditHouse(path, safetensors(home / "alone.safetensors", only=rows))
    audit = await alone.with_model()
    assert len(alone.screen.asked) == 1 and audit.inputs.tensor == "only"
    undecided = AuditHouse(path, model, model, None)
    undecided.screen.answers = [model, None]
    await undecided.with_model()
    assert undecided.screen.audit == Audit() and not undecided.screen.tasks


async def test_without_a_tokenizer_or_during_a_training_no_model_is_asked_for(
    home: Path,
) -> None:
    path = home / "small.json"
    save(SMALL, path)
    for values, sentence in (
        ({"run": Run("merging")}, BUSY),
        ({"path": ""}, "The tokenizer is not saved"),
        ({"path": "", "tokenizer": None}, "There is no tokenizer yet"),
    ):
        house = AuditHouse(path)
        vars(house.screen).update(values)
        await house.with_model()
        assert not house.screen.asked and house.screen.said[-1].startswith(sentence)


# A comparison


class CompareHouse:
    """The comparison on a screen whose pane says what is marked, and on which texts."""

    def __init__(
        self,
        known: list[KnownTokenizer],
        *,
        texts_from: str = CHOSEN_TEXTS,
        choosing: bool = True,
        **values: object,
    ) -> None:
        self.begun: list[Any] = []
        self.shown: list[str] = []
        self.pane = SimpleNamespace(
            picker=SimpleNamespace(chosen=known),
            texts_from=texts_from,
            table=SimpleNamespace(choice="texts"),
            has_compared=not choosing,
        )
        self.lanes = SimpleNamespace(chosen=())
        self.lanes.choose = lambda chosen: setattr(self.lanes, "chosen", [*chosen])
        area = SimpleNamespace(text="some text", document=SimpleNamespace(n_edits=1))
        self.screen = FakeScreen(
            kept=tuple(known),
            compare_pane=self.pane,
            comparison=ComparisonRun(),
            editor=SimpleNamespace(area=area),
            focused=None,
            action_show=self.shown.append,
            **values,
        )
        self.feature = ComparisonFeature(
            as_screen(self.screen), cast(Any, None), cast(Any, self.lanes)
        )
        self.feature.begin = lambda work, *_: self.begun.append(work)  # type: ignore[method-assign]


ONE = KnownTokenizer("/one.json", "one", 270)
TWO = KnownTokenizer("/two.json", "two", 280)
BOOK = Corpus(("/book.txt",), (), "book.txt")


def test_what_is_marked_is_compared_on_what_is_chosen() -> None:
    house = CompareHouse([ONE, TWO], corpus=BOOK)
    house.feature.compare()
    run = house.screen.comparison
    assert (run.running, run.subject) == (True, "A one · B two on book.txt")
    assert [one.path for one in run.tokenizers] == ["/one.json", "/two.json"]
    assert house.begun[0].args == (("/book.txt",), False)
    assert house.shown == ["compare"] and house.pane.table.choice == "texts"
    house = CompareHouse([ONE], corpus=BOOK, texts_from=SECTIONS)
    house.feature.compare()
    assert house.begun[0].args == (("/book.txt",), True)
    house = CompareHouse([ONE], corpus=BOOK, texts_from=IN_EDITOR)
    house.feature.compare()
    assert house.screen.comparison.subject == "one on the editor's text"
    assert house.screen.comparison.text == "some text" and len(house.begun) == 1
    other = Configuration(patterns={"/two.json": "gpt2"})
    house = CompareHouse([ONE, TWO], corpus=BOOK, remembered=other)
    house.feature.compare()
    run = house.screen.comparison
    assert run.subject == "A one · B two (gpt2) on book.txt"
    assert [known.pattern for known in run.tokenizers] == ["", "gpt2"]
    for house, sentence in (
        (CompareHouse([], corpus=BOOK), "No tokenizer is chosen"),
        (CompareHouse([ONE]), "No text is chosen"),
    ):
        house.feature.compare()
        assert not house.begun and house.screen.said[0].startswith(sentence)


def test_a_comparison_is_stopped_unless_it_began_by_itself_and_others_are_chosen() -> (
    None
):
    sent: list[object] = []
    for unasked, choosing, starts in (
        ((), True, False),
        ((), False, False),
        (("/one.json", 1), False, False),
        (("/one.json", 1), True, True),
    ):
        sent.clear()
        house = CompareHouse([ONE], corpus=BOOK, choosing=choosing)
        house.screen.comparison = ComparisonRun(True, "starting")
        house.feature._automatic = unasked
        house.feature._worker = cast(Any, SimpleNamespace(send=sent.append))
        house.feature.compare()
        assert bool(house.begun) == starts
        assert sent == ([] if starts else [Stop()])
    house.feature._worker = None  # it has no worker yet
    house.screen.comparison = ComparisonRun(True, "starting", "one on book.txt")
    house.feature._automatic = ()
    house.feature.compare()
    assert house.screen.comparison == ComparisonRun(False, "", "one on book.txt")


def test_the_tokenizer_in_force_is_compared_by_itself_when_the_pane_is_opened() -> None:
    half = {"tokenizer": SMALL, "path": "/one.json"}
    house = CompareHouse([ONE], **half)
    house.feature.start()
    assert house.screen.comparison.text == "some text"
    assert house.screen.comparison.half == 7
    names = [one.name for one in house.screen.comparison.tokenizers]
    assert names == ["one", "step 7"] and house.pane.table.choice == "metrics"
    house.feature.start()
    assert len(house.begun) == 1, "it is seen"
    house.pane.has_compared = True
    house.feature.start()
    assert len(house.begun) == 1, "nothing has changed"
    house.screen.editor.area.document.n_edits = 2
    house.feature.start()
    assert len(house.begun) == 2, "the text is another"
    two = CompareHouse([ONE, TWO], **half)
    two.feature.start()
    assert two.begun and two.screen.comparison.half == 0
    for other in (
        CompareHouse([TWO], **half),  # another one is marked first
        CompareHouse([ONE], **half, run=Run("merging")),
        CompareHouse([], **half),
    ):
        other.feature.start()
        assert not other.begun
    asked = CompareHouse([ONE], **half)
    asked.screen.comparison = ComparisonRun(subject="one on book.txt")
    asked.feature.start()
    assert not asked.begun, "what was asked for stays"


def test_the_editors_text_is_measured_for_what_is_in_a_file_only() -> None:
    house = CompareHouse([ONE, TWO], path="/two.json")
    house.feature.measure_text()
    assert [one.path for one in house.screen.comparison.tokenizers] == ["/two.json"]
    assert house.pane.table.choice == "metrics" and house.shown == ["compare"]
    unsaved = CompareHouse([ONE])
    unsaved.feature.measure_text()
    assert unsaved.screen.said and not unsaved.begun


def test_differences_stay_until_the_same_tokenizers_are_compared_again() -> None:
    house = CompareHouse([ONE, TWO], corpus=BOOK)
    house.feature.compare()
    found: Any = {1: "different"}
    house.screen.comparison = replace(
        house.screen.comparison, running=False, differences=found
    )
    house.feature.compare()
    assert house.screen.comparison.differences == found
    house.pane.picker.chosen = [TWO, ONE]
    house.feature.compare_marked()
    assert house.screen.comparison.differences == {}


@pytest.mark.parametrize(
    ("verdicts", "is_decided"),
    [
        ([], False),
        (["same"], False),
        (["same", "different"], True),
        (["same", "unknown"], False),
    ],
)
def test_a_comparison_is_decided_if_all_verdicts_are(
    verdicts: list[str], is_decided: bool
) -> None:
    found: Any = {
        number: SimpleNamespace(difference=SimpleNamespace(verdict=verdict))
        for number, verdict in enumerate(verdicts, 1)
    }
    run = ComparisonRun(tokenizers=(ONE, TWO, ONE), differences=found)
    assert run.is_decided == is_decided


WHOLE, PART = object(), object()


@pytest.mark.parametrize(
    ("path", "in_force", "half", "lanes"),
    [
        ("/one.json", WHOLE, 0, [LaneChoice("/two.json")]),
        ("/two.json", WHOLE, 0, [LaneChoice("/one.json")]),
        ("/one.json", PART, 0, [LaneChoice(), LaneChoice("/two.json")]),
        ("", WHOLE, 0, [LaneChoice("/one.json"), LaneChoice("/two.json")]),
        ("/one.json", WHOLE, 7, [LaneChoice("", 7)]),
        ("", PART, 7, [LaneChoice("/one.json"), LaneChoice("/one.json", 7)]),
    ],
)
def test_a_witness_is_put_into_the_editor_with_both_tokenizers_as_lanes(
    path: str, in_force: object, half: int, lanes: list[LaneChoice]
) -> None:
    house = CompareHouse([ONE, TWO], path=path, tokenizer=WHOLE, in_force=in_force)
    editor = house.screen.editor
    put: list[str] = []

    def put_text(text: str) -> None:
        put.append(text)
        editor.area.document.n_edits += 1

    editor.put = put_text
    editor.specials = False
    editor.action_toggle_specials = lambda: setattr(
        editor, "specials", not editor.specials
    )
    second = replace(ONE, name="step 7") if half else TWO
    house.screen.comparison = ComparisonRun(tokenizers=(ONE, second), half=half)
    house.lanes.chosen = (LaneChoice("/mine.json"),)
    house.feature._automatic = ("/one.json", 1)
    witness = Witness("<|x|>11", (1,), (2, 3), reads_specials=True)
    house.feature.show_witness(PairWitness(1, witness))
    assert house.lanes.chosen == [*lanes, LaneChoice("/mine.json")]
    assert put == ["<|x|>11"] and editor.specials and house.shown == ["editor"]
    assert house.feature._automatic == (path, 2), "coming back starts no other"
    house.feature.show_witness(PairWitness(1, Witness("11", (1,), (2, 3))))
    assert put[1:] == ["11"] and not editor.specials


# What is recovered from ranks


def test_merges_that_were_recovered_come_into_the_log_with_all_of_them_in_force() -> (
    None
):
    logs: list[tuple[int, int, int]] = []
    screen = FakeScreen(
        training=SimpleNamespace(
            begin=lambda *log: logs.append((len(log[0]), *log[1:]))
        ),
        mutate_reactive=lambda _: None,
        editor=SimpleNamespace(
            show_names=lambda: None, side=SimpleNamespace(show_token=lambda: None)
        ),
    )
    shown = Shown(as_screen(screen))
    shown.show_recovered_merges()
    assert not logs, "it has gone meanwhile"
    puts: list[tuple[Tokenizer, str, int]] = []
    shown._put = lambda *put: puts.append(put)  # type: ignore[method-assign]
    shown.loaded = Loaded(SMALL, Path("/ranks.tiktoken"))
    shown.show_recovered_merges()
    assert logs == [(14, 0, 0)] and puts == [(SMALL, "/ranks.tiktoken", 14)]


def test_what_was_there_before_a_training_comes_back_once_if_it_was_hidden() -> None:
    shown = Shown(as_screen(FakeScreen()))
    shows: list[Loaded] = []
    shown.show = shows.append  # type: ignore[method-assign]
    before = Loaded(SMALL, Path("/before.json"))
    shown._before = before
    shown.loaded = Loaded(SMALL, Path("/other.json"))
    shown.take_back()
    assert not shows, "another one is on the screen"
    shown.loaded = None
    shown.take_back()
    assert not shows, "it was asked for before"
    shown._before = before
    shown.take_back()
    shown.take_back()
    assert shows == [before]


# Patterns


async def test_ranks_are_split_as_is_said_once_and_their_merges_recovered(
    home: Path,
) -> None:
    path = home / "ranks.tiktoken"
    save(SMALL, path, format="tiktoken")
    refused = House(None)
    refused.tokenizers.load(path)
    await refused.screen.rest()
    assert not refused.loaded and refused.screen.notices[-1] == ""
    assert not refused.screen.remembered.patterns
    house = House("gpt2", "gpt4", "gpt4", None)
    recovered: list[bool] = []
    house.tokenizers._shown.show_recovered_merges = lambda: recovered.append(True)  # type: ignore[method-assign]
    house.tokenizers.load(path)
    await house.screen.rest()
    (loaded,) = house.loaded
    assert loaded.tokenizer.pattern == "gpt2" and recovered == [True]
    assert loaded.tokenizer.merges == SMALL.merges
    assert house.screen.remembered.patterns == {str(path): "gpt2"}
    assert "contains only ranks" in house.screen.asked[0]._question
    house.tokenizers.load(path)
    await house.screen.rest()
    assert len(house.screen.asked) == 1 and len(house.loaded) == 2
    for patterns, n_loaded in ("gpt4", 3), ("gpt4", 3), ("gpt4", 3):
        await house.tokenizers.change_pattern(str(path))
        await house.screen.rest()
        assert house.screen.remembered.patterns == {str(path): patterns}
        assert len(house.loaded) == n_loaded, "what is as before is not loaded again"
    assert [one._start for one in house.screen.asked[1:]] == ["gpt2", "gpt4", "gpt4"]


async def test_the_pattern_of_a_file_comes_back_when_it_is_chosen_again(
    home: Path,
) -> None:
    path = home / "small.json"
    save(SMALL, path)
    house = House("none", "gpt4", path=str(path))
    await house.tokenizers.change_pattern()
    assert house.screen.remembered.patterns == {str(path): "none"}
    await house.tokenizers.change_pattern()
    assert house.screen.remembered.patterns == {}
    await house.screen.rest()
    first, second = house.screen.asked
    assert "small.json splits text with 'gpt4'" in first._question
    assert (first._start, second._start) == ("gpt4", "none")
    nothing = House()
    await nothing.tokenizers.change_pattern()
    assert nothing.screen.said[0].startswith("There is no tokenizer yet")
    busy = House(run=Run("merging"), path=str(path))
    await busy.tokenizers.change_pattern()
    assert busy.screen.said == [BUSY] and not busy.screen.asked


# The list


async def test_what_is_taken_off_the_list_stays_a_file_and_what_is_deleted_does_not(
    shelf: Path, home: Path
) -> None:
    own, other = shelf / "own.json", home / "other.json"
    for path in own, other:
        save(SMALL, path)
    house = House(0, 1)
    screen, listed = house.screen, house.listed
    await listed.add(own, SMALL)
    await listed.add(other, SMALL)
    screen.remember(names={str(own): "mine", str(other): "theirs"})
    await listed.refresh()
    mine, theirs = screen.kept
    assert (mine.name, mine.origin) == ("mine", "trained")
    assert (theirs.name, theirs.origin) == ("theirs", "opened")
    await listed.discard(theirs)
    assert other.exists() and screen.kept == (mine,) and not screen.asked
    assert (
        f"theirs is removed from the list. Its file {other} remains"
        in (screen.said[-1])
    )
    assert screen.remembered.names == {str(own): "mine"}
    await listed.discard(mine)
    assert own.exists() and screen.kept == (mine,), "it was not meant"
    await listed.discard(mine)
    assert not own.exists() and not screen.kept and not screen.remembered.names


async def test_what_is_taken_off_the_list_takes_no_other_file_with_it(
    home: Path, shelf: Path
) -> None:
    house = House()
    for name in "abc":
        path = home / f"{name}.json"
        save(SMALL, path)
        await house.listed.add(path, SMALL)
    await house.listed.refresh()
    (known,) = [one for one in house.screen.kept if one.path.endswith("b.json")]
    await house.listed.discard(known)
    left = {Path(one.path).name for one in house.screen.kept}
    assert left == {"a.json", "c.json"}


def test_a_special_token_is_its_own_example() -> None:
    vocabulary = Vocabulary(SMALL.vocabulary.base, SMALL.merges, {"<|end|>": 900})
    tokenizer = Tokenizer(vocabulary, "gpt4")
    assert example(tokenizer, 900, None) == "<|end|>"
    for token in 256, 260:
        text = example(tokenizer, token, None)
        assert text is not None and token in tokenizer.encode(text)


async def test_those_of_stopped_trainings_go_unless_they_are_named_or_used(
    shelf: Path,
) -> None:
    record = SMALL.record and replace(SMALL.record, stop_reason=STOPPED)
    stopped = Tokenizer(SMALL.vocabulary, SMALL.pattern, record=record)
    paths = {name: shelf / f"{name}.json" for name in ("shown", "named", "lane", "old")}
    for path in paths.values():
        save(stopped, path)
    save(SMALL, shelf / "whole.json")
    lane = SimpleNamespace(choice=LaneChoice(str(paths["lane"])))
    house = House(1, path=str(paths["shown"]), lanes=(lane,))
    house.screen.remember(names={str(paths["named"]): "a name"})
    await house.listed.refresh()
    await house.listed.delete_stopped()
    (question,) = house.screen.asked
    assert question._question == (
        "Delete 1 unnamed tokenizer from stopped trainings: old?"
    )
    left = {path.stem for path in shelf.glob("*.json")}
    assert left == {"shown", "named", "lane", "whole"}
    await house.listed.delete_stopped()
    assert house.screen.said[-1].startswith(
        "All tokenizers from stopped trainings have a name"
    )


async def test_one_that_another_program_keeps_is_forgotten_also_by_the_next_search(
    cached: Path,
) -> None:
    house = House()
    house.listed.check_files(everywhere=True)
    await house.screen.rest()
    (found,) = house.screen.kept
    assert found.origin == "found"
    await house.listed.discard(found)
    assert not house.screen.kept and house.screen.remembered.forgotten == (str(cached),)
    house.listed.check_files(everywhere=True)
    await house.screen.rest()
    assert not house.screen.kept and cached.exists()


def test_it_is_told_how_much_of_the_texts_is_read_for_an_explanation() -> None:
    screen = FakeScreen(explained=StepExplained())
    feature = Explaining(as_screen(screen), cast(Shown, SimpleNamespace()))
    for done, total, share in (1, 4, "25%"), (4, 4, "100%"), (0, 0, "100%"):
        feature._hear(WorkProgress("counting", done, total))
        assert screen.explained.waiting == f"reading the texts {share}"


@pytest.mark.usefixtures("home")
async def test_other_programs_files_are_searched_only_where_that_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[object] = []

    def search(forgotten: object) -> tuple[KnownTokenizer, ...]:
        searched.append(forgotten)
        return ()

    monkeypatch.setattr(tokenizer_files, "found", search)
    house = House()
    house.listed.check_files()
    await house.screen.rest()
    assert not searched
    house.listed.check_files(everywhere=True)
    await house.screen.rest()
    assert searched == [()]


def test_the_pace_goes_through_all_of_them_and_stays_at_both_ends() -> None:
    screen = FakeScreen(pace=PACES[0])
    shown = Shown(as_screen(screen))
    paces = []
    for _ in PACES:
        paces.append(screen.pace)
        shown.change_pace(1)
    assert tuple(paces) == PACES and screen.pace == PACES[-1]
    for _ in range(len(PACES) + 1):
        shown.change_pace(-1)
    assert screen.pace == PACES[0]


# After a training


async def test_what_came_of_a_training_is_kept_named_and_told(
    shelf: Path,
) -> None:
    house = House()
    screen = house.screen
    kept: list[Loaded] = []
    house.results._shown.keep = kept.append  # type: ignore[method-assign]
    record = SMALL.record
    assert record is not None
    for name, saved in ("first", True), ("second", False):
        course = Course(TrainingTask("book", TrainingOptions(270, "gpt4")))
        course.note = Note.new(shelf / f"{name}.json", UNFINISHED)
        course.named = course.output
        course.begun = replace(record, steps=(), stop_reason="")
        course.merges = Merges()
        course.merges.extend(merges_of(LEARNED).columns)
        course.tokenizer = SMALL
        course.run = Run("done")
        course.reason = record.stop_reason
        if saved:
            save(SMALL, course.output)
            course.saved = course.output
        await house.results.conclude(course)
        course.note.end()
        assert course.saved == shelf / f"{name}.json"
        assert kept[-1].path == course.saved
        assert kept[-1].tokenizer.merges == load(course.saved).merges == SMALL.merges
        assert screen.remembered.tokenizer == str(course.saved)
    assert {one.path for one in screen.kept} == {
        str(shelf / f"{name}.json") for name in ("first", "second")
    }
    assert [said.partition(".")[0] for said in screen.said] == [
        "The training ended early"
    ]


async def test_a_training_that_learned_nothing_leaves_no_file_and_what_was_there(
    shelf: Path,
) -> None:
    house = House()
    backs: list[bool] = []
    house.results._shown.take_back = lambda: backs.append(True)  # type: ignore[method-assign]
    course = Course(TrainingTask("book", TrainingOptions(270, "gpt4")))
    course.note = Note.new(shelf / "book.json", UNFINISHED)
    course.saved = course.output
    course.stopped_at = 0
    save(SMALL, course.output)
    course.tokenizer = SMALL
    await house.results.conclude(course)
    course.note.end()
    assert backs == [True] and not list(shelf.iterdir()) and course.saved is None


# Until something is so


class GoalHouse(House):
    """A training whose log has some merges, on a screen that answers with conditions."""

    def __init__(self, *answers: object, **values: object) -> None:
        self.revealed: list[tuple[int, bool]] = []
        log = SimpleNamespace(
            merges=KeptMerges(SMALL),
            n_bytes=len(TEXT),
            reveal=lambda row, tell=False: self.revealed.append((row, tell)),
        )
        training = SimpleNamespace(log_of_merges=log)
        super().__init__(*answers, training=training, tokenizer=SMALL, **values)
        self.conditions: list[str] = []
        self.travelled: list[int] = []
        shown = cast(Any, self.training._shown)
        shown.n_steps = shown.requested_step = SMALL.step
        shown.start = lambda goal=None: self.conditions.append(str(goal))

        async def travel(by: int) -> None:
            self.travelled.append(by)
            shown.requested_step += by

        shown.travel = travel
        self.trained: list[str] = []

        async def train(*, stepping: bool = False, goal: object = None) -> None:
            self.trained.append(str(goal))

        self.training.train = train  # type: ignore[method-assign,assignment]


@pytest.mark.parametrize("busy", [False, True])
async def test_a_step_is_gone_to_or_waited_for_or_there_is_none(busy: bool) -> None:
    far = condition("step >= 99")
    house = GoalHouse(
        condition("length > 3"), far, None, run=Run("merging" if busy else "done")
    )
    course = house.training.newest = Course(TrainingTask("book", TrainingOptions()))
    await house.goals.go_to()
    lengths = [len(SMALL.token_bytes(token)) for _, _, token in SMALL.merges]
    first = next(row for row, length in enumerate(lengths) if length > 3)
    assert house.revealed == [(first, True)] and not house.screen.said
    await house.goals.go_to()
    assert house.conditions == ["step >= 99"] * busy
    assert course.goal == (far if busy else None)
    assert house.screen.said == (
        [] if busy else ["“step >= 99” does not hold at any step up to 14."]
    )
    await house.goals.go_to()
    assert len(house.revealed) == 1 and len(house.conditions) == busy


async def test_a_training_goes_on_until_a_condition_that_does_not_hold_yet() -> None:
    idle = GoalHouse(condition("step >= 3"), None)
    for _ in range(2):
        await idle.goals.train_until()
    assert idle.trained == ["step >= 3"]
    busy = GoalHouse(
        condition("step >= 3"), condition("step >= 99"), run=Run("merging")
    )
    for _ in range(2):
        await busy.goals.train_until()
    assert busy.screen.said == [
        "This first holds at step 3. Press g in the merge log to go there."
    ]
    assert busy.conditions == ["step >= 99"] and not busy.trained


async def test_steps_are_shown_as_far_as_they_are_learned_and_then_waited_for() -> None:
    house = GoalHouse(run=Run("merging"))
    shown = cast(Any, house.training._shown)
    course = house.training.newest = Course(TrainingTask("book", TrainingOptions()))
    await house.goals.step_once()
    assert str(course.goal) == "step >= 1" and course.stepped, (
        "it is not on the screen yet"
    )
    await house.goals.step_once()
    assert str(course.goal) == "step >= 2", "two are waited for"
    course.goal = None
    shown.course = course
    shown.requested_step = 12
    await house.goals.step_once()
    assert house.travelled == [1] and shown.requested_step == 13
    shown.requested_step = 14
    await house.goals.step_once()
    assert str(course.goal) == "step >= 15" and house.travelled == [1]
    course.ended = Run("done")
    shown.requested_step = 12
    for n_travelled, is_over in (2, False), (3, True):
        await house.goals.step_once()
        assert len(house.travelled) == n_travelled
        assert course.all_shown.is_set() == is_over
    house.screen.run = Run("done")
    await house.goals.step_once()
    assert house.screen.said[-1].startswith("That was the last merge")
    assert not house.trained
    await house.goals.step_once()
    assert house.trained == ["None"], "it is said once"


async def test_stepping_past_the_last_merge_while_the_worker_ends_is_reported() -> None:
    for stepped in True, False:
        house = GoalHouse(run=Run("merging"))
        course = Course(TrainingTask("book", TrainingOptions()))
        house.training.newest = course
        course.goal = condition("step >= 15")
        course.stepped = stepped
        course.ended = Run("done", detail="vocabulary size reached")
        ended = await house.training._end_of(course)
        if stepped:
            assert ended == course.ended
            assert house.screen.said == [NO_MORE_MERGES]
        else:
            assert ended.detail == "not reached: step >= 15; vocabulary size reached"
            assert not house.screen.said
        house.screen.run = Run("done")
        await house.goals.step_once()
        assert house.trained == ["None"], "it was said before"


async def test_a_training_stepped_to_its_last_merge_ends_without_another_key() -> None:
    house = GoalHouse(run=Run("showing"), playing=False)
    course = Course(TrainingTask("book", TrainingOptions()))
    course.merges.extend(merges_of(LEARNED).columns)
    course.stepped = True
    course.ended = Run("done")
    shown = cast(Any, house.training._shown)
    shown.course = course
    shown.requested_step = 13
    ending = asyncio.create_task(house.training._end_of(course))
    await asyncio.sleep(0)
    assert not ending.done()
    ending.cancel()
    shown.requested_step = 14
    ending = asyncio.create_task(house.training._end_of(course))
    await asyncio.sleep(0)
    assert ending.done() and ending.result() == course.ended


async def test_a_goal_that_no_merge_reaches_is_known_at_the_end() -> None:
    screen = FakeScreen(
        run=Run("showing"), tokenizer=SMALL, step=14, pace=0, playing=True, goal=""
    )
    shown = Shown(as_screen(screen))
    shown.course = course = Course(TrainingTask("book", TrainingOptions()))
    course.run = screen.run
    course.begun = SMALL.record
    course.merges.extend(merges_of(LEARNED).columns)
    course.goal = condition("step >= 99")
    await shown._advance()
    assert screen.playing and not course.all_shown.is_set()
    course.ended = Run("done")
    await shown._advance()
    assert not screen.playing and course.all_shown.is_set()
    assert str(course.goal) == "step >= 99"


def test_a_goal_is_told_unless_it_is_the_next_step_of_somebody_who_steps() -> None:
    screen = FakeScreen(goal="", playing=True)
    shown = Shown(as_screen(screen))
    wanted = condition("ratio >= 2")
    shown._set_goal(wanted)
    assert screen.goal == "until ratio >= 2"
    shown.course = course = Course(TrainingTask("book", TrainingOptions()))
    shown._set_goal(None)
    assert (screen.goal, course.goal) == ("", None)
    course.stepped = True
    shown._set_goal(wanted)
    assert (screen.goal, course.goal) == ("", wanted)
    course.stepped = False
    shown._set_goal(wanted)
    assert screen.goal == "until ratio >= 2"
