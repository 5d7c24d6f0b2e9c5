"""An edit that fails, wherever it does, leaves a followed text as it was: its text, its tokens and its bytes."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from test_aligned_text import MAKERS

from bpe_core import LiveText, PatternError, Tokenizer, train
from bpe_core.editing.aligned_text import AlignedText, FollowedText
from bpe_core.editing.live_text.pieces import Pieces
from bpe_core.patterns import patience

SLOW = r"(?:a|aa)+!|[a-z]+|\s|."


class Broken(Exception):
    """What is raised on purpose."""


class Fuse:
    """Lets so many calls pass, and then none."""

    def __init__(self) -> None:
        self.n_left: int | None = None

    def guard(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*arguments: Any) -> Any:
            if self.n_left is not None:
                self.n_left -= 1
                if self.n_left < 0:
                    raise Broken
            return call(*arguments)

        return guarded


def check(live: FollowedText, text: str, tokenizer: Tokenizer) -> None:
    assert (live.text, live.n_characters, live.n_bytes) == (text, len(text), len(text.encode()))
    ids = tokenizer.encode_ordinary(text)
    assert live.ids == ids and live.n_tokens == len(ids)
    fresh = LiveText(tokenizer, text) if isinstance(live, LiveText) else AlignedText(tokenizer, text)
    assert live.spans(0, len(text)) == fresh.spans(0, len(text))


def edit_of(rng: random.Random, text: str, bits: list[str]) -> tuple[int, int, str]:
    start = rng.randint(0, len(text))
    end = min(len(text), start + rng.choice((0, 0, 1, 3, 40, 900)))
    end = max(end, min(len(text), start + len(text) - 900))  # it stays short
    return start, end, "".join(rng.choices(bits, k=rng.choice((0, 1, 1, 3, 30, 500))))[:900]


@pytest.mark.parametrize("pattern", ["gpt4", "none", r"\w+", r"(?<=x)a+|.|\n", r"\p{N}{1,2}|\w+|\W"])
@pytest.mark.parametrize("seed", range(1))
def test_a_live_text_after_a_failure_at_any_point(monkeypatch: pytest.MonkeyPatch, pattern: str, seed: int) -> None:
    fuse = Fuse()
    monkeypatch.setattr(Pieces, "split", fuse.guard(Pieces.split))
    monkeypatch.setattr(Pieces, "encoded", fuse.guard(Pieces.encoded))
    rng = random.Random(f"{pattern} {seed}")
    bits = (["a", "b", " ", "x", "1", "日"], ["a", "aa", "a", "b"], ["ab ", "12", "'s", "\n", "é", "x" * 40])[seed]
    tokenizer = Tokenizer(train("aab ab 12 's xaab" * 9, vocab_size=270, pattern="none").vocabulary, pattern)
    text = "".join(rng.choices(bits, k=400))
    live = LiveText(tokenizer, text)
    encoder = tokenizer.vocabulary.encoder
    monkeypatch.setattr(encoder, "join", fuse.guard(encoder.join))
    n_failed = 0
    for turn in range(45):
        if turn % 20 == 0:
            live.settle(float("inf"))
        object.__setattr__(live.pieces, "ids", fuse.guard(type(live.pieces).ids.__get__(live.pieces)))
        start, end, came = edit_of(rng, text, bits)
        was_settled, n_known = live.settled, live.n_tokens_known
        fuse.n_left = rng.choice((0, 0, 1, 2, 3, 5, 9, 30))
        try:
            live.splice(start, end, came)
            text = text[:start] + came + text[end:]
        except Broken:
            n_failed += 1
            assert (live.settled, live.n_tokens_known) == (was_settled, n_known)
        finally:
            fuse.n_left = None
        assert live.text == text
        if rng.random() < 0.3:
            check(live, text, tokenizer)
    check(live, text, tokenizer)
    assert n_failed > 2


@pytest.mark.parametrize("seed", range(3))
def test_a_live_text_after_the_patience_is_over(seed: int) -> None:
    rng = random.Random(seed)
    tokenizer = Tokenizer(train("aab ab", vocab_size=258, pattern="none").vocabulary, SLOW)
    text = "b" + "a" * 20 + " c!"
    live = LiveText(tokenizer, text)
    n_failed = 0
    for turn in range(40):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 0, 1, 2)))
        came = "a" * 12 if turn % 3 == 0 else rng.choice(("a", "!", " ", "é"))
        try:
            with patience(0.0005 if turn % 2 else 0.0):
                live.splice(start, end, came)
            text = text[:start] + came + text[end:]
        except PatternError:
            n_failed += 1
        assert (live.text, live.n_characters, live.n_bytes) == (text, len(text), len(text.encode()))
        if len(text) > 26:  # more would take its time for real
            text = "b" + "a" * 20 + " c!"
            live.splice(0, live.n_characters, text)
        check(live, text, tokenizer)
    assert n_failed > 2


@pytest.mark.parametrize("name", ["many added"])
def test_an_aligned_text_after_a_failure_at_any_point(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from bpe_core.editing import aligned_parts, alignment

    fuse = Fuse()
    monkeypatch.setattr(aligned_parts, "Alignment", fuse.guard(alignment.Alignment))
    monkeypatch.setattr(alignment.Alignment, "places", fuse.guard(alignment.Alignment.places))
    rng = random.Random(name)
    tokenizer = MAKERS[name]()
    bits = ["low ", "é", "日本", " ", "e", "x\u0301"]
    text = "".join(rng.choices(bits, k=400))
    live = AlignedText(tokenizer, text)
    n_failed = 0
    for _ in range(40):
        start, end, came = edit_of(rng, text, bits)
        fuse.n_left = rng.choice((0, 0, 1, 2, 3, 5, 9))
        try:
            live.splice(start, end, came)
            text = text[:start] + came + text[end:]
        except Broken:
            n_failed += 1
        finally:
            fuse.n_left = None
        check(live, text, tokenizer)
    assert n_failed > 2


def test_another_tokenizer_that_fails_leaves_the_one_in_use() -> None:
    tokenizer = Tokenizer(train("aab ab", vocab_size=258, pattern="none").vocabulary, "gpt4")
    slow = Tokenizer(tokenizer.vocabulary, SLOW.replace("!", "(?=!)"))
    text = "a" * 5000
    live = LiveText(tokenizer, text)
    with patience(0.001), pytest.raises(PatternError):
        live.use(slow)
    assert live.tokenizer is tokenizer
    check(live, text, tokenizer)
