"""What a `why` is asked of: corpora weighted, sampled, or read in two stages, and trainings that began with merges.

At any step the numbers are those of a recount by the reference, for a kept file as for a training under way; and a
worker, told the merges as they are learned, answers as `explain` does of the whole.
"""

import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from worker_process import Start, training

from bpe_core import kernel, load, reference, save, train
from bpe_core.cli.main import main
from bpe_core.corpus import Counts, TextFile
from bpe_core.errors import TextError
from bpe_core.explain.merge_choice import Explanation, explain
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.worker import explain as explaining
from bpe_core.worker.audit import AuditRequest, examine_request
from bpe_core.worker.explain import (
    AskStep,
    ExplainRequest,
    LearnedMerges,
    Places,
    Subject,
)
from bpe_core.worker.job import Job
from bpe_core.worker.messages import Event
from bpe_core.worker.recipe import Recipe

Words = dict[tuple[int, ...], int | Fraction]
"""Distinct pieces as ids, in the order of first appearance -> how often they occur."""


def counted(subject: Subject) -> Subject:
    with closing(Job()) as job:
        subject.count(job)
    return subject


def kept_and_growing(
    out: Path, tokenizer: Tokenizer, asked: list[str], paths: list[str]
) -> tuple[Subject, Subject]:
    with closing(Job()) as job:
        growing = counted(Subject.of_training(training(*asked, *paths).recipe, job))
    assert growing.tokenizer.step == 0
    growing.grow(tokenizer.merges)
    return counted(Subject.of_file(load(out), paths, None)), growing


def pieces(
    texts: Iterable[tuple[str, int | Fraction]], tokenizer: Tokenizer, pattern: str
) -> Words:
    """The distinct pieces of (text, how many times it counts) as the ids of their bytes."""
    id_of = {data: token for token, data in tokenizer.vocabulary.base.items()}
    words: Counter[tuple[int, ...]] = Counter()
    for text, weight in texts:
        for piece in splitter(pattern).split(text):
            words[tuple(id_of[bytes([byte])] for byte in piece.encode())] += weight
    return words


def states(
    words: Words, tokenizer: Tokenizer
) -> list[tuple[Counter[tuple[int, int]], int]]:
    """(how often each pair occurs, how many tokens there are) before each merge, and after the last."""
    rows, now = [], list(words.items())
    for merge in (None, *tokenizer.merges):
        if merge is not None:
            now = [
                (tuple(reference.merged(list(word), merge[:2], merge[2])), n)
                for word, n in now
            ]
        counts: Counter[tuple[int, int]] = Counter()
        for word, n in now:
            for pair in pairwise(word):
                counts[pair] += n
        rows.append((counts, sum(n * len(word) for word, n in now)))
    return rows


def check(
    subjects: Iterable[Subject],
    steps: Iterable[int],
    before: list[tuple[Counter[tuple[int, int]], int]],
    after: list[tuple[Counter[tuple[int, int]], int]],
    n_given: int = 0,
) -> None:
    """The choice of each step is what it was chosen from, `before`; the table what the next is chosen from, `after`."""
    for subject in subjects:
        for step in steps:
            told = subject.explanation(step)
            choice, (was, _), (now, n_tokens) = (
                told.choice,
                before[step - 1],
                after[step],
            )
            assert choice is not None
            pair = subject.tokenizer.merges[step - 1][:2]
            assert (choice.left, choice.right) == pair
            assert (choice.count, choice.most) == (was[pair], max(was.values()))
            n_placed = sum(place.n for place in subject.places(step))
            assert n_placed == was[pair], "of three texts at most all are named"
            tied = [other for other, count in was.items() if count == choice.most]
            assert choice.n_tied == len(tied) and choice.by_rule["first"] == tied[0]
            assert step <= n_given or choice.by_rule[subject.rules.ties] == pair
            assert (told.table.n_pairs, told.table.n_tokens) == (len(now), n_tokens)
            assert [row.times for row in told.table.rows] == sorted(
                now.values(), reverse=True
            )[: len(told.table.rows)]
            assert all(row.times == now[row.left, row.right] for row in told.table.rows)


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    """Three texts, the second large enough to be sampled in stretches."""
    r = random.Random(16)
    words = ["".join(r.choices("abcdenst", k=r.randint(1, 5))) for _ in range(120)]
    sizes = (40, 70_000, 60)
    paths = [tmp_path / f"{number} {size}.txt" for number, size in enumerate(sizes)]
    for path, size in zip(paths, sizes, strict=True):
        path.write_text(
            " ".join(r.choice(words) + "\n" * (r.random() < 0.1) for _ in range(size))
        )
    return paths


