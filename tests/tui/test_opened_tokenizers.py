"""The list of tokenizers: what it keeps of a file, what it says when that has gone or changed, whom it tells apart."""

import asyncio
import hashlib
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bpe_core import Tokenizer, hub, save, train
from tui.disk import tokenizer_files
from tui.disk.config import Configuration
from tui.disk.tokenizer_files import described, found, listed, seen, trouble_of
from tui.features.listed_tokenizers import MOST_OPENED, ListedTokenizers
from tui.screen import MainScreen
from tui.state import KnownTokenizer, Opened
from tui.widgets.tokenizer_names import distinct_names, sentences

SMALL = train("the theme of the other thesis " * 9, vocab_size=264, pattern="gpt2")


def known(path: str, name: str, **more: object) -> KnownTokenizer:
    return replace(KnownTokenizer(path, name, 1024, "opened"), **more)


def test_what_was_seen_of_a_file_is_held_against_what_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    save(SMALL, path)
    opened = seen(path, SMALL)
    assert (opened.n_vocab, opened.pattern, opened.size) == (
        264,
        "gpt2",
        path.stat().st_size,
    )
    assert trouble_of(opened) == ""
    path.write_text(path.read_text() + " ")
    assert trouble_of(opened) == "changed"
    save(SMALL, path)
    os.utime(path, ns=(0, opened.modified + 1))
    assert trouble_of(opened) == "changed", "as long as before, but written later"
    path.unlink()
    assert trouble_of(opened) == "gone"
    assert (
        trouble_of(Opened(str(path))) == "gone"
        and trouble_of(Opened("/no\0thing")) == "gone"
    )


def test_a_file_that_was_only_named_is_read_for_the_list_if_it_can_be(
    tmp_path: Path,
) -> None:
    ranks = tmp_path / "ranks.tiktoken"
    save(SMALL, ranks, format="tiktoken")
    assert described(Opened(str(ranks)), None) == Opened(str(ranks)), (
        "it does not tell how it splits"
    )
    assert described(Opened(str(ranks)), "gpt4").pattern == "gpt4"
    assert described(Opened(str(tmp_path / "none")), None).n_vocab == 0


def test_each_file_is_listed_once_under_the_name_it_was_given() -> None:
    own = (KnownTokenizer("/data/a.json", "a", 300),)
    found = (KnownTokenizer("/cache/x", "gpt-4o", 0, "found", "gpt-4o"),)
    opened = (
        Opened("/cache/x", "gpt-4o", 200_000, "gpt4o", 1, 2),
        Opened(
            "/cache/y", "some/model", 500, "qwen2", 1, 2
        ),  # the program that kept it has thrown it away
        Opened("/models/q/tokenizer.json", "", 600, "", 1, 2),
    )
    names = {"/data/a.json": "Anna"}
    patterns = {"/data/a.json": "gpt2", "/cache/y": "none"}
    rows = listed(own, found, opened, names, patterns, {"/cache/y": "gone"})
    assert [row.pattern for row in rows] == ["gpt2", "gpt4o", "none", ""]
    assert [(row.name, row.n_vocab, row.origin, row.trouble) for row in rows] == [
        ("Anna", 300, "trained", ""),
        ("gpt-4o", 200_000, "found", ""),
        ("some/model", 500, "found", "gone"),
        ("q/tokenizer", 600, "opened", ""),
    ]


@pytest.mark.parametrize(
    ("one", "other", "marks"),
    [
        (
            known("/m/old/mine.json", "mine"),
            known("/m/new/mine.json", "mine"),
            ("old", "new"),
        ),
        (
            known("/m/old/v1/mine.json", "mine"),
            known("/m/new/v1/mine.json", "mine"),
            ("old", "new"),
        ),
        (
            known("/m/mine.json", "mine"),
            known("/d/mine.json", "mine", origin="trained"),
            ("m", "trained here"),
        ),
        (
            known("/m/mine.json", "mine"),
            known("/m/mine.tiktoken", "mine"),
            (".json", ".tiktoken"),
        ),
        (
            known("/d/a.json", "mine", origin="trained", n_vocab=300),
            known("/d/b.json", "mine", origin="trained", n_vocab=1000),
            ("300 tokens", "1,000 tokens"),
        ),
        (
            known("/d/a.json", "mine", origin="trained", modified=10**18),
            known("/d/b.json", "mine", origin="trained", modified=2 * 10**18),
            (" Sep, ", " May, "),
        ),
        (
            known("/d/a.json", "mine", origin="trained"),
            known("/d/b.json", "mine", origin="trained"),
            ("/d/a.json", "/d/b.json"),
        ),
    ],
)
def test_two_of_one_name_are_told_apart(
    one: KnownTokenizer, other: KnownTokenizer, marks: tuple[str, str]
) -> None:
    names = distinct_names((one, other, known("/m/alone.json", "alone")))
    assert names["/m/alone.json"] == "alone"
    for row, mark in zip((one, other), marks, strict=True):
        assert names[row.path].startswith("mine · ") and mark in names[row.path]
    assert names[one.path] != names[other.path]


