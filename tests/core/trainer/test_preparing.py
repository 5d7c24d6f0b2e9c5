"""Before the first merge all pairs are counted: that can be watched, and ended."""

import pytest

from bpe_core import Trainer


class Enough(Exception):
    """Raised by one who does not want to wait."""


@pytest.mark.parametrize("pattern", ["none", "words"])
def test_counting_the_pairs_tells_how_far_it_is(pattern):
    texts = ["".join(map("{:06}é ".format, range(60_000)))] * 2
    told = []
    Trainer(texts, vocab_size=300, pattern=pattern, progress=lambda *where: told.append(where))
    done, totals = zip(*told, strict=True)
    assert len(told) > 3
    assert list(done) == sorted(done)
    assert len(set(totals)) == 1 and done[-1] < totals[0]


def test_an_error_of_the_one_who_looks_ends_it():
    def look(done, total):
        raise Enough

    with pytest.raises(Enough):
        Trainer(["one two three" * 10_000], vocab_size=300, pattern="none", progress=look)


def test_a_small_corpus_is_ready_at_once():
    told = []
    Trainer(["one two three"], vocab_size=300, progress=lambda *where: told.append(where))
    assert not told
