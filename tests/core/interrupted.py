"""The library's work, interrupted anywhere, leaves all as it was before or after.

Each deed is done to objects that were used before; an exception is raised in it at a random line of the engine, or by a
timer, which reaches the kernel too. Afterwards the same objects must give what new ones give.
"""

import gc
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, partial
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from bpe_core import Counts, LiveText, Tokenizer, Trainer, audit, save, train
from bpe_core.corpus import find_files
from bpe_core.patterns import splitter
from bpe_core.tokenizer.normalizers import NormalForm, Normalizer
from bpe_core.tokenizer.preparation import Preparation, SplitStep
from bpe_core.vocabulary.ranked import RankedVocabulary

_TEXTS: Final = [
    "low lower lowest, 1,234 new widest. " * 20,
    "naïve café, 中文 mixed 😀 lower. " * 12,
    "x" * 700,
]


class Interrupted(BaseException):
    pass


class Case(NamedTuple):
    """What is done, and what tells afterwards whether all is as before or after: a value of new objects or of these."""

    do: Callable[[], object]
    look: Callable[[], object]
    may_be: list[object]


@contextmanager
def interrupted_after(n_lines: int) -> Iterator[list[int]]:
    """Raise `Interrupted` at a line of the engine: the one after so many; the list then has how many there were."""
    passed = [0]

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        if "/bpe_core/" not in frame.f_code.co_filename or frame.f_code.co_name in (
            "patience",
            "__del__",
        ):
            return None
        if (
            getline(frame.f_code.co_filename, frame.f_lineno)
            .lstrip()
            .startswith(("with ", "try:"))
        ):
            return watch  # what is raised there skips __exit__, so a lock would stay taken; Python heeds no signal there
        passed[0] += event == "line"
        if passed[0] == n_lines + 1 and event == "line":
            passed[0] += 1
            raise Interrupted
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield passed
    finally:
        sys.settrace(before)
        gc.enable()  # which the engine had, if it was interrupted where it would have been enabled again


def interrupt(*_: object) -> None:
    raise Interrupted


@cache
def learned() -> Tokenizer:
    return train(_TEXTS, vocab_size=330, pattern="gpt2", special_tokens=["<|end|>"])


def _again() -> Tokenizer:
    """Equal to `learned()`, with caches of its own."""
    whole = learned().vocabulary
    vocabulary = type(whole)(dict(whole.base), list(whole.merges), whole.special_tokens)
    return Tokenizer(vocabulary, "gpt2")


def _ranked() -> Tokenizer:
    return Tokenizer(RankedVocabulary(dict(learned().vocabulary.bytes_of)), "gpt2")


def _unsplit() -> Tokenizer:
    return Tokenizer(_again().vocabulary, "none")


def _prepared() -> Tokenizer:
    preparation = Preparation(
        (), Normalizer([NormalForm("NFC")]), (SplitStep(splitter("gpt2")),)
    )
    return Tokenizer(_again().vocabulary, "gpt2", preparation=preparation)


def _encoding(make: Callable[[], Tokenizer], rng: random.Random) -> Case:
    tokenizer, new = make(), make()
    text = rng.choice(_TEXTS)[rng.randrange(300) :]

    def all_of(one: Tokenizer) -> object:
        pieces = one.splitter.split(text)
        prepared = [tuple(ids) for ids in one.encode_pieces(pieces)]
        ids = (
            one.encode_ordinary(text),
            one.encode_to_array(text).tolist(),
            prepared,
            one.encode(text),
        )
        return (
            ids,
            one.decode(ids[0]),
            one.merges,
            one.at(3).encode_ordinary(text),
            one.vocabulary.step_of(300),
        )

    return Case(lambda: all_of(tokenizer), lambda: all_of(tokenizer), [all_of(new)])


def _counting(folder: Path, rng: random.Random) -> Case:
    pattern = rng.choice(["gpt2", "gpt4o", "words", r"\w+|\W"])
    files = find_files([str(folder)]).files
    counts = Counts.read(files, pattern)

    def all_of(one: Counts) -> object:
        return dict(one.pieces), one.n_documents, one.n_bytes, one.sources

    def look() -> object:
        return (
            all_of(counts),
            all_of(Counts.read(files, pattern)),
            all_of(Counts.of(_TEXTS, pattern)),
        )

    return Case(look, look, [look()])


def _saving(folder: Path, rng: random.Random) -> Case:
    form = rng.choice(["native", "huggingface", "gpt2", "minbpe", "tiktoken"])
    one, two = (
        train(text, vocab_size=266, pattern="gpt2")
        for text in ("low lower lowest", "new newer newest")
    )
    place = folder / "saved"
    place.mkdir(exist_ok=True)
    for path in place.iterdir():
        path.unlink()
    path = place / "vocab.json"
    save(two, path, format=form)

    def look() -> object:
        return sorted((path.name, path.read_bytes()) for path in place.iterdir())

    after = look()
    save(one, path, format=form)
    before = look()
    return Case(lambda: save(two, path, format=form), look, [before, after])


