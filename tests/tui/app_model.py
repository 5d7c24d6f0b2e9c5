"""A model of the app: what its lists, files, clipboard and texts must hold, worked out from `bpe_core` alone."""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path

from bpe_core import Tokenizer, load, train
from bpe_core.auditing import examine
from bpe_core.auditing.findings import KINDS, Findings
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.usage import spread_of
from bpe_core.auditing.verdicts import Verdict, verdicts
from bpe_core.content.samples import EDITOR_GREETING, EXAMPLES
from bpe_core.corpus import Counts, find_files
from bpe_core.patterns import splitter
from bpe_core.visible import token_label

MOST_LANES = 3
VOCAB_SIZE = 290
"""Tokens of each training."""

LOG_CHOICES = ("", "longest", "used", "ties", "partial", "unused")
SEVERITIES = 4

Lane = tuple[str, int | None]
"""The path of a tokenizer, empty for the one in force, and the step at which it stays."""


@cache
def _loaded(path: Path, pattern: str | None) -> Tokenizer:
    return load(path, pattern=pattern)


@dataclass
class Known:
    """A tokenizer of the list."""

    path: Path
    name: str
    is_own: bool
    pattern: str | None = None

    @property
    def tokenizer(self) -> Tokenizer:
        return _loaded(self.path, self.pattern)


@dataclass
class Audited:
    """What an audit of the tokenizer in force has found."""

    verdicts: dict[int, Verdict]
    measures: dict[str, dict[int, float]]

    @property
    def place_of(self) -> dict[int, int]:
        """Id -> place in the table, where each family is together, below its first token."""
        firsts = [one.id for one in self.verdicts.values() if one.family == one.id]
        firsts.sort(key=lambda token: (-self.verdicts[token].score, token))
        in_order = [
            other.id
            for first in firsts
            for other in self.verdicts.values()
            if other.family == first
        ]
        return {token: place for place, token in enumerate(in_order)}


@dataclass
class TokenView:
    """How the table of tokens is sorted and which of them it shows."""

    sort: str = "score"
    is_reverse: bool = False
    kind: str = ""
    severity: int = 0
    search: str = ""


