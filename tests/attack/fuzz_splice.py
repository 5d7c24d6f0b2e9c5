"""`python -m tests.attack.fuzz_splice`: random edits in nasty texts, each held against a fresh encode of all of it.

After every edit the tokens, spans, totals and the change that is told must be those that follow from encoding the text
before and after it anew. Prints a line for each tokenizer, and says where to look if anything differs.
"""

import random
import sys
import tempfile
import time
from argparse import ArgumentParser
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from bpe_core import PATTERNS, Change, LiveText, Tokenizer, load, train
from bpe_core.tokenizer import SpecialsAllowed
from bpe_core.utf8 import without_surrogates
from tests.nasty import ALPHABETS, HALVES

_OWN: Final = (
    r"\p{N}{1,2}|\w+|\W",
    r"(?#only)a+(?=b)|\w{2,}|\d{1,3}",
    r"(?<=x)a+|.|\n",
    r"a[^b]{0,20}b|a|(?s:.)",
    r"\b\w",
)
"""Patterns that nobody has published, one of them with a look-behind, some not matching everything."""
_PUBLISHED: Final = {"r50k_base": "gpt2", "cl100k_base": "gpt4", "o200k_base": "gpt4o"}
"""The pattern of a published vocabulary."""
_TIES: Final = ("first", "lowest", "lowest-hf", "largest")
_SESSION: Final = 60
"""Edits of one text."""
_SETTLES: Final = 1000
"""Characters of a text that is settled after every edit; in more, an edit can be felt farther than is seen at once."""


def main() -> None:
    """Make the edits and print what came out; 100,000 take some ten minutes. Exits with 1 if anything differs."""
    parser = ArgumentParser(
        prog="python -m tests.attack.fuzz_splice", description=__doc__
    )
    parser.add_argument(
        "--edits",
        type=int,
        default=10_000,
        help="how many, over all tokenizers (10,000)",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--vocabularies",
        type=Path,
        nargs="*",
        default=[],
        help="files of tokenizers to add",
    )
    options = parser.parse_args()
    tokenizers = dict(_tokenizers(options.vocabularies))
    began, done, different = time.monotonic(), 0, 0
    for number, (name, tokenizer) in enumerate(tokenizers.items()):
        share = options.edits * (number + 1) // len(
            tokenizers
        ) - options.edits * number // len(tokenizers)
        differences = list(_differences(tokenizer, f"{options.seed} {name}", share))
        print(f"{share:7,} edits, {len(differences)} differences: {name}", flush=True)
        for difference in differences[:3]:
            print(f"        {difference}", flush=True)
        done, different = done + share, different + len(differences)
    print(
        f"{done:,} edits with {len(tokenizers)} tokenizers, seed {options.seed}: {different} differences, "
        f"{time.monotonic() - began:,.0f} s."
    )
    sys.exit(different > 0)


def _tokenizers(paths: Sequence[Path]) -> Iterator[tuple[str, Tokenizer]]:
    """Learned ones with each rule for ties and each pattern, and those of the files with theirs and with others."""
    rng = random.Random(0)
    readable = ALPHABETS[0]
    corpus = "".join(rng.choices(readable, k=4000)) + "ab" * 80 + "a" * 90 + " " * 70
    for ties in _TIES:
        vocabulary = train(
            corpus,
            vocab_size=700,
            pattern="none",
            ties=ties,
            special_tokens=["<|endoftext|>"],
        ).vocabulary
        for pattern in (*PATTERNS, *_OWN):
            yield f"learned, ties {ties}, {pattern}", Tokenizer(vocabulary, pattern)
        yield (
            f"learned, ties {ties}, gpt4, special tokens",
            SpecialsAllowed.of(Tokenizer(vocabulary, "gpt4")),
        )
    for path in paths:
        name = path.name.removesuffix(".xz").removesuffix(".tiktoken")
        tokenizer = _load(path, _PUBLISHED.get(name))
        yield f"{name}, {tokenizer.pattern[:40]}", tokenizer
        if name in _PUBLISHED:
            for pattern in (
                *(other for other in PATTERNS if other != tokenizer.pattern),
                *_OWN[:2],
            ):
                yield f"{name}, {pattern}", Tokenizer(tokenizer.vocabulary, pattern)


