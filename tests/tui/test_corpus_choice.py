"""What is chosen to learn from: added, read by a field, weighed, counted; on a screen without widgets."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scope import TEXT
from test_features import FakeScreen, as_screen

from bpe_core import save, train
from bpe_core.errors import OptionError
from bpe_core.worker.messages import Counted
from tui.features.corpus import CorpusChoice, _check, path_of, possible
from tui.features.course import TrainingTask
from tui.features.listed_tokenizers import ListedTokenizers
from tui.features.shown import Shown
from tui.features.tokenizers import Tokenizers
from tui.state import Corpus, KnownTokenizer, Totals, TrainingOptions


class CorpusHouse:
    """The choice of texts on a screen that answers."""

    def __init__(self, *answers: object, **values: object) -> None:
        self.patterns: list[str] = []
        self.fields = SimpleNamespace(
            chosen=lambda: self.screen.options, choose_pattern=self.patterns.append
        )
        self.screen = FakeScreen(
            *answers,
            training=SimpleNamespace(fields=self.fields),
            corpus_pane=SimpleNamespace(beginning=lambda: "some text"),
            **values,
        )
        screen = as_screen(self.screen)
        shown = SimpleNamespace(loaded=None, show=lambda loaded: None)
        self.tokenizers = Tokenizers(
            screen, cast(Shown, shown), ListedTokenizers(screen)
        )
        self.feature = CorpusChoice(screen, self.tokenizers)

    @property
    def totals(self) -> Totals | None:
        totals: Totals | None = self.screen.totals
        return totals


def same_text(home: Path, name: str) -> Path:
    path = home / name
    path.write_text(TEXT)
    return path


@pytest.mark.usefixtures("workers_in_thread")
async def test_a_path_is_added_once_counted_and_remembered(home: Path) -> None:
    a, b = same_text(home, "a.txt"), same_text(home, "b.txt")
    reference = ("/reference.txt",)
    house = CorpusHouse(b, b, None, corpus=Corpus((str(a),), reference, "a.txt"))
    for _ in range(3):
        await house.feature.add_path()
        await house.screen.rest()
    both = (str(a), str(b))
    assert house.screen.corpus == Corpus(both, reference, "a.txt + b.txt")
    assert house.screen.remembered.corpus == both
    assert house.screen.remembered.reference == reference
    assert house.totals and house.totals.counted
    assert house.totals.counted.bytes == 2 * len(TEXT) and not house.totals.error


async def test_a_tokenizer_is_added_only_where_it_is_taken_for_a_text(
    home: Path,
) -> None:
    path = home / "small.json"
    save(train(TEXT, vocab_size=260), path)
    for answer, paths in (None, ()), (0, ()), (1, (str(path),)):
        house = CorpusHouse(path, answer)
        house.feature.count = lambda: None  # type: ignore[method-assign]
        await house.feature.add_path()
        assert house.screen.corpus.paths == paths
        for task in house.screen.tasks:
            task.cancel()


@pytest.mark.usefixtures("workers_in_thread")
async def test_a_field_takes_the_place_of_the_one_that_was_read(home: Path) -> None:
    path, other = home / "rows.csv", same_text(home, "other.txt")
    path.write_text("headline,review\none,longer than it\ntwo,longer than that\n")
    house = CorpusHouse(
        "headline", "review", None, corpus=Corpus((str(path), str(other)))
    )
    chosen = str(path)
    for field in "headline", "review", "review":
        await house.feature.choose_field(chosen)
        await house.screen.rest()
        chosen = f"{path}::{field}"
        assert house.screen.corpus.paths == (str(other), chosen)
    assert house.totals and house.totals.counted
    n_bytes = len("longer than it" + "longer than that")
    assert house.totals.counted.bytes == len(TEXT) + n_bytes
    first = house.screen.asked[0]
    assert list(first._fields) == ["review", "headline"], "first the one that is read"
    assert first._fields["headline"] == ["one", "two"]
    assert next(iter(house.screen.asked[1]._fields)) == "headline"
    await house.feature.choose_field(str(other))
    assert "has no fields" in house.screen.said[-1]


@pytest.mark.usefixtures("workers_in_thread")
async def test_weights_are_remembered_counted_with_and_forgotten_at_once(
    home: Path,
) -> None:
    a, b = same_text(home, "a.txt"), same_text(home, "b.txt")
    house = CorpusHouse("3", "2/2", None, corpus=Corpus((str(a), str(b))))
    for weights, whole in ({str(a): "3"}, 4), ({}, 2), ({}, 2):
        await house.feature.weigh(str(a), "a.txt")
        await house.screen.rest()
        assert house.screen.options.weights == weights
        assert house.screen.remembered.options.weights == weights
        assert house.totals and house.totals.counted
        sizes = house.totals.counted.sources
        assert sum(size for _, _, size in sizes) == whole * len(TEXT)
    starts = [question._start for question in house.screen.asked]
    assert starts == ["1", "3", "1"]


@pytest.mark.usefixtures("workers_in_thread")
async def test_what_cannot_be_counted_is_said_in_the_place_of_the_totals(
    home: Path,
) -> None:
    house = CorpusHouse()
    house.feature.choose(Corpus((str(home / "nowhere"),)))
    await house.screen.rest()
    assert house.totals and house.totals.error and house.totals.counted is None
    assert not house.screen.said, "that is enough"
    house.feature.choose(Corpus())
    await house.screen.rest()
    assert house.totals is None
    house.screen.options = TrainingOptions(more={"dask": "local"})
    house.feature.choose(Corpus((str(same_text(home, "a.txt")),)))
    await house.screen.rest()
    assert house.totals and house.totals.error.startswith(
        "Dask's workers count the texts"
    )


async def test_a_training_counts_for_whoever_waits_for_the_same_texts() -> None:
    house = CorpusHouse(corpus=Corpus(("/a.txt",)))
    begun: list[Callable[..., object]] = []
    cancelled: list[bool] = []
    house.feature.begin = lambda work, *_: begun.append(work)  # type: ignore[method-assign]
    house.feature.cancel = lambda *_: cancelled.append(True)  # type: ignore[method-assign]
    house.feature.count()
    totals = Totals(Counted(1, 11, 11, 1, 1))
    same = TrainingTask("", TrainingOptions(999, ties="largest"), ("/a.txt",))
    for other in (
        TrainingTask("", TrainingOptions(), ("/b.txt",)),
        TrainingTask("", TrainingOptions(pattern="gpt2"), ("/a.txt",)),
        TrainingTask("", TrainingOptions(), preset="letters"),
    ):
        house.feature.leave_to_training(other, totals)
        assert not cancelled and house.totals is None
    house.feature.leave_to_training(same)
    assert cancelled == [True] and house.totals is None
    house.feature.leave_to_training(same, totals)
    assert house.totals is totals
    house.feature.leave_to_training(same)
    assert house.totals is totals, "what is known stays"
    house.feature.go_on()
    assert len(begun) == 1, "nothing is missing"
    house.screen.totals = None
    house.feature.go_on()
    assert len(begun) == 2
    house.feature._tasks[""] = cast(
        Any, SimpleNamespace(is_finished=False, is_cancelled=False)
    )
    house.feature.go_on()
    assert len(begun) == 2, "it is being counted"


async def test_options_that_change_what_is_read_are_counted_with() -> None:
    house = CorpusHouse()
    counts: list[bool] = []
    house.feature.count = lambda: counts.append(True)  # type: ignore[method-assign]
    options = TrainingOptions(500)
    for changed, n_counted in (
        (options, 0),
        (replace(options, more={"sample": "1/2"}), 1),
        (replace(options, more={"sample": "1/2"}, ties="largest"), 1),
        (replace(options, weights={"/a.txt": "2"}), 2),
    ):
        house.feature.choose_options(changed)
        assert house.screen.options == house.screen.remembered.options == changed
        assert len(counts) == n_counted
    house.feature.choose_pattern("gpt2")
    assert house.screen.options.pattern == "gpt2" and len(counts) == 3

    def refuse() -> TrainingOptions:
        raise ValueError("That is no number.")

    assert house.feature.chosen_options() == house.screen.options
    house.fields.chosen = refuse
    assert house.feature.chosen_options() is None
    assert house.screen.said == ["That is no number."]
    await house.feature.more_options()
    assert not house.screen.asked


async def test_a_pattern_that_is_asked_for_is_chosen_or_the_one_before_stays() -> None:
    house = CorpusHouse(r"\w+", None)
    house.feature.count = lambda: None  # type: ignore[method-assign]
    for _ in range(2):
        await house.feature.ask_pattern()
        assert house.screen.options.pattern == r"\w+"
    assert house.patterns == [r"\w+", r"\w+"]
    assert house.screen.asked[0]._read() == "some text"


async def test_rare_options_are_taken_if_a_training_can_begin_with_them(
    home: Path,
) -> None:
    kept = (KnownTokenizer(str(home / "one.json"), "one", 300),)
    wanted = TrainingOptions(more={"extend": "one"})
    house = CorpusHouse(wanted, None, kept=kept)
    house.feature.count = lambda: None  # type: ignore[method-assign]
    for _ in range(2):
        await house.feature.more_options()
        assert house.screen.options == wanted
    assert path_of("one", kept) == path_of(str(home / "one.json"), kept)
    assert path_of("one", kept) == home / "one.json"
    assert path_of("~/other.json", kept) == home / "other.json"
    with pytest.raises(OptionError, match="Unknown tokenizer"):
        _check(kept, (), wanted)
    (home / "one.json").touch()
    _check(kept, (), wanted)
    with pytest.raises(OptionError):
        _check(kept, (), replace(wanted, more={"sample": "2"}))


def test_of_remembered_options_those_of_another_version_become_the_usual_ones() -> None:
    usual = TrainingOptions()
    odd = TrainingOptions(256, "(", "odd", 0, ("<s>",), {"seed": "7", "odd": "1"})
    assert possible(odd) == replace(usual, special_tokens=("<s>",), more={"seed": "7"})
    good = TrainingOptions(257, r"\w+", "lowest", 2, weights={"/a": "2"})
    assert possible(good) == good


@pytest.mark.parametrize(
    ("first_time", "corpus", "title", "n_paths"),
    [
        (False, ("a.txt", "gone", "a.txt"), "a.txt", 1),
        (True, ("a.txt",), "a.txt", 1),
        (False, (), "nothing chosen", 0),
        (True, (), "A story in English", 1),
    ],
)
async def test_what_was_chosen_comes_back_as_far_as_it_is_there(
    home: Path, first_time: bool, corpus: tuple[str, ...], title: str, n_paths: int
) -> None:
    path = str(same_text(home, "a.txt"))
    house = CorpusHouse()
    house.screen.remember(
        corpus=tuple(str(home / name) for name in corpus), reference=(path, "/gone")
    )
    house.feature.count = lambda: None  # type: ignore[method-assign]
    await house.feature.bring_back(first_time=first_time)
    shown = house.screen.corpus
    assert (shown.title, shown.reference) == (title, (path,))
    assert len(shown.paths) == n_paths and not (corpus and shown.paths != (path,))
