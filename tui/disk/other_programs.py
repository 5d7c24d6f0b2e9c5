"""Tokenizers that other programs left on this computer: in the caches of Hugging Face's hub and of tiktoken."""

import os
from collections.abc import Mapping

from bpe_core.hub import encodings, repositories
from tui.state.tokenizers import KnownTokenizer


def found_tokenizers(environment: Mapping[str, str] = os.environ) -> list[KnownTokenizer]:
    """What lies in the caches, by name. Reads rank files whole to be sure of them, so not for the main thread."""
    found = (*repositories.all_cached(environment), *encodings.all_cached(environment))
    return [KnownTokenizer(str(path), name, 0, "found", name) for name, path in found]