def _load(path: Path, pattern: str | None) -> Tokenizer:
    if path.suffix != ".xz":
        return load(path, pattern=pattern)
    import lzma

    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        plain.write_bytes(lzma.decompress(path.read_bytes()))
        return load(plain, pattern=pattern)


def _differences(tokenizer: Tokenizer, seed: str, n_edits: int) -> Iterator[str]:
    """What differs from a fresh encode, one sentence for each session that went wrong."""
    for session in range(-(-n_edits // _SESSION)):
        rng = random.Random(f"{seed} {session}")
        n = min(_SESSION, n_edits - session * _SESSION)
        done = 0
        try:
            for done in _session(tokenizer, rng, n):
                assert done
        except AssertionError as error:
            yield f"session {seed!r} {session}, edit {done + 1}: {error}"


def _session(tokenizer: Tokenizer, rng: random.Random, n_edits: int) -> Iterator[int]:
    """Edits of one text, each looked at; yields how many were right. Raises `AssertionError` at what is not."""
    # Another tokenizer encodes anew: it shares no cache with the one whose splices are tried.
    fresh = type(tokenizer)(
        tokenizer.vocabulary, tokenizer.pattern, preparation=tokenizer.preparation
    )
    bits = (*rng.choice(ALPHABETS), *(HALVES if rng.random() < 0.2 else ()))
    bits = rng.sample(bits, k=min(len(bits), rng.choice((3, 8, 30, 100))))
    n_bits = rng.choice((0, 5, 40, 100, 150, 150, 300, rng.choice((600, 2500, 6000))))
    text = without_surrogates("".join(rng.choices(bits, k=n_bits)))
    live = LiveText(tokenizer, text)
    is_lazy = (
        rng.random() < 0.2
    )  # looked at now and then, as a text is that has not settled
    if not is_lazy:
        live.settle(float("inf"))
    before = fresh.encode_ordinary(text)
    for done in range(n_edits):
        start, end, typed = _edit(rng, text, bits)
        change = live.splice(start, end, typed)
        edited = text[:start] + without_surrogates(typed) + text[end:]
        after = fresh.encode_ordinary(edited)
        what = f"characters {start} to {end} of {text[-3000:]!r} by {typed[:300]!r}"
        if not is_lazy:
            assert live.settled or len(edited) > _SETTLES, f"not settled after {what}"
        if live.settled and not is_lazy:
            _check_change(
                change, (text, edited), (before, after), (start, end), tokenizer, what
            )
        if not is_lazy or rng.random() < 0.3 or done == n_edits - 1:
            _check_tokens(live, edited, after, rng, what)
        text, before = edited, after
        yield done + 1


def _edit(rng: random.Random, text: str, bits: Sequence[str]) -> tuple[int, int, str]:
    """A key, mostly; sometimes a word, a paste, a line or everything that goes; often beside the last place."""
    start = rng.randint(0, len(text))
    end = min(len(text), start + rng.choice((0, 0, 0, 0, 1, 1, 1, 2, 9, 80, 700)))
    if rng.random() < 0.02:
        start, end = rng.choice(((0, len(text)), (start, len(text)), (0, end)))
    n = rng.choice(
        (0, 1, 1, 1, 2, 3, rng.choice((8, 40, 120, rng.choice((120, 1200)))))
    )
    return start, end, "".join(rng.choices(bits, k=n))


def _check_tokens(
    live: LiveText, text: str, ids: list[int], rng: random.Random, what: str
) -> None:
    """That all that a live text tells is what a fresh encode gives; spans asked for all at once, and for a part."""
    at = rng.randint(0, len(text))
    if rng.random() < 0.5:
        live.spans(max(0, at - 300), at)  # what is on the screen is worked out first
    assert live.text == text, f"another text after {what}"
    assert live.ids == ids, f"other tokens after {what}"
    totals = (live.n_characters, live.n_bytes, live.n_tokens)
    assert totals == (len(text), len(text.encode()), len(ids)), (
        f"the totals {totals} after {what}"
    )
    spans = live.spans(0, len(text))
    assert [token for span in spans for token in span.ids] == ids, (
        f"spans of other tokens after {what}"
    )
    if not live.tokenizer.splitter.lossy:
        assert [span.end for span in spans] == _borders(live.tokenizer, text, ids), (
            f"spans end elsewhere after {what}"
        )
    part = [span for span in spans if span.start < at and max(0, at - 50) < span.end]
    assert live.spans(max(0, at - 50), at) == part, (
        f"other spans in a part, before {at}, after {what}"
    )


def _borders(tokenizer: Tokenizer, text: str, ids: Sequence[int]) -> list[int]:
    """Code points where a token and a character end."""
    characters = list(
        accumulate((len(character.encode()) for character in text), initial=0)
    )
    number = {byte: index for index, byte in enumerate(characters)}
    ends = _ends(tokenizer, ids)[1:]
    return [number[end] for end in ends if end in number]


def _ends(tokenizer: Tokenizer, ids: Sequence[int]) -> list[int]:
    """The byte where the first token begins, and those where tokens end."""
    return list(
        accumulate((len(tokenizer.token_bytes(token)) for token in ids), initial=0)
    )


def _check_change(
    change: Change,
    texts: tuple[str, str],
    ids: tuple[list[int], list[int]],
    edited: tuple[int, int],
    tokenizer: Tokenizer,
    what: str,
) -> None:
    """That a change is the least that turns the old tokens into the new ones, at its place, and reaches as far."""
    (old, new), removed, inserted = ids, list(change.removed), list(change.inserted)
    assert change.n_tokens == len(new) - len(old), (
        f"{change.n_tokens} tokens more after {what}"
    )
    if old == new:
        assert tokenizer.splitter.lossy or not (removed or inserted), (
            f"a change where none is: {what}"
        )
        return
    if tokenizer.splitter.lossy:
        return
    old_ends, new_ends = _ends(tokenizer, old), _ends(tokenizer, new)
    at = len(texts[1][: change.start].encode()) + change.head
    index = bisect_left(new_ends, at)
    assert new_ends[index] == at, f"a change at no border after {what}"
    assert old[index : index + len(removed)] == removed, (
        f"other tokens are gone after {what}"
    )
    assert old[:index] + inserted + old[index + len(removed) :] == new, (
        f"other tokens came after {what}"
    )
    if removed and inserted:
        assert removed[0] != inserted[0] and removed[-1] != inserted[-1], (
            f"not the least change after {what}"
        )
    n_before, n_behind = (
        len(part.encode()) for part in (texts[0][: edited[0]], texts[0][edited[1] :])
    )
    assert change.ripple == _ripple(old_ends, new_ends, n_before, n_behind), (
        f"a ripple of {change.ripple} after {what}"
    )


def _ripple(
    old: Sequence[int], new: Sequence[int], n_before: int, n_behind: int
) -> int:
    """The farthest border that only one has; `n_before` and `n_behind` are the bytes that the edit leaves alone."""
    before = {end for end in old if end <= n_before} ^ {
        end for end in new if end <= n_before
    }
    behind = {old[-1] - end for end in old} ^ {new[-1] - end for end in new}
    return max(
        [
            0,
            *(n_before - end for end in before),
            *(n_behind - end for end in behind if end <= n_behind),
        ]
    )


if __name__ == "__main__":
    main()