def _editing(make: Callable[[], Tokenizer], rng: random.Random) -> Case:
    text = "".join(_TEXTS)[: rng.randrange(1, 1500)]
    live = LiveText(make(), text)
    start = rng.randrange(len(text))
    end, typed = (
        min(len(text), start + rng.choice([0, 1, 9, 400])),
        rng.choice(["", "a", " new", "😀x" * 300]),
    )
    after = text[:start] + typed + text[end:]
    texts = {one: learned().encode_ordinary(one) for one in (text, after)}
    step = rng.randrange(5)

    def do() -> None:
        live.settle(float("inf"))
        live.splice(start, end, typed)
        live.use(live.tokenizer.at(step))
        live.use(make())

    def look() -> object:
        live.settle(float("inf"))
        right = live.tokenizer.encode_ordinary(live.text)
        return live.text in texts and live.ids == right and live.n_tokens == len(right)

    return Case(do, look, [True])


def _auditing(make: Callable[[], Tokenizer]) -> Case:
    counts, other = Counts.of(_TEXTS[:2], "gpt2"), Counts.of(_TEXTS[0], "gpt2")

    def found(tokenizer: Tokenizer) -> object:
        return sorted(
            (one.id, one.kind, one.reason)
            for one in audit(tokenizer, counts=counts, reference=other)
        )

    look = partial(found, make())
    return Case(look, look, [found(make())])


def _training(rng: random.Random) -> Case:
    """Whose counts another training uses afterwards, and which goes on to its end."""
    parts = [
        (Counts.of(text, "gpt2"), rng.choice([1, 3, Fraction(1, 2)]))
        for text in _TEXTS[:2]
    ]
    counts = Counts.weighted(parts)
    rules: dict[str, Any] = {
        "vocab_size": 330,
        "ties": rng.choice(["first", "lowest", "largest"]),
    }
    rules |= rng.choice(
        [
            {},
            {"special_tokens": ["<|end|>"]},
            {"min_share": "1/200"},
            {"end_of_word": "</w>"},
        ]
    )
    rules |= rng.choice([{}, {"start": learned().at(20)} if len(rules) == 2 else {}])
    trainer, before = Trainer(counts, **rules), rng.randrange(12)
    trainer.learn(before)

    def of(one: Trainer) -> object:
        while one.learn(40):
            pass
        learned = one.tokenizer()
        return (
            learned.merges,
            learned.record and learned.record.steps,
            one.token_counts(),
            one.n_tokens,
        )

    def do() -> None:
        trainer.learn(9, 0)
        trainer.learn(5)
        trainer.tokenizer().encode(_TEXTS[0])
        of(Trainer(counts, **rules))

    return Case(
        do,
        lambda: (of(trainer), of(Trainer(counts, **rules))),
        [(of(Trainer(counts, **rules)),) * 2],
    )


def _extending(make: Callable[[], Tokenizer]) -> Case:
    """Whose merges are recovered where they have to be; then others are added."""

    def of(one: Tokenizer) -> object:
        more = one.with_merges(
            [
                (106, 120, 502),
                (120, 106, 504),
                (122, 113, 500),
                (500, 500, 501),
                (122, 113, 500),
            ]
        )
        whole = more.vocabulary
        steps = [whole.step_of(token) for *_, token in whole.merges]
        return (
            whole.n_tokens,
            [token in whole for token in range(600)],
            steps,
            more.merges,
            more.encode("zqzq jx"),
        )

    one, merges = (
        make(),
        [(122, 113, 500), (500, 500, 501), (122, 122, 505), (122, 113, 500)],
    )
    return Case(lambda: one.with_merges(merges), lambda: of(one), [of(make())])


def cases(folder: Path) -> dict[str, Callable[[random.Random], Case]]:
    """Name -> what makes a case; `folder` may be written to, and holds texts in `texts`."""
    texts = folder / "texts"
    texts.mkdir(exist_ok=True)
    for number, text in enumerate(_TEXTS):
        (texts / f"{number}.txt").write_text(text)
    return {
        "encoding": lambda rng: _encoding(
            rng.choice([_again, _unsplit, _prepared]), rng
        ),
        "encoding by ranks": lambda rng: _encoding(_ranked, rng),
        "counting": lambda rng: _counting(texts, rng),
        "saving": lambda rng: _saving(folder, rng),
        "editing": lambda rng: _editing(rng.choice([_again, _unsplit, _prepared]), rng),
        "auditing by ranks": lambda rng: _auditing(_ranked),
        "training": _training,
        "extending": lambda rng: _extending(rng.choice([_again, _ranked])),
    }


def wrong(name: str, make: Callable[[random.Random], Case], seed: object) -> str:
    """Interrupt a case once; why what it left is wrong, "" if it is not."""
    rng = random.Random(f"{name} {seed}")
    whole, one = make(random.Random(f"{name} {seed}")), make(rng)
    with interrupted_after(sys.maxsize) as passed:
        whole.do()
    one = make(random.Random(f"{name} {seed}")) if name == "saving" else one
    n_lines = rng.choice(
        [rng.randrange(passed[0] + 1), max(0, passed[0] - rng.randrange(60))]
    )  # deeds end in effects
    moment = f"after {n_lines:,} of {passed[0]:,} lines"
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        if rng.random() < 0.8:
            with interrupted_after(n_lines):
                one.do()
        else:  # which reaches the kernel, too
            moment = "by a timer"
            signal.setitimer(signal.ITIMER_REAL, rng.random() ** 3 / 50 + 1e-6)
            one.do()
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()  # which it may have been about to be
    try:
        found = one.look()
    except Exception as error:
        return f"{name} {seed}, {moment}: {type(error).__name__}: {error}"
    return (
        ""
        if found in one.may_be
        else f"{name} {seed}, {moment}: neither as before nor as after"
    )
