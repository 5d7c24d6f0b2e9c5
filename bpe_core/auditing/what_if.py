"""What if: the same vocabulary behind another split pattern or normalizer, and which of its tokens no text becomes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from bpe_core.auditing.end_of_word import text_bytes
from bpe_core.auditing.findings import Finding
from bpe_core.auditing.progress import OnStage
from bpe_core.auditing.reachability import unreachable
from bpe_core.auditing.subject import Subject
from bpe_core.auditing.witness import witness
from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import Normalizer, lowercase, normal_form
from bpe_core.tokenizer.preparation import Preparation
from bpe_core.tokenizer.steps import SplitStep
from bpe_core.visible import quoted

NORMALIZERS: Final[Mapping[str, Callable[[], Normalizer | None]]] = MappingProxyType(
    {
        "none": lambda: None,
        "NFC": lambda: normal_form("NFC"),
        "NFD": lambda: normal_form("NFD"),
        "NFKC": lambda: normal_form("NFKC"),
        "NFKD": lambda: normal_form("NFKD"),
        "lowercase": lambda: lowercase,
    }
)
"""Name -> what makes the normalizer."""


def what_if(
    tokenizer: Tokenizer,
    *,
    pattern: str | None = None,
    normalizer: str | None = None,
    progress: OnStage | None = None,
) -> Iterator[Finding]:
    """Tokens that texts become with this tokenizer, and no text does with another `pattern` or `normalizer`, by id.

    `pattern` is a name of `PATTERNS` or a regular expression, `normalizer` one of `NORMALIZERS`; None leaves it as it
    is. The findings are of the kind "unreachable", about `changed(tokenizer, ...)`; tokens that are unreachable as it
    is are left out. Raises `PatternError` or `OptionError` for a pattern or a normalizer that there is not.
    """
    other = changed(tokenizer, pattern=pattern, normalizer=normalizer)
    return (
        finding
        for finding in unreachable(Subject(other, progress=progress))
        if finding.kind == "unreachable" and _is_reached(tokenizer, finding.id)
    )


def changed(tokenizer: Tokenizer, *, pattern: str | None = None, normalizer: str | None = None) -> Tokenizer:
    """The tokenizer with another pattern, another normalizer, or both; its vocabulary and added tokens stay.

    In a pipeline of several steps the pattern takes the place of the steps that split.
    """
    preparation = tokenizer.preparation
    if normalizer is not None:
        if normalizer not in NORMALIZERS:
            raise OptionError(f"There is no normalizer {quoted(normalizer)}; choose one of {', '.join(NORMALIZERS)}.")
        if preparation is None:
            preparation = Preparation((), None, (SplitStep(tokenizer.splitter),), False, False, {})
        preparation = replace(preparation, normalize=NORMALIZERS[normalizer](), description={})
    if pattern is not None and preparation is not None:
        kept = [step for step in preparation.steps if not isinstance(step, SplitStep)]
        places = [i for i, step in enumerate(preparation.steps) if isinstance(step, SplitStep)]
        kept.insert(places[0] if places else len(kept), SplitStep(splitter(pattern)))
        preparation = replace(preparation, steps=tuple(kept), description={})
    return Tokenizer(tokenizer.vocabulary, pattern or tokenizer.pattern, preparation=preparation)


def _is_reached(tokenizer: Tokenizer, token: int) -> bool:
    """Whether some text becomes the token, as far as is tried; its own text, as a rule."""
    try:
        text = text_bytes(tokenizer.vocabulary, token).decode()
        return tokenizer.encode_ordinary(text) == [token] or witness(tokenizer, token) is not None
    except (UnicodeDecodeError, UnknownTokenError):
        return witness(tokenizer, token) is not None
