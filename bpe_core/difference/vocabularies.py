"""Compare how two tokenizers make ids of a piece: their tokens, the order of their merges, and their ids.

Sameness is proved, not tried. A piece becomes the same tokens in A and B if they have the same symbols, the same live
merges (`live_merges`), orders of them that agree where it matters (`merge_orders`), and the same pieces that are looked
up. All of that is compared by bytes, so that ids may differ; they are compared last.

If a token has other parts in A than in B, that proves nothing: both may still give all pieces the same tokens. What no
text shows then is undecided.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

from bpe_core.difference.live_merges import LiveMerges
from bpe_core.difference.merge_orders import MergeOrders, Overlap
from bpe_core.difference.records import Pair, PartComparison
from bpe_core.difference.surroundings import added_tokens
from bpe_core.difference.suspects import (
    CompetingMerges,
    Neighbors,
    OtherId,
    RebuiltToken,
    Sides,
    Suspect,
    TokenOfOne,
    search,
)
from bpe_core.process import no_garbage_collection
from bpe_core.visible import counted

_MOST_OVERLAPS: Final = 10_000
"""How many pairs of merges in different orders are looked at."""
_RARE: Final = "\ue000"
"""A character that few vocabularies have."""


def compare_vocabularies(pair: Pair) -> Iterator[PartComparison]:
    """Compare the parts "vocabulary", "merges" and "ids", one after the other.

    If all three are the same, A and B give each piece the same ids. What they do with characters that have no token is
    another part ("byte fallback").
    """
    with no_garbage_collection():
        sides = Sides.of(pair)
        if not (sides.a.is_exact and sides.b.is_exact) and _have_equal_data(pair):
            sentence = "Both have the same tokens, ids and ranks."
            for part in ("vocabulary", "merges", "ids"):
                yield PartComparison(part, True, sentence)
            return
        yield _compare_tokens(sides)
        yield _compare_merges(sides)
        yield _compare_ids(sides)


def _have_equal_data(pair: Pair) -> bool:
    """Whether the vocabularies are equal except for special tokens."""
    of_a = pair.a.vocabulary.with_special_tokens({})
    return of_a == pair.b.vocabulary.with_special_tokens({})


def _compare_tokens(sides: Sides) -> PartComparison:
    a = sides.a
    b = sides.b
    only_in_a = [TokenOfOne(a.text(token), token, True) for token in _only_in(a, b)]
    only_in_b = [TokenOfOne(b.text(token), token, False) for token in _only_in(b, a)]
    counts = [
        f"{counted(len(tokens), 'token is', 'tokens are')} in {owner} only"
        for tokens, owner in ((only_in_a, "A"), (only_in_b, "B"))
        if tokens
    ]
    different = f"{', and '.join(counts)}."
    n_common = len(a.ids.keys() & b.ids.keys()) + len(a.whole.keys() & b.whole.keys())
    same = f"A and B can produce the same {counted(n_common, 'token')}."
    suspects = [*only_in_a, *only_in_b]
    comparison = _judged("vocabulary", sides, suspects, different, same)
    return comparison._replace(sentence=comparison.sentence + _about_unreachable(sides))


def _only_in(one: LiveMerges, other: LiveMerges) -> Iterator[bytes]:
    """Yield the tokens that only one can make, or makes by merging where the other needs a whole piece."""
    for token in one.ids:
        if token not in other.ids:
            yield token
    for token in one.whole:
        if token not in other.ids and token not in other.whole:
            yield token


def _about_unreachable(sides: Sides) -> str:
    """Return a sentence about the tokens that only A or only B has, and no text becomes; "" if there are none."""
    pair = sides.pair
    a = sides.a
    b = sides.b
    added = added_tokens(pair.a) | added_tokens(pair.b)
    unreachable = (a.unreachable() - b.tokens()) | (b.unreachable() - a.tokens())
    unreachable.difference_update(map(str.encode, added))
    if not unreachable:
        return ""
    n_tokens = counted(
        len(unreachable),
        "other token that is in only one of them",
        "other tokens that are in only one of them",
    )
    return f" Encoding never produces {n_tokens}."


def _compare_merges(sides: Sides) -> PartComparison:
    a = sides.a
    b = sides.b
    orders = MergeOrders(a, b)
    overlaps: list[Overlap] = []
    if not orders.are_equal:
        overlaps += islice(orders.overlaps(), _MOST_OVERLAPS)
    suspects: list[Suspect] = [_competing(a, overlap) for overlap in overlaps]
    rebuilt = [
        token
        for token, parts in a.parts_of.items()
        if b.parts_of.get(token, parts) != parts
    ]
    if rebuilt:
        neighbors = Neighbors.of(chain(a.rank_of, b.rank_of))
        for token in rebuilt:
            suspects.append(RebuiltToken(a.text(token), token, neighbors))
    n_overlaps = counted(len(overlaps), "pair")
    if len(overlaps) == _MOST_OVERLAPS:
        n_overlaps = f"At least {n_overlaps}"
    different = (
        f"{n_overlaps} of merges that compete for a token come in different orders, "
        f"and {counted(len(rebuilt), 'token has', 'tokens have')} different parts."
    )
    n_common = counted(len(orders.merges), "merge")
    same = f"A and B apply the same {n_common} in the same order."
    doubt = ""
    if not orders.are_equal:
        same = f"A and B apply the same {n_common}, and in the same order where two compete for a token."
        if len(overlaps) == _MOST_OVERLAPS:
            doubt = "Too many merges come in different orders to compare them all."
        elif orders.has_late_merges():
            doubt = "The orders of the merges are different, and some merges come before those that make their parts."
    return _judged("merges", sides, suspects, different, same, doubt)


def _competing(a: LiveMerges, overlap: Overlap) -> CompetingMerges:
    first, second = overlap.merges
    if a.rank_of[first] > a.rank_of[second]:
        first, second = second, first
    data = overlap.first + overlap.middle + a.text(overlap.last)
    return CompetingMerges(data, first, second)


def _compare_ids(sides: Sides) -> PartComparison:
    a = sides.a
    b = sides.b
    common = [token for token in a.ids if token in b.ids]
    moved = [token for token in common if a.ids[token] != b.ids[token]]
    different = f"{len(moved):,} of {counted(len(common), 'token has another id', 'tokens have other ids')}."
    suspects = [
        OtherId(a.text(token), token, a.ids[token], b.ids[token]) for token in moved
    ]
    for piece in a.whole.keys() | b.whole.keys():
        id_in_a = a.whole.get(piece, a.ids.get(piece))
        id_in_b = b.whole.get(piece, b.ids.get(piece))
        if id_in_a is not None and id_in_b is not None and id_in_a != id_in_b:
            suspects.append(OtherId(piece, piece, id_in_a, id_in_b))
    if a.unknown is not None and b.unknown is not None and a.unknown != b.unknown:
        unknown = sides.pair.a.token_bytes(a.unknown)
        suspects.append(OtherId(_RARE.encode(), unknown, a.unknown, b.unknown))
    same = f"All {counted(len(common), 'token')} that A and B have in common have the same ids."
    return _judged("ids", sides, suspects, different, same)


def _judged(
    part: str,
    sides: Sides,
    suspects: Sequence[Suspect],
    different: str,
    same: str,
    doubt: str = "",
) -> PartComparison:
    """Search for texts that show the suspects, and return what is known then.

    Args:
        part: One of `PARTS`.
        sides: The two tokenizers.
        suspects: All differences. If no text can show any, and there is no doubt, the part is the same.
        different: A sentence about the differences.
        same: A sentence for the case that there are none.
        doubt: Why sameness is not proved although there is no difference; "" if it is.
    """
    n_before = sides.pair.n_tried
    causes = search(part, sides, suspects)
    if causes and causes[0].witness:
        return PartComparison(part, False, different, causes)
    if causes:
        n_tried = counted(sides.pair.n_tried - n_before, "text")
        sentence = f"{different} None of {n_tried} tried shows it."
        return PartComparison(part, None, sentence, causes)
    if not (sides.a.is_exact and sides.b.is_exact):
        doubt = (
            "Some tokens have equal bytes or equal ranks, so sameness can't be proved."
        )
    elif sides.a.has_marker != sides.b.has_marker:
        doubt = "Only one of them marks the ends of words."
    if doubt:
        return PartComparison(part, None, doubt)
    if suspects:
        same = f"{different} The split patterns cut these bytes in every text, so no ids differ."
    return PartComparison(part, True, same)
