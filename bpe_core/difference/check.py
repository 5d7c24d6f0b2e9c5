"""Check whether a tokenizer, or the tokenizer of another library, agrees with a lock."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from bpe_core.difference import Verdict, witness_as_json
from bpe_core.difference.digests import digests
from bpe_core.difference.lock import Lock, Probe
from bpe_core.difference.records import DecodedWitness, Witness, encoded
from bpe_core.tokenizer import Tokenizer

Ids = tuple[int, ...]


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


class Subject(NamedTuple):
    """A tokenizer that is held to a lock. Its functions return None for what they can't encode or decode."""

    encode: Callable[[str, bool], Ids | None]
    """Encodes a text. The flag says whether special tokens in it are read."""
    decode: Callable[[Ids], str | None]
    always_reads_specials: bool = False
    name: str = ""
    """The name and version of the library."""


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
    subject = Subject(partial(encoded, tokenizer), tokenizer.decode)
    return check_probes(lock, subject, changed)


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
        witness: Witness | DecodedWitness | None = None
        if not subject.always_reads_specials:
            witness = _encoded(probe, subject, False)
        if witness is None:
            witness = _encoded(special_probe, subject, True)
        if witness is None:
            witness = _decoded(special_probe, subject)
        if witness is not None:
            yield witness


def _encoded(probe: Probe, subject: Subject, reads_specials: bool) -> Witness | None:
    """Encode the text of a probe. Return it as a witness if the ids are different."""
    ids = subject.encode(probe.text, reads_specials)
    if ids == probe.ids:
        return None
    return Witness(probe.text, probe.ids, ids, reads_specials)


def _decoded(probe: Probe, subject: Subject) -> DecodedWitness | None:
    """Decode the ids of a probe. Return them as a witness if the text is different."""
    ids = probe.ids or ()
    text = subject.decode(ids)
    if text == probe.decoded:
        return None
    data = None if text is None else text.encode()
    return DecodedWitness(ids, probe.decoded.encode(), data)


def _order(witness: Witness | DecodedWitness) -> tuple[bool, int]:
    """Sort texts before ids, and the shortest ones first."""
    return isinstance(witness, DecodedWitness), len(witness[0])
