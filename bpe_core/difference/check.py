"""Check whether a tokenizer, or the tokenizer of another library, agrees with a lock."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from bpe_core.difference import Verdict, witness_as_json
from bpe_core.difference.digests import digests
from bpe_core.difference.lock import Ids, Lock
from bpe_core.difference.records import DecodedWitness, Witness, encoded
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted

_LONGEST: Final = 160
"""Maximum number of characters of a part in a sentence."""


class Change(NamedTuple):
    """A part with another digest than in the lock."""

    part: str
    was: str
    """The part of the lock in a few words."""
    now: str

    @property
    def sentence(self) -> str:
        if self.was == self.now:
            return f"The {self.part} changed ({self.now} before and now)."
        was = quoted(self.was, _LONGEST)
        now = quoted(self.now, _LONGEST)
        return f"The {self.part} changed from {was} to {now}."


@dataclass(frozen=True)
class Check:
    """The result of a check. In the witness, `a` is from the lock and `b` from the tokenizer."""

    verdict: Verdict
    """"same": all digests and probes agree; for another library, all probes. "different": a witness or the digest of the
    ids shows it. "unknown": data changed, and no probe shows it."""
    changes: tuple[Change, ...]
    witness: Witness | DecodedWitness | None
    """The shortest probe that differs."""
    n_different: int
    """The number of probes that differ."""
    n_tried: int

    def as_json(self) -> dict[str, Any]:
        """Return the object that `bpescope check --json` prints."""
        return {
            "verdict": self.verdict,
            "witness": witness_as_json(self.witness),
            "changes": [change._asdict() for change in self.changes],
            "different": self.n_different,
            "tried": self.n_tried,
        }


class Subject(NamedTuple):
    """The functions of a tokenizer that is held to a lock. Each returns None for what it can't encode or decode."""

    encode: Callable[[str, bool], Ids | None]
    """Encodes a text. The flag says whether special tokens in it are read."""
    decode: Callable[[Ids], str | None]
    always_reads_specials: bool = False


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
        >>> found.changes[0].sentence
        "The split pattern changed from 'words' to 'gpt4'."
    """
    changes = []
    for part, now in digests(tokenizer).items():
        was = lock.parts[part]
        if was.sha256 != now.sha256:
            changes.append(Change(part, was.summary, now.summary))
    subject = Subject(partial(encoded, tokenizer), tokenizer.decode)
    # The digest of the ids has the bytes of every id, so one that changed proves a difference.
    is_decoded_differently = any(change.part == "ids" for change in changes)
    return _result(lock, subject, tuple(changes), is_decoded_differently)


def check_library(lock: Lock, library: Subject) -> Check:
    """Check whether the tokenizer of another library agrees with a lock on all probes."""
    return _result(lock, library, (), False)


def _result(
    lock: Lock, subject: Subject, changes: tuple[Change, ...], is_different: bool
) -> Check:
    texts = list(_different_texts(lock, subject))
    ids = list(_different_ids(lock, subject))
    witness: Witness | DecodedWitness | None = None
    if texts:
        witness = min(texts, key=lambda witness: len(witness.text))
    elif ids:
        witness = min(ids, key=lambda witness: len(witness.ids))
    verdict: Verdict = "same"
    if witness or is_different:
        verdict = "different"
    elif changes:
        verdict = "unknown"
    n_tried = len(lock.probes) + len(lock.decode_probes)
    return Check(verdict, changes, witness, len(texts) + len(ids), n_tried)


def _different_texts(lock: Lock, subject: Subject) -> Iterator[Witness]:
    """Yield each text that gets other ids, once."""
    for probe in lock.probes:
        if not subject.always_reads_specials:
            ids = subject.encode(probe.text, False)
            if ids != probe.ids:
                yield Witness(probe.text, probe.ids, ids)
                continue
        ids = subject.encode(probe.text, True)
        if ids != probe.with_specials:
            yield Witness(probe.text, probe.with_specials, ids, reads_specials=True)


def _different_ids(lock: Lock, subject: Subject) -> Iterator[DecodedWitness]:
    """Yield the ids that are decoded differently."""
    for probe in lock.decode_probes:
        text = subject.decode(probe.ids)
        if text != probe.text:
            data = None if text is None else text.encode()
            yield DecodedWitness(probe.ids, probe.text.encode(), data)
