"""A training that goes on: after a kill, on top of a vocabulary, from one of its steps; and the options few ask for."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bpe_core import Trainer, train
from bpe_core.errors import OptionError
from bpe_core.tokenizer.training_record import OPTIONS
from bpe_core.worker.train import learned_by_heart
from tui.dialogs.more_options import MORE_OPTIONS
from tui.features.course import TrainingTask
from tui.features.resuming import Resuming
from tui.glossary import LONGEST
from tui.screen import MainScreen
from tui.state import TrainingOptions

pytestmark = pytest.mark.usefixtures("no_process_left")


def test_a_task_asks_the_worker_for_what_it_learns_by() -> None:
    more = {"max-token-length": "9", "min-share": "1/100"}
    options = TrainingOptions(400, "gpt2", "lowest", 2, ("<s>",), more)
    rules = TrainingTask("x", options).rules
    assert (rules.max_token_length, str(rules.min_share)) == (9, "1/100")
    assert (rules.vocab_size, rules.pattern, rules.ties, rules.min_count) == (
        400,
        "gpt2",
        "lowest",
        2,
    )
    assert tuple(rules.special_tokens) == ("<s>",)
    begin = train(
        "aaabdaaabac", vocab_size=262, pattern="none", special_tokens=("<z>",)
    ).at(2)
    task = TrainingTask(
        "x",
        options,
        ("book",),
        begin=begin,
        begin_path="old.json",
        resume="old.checkpoint",
    )
    request = task.request(Path("out.json"))
    assert (request.recipe.extend, request.recipe.fork, request.recipe.paths) == (
        "old.json",
        2,
        ("book",),
    )
    assert (
        request.resume_from == "old.checkpoint"
        and "special_tokens" not in request.recipe.options
    )
    assert tuple(task.rules.special_tokens) == ("<z>",)
    for name, value in (
        ("max-token-length", "many"),
        ("min-share", "x"),
        ("dedupe", "no"),
        ("alpha", "2"),
        ("documents", "0"),
    ):
        with pytest.raises(OptionError) as told:
            _ = TrainingTask("x", replace(options, more={name: value})).rules
        assert "\n" not in str(told.value)


def test_each_of_the_options_is_an_argument_of_the_command() -> None:
    for argument in MORE_OPTIONS:
        assert TrainingTask(
            "x", TrainingOptions(more={argument: OPTIONS[argument].example})
        ).rules
    for option in OPTIONS.values():
        assert len(option.does) <= LONGEST and option.does.endswith(".")


async def test_where_nothing_can_be_begun_with_it_is_told() -> None:
    said: list[str] = []

    async def told(**state: object) -> str:
        usual = {
            "run": SimpleNamespace(busy=False),
            "tokenizer": None,
            "path": "",
            "corpus": SimpleNamespace(paths=()),
        }
        screen = SimpleNamespace(
            **{**usual, **state}, say=lambda sentence, severity: said.append(sentence)
        )
        corpus = SimpleNamespace(chosen_options=TrainingOptions)
        training = SimpleNamespace(finish=lambda: asyncio.sleep(0))
        await Resuming(
            cast(MainScreen, screen),
            *(cast(Any, other) for other in (None, training, corpus, None)),
        ).train_on(False)
        return said[-1]

    assert "A training is running" in await told(run=SimpleNamespace(busy=True))
    assert "There is no tokenizer yet" in await told()
    assert "No text is chosen" in await told(tokenizer=object(), path="x.json")
    ranked = SimpleNamespace(vocabulary=SimpleNamespace(knows_merges=False))
    chosen = SimpleNamespace(paths=("book",))
    assert "still being recovered" in await told(
        tokenizer=ranked, path="x.tiktoken", corpus=chosen
    )


def test_the_texts_of_a_task_are_weighted_and_sampled_as_the_command_does() -> None:
    weights = {"b 2.txt": "1/2", "not chosen": "9", "a.txt": "3"}
    options = TrainingOptions(more={"sample": "1/10", "seed": "7"}, weights=weights)
    task = TrainingTask("x", options, ("a.txt", "b 2.txt", "c.txt"))
    recipe = task.request(Path("out.json")).recipe
    assert (recipe.sample, recipe.seed, recipe.weights) == (
        "1/10",
        7,
        ("a.txt=3", "b 2.txt=1/2"),
    )
    assert task.rules
    with pytest.raises(OptionError, match="Invalid --sample"):
        _ = TrainingTask("x", replace(options, more={"sample": "some"})).rules


def test_merges_of_what_occurs_once_are_told_from_the_first_of_them_on() -> None:
    counts = [
        merge.count for merge in Trainer("ababcdcdef", vocab_size=262, pattern="none")
    ]
    assert counts == [2, 2, 1, 1, 1, 1]
    assert learned_by_heart(counts).startswith(
        "From step 3 on, each pair occurred only once"
    )
    assert learned_by_heart(counts[:2]) == learned_by_heart([]) == ""
