"""Compare two tokenizers: whether they mean the same, and the shortest text that shows a difference.

A tokenizer is a chain: added tokens are found, the text between them is normalized and split, the pieces are merged, and
ids are decoded. Two tokenizers are the same if every link of the chain is the same, which is proved link by link. They are
different if one text becomes different ids, which is shown by encoding it. Otherwise nothing is claimed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from bpe_core.difference.records import (
    PARTS,
    Cause,
    DecodedWitness,
    Pair,
    PartComparison,
    Witness,
    shown,
)
from bpe_core.difference.shortening import shortened_witness
from bpe_core.difference.split_pattern import compare_pattern
from bpe_core.difference.surroundings import (
    compare_added_tokens,
    compare_decoding,
    compare_fallback,
    compare_normalizer,
)
from bpe_core.difference.vocabularies import compare_vocabularies
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted

__all__ = ["Cause", "DecodedWitness", "Difference", "PartComparison", "Witness", "diff"]

Verdict = Literal["same", "different", "unknown"]
OnPart = Callable[[int, int, str], object]
"""Called with the number of parts that are compared, the number of all parts, and the last part."""
WHOLE: Final = "whole"
"""The part of a difference that belongs to no single part."""
_EQUAL_DATA: Final = PartComparison(WHOLE, True, "Their data are equal.")


@dataclass(frozen=True)
class Difference:
    """The difference between two tokenizers, A and B, as far as it was found."""

    verdict: Verdict
    """"same": proved. "different": a witness shows it. "unknown": no difference was found, but sameness is not proved."""
    witness: Witness | DecodedWitness | None
    """The shortest text found that they encode differently; ids, if they only decode differently."""
    parts: tuple[PartComparison, ...]
    """The result for each part, in the order of `PARTS`."""
    n_tried: int
    """The number of texts that both have encoded."""

    @property
    def causes(self) -> list[Cause]:
        """The differences that were found, the shortest witness of each part first."""
        return [cause for part in self.parts for cause in part.causes]

    @property
    def reasons(self) -> list[str]:
        """Why the parts that are the same are the same."""
        return [part.sentence for part in self.parts if part.is_same]

    @property
    def undecided(self) -> list[str]:
        """What could not be decided, and why."""
        return [part.sentence for part in self.parts if part.is_same is None]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `bpescope diff --json` prints."""
        return {
            "verdict": self.verdict,
            "witness": witness_as_json(self.witness),
            "causes": [
                {
                    "part": cause.part,
                    "what": cause.what,
                    "witness": witness_as_json(cause.witness),
                }
                for cause in self.causes
            ],
            "reasons": self.reasons,
            "undecided": self.undecided,
            "tried": self.n_tried,
        }


def witness_as_json(
    witness: Witness | DecodedWitness | None,
) -> dict[str, Any] | None:
    """Return a text with both lists of ids, or ids with both texts; bytes that are not UTF-8 become U+FFFD."""
    match witness:
        case None:
            return None
        case Witness(text, a, b, reads_specials):
            found: dict[str, Any] = {"text": text, "a": _listed(a), "b": _listed(b)}
            if reads_specials:
                found["special_tokens"] = True
            return found
        case DecodedWitness(ids, a_bytes, b_bytes):
            return {"ids": list(ids), "a": _text(a_bytes), "b": _text(b_bytes)}


def _listed(ids: tuple[int, ...] | None) -> list[int] | None:
    return None if ids is None else list(ids)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


def diff(
    a: Tokenizer,
    b: Tokenizer,
    *,
    texts: Iterable[str] = (),
    progress: OnPart | None = None,
) -> Difference:
    """Decide whether two tokenizers are the same, and find a short text that shows a difference.

    Takes seconds for vocabularies of 200,000 tokens.

    Args:
        a: The first tokenizer.
        b: The second tokenizer.
        texts: Texts to try if some part is undecided and no text is found that shows a difference.
        progress: Called after each part is compared.

    Returns:
        The verdict, the witness, and the result for each part. Post-processors of a file, which add tokens around a
        text, are not read and so not compared.

    Examples:
        >>> from bpe_core import diff, train
        >>> short = train("low lower lowest", vocab_size=258)
        >>> long = train("low lower lowest", vocab_size=259)
        >>> difference = diff(short, long)
        >>> difference.verdict, difference.witness.text
        ('different', ' low')
    """
    pair = Pair(a, b)
    if a == b:
        return Difference("same", None, (_EQUAL_DATA,), pair.n_tried)
    parts = []
    for part in _compared_parts(pair):
        parts.append(part)
        if progress:
            progress(len(parts), len(PARTS), part.part)
    if all(part.is_same for part in parts):
        return Difference("same", None, tuple(parts), pair.n_tried)
    is_undecided = any(part.is_same is None for part in parts)
    if is_undecided and not _text_witnesses(parts):
        parts.append(_compared_on_texts(pair, texts))
    witness = _shortest_witness(pair, parts)
    verdict: Verdict = "unknown" if witness is None else "different"
    return Difference(verdict, witness, tuple(parts), pair.n_tried)


def _compared_parts(pair: Pair) -> Iterator[PartComparison]:
    """Yield what is known of each part, in the order of `PARTS`."""
    yield compare_normalizer(pair)
    yield from compare_added_tokens(pair)
    yield compare_pattern(pair)
    yield from compare_vocabularies(pair)
    yield compare_fallback(pair)
    yield compare_decoding(pair)


def _compared_on_texts(pair: Pair, texts: Iterable[str]) -> PartComparison:
    """Try texts, if no part of the two tokenizers shows a difference."""
    for text in texts:
        witness = pair.witness(text)
        if witness is not None:
            witness = shortened_witness(pair, witness)
            what = f"A and B encode {quoted(witness.text)} differently."
            return shown(WHOLE, what, witness)
    tried = counted(pair.n_tried, "text")
    return PartComparison(WHOLE, None, f"No difference was found in {tried}.")


def _shortest_witness(
    pair: Pair, parts: Iterable[PartComparison]
) -> Witness | DecodedWitness | None:
    """Return the shortest witness of all parts. A text comes before ids that are only decoded differently."""
    texts = _text_witnesses(parts)
    if texts:
        shortest = min(texts, key=lambda witness: len(witness.text))
        return shortened_witness(pair, shortest)
    witnesses = [cause.witness for part in parts for cause in part.causes]
    return next((witness for witness in witnesses if witness), None)


def _text_witnesses(parts: Iterable[PartComparison]) -> list[Witness]:
    causes = [cause for part in parts for cause in part.causes]
    return [cause.witness for cause in causes if isinstance(cause.witness, Witness)]
