"""The tables of a comparison, without an app: what their rows say, how they are sorted, and where they lead."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from scope import alone
from test_table import dropped, worked_out

from bpe_core import train
from bpe_core.metrics import comparison as metrics
from bpe_core.metrics.catalog import METRICS, OF_PARTS
from bpe_core.worker.comparison_json import summary
from tui.state import ComparisonRun, KnownTokenizer, PlaceInText
from tui.table.columns import Cell
from tui.table.rows import rows_in_order
from tui.widgets.comparison_table import ComparisonTable
from tui.widgets.comparison_views import views
from tui.widgets.comparison_views.view import Aspect, View

TEXT = (
    "the theme of the other thesis, the thing that they thought through 12345 times; мир\n"
    * 5
)
WIDTHS = {"name": 20, "where": 12, "plot": 21, "t0": 16, "t1": 16, "t2": 16}


@pytest.fixture(scope="module")
def comparison() -> ComparisonRun:
    """Three tokenizers on three texts in two folders, as a worker tells it."""
    three = [train(TEXT, vocab_size=size) for size in (270, 300, 258)]
    found = metrics.Comparison(three)
    for folder, name, text in (
        ("e_n", "en/a.txt", TEXT),
        ("ru", "ru/a.txt", "мир мир"),
        ("ru", "b", ""),
    ):
        found.add(f"deep/{name}", text, path=f"/deep/{name}", folder=folder)
    everything = summary(
        found, [(name, "") for name in "abc"], n_examples=50, n_lines=50
    )
    compared = tuple(
        KnownTokenizer(f"/{name}.json", name, 0) for name in ("alpha", "beta", "gamma")
    )
    return ComparisonRun(False, "", "", compared, found.texts, everything)


def of_one(comparison: ComparisonRun, text: str) -> ComparisonRun:
    """The first of the tokenizers on one text."""
    one = metrics.Comparison([train(TEXT, vocab_size=270)])
    one.add("text", text)
    return replace(
        comparison,
        tokenizers=comparison.tokenizers[:1],
        texts=one.texts,
        found=summary(one, [("a", "")]),
    )


def texts(view: View, row: int) -> dict[str, str]:
    """Key of a column -> what it says of a row."""
    found = {}
    for column in view.columns:
        cell = column.cell(None, row)
        text = cell.text if isinstance(cell, Cell) else cell
        found[column.key] = (
            text
            if isinstance(text, str)
            else text(WIDTHS.get(column.key, column.width))
        )
    return found


def seen(comparison: ComparisonRun, key: str, **aspect: Any) -> View:
    return next(view for view in views(comparison, Aspect(**aspect)) if view.key == key)


def test_each_view_draws_and_sorts_each_of_its_rows(comparison: ComparisonRun) -> None:
    for metric in OF_PARTS:
        for tokenizer in range(3):
            for view in views(comparison, Aspect(metric, tokenizer, 1)):
                for row in range(view.n_rows):
                    assert view.row(row).hint and texts(view, row)
                for column in view.columns:
                    if column.sort is not None:
                        steps = rows_in_order(
                            view.n_rows, partial(column.sort, None), descending=False
                        )
                        assert sorted(worked_out(steps)) == [*range(view.n_rows)]


@pytest.mark.parametrize(
    ("key", "gone", "right", "descending"),
    [
        (
            "texts",
            "bytes plot more",
            "bytes t0 t1 t2 more",
            "bytes t0 t1 t2 more plot",
        ),
        ("metrics", "unit", "t0 t1 t2", ""),
        ("lines", "where", "more t0 t1 t2", "more t0 t1 t2"),
        ("disagreements", "where", "times", "times t0 t1"),
    ],
)
def test_numbers_are_aligned_and_narrow_tables_drop_what_tells_least(
    comparison: ComparisonRun, key: str, gone: str, right: str, descending: str
) -> None:
    columns = seen(comparison, key).columns
    assert dropped(columns) == gone.split()
    assert [column.key for column in columns if column.right] == right.split()
    assert [
        column.key for column in columns if column.descending
    ] == descending.split(), "the largest first"


def test_rows_tell_what_was_counted(comparison: ComparisonRun) -> None:
    n = [len(train(TEXT, vocab_size=size).encode(TEXT)) for size in (270, 300, 258)]
    view = seen(comparison, "texts")
    row = texts(view, 0)
    assert [row[f"t{index}"] for index in range(3)] == [f"{one:,}" for one in n]
    assert row["more"] == " ".join(f"{one / n[0] - 1:+.0%}" for one in n[1:])
    assert row["name"] == "en/a.txt", "what all names begin with is left out"
    assert view.row(0).target == PlaceInText("/deep/en/a.txt", 1, 0, 0)
    words = seen(comparison, "folders", metric="continued_words")
    assert texts(words, 0)["name"] == "e_n", "as it is called"
    assert (
        texts(words, 0)["t0"]
        == texts(seen(comparison, "texts", metric="continued_words"), 0)["t0"]
    )


@pytest.mark.parametrize("kind", ["folder", "script"])
def test_folders_and_scripts_have_every_metric_of_texts(
    comparison: ComparisonRun, kind: str
) -> None:
    assert comparison.found is not None
    for number, part in enumerate(comparison.found[f"{kind}s"]):
        for metric in OF_PARTS.keys() - {"parity"}:
            row = texts(seen(comparison, f"{kind}s", metric=metric), number)
            shown = [row[f"t{index}"] for index in range(3)]
            form = METRICS[metric].form
            assert shown == [format(value, form) for value in part[metric]]


def test_parity_relates_to_the_row_that_is_chosen(comparison: ComparisonRun) -> None:
    assert comparison.found is not None
    folders = comparison.found["folders"]
    row = texts(seen(comparison, "folders", metric="parity", reference=1), 0)
    assert row["t2"] == f"{folders[0]['tokens'][2] / folders[1]['tokens'][2]:.2f}"
    assert not texts(seen(comparison, "scripts", metric="parity"), 0)["t0"]


def test_lists_lead_to_their_places(comparison: ComparisonRun) -> None:
    lines = seen(comparison, "lines", tokenizer=2)
    row = texts(lines, 0)
    assert lines.row(0).target == PlaceInText("/deep/en/a.txt", 1, 0, 0)
    assert row["where"] == "…/en/a.txt:1" and row["line"] == TEXT.splitlines()[0]
    pair = seen(comparison, "disagreements", tokenizer=2)
    assert [column.key for column in pair.columns] == ["times", "t0", "t2", "where"]
    assert comparison.found is not None
    shared = comparison.found["pairs"][1]["boundaries"]
    parts = [
        f"{shared['shared'] / shared[side]:.3f} of {whose}"
        for side, whose in (("second", "C"), ("first", "A"))
    ]
    assert all(f"{part}'s" in pair.caption for part in parts), (
        "precision and recall say of which"
    )
    target, found = pair.row(0).target, texts(pair, 0)
    assert target is not None and target.length > 0 and "│" in found["t0"] + found["t2"]


def test_the_hint_of_a_script_without_spaces_says_what_it_is_not_for(
    comparison: ComparisonRun,
) -> None:
    view = seen(
        of_one(comparison, "東京は日本 the theme"), "scripts", metric="fertility"
    )
    hints = {texts(view, row)["name"]: view.row(row).hint for row in range(view.n_rows)}
    assert "without spaces" in hints["Han"] and "without spaces" not in hints["Latin"]


def test_a_folder_with_the_name_of_a_script_is_not_that_script(
    comparison: ComparisonRun,
) -> None:
    one = metrics.Comparison([train(TEXT, vocab_size=270)])
    one.add("Han/a.txt", TEXT, folder="Han")
    one.add("Yi/a.txt", TEXT, folder="Yi")
    folders = replace(
        of_one(comparison, TEXT), texts=one.texts, found=summary(one, [("a", "")])
    )
    view = seen(folders, "folders")
    assert [texts(view, row)["name"] for row in range(view.n_rows)] == ["Han", "Yi"]
    assert not any("spaces" in view.row(row).hint for row in range(view.n_rows))


def test_numbers_are_shown_with_how_often_they_are_cut_so(
    comparison: ComparisonRun,
) -> None:
    view = seen(of_one(comparison, "1234 5678 24680"), "metrics")
    rows = [texts(view, row) for row in range(view.n_rows)]
    splits = [row["t0"] for row in rows if row["name"].startswith("digits")]
    assert splits == ["1+1+1+1 (2)", "1+1+1+1+1 (1)"]


def test_a_single_tokenizer_has_no_pairs(comparison: ComparisonRun) -> None:
    alone = of_one(comparison, TEXT)
    assert [view.key for view in views(alone, Aspect())] == [
        "texts",
        "scripts",
        "metrics",
    ]
    running = replace(alone, running=True, found=None)
    assert [view.key for view in views(running, Aspect())] == ["texts"], (
        "what is told of all texts comes at the end"
    )
    assert [view.n_rows for view in views(ComparisonRun(), Aspect())] == [0]


def test_what_is_not_yet_told_of_all_texts_says_so(comparison: ComparisonRun) -> None:
    early = ComparisonRun(
        True, "", "", comparison.tokenizers, [*comparison.texts] * 2, comparison.found
    )
    first, *others = views(early, Aspect())
    assert first.n_rows == 6 and all(
        view.caption.startswith("first 3 texts · ") for view in others
    )
    tokens = [
        text._replace(amounts=replace(text.amounts, n_whole_words=()))
        for text in comparison.texts
    ]
    early = ComparisonRun(True, "", "", comparison.tokenizers, tokens)
    row = texts(seen(early, "texts"), 0)
    assert row["t0"] == texts(seen(comparison, "texts"), 0)["t0"]
    assert not texts(seen(early, "texts", metric="continued_words"), 0)["t0"]


@pytest.mark.parametrize(
    ("metric", "reference", "begin"),
    [
        ("tokens", 1, "tokens: "),
        (
            "parity",
            1,
            "parity: tokens per token of deep/ru/a.txt; r compares with this row",
        ),
        ("parity", 9, "parity: only for texts and folders that are translations"),
    ],
)
def test_the_caption_says_which_row_parity_relates_to(
    comparison: ComparisonRun, metric: str, reference: int, begin: str
) -> None:
    view = views(comparison, Aspect(metric, reference=reference))[0]
    assert view.caption.startswith(begin)


async def test_keys_turn_what_a_view_can_turn_and_rows_lead_to_their_places(
    comparison: ComparisonRun,
) -> None:
    table, metric_names = ComparisonTable(), list(OF_PARTS)
    async with alone(table, size=(120, 20)) as (pilot, asked):
        table.show(comparison)
        table.focus()
        await pilot.pause()
        for key, metric in ("m", 1), ("m", 2), ("M", 1), ("M", 0), ("M", -1), ("m", 0):
            await pilot.press(key)
            assert table.aspect.metric == metric_names[metric]
        await pilot.press("t")
        assert table.aspect.tokenizer == 0, "texts are seen of all at once"
        await pilot.press("down", "r")
        assert table.aspect == Aspect("parity", 0, 1)
        assert "per token of deep/ru/a.txt" in table.view.caption
        await pilot.press("enter")
        assert asked == [PlaceInText("/deep/ru/a.txt", 1, 0, 0)]
        table.choice = "lines"
        assert table.aspect == Aspect("parity", 0, 0), (
            "of another view from its beginning"
        )
        for tokenizer in 1, 2, 0, 1:
            await pilot.press("t")
            assert table.aspect.tokenizer == tokenizer
        table.choice = "disagreements"
        for tokenizer in 2, 1, 2:
            await pilot.press("t")
            assert table.aspect.tokenizer == tokenizer
        await pilot.press("m", "r")
        assert table.aspect.metric == "parity" and table.aspect.reference == 0
        table.show(replace(comparison, found=None))
        assert table.aspect.tokenizer == 2, "the same comparison goes on"
        table.show(replace(comparison, texts=comparison.texts[:1], found=None))
        assert table.aspect.tokenizer == 0, "it is another one"
        table.show(ComparisonRun(True))
        assert table.empty == "Encoding …" and not table.choices
        table.show(ComparisonRun())
        assert table.empty.startswith("Nothing is compared")