@pytest.mark.parametrize("alpha", [False, True])
def test_weighted_texts(
    texts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], alpha: bool
) -> None:
    paths, (small, _, large) = (
        [str(texts[0]), str(texts[2])],
        (path.stat().st_size for path in texts),
    )
    weight = Fraction(round(100 * large / small), 100) if alpha else Fraction(5, 2)
    asked = ["--vocab-size", "290", "--pattern", "gpt2"]
    asked += ["--alpha", "0"] if alpha else ["--weight", f"{paths[0]}=2.5"]
    assert main(["train", "-o", str(tmp_path / "o.json"), *asked, *paths]) == 0
    tokenizer = load(tmp_path / "o.json")
    rows = states(
        pieces(
            ((texts[0].read_text(), weight), (texts[2].read_text(), 1)),
            tokenizer,
            "gpt2",
        ),
        tokenizer,
    )
    steps = range(1, tokenizer.step + 1)
    check(
        kept_and_growing(tmp_path / "o.json", tokenizer, asked, paths),
        steps,
        rows,
        rows,
    )
    with closing(Job()) as job:
        for corpus, its_own in (
            (paths, True),
            (paths[::-1], True),
            ([*paths, str(texts[1])], False),
        ):
            _, subject = examine_request(
                tokenizer, AuditRequest("", corpus=tuple(corpus)), job
            )
            assert subject and subject.usage and subject.usage.of_training == its_own, (
                "an audit reads the weights too"
            )
    (tmp_path / "deep").mkdir()
    (namesake := tmp_path / "deep" / texts[0].name).write_text(texts[0].read_text())
    two = counted(
        Subject.of_file(load(tmp_path / "o.json"), [str(texts[0]), str(namesake)], None)
    ).places(1)
    assert {place.name for place in two} == {str(texts[0]), str(namesake)}, (
        "of one name, told apart"
    )
    # A text is known by what it holds: in another order, and by another name.
    turned = counted(Subject.of_file(load(tmp_path / "o.json"), paths[::-1], None))
    assert turned.explanation(1).choice.count == max(rows[0][0].values())  # type: ignore[union-attr]
    assert (
        main(["why", "-t", str(tmp_path / "o.json"), "--step", "1", *map(str, texts)])
        == 0
    )
    assert "1 of the texts is not in its record" in capsys.readouterr().err, (
        "what it cannot know"
    )
    moved = [tmp_path / "0 40.txt", tmp_path / "other" / "2 60.txt"]
    moved[1].parent.mkdir()
    texts[2].rename(moved[1])
    check(
        [counted(Subject.of_file(load(tmp_path / "o.json"), [*map(str, moved)], None))],
        (1, 7),
        rows,
        rows,
    )


