"""Choose the tokens to remove from a vocabulary, and measure what a change of a vocabulary changes."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Final, NamedTuple

from bpe_core import untrusted_json
from bpe_core.auditing import examine
from bpe_core.auditing.findings import Finding, Findings
from bpe_core.auditing.subject import AuditSubject
from bpe_core.corpus import find_files
from bpe_core.corpus.reading import Reading
from bpe_core.errors import OptionError, TextError, UnknownTokenError
from bpe_core.metrics.boundaries import encode_with_ends
from bpe_core.metrics.text_parts import TextDivider
from bpe_core.surgery.pruning import needed_by_texts
from bpe_core.token_ids import ids_in
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import without_surrogates
from bpe_core.visible import counted, quoted
from bpe_core.worker.job import Job

_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")


class _ListedLine(NamedTuple):
    """A line of a list of tokens or words."""

    place: str  # for errors, such as "tokens.txt, line 3"
    text: str
    is_quoted: bool


def _listed_lines(text: str, name: str) -> Iterator[_ListedLine]:
    """Yield the lines of a list that are not blank; a line in quotation marks is a JSON string."""
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        place = f"{name}, line {number}"
        if len(line) > 1 and line.startswith('"') and line.endswith('"'):
            try:
                yield _ListedLine(place, untrusted_json.parse(line.encode()), True)
            except ValueError:
                raise TextError(
                    f'{place}: {quoted(line)} is not a JSON string; write a quotation mark in it as \\".'
                ) from None
        elif line.strip():
            yield _ListedLine(place, line, False)


def listed_words(text: str, name: str) -> list[str]:
    """Read a list of words: one per line, with its spaces, or as a JSON string in quotation marks.

    Examples:
        >>> listed_words(' low\\n"lower "\\n', "words.txt")
        [' low', 'lower ']
    """
    return [line.text for line in _listed_lines(text, name)]


def listed_tokens(text: str, name: str, tokenizer: Tokenizer) -> list[int]:
    """Read a list of tokens, one per line.

    A line of digits is an id, and a line such as 0x20ff has the bytes of a token in hex. Any other line is the text of a
    token, with its spaces. A line in quotation marks is a text as a JSON string, also if it is a number.

    Raises:
        TextError: A line in quotation marks is not a JSON string.
        UnknownTokenError: The tokenizer has no such token.
    """
    tokens: list[int] = []
    for line in _listed_lines(text, name):
        word = line.text.strip()
        token: int | None = None
        if not line.is_quoted and word.isascii() and word.isdigit():
            ids, _ = ids_in(word)
            if ids and ids[0] in tokenizer.vocabulary:
                token = ids[0]
        else:
            data = line.text.encode(errors="surrogatepass")
            if not line.is_quoted and word.startswith("0x"):
                with suppress(ValueError):
                    data = bytes.fromhex(word[2:])
            token = tokenizer.vocabulary.id_by_bytes.get(data)
        if token is None:
            raise UnknownTokenError(
                f"{line.place}: the tokenizer has no token {quoted(line.text)}; write an id, 0x and the bytes in hex, or "
                "the text with its spaces, in quotation marks if it is a number."
            )
        tokens.append(token)
    return tokens


def latest_tokens(tokenizer: Tokenizer, size: int) -> list[int]:
    """Return the tokens to remove so that `size` tokens are left: always the latest merge that nothing is built on.

    Raises:
        OptionError: The vocabulary has no more than `size` tokens, or not so many can be removed.
    """
    n_surplus = tokenizer.n_tokens - size
    if n_surplus < 1:
        raise OptionError(
            f"The vocabulary has {counted(tokenizer.n_tokens, 'token')}; choose a smaller --size."
        )
    needed = needed_by_texts(tokenizer)
    step_of: dict[int, int] = {}
    parts_of: defaultdict[int, list[int]] = defaultdict(list)
    n_children: Counter[int] = Counter()
    made: list[int] = []
    for step, (left, right, token) in enumerate(tokenizer.vocabulary.merges):
        step_of[token] = step
        parts_of[token] += (left, right)
        n_children.update((left, right))
        made.append(token)
    queue = [-step for token, step in step_of.items() if not n_children[token]]
    heapify(queue)
    latest: list[int] = []
    while queue and len(latest) < n_surplus:
        token = made[-heappop(queue)]
        if token in needed:
            continue
        latest.append(token)
        for part in parts_of[token]:
            n_children[part] -= 1
            if not n_children[part] and part in step_of:
                heappush(queue, -step_of[part])
    if len(latest) < n_surplus:
        raise OptionError(
            f"Only {counted(len(latest), 'token')} can be removed; choose a --size of "
            f"{tokenizer.n_tokens - len(latest):,} or more."
        )
    return latest


def ids_after(tokenizer: Tokenizer, data: bytes) -> tuple[int, ...] | None:
    """Return the ids of a piece of text; None if there are none for it."""
    try:
        return tokenizer.vocabulary.encode(data)
    except UnknownTokenError:
        return None


class Changed(NamedTuple):
    """A tokenizer before and after a change."""

    before: Tokenizer
    after: Tokenizer
    mapping: Mapping[int, int]
    """Old id -> new id, of tokens that are left."""


class TextsChange(NamedTuple):
    """What a change does to texts."""

    n_bytes: int
    n_before: int  # tokens
    n_after: int
    n_lines: int
    n_lines_changed: int
    """Lines whose tokens are others. A token belongs to the line of its last byte."""

    def ratio(self, n_tokens: int) -> str:
        """Return the bytes per token."""
        return f"{self.n_bytes / max(1, n_tokens):.3f}"


def change_of_texts(changed: Changed, paths: Sequence[str], job: Job) -> TextsChange:
    """Encode all texts in files and folders with both tokenizers.

    Raises:
        TextError: A path can't be read.
        Stopped: The job is to stop.
    """
    found = find_files(paths, every_character=True)
    for skipped in found.skipped:
        job.send(skipped)
    reading = Reading(found.files, partial(job.progress, "comparing"))
    n_bytes = n_before = n_after = n_lines = n_changed = 0
    for file in found.files:
        for blocks in reading.documents(file):
            divider = TextDivider([changed.before, changed.after])
            is_open = False  # whether the last line goes on in the next part
            is_changed = False
            for part in divider.parts(map(without_surrogates, blocks)):
                job.check()
                before, after = (
                    encode_with_ends(
                        tokenizer, part.text, part.before[i], part.behind[i]
                    )
                    for i, tokenizer in enumerate((changed.before, changed.after))
                )
                n_bytes += len(before.data)
                n_before += len(before.ids)
                n_after += len(after.ids)
                ends = [line.end() for line in _LINE.finditer(before.data)]
                for start, end in pairwise([0, *ends]):
                    ids = map(changed.mapping.get, before.tokens(start, end))
                    is_other = list(ids) != after.tokens(start, end)
                    if not (start == 0 and is_open):
                        n_lines += 1
                        is_changed = False
                    n_changed += is_other and not is_changed
                    is_changed = is_changed or is_other
                is_open = bool(ends) and not before.data.endswith(b"\n")
    return TextsChange(n_bytes, n_before, n_after, n_lines, n_changed)


class FindingsChange(NamedTuple):
    """The findings of the audit before and after a change. The ids in `gone` are old, those in `new` are new."""

    before: Findings
    after: Findings
    gone: list[Finding]
    """Findings on tokens that are left."""
    new: list[Finding]
    seconds: float


def change_of_findings(
    changed: Changed, subject: AuditSubject | None, job: Job
) -> FindingsChange:
    """Audit both tokenizers with the same evidence: the texts and the other tokenizers of a subject.

    The training record is left out, since it does not fit the tokenizer after the change.

    Raises:
        Stopped: The job is to stop.
    """
    began = time.monotonic()
    new_ids = changed.mapping
    findings: list[Findings] = []
    for tokenizer in (changed.before, changed.after):
        elsewhere = subject.elsewhere if subject else {}
        if tokenizer is changed.after:
            elsewhere = {
                new_ids[token]: found
                for token, found in elsewhere.items()
                if token in new_ids
            }
        again = AuditSubject(
            Tokenizer(
                tokenizer.vocabulary,
                tokenizer.pattern,
                name=tokenizer.name,
                preparation=tokenizer.preparation,
            ),
            counts=subject.counts if subject else None,
            elsewhere=elsewhere,
            progress=partial(job.progress, "auditing"),
        )
        findings.append(Findings(examine(again)))
    before, after = findings
    kept = {
        (new_ids[finding.id], finding.kind): finding
        for finding in before
        if finding.id in new_ids
    }
    found = {(finding.id, finding.kind): finding for finding in after}
    return FindingsChange(
        before,
        after,
        gone=[finding for key, finding in kept.items() if key not in found],
        new=[finding for key, finding in found.items() if key not in kept],
        seconds=time.monotonic() - began,
    )
