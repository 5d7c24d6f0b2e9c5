"""Compare how two tokenizers make ids of a piece: their tokens, the order of their merges, and their ids.

Sameness is proved, not tried. The proof is about bytes, so that ids may differ. In what follows a *piece* is a list of
symbols: its bytes, or its characters in some vocabularies, perhaps with an end-of-word marker.

**Live merges.** Take a merge that encoding applies somewhere in a piece, and the bytes that its two parts cover. Until
then no other merge has crossed the ends of these bytes. So the merges inside them were chosen as if nothing were around
them: merging these bytes alone applies the same merges, and this one as the last. Therefore a merge is ever applied, or
*live*, only if it is the last one when the bytes of its token are merged alone. So each token has one live merge or
none, and its parts are always the same. The other merges can be left out, such as those that Hugging Face's files list
for each other way to split a token. So can merges whose bytes are in no valid UTF-8. A token without a live merge is
only produced if a piece equal to it is looked up (`ignore_merges`).

**Order.** Two vocabularies have the same symbols and the same live merges, and in both lists each merge comes after
those that make its parts. Then encoding is the same as applying each merge everywhere before the next (`reference.py`).
Two merges *overlap* if one joins x and y, and the other y and z: where x, y and z are side by side, one of them takes y
away from the other.

- If no two overlapping merges are in different orders, all pieces become the same tokens. Proof: both lists respect the
  order of overlapping merges, and that of parts. One list can be turned into the other by exchanging two adjacent
  merges at a time, such that each list on the way respects these orders, too. The two merges exchanged have no token
  in common, and neither makes a part of the other. So applying one leaves the occurrences of the other as they are, and
  either order gives the same.
- If A joins (x, y) first and B joins (y, z) first, the bytes of x + y + z become different tokens. Proof: in A, when
  the turn of (x, y) comes, x and y are there, since (x, y) is live; z may still be in parts, but nothing has joined y
  to it, since (y, z) is live and its turn comes later. So A joins x and y, and in the same way B joins y and z. The
  results could only be equal if all three became one token. But a token is built in the same way in A and B, and not
  both from x + y and from y + z.

If a token has other parts in A than in B, the second proof has a gap where x + y + z is that token, and the first one
does not apply. If a list is not in order, as some published lists are, only equal orders are proved to be the same.
What is then not shown by a text is undecided.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

from bpe_core.difference.live_merges import (
    LiveMerges,
    Overlap,
    has_same_order,
    inverted_overlaps,
)
from bpe_core.difference.records import Pair, PartComparison
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


def compare_vocabularies(pair: Pair) -> list[PartComparison]:
    """Compare the parts "vocabulary", "merges" and "ids".

    If all three are the same, A and B give each piece the same ids. What they do with characters that have no token is
    another part ("byte fallback").
    """
    with no_garbage_collection():
        sides = Sides.of(pair)
        if not (sides.a.is_exact and sides.b.is_exact) and _have_equal_data(pair):
            sentence = "Both have the same tokens, ids and ranks."
            return [
                PartComparison(part, True, sentence)
                for part in ("vocabulary", "merges", "ids")
            ]
        return [_compare_tokens(sides), _compare_merges(sides), _compare_ids(sides)]


def _have_equal_data(pair: Pair) -> bool:
    """Whether the vocabularies are equal except for special tokens."""
    of_a = pair.a.vocabulary.with_special_tokens({})
    return of_a == pair.b.vocabulary.with_special_tokens({})


def _compare_tokens(sides: Sides) -> PartComparison:
    a = sides.a
    b = sides.b
    only_in_a = [TokenOfOne(a.text(token), token, True) for token in _only_in(a, b)]
    only_in_b = [TokenOfOne(b.text(token), token, False) for token in _only_in(b, a)]
    different = (
        f"Texts become {counted(len(only_in_a), 'token')} in A only, "
        f"and {counted(len(only_in_b), 'token')} in B only."
    )
    n_common = len(a.ids.keys() & b.ids.keys()) + len(a.whole.keys() & b.whole.keys())
    same = f"Texts become the same {counted(n_common, 'token')} in A and B."
    suspects = [*only_in_a, *only_in_b]
    comparison = _judged("vocabulary", sides, suspects, different, same, "")
    return comparison._replace(sentence=comparison.sentence + _about_unreachable(a, b))


def _only_in(one: LiveMerges, other: LiveMerges) -> Iterator[bytes]:
    """Yield the tokens that only one can make, or makes by merging where the other needs a whole piece."""
    for token in one.ids:
        if token not in other.ids:
            yield token
    for token in one.whole:
        if token not in other.ids and token not in other.whole:
            yield token


def _about_unreachable(a: LiveMerges, b: LiveMerges) -> str:
    """Return a sentence about tokens of one only that no text becomes; "" if there are none."""
    n_in_a = len(a.unreachable() - b.tokens())
    n_in_b = len(b.unreachable() - a.tokens())
    if not n_in_a and not n_in_b:
        return ""
    return (
        f" {counted(n_in_a, 'more token')} of A and {n_in_b:,} of B matter only for decoding,"
        " since no text becomes them."
    )


def _compare_merges(sides: Sides) -> PartComparison:
    a = sides.a
    b = sides.b
    overlaps = list(islice(inverted_overlaps(a, b), _MOST_OVERLAPS))
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
    n_common = counted(len(a.rank_of.keys() & b.rank_of.keys()), "merge")
    same = f"A and B apply the same {n_common} in the same order."
    doubt = ""
    if not has_same_order(a, b):
        same = f"A and B apply the same {n_common}, and in the same order where two compete for a token."
        if len(overlaps) == _MOST_OVERLAPS:
            doubt = "Too many merges come in different orders to compare them all."
        elif not (a.is_in_order and b.is_in_order):
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
    share = f"{len(moved):,} of {counted(len(common), 'token has another id', 'tokens have other ids')}"
    suspects = [
        OtherId(a.text(token), token, a.ids[token], b.ids[token], share)
        for token in moved
    ]
    for piece in a.whole.keys() | b.whole.keys():
        id_in_a = a.whole.get(piece, a.ids.get(piece))
        id_in_b = b.whole.get(piece, b.ids.get(piece))
        if id_in_a is not None and id_in_b is not None and id_in_a != id_in_b:
            suspects.append(OtherId(piece, piece, id_in_a, id_in_b, share))
    if a.unknown is not None and b.unknown is not None and a.unknown != b.unknown:
        unknown = sides.pair.a.token_bytes(a.unknown)
        suspects.append(OtherId(_RARE.encode(), unknown, a.unknown, b.unknown, share))
    different = f"{share}."
    same = f"All {counted(len(common), 'token')} that A and B have in common have the same ids."
    return _judged("ids", sides, suspects, different, same, "")


def _judged(
    part: str,
    sides: Sides,
    suspects: Sequence[Suspect],
    different: str,
    same: str,
    doubt: str,
) -> PartComparison:
    """Search for texts that show the suspects, and return what is known then.

    Args:
        part: One of `PARTS`.
        sides: What is compared.
        suspects: All differences. If no text can show any, and there is no doubt, the part is the same.
        different: A sentence about the differences.
        same: A sentence for the case that there are none.
        doubt: Why sameness is not proved although there is no difference; "" if it is.
    """
    result = search(part, sides, suspects)
    if result.is_shown:
        return PartComparison(part, False, different, result.causes)
    if result.may_occur:
        n_tried = counted(result.n_tried, "text")
        sentence = f"{different} The split patterns keep that from showing in the {n_tried} tried."
        return PartComparison(part, None, sentence, result.causes)
    if not (sides.a.is_exact and sides.b.is_exact):
        doubt = (
            "Some tokens have equal bytes or equal ranks, so sameness can't be proved."
        )
    elif sides.a.has_marker != sides.b.has_marker:
        doubt = "Only one of them marks the ends of words."
    if doubt:
        return PartComparison(part, None, doubt)
    if suspects:
        same = f"{different} The split patterns keep that from showing in any text."
    return PartComparison(part, True, same)
