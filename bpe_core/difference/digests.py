"""Describe each part of a tokenizer by a digest that does not depend on the format of its file.

Two tokenizers with equal digests give the same ids and texts. Different digests prove only that the data are different:
another order of two merges may make no difference for any text.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields, replace
from hashlib import sha256
from typing import Any, Final, NamedTuple

from bpe_core.difference.records import PARTS
from bpe_core.difference.surroundings import added_tokens, changes, decoder
from bpe_core.errors import BpeError, OptionError
from bpe_core.patterns.pattern import Else, Pattern, Then
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import EachCharacter, Rule
from bpe_core.tokenizer.preparation import AddedToken, SplitStep, Step, found_at_once
from bpe_core.visible import counted, shortened
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import CharacterSymbols

_LONGEST_SUMMARY: Final = 300
_MOST_LISTED: Final = 8
"""Maximum number of added tokens that a summary lists."""
Canonical = Any
"""A value of JSON that is equal for equal parts."""


class PartDigest(NamedTuple):
    """One part of a tokenizer in a few words, and the digest of its data."""

    summary: str
    sha256: str


class _Part(NamedTuple):
    summary: str
    data: Canonical


def digests(tokenizer: Tokenizer) -> dict[str, PartDigest]:
    """Return the digest of each part, in the order of `PARTS`. Takes seconds for 200,000 tokens."""
    vocabulary = _as_merges(tokenizer.vocabulary)
    names = token_names(vocabulary)
    parts = {
        "normalizer": _normalizer(tokenizer),
        **_added_parts(tokenizer),
        "split pattern": _split(tokenizer),
        "vocabulary": _vocabulary(vocabulary),
        "merges": _merges(vocabulary, names, found_first(tokenizer)),
        "ids": _ids(vocabulary),
        "byte fallback": _fallback(vocabulary, names),
        "decoding": _decoding(tokenizer, names),
    }
    return {name: _digest(parts[name]) for name in PARTS}


def _digest(part: _Part) -> PartDigest:
    """Return the SHA-256 of the data, written as JSON in ASCII."""
    written = json.dumps(part.data, separators=(",", ":"))
    summary = shortened(part.summary, _LONGEST_SUMMARY)
    return PartDigest(summary, sha256(written.encode()).hexdigest())


def _as_merges(vocabulary: Vocabulary) -> Vocabulary:
    """Return a vocabulary of merges with the same ids; the vocabulary itself if there is none."""
    try:
        return vocabulary.as_merges()
    except OptionError:  # some tokens have equal ranks
        return vocabulary


def token_names(vocabulary: Vocabulary) -> dict[int, str]:
    """Return a name for each id: its bytes in hexadecimal digits, and a number if other ids have the same bytes."""
    names: dict[int, str] = {}
    n_with_bytes = Counter[bytes]()
    for token in vocabulary.ids():
        data = vocabulary.token_bytes(token)
        name = data.hex()
        if n_with_bytes[data]:
            name += f"#{n_with_bytes[data]}"
        n_with_bytes[data] += 1
        names[token] = name
    return names


def _normalizer(tokenizer: Tokenizer) -> _Part:
    rules, _, has_metaspace = changes(tokenizer)
    described_rules = list(map(_described_rule, rules))
    summary = ", ".join(" ".join(map(str, rule)) for rule in described_rules)
    steps: list[Canonical] = []
    preparation = tokenizer.preparation
    replaced_texts: list[tuple[str, str]] = []
    if preparation:
        steps = list(_described_steps(preparation.steps))
        # If two added tokens become one text when they are normalized, the first one is found.
        for text, token in sorted(preparation.normalized.tokens.items()):
            if text != token.text:
                replaced_texts.append((text, token.text))
    if steps:
        summary += f"; {len(steps)} further steps"
    data = [described_rules, steps, has_metaspace, replaced_texts]
    return _Part(summary.removeprefix("; ") or "none", data)


def _described_rule(rule: Rule) -> Canonical:
    name = type(rule).__name__
    if isinstance(rule, EachCharacter):
        return [name, rule.change.__name__]
    return [name, *(getattr(rule, field.name) for field in fields(rule))]  # type: ignore[arg-type]


def _described_steps(steps: tuple[Step, ...]) -> Iterator[Canonical]:
    """Yield the steps that do not split, each with the number of splits before it."""
    n_splits = 0
    for step in steps:
        if isinstance(step, SplitStep):
            n_splits += len(_splits_of(step.splitter.tree))
        else:
            yield [n_splits, type(step).__name__, *astuple(step)]  # type: ignore[call-overload]


def _added_parts(tokenizer: Tokenizer) -> dict[str, _Part]:
    """Describe the tokens that are found before the split: the special ones, and the others."""
    added = list(added_tokens(tokenizer).values())
    preparation = tokenizer.preparation
    finds_specials_first = False
    if not found_at_once(added):
        finds_specials_first = preparation is None
    elif not (preparation and preparation.normalize):
        # The flag makes no difference, so every file gets the usual one.
        added = [replace(token, normalized=not token.special) for token in added]
    added.sort(key=lambda token: (token.token, token.text))
    specials = [token for token in added if token.special]
    others = [token for token in added if not token.special]
    return {
        "special tokens": _Part(_listed(specials), list(map(astuple, specials))),
        "added tokens": _Part(
            _listed(others), [finds_specials_first, *map(astuple, others)]
        ),
    }


def _listed(tokens: list[AddedToken]) -> str:
    listed = [f"{token.text} {token.token}" for token in tokens[:_MOST_LISTED]]
    if len(tokens) > _MOST_LISTED:
        listed.append("…")
    return f"{len(tokens)}: {', '.join(listed)}" if tokens else "none"


def found_first(tokenizer: Tokenizer) -> frozenset[str]:
    """Return the texts that the split pattern finds first and that are among the added tokens."""
    match tokenizer.splitter.tree:
        case Else(tuple() as texts, _) if tokenizer.preparation is None:
            found = frozenset(texts)
            return found if found <= added_tokens(tokenizer).keys() else frozenset()
    return frozenset()


def _split(tokenizer: Tokenizer) -> _Part:
    """Describe the splits by their expressions, since names depend on the version of bpescope."""
    preparation = tokenizer.preparation
    if preparation is None:
        tree = tokenizer.splitter.tree
        if isinstance(tree, Else) and found_first(tokenizer):
            tree = tree.rest
        return _Part(str(tree) or "none", [_splits_of(tree), []])
    splits: list[Canonical] = []
    for step in preparation.steps:
        if isinstance(step, SplitStep):
            splits += _splits_of(step.splitter.tree)
    within: list[Canonical] = []
    if preparation.within:
        for splitter in preparation.within.splitters:
            within += _splits_of(splitter.tree)
    return _Part(tokenizer.pattern, [splits, within])


def _splits_of(pattern: Pattern) -> list[Canonical]:
    match pattern:
        case Then(first, rest):
            return _splits_of(first) + _splits_of(rest)
        case Else(first, rest):
            return [["first", first, _splits_of(rest)]]
        case split if split.source or split.drops_rest:
            return [[split.source, split.drops_rest]]
    return []  # it makes one piece of the whole text


def _vocabulary(vocabulary: Vocabulary) -> _Part:
    tokens = sorted(data.hex() for data in vocabulary.bytes_of.values())
    return _Part(counted(len(tokens), "ordinary token"), tokens)


def _ids(vocabulary: Vocabulary) -> _Part:
    """Describe the bytes of every id, of special tokens too. Different data decode some id differently."""
    ids = vocabulary.ids()
    data = [(token, vocabulary.token_bytes(token).hex()) for token in ids]
    return _Part(f"{counted(len(ids), 'id')} up to {vocabulary.highest_id}", data)


def _merges(
    vocabulary: Vocabulary, names: Mapping[int, str], found_first: frozenset[str]
) -> _Part:
    """Describe how pieces become ids: the symbols, the merges, and the pieces that are looked up as a whole.

    The texts of added tokens, `found_first`, are never part of a piece.
    """
    tables = vocabulary._symbols.tables
    characters = sorted((tables.characters or {}).items())
    data: dict[str, Canonical] = {
        "bytes": [None if token is None else names[token] for token in tables.byte_ids],
        "characters": [(data.hex(), names[token]) for data, token in characters],
    }
    if tables.end_of_word is not None:
        data["end"] = names[tables.end_of_word]
    if isinstance(vocabulary, RankedVocabulary):
        encoding = vocabulary.encoding
        by_rank = sorted(encoding.id_of, key=encoding.rank_of.__getitem__)
        ranks = sorted(set(encoding.rank_of.values()))
        place_of = {rank: place for place, rank in enumerate(ranks)}
        data["ranks"] = [
            (names[encoding.id_of[token]], place_of[encoding.rank_of[token]])
            for token in by_rank
        ]
        data["whole"] = encoding.looks_up
        return _Part(counted(len(by_rank), "rank"), data)
    merges = live_merges(vocabulary)
    named = [tuple(names[token] for token in merge) for merge in merges]
    levels = levels_of(merges)
    if levels:
        data["merges"] = sorted(zip(levels, named, strict=True))
    else:
        data["merges"] = named
    texts = {text.encode() for text in found_first}
    data["whole"] = sorted(
        (piece.hex(), names[token])
        for piece, token in vocabulary.whole_pieces.items()
        if piece not in texts and not _is_joined(vocabulary, piece, token)
    )
    return _Part(counted(len(merges), "merge"), data)


def _is_joined(vocabulary: Vocabulary, piece: bytes, token: int) -> bool:
    """Whether merging makes this token of a piece, so that it need not be looked up."""
    try:
        return vocabulary.join(piece) == (token,)
    except BpeError:
        return False


def live_merges(vocabulary: Vocabulary) -> list[Triple]:
    """Return the merges that some piece may use, in order.

    The earlier merges turn the joined bytes of the two parts into these parts. If they don't, the parts are never
    neighbors when the merge is due (`bpe_core.vocabulary.merge_loop` has the proof).
    """
    merges = list(vocabulary.merges)
    if vocabulary.end_of_word is not None:  # its bytes are not the bytes of a piece
        return merges
    encoder = vocabulary.encoding.compiled
    bytes_of = vocabulary.bytes_of
    live: list[Triple] = []
    for step, merge in enumerate(merges):
        left, right, _ = merge
        data = bytes_of[left] + bytes_of[right]
        try:
            parts = (
                encoder.part(data, step) if encoder else vocabulary.at(step).join(data)
            )
        except LookupError:  # a character has no token
            parts = (left, right)
        if tuple(parts) == (left, right):
            live.append(merge)
    return live


def levels_of(merges: Sequence[Triple]) -> list[int]:
    """Return a level for each merge. In any order of ascending levels, the merges give the same ids.

    If each token is made by one merge, before it is used, then encoding applies one merge after the other to the whole
    piece. Two merges that follow each other can be exchanged unless one makes a part of the other, or they can overlap in
    a text, as x+y and y+z do. The level of a merge is one more than those of the merges before it with which it can't be
    exchanged. (This is the normal form of P. Cartier and D. Foata, 1969.)

    Returns:
        The levels; none if two merges make one token, or a token is used before it is made.
    """
    made_later = {token for _, _, token in merges}
    level_made: dict[int, int] = {}
    level_as_left: dict[int, int] = {}
    level_as_right: dict[int, int] = {}
    levels: list[int] = []
    for left, right, token in merges:
        if token in level_made or not made_later.isdisjoint((left, right)):
            return []
        made_later.remove(token)
        level = 1 + max(
            level_made.get(left, 0),
            level_made.get(right, 0),
            level_as_right.get(left, 0),
            level_as_left.get(right, 0),
        )
        levels.append(level)
        level_made[token] = level
        level_as_left[left] = max(level, level_as_left.get(left, 0))
        level_as_right[right] = max(level, level_as_right.get(right, 0))
    return levels


def _fallback(vocabulary: Vocabulary, names: Mapping[int, str]) -> _Part:
    """Describe what becomes of a character that has no token."""
    symbols = vocabulary._symbols
    with_token = sorted(symbols.byte_ids)
    if not isinstance(symbols, CharacterSymbols):
        return _Part(f"bytes, {len(with_token)} of 256", ["bytes", with_token])
    unknown = None
    summary = f"characters, {len(with_token)} of 256 bytes"
    if symbols.unknown is not None:
        unknown = names[symbols.unknown]
        text = vocabulary.token_bytes(symbols.unknown).decode(errors="replace")
        summary += f", unknown token {text}"
    return _Part(summary, ["characters", with_token, unknown, symbols.fuse])


def _decoding(tokenizer: Tokenizer, names: Mapping[int, str]) -> _Part:
    drops_space, byte_ids = decoder(tokenizer)
    summary = "drops a space at the start" if drops_space else "joins the bytes"
    if byte_ids:
        summary += "; invalid byte tokens become U+FFFD"
    return _Part(summary, [drops_space, sorted(names[token] for token in byte_ids)])
