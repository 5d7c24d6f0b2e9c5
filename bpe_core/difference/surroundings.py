"""Compare what surrounds the merging in two tokenizers: normalizers, added tokens, fallbacks and decoding."""

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from bpe_core.difference.records import (
    MOST_CAUSES,
    Cause,
    DecodedWitness,
    Pair,
    PartComparison,
    Witness,
    label_of_id,
    not_shown,
    shown,
    written,
    written_tokens,
)
from bpe_core.errors import BpeError
from bpe_core.patterns.pattern import Else
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import AddedToken, SplitStep, found_at_once
from bpe_core.visible import counted, quoted
from bpe_core.vocabulary.symbols import CharacterSymbols, Symbols

_TYPICAL: Final = (
    *("A", "é", "e\u0301"),
    *"ﬁ²①\u00c5ßİςＡ\u8c48각 \t\n\u00a0\u3000\u200b\u200d\ufeff\x00\x7f\u00ad▁“’…–½\ufffda1",
    *("ｶﾞ", "  ", "\r\n", "``", "''", "A\u030a"),
    *(" a", "a ", "  a", "a  ", "a  a", "\na", "a\n"),
)
"""Short texts that normalizers and pre-tokenizers change."""
_SURROGATES: Final = range(0xD800, 0xE000)
_CONTEXTS: Final = [
    "{}",
    " {}",
    "{} ",
    "a{}",
    "{}a",
    "a{}a",
    " {} ",
    "a {} a",
    "A{}",
    "{}\n",
]
"""Where an added token is put to show what its flags do."""
_FLAGS: Final = {
    "special": "is special",
    "single_word": "is found only if no letter or digit is next to it",
    "lstrip": "includes the white space before it",
    "rstrip": "includes the white space after it",
    "normalized": "is searched for in the normalized text",
}
"""Flag of an added token -> what it means."""


def compare_normalizer(pair: Pair) -> PartComparison:
    """Compare the rules and steps that change a text before it is encoded."""
    part = "normalizer"
    changes_of_a = changes(pair.a)
    changes_of_b = changes(pair.b)
    if changes_of_a == changes_of_b:
        sentence = "Both change a text in the same way before they split it."
        if not any(changes_of_a):
            sentence = "Neither changes a text before it splits it."
        return PartComparison(part, True, sentence)
    n_before = pair.n_tried
    for text in chain(_TYPICAL, _characters()):
        text_of_a = _prepared(pair.a, text)
        text_of_b = _prepared(pair.b, text)
        if text_of_a == text_of_b:
            continue
        witness = pair.witness(text)
        if witness is not None:
            what = f"A {_change(text, text_of_a)}, and B {_change(text, text_of_b)}."
            return shown(part, what, witness)
    what = "The rules that change a text before it is split are different."
    return not_shown(part, what, pair.n_tried - n_before)


def _change(text: str, changed: str) -> str:
    """Describe how a text is changed before it is encoded."""
    if text == changed:
        return f"leaves {written(text)} as it is"
    return f"turns {written(text)} into {written(changed)}"


def changes(tokenizer: Tokenizer) -> tuple[Any, ...]:
    """Return all that changes a text before it is encoded: rules, steps that do not split, and the mark for a space."""
    preparation = tokenizer.preparation
    if preparation is None:
        return (), (), False
    other_steps = tuple(
        step for step in preparation.steps if not isinstance(step, SplitStep)
    )
    rules = tuple(preparation.normalize or ())
    return rules, other_steps, preparation.has_metaspace


def normalized(tokenizer: Tokenizer, text: str) -> str:
    """Return a text as the first step of the split gets it."""
    preparation = tokenizer.preparation
    if preparation is None or preparation.normalize is None:
        return text
    return preparation.normalize(text)


def _prepared(tokenizer: Tokenizer, text: str) -> str:
    """Return the text that is encoded: normalized, with what steps insert, and without what splits drop."""
    if tokenizer.preparation is None:
        return text
    parts = tokenizer.preparation.parts(text, frozenset())
    pieces = [part for part in parts if not isinstance(part, int)]
    return "".join(chain.from_iterable(pieces))


def _characters() -> Iterator[str]:
    """Yield all characters that Unicode has assigned, except those for private use."""
    for code_point in range(sys.maxunicode + 1):
        character = chr(code_point)
        if unicodedata.category(character) not in ("Cn", "Co", "Cs"):
            yield character


