"""The records of a comparison of two tokenizers, A and B: witnesses, causes, and the result for each part."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, shortened, token_label

PARTS: Final = (
    "normalizer",
    "special tokens",
    "added tokens",
    "split pattern",
    "vocabulary",
    "merges",
    "ids",
    "byte fallback",
    "decoding",
)
"""The parts of a tokenizer that are compared, in the order of a report."""

MOST_CAUSES: Final = 5
"""Maximum number of causes that are listed for one part."""


class Witness(NamedTuple):
    """A text that A and B encode differently."""

    text: str
    a: tuple[int, ...] | None
    """The ids of A; None if A can't encode the text."""
    b: tuple[int, ...] | None
    reads_specials: bool = False
    """Whether special tokens in the text become their ids."""


class DecodedWitness(NamedTuple):
    """Ids that A and B decode differently."""

    ids: tuple[int, ...]
    a: bytes | None
    """The bytes of A; None if A has no such id."""
    b: bytes | None


class Cause(NamedTuple):
    """One difference between A and B."""

    part: str  # of `PARTS`
    what: str
    """A sentence that says what is different."""
    witness: Witness | DecodedWitness | None
    """None if the data are different, but no text was found that shows it."""


class PartComparison(NamedTuple):
    """The result of comparing one part of A and B."""

    part: str
    is_same: bool | None
    """True if it is proved that the part makes no difference, False if a witness shows one, None if undecided."""
    sentence: str
    """Why it is the same, or what is undecided and why."""
    causes: Sequence[Cause] = ()


def shown(part: str, what: str, witness: Witness | DecodedWitness) -> PartComparison:
    """Return what is known of a part if a witness shows its only cause."""
    return PartComparison(part, False, what, [Cause(part, what, witness)])


def not_shown(part: str, what: str, n_tried: int) -> PartComparison:
    """Return what is known of a part if its data differ, but no text that was tried shows it."""
    sentence = f"{what} None of {counted(n_tried, 'text')} shows it."
    return PartComparison(part, None, sentence, [Cause(part, what, None)])


class Pair:
    """Two tokenizers, and the texts they were tried on."""

    def __init__(self, a: Tokenizer, b: Tokenizer) -> None:
        self.a: Final = a
        self.b: Final = b
        self.n_tried = 0

    def witness(self, text: str, *, reads_specials: bool = False) -> Witness | None:
        """Encode a text with both. Return it as a witness if the ids are different."""
        self.n_tried += 1
        ids_of_a = encoded(self.a, text, reads_specials)
        ids_of_b = encoded(self.b, text, reads_specials)
        if ids_of_a == ids_of_b:
            return None
        return Witness(text, ids_of_a, ids_of_b, reads_specials)


def encoded(
    tokenizer: Tokenizer, text: str, reads_specials: bool
) -> tuple[int, ...] | None:
    """Return the ids of a text; None if the tokenizer can't encode it."""
    allowed: Literal["all"] | tuple[str, ...] = "all" if reads_specials else ()
    try:
        ids = tokenizer.encode(text, allowed_special=allowed, disallowed_special=())
    except BpeError:
        return None
    return tuple(ids)


def written(text: str) -> str:
    """Return a text in quotation marks; with escapes if characters of it can't be seen or told apart."""
    begins_with_mark = unicodedata.category(text[:1] or "a").startswith("M")
    is_plain = text.isprintable() and unicodedata.is_normalized("NFC", text)
    if begins_with_mark or not is_plain:
        return ascii(text)
    return repr(shortened(text, 40))


def written_tokens(tokens: Iterable[bytes] | None) -> str:
    """Return tokens for a sentence: "`low` + `er`", "nothing", or "an error" if a text can't be encoded."""
    if tokens is None:
        return "an error"
    return " + ".join(f"`{token_label(token)}`" for token in tokens) or "nothing"


def label_of_id(token: bytes | None) -> str:
    """Return the token of an id; "unused" without one."""
    return "unused" if token is None else f"`{token_label(token)}`"
