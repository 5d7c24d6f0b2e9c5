"""Check whether a tokenizer, or the tokenizer of another library, agrees with a lock."""

from collections.abc import Iterator, Sequence

from bpe_core.difference import WHOLE, Difference, Verdict
from bpe_core.difference.digests import digests
from bpe_core.difference.lock import Lock, Probe, Subject
from bpe_core.difference.records import (
    Cause,
    DecodedWitness,
    PartComparison,
    Witness,
)
from bpe_core.tokenizer import Tokenizer


def check(lock: Lock, tokenizer: Tokenizer) -> Difference:
    """Check whether a tokenizer agrees with a lock. Takes seconds for 200,000 tokens.

    All probes are tried even if the digests are equal: the Unicode tables of the `regex` module may have changed.

    Returns:
        The difference between the lock, A, and the tokenizer, B. Without a probe that shows a difference, the verdict is
        "different" if the digest of the ids changed, and "unknown" if only other digests changed. The causes are the parts
        that changed.

    Examples:
        >>> from bpe_core import train
        >>> from bpe_core.difference.lock import lock
        >>> digits = lock(train("12 12", vocab_size=257, pattern="words"))
        >>> found = check(digits, train("12 12", vocab_size=257, pattern="gpt4"))
        >>> found.verdict, found.witness.text, found.witness.a, found.witness.b
        ('different', ' ', (), (32,))
        >>> found.causes[0].what
        'The split pattern changed.'
    """
    parts = []
    for part, digest in digests(tokenizer).items():
        if digest != lock.parts[part]:
            what = f"The {part} changed."
            parts.append(PartComparison(part, None, what, [Cause(part, what, None)]))
    if not parts:
        parts.append(PartComparison(WHOLE, True, "All digests are equal."))
    return check_probes(lock, Subject.of(tokenizer), parts)


def check_probes(
    lock: Lock, subject: Subject, parts: Sequence[PartComparison] = ()
) -> Difference:
    """Check whether a tokenizer agrees with a lock on all probes. `parts` is what its digests show."""
    different = _differences(lock, subject)
    witness = min(different, key=lambda witness: len(witness[0]), default=None)
    verdict: Verdict = "same"
    # The digest of the ids has the bytes of every id, so one that changed proves a difference.
    if witness or any(part.part == "ids" for part in parts):
        verdict = "different"
    elif any(part.is_same is None for part in parts):
        verdict = "unknown"
    return Difference(verdict, witness, tuple(parts), len(lock.probes))


def _differences(lock: Lock, subject: Subject) -> Iterator[Witness | DecodedWitness]:
    """Yield a witness for each probe that differs."""
    special_probes = {probe.text: probe for probe in lock.special_probes}
    for probe in lock.probes:
        special_probe = special_probes.get(probe.text, probe)
        settings = [(probe, False), (special_probe, True)]
        if subject.always_reads_specials:
            settings = settings[1:]
        for expected, reads_specials in settings:
            now = subject.probe(probe.text, reads_specials)
            if now != expected:
                yield _witness(expected, now, reads_specials)
                break


def _witness(
    expected: Probe, now: Probe, reads_specials: bool
) -> Witness | DecodedWitness:
    """Return what shows the difference of two probes with the same text."""
    if expected.ids == now.ids:
        was = expected.decoded.encode()
        return DecodedWitness(now.ids or (), was, now.decoded.encode())
    return Witness(expected.text, expected.ids, now.ids, reads_specials)
