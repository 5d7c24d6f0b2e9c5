"""Choose the tokens to remove from a vocabulary, and measure what a change of a vocabulary changes."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from functools import partial
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from bpe_core import untrusted_json
from bpe_core.auditing import examine
from bpe_core.auditing.findings import Finding, Findings
from bpe_core.auditing.subject import AuditSubject
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError, TextError, UnknownTokenError
from bpe_core.surgery.pruning import needed_by_texts
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted
from bpe_core.worker.inputs import compare_on_files
from bpe_core.worker.job import Job


class _ListedLine(NamedTuple):
    """A line of a list of tokens or words."""

    place: str  # for errors, such as "tokens.txt, line 3"
    text: str
    is_quoted: bool


def _listed_lines(text: str, name: str) -> Iterator[_ListedLine]:
    """Yield the lines of a list that are not blank; a line in quotation marks is a JSON string."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
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
            if len(word) < 20 and int(word) in tokenizer.vocabulary:
                token = int(word)
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
    for step, (left, right, token) in enumerate(tokenizer.vocabulary.merges):
        step_of[token] = step
        parts_of[token] += (left, right)
        n_children.update((left, right))
    queue = [(-step, token) for token, step in step_of.items() if not n_children[token]]
    heapify(queue)
    latest: list[int] = []
    while queue and len(latest) < n_surplus:
        _, token = heappop(queue)
        if token in needed:
            continue
        latest.append(token)
        for part in parts_of[token]:
            n_children[part] -= 1
            if not n_children[part] and part in step_of:
                heappush(queue, (-step_of[part], part))
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
    """A tokenizer before and after a change that renumbers no token."""

    before: Tokenizer
    after: Tokenizer
    left: Container[int]
    """The old ids that are left."""


class TextsChange(NamedTuple):
    """The effect of a change on texts."""

    n_bytes: int
    n_before: int  # tokens
    n_after: int
    n_lines: int
    n_lines_changed: int
    """Lines in which a difference begins, as `diff` counts them."""


def change_of_texts(changed: Changed, paths: Sequence[str], job: Job) -> TextsChange:
    """Encode all texts at some paths with both tokenizers, as `compare_on_files` does.

    Raises:
        TextError: A path can't be read.
        UnknownTokenError: A character has no token in one of the tokenizers.
        Stopped: The job is to stop.
    """
    compared = compare_on_files(changed.before, changed.after, paths, job, n_shown=0)
    return TextsChange(
        compared.n_bytes,
        *compared.n_tokens,
        compared.n_lines,
        compared.n_different_lines,
    )


class FindingsChange(NamedTuple):
    """The findings of the audit before and after a change."""

    before: Findings
    after: Findings
    gone: list[Finding]
    """Findings that are gone, on tokens that are left."""
    new: list[Finding]


def change_of_findings(
    changed: Changed, counts: Counts | None, job: Job
) -> FindingsChange:
    """Audit both tokenizers with the same counted texts, or without texts.

    The training record is left out, since it does not fit the tokenizer after the change.

    Raises:
        Stopped: The job is to stop.
    """

    def audit(tokenizer: Tokenizer) -> Findings:
        without_record = tokenizer.with_vocabulary(tokenizer.vocabulary)
        progress = partial(job.progress, "auditing")
        subject = AuditSubject(without_record, counts=counts, progress=progress)
        return Findings(examine(subject))

    before = audit(changed.before)
    after = audit(changed.after)
    keys_before = {(finding.id, finding.kind) for finding in before}
    keys_after = {(finding.id, finding.kind) for finding in after}
    gone = [
        finding
        for finding in before
        if finding.id in changed.left and (finding.id, finding.kind) not in keys_after
    ]
    new = [
        finding for finding in after if (finding.id, finding.kind) not in keys_before
    ]
    return FindingsChange(before, after, gone, new)
