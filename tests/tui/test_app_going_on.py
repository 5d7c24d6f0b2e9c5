"""A training that goes on: after a kill, on top of a vocabulary, from one of its steps; and the options few ask for."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scope import TEXT, Opened
from textual.widgets import OptionList

from bpe_core import load, save, train
from bpe_core.errors import OptionError
from bpe_core.metrics.vocabularies import merges_in_common
from bpe_core.runs import exported
from bpe_core.tokenizer.training_record import OPTIONS
from tui.dialogs.lists import Runs
from tui.dialogs.more_options import MORE_OPTIONS
from tui.dialogs.questions import Ask, AskPath
from tui.disk import config
from tui.features.course import TrainingTask
from tui.features.resuming import Resuming
from tui.glossary import LONGEST
from tui.screen import MainScreen
from tui.state import TrainingOptions
from tui.widgets.curve import Curve

pytestmark = pytest.mark.usefixtures("no_process_left")


def test_a_task_asks_the_worker_for_what_it_learns_by() -> None:
    more = {"max-token-length": "9", "min-share": "1/100"}
    options = TrainingOptions(400, "gpt2", "lowest", 2, ("<s>",), more)
    rules = TrainingTask("x", options).rules
    assert (rules.max_token_length, str(rules.min_share)) == (9, "1/100")
    assert (rules.vocab_size, rules.pattern, rules.ties, rules.min_count) == (400, "gpt2", "lowest", 2)
    assert tuple(rules.special_tokens) == ("<s>",)
    begin = train("aaabdaaabac", vocab_size=262, pattern="none", special_tokens=("<z>",)).at(2)
    task = TrainingTask("x", options, ("book",), begin=begin, begin_path="old.json", resume="old.checkpoint")
    request = task.request(Path("out.json"))
    assert (request.recipe.extend, request.recipe.fork, request.recipe.paths) == ("old.json", 2, ("book",))
    assert request.resume_from == "old.checkpoint" and "special_tokens" not in request.recipe.options
    assert tuple(task.rules.special_tokens) == ("<z>",) and task.first_vocabulary().n_merges == 0
    for name, value in ("max-token-length", "many"), ("min-share", "x"):
        with pytest.raises(OptionError) as told:
            _ = TrainingTask("x", replace(options, more={name: value})).rules
        assert "\n" not in str(told.value)


def test_each_of_the_options_is_an_argument_of_the_command() -> None:
    for argument in MORE_OPTIONS:
        assert TrainingTask("x", TrainingOptions(more={argument: OPTIONS[argument].example})).rules
    for option in OPTIONS.values():
        assert len(option.does) <= LONGEST and option.does.endswith(".")


async def test_where_nothing_can_be_begun_with_it_is_told() -> None:
    said: list[str] = []

    async def told(**state: object) -> str:
        usual = {"run": SimpleNamespace(busy=False), "tokenizer": None, "path": "", "corpus": SimpleNamespace(paths=())}
        screen = SimpleNamespace(**{**usual, **state}, say=lambda sentence, severity: said.append(sentence))
        corpus = SimpleNamespace(chosen_options=TrainingOptions)
        await Resuming(cast(MainScreen, screen), *(cast(Any, other) for other in (None, None, corpus))).extend()
        return said[-1]

    assert "A training is running" in await told(run=SimpleNamespace(busy=True))
    assert "There is no tokenizer yet" in await told()
    assert "No text is chosen" in await told(tokenizer=object(), path="x.json")
    ranked = SimpleNamespace(vocabulary=SimpleNamespace(knows_merges=False))
    chosen = SimpleNamespace(paths=("book",))
    assert "still being recovered" in await told(tokenizer=ranked, path="x.tiktoken", corpus=chosen)


@pytest.mark.slow
async def test_runs_are_listed_and_compared_and_their_results_saved(opened: Opened, kept: Path, home: Path) -> None:
    other = config.tokenizers_folder() / "other.json"
    save(train(TEXT, vocab_size=280, ties="largest"), other)
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.screen.run_action("do('resuming.show_runs')")
        dialog = await scope.asked(Runs)
        await scope.press("home", "u")
        await scope.until(lambda: scope.screen.curve_under, "its curve is drawn under the other")
        under = scope.screen.curve_under
        assert under is not None and under.path == str(dialog._runs[0].path) and len(under.points) == 25
        assert f"○ 320 {under.name};" in scope.training.query_one(Curve).hint
        await scope.screen.run_action("do('resuming.show_runs')")
        dialog = await scope.asked(Runs)
        assert "○" in str(dialog.query_one(OptionList).get_option_at_index(0).prompt)
        await scope.press("u")
        await scope.until(lambda: scope.screen.curve_under is None, "it is taken away")
        await scope.screen.run_action("do('resuming.show_runs')")
        dialog = await scope.asked(Runs)
        await scope.press("home", "space")
        first, second = (load(run.path) for run in dialog._runs)

        def about() -> str:
            return str(dialog.query_one("#difference").render()).replace("\n", " ")

        await scope.until(lambda: "Asked for: pattern gpt4, ties largest." in about(), "it is told what was asked for")
        await scope.press("down")
        await scope.until(lambda: "ties largest and first" in about(), "two are compared")
        assert f"The same until step {merges_in_common(first, second)}, then:" in about()
        await scope.press("enter")
        chosen = dialog._runs[1].path
        await scope.until(lambda: scope.screen.path == str(chosen), "it is in force")
        await scope.screen.run_action("do('texts.export', 'merges')")
        await scope.asked(AskPath)
        await scope.answer(str(home / "merges.tsv"))
        await scope.until((home / "merges.tsv").exists, "they are saved")
        assert (home / "merges.tsv").read_text() == "".join(exported("merges", [load(chosen)], [str(chosen)]))
        await scope.screen.run_action("do('texts.convert')")
        await scope.asked(Ask)
        await scope.answer("huggingface")
        await scope.asked(AskPath)
        await scope.answer(str(home / "tokenizer.json"))
        await scope.until((home / "tokenizer.json").exists, "it is saved")
        assert load(home / "tokenizer.json").merges == load(chosen).merges


def test_the_texts_of_a_task_are_weighted_and_sampled_as_the_command_does() -> None:
    weights = {"b 2.txt": "1/2", "not chosen": "9", "a.txt": "3"}
    options = TrainingOptions(more={"sample": "1/10", "seed": "7"}, weights=weights)
    task = TrainingTask("x", options, ("a.txt", "b 2.txt", "c.txt"))
    recipe = task.request(Path("out.json")).recipe
    assert (recipe.sample, recipe.seed, recipe.weights) == ("1/10", 7, ("a.txt=3", "b 2.txt=1/2"))
    assert task.rules
    with pytest.raises(OptionError, match="no share"):
        _ = TrainingTask("x", replace(options, more={"sample": "some"})).rules
