"""Tokenizer files: those that were trained and kept here, those opened from elsewhere or left by other programs.

What reads files is not for the main thread.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core import hub
from bpe_core.corpus.recognition import HEAD, form_of
from bpe_core.errors import BpeError, FormatError, PatternNeededError
from bpe_core.formats import load, why_no_tokenizer
from bpe_core.formats.file import TokenizerFile, tokenizer_at
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import STOPPED
from bpe_core.visible import quoted
from tui.disk import config
from tui.disk.config import size_and_time
from tui.disk.sources import check_readable
from tui.state import KnownTokenizer, Loaded, Opened, Trouble, name_of

_HEAD_BYTES: Final = 4096  # of a file, in which its size is told


def load_file(path: Path, pattern: str | None = None) -> Loaded:
    """As `bpe_core.load`, which tells of its errors, too."""
    tokenizer = load(path, pattern=pattern)
    try:
        digest = sha256(TokenizerFile.open(path).data).hexdigest()
    except FormatError:  # a folder
        digest = ""
    return Loaded(tokenizer, path, digest)


class Recognized(NamedTuple):
    """What the arguments of the command line turned out to be."""

    texts: tuple[str, ...]  # readable files and folders, and addresses
    tokenizers: tuple[str, ...]  # paths of tokenizer files, those named by -t last
    doubts: tuple[str, ...]  # a sentence for each argument that may mean something else
    errors: tuple[str, ...]  # a sentence for each argument that cannot be used


class Recognition:
    """Finds out which arguments are texts and which are tokenizers, in a thread."""

    def __init__(self, paths: Iterable[str], names: Iterable[str]) -> None:
        self._paths = tuple(dict.fromkeys(paths))
        self.names = tuple(dict.fromkeys(names))
        self.current = ""  # the argument that is being looked at
        self.is_slow = False  # whether the user has to wait for it
        self._texts: list[str] = []
        self._tokenizers: list[str] = []
        self._doubts: list[str] = []
        self._errors: list[str] = []

    def run(self) -> Recognized:
        """Look at one argument after the other. Those that cannot be used are left out."""
        for path in self._paths:
            self._attempt(self._recognize, path)
        for name in self.names:
            self._attempt(self._locate, name)
        return Recognized(
            tuple(self._texts),
            tuple(self._tokenizers),
            tuple(self._doubts),
            tuple(self._errors),
        )

    def _attempt(self, look_at: Callable[[str], None], argument: str) -> None:
        self.current = argument
        try:
            look_at(argument)
        except BpeError as error:
            self._errors.append(str(error))

    def _recognize(self, path: str) -> None:
        why_no_tokenizer = _why_no_tokenizer(path)
        if why_no_tokenizer is None:
            self._tokenizers.append(str(tokenizer_at(Path(path))))
            if os.path.isdir(path):
                self._doubts.append(
                    f"{path} holds a tokenizer, which is opened; mark it (F2) to train on its texts."
                )
            return
        check_readable(path)
        self._texts.append(path)
        if why_no_tokenizer:
            self._doubts.append(
                f"{why_no_tokenizer} So it is taken for a text of the corpus."
            )

    def _locate(self, name: str) -> None:
        self._tokenizers.append(located(name))


def _why_no_tokenizer(path: str) -> str | None:
    """As `why_no_tokenizer`, but files that hold rows are not tried: the first row may look like a vocabulary."""
    if "://" in path:
        return ""
    head = b""
    with suppress(OSError, ValueError), open(path, "rb") as file:
        head = file.read(HEAD)
    if form_of(head, path):
        return ""
    return why_no_tokenizer(path)


def located(name: str) -> str:
    """Return the absolute path of a tokenizer by its path, its name in the list or its published name.

    Download it if it is neither there nor in a cache. Raise `BpeError` if it cannot be found.
    """
    in_list = None if os.path.exists(name) else named_in_list(name)
    path = os.path.abspath(tokenizer_at(Path(in_list or hub.located(name))))
    if not os.path.exists(path):
        raise _unknown(name)
    return path


def check_name(name: str) -> None:
    """Raise `FormatError` if no tokenizer can have this name, in the list or published."""
    if not hub.is_name(name) and named_in_list(name) is None:
        raise _unknown(name)


def _unknown(name: str) -> FormatError:
    return FormatError(
        f"There is no tokenizer {quoted(name, 200)}: no such file, and not a known name."
    )


def kept_tokenizers(folder: Path) -> tuple[KnownTokenizer, ...]:
    """What is on the shelf, newest first."""
    files = sorted((-size_and_time(path)[1], path) for path in folder.glob("*.json"))
    return tuple(_known(path, -time) for time, path in files)


def without_twin(path: Path, named: Path) -> Path:
    """The path of what was learned, which was to be called `named`.

    Where a file of that name, or one with a number behind it, holds the same already (pattern, tokens, merges and
    counts of a training), that file; the new one goes. Several copies that end at once agree on the oldest.
    Raises `BpeError` or OSError.
    """
    own, numbered = (
        _contents(load(path)),
        re.compile(re.escape(named.stem) + r"(-\d+)?"),
    )
    for _, other in sorted(
        (size_and_time(other)[1], other) for other in named.parent.glob("*.json")
    ):
        if other == path:
            break
        if numbered.fullmatch(other.stem):
            with suppress(BpeError):
                if _contents(load(other)) == own:
                    path.unlink()
                    return other
    return path


def _contents(tokenizer: Tokenizer) -> tuple[object, ...]:
    vocabulary, record = tokenizer.vocabulary, tokenizer.record
    learned = (
        (record.steps, record.n_bytes, record.ties, record.min_count) if record else ()
    )
    return (
        tokenizer.pattern,
        vocabulary.merges,
        vocabulary.special_tokens,
        vocabulary.n_tokens,
        learned,
    )


def told_pattern(path: Path) -> str | None:
    """The split pattern that a tokenizer file tells; None if it does not. Raises `BpeError`."""
    try:
        return load(path).pattern
    except PatternNeededError:
        return None


def without_odd_record(tokenizer: Tokenizer) -> Tokenizer:
    """`tokenizer`, or if its record cannot be that of its merges, one without.

    Each merge that was learned shortens the corpus; those that were given may occur nowhere in it.
    """
    record = tokenizer.record
    if record is None:
        return tokenizer
    lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in record.steps)]
    falls = all(
        before > after or (before == after and number < record.n_given)
        for number, (before, after) in enumerate(pairwise(lengths))
    )
    if (
        falls
        and max(lengths[0], record.n_bytes) < 1 << 62
        and len(record.steps) == tokenizer.step
    ):
        return tokenizer
    return Tokenizer(
        tokenizer.vocabulary,
        tokenizer.pattern,
        name=tokenizer.name,
        preparation=tokenizer.preparation,
    )


def _known(path: Path, modified: int) -> KnownTokenizer:
    """What the first lines of a file tell, so that a full shelf is listed at once."""
    head = ""
    if path.is_file():  # a pipe would keep one waiting
        with suppress(OSError), path.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode("utf-8", "replace")
    size = re.search(r'"n_vocab":\s*(\d{1,9})\b', head)
    pattern, told = re.search(r'"pattern":\s*("(?:[^"\\]|\\.)*")', head), ""
    with suppress(ValueError):
        told = json.loads(pattern[1]) if pattern else ""
    stopped = f'"stop_reason": "{STOPPED}"' in head
    return KnownTokenizer(
        str(path),
        path.stem,
        int(size[1]) if size else 0,
        "trained",
        "",
        told,
        modified,
        stopped,
    )


def seen(path: Path, tokenizer: Tokenizer, found_as: str = "") -> Opened:
    """A tokenizer as it was just read from the file at `path`."""
    return Opened(
        str(path), found_as, tokenizer.n_tokens, tokenizer.pattern, *size_and_time(path)
    )


def described(opened: Opened, pattern: str | None) -> Opened:
    """`opened`, read now if it never was; as it is if it cannot be."""
    if opened.n_vocab == 0:
        with suppress(BpeError):
            return seen(
                Path(opened.path), load(opened.path, pattern=pattern), opened.found_as
            )
    return opened


def trouble_of(opened: Opened) -> Trouble:
    """What has become of the file since it was opened."""
    now = size_and_time(opened.path)
    if now == (0, 0):
        return "gone"
    return (
        "changed" if opened.modified and now != (opened.size, opened.modified) else ""
    )


def found(forgotten: Iterable[str] = ()) -> tuple[KnownTokenizer, ...]:
    """The tokenizers, by name, in the caches of Hugging Face's hub and of tiktoken, without those to be forgotten.

    Reads rank files whole to be sure of them.
    """
    cached, left_out = hub.all_cached(), set(forgotten)
    return tuple(
        KnownTokenizer(str(path), name, 0, "found", name)
        for name, path in cached
        if str(path) not in left_out
    )


def named_in_list(name: str) -> Path | None:
    """The file of the tokenizer that the app's list calls `name`; None if none is called so.

    Raises `FormatError` if several are.
    """
    remembered = config.load_configuration()
    own: tuple[KnownTokenizer, ...] = ()
    with suppress(OSError):
        own = kept_tokenizers(config.tokenizers_folder())
    known = listed(own, (), remembered.opened, remembered.names, {})
    paths = [one.path for one in known if one.name == name]
    if len(paths) > 1:
        raise FormatError(
            f"Several tokenizers are called {quoted(name)}: {', '.join(paths)}; name one by its path."
        )
    return Path(paths[0]) if paths else None


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
            other = KnownTokenizer(
                one.path, name, 0, "found" if one.found_as else "opened", one.found_as
            )
        if other.origin != "trained":
            known[one.path] = replace(
                other, n_vocab=one.n_vocab, pattern=one.pattern, modified=one.modified
            )
    return tuple(
        replace(one, name=names.get(path, one.name), trouble=troubles.get(path, ""))
        for path, one in known.items()
    )