def compare_added_tokens(pair: Pair) -> list[PartComparison]:
    """Compare the tokens that are found before a text is split: the special ones, then the others."""
    tokens_of_a = added_tokens(pair.a)
    tokens_of_b = added_tokens(pair.b)
    texts = sorted(
        tokens_of_a.keys() | tokens_of_b.keys(), key=lambda text: (len(text), text)
    )
    causes: dict[str, list[Cause]] = {"special tokens": [], "added tokens": []}
    n_listed = Counter[str]()
    for text in texts:
        of_a = tokens_of_a.get(text)
        of_b = tokens_of_b.get(text)
        is_special = any(token and token.special for token in (of_a, of_b))
        part = "special tokens" if is_special else "added tokens"
        n_listed[part] += 1
        if of_a != of_b:
            causes[part].append(_cause_of_token(pair, part, text, of_a, of_b))
    return [_of_tokens(part, n_listed[part], causes[part]) for part in causes]


def added_tokens(tokenizer: Tokenizer) -> dict[str, AddedToken]:
    """Return the text of each added token -> the token, without flags that make no difference."""
    tokens: dict[str, AddedToken] = {}
    for text, token_id in tokenizer.vocabulary.special_tokens.items():
        tokens[text] = AddedToken(text, token_id, special=True)
    for text in texts_found_first(tokenizer):
        ids = tokenizer.encode_piece(text)
        if len(ids) == 1:
            tokens[text] = AddedToken(text, ids[0])
    preparation = tokenizer.preparation
    if preparation is None:
        return tokens
    is_found_in_any_order = not preparation.normalize and found_at_once(
        preparation.added
    )
    for token in preparation.added:
        tokens[token.text] = token
        if is_found_in_any_order:
            tokens[token.text] = replace(token, normalized=False)
    return tokens


def texts_found_first(tokenizer: Tokenizer) -> tuple[str, ...]:
    """Return the texts that the split pattern finds before it splits the rest. Most are added tokens."""
    match tokenizer.splitter.tree:
        case Else(tuple() as texts) if tokenizer.preparation is None:
            return texts
    return ()


def _cause_of_token(
    pair: Pair,
    part: str,
    text: str,
    of_a: AddedToken | None,
    of_b: AddedToken | None,
) -> Cause:
    has_same_id = False
    if of_a is None or of_b is None:
        owner = "A" if of_a else "B"
        what = f"{quoted(text)} is one of the {part} of {owner} only."
    elif of_a.token != of_b.token:
        what = f"{quoted(text)} has the id {of_a.token} in A and {of_b.token} in B."
    else:
        what = f"{quoted(text)} {_only_flags(of_a, of_b)}."
        has_same_id = True
    return Cause(part, what, _token_witness(pair, text, has_same_id))


def _only_flags(of_a: AddedToken, of_b: AddedToken) -> str:
    """Describe the flags that only one of two tokens has."""
    meanings = []
    for flag, meaning in _FLAGS.items():
        if getattr(of_a, flag) != getattr(of_b, flag):
            owner = "A" if getattr(of_a, flag) else "B"
            meanings.append(f"{meaning} (only in {owner})")
    return ", and ".join(meanings)


def _token_witness(pair: Pair, text: str, has_same_id: bool) -> Witness | None:
    """Return the shortest text with an added token that shows a difference.

    If only the flags of the token differ, one tokenizer finds it where the other one doesn't, and makes more tokens.
    """
    for reads_specials in (True, False):
        for context in _CONTEXTS:
            witness = pair.witness(
                context.replace("{}", text), reads_specials=reads_specials
            )
            if witness is None:
                continue
            if not has_same_id or len(witness.a or ()) != len(witness.b or ()):
                return witness
    return None


def _of_tokens(part: str, n_listed: int, causes: list[Cause]) -> PartComparison:
    one = part.removesuffix("s")
    if not causes:
        sentence = f"Both have the same {part}."
        if not n_listed:
            sentence = f"Neither has {part}."
        return PartComparison(part, True, sentence)
    with_text = [cause for cause in causes if cause.witness]
    sentence = f"{counted(len(causes), f'{one} is', f'{part} are')} different."
    if with_text:
        return PartComparison(part, False, sentence, with_text[:MOST_CAUSES])
    return PartComparison(
        part, None, f"{sentence} No text shows it.", causes[:MOST_CAUSES]
    )


