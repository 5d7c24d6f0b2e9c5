"""Very long pieces, kept in parts: exact wherever they are edited, and an edit looks at little of them."""

import random

import pytest

from bpe_core import LiveText, Tokenizer, Vocabulary, kernel, train
from bpe_core.editing.live_text.pieces import Pieces

RUNS = [*" \n\t'/.a日\u0301", "A", "ab", "\r\n", "'s", "x'", "12", "Aa", "  \n", "a\u0301", "aA日", "/\n", "!/", " \t"]
"""What long runs are made of, in turn or at random; some are no runs to the scanner."""
TYPED = [*"ax7 \n'/.日\u0301", "", "", "'ll", "  ", "\r\n", "B", "a" * 300]


@pytest.fixture(scope="module")
def vocabulary():
    rng = random.Random(0)
    text = "".join(rng.choices(RUNS, k=1500)) + "ab" * 80 + "a" * 90 + " " * 70
    return train(text, vocab_size=600, pattern="none").vocabulary


def run(rng):
    bits, n = rng.choice(RUNS), rng.choice((3, 700, 2500))
    return bits * n if rng.random() < 0.5 else "".join(rng.choices(bits, k=2 * n))


@pytest.mark.parametrize("pattern", ["gpt4", "gpt4o", "gpt2"])
def test_edits_in_runs_of_many_parts(vocabulary, pattern):
    """Where a run is left out before the text is split again, the pieces must not differ for it."""
    rng = random.Random(pattern)
    tokenizer = Tokenizer(vocabulary, pattern)
    fresh = Tokenizer(vocabulary, pattern)
    for _ in range(4):
        text = "x".join(run(rng) for _ in range(4))
        live = LiveText(tokenizer, text)
        live.settle(float("inf"))
        places = [0, len(text)]
        for _ in range(12):
            at = min(
                len(text), max(0, rng.choice((*places, rng.randint(0, len(text)))) + rng.choice((-2, -1, 0, 1, 2)))
            )
            end = min(len(text), at + rng.choice((0, 0, 1, 1, 3, 600)))
            places += at, end
            typed = rng.choice(TYPED)
            live.splice(at, end, typed)
            text = text[:at] + typed + text[end:]
            if rng.random() < 0.5:
                live.settle(float("inf"))
            assert live.text == text and live.ids == fresh.encode_ordinary(text)
            if not tokenizer.splitter.tree.drops_rest:
                assert [span.end for span in live.spans(0, len(text))][-1:] == [len(text)][: len(text)]


@pytest.mark.parametrize("pattern", ["gpt4", "gpt4o"])
def test_a_long_piece_ends_where_a_run_goes_on_with_another_set(vocabulary, pattern):
    """The newlines belong to the signs before them, up to the first space. That must not seem to stand earlier, where
    newlines are left out because others follow."""
    tokenizer = Tokenizer(vocabulary, pattern)
    live = LiveText(tokenizer, "!" + "\n" * 3000 + " " * 3000 + "\n" * 3000 + "x")
    live.splice(0, 0, "!")
    assert [live.piece_at(at) for at in (2000, 4000, 8000)] == [(0, 3002), (3002, 9002), (3002, 9002)]
    assert live.ids == tokenizer.encode_ordinary(live.text)


@pytest.mark.parametrize("pattern", ["gpt4", "gpt4o", "none"])
@pytest.mark.parametrize("bits", [" ", "a", "abcdefgh", "日本語", "=", "\n", " \t\n"])
def test_an_edit_in_a_long_piece_looks_at_little_of_it(vocabulary, monkeypatch, pattern, bits):
    rng = random.Random(pattern + bits)
    live = LiveText(Tokenizer(vocabulary, pattern), "".join(rng.choices(bits, k=60_000)))
    live.settle(float("inf"))
    looked_at = {"split": 0, "join": 0}

    def counted(name):
        method = getattr(Pieces, name)

        def count(self, text):
            looked_at[name] += len(text)
            return method(self, text)

        return count

    for name in looked_at:
        monkeypatch.setattr(Pieces, name, counted(name))
    for typed in "x", " ", bits[0], "7", "":
        looked_at.update(split=0, join=0)
        live.splice(at := rng.randrange(20_000, 40_000), at + 1, typed)
        assert looked_at["join"] < 12_000, "tokens near the edit"
        assert not kernel.available or looked_at["split"] < 6_000, "both ends of a run, and what is near the edit"


@pytest.mark.skipif(not kernel.available, reason="the scanner is part of the kernel")
def test_the_sets_of_a_run():
    from bpe_core.patterns import splitter

    scanner = splitter("gpt4").scanner
    assert scanner is not None and scanner.run(b"") == 0
    assert scanner.run("abcé日".encode()) == scanner.run(b"z") > 0
    assert scanner.run(b"ab c") == scanner.run(b"12") == 0, "several sets, and digits of which a piece holds three"
    assert scanner.run(b" \n\t") == scanner.run(b"\t \n ") != scanner.run(b" \t"), "other sets, but of one kind"
    assert scanner.run(b" \n\t") & 0xFF == scanner.run(b" \t") & 0xFF > 0
    assert scanner.run("😊👍".encode()) == scanner.run(b"!?") > 0
    assert scanner.run(b"\xff") > 0, "what is no UTF-8 is some sign"


def test_tokens_longer_than_a_part():
    """A part cannot be cut inside of a token, however long that makes it."""
    merges = [(97 if n == 0 else 255 + n, 97 if n == 0 else 255 + n, 256 + n) for n in range(11)]
    tokenizer = Tokenizer(Vocabulary({byte: bytes([byte]) for byte in range(256)}, merges), "none")
    rng, live = random.Random(0), LiveText(tokenizer, "b" + "a" * 30_000)
    for _ in range(4):
        live.splice(at := rng.randrange(live.n_characters), at + rng.choice((0, 1)), rng.choice("ab"))
        assert live.ids == tokenizer.encode_ordinary(live.text)
