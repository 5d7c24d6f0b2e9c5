"""The input of every check of the audit: a tokenizer, its token counts in corpora, and how to make a finding.

A finding has a witness: a text in which the token really occurs, found by trying texts and encoding them.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, product
from typing import Any, Final, Self

from bpe_core.auditing.findings import (
    HALF_LEFT,
    Finding,
    OnStage,
    Severity,
    fading,
    unusual,
)
from bpe_core.corpus import Counts
from bpe_core.corpus.reading import OnRead, Reading, TextFile, Unreadable
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.explain.trace import UseLedger
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import completed, is_utf8
from bpe_core.visible import shortened, token_label

FEW_DOCUMENTS: Final = (
    2  # the most that count as few; of tokens in more, the documents are not kept
)
_MANY: Final = (-1, -2, -3)  # instead of them
MOST_BYTES: Final = (
    1 << 26
)  # on disk, up to which `spread_of` reads a corpus: it is slow, and holds the ids of pieces
NEIGHBORS: Final = (
    1000  # tokens learned one after the other that are compared with each other
)
MOST_USUAL: Final = (
    0.1  # share of them up to which what texts show of a token is a finding
)
_PER_REPORT: Final = 256  # pieces or tokens between two reports of progress
_LONGEST_LABEL: Final = 200  # characters of a token that a sentence shows
LONGEST_EXAMPLE: Final = 200  # characters of a piece of a corpus that may be a witness

# One character of each class that the usual split patterns treat differently, and those that a pattern for any case
# takes for s, k and i, although they are other bytes: U+017F, U+212A, U+0130.
_NEIGHBORS: Final = (
    "a",
    "A",
    "1",
    " ",
    "=",
    ".",
    "/",
    "'",
    "\n",
    "é",
    "の",
    "ſ",
    "\u212a",
    "İ",
)
_SIDES: Final = ("", *_NEIGHBORS, *map("".join, product(_NEIGHBORS, repeat=2)))
_CONTEXTS: Final = sorted(
    (
        (before, after)
        for before in _SIDES
        for after in _SIDES
        if len(before) + len(after) <= 2
    ),
    key=lambda sides: len(sides[0]) + len(sides[1]),
)

# Characters of all texts that are tried around one token. Real tokens have a few dozen, but in a small file that makes
# a token of two others each time, some have millions.
_CHARACTER_BUDGET: Final = 1 << 17
_MIN_CONTEXTS: Final = 1 + 2 * len(
    _NEIGHBORS
)  # that are always tried: nothing, and a character at one side


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one corpus under one tokenizer; ids whose counts are not known (see `of_record`) are no keys."""

    n_tokens: int
    remaining: Mapping[int, int]  # how often an id occurs once all merges are done
    merged: Mapping[int, int]  # how often later merges consumed it
    examples: Mapping[int, str]  # the shortest piece of the corpus that holds it
    documents: Mapping[
        int, Collection[int]
    ]  # the indices of those it occurs in, if they are few
    of_training: (
        bool  # the corpus is known to be the one that the tokenizer was trained on
    )

    @classmethod
    def of(
        cls, tokenizer: Tokenizer, counts: Counts, progress: OnStage | None = None
    ) -> Self:
        """The usage in a corpus of counted pieces. `OptionError` if these were split by another pattern."""
        if counts.splitter.tree != tokenizer.splitter.tree:
            raise OptionError(
                f"The corpus was split by the pattern {counts.pattern!r} but the tokenizer uses {tokenizer.pattern!r}; "
                "count it again with the tokenizer's pattern."
            )
        vocabulary = tokenizer.vocabulary
        remaining = dict.fromkeys(vocabulary.ids(), 0)
        examples: dict[int, str] = {}
        documents: defaultdict[int, set[int]] = defaultdict(
            set
        )  # of more than are few, some
        documents_of = (
            counts.few_documents() if counts.n_documents > FEW_DOCUMENTS else {}
        )
        encoded = zip(
            counts.pieces.items(),
            tokenizer.encode_pieces(list(counts.pieces)),
            strict=True,
        )
        for done, ((piece, count), ids) in enumerate(encoded):
            if progress and not done % _PER_REPORT:
                progress(done, len(counts.pieces), "counting tokens")
            few = documents_of.get(piece, _MANY)
            for token in ids:
                remaining[token] += count
                if token not in examples or len(piece) < len(examples[token]):
                    examples[token] = piece
                if len(found := documents[token]) <= FEW_DOCUMENTS:
                    found.update(few)
        merged = dict.fromkeys(remaining, 0)
        made = dict.fromkeys(
            token for _, _, token in vocabulary.merges
        )  # some files have several of one
        for token in reversed(made):
            for parent in vocabulary.parents(token) or ():
                merged[parent] += remaining[token] + merged[token]
        n_bytes, n_tokens = (
            sum(source.bytes * source.weight for source in counts.sources),
            sum(remaining.values()),
        )
        record, step = tokenizer.record, tokenizer.step
        n_trained = (
            record.steps[step - 1][2]
            if record and 0 < step <= len(record.steps)
            else None
        )
        of_training = record is not None and (n_bytes, n_tokens) == (
            record.n_bytes,
            n_trained,
        )
        few_documents = {
            token: found
            for token, found in documents.items()
            if len(found) <= FEW_DOCUMENTS
        }
        return cls(n_tokens, remaining, merged, examples, few_documents, of_training)

    @classmethod
    def of_record(cls, tokenizer: Tokenizer) -> Self | None:
        """The usage in the training corpus, from its record, of tokens that merges made; O(merges). None if there is no
        record, or if merges were added after the training."""
        record, vocabulary = tokenizer.record, tokenizer.vocabulary
        if record is None or len(record.steps) < vocabulary.n_merges:
            return None
        uses = UseLedger(record.n_tokens_start)
        for merge, (_, _, n_tokens) in zip(
            vocabulary.merges, record.steps, strict=False
        ):
            uses.add(*merge, n_tokens)
        merged = {token: n - uses.left[token] for token, n in uses.made.items()}
        return cls(uses.n_tokens, uses.left, merged, {}, {}, True)

    def made(self, token: int) -> int:
        """How often merges made the token in all: remaining + merged. Raises `KeyError` if its counts are not known."""
        return self.remaining[token] + self.merged[token]


