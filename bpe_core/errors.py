"""The errors of the engine. The message of each is one sentence that says what is wrong, where, and what to do.

All are subclasses of `BpeError` and of the built-in exception that fits: an invalid option is a `ValueError`, too.
"""

from typing import Final

from bpe_core.visible import shortened, visible

LONGEST: Final = 600  # characters of a message; a longer one is shortened in the middle


class BpeError(Exception):
    """The base class: the engine cannot do what it was asked to; `str(error)` is a sentence to be shown, safe to write
    to a terminal, whatever it quotes, and at most `LONGEST` characters long.

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
    """Raised inside of long work that was asked to stop; no error, and never seen by whoever asked."""


class OptionError(BpeError, ValueError):
    """An option or argument has an invalid value, such as a vocabulary smaller than the byte alphabet."""


class UnknownOptionError(OptionError, TypeError):
    """An option has a name that does not exist here, though it may in another library."""


class PatternError(BpeError, ValueError):
    """A split pattern is neither a known name nor a valid regular expression, or it took too long on a text."""


class TextError(BpeError, ValueError):
    """A text cannot be read: it is missing, not permitted, binary, or in an unknown encoding; or ids are no text."""


class FormatError(BpeError, ValueError):
    """A tokenizer file cannot be read or written, is broken, or is of a format or kind that is not supported."""


class PatternNeededError(FormatError):
    """A tokenizer file does not say how to split a text; load it again with a pattern."""


class FetchError(BpeError, LookupError):
    """A tokenizer cannot be fetched by its name: unknown name, no network, or a library that is not installed."""


class EmbeddingsError(BpeError, ValueError):
    """A file of embeddings cannot be read, or does not fit the tokenizer."""


class SpecialTokenError(BpeError, ValueError):
    """A text contains the text of a special token that was not allowed."""


class UntrainedError(BpeError, RuntimeError):
    """A trainer was asked for its tokenizer before it learned a merge."""


class ClusterError(BpeError, RuntimeError):
    """The machines that were to do the work cannot be reached, or cannot do it."""


class KernelError(BpeError, RuntimeError):
    """The compiled kernel is required and not available."""


class UnknownTokenError(BpeError, KeyError):
    """An id or a token is not in the vocabulary, or a byte has no id."""

    __str__ = Exception.__str__  # a KeyError shows the repr of its sentence


class NotAnIdError(BpeError, TypeError):
    """A value that was given as a token id is not a whole number."""


def as_sentence(error: Exception) -> str:
    """What to tell of any error: ours are sentences, the system's become one, a mistake of ours is named as such."""
    if isinstance(error, BpeError):
        return str(error)
    if isinstance(error, OSError):
        name = f" {error.filename}" if error.filename else ""
        message = f"The system refuses{name}: {error.strerror or error}."
    elif isinstance(error, MemoryError):
        message = "There is not enough memory for this."
    else:
        kind = (
            f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        )
        message = f"Unexpected {kind}; please report this with the command you typed (--debug shows where it happened)."
    return visible(shortened(message, LONGEST))
