"""The fuzz of the kernel: it finds nothing where nothing is wrong, and what is wrong otherwise."""

import random
from itertools import islice

import pytest

from bpe_core import PATTERNS, kernel, reference
from bpe_core.kernel import grammars
from bpe_core.kernel.fallback import Learner
from bpe_core.vocabulary import Vocabulary

if not kernel.available:
    pytest.skip(f"the kernel is {kernel.why_not}", allow_module_level=True)

from tests.attack.fuzz_kernel import __main__ as fuzz
from tests.attack.fuzz_kernel import splitting

THINGS = {name: tries for name, tries, _ in fuzz.things(None)}


@pytest.mark.parametrize("name", THINGS)
def test_nothing_differs(name: str) -> None:
    assert fuzz.batch((name, THINGS[name], 1, 0, 30)) == (30, "")


def _wrong_merges(self: Learner, start: int, merges=Learner.merges):
    return [
        (left, right, count, tied + (count == 3), after)
        for left, right, count, tied, after in merges(self, start)
    ]


@pytest.mark.parametrize(
    ("name", "owner", "attribute", "wrong"),
    [
        (
            "split gpt2",
            splitting,
            "split",
            lambda scanner, data: [data] if data else [],
        ),
        (
            "count gpt4",
            grammars,
            "scanner",
            lambda _, scanner=grammars.scanner: scanner(PATTERNS["gpt2"]),
        ),
        ("train first", Learner, "merges", _wrong_merges),
        ("train largest", reference, "train", lambda *_: []),
        ("merge", Vocabulary, "encode", lambda _, piece: tuple(piece)),
    ],
)
def test_what_differs_is_told(
    name: str, owner, attribute: str, wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, attribute, wrong)
    n_agree, told = fuzz.batch((name, THINGS[name], 1, 500, 1000))
    assert n_agree < 500
    again = next(islice(THINGS[name](random.Random(f"1 {name} 500")), n_agree, None))
    assert told == f"number {500 + n_agree} of seed 1: {again}"
