"""Check whether a tokenizer, or the tokenizer of another library, agrees with a lock."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from bpe_core.difference import Verdict, witness_as_json
from bpe_core.difference.digests import digests
from bpe_core.difference.lock import Lock
from bpe_core.difference.records import DecodedWitness, Witness, encoded
from bpe_core.tokenizer import Tokenizer

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Check:
    """The result of a check. In the witness, `a` is from the lock and `b` from the tokenizer."""

    changed: Sequence[str]
    """The parts with another digest than in the lock. Those of another library are not known."""
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
        if self.witness or "ids" in self.changed:
            return "different"
        return "unknown" if self.changed else "same"

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


def check_probes(lock: Lock, subject: Subject, changed: Sequence[str] = ()) -> Check:
    """Check whether a tokenizer agrees with a lock on all probes."""
    texts = list(_different_texts(lock, subject))
    ids = list(_different_ids(lock, subject))
    witness: Witness | DecodedWitness | None = None
    if texts:
        witness = min(texts, key=lambda witness: len(witness.text))
    elif ids:
        witness = min(ids, key=lambda witness: len(witness.ids))
    n_tried = len(lock.encoded) + len(lock.decoded)
    return Check(changed, witness, len(texts) + len(ids), n_tried)


def _different_texts(lock: Lock, subject: Subject) -> Iterator[Witness]:
    """Yield each text that gets other ids, once."""
    with_specials = dict(lock.with_specials)
    for text, expected in lock.encoded:
        if not subject.always_reads_specials:
            ids = subject.encode(text, False)
            if ids != expected:
                yield Witness(text, expected, ids)
                continue
        expected = with_specials.get(text, expected)
        ids = subject.encode(text, True)
        if ids != expected:
            yield Witness(text, expected, ids, reads_specials=True)


def _different_ids(lock: Lock, subject: Subject) -> Iterator[DecodedWitness]:
    """Yield the ids that are decoded differently."""
    for probe in lock.decoded:
        ids = probe.ids or ()
        text = subject.decode(ids)
        if text != probe.text:
            data = None if text is None else text.encode()
            yield DecodedWitness(ids, probe.text.encode(), data)
