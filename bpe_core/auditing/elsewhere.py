"""Ask other vocabularies about each token, and find tokens that only this vocabulary has.

A token that no other vocabulary has, and that takes many tokens there, comes from a corpus that nobody else saw. How
many tokens are many depends on the script: to most vocabularies a word in Malayalam is a sequence of letters. So the
number is divided by the mean of its script. It counts less if the others hardly know one of its letters, see `FAMILIAR`.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from statistics import fmean
from typing import Final, NamedTuple

from bpe_core.auditing.findings import (
    LIKELY,
    SUSPECTED,
    Finding,
    Severity,
    fading,
    glitch_probability,
)
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.usage import Usage
from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import is_utf8
from bpe_core.visible import letter_script

FAMILIAR: Final = 0.5
"""A letter is known if the other vocabularies have at least this share of the tokens that contain it."""
EXTENDED: Final = 0.9
"""A vocabulary is not asked if more than this share of its tokens is copied. Then this one extends it, so its other tokens
are missing there by construction."""
_MANY_CHARACTERS: Final = {"cjk", "kana"}
"""Scripts with so many characters that each is in few tokens."""


class Elsewhere(NamedTuple):
    """What other vocabularies make of the text of one token."""

    sizes: tuple[int, ...]
    """How many tokens the text becomes in each vocabulary that was asked about it."""

    @property
    def n_with(self) -> int:
        """How many of them have the token."""
        return self.sizes.count(1)

    @property
    def mean(self) -> float:
        return fmean(self.sizes)


def ask(
    tokenizer: Tokenizer,
    others: Iterable[Tokenizer],
    on_answer: Callable[[Tokenizer, int], object] | None = None,
) -> dict[int, Elsewhere]:
    """Merge the text of each token as one piece, with the merges of each other vocabulary.

    A vocabulary is not asked about a token that both have copied from the same training, see `copied`, and not at all if
    this one extends it. Takes time linear in the tokens and in the others: 0.1 s for 100,000 tokens and one other.

    Args:
        tokenizer: The tokenizer with the tokens.
        others: Other tokenizers. Only their vocabularies are used, not their split patterns or normalizers.
        on_answer: Called after each of the others, with it and the number of tokens it was asked about.

    Returns:
        Id -> what the others make of it. Special tokens, single bytes, and tokens that are not valid text are left out,
        and so are tokens about which no vocabulary was asked.
    """
    text_of = _texts(tokenizer)
    sizes: dict[int, list[int]] = {token: [] for token in text_of}
    for other in others:
        of_one_training = text_of.keys() & copied(tokenizer, other)
        asked = text_of.keys() - of_one_training
        if len(of_one_training) > EXTENDED * len(_texts(other)):
            asked = set()
        texts = [text_of[token] for token in asked]
        for token, size in zip(asked, _sizes(other, texts), strict=True):
            sizes[token].append(size)
        if on_answer:
            on_answer(other, len(asked))
    return {token: Elsewhere(tuple(found)) for token, found in sizes.items() if found}


def _sizes(other: Tokenizer, texts: list[str]) -> Iterator[int]:
    """Yield how many tokens each text becomes: its number of bytes if `other` lacks one of its characters."""
    if other.vocabulary.is_faithful:
        with suppress(UnknownTokenError):
            yield from [len(ids) for ids in other.encode_pieces(texts)]
            return
    for text in texts:
        data = text.encode()
        ids: Sequence[int] = ()
        with suppress(UnknownTokenError):
            ids = other.encode_piece(text)
        spelled = b"".join(map(other.vocabulary.text_bytes, ids))
        yield len(ids) if spelled == data else len(data)


def _texts(tokenizer: Tokenizer) -> dict[int, str]:
    """Return id -> text of the ordinary tokens of several bytes that are valid text."""
    vocabulary = tokenizer.vocabulary
    specials = set(tokenizer.special_tokens.values())
    texts: dict[int, str] = {}
    for token in vocabulary.ids():
        data = vocabulary.text_bytes(token)
        if token not in specials and len(data) > 1 and is_utf8(data):
            texts[token] = data.decode()
    return texts


def copied(tokenizer: Tokenizer, other: Tokenizer) -> set[int]:
    """Return the ids of tokens that both vocabularies have from the same training.

    Of the tokens that both have, these come directly after the same token in both. Two trainings on different corpora
    hardly ever learn two tokens one after the other in the same order. Llama 3 copied the tokens of GPT-4 like that.
    """
    id_there = other.vocabulary.id_by_bytes
    shared: list[tuple[int, int]] = []  # (id here, id there)
    for token in tokenizer.vocabulary.ids():
        there = id_there.get(tokenizer.vocabulary.token_bytes(token))
        if there is not None:
            shared.append((token, there))
    in_order = sorted(there for _, there in shared)
    next_there = dict(pairwise(in_order))
    return {
        token
        for (_, before), (token, there) in pairwise(shared)
        if next_there.get(before) == there
    }


def script_of(text: str) -> str:
    """Return the script of most of the letters of a text; "" if it has no letter."""
    scripts = Counter(letter_script(letter) for letter in text if letter.isalpha())
    return scripts.most_common(1)[0][0] if scripts else ""


class _UsualSizes:
    """What is usual in the others: how many tokens a token of a script becomes, and which letters they know."""

    def __init__(
        self, texts: Mapping[int, str], found: Mapping[int, Elsewhere]
    ) -> None:
        self._script_of = {texts[token]: script_of(texts[token]) for token in found}
        self._means_of: defaultdict[str, list[float]] = defaultdict(list)
        self._means_of_length: defaultdict[tuple[str, int], list[float]] = defaultdict(
            list
        )
        self._n_with_letter = Counter[str]()
        self._n_known_with_letter = Counter[str]()
        for token, elsewhere in found.items():
            text = texts[token]
            script = self._script_of[text]
            self._means_of[script].append(elsewhere.mean)
            self._means_of_length[script, len(text)].append(elsewhere.mean)
            letters = set(text)
            self._n_with_letter.update(letters)
            if elsewhere.n_with:
                self._n_known_with_letter.update(letters)
        self._usual = {script: fmean(means) for script, means in self._means_of.items()}
        for means in self._means_of_length.values():
            means.sort()

    def usual(self, text: str) -> float:
        """Return the mean number of tokens that the tokens of its script become."""
        return self._usual[self._script_of[text]]

    def place(self, text: str, elsewhere: Elsewhere) -> float:
        """Return the share of tokens of its script and length that become at least as many tokens, itself included."""
        means = self._means_of_length[self._script_of[text], len(text)]
        return 1 - bisect_left(means, elsewhere.mean) / len(means)

    def oddness(self, text: str, elsewhere: Elsewhere) -> float:
        """Return the number of tokens a text becomes, divided by the mean of its script; less if a letter is unfamiliar.

        Punctuation and spaces often repeat, so of a text without letters and digits only the distinct characters count.
        """
        size = elsewhere.mean
        if not any(map(str.isalnum, text)):
            size = min(size, len(set(text)))
        return self._familiarity(text) * size / self.usual(text)

    def _familiarity(self, text: str) -> float:
        """Return how well the others know the letter that they know least: 1 if they have half of its tokens.

        All of them have the letters of ASCII, each is a byte.
        """
        if self._script_of[text] in _MANY_CHARACTERS:
            return 1.0
        known = [
            self._n_known_with_letter[letter] / self._n_with_letter[letter]
            for letter in text
            if letter.isalpha() and not letter.isascii()
        ]
        return min(1.0, min(known, default=1.0) / FAMILIAR)


def only_here(subject: AuditSubject) -> Iterator[Finding]:
    """Find tokens that no other vocabulary has, and that become unusually many tokens there on average.

    Their strength is the `glitch_probability` of the share of all tokens that are odder, and half of those that are as
    odd. If texts are chosen, `_with_counts` changes it. Strengths below `SUSPECTED` are not reported. The formula was
    chosen on GPT-2's published glitch tokens (Watkins and Rumbelow 2023) and on the Chinese tokens of o200k, and
    compared with five lists of Land and
    Bartolo (2024); the page of findings has the figures.

    Evidence: "sizes" (tokens in each vocabulary that was asked), "usual" (mean of its script), "place" (share of the
    tokens of its script and length that become at least as many), "strength".
    """
    found = subject.elsewhere
    if not found:
        return
    texts = _texts(subject.tokenizer)
    usual_sizes = _UsualSizes(texts, found)
    oddness = {
        token: usual_sizes.oddness(texts[token], elsewhere)
        for token, elsewhere in found.items()
        if not elsewhere.n_with
    }
    ascending = sorted(oddness.values())
    strengths: dict[int, float] = {}
    for token, value in oddness.items():
        n_odder = len(ascending) - bisect_right(ascending, value)
        n_equal = bisect_right(ascending, value) - bisect_left(ascending, value)
        rank = n_odder + (n_equal + 1) / 2
        if value > 1:
            strengths[token] = glitch_probability(rank / len(found))
    if subject.usage and not subject.of_training:
        strengths = _with_counts(strengths, subject, subject.usage)
    for token in sorted(strengths, key=lambda token: (-strengths[token], token)):
        strength = strengths[token]
        if strength < SUSPECTED:
            return
        elsewhere = found[token]
        usual = usual_sizes.usual(texts[token])
        yield subject.finding(
            token,
            "only-here",
            Severity.WARNING if strength >= LIKELY else Severity.NOTE,
            _reason(texts[token], elsewhere, usual),
            sizes=list(elsewhere.sizes),
            usual=round(usual, 2),
            place=round(usual_sizes.place(texts[token], elsewhere), 4),
            strength=round(strength, 4),
        )


def _with_counts(
    strengths: Mapping[int, float], subject: AuditSubject, usage: Usage
) -> dict[int, float]:
    """Return the strengths, changed by how often chosen texts contain each token (Bayes' rule on the odds).

    A count of 1 halves the odds, and a higher one lowers them further. A count of 0 divides them by the share of the
    neighbors that do not occur either. If none of them occurs, that share is 1, because the texts are too small or of
    another field. If none is left because later merges took them all, nothing changes: the texts do contain it, and
    that is the evidence of "scaffold" and "never-used".
    """
    missing_shares = subject.shares_of_neighbors(usage.remaining)
    changed: dict[int, float] = {}
    for token, strength in strengths.items():
        odds = strength / (1 - strength)
        count = float(usage.remaining[token])
        if count:
            odds *= fading(count, 1)
        elif not usage.merged[token]:
            odds /= missing_shares.get(token, 1)
        changed[token] = odds / (1 + odds)
    return changed


def _reason(text: str, elsewhere: Elsewhere, usual: float) -> str:
    sizes = elsewhere.sizes
    least = min(sizes)
    most = max(sizes)
    size = f"{least}" if least == most else f"{least} to {most}"
    where = f"each of {len(sizes)} other vocabularies"
    if len(sizes) == 1:
        where = "another vocabulary"
    alike = "of its script" if script_of(text) else "without letters"
    return f"One token here, {size} in {where}, where a token {alike} becomes {usual:.1f} on average."
