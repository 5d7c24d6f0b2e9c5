"""Tokenizers from elsewhere, opened or left by other programs: what was seen of them, and what has become of these."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import load
from bpe_core.hub import encodings, repositories
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import quoted
from tui.disk import config
from tui.disk.tokenizer_files import kept_tokenizers
from tui.state.tokenizers import KnownTokenizer, Opened, Trouble, name_of


def seen(path: Path, tokenizer: Tokenizer, found_as: str = "") -> Opened:
    """A tokenizer as it was just read from the file at `path`."""
    size, modified = _size_and_time(str(path)) or (0, 0)
    return Opened(str(path), found_as, tokenizer.n_vocab, tokenizer.pattern, size, modified)


def described(opened: Opened, pattern: str | None) -> Opened:
    """`opened`, read now if it never was; as it is if it cannot be. Not for the main thread."""
    if opened.n_vocab == 0:
        with suppress(BpeError):
            return seen(Path(opened.path), load(opened.path, pattern=pattern), opened.found_as)
    return opened


def trouble_of(opened: Opened) -> Trouble:
    """What has become of the file since it was opened. Not for the main thread: a folder of a network may be slow."""
    now = _size_and_time(opened.path)
    if now is None:
        return "gone"
    return "changed" if opened.modified and now != (opened.size, opened.modified) else ""


def _size_and_time(path: str) -> tuple[int, int] | None:
    try:
        file = os.stat(path)
    except (OSError, ValueError):
        return None
    return file.st_size, file.st_mtime_ns


def found_tokenizers(environment: Mapping[str, str] = os.environ) -> list[KnownTokenizer]:
    """The tokenizers, by name, in the caches of Hugging Face's hub and of tiktoken. Not for the main thread.

    Reads rank files whole to be sure of them.
    """
    cached = (*repositories.all_cached(environment), *encodings.all_cached(environment))
    return [KnownTokenizer(str(path), name, 0, "found", name) for name, path in cached]


def found(forgotten: Iterable[str]) -> tuple[KnownTokenizer, ...]:
    """What other programs keep, without what is to be forgotten. Not for the main thread."""
    left_out = frozenset(forgotten)
    return tuple(tokenizer for tokenizer in found_tokenizers() if tokenizer.path not in left_out)


def named_in_list(name: str) -> Path | None:
    """The file of the tokenizer that the app's list calls `name`; None if none is called so.

    Raises `FormatError` if several are.
    """
    remembered = config.load_configuration()
    with suppress(OSError):
        own = kept_tokenizers(config.tokenizers_folder())
        known = listed(own, (), remembered.opened, remembered.names, {})
        paths = [one.path for one in known if one.name == name]
        if len(paths) > 1:
            raise FormatError(
                f"Several tokenizers are called {quoted(name)}: {', '.join(paths)}; name one by its path."
            )
        return Path(paths[0]) if paths else None
    return None


def listed(
    own: Sequence[KnownTokenizer],
    found: Sequence[KnownTokenizer],
    opened: Iterable[Opened],
    names: Mapping[str, str],
    troubles: Mapping[str, Trouble],
) -> tuple[KnownTokenizer, ...]:
    """The tokenizers trained here, those that other programs keep, and those opened from elsewhere, each once.

    `names` are those given by the user and `troubles` what has become of files, by path.
    """
    known = {tokenizer.path: tokenizer for tokenizer in (*own, *found)}
    for one in opened:
        other = known.get(one.path)
        if other is None:
            name = one.found_as or name_of(Path(one.path))
            other = KnownTokenizer(one.path, name, 0, "found" if one.found_as else "opened", one.found_as)
        if other.origin != "trained":
            known[one.path] = replace(other, n_vocab=one.n_vocab, pattern=one.pattern, modified=one.modified)
    return tuple(
        replace(one, name=names.get(path, one.name), trouble=troubles.get(path, "")) for path, one in known.items()
    )
