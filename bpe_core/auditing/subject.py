"""What is under audit: a tokenizer, what is known about its use, and how findings about its tokens are written."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.progress import OnStage, Stage
from bpe_core.auditing.usage import Usage
from bpe_core.auditing.witness import witness
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import shortened, token_label

_TOKENS_PER_REPORT: Final = 256
"""Tokens looked at between two reports of progress."""

_LONGEST_LABEL: Final = 200
"""Characters of a token that a sentence shows."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A tokenizer with all that its checks may look at."""

    tokenizer: Tokenizer
    usage: Usage | None = None
    """How often each token occurs in the training corpus, if that is known."""
    counts: Counts | None = None
    """The pieces of that corpus, if they are known; they may tell which documents a token comes from."""
    reference: Usage | None = None
    """How often each token occurs in the corpus to compare with, if there is one."""
    progress: OnStage | None = None

    def tokens(self, stage: str, ids: Iterable[int] | None = None) -> Iterator[tuple[int, bytes]]:
        """(id, bytes) of the tokens that are not special, ascending; reports progress under the name `stage`."""
        vocabulary = self.tokenizer.vocabulary
        specials = set(vocabulary.special_tokens.values())
        ordinary = [token for token in (vocabulary.ids() if ids is None else ids) if token not in specials]
        for done, token in enumerate(ordinary):
            if self.progress and not done % _TOKENS_PER_REPORT:
                self.progress(Stage(stage, done, len(ordinary)))
            yield token, vocabulary.token_bytes(token)

    def severity(self, token: int, of_learned: Severity) -> Severity:
        """How much a lack of use matters. Nothing is wasted on a single byte: the 256 are there for texts to come."""
        return of_learned if len(self.tokenizer.token_bytes(token)) > 1 else Severity.NOTE

    def label(self, token: int) -> str:
        """The token as text that is safe to show, in quotation marks."""
        return f"“{shortened(token_label(self.tokenizer.token_bytes(token)), _LONGEST_LABEL)}”"

    def finding(self, token: int, kind: str, severity: Severity, reason: str, **evidence: Any) -> Finding:
        """A finding about `token`, with what every finding carries added to its evidence."""
        vocabulary = self.tokenizer.vocabulary
        parents = vocabulary.parents(token)
        common: dict[str, Any] = {"step": vocabulary.step_of(token), "parents": list(parents) if parents else None}
        if self.usage and token in self.usage.remaining:
            common["count"] = self.usage.remaining[token]
        if "witness" not in evidence:
            seen: Mapping[int, str] = self.usage.examples if self.usage else {}
            common["witness"] = witness(self.tokenizer, token, seen.get(token))
        return Finding(token, vocabulary.token_bytes(token), kind, severity, reason, common | evidence)
