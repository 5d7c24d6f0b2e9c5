"""Converting a tokenizer to an object of tiktoken or of Hugging Face's tokenizers, where these are installed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bpe_core.errors import FetchError, FormatError
from bpe_core.formats.huggingface.writing import matching_all, write
from bpe_core.formats.ranks import ranks_of
from bpe_core.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tiktoken
    import tokenizers


def to_tiktoken(tokenizer: Tokenizer) -> "tiktoken.Encoding":
    """A tiktoken encoding that encodes every text to the same ids; special tokens are handled as in tiktoken.

    Raises `FormatError` if merging by ranks or splitting in tiktoken would give other ids, and `FetchError` if tiktoken
    is not installed.
    """
    library = _library("tiktoken")
    ranks = {data: token for token, data in ranks_of(tokenizer).items()}
    source = matching_all(tokenizer, "as an encoding of tiktoken") or r"[\s\S]+"
    name = tokenizer.name or "bpescope"
    try:
        return library.Encoding(name, pat_str=source, mergeable_ranks=ranks, special_tokens=tokenizer.special_tokens)  # type: ignore[no-any-return]
    except ValueError as error:
        raise FormatError(f"tiktoken refuses this tokenizer: {error}.") from None


def to_tokenizers(tokenizer: Tokenizer) -> "tokenizers.Tokenizer":
    """A tokenizer of Hugging Face's library with the same ids, which encodes special tokens wherever they occur.

    Raises `FormatError` if tokenizer.json cannot express it, and `FetchError` if the library is not installed.
    """
    library = _library("tokenizers")
    return library.Tokenizer.from_str("".join(write(tokenizer)))  # type: ignore[no-any-return]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise FetchError(f"{name} is not installed; get it with: pip install {name}") from None