def compare_fallback(pair: Pair) -> PartComparison:
    """Compare what becomes of a character that has no token of its own."""
    part = "byte fallback"
    of_a = fallback(pair.a)
    of_b = fallback(pair.b)
    if of_a == of_b:
        return PartComparison(
            part, True, "Both do the same with a character that has no token."
        )
    n_before = pair.n_tried
    for text in _rare_characters():
        for candidate in (text, text + text):
            witness = pair.witness(candidate)
            if witness is None:
                continue
            tokens_of_a = written_tokens(_tokens(pair.a, witness.a))
            tokens_of_b = written_tokens(_tokens(pair.b, witness.b))
            if tokens_of_a != tokens_of_b:
                what = f"A makes {tokens_of_a} of {written(candidate)}, and B {tokens_of_b}."
                return shown(part, what, witness)
    what = "A and B have different rules for a character that has no token."
    return not_shown(part, what, pair.n_tried - n_before)


def fallback(tokenizer: Tokenizer) -> tuple[Any, ...]:
    """Return the rules for characters without a token, by bytes instead of ids."""
    symbols: Symbols = tokenizer.vocabulary._symbols
    bytes_with_token = tuple(sorted(symbols.byte_ids))
    if not isinstance(symbols, CharacterSymbols):
        return "bytes", bytes_with_token
    unknown = b""
    if symbols.unknown is not None:
        unknown = tokenizer.token_bytes(symbols.unknown)
    return "characters", bytes_with_token, unknown, symbols.fuse


def _rare_characters() -> Iterator[str]:
    """Yield characters of all planes that few vocabularies have, and all that have one or two bytes."""
    yield from map(chr, range(0x800))
    for code_point in range(0x800, sys.maxunicode + 1, 0x101):
        if code_point not in _SURROGATES:
            yield chr(code_point)


def _tokens(tokenizer: Tokenizer, ids: Iterable[int] | None) -> list[bytes] | None:
    return None if ids is None else list(map(tokenizer.token_bytes, ids))


def compare_decoding(pair: Pair) -> PartComparison:
    """Compare the texts that ids are decoded to."""
    part = "decoding"
    causes = []
    bytes_of_a = bytes_of_ids(pair.a)
    bytes_of_b = bytes_of_ids(pair.b)
    different = [
        token
        for token in sorted(bytes_of_a.keys() | bytes_of_b.keys())
        if bytes_of_a.get(token) != bytes_of_b.get(token)
    ]
    if different:
        token = different[0]
        witness = DecodedWitness((token,), bytes_of_a.get(token), bytes_of_b.get(token))
        what = (
            f"Id {token} is {label_of_id(witness.a)} in A and {label_of_id(witness.b)} in B "
            f"({counted(len(different), 'id differs', 'ids differ')})."
        )
        causes.append(Cause(part, what, witness))
    for ids in _typical_ids(pair):
        decoded = DecodedWitness(ids, _decoded(pair.a, ids), _decoded(pair.b, ids))
        if decoded.a != decoded.b and not set(ids).intersection(different):
            what = f"A and B decode the ids {list(ids)} differently, although their tokens are the same."
            causes.append(Cause(part, what, decoded))
            break
    if causes:
        return PartComparison(part, False, causes[0].what, causes)
    if decoder(pair.a) == decoder(pair.b):
        return PartComparison(part, True, "Both decode every id to the same bytes.")
    what = "The rules for decoding are different, but no ids were found that show it."
    return PartComparison(part, None, what, [Cause(part, what, None)])


def bytes_of_ids(tokenizer: Tokenizer) -> dict[int, bytes]:
    """Return the bytes of each id, also of special tokens."""
    vocabulary = tokenizer.vocabulary
    bytes_of = dict(vocabulary.bytes_of)
    for text, token in vocabulary.special_tokens.items():
        bytes_of[token] = text.encode()
    return bytes_of


def decoder(tokenizer: Tokenizer) -> tuple[bool, frozenset[int]]:
    """Return what decoding does besides joining bytes: whether it drops a space at the start, and the ids of bytes."""
    preparation = tokenizer.preparation
    if preparation is None:
        return False, frozenset()
    return preparation.drops_space, preparation.byte_fallback_ids


def _typical_ids(pair: Pair) -> Iterator[tuple[int, ...]]:
    """Yield ids that decoders treat differently: a space at the beginning, and incomplete characters."""
    for text in (" ", " a", "a", "é", "の", "\ue000"):
        for tokenizer in (pair.a, pair.b):
            try:
                ids = tuple(tokenizer.encode_ordinary(text))
            except BpeError:
                continue
            yield ids
            yield ids[:-1]


def _decoded(tokenizer: Tokenizer, ids: tuple[int, ...]) -> bytes | None:
    try:
        return tokenizer.decode(ids).encode()
    except BpeError:
        return None
