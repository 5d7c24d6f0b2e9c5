"""Shorten a text that two tokenizers encode differently."""

from bpe_core.difference.records import Pair, Witness


def shortened_witness(pair: Pair, witness: Witness) -> Witness:
    """Remove characters from a witness as long as the ids stay different, at first many at a time.

    No single character can be removed from the result. A text with other characters may be shorter.
    Source: A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
    """
    n_removed = max(1, len(witness.text) // 2)
    while True:
        shorter = _without(pair, witness, n_removed)
        if shorter is not None:
            witness = shorter
        elif n_removed == 1:
            return witness
        else:
            n_removed //= 2


def _without(pair: Pair, witness: Witness, n_removed: int) -> Witness | None:
    """Return the witness without the first `n_removed` characters that it does not need; None if it needs all."""
    text = witness.text
    for start in range(0, len(text), n_removed):
        rest = text[:start] + text[start + n_removed :]
        shorter = pair.witness(rest, reads_specials=witness.reads_specials)
        if shorter is not None:
            return shorter
    return None