@dataclass
class Model:
    """What a person has chosen so far."""

    folder: Path
    own: list[Known]
    opened: list[Known]
    current: Known
    tokenizer: Tokenizer
    step: int
    corpus: list[Path]
    reference: list[Path] = field(default_factory=list)
    listed_texts: list[Path] = field(default_factory=list)
    weights: dict[Path, str] = field(default_factory=dict)
    names: dict[Path, str] = field(default_factory=dict)
    pattern: str = "gpt4"
    lanes: list[Lane] = field(default_factory=list)
    lane_tokenizers: dict[str, Tokenizer] = field(default_factory=dict)
    text: str = EDITOR_GREETING
    put_last: str = EDITOR_GREETING
    is_edited: bool = False
    texts_aside: list[str] = field(default_factory=list)
    example: int = -1
    log_choice: str = ""
    findings: Audited | None = None
    tokens: TokenView = field(default_factory=TokenView)
    marked: list[Path] | None = None
    n_files: int = 0

    # Tokenizers

    @property
    def known(self) -> list[Known]:
        """The tokenizers in the order of the list."""
        return [*self.own, *self.opened]

    @property
    def in_force(self) -> Tokenizer:
        return self.tokenizer.at(self.step)

    def use(self, one: Known) -> None:
        """Put a tokenizer of the list in force."""
        if not one.is_own:
            self.opened.remove(one)
            self.opened.append(one)
        tokenizer = one.tokenizer
        is_same = one is self.current and tokenizer.pattern == self.tokenizer.pattern
        if not is_same:
            self.show(one, tokenizer)

    def show(self, one: Known, tokenizer: Tokenizer) -> None:
        """Show a tokenizer that was not on the screen before, with all of its merges."""
        before = self.current
        lane = (str(one.path), None)
        if lane in self.lanes and one is not before:
            place = self.lanes.index(lane)
            is_listed = before in self.known
            self.lanes[place : place + 1] = [(str(before.path), None)] * is_listed
            self.lanes = list(dict.fromkeys(self.lanes))
            self.lane_tokenizers[str(before.path)] = self.tokenizer
        self.current = one
        self.tokenizer = tokenizer
        self.step = tokenizer.step
        self.log_choice = ""
        self.findings = None
        self.tokens.kind = ""
        self.tokens.severity = 0

    def lane_tokenizer(self, lane: Lane) -> Tokenizer:
        path, step = lane
        if path:
            return self.lane_tokenizers[path]
        if step is None:
            return self.tokenizer
        return self.tokenizer.at(min(step, self.tokenizer.step))

    def offered_lanes(self) -> list[Lane]:
        """What the dialog of the lanes lists."""
        others = [one for one in self.known if one is not self.current]
        offers: list[Lane] = [(str(one.path), None) for one in others]
        offers += [lane for lane in self.lanes if lane[0] and lane not in offers]
        steps = {step for path, step in self.lanes if not path and step is not None}
        offers += [("", step) for step in sorted({*steps, self.step})]
        return [*offers, ("", None)]

    def begin_again(self) -> None:
        """Leave the app, and open it again."""
        self.step = self.tokenizer.step
        self.listed_texts = [*self.reference, *self.corpus]
        if self.is_edited:
            self.put_last = ""
        self.example = -1
        self.log_choice = ""
        self.findings = None
        self.tokens = TokenView()
        self.marked = None

    # Texts

    def put(self, text: str, *, is_own: bool = False) -> None:
        """Replace the editor's text, as an example or a file does; a text of the user's is set aside."""
        before = self.text
        if before.strip() and before != self.put_last:
            others = [other for other in self.texts_aside if other != before]
            self.texts_aside = [*others, before] if is_own else [before, *others]
        self.put_last = "" if is_own else text
        self.type(text)

    def type(self, text: str) -> None:
        self.text = text
        self.is_edited = True

    def bring_back(self) -> None:
        if self.texts_aside:
            first, *others = self.texts_aside
            self.texts_aside = [*others, first]
            self.put(first, is_own=True)

    def next_example(self) -> None:
        self.example = (self.example + 1) % len(EXAMPLES)
        self.put(EXAMPLES[self.example].text)

    def mark(self, path: Path, mark: str) -> None:
        """Give a text the mark of the "corpus" or the "reference", or take it away."""
        wanted = self.corpus if mark == "corpus" else self.reference
        other = self.reference if mark == "corpus" else self.corpus
        if path in wanted:
            wanted.remove(path)
        else:
            wanted.append(path)
            if path in other:
                other.remove(path)

    def choose_only(self, path: Path) -> None:
        if set(self.corpus) - {path}:
            self.corpus = [path]
            if path in self.reference:
                self.reference.remove(path)

    def counts(self, paths: list[Path], pattern: str) -> Counts:
        parts = []
        for path in paths:
            weight = Fraction(self.weights.get(path, "1"))
            parts.append((Counts.read(find_files([str(path)]).files, pattern), weight))
        return Counts.weighted(parts)

    def trained(self) -> Tokenizer:
        """What a training learns from the chosen texts."""
        counts = self.counts(self.corpus, self.pattern)
        return train(counts, vocab_size=VOCAB_SIZE, pattern=self.pattern)

    def totals(self) -> list[str]:
        """The lines about the chosen texts."""
        texts = [path.read_bytes().decode() for path in self.corpus]
        sizes = [len(text.encode()) for text in texts]
        lines = [
            f"documents {len(texts):,}",
            f"bytes {sum(sizes):,}",
            f"characters {sum(map(len, texts)):,}",
        ]
        if len(texts) > 1:
            weighted = [
                size * Fraction(self.weights.get(path, "1"))
                for path, size in zip(self.corpus, sizes, strict=True)
            ]
            in_order = sorted(range(len(texts)), key=lambda place: -weighted[place])
            for place in in_order:
                share = weighted[place] / sum(weighted)
                lines.append(f"{self.corpus[place].name} {float(share):.1%}")
        return lines

    def different_pieces(self) -> int:
        split = splitter(self.pattern).split
        texts = (path.read_bytes().decode() for path in self.corpus)
        return len({piece for text in texts for piece in split(text)})

    # The merge log

    def log_rows(self) -> list[int]:
        """The steps that the merge log shows, in its order."""
        tokenizer = self.tokenizer
        steps = range(1, tokenizer.step + 1)
        tokens = {step: tokenizer.merges[step - 1][2] for step in steps}
        if self.log_choice == "longest":
            return sorted(
                steps, key=lambda step: -len(tokenizer.token_bytes(tokens[step]))
            )
        if self.log_choice == "used":
            left = self.uses()
            return sorted(steps, key=lambda step: -left[tokens[step]])
        if self.log_choice == "unused":
            left = self.uses()
            return [step for step in steps if not left[tokens[step]]]
        if self.log_choice == "ties":
            record = tokenizer.record
            assert record is not None
            return [step for step in steps if record.steps[step - 1][1] > 1]
        if self.log_choice == "partial":
            return [
                step
                for step in steps
                if not _is_utf8(tokenizer.token_bytes(tokens[step]))
            ]
        return list(steps)

    def uses(self) -> dict[int, int]:
        """How many of each token are left at the end of the training."""
        tokenizer = self.tokenizer
        record = tokenizer.record
        assert record is not None
        made = dict.fromkeys((token for _, _, token in tokenizer.merges), 0)
        before = record.n_tokens_start
        for (left, right, token), (_, _, after) in zip(
            tokenizer.merges, record.steps, strict=True
        ):
            joined = before - after
            made[token] += joined
            for part in (left, right):
                if part in made:
                    made[part] -= joined
            before = after
        return made

    def log_line(self, step: int) -> str:
        """A merge as the log copies it."""
        tokenizer = self.tokenizer
        left, right, token = tokenizer.merges[step - 1]
        labels = [
            token_label(tokenizer.token_bytes(one)) for one in (left, right, token)
        ]
        counts: tuple[object, ...] = ("", "", "")
        if tokenizer.record is not None:
            counts = tokenizer.record.steps[step - 1]
        return "\t".join(map(str, (step, *labels, token, *counts)))

    def log_row(self, step: int) -> str:
        """A merge as the log shows it."""
        tokenizer, record = self.tokenizer, self.tokenizer.record
        merge = tokenizer.merges[step - 1]
        fields = ["●"] if step == self.step else []
        fields += [
            str(step),
            *(token_label(tokenizer.token_bytes(one)) for one in merge),
        ]
        if record is None:
            return " ".join(fields)
        count, ties, after = record.steps[step - 1]
        before = record.steps[step - 2][2] if step > 1 else record.n_tokens_start
        fields.append(f"{count:,}")
        if ties > 1:
            fields.append(f"={ties}")
        share = 100 * (before - after) / before
        fields += [f"{self.uses()[merge[2]]:,}", f"{after:,}"]
        fields += [f"{record.n_bytes / after:.2f}", f"{share:#.3g}".rstrip("."), "%"]
        return " ".join(fields)

    # The audit

    def audit(self) -> None:
        """Audit the tokenizer in force as the pane does it when it is opened."""
        tokenizer, corpus, reference = self.tokenizer, self.corpus, self.reference
        record = tokenizer.record
        if record is None:
            corpus, reference = [], []
        else:
            n_bytes = sum(len(path.read_bytes()) for path in corpus)
            if n_bytes != sum(source.bytes for source in record.sources):
                corpus = []
        counts = self._usual_counts(corpus)
        spread = None
        if corpus:
            spread = spread_of(tokenizer, find_files(list(map(str, corpus))).files)
        subject = AuditSubject(
            tokenizer,
            counts=counts,
            reference=self._usual_counts(reference),
            spread=spread,
        )
        found = verdicts(subject, Findings(examine(subject)))
        self.findings = Audited(
            {one.id: one for one in found},
            {name: dict(column) for name, column in subject.columns.items()},
        )

    def _usual_counts(self, paths: list[Path]) -> Counts | None:
        if not paths:
            return None
        return Counts.read(
            find_files(list(map(str, paths))).files, self.tokenizer.pattern
        )

    def token_kinds(self) -> list[str]:
        """What the line below the tokens offers."""
        assert self.findings is not None
        found = {kind for one in self.findings.verdicts.values() for kind in one.kinds}
        kinds = ["", *sorted(found, key=list(KINDS).index)]
        if self.tokenizer.special_tokens:
            kinds.append("special")
        return kinds

    def token_ids(self, unfolded: bool = False) -> list[int]:
        """The ids in the table of tokens, in its order. `unfolded`: also those that another one stands for."""
        tokenizer, view, findings = self.tokenizer, self.tokens, self.findings
        assert findings is not None
        ids = sorted(tokenizer.vocabulary.ids())
        keys: dict[int, object] = {}
        place_of = findings.place_of
        for token in ids:
            one = findings.verdicts.get(token)
            key: object = None
            if view.sort == "score" and one is not None:
                key = -place_of[token]
            elif view.sort == "kinds" and one is not None:
                key = list(KINDS).index(one.kinds[0])
            elif view.sort == "id":
                key = token
            elif view.sort == "token":
                key = token_label(tokenizer.token_bytes(token)).casefold()
            elif view.sort in findings.measures:
                key = findings.measures[view.sort].get(token)
            keys[token] = key
        with_key = [token for token in ids if keys[token] is not None]
        is_descending = (view.sort == "score") != view.is_reverse
        with_key.sort(key=lambda token: keys[token], reverse=is_descending)  # type: ignore[arg-type,return-value]
        in_order = with_key + [token for token in ids if keys[token] is None]
        shown = [
            token
            for token in in_order
            if self._is_shown(token) and (unfolded or not self._is_folded(token))
        ]
        if not view.search:
            return shown
        sought = view.search.casefold().replace(" ", "␣")
        ranked: dict[int, int] = {}
        for token in shown:
            label = token_label(tokenizer.token_bytes(token)).casefold()
            if str(token) == view.search:
                ranked[token] = 3
            elif label in (sought, "␣" + sought):
                ranked[token] = 2
            elif sought in label:
                ranked[token] = 1
        return sorted(ranked, key=lambda token: -ranked[token])

    def _is_folded(self, token: int) -> bool:
        """Whether the first token of its family stands for it."""
        findings, view = self.findings, self.tokens
        assert findings is not None
        one = findings.verdicts.get(token)
        if one is None or one.family in (None, token):
            return False
        if view.sort != "score" or view.kind or view.search:
            return False
        return self._is_shown(one.family)

    def _is_shown(self, token: int) -> bool:
        assert self.findings is not None
        view = self.tokens
        if view.kind == "special":
            return token in self.tokenizer.special_tokens.values()
        if not view.kind and not view.severity:
            return True
        one = self.findings.verdicts.get(token)
        if one is None:
            return False
        return (one.severity or 0) >= view.severity and (
            not view.kind or view.kind in one.kinds
        )

    # A comparison

    @property
    def compared(self) -> list[Known]:
        """The tokenizers that are marked for a comparison, in their order."""
        known = self.known
        if self.marked is None:
            return sorted(known, key=lambda one: one is not self.current)[:2]
        by_path = {one.path: one for one in known}
        return [by_path[path] for path in self.marked if path in by_path]

    def mark_compared(self, one: Known) -> None:
        marked = [other.path for other in self.compared]
        if one.path in marked:
            marked.remove(one.path)
        elif len(marked) < 4:
            marked.append(one.path)
        self.marked = marked


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def words(text: str) -> str:
    """A line with one space in the place of each gap, to be compared however wide its columns are."""
    return re.sub(r"\s+", " ", text.strip())
