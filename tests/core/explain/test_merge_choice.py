"""Why a merge was chosen: at any step the numbers are those of a recount by the reference."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain, pairwise

import pytest

from bpe_core import OptionError, reference, train
from bpe_core.content.presets import PRESETS, Preset
from bpe_core.content.samples import SAMPLES
from bpe_core.corpus import Counts, find_files
from bpe_core.explain.merge_choice import (
    FEW_WORDS,
    MOST_WORDS,
    TOP,
    Explanation,
    explain,
)
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.explain.trace import token_uses
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import TIES

Words = list[list[int]]


def recounted(words: Words) -> Counter[tuple[int, int]]:
    return Counter(
        pair for word in words for pair in pairwise(word)
    )  # in first-seen order


def by_reference(
    rule: str, counts: Counter[tuple[int, int]], tokenizer: Tokenizer
) -> tuple[int, int]:
    """What the rule takes of the most frequent pairs, as `reference.train` says it."""
    most = max(counts.values())
    tied = [pair for pair, count in counts.items() if count == most]
    if rule == "first":
        return tied[0]
    if rule == "largest":
        return max(
            tied,
            key=lambda pair: (*map(tokenizer.token_bytes, pair), -pair[0], -pair[1]),
        )
    number = (
        {byte: reference.HF_ORDER.index(byte) for byte in range(256)}
        if rule == "lowest-hf"
        else {}
    )
    return min(tied, key=lambda pair: tuple(number.get(part, part) for part in pair))


def states_of(pieces: Iterable[str], tokenizer: Tokenizer) -> Iterator[Words]:
    """The corpus before each merge, and after the last."""
    words = [list(piece.encode()) for piece in pieces]
    yield words
    for left, right, token in tokenizer.merges:
        words = [reference.merged(word, (left, right), token) for word in words]
        yield words


def check(told: Explanation, before: Words, after: Words, tokenizer: Tokenizer) -> None:
    was, now = recounted(before), recounted(after)
    choice = told.choice
    assert choice is not None
    pair = choice.left, choice.right
    assert (*pair, choice.token) == tokenizer.merges[told.step - 1]
    assert choice.count == choice.most == was[pair] == max(was.values())
    tied = {other for other, count in was.items() if count == choice.most}
    assert (
        choice.n_tied == len(tied)
        and set(choice.tied) <= tied
        and choice.tied[0] == pair
    )
    assert choice.by_rule == {rule: by_reference(rule, was, tokenizer) for rule in TIES}
    rest = sorted(
        ((count, other) for other, count in was.items() if count < choice.most),
        reverse=True,
    )
    assert [row.times for row in choice.runners_up] == [
        count for count, _ in rest[: len(choice.runners_up)]
    ]
    for row in (*choice.runners_up, *choice.born, *choice.vanished):
        other = row.left, row.right
        assert row.change == now[other] - was[other]
    assert choice.n_born == len(now.keys() - was.keys())
    assert choice.n_vanished == len(was.keys() - now.keys() - {pair})
    assert choice.n_joined == sum(map(len, before)) - sum(map(len, after))
    assert choice.n_changed == len(
        {tuple(word) for word in before if pair in pairwise(word)}
    )
    often = Counter(
        (tuple(was), tuple(now)) for was, now in zip(before, after, strict=True)
    )
    assert [word.times for word in told.words] == [
        often[word.before, word.after] for word in told.words
    ]
    assert (
        len(told.words) == min(choice.n_changed, MOST_WORDS) or len(often) <= FEW_WORDS
    )
    table = told.table
    assert table.n_pairs == len(now) and table.n_tokens == sum(map(len, after))
    assert table.n_tied == list(now.values()).count(max(now.values(), default=0))
    assert [row.times for row in table.rows] == sorted(now.values(), reverse=True)[
        : len(table.rows)
    ]
    assert all(row.times == now[row.left, row.right] for row in table.rows)
    assert all(row.change == row.times - was[row.left, row.right] for row in table.rows)


@pytest.mark.parametrize(
    ("ties", "weight"), [*((rule, 1) for rule in TIES), ("first", 3), ("largest", 2)]
)
def test_any_step_of_a_real_corpus_is_told_as_the_reference_counts_it(
    ties: str, weight: int
) -> None:
    """So many random steps for each rule; a second text with a weight counts as if it stood there so many times."""
    chance = random.Random(f"{ties} {weight}")
    texts = [
        sample.path.read_text("utf-8")[:750]
        for sample in chance.sample(
            [sample for sample in SAMPLES if sample.path.stat().st_size > 3000], 2
        )
    ]
    corpus = Counts.weighted(
        [(Counts.of(text), n) for text, n in zip(texts, (1, weight), strict=True)]
    )
    tokenizer = train(corpus, vocab_size=416, ties=ties)
    once, again = (splitter(tokenizer.pattern).split(text) for text in texts)
    every = list(states_of(chain(once, again * weight), tokenizer))
    counts = PairCounts(tokenizer, corpus.pieces)
    steps = chance.sample(range(1, tokenizer.step + 1), min(8, tokenizer.step) // 2)
    for step in [
        near for far in steps for near in (far, chance.choice((far, max(1, far - 1))))
    ]:
        told = explain(counts, step, ties)
        assert json.loads(json.dumps(asdict(told)))["step"] == step
        check(told, every[step - 1], every[step], tokenizer)
        assert counts.counts == recounted(every[step]) and counts.step == step


def test_pairs_that_overlap_and_pieces_of_any_number() -> None:
    """`aaa` holds `aa` twice, which are joined once; the words of a small corpus are all told."""
    text = "aaa aaaa ab aaa"
    tokenizer = train(text, vocab_size=262, pattern="words")
    told = explain(PairCounts(tokenizer, Counts.of(text, "words").pieces), 1)
    assert told.choice is not None
    assert (told.choice.count, told.choice.n_joined) == (7, 4)
    assert [(word.times, word.before, word.after) for word in told.words] == [
        (2, (97,) * 3, (256, 97)),
        (1, (97,) * 4, (256, 256)),
        (1, (97, 98), (97, 98)),
    ]
    untouched = explain(PairCounts(tokenizer, Counts.of(text, "words").pieces), 0).words
    assert [(word.times, word.before) for word in untouched] == [
        (word.times, word.before) for word in told.words
    ]
    assert all(word.before == word.after for word in untouched)


@pytest.mark.parametrize("example", PRESETS.values(), ids=PRESETS)
def test_each_step_of_a_founding_example(example: Preset) -> None:
    """The table before a merge has the merged pair first, as the rule of the example has it."""
    tokenizer, options = example.train(), example.options
    counts = PairCounts(tokenizer, example.counts().pieces)
    table = explain(counts, 0, options.ties).table
    for step, (left, right, _) in enumerate(tokenizer.merges, 1):
        first = table.rows[0]
        assert (first.left, first.right) == (left, right)
        told = explain(counts, step, options.ties)
        assert told.choice is not None and tokenizer.record is not None
        assert told.choice.by_rule[options.ties] == (left, right)
        count, ties, n_tokens = tokenizer.record.steps[step - 1]
        assert (told.choice.count, told.choice.n_tied, told.table.n_tokens) == (
            count,
            ties,
            n_tokens,
        )
        table = told.table


def test_a_longest_token_bounds_what_is_compared() -> None:
    text = "abcabcabc abcabc"
    tokenizer = train(text, vocab_size=270, pattern="none", max_token_length=3)
    counts = PairCounts(tokenizer, {text: 1})
    for step in range(1, tokenizer.step + 1):
        told = explain(counts, step, max_token_length=3)
        assert told.choice is not None and told.choice.count == told.choice.most
        assert all(
            len(tokenizer.decode([row.left, row.right])) <= 3 for row in told.table.rows
        )


def test_another_corpus_than_its_own_and_steps_there_are_not() -> None:
    """A merge whose pair does not occur is told with a count of 0, and changes nothing."""
    tokenizer = train("xyz xyz xyz", vocab_size=258)
    told = explain(PairCounts(tokenizer, {"low": 2, "lower": 1}), 1)
    assert told.choice is not None
    assert (
        told.choice.count,
        told.choice.most,
        told.choice.n_joined,
        told.choice.n_changed,
    ) == (0, 3, 0, 0)
    assert explain(PairCounts(tokenizer, {}), 1).table.rows == ()
    for step in (-1, tokenizer.step + 1):
        with pytest.raises(OptionError, match="does not exist"):
            explain(PairCounts(tokenizer, {"abab": 1}), step)


def test_a_large_table_is_told_from_its_top() -> None:
    files = find_files([sample.path for sample in SAMPLES]).files
    tokenizer = train(Counts.read(files), vocab_size=300)
    told = explain(PairCounts(tokenizer, Counts.read(files).pieces), 44)
    assert len(told.table.rows) == TOP < told.table.n_pairs


@pytest.mark.parametrize(
    "text",
    ["aaabdaaabac", "low low lower lowest newest wider " * 3, "aaaa" * 9 + " aabaab"],
)
def test_uses_of_a_token_are_those_that_a_recount_finds(text: str) -> None:
    tokenizer = train(text, vocab_size=290, pattern="words")
    every = [
        list(chain.from_iterable(words))
        for words in states_of(splitter("words").split(text), tokenizer)
    ]
    for step, (_, _, token) in enumerate(tokenizer.merges, 1):
        uses = token_uses(tokenizer.vocabulary, list(map(len, every)).__getitem__, step)
        assert uses.made == every[step].count(token)
        for later in range(step, tokenizer.step + 1):
            taken = sum(n for at, _, n in uses.absorbed if at <= later)
            assert uses.made - taken == every[later].count(token)
        assert uses.left == every[-1].count(token)
