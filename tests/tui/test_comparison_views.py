"""The tables of a comparison, without an app: what their rows say, how they are sorted, and where they lead."""

from typing import Any

import pytest

from bpe_core import metrics, train
from bpe_core.metrics.catalog import OF_PARTS
from bpe_core.worker.compare import summary
from tui.drawing.comparison_view import Choices, View, ending
from tui.drawing.comparison_views import views
from tui.state.comparison import Compared, Comparison

TEXT = "the theme of the other thesis, the thing that they thought through 12345 times; мир\n" * 5
WIDTHS = {"name": 20, "where": 12, "plot": 21, "t0": 16, "t1": 16, "t2": 16}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """Three tokenizers on three texts in two folders, as a worker tells it."""
    three = [train(TEXT, vocab_size=size) for size in (270, 300, 258)]
    found = metrics.Comparison(three)
    for folder, name, text in (("en", "en/a.txt", TEXT), ("ru", "ru/a.txt", "мир мир"), ("ru", "b", "")):
        found.add(f"deep/{name}", text, path=f"/deep/{name}", folder=folder)
    everything = summary(found, ["a", "b", "c"], n_examples=50, n_lines=50)
    compared = tuple(Compared(f"/{name}.json", name) for name in ("alpha", "beta", "gamma"))
    return Comparison(False, "", "", compared, found.texts, everything)


def seen(comparison: Comparison, key: str, **chosen: Any) -> View:
    return next(view for view in views(comparison, Choices(**chosen)) if view.key == key)


def test_each_view_draws_each_of_its_rows(comparison: Comparison) -> None:
    for metric in OF_PARTS:
        for tokenizer in range(3):
            for view in views(comparison, Choices(metric, tokenizer, 1)):
                keys = {column.key for column in view.columns}
                for number in range(view.n_rows):
                    row = view.row(number, WIDTHS)
                    assert row.hint and set(row.texts) <= keys | {"more", "plot"}
                    if view.value is not None:
                        assert all(view.value(number, key) is not None for key in keys)


def test_rows_tell_what_was_counted(comparison: Comparison) -> None:
    n = [len(train(TEXT, vocab_size=size).encode(TEXT)) for size in (270, 300, 258)]
    row = seen(comparison, "texts").row(0, WIDTHS)
    assert [row.texts[f"t{index}"] for index in range(3)] == [f"{one:,}" for one in n]
    assert row.texts["more"] == " ".join(f"{one / n[0] - 1:+.0%}" for one in n[1:])
    assert row.texts["name"] == "en/a.txt", "what all names begin with is left out"
    assert row.target is not None and row.target[:2] == ("/deep/en/a.txt", 1)
    words = seen(comparison, "folders", metric="continued_words").row(0, WIDTHS)
    assert words.texts["t0"] == seen(comparison, "texts", metric="continued_words").row(0, WIDTHS).texts["t0"]


def test_parity_relates_to_the_row_that_is_chosen(comparison: Comparison) -> None:
    assert comparison.found is not None
    folders = comparison.found["folders"]
    row = seen(comparison, "folders", metric="parity", reference=1).row(0, WIDTHS)
    assert row.texts["t2"] == f"{folders[0]['tokens'][2] / folders[1]['tokens'][2]:.2f}"
    assert "t0" not in seen(comparison, "scripts", metric="parity").row(0, WIDTHS).texts


def test_lists_lead_to_their_places(comparison: Comparison) -> None:
    lines = seen(comparison, "lines", tokenizer=2)
    row = lines.row(0, WIDTHS)
    assert row.target == ("/deep/en/a.txt", 1, 0, 0)
    assert row.texts["where"] == "…/en/a.txt:1"
    assert row.texts["line"] == TEXT.splitlines()[0]
    pair = seen(comparison, "disagreements", tokenizer=2)
    assert [column.key for column in pair.columns] == ["times", "t0", "t2", "where"]
    found = pair.row(0, WIDTHS)
    assert found.target is not None and found.target.length > 0
    assert "│" in found.texts["t0"] + found.texts["t2"]


def test_a_single_tokenizer_has_no_pairs(comparison: Comparison) -> None:
    one = metrics.Comparison([train(TEXT, vocab_size=270)])
    one.add("text", TEXT)
    alone = Comparison(
        False, "", "", comparison.tokenizers[:1], one.texts, summary(one, ["a"], n_examples=5, n_lines=5)
    )
    assert [view.key for view in views(alone, Choices())] == ["texts", "scripts", "metrics"]
    assert [view.key for view in views(Comparison(True, texts=one.texts, tokenizers=alone.tokenizers), Choices())] == [
        "texts"
    ], "what is told of all texts comes at the end"
    assert views(Comparison(), Choices()) == []


def test_names_are_cut_where_they_are_alike() -> None:
    assert ending("日本語/テキスト.txt", 9) == "…スト.txt"
    assert ending("short", 9) == "short"
