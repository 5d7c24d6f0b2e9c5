"""Choose the tokens to remove from a vocabulary, and measure what a change of a vocabulary changes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from heapq import heappop, heappush
from typing import NamedTuple

from bpe_core import untrusted_json
from bpe_core.auditing import examine
from bpe_core.auditing.findings import Findings
from bpe_core.auditing.subject import AuditSubject
from bpe_core.errors import OptionError, TextError, UnknownTokenError
from bpe_core.surgery.pruning import needed_by_texts
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, quoted
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
    vocabulary = tokenizer.vocabulary
    parts_of: defaultdict[int, set[int]] = defaultdict(set)
    for left, right, token in vocabulary.merges:
        parts_of[token] |= {left, right}
    latest: dict[int, None] = {}
    queue: list[tuple[int, int]] = []

    def add_to_queue(tokens: Iterable[int]) -> None:
        for token in tokens:
            is_last = latest.keys() >= set(vocabulary.children(token))
            if is_last and token in parts_of and token not in needed:
                heappush(queue, (-vocabulary.step_of(token), token))

    add_to_queue(parts_of)
    while queue and len(latest) < n_surplus:
        _, token = heappop(queue)
        latest[token] = None
        add_to_queue(parts_of[token])
    if len(latest) < n_surplus:
        raise OptionError(
            f"Only {counted(len(latest), 'token')} can be removed; choose a --size of "
            f"{tokenizer.n_tokens - len(latest):,} or more."
        )
    return list(latest)


def audited(tokenizer: Tokenizer, job: Job) -> Findings:
    """Audit a tokenizer without texts, and without its training record, which does not fit it after a change.

    Raises:
        Stopped: The job is to stop.
    """
    without_record = tokenizer.with_vocabulary(tokenizer.vocabulary)
    progress = partial(job.progress, "auditing")
    return Findings(examine(AuditSubject(without_record, progress=progress)))
