"""Shorten a text that two tokenizers encode differently."""

from bpe_core.difference.records import Pair, Witness


def shortened_witness(pair: Pair, witness: Witness) -> Witness:
    """Remove characters from a witness as long as the ids stay different, at first many at a time.

    No single character can be removed from the result. A text with other characters may be shorter.
    Source: A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
    """
    n_removed = max(1, len(witness.text) // 2)
    while n_removed:
        n_before = len(witness.text)
        start = 0
        while start < len(witness.text):
            text = witness.text[:start] + witness.text[start + n_removed :]
            shorter = pair.witness(text, reads_specials=witness.reads_specials)
            if shorter is None:
                start += n_removed
            else:
                witness = shorter
        if len(witness.text) == n_before:
            n_removed //= 2
    return witness
