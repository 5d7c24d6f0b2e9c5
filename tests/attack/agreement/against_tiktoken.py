"""GPT-2's, GPT-4's and GPT-4o's encodings as tiktoken itself defines them, and as bpescope reads the same files."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final

from bpe_core import SpecialTokenError, Tokenizer, load
from bpe_core.live.change import layout
from bpe_core.utf8 import byte_offsets
from tests.attack.agreement.characters import Disagreement, disagreements, in_tiktoken
from tests.attack.agreement.comparing import Subject
from tests.attack.published import ENCODINGS

FRESH: Final = "encode_ordinary, nothing known yet"
WHERE: Final = "where tokens begin and end"
_END: Final = "<|endoftext|>"


def subject(name: str, folder: Path) -> Subject:
    """An encoding, unpacked before."""
    import tiktoken

    theirs = tiktoken.get_encoding(name)
    ours = load(folder / ENCODINGS[name][0])
    seldom = frozenset({FRESH, WHERE})
    decodings, ids = _decodings(ours, theirs), _ids(ours, theirs)
    return Subject(
        name, _ways(ours, theirs), seldom, _disagreements(theirs), decodings, ids
    )


def _disagreements(theirs: Any) -> Callable[[], list[Disagreement]]:
    return cache(lambda: disagreements(theirs._pat_str, in_tiktoken))


def _ids(ours: Tokenizer, theirs: Any) -> list[int]:
    here = sorted({*ours.vocabulary.ids(), *ours.special_tokens.values()})
    there = sorted(
        {*theirs._mergeable_ranks.values(), *theirs._special_tokens.values()}
    )
    if here != there:
        raise SystemExit(
            f"{theirs.name} has {len(there):,} ids in tiktoken and {len(here):,} here."
        )
    return here


def _ways(ours: Tokenizer, theirs: Any) -> dict[str, Any]:
    return {
        FRESH: (
            lambda text: _fresh(ours).encode_ordinary(text),
            theirs.encode_ordinary,
        ),
        "encode_ordinary": (ours.encode_ordinary, theirs.encode_ordinary),
        "all special tokens allowed": (_encode(ours, "all"), _encode(theirs, "all")),
        "one allowed, the others text": (
            _encode(ours, {_END}, ()),
            _encode(theirs, {_END}, ()),
        ),
        "none allowed": (_encode(ours), _encode(theirs)),
        "decode": (
            lambda text: ours.decode(ours.encode_ordinary(text)),
            lambda text: theirs.decode(theirs.encode_ordinary(text)),
        ),
        WHERE: (
            lambda text: [start for start, _ in offsets(text, ours)],
            lambda text: theirs.decode_with_offsets(theirs.encode_ordinary(text))[1],
        ),
    }


def _decodings(ours: Tokenizer, theirs: Any) -> dict[str, Any]:
    return {
        "decode": (ours.decode, theirs.decode),
        "decode_bytes": (ours.decode_bytes, theirs.decode_bytes),
        "token_bytes": (
            lambda ids: [ours.token_bytes(token) for token in ids],
            lambda ids: [theirs.decode_single_token_bytes(token) for token in ids],
        ),
    }


def _fresh(tokenizer: Tokenizer) -> Tokenizer:
    return Tokenizer(
        tokenizer.vocabulary, tokenizer.pattern, preparation=tokenizer.preparation
    )


def _encode(
    tokenizer: Any, allowed: Any = frozenset(), disallowed: Any = "all"
) -> Callable[[str], Any]:
    """Its `encode`, with None for a text that it refuses because of a special token."""

    def encode(text: str) -> list[int] | None:
        try:
            return tokenizer.encode(
                text, allowed_special=allowed, disallowed_special=disallowed
            )
        except (SpecialTokenError, ValueError):
            return None

    return encode


def offsets(text: str, tokenizer: Tokenizer) -> list[tuple[int, int]]:
    """First code point of each token and the one behind its last, as our own spans tell them."""
    found = []
    for span in layout(text, tokenizer.encode_ordinary(text), tokenizer.token_bytes):
        starts = byte_offsets(text[span.start : span.end])
        ends = [0, *accumulate(len(tokenizer.token_bytes(token)) for token in span.ids)]
        found += [
            (
                span.start + bisect_right(starts, begin) - 1,
                span.start + bisect_left(starts, end),
            )
            for begin, end in pairwise(ends)
        ]
    return found


def earlier(name: str, folder: Path, steps: int = 4) -> Iterator[Subject]:
    """The encoding as it was after some of its merges: tiktoken with fewer ranks, and our `at`."""
    import tiktoken

    whole, ours = tiktoken.get_encoding(name), load(folder / ENCODINGS[name][0])
    ours.vocabulary.recover()
    n_merges = len(ours.vocabulary.merges)
    for n in accumulate([1, n_merges // 1000, n_merges // 20, n_merges // 2][:steps]):
        last = ours.vocabulary.merges[n - 1][2]
        ranks = {
            data: rank for data, rank in whole._mergeable_ranks.items() if rank <= last
        }
        theirs = tiktoken.Encoding(
            name, pat_str=whole._pat_str, mergeable_ranks=ranks, special_tokens={}
        )
        ways = {"encode_ordinary": (ours.at(n).encode_ordinary, theirs.encode_ordinary)}
        yield Subject(
            f"{name} after {n:,} merges", ways, disagreements=_disagreements(whole)
        )
