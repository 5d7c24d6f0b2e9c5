"""What a text has become: the shortest token diff, told from the edited stretch alone."""

import random

import pytest
from prepared_tokenizers import MAKERS

from bpe_core import LiveText, train
from bpe_core.live import plain, prepared
from bpe_core.live.baseline import MOST_COMPARED, MOST_EDITS, Baseline, token_diff

TOKENIZER = train(
    "the theme of the other thesis, the thing that they thought through\n" * 4,
    vocab_size=290,
)


def applied(
    old: list[int], new: list[int], hunks: list[tuple[int, int, int, int]]
) -> list[int]:
    """`old` with the hunks applied to it."""
    found: list[int] = []
    at = 0
    for start, end, new_start, new_end in hunks:
        found += old[at:start]
        assert len(found) == new_start
        found += new[new_start:new_end]
        at = end
    return found + old[at:]


def most_kept(old: list[int], new: list[int]) -> int:
    """The length of the longest common subsequence, by the book."""
    row = [0] * (len(new) + 1)
    for token in old:
        last = row
        row = [0]
        for column, other in enumerate(new):
            row.append(
                last[column] + 1
                if token == other
                else max(row[column], last[column + 1])
            )
    return row[-1]


def test_a_token_replaced_and_one_put_in() -> None:
    assert token_diff([1, 2, 3, 4, 5], [1, 9, 3, 4, 4, 5]) == [
        (1, 2, 1, 2),
        (3, 3, 3, 4),
    ]
    assert token_diff([], []) == token_diff([7, 7], [7, 7]) == []
    assert token_diff([], [1, 2]) == [(0, 0, 0, 2)]
    assert token_diff([1, 2], []) == [(0, 2, 0, 0)]


def test_no_script_is_shorter() -> None:
    rng = random.Random(7)
    for _ in range(2000):
        old, new = (rng.choices(range(4), k=rng.randrange(12)) for _ in range(2))
        hunks = token_diff(old, new)
        assert applied(old, new, hunks) == new
        n_edits = sum(
            end - start + new_end - new_start
            for start, end, new_start, new_end in hunks
        )
        assert n_edits == len(old) + len(new) - 2 * most_kept(old, new)


def test_more_differences_than_one_wants_to_see_are_one_hunk() -> None:
    removed = list(range(MOST_EDITS - 1))
    hunks = [(0, MOST_EDITS - 1, 0, 0), (MOST_EDITS, MOST_EDITS, 1, 2)]
    assert token_diff([*removed, -1], [-1, -2]) == hunks
    assert token_diff([0, *removed, -1], [-1, -2]) == [(0, MOST_EDITS + 1, 0, 2)]
    old, new = list(range(300)), list(range(1000, 1300))
    assert token_diff(
        [5, *old[:150], 0, *old[150:], 6], [5, *new[:100], 0, *new[100:], 6]
    ) == [(1, 302, 1, 302)]


def test_a_text_compared_with_what_it_was() -> None:
    live = LiveText(TOKENIZER, "the other theme")
    baseline = Baseline(live.text)
    live.splice(9, 10, "")
    baseline.spliced(9, 10, 0)
    found = baseline.compare(live)
    assert found is not None
    [hunk] = found.hunks
    words = TOKENIZER.decode
    assert (words(hunk.removed), words(hunk.inserted)) == (" theme", "theme")
    assert (found.n_bytes, hunk.start, hunk.end) == (-1, 9, 14)
    assert found.n_tokens == live.n_tokens - len(
        TOKENIZER.encode_ordinary(baseline.text)
    )


def test_going_back_leaves_no_difference() -> None:
    live = LiveText(TOKENIZER, "the other theme")
    baseline = Baseline(live.text)
    for start, end, text in ((3, 9, ""), (3, 3, " other")):
        live.splice(start, end, text)
        baseline.spliced(start, end, len(text))
    found = baseline.compare(live)
    assert (
        found is not None and found.hunks == () and found.n_tokens == found.n_bytes == 0
    )


@pytest.mark.parametrize(
    "kind", ["gpt4", "gpt2", "none", "words", "NFC", "llama 2", "added"]
)
def test_as_a_diff_of_the_whole_texts_says(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (plain, prepared):
        monkeypatch.setattr(module, "SIZE", 8)
        monkeypatch.setattr(module, "REST", 16)
    rng, corpus = random.Random(kind), "é the theme, the other 123\n  thé " * 5
    tokenizer = (
        MAKERS[kind]()
        if kind in MAKERS
        else train(corpus, vocab_size=290, pattern=kind)
    )
    for _ in range(60):
        live = LiveText(tokenizer, "".join(rng.choices("the \né1", k=60)))
        baseline = Baseline(live.text)
        for _ in range(rng.randrange(1, 4)):
            start = rng.randrange(live.n_characters + 1)
            end = min(live.n_characters, start + rng.randrange(4))
            text = "".join(rng.choices("the \né1", k=rng.randrange(4)))
            live.splice(start, end, text)
            baseline.spliced(start, end, len(text))
        found = baseline.compare(live)
        assert found is not None
        whole = tokenizer.encode_ordinary(baseline.text)
        assert found.n_tokens == live.n_tokens - len(whole) and (whole == live.ids) == (
            not found.hunks
        )
        assert found.n_bytes == live.n_bytes - len(baseline.text.encode())
        for hunk in found.hunks:
            assert "".join(map(chr, whole)).count("".join(map(chr, hunk.removed)))
            spans = [
                span
                for span in live.spans(0, live.n_characters)
                if span.start < hunk.end and hunk.start < span.end
            ]
            assert (
                set(hunk.inserted) <= {token for span in spans for token in span.ids}
                or hunk.start == hunk.end
            )


def test_too_much_to_compare_is_said() -> None:
    live = LiveText(TOKENIZER, "the ")
    baseline = Baseline(live.text)
    live.splice(0, 0, "the " * (MOST_COMPARED // 3))
    baseline.spliced(0, 0, MOST_COMPARED // 3 * 4)
    assert baseline.compare(live) is None