class AuditSubject:
    """The tokenizer under audit with the counts that checks use, and in the end all that was measured of its tokens."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        counts: Counts | None = None,
        reference: Counts | None = None,
        spread: Mapping[str, Mapping[int, float]] | None = None,
        progress: OnStage | None = None,
    ) -> None:
        """Count the tokens of the texts; raises `OptionError` if these were split by another pattern.

        `counts` are those of the training corpus, or of any text of interest; without them the training record, if
        there is one, is used. `reference`: those of the text that a model is to learn from. `spread`: what `spread_of`
        measured.
        """
        self.tokenizer: Final = tokenizer
        self.counts: Final = counts
        self.reference_counts: Final = reference
        self.progress: Final = progress
        self.usage: Final = (
            Usage.of(tokenizer, counts, progress)
            if counts
            else Usage.of_record(tokenizer)
        )
        self.reference: Final = (
            Usage.of(tokenizer, reference, progress) if reference else None
        )
        self.of_training: Final = self.usage is not None and self.usage.of_training
        self.trained: Final = (
            self.usage if self.of_training else Usage.of_record(tokenizer)
        )
        """The usage in the training corpus, also where other texts are given."""
        self.texts: Final = (
            "its training corpus" if self.of_training else "the chosen texts"
        )
        self.specials: Final = frozenset(tokenizer.special_tokens.values())
        self._spread: Final = spread or {}
        self.indicators: Mapping[
            int, float
        ] = {}  # id -> indicator of its row in a model, once rows were measured
        self.ranked: Sequence[float] = ()  # those of ordinary tokens, ascending

    @cached_property
    def columns(self) -> Mapping[str, Mapping[int, float]]:
        """What was measured of every token, to be asked for when all checks are done: name -> id -> number.

        - "count" and "merged": those of `usage`;
        - "document_frequency": documents of the chosen texts that it occurs in;
        - "largest_share": the part of its occurrences there that comes from a single document, above 0 and at most 1;
        - "reference": occurrences in the reference, once tokenized;
        - "surprise": how surprising that difference is: G2, positive if the token is rarer in the reference;
        - "indicator": the indicator of the token's row in the model: the lower, the less trained it looks.
        """
        usage, reference, columns = (
            self.usage,
            self.reference,
            dict[str, Mapping[int, float]](),
        )
        if usage:
            columns |= {"count": usage.remaining, "merged": usage.merged}
        columns |= self._spread
        if reference:
            columns["reference"] = reference.remaining
        if usage and reference:
            columns["surprise"] = {
                token: round(
                    surprise(
                        count,
                        usage.n_tokens,
                        reference.remaining[token],
                        reference.n_tokens,
                    ),
                    3,
                )
                for token, count in usage.remaining.items()
                if token in reference.remaining
            }
        columns["indicator"] = self.indicators
        return {name: column for name, column in columns.items() if column}

    @cached_property
    def used_up(self) -> Mapping[int, float]:
        """Id -> how much it tells of a token that merges made how often it is left in the texts, 0 to 1.

        In the training corpus: how far the token is used up, one occurrence more or less. In chosen texts only of
        tokens that are left seldom: how `unusual_among` their neighbors.
        """
        usage, vocabulary = self.usage, self.tokenizer.vocabulary
        if usage is None or not usage.of_training:
            return self.unusual_among(usage.remaining) if usage else {}
        made = [token for token in usage.remaining if vocabulary.step_of(token)]
        last = max(1, usage.made(vocabulary.merges[-1][2])) if made else 1
        return {
            token: fading((usage.remaining[token] + 1) / last, HALF_LEFT)
            for token in made
        }

    def unusual_among(
        self, values: Mapping[int, float], order: Callable[[int], int] | None = None
    ) -> Mapping[int, float]:
        """Id -> how `unusual` so low a value is among the token's neighbors; where over `MOST_USUAL` have it: no key.

        Neighbors were learned one after the other, or follow each other in `order`: what merges made is divided into
        parts of 1,000 or up to twice as many.
        """
        step_of, found = self.tokenizer.vocabulary.step_of, dict[int, float]()
        ordered = sorted(
            (token for token in values if step_of(token)), key=order or step_of
        )
        n_parts = max(1, len(ordered) // NEIGHBORS)
        for part in range(n_parts):
            near = ordered[
                part * len(ordered) // n_parts : (part + 1) * len(ordered) // n_parts
            ]
            ranked = sorted(values[token] for token in near)
            shares = {
                token: bisect_right(ranked, values[token]) / len(near) for token in near
            }
            found |= {
                token: unusual(share)
                for token, share in shares.items()
                if share <= MOST_USUAL
            }
        return found

    def percentile(self, token: int) -> float | None:
        """Of 100 ordinary rows, how many have an indicator no higher than this token's; None if it is not known."""
        value = self.indicators.get(token)
        return (
            None
            if value is None or not self.ranked
            else 100 * bisect_right(self.ranked, value) / len(self.ranked)
        )

    def tokens(
        self, stage: str, ids: Iterable[int] | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """(id, bytes) of `ids`, all by default, without special tokens; progress is reported as `stage`."""
        vocabulary = self.tokenizer.vocabulary
        ordinary = [
            token
            for token in (vocabulary.ids() if ids is None else ids)
            if token not in self.specials
        ]
        for done, token in enumerate(ordinary):
            if self.progress and not done % _PER_REPORT:
                self.progress(done, len(ordinary), stage)
            yield token, vocabulary.token_bytes(token)

    def severity(self, token: int, of_learned: Severity) -> Severity:
        """`of_learned` for a token of two bytes or more, a note for a single byte, which is needed for other texts."""
        return (
            of_learned if len(self.tokenizer.token_bytes(token)) > 1 else Severity.NOTE
        )

    def label(self, token: int) -> str:
        """The token as text that is safe to show, in quotation marks."""
        return f"“{shortened(token_label(self.tokenizer.token_bytes(token)), _LONGEST_LABEL)}”"

    def joined(self, tokens: Sequence[int]) -> str:
        return " + ".join(map(self.label, tokens[:4])) + (
            " + …" if len(tokens) > 4 else ""
        )

    def finding(
        self, token: int, kind: str, severity: Severity, reason: str, **evidence: Any
    ) -> Finding:
        """A finding about `token`; "step", "parents", "count" and "witness" are added to the evidence."""
        vocabulary, usage = self.tokenizer.vocabulary, self.usage
        parents = vocabulary.parents(token)
        common: dict[str, Any] = {
            "step": vocabulary.step_of(token),
            "parents": list(parents) if parents else None,
        }
        if usage and token in usage.remaining:
            common["count"] = usage.remaining[token]
        if "witness" not in evidence:
            common["witness"] = witness(
                self.tokenizer, token, usage.examples.get(token, "") if usage else ""
            )[0]
        return Finding(
            token,
            vocabulary.token_bytes(token),
            kind,
            severity,
            reason,
            common | evidence,
        )


def merged_share(n: int, made: int) -> str:
    """`n` of `made` occurrences in words, as a part of a sentence.

    >>> merged_share(3, 8), merged_share(8, 8), merged_share(1, 1)
    ('3 of its 8 occurrences', 'all of its 8 occurrences', 'its only occurrence')
    """
    if n < made:
        return f"{n:,} of its {made:,} occurrences"
    return f"all of its {made:,} occurrences" if made > 1 else "its only occurrence"


def surprise(count: int, of_tokens: int, seen: int, of_reference: int) -> float:
    """The signed log-likelihood ratio G2 (Dunning 1993) of a token's counts in two corpora of so many tokens.

    2 * (count * ln(count / expected) + seen * ln(seen / expected)), each expected count that of a token as frequent in
    both; negative if it is more frequent in the reference. Beyond 10.8 in size one of a thousand would be by chance.

    >>> round(surprise(50, 1000, 0, 1000), 1), surprise(5, 1000, 10, 2000), round(surprise(0, 1000, 50, 1000), 1)
    (69.3, 0.0, -69.3)
    """
    both, total = count + seen, of_tokens + of_reference
    if not both or not of_tokens or not of_reference:
        return 0.0
    parts = ((count, both * of_tokens / total), (seen, both * of_reference / total))
    g2 = max(0.0, 2 * sum(n * math.log(n / expected) for n, expected in parts if n))
    return g2 if count * of_reference >= seen * of_tokens else -g2


def spread_of(
    tokenizer: Tokenizer, files: Iterable[TextFile], progress: OnRead | None = None
) -> dict[str, Mapping[int, float]] | None:
    """The columns "document_frequency" and "largest_share" of `AuditSubject.columns`.

    None for fewer than two documents, and for files of more than `MOST_BYTES`. Unreadable ones are skipped.
    """
    files = list(files)
    reading, n_documents = Reading(files, progress), 0
    if reading.total > MOST_BYTES or not (
        len(files) > 1 or any(file.form for file in files)
    ):
        return None
    frequency, total, largest = Counter[int](), Counter[int](), Counter[int]()
    for file in files:
        with nullcontext() if file.required else suppress(Unreadable):
            for blocks in reading.documents(file):
                here, pieces = (
                    Counter[int](),
                    Counts.of("".join(blocks), tokenizer.pattern).pieces,
                )
                for n, ids in zip(
                    pieces.values(), tokenizer.encode_pieces(list(pieces)), strict=True
                ):
                    for token in ids:
                        here[token] += n
                n_documents += 1
                frequency.update(here.keys())
                total.update(here)
                for token, n in here.items():
                    largest[token] = max(n, largest[token])
    shares = {token: n / total[token] for token, n in largest.items()}
    return (
        {"document_frequency": frequency, "largest_share": shares}
        if n_documents > 1
        else None
    )


def witness(
    tokenizer: Tokenizer, token: int, example: str = ""
) -> tuple[str | None, int]:
    """(the first text found whose encoding contains `token`, or None; how many texts were tried).

    Tried are `example`, a piece of a corpus, then, the shortest first, the token's text alone and with up to two
    characters around it, of those that patterns treat differently; or its bytes with the characters at its torn ends
    completed. None proves that no text contains the token only if it is not `is_mergeable`.
    """
    tried, data = 0, tokenizer.vocabulary.text_bytes(token)
    texts: Iterable[str] = ()
    if is_mergeable(tokenizer, token):
        texts = completed(data)
        if is_utf8(data):
            own = data.decode()
            n_tried = max(_MIN_CONTEXTS, _CHARACTER_BUDGET // max(1, len(own)))
            texts = (
                before + own + after for before, after in islice(_CONTEXTS, n_tried)
            )
    for tried, text in enumerate(
        chain([example] if 0 < len(example) <= LONGEST_EXAMPLE else (), texts), 1
    ):
        with suppress(
            UnknownTokenError
        ):  # a published vocabulary without all 256 bytes
            if token in tokenizer.encode_ordinary(text):
                return text, tried
    return None, tried


def is_mergeable(tokenizer: Tokenizer, token: int) -> bool:
    """Whether the token's bytes, encoded as one piece, become the token. If not, no text contains it.

    This holds because merges inside a byte string do not depend on its surroundings as long as no token crosses its
    ends. With an end-of-word marker, True for a token that does not end with it, about which this proves nothing.
    """
    vocabulary = tokenizer.vocabulary
    if vocabulary.end_of_word is not None and not vocabulary.ends_word(token):
        return True
    try:
        return (
            vocabulary.encode(vocabulary.text_bytes(token)) == (token,)
            or token == vocabulary.end_of_word
        )
    except UnknownTokenError:
        return False
