"""Check whether a tokenizer, or the tokenizer of another library, agrees with a lock."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bpe_core.difference import Verdict, witness_as_json
from bpe_core.difference.digests import digests
from bpe_core.difference.lock import Lock, Probe, Subject
from bpe_core.difference.records import DecodedWitness, Witness
from bpe_core.tokenizer import Tokenizer


@dataclass(frozen=True)
class Check:
    """The result of a check. In the witness, `a` is from the lock and `b` from the tokenizer."""

    changed: Sequence[str] | None
    """The parts with another digest than in the lock; None for another library, whose digests are not known."""
    witness: Witness | DecodedWitness | None
    """The shortest probe that differs."""
    n_different: int
    """The number of probes that differ."""
    n_tried: int

    @property
    def verdict(self) -> Verdict:
        """ "same": all digests and probes agree. "different": a witness or the digest of the ids shows it.

        "unknown": data changed, and no probe shows it.
        """
        # The digest of the ids has the bytes of every id, so one that changed proves a difference.
        changed = self.changed or ()
        if self.witness or "ids" in changed:
            return "different"
        return "unknown" if changed else "same"

    def as_json(self) -> dict[str, Any]:
        """Return the object that `bpescope check --json` prints."""
        return {
            "verdict": self.verdict,
            "witness": witness_as_json(self.witness),
            "changed": self.changed,
            "different": self.n_different,
            "tried": self.n_tried,
        }


def check(lock: Lock, tokenizer: Tokenizer) -> Check:
    """Check whether a tokenizer agrees with a lock. Takes seconds for 200,000 tokens.

    All probes are tried even if the digests are equal: the Unicode tables of the `regex` module may have changed.

    Examples:
        >>> from bpe_core import train
        >>> from bpe_core.difference.lock import lock
        >>> digits = lock(train("12 12", vocab_size=257, pattern="words"))
        >>> found = check(digits, train("12 12", vocab_size=257, pattern="gpt4"))
        >>> found.verdict, found.witness.text, found.witness.a, found.witness.b
        ('different', ' ', (), (32,))
        >>> found.changed
        ['split pattern']
    """
    changed = [
        part
        for part, digest in digests(tokenizer).items()
        if digest != lock.parts[part]
    ]
    return check_probes(lock, Subject.of(tokenizer), changed)


def check_probes(
    lock: Lock, subject: Subject, changed: Sequence[str] | None = None
) -> Check:
    """Check whether a tokenizer agrees with a lock on all probes."""
    different = list(_differences(lock, subject))
    witness = min(different, key=_order, default=None)
    return Check(changed, witness, len(different), len(lock.probes))


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


def _order(witness: Witness | DecodedWitness) -> tuple[bool, int]:
    """Sort texts before ids, and the shortest ones first."""
    return isinstance(witness, DecodedWitness), len(witness[0])
