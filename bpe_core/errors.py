"""Every error of the engine: one sentence each, saying what is wrong, where, and what to do.

All of them are a `BpeError`, so a caller catches one name; each is also the built-in error that the
field expects in its place (a vocabulary that is too small is a `ValueError`).
"""

from typing import Final

from bpe_core.visible import shortened, visible

LONGEST: Final = 600
"""Characters of a sentence; what it quotes may be of any length."""


class BpeError(Exception):
    """Something was asked of the engine that it cannot do; `str(error)` is a sentence for a person.

    It is safe to write to a terminal, whatever it quotes, and never longer than `LONGEST`.
    """

    def __init__(self, sentence: str = "") -> None:
        super().__init__(visible(shortened(sentence, LONGEST)))


class OptionError(BpeError, ValueError):
    """An option has a value that makes no sense, such as a vocabulary smaller than the byte alphabet."""


class PatternError(BpeError, ValueError):
    """A split pattern is not a valid regular expression, or it took too long on a text."""


class TextError(BpeError, ValueError):
    """A text cannot be read: it is missing, not permitted, binary, or in an unknown encoding."""


class FormatError(BpeError, ValueError):
    """A tokenizer file is broken, or of a kind that is not supported."""


class PatternNeededError(FormatError):
    """A tokenizer file does not say how to split a text; load it again with a pattern."""


class FetchError(BpeError, LookupError):
    """A tokenizer cannot be had by its name: there is none of it, no network, or not what fetches it."""


class EmbeddingsError(BpeError, ValueError):
    """A file of embeddings cannot be read, or does not fit the tokenizer."""


class SpecialTokenError(BpeError, ValueError):
    """A text holds the text of a special token that was not allowed there."""


class UntrainedError(BpeError, RuntimeError):
    """A tokenizer was asked to encode before it was trained."""


class KernelError(BpeError, RuntimeError):
    """The compiled kernel was asked for and is not there."""


class UnknownTokenError(BpeError, LookupError):
    """A token id is not in the vocabulary."""
