"""tokenizer.json files, opened by Hugging Face's library and by bpescope: those it writes, and those we write."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from bpe_core import PATTERNS, Tokenizer, load, save
from bpe_core.formats.expressions import pattern_of
from bpe_core.formats.huggingface import components
from bpe_core.formats.json_fields import Fields
from bpe_core.patterns import splitter
from bpe_core.patterns.pattern import one_after_another
from bpe_core.tokenizer.normalizers import Normalizer
from bpe_core.tokenizer.preparation import SplitStep
from tests.attack.agreement import pipelines
from tests.attack.agreement.against_tiktoken import WHERE, offsets
from tests.attack.agreement.characters import (
    Disagreement,
    changed_differently,
    disagreements,
    in_oniguruma,
)
from tests.attack.agreement.comparing import Subject
from tests.attack.published import ENCODINGS

_TABLES: Final = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")
_CLASSES: Final = (
    "Punctuation",
    "BertPreTokenizer",
    "Digits",
    "Whitespace",
    "WhitespaceSplit",
)


def trained(name: str, texts: Any, folder: Path) -> Subject:
    """One of `PIPELINES`, trained by the library and written by it."""
    theirs = pipelines.PIPELINES[name](texts)
    path = folder / "tokenizer.json"
    theirs.save(str(path))
    return subject(name, load(path), path)


def published(name: str, folder: Path) -> Subject:
    """One of tiktoken's encodings, written as a tokenizer.json by bpescope; "gpt2" as the library itself reads it."""
    from tokenizers import Tokenizer as Theirs
    from tokenizers import decoders, models, pre_tokenizers

    ours, path = load(folder / ENCODINGS[name][0]), folder / f"{name}.json"
    if name == "gpt2":
        files = [str(folder / file) for file in ENCODINGS[name]]
        theirs = Theirs(models.BPE.from_file(*files))
        theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        theirs.decoder = decoders.ByteLevel()
        theirs.add_special_tokens(["<|endoftext|>"])
        theirs.save(str(path))
    else:
        save(ours, path, format="huggingface")
    return subject(
        f"{name}, written by {'them' if name == 'gpt2' else 'us'}", ours, path
    )


def subject(name: str, ours: Tokenizer, path: Path) -> Subject:
    """A tokenizer of ours and what the library makes of a file."""
    from tokenizers import Tokenizer as Theirs

    special, text = Theirs.from_file(str(path)), Theirs.from_file(str(path))
    text.encode_special_tokens = True
    described = json.loads(path.read_text("utf-8"))
    ways: dict[str, Any] = {
        "special tokens taken": (
            lambda t: ours.encode(t, allowed_special="all"),
            _encode(special),
        ),
        "special tokens as text": (ours.encode_ordinary, _encode(text)),
        "again": (ours.encode_ordinary, _encode(text)),
    }
    decodings: dict[str, Any] = {}
    # Since 0.23 the library decodes an added token to what its normalizer makes of it; here it is what was added.
    normalize = special.normalizer.normalize_str if special.normalizer else str
    added = special.get_added_tokens_decoder().values()
    if described["decoder"] and all(
        normalize(one.content) == one.content for one in added if one.normalized
    ):
        decodings["decode"] = (
            ours.decode,
            lambda ids: special.decode(ids, skip_special_tokens=False),
        )
        ways["decode"] = (
            lambda t: ours.decode(ours.encode_ordinary(t)),
            lambda t: _decode(special, _encode(text)(t)),
        )
    if not ours.preparation and not ours.splitter.lossy:
        ways[WHERE] = (
            lambda t: offsets(t, ours),
            lambda t: text.encode(t, add_special_tokens=False).offsets,
        )
    disagreements_of = cache(
        lambda: list(
            {
                each.what: each for each in _disagreements(described) if each.characters
            }.values()
        )
    )
    ids = sorted({*ours.vocabulary.ids(), *ours.special_tokens.values()})
    return Subject(name, ways, frozenset({WHERE}), disagreements_of, decodings, ids)


def _encode(tokenizer: Any) -> Callable[[str], list[int]]:
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def _decode(tokenizer: Any, ids: list[int]) -> str:
    return tokenizer.decode(ids, skip_special_tokens=False)


def _disagreements(described: Any) -> Iterator[Disagreement]:
    """What the parts of a description see differently."""
    for part in _parts(described):
        kind = part.get("type")
        if kind in _TABLES:
            yield _table(kind)
        elif kind in _CLASSES:
            yield _class(kind)
        elif kind == "ByteLevel" and part.get("use_regex", True):
            yield from disagreements(PATTERNS["gpt2"], in_oniguruma)
        elif "Regex" in part:
            yield from disagreements(part["Regex"], in_oniguruma, _translated)
        elif part.get("single_word"):
            yield _class("Whitespace")


def _parts(described: Any) -> Iterator[Mapping[str, Any]]:
    """All objects in it but those of the model."""
    if isinstance(described, dict):
        yield described
    inside = described.items() if isinstance(described, dict) else enumerate(described)
    for key, value in inside:
        if isinstance(value, dict | list) and key not in ("model", "decoder"):
            yield from _parts(value)


def _translated(source: str) -> str:
    return pattern_of(Fields({"Regex": source}, "a set"))


@lru_cache
def _table(kind: str) -> Disagreement:
    from tokenizers import normalizers

    ours = Normalizer(components.rules(Fields({"type": kind}, "a normalizer")))
    return changed_differently(kind, ours, getattr(normalizers, kind)().normalize_str)


@lru_cache
def _class(kind: str) -> Disagreement:
    """The characters that a pre-tokenizer parts from a letter before them, or drops, when the other does not."""
    from tokenizers import pre_tokenizers

    theirs = getattr(pre_tokenizers, kind)()
    steps = components.steps(Fields(json.loads(theirs.__getstate__()), "a part"))
    patterns = [step.splitter.tree for step in steps if isinstance(step, SplitStep)]
    split = splitter(str(one_after_another(patterns))).split
    return changed_differently(
        kind,
        lambda text: "|".join(split(text)),
        lambda text: "|".join(part for part, _ in theirs.pre_tokenize_str(text)),
    )