def test_a_tokenizer_is_told_of_in_sentences() -> None:
    assert sentences(known("/m/mine.json", "mine", pattern="gpt4")) == [
        "1,024 tokens; text is split as gpt4.",
        "Opened from a file.",
        "/m/mine.json",
    ]
    gone = sentences(known("/m/mine.json", "mine", trouble="gone", pattern=r"\w+|\W"))
    assert gone[0].startswith("Its file is missing") and r"split by '\w+|\W'" in gone[1]
    assert (
        "has changed" in sentences(known("/m/mine.json", "mine", trouble="changed"))[0]
    )
    assert (
        sentences(known("/c/x", "x", origin="found", found_as="gpt-4o"))[1]
        == "Kept by another program as gpt-4o."
    )
    assert sentences(known("/d/x", "x", origin="trained", modified=10**18))[
        1
    ].startswith("Trained here on ")


class Shelf(ListedTokenizers):
    """The list on a screen that only remembers."""

    def __init__(self, **remembered: object) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        screen = SimpleNamespace(
            run_worker=lambda work, group: (
                self.tasks.append(asyncio.create_task(work())) or self.tasks[-1]
            ),
            kept=(),
            lanes=(),
            pattern_for=lambda path: None,
            remembered=replace(Configuration(), **remembered),
            remember=lambda **changes: vars(screen).update(
                remembered=replace(screen.remembered, **changes)
            ),
        )
        super().__init__(cast(MainScreen, screen))

    async def search(self) -> None:
        self.check_files(everywhere=True)
        await asyncio.gather(*self.tasks, return_exceptions=True)


@pytest.mark.usefixtures("home")
async def test_whoever_looks_at_the_list_early_does_not_keep_the_others_out_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = known("/c/x", "gpt-4o", origin="found")
    monkeypatch.setattr(tokenizer_files, "found", lambda forgotten: (row,))
    shelf = Shelf()
    shelf.check_files(everywhere=True)
    await asyncio.sleep(0)
    shelf.check_files()
    await asyncio.gather(*shelf.tasks, return_exceptions=True)
    assert shelf.screen.kept == (row,)


@pytest.mark.usefixtures("home")
async def test_only_so_many_from_elsewhere_are_remembered(tmp_path: Path) -> None:
    shelf = Shelf()
    paths = [tmp_path / f"{n}.json" for n in range(MOST_OPENED + 5)]
    for path in (*paths, paths[7]):
        await shelf.add(path, SMALL)
    assert [one.path for one in shelf.screen.kept] == list(
        map(str, (*paths[5:7], *paths[8:], paths[7]))
    )


@pytest.mark.usefixtures("home")
async def test_a_search_that_ends_while_a_file_is_opened_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    for path in (first, second):
        save(SMALL, path)
    shelf, loop = (
        Shelf(opened=(Opened(str(first)), Opened(str(second)))),
        asyncio.get_running_loop(),
    )

    def seen_late(path: Path, tokenizer: Tokenizer, found_as: str = "") -> Opened:
        if path == second:
            asyncio.run_coroutine_threadsafe(shelf.search(), loop).result()
        return seen(path, tokenizer, found_as)

    monkeypatch.setattr(tokenizer_files, "found", lambda forgotten: ())
    monkeypatch.setattr(
        tokenizer_files, "described", lambda opened, _: seen(Path(opened.path), SMALL)
    )
    monkeypatch.setattr(tokenizer_files, "seen", seen_late)
    await shelf.add(second, SMALL)
    assert [(one.name, one.n_vocab) for one in shelf.screen.kept] == [
        ("first", 264),
        ("second", 264),
    ]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where both libraries keep what they fetch."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_model_of_the_hub_is_listed_by_its_name(cache: Path) -> None:
    assert found() == (), "there is no cache yet"
    snapshot = cache / "hub" / "models--some--model-7b" / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    (snapshot / "vocab.json").write_text("{}")
    (snapshot / "tokenizer.json").write_text("{}")
    (cache / "hub" / "models--empty--one" / "snapshots" / "1").mkdir(parents=True)
    (cache / "hub" / "datasets--not--this").mkdir()
    (model,) = found()
    assert (model.name, Path(model.path).name, model.origin) == (
        "some/model-7b",
        "tokenizer.json",
        "found",
    )


def test_a_rank_file_is_known_by_its_place_and_its_content(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        hub._DIGEST_OF, "cl100k_base", hashlib.sha256(b"test").hexdigest()
    )
    for name in ("cl100k_base", "o200k_base"):
        address = (
            f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
        )
        (cache / hashlib.sha1(address.encode()).hexdigest()).write_bytes(b"test")
    assert [tokenizer.name for tokenizer in found()] == ["cl100k_base"]
