"""The input of every check of the audit: a tokenizer, its token counts in corpora, and how to make a finding."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bpe_core.auditing.findings import Finding, OnStage, Severity, Stage
from bpe_core.auditing.usage import Usage
from bpe_core.auditing.witness import witness
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import shortened, token_label

_TOKENS_PER_REPORT: Final = 256
"""Tokens examined between two reports of progress."""

EVEN_SHARE: Final = 5.0
"""Occurrences of each token on average, below which texts are too few to miss a token in them."""

_LONGEST_LABEL: Final = 200
"""Characters of a token that a sentence shows."""


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """The tokenizer under audit with the counts that checks use."""

    tokenizer: Tokenizer
    usage: Usage | None = None
    """How often each token occurs in the chosen texts, or else in the training corpus, if that is known."""
    counts: Counts | None = None
    """The counted pieces of the chosen texts; they may hold the documents that each piece occurs in."""
    reference: Usage | None = None
    """How often each token occurs in the corpus to compare with, if there is one."""
    progress: OnStage | None = None

    @property
    def texts(self) -> str:
        """The texts of `usage`, as a part of a sentence."""
        return "its training corpus" if self.usage and self.usage.of_training else "the chosen texts"

    @property
    def can_tell(self) -> bool:
        """Whether there is so much text that a token's absence from it says something.

        There is if it is what the tokenizer was trained on, or if it holds each token `EVEN_SHARE` times on average.
        """
        usage = self.usage
        return usage is not None and (usage.of_training or usage.even_share(self.tokenizer.n_vocab) >= EVEN_SHARE)

    def tokens(self, stage: str, ids: Iterable[int] | None = None) -> Iterator[tuple[int, bytes]]:
        """(id, bytes) of `ids`, all of the vocabulary by default, without special tokens and in the order given.

        Progress is reported as `stage`.
        """
        vocabulary = self.tokenizer.vocabulary
        specials = set(vocabulary.special_tokens.values())
        ordinary = [token for token in (vocabulary.ids() if ids is None else ids) if token not in specials]
        for done, token in enumerate(ordinary):
            if self.progress and not done % _TOKENS_PER_REPORT:
                self.progress(Stage(stage, done, len(ordinary)))
            yield token, vocabulary.token_bytes(token)

    def severity(self, token: int, of_learned: Severity) -> Severity:
        """`of_learned` for a token of two bytes or more, a note for a single byte, which is needed for other texts."""
        return of_learned if len(self.tokenizer.token_bytes(token)) > 1 else Severity.NOTE

    def label(self, token: int) -> str:
        """The token as text that is safe to show, in quotation marks."""
        return f"“{shortened(token_label(self.tokenizer.token_bytes(token)), _LONGEST_LABEL)}”"

    def joined(self, tokens: Sequence[int]) -> str:
        """Several tokens as a part of a sentence, the first four of them."""
        return " + ".join(map(self.label, tokens[:4])) + (" + …" if len(tokens) > 4 else "")

    def finding(self, token: int, kind: str, severity: Severity, reason: str, **evidence: Any) -> Finding:
        """A finding about `token`; "step", "parents", "count" and "witness" are added to the evidence."""
        vocabulary = self.tokenizer.vocabulary
        parents = vocabulary.parents(token)
        common: dict[str, Any] = {"step": vocabulary.step_of(token), "parents": list(parents) if parents else None}
        if self.usage and token in self.usage.remaining:
            common["count"] = self.usage.remaining[token]
        if "witness" not in evidence:
            seen: Mapping[int, str] = self.usage.examples if self.usage else {}
            common["witness"] = witness(self.tokenizer, token, seen.get(token))
        return Finding(token, vocabulary.token_bytes(token), kind, severity, reason, common | evidence)
