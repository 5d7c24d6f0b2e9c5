"""The errors of the engine. Each message says what is wrong, where, and what to do.

All are subclasses of `BpeError` and of a matching built-in exception: an invalid option is
also a `ValueError`.
"""

from typing import Final

from bpe_core.visible import shortened, visible

LONGEST: Final = 600
"""Maximum length of a message in characters; longer ones are shortened in the middle."""


class BpeError(Exception):
    """The base class of the engine's errors.

    `str(error)` is a sentence for users: safe to print to a terminal, and at most `LONGEST`
    characters long.

    >>> from bpe_core import train
    >>> try:
    ...     train("low", vocab_size=7)
    ... except BpeError as error:
    ...     print(error)
    vocab_size is 7, but must be at least 257: 256 bytes, the special tokens and a first merge.
    """

    def __init__(self, sentence: str = "") -> None:
        super().__init__(visible(shortened(sentence, LONGEST)))


class Stopped(Exception):
    """Raised inside long work after a request to stop; callers never see it."""


class OptionError(BpeError, ValueError):
    """An option or argument has an invalid value, such as a vocabulary smaller than the byte alphabet."""


class UnknownOptionError(OptionError, TypeError):
    """An option has an unknown name, perhaps one from another library."""


class PatternError(BpeError, ValueError):
    """A split pattern is neither a known name nor a valid regular expression, or takes too long."""


class TextError(BpeError, ValueError):
    """A text cannot be read (missing, not permitted, binary, not UTF-8), or ids are invalid."""


class FormatError(BpeError, ValueError):
    """A tokenizer file cannot be read or written, is invalid, or has an unsupported format."""


class PatternNeededError(FormatError):
    """A tokenizer file contains no split pattern; load it again with one."""


class FetchError(BpeError, LookupError):
    """A tokenizer cannot be fetched: unknown name, no network, or a library is not installed."""


class EmbeddingsError(BpeError, ValueError):
    """An embeddings file cannot be read, or does not match the tokenizer."""


class SpecialTokenError(BpeError, ValueError):
    """A text contains the text of a special token that was not allowed."""


class UntrainedError(BpeError, RuntimeError):
    """A trainer was asked for its tokenizer before it learned a merge."""


class ClusterError(BpeError, RuntimeError):
    """The cluster cannot be reached, or its machines cannot do the work."""


class KernelError(BpeError, RuntimeError):
    """The compiled kernel is required and not available."""


class UnknownTokenError(BpeError, KeyError):
    """An id or a token is not in the vocabulary, or a byte has no id."""

    __str__ = Exception.__str__  # a KeyError shows the repr of its sentence


class NotAnIdError(BpeError, TypeError):
    """A token id is not an integer."""


def as_sentence(error: Exception) -> str:
    """Describe any error for users; an unexpected one is shown as a bug to report."""
    if isinstance(error, BpeError):
        return str(error)
    if isinstance(error, OSError):
        name = f" {error.filename}" if error.filename else ""
        message = f"The system refuses{name}: {error.strerror or error}."
    elif isinstance(error, MemoryError):
        message = "There is not enough memory for this."
    else:
        problem = type(error).__name__
        if str(error):
            problem += f": {error}"
        message = (
            f"Unexpected {problem}; please report this with the command you typed "
            "(--debug shows where it happened)."
        )
    return visible(shortened(message, LONGEST))