def test_places_of_all_steps_read_each_text_twice_at_most(
    texts: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, blocks, paths = [], TextFile.blocks, [*map(str, texts)]
    subject = counted(
        Subject(train([path.read_text() for path in texts], vocab_size=290), paths)
    )
    steps = range(1, subject.tokenizer.step + 1)
    each = [subject.places(step) for step in steps]
    monkeypatch.setattr(
        TextFile, "blocks", lambda file, *_: reads.append(file.name) or blocks(file)
    )
    subject.read_once()
    assert [subject.places(step) for step in steps] == each and len(reads) <= 2 * len(
        texts
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample(weighted: bool, texts: list[Path], tmp_path: Path) -> None:
    paths = [*map(str, texts)]
    asked = [
        "--vocab-size",
        "280",
        "--sample",
        "1/3",
        "--seed",
        "5",
        *(["--weight", f"{paths[1]}=3"] * weighted),
    ]
    assert main(["train", "-o", str(tmp_path / "o.json"), *asked, *paths]) == 0
    tokenizer = load(tmp_path / "o.json")
    assert tokenizer.record is not None
    read: list[tuple[str, int]] = []
    for source in tokenizer.record.sources:
        name, start, end = re.fullmatch(
            r"(.+?)(?: \(bytes ([\d,]+) to ([\d,]+)\))?", source.name
        ).groups()
        text = (tmp_path / name).read_text()
        part = (
            slice(int(start.replace(",", "")), int(end.replace(",", "")))
            if start
            else slice(None)
        )
        read.append((text[part], 3 if weighted and name == texts[1].name else 1))
    assert (
        0
        < sum(len(text) for text, _ in read)
        < sum(path.stat().st_size for path in texts) / 1.5
    )
    rows = states(pieces(read, tokenizer, "gpt4"), tokenizer)
    subjects = kept_and_growing(tmp_path / "o.json", tokenizer, asked, paths)
    check(subjects, (1, 2, 9, 8, 24), rows, rows)
    for subject in subjects:
        for place in subject.places(9):
            line = (tmp_path / place.name).read_text().split("\n")[place.line - 1]
            assert place.before + place.left + place.right + place.after in line
            assert any(line in text for text, _ in read)


def test_a_training_that_began_with_merges_of_other_ids(
    texts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The vocabulary that is extended has the ids of its bytes elsewhere, and a special token between."""
    old = tmp_path / "old.json"
    begun = train(
        "bands and sands",
        vocab_size=270,
        special_tokens=["<s>"],
        id_layout="specials-first",
    )
    save(begun, old)
    paths = [str(texts[0])]
    asked = [
        "--vocab-size",
        "300",
        "--extend",
        str(old),
        "--fork",
        "6",
        "--ties",
        "largest",
        "--pattern",
        "words",
    ]
    assert main(["train", "-o", str(tmp_path / "o.json"), *asked, *paths]) == 0
    tokenizer = load(tmp_path / "o.json")
    assert tokenizer.merges[:6] == begun.merges[:6] and tokenizer.step > 20
    rows = states(pieces([(texts[0].read_text(), 1)], tokenizer, "words"), tokenizer)
    subjects = kept_and_growing(tmp_path / "o.json", tokenizer, asked, paths)
    steps = [
        step
        for step in range(1, tokenizer.step + 1)
        if rows[step - 1][0][tokenizer.merges[step - 1][:2]]
    ]
    check(subjects, steps, rows, rows, n_given=6)
    for step in (6, 7):
        assert (
            main(["why", "-t", str(tmp_path / "o.json"), "--step", str(step), *paths])
            == 0
        )
        assert ("Given by the vocabulary" in capsys.readouterr().out) == (step == 6)


TEXT = "low low low lower lowest\nnewest newest widest\n" * 3


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "words.txt"
    path.write_text(TEXT)
    return path


def test_it_answers_while_a_vocabulary_grows(corpus: Path, start: Start) -> None:
    tokenizer = train(TEXT, vocab_size=270, ties="largest", pattern="gpt4")
    merges = tuple(tokenizer.merges)
    worker = start(ExplainRequest(recipe=Recipe((str(corpus),), {"ties": "largest"})))
    worker.tell(
        AskStep(0),
        LearnedMerges(merges[:5]),
        AskStep(5),
        LearnedMerges(merges[5:]),
        AskStep(9),
        AskStep(2),
    )
    events: list[Event] = []
    while not (
        events and isinstance(events[-1], Places) and events[-1].step == 2
    ):  # nobody waits for an answer then
        events.append(worker.next())
    os.close(worker.stdin)
    assert worker.code() == 0
    counts = PairCounts(tokenizer, Counts.of(TEXT).pieces)
    found = [event for event in events if isinstance(event, Explanation)]
    assert found == [explain(counts, step, "largest") for step in (0, 5, 9, 2)]


@pytest.mark.parametrize(
    ("limit", "what"),
    [
        ("MOST_ON_DISK", "of texts"),
        ("MOST_IN_PIECES", "of different pieces"),
        ("MOST_UNSPLIT", "in long pieces"),
    ],
)
def test_it_refuses_what_would_take_too_long(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, limit: str, what: str
) -> None:
    monkeypatch.setattr(explaining, "_LONG", 5)
    with closing(Job()) as job:
        subject = Subject.of_training(Recipe((str(corpus),)), job)
        with monkeypatch.context() as limited:
            limited.setattr(explaining, limit, (10, 10))
            with pytest.raises(TextError, match=what):
                subject.count(job, is_limited=True)
        for has_kernel in {False, kernel.available}:
            monkeypatch.setattr(kernel, "available", has_kernel)
            subject.count(job, is_limited=True)
