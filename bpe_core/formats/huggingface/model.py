"""The "model" of tokenizer.json: its vocabulary, its merges, and how unknown characters are encoded."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Self

from bpe_core.errors import OptionError
from bpe_core.formats.fields import Fields, is_number
from bpe_core.formats.file import LARGEST_ID
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.preparation import METASPACE
from bpe_core.visible import quoted
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.symbols import BYTE_OF, ByteSymbols, CharacterSymbols, Symbols, meant

_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")


@dataclass(frozen=True, slots=True)
class Model:
    """A BPE model as in tokenizer.json, where tokens are identified by names."""

    ids: Mapping[str, int]
    """Name -> id."""
    merges: Mapping[tuple[str, str], int]
    """(left name, right name) -> id of the token that they become, in the order of ranks."""
    is_bytewise: bool
    """Whether names are written in the byte alphabet; if not, they are text."""
    has_metaspace: bool = False
    """Whether U+2581 in a name stands for a space."""
    unknown: int | None = None
    """The id for a character that has no token (`unk_token`); None if there is none."""
    fuse_unknown: bool = False
    """Whether a run of such characters becomes one id (`fuse_unk`)."""
    byte_fallback: bool = False
    """Whether such a character is encoded as the tokens of its bytes, <0x00> to <0xFF>, instead."""
    looks_up_whole: bool = False
    """Whether a piece that is a token is encoded as that without merges (`ignore_merges`)."""

    @property
    def keeps_words_apart(self) -> bool:
        """Whether no merge has U+2581 inside after other characters, so that a text can be split before each space."""
        names = (left + right for left, right in self.merges)
        return METASPACE in self.ids and all(METASPACE not in name.lstrip(METASPACE) for name in names)

    @classmethod
    def of(cls, fields: Fields, is_bytewise: bool, has_metaspace: bool) -> Self:
        """The model described by an object. Raises `FormatError`."""
        ids = ids_of(fields, "vocab")
        unknown = fields.text("unk_token") if "unk_token" in fields else None
        if unknown is not None and unknown not in ids:
            fields.fail("unk_token", "it is not in the vocabulary")
        n_bytes = sum(f"<0x{byte:02X}>" in ids for byte in range(256)) if fields.flag("byte_fallback", False) else 0
        if unknown is not None and 0 < n_bytes < 256:
            fields.unsupported(f"byte_fallback with {n_bytes} of 256 bytes", "all of them")
        return cls(
            ids,
            dict(_merges(fields, ids)),
            is_bytewise,
            has_metaspace,
            None if unknown is None else ids[unknown],
            fields.flag("fuse_unk", False),
            fields.flag("byte_fallback", False),
            fields.flag("ignore_merges", False),
        )

    def meant(self, name: str) -> bytes | None:
        """The bytes that the token called `name` stands for in a piece; None if it can be in no piece."""
        if self.is_bytewise:
            return meant(name)
        if self.has_metaspace:
            return None if " " in name else name.replace(METASPACE, " ").encode()
        return name.encode()

    def is_byte(self, name: str) -> bool:
        """Whether `name` is that of a byte-fallback token, such as <0x0A>."""
        return self.byte_fallback and _BYTE.fullmatch(name) is not None

    def bytes_of(self, name: str, data: bytes | None) -> bytes:
        """The bytes that the token called `name` is decoded to; `data` is `meant(name)`."""
        if self.is_byte(name):
            return bytes.fromhex(name[3:5])
        return name.encode() if data is None else data

    def symbols(self) -> Symbols:
        """The initial symbols of pieces: how a piece is turned into ids before the first merge."""
        if self.is_bytewise:
            return ByteSymbols({BYTE_OF[name]: token for name, token in self.ids.items() if name in BYTE_OF})
        singles = {name: token for name, token in self.ids.items() if len(name) == 1}
        if self.has_metaspace:
            singles = {name.replace(METASPACE, " "): token for name, token in singles.items() if name != " "}
        fallback = {}
        if self.byte_fallback:
            fallback = {byte: self.ids[name] for byte in range(256) if (name := f"<0x{byte:02X}>") in self.ids}
        return CharacterSymbols(singles, fallback, self.unknown, fuse=self.fuse_unknown)


def ids_of(fields: Fields, key: str) -> dict[str, int]:
    """The object at `key`, name -> id. Raises `FormatError` for invalid ids and for an id that is there twice."""
    ids = fields.fields(key).values
    numbers = set(ids.values()) if all(type(token) is int for token in ids.values()) else set()
    if len(numbers) == len(ids) and 0 <= min(numbers, default=0) <= max(numbers, default=0) <= LARGEST_ID:
        return ids
    seen: dict[int, str] = {}
    for name, token in ids.items():
        if not is_number(token) or token > LARGEST_ID:
            fields.fail(key, f"the id of {quoted(name)} is not a whole number from 0 to {LARGEST_ID}")
        if seen.setdefault(token, name) != name:
            fields.fail(key, f"{quoted(seen[token])} and {quoted(name)} have the same id {token}")
    return ids


def _merges(fields: Fields, ids: Mapping[str, int]) -> Iterator[tuple[tuple[str, str], int]]:
    pairs = [_pair(fields, index, row) for index, row in enumerate(fields.items("merges"))]
    for index, (left, right) in enumerate(pairs):
        if left not in ids or right not in ids or left + right not in ids:
            name = next(name for name in (left, right, left + right) if name not in ids)
            fields.fail(f"merges[{index}]", f"there is no token {quoted(name)}")
    seen = {pair: index for index, pair in enumerate(pairs)}
    for index, pair in enumerate(pairs):
        if seen[pair] == index:  # of equal merges the last one counts
            yield pair, ids[pair[0] + pair[1]]


def _pair(fields: Fields, index: int, row: object) -> tuple[str, str]:
    match row.split(" ") if isinstance(row, str) else row:
        case [str() as left, str() as right] if left and right:
            return left, right
    fields.fail(f"merges[{index}]", 'two tokens were expected, as "a b" or ["a", "b"]')


def vocabulary_of(model: Model, added: Sequence[AddedToken], pieces: Sequence[AddedToken] = ()) -> Vocabulary:
    """The vocabulary of a model and its added tokens; `pieces` are those of them that are encoded as whole pieces.

    Raises `OptionError` for an added token with the id of a byte, or if ids collide.
    """
    ids = model.ids
    for one in added:
        if model.is_bytewise and one.text in BYTE_OF and not one.text.isascii() and one.text in ids:
            raise OptionError(f"The added token {quoted(one.text)} has the id {one.token}, which is the id of a byte.")
    meant = {name: model.meant(name) for name in ids}
    no_piece = {name for name, data in meant.items() if data is None}
    merges = [
        (ids[left], ids[right], token)
        for (left, right), token in model.merges.items()
        if left not in no_piece and right not in no_piece
    ]
    merged = set(chain.from_iterable(merges))
    specials = {token.text: token.token for token in added if token.special}
    tokens = {token: model.bytes_of(name, meant[name]) for name, token in ids.items()}
    tokens |= {token.token: token.text.encode() for token in added if token.token not in merged}
    for token in set(specials.values()) - merged:
        tokens.pop(token, None)
    whole: dict[bytes, int] = {}
    if model.looks_up_whole:
        known = ((meant[name], token) for name, token in ids.items() if token in tokens)
        whole = {data: token for data, token in known if data}
    whole |= {token.text.encode(): token.token for token in pieces}
    symbols = {token for name, token in ids.items() if len(name) == 1 or model.is_byte(name)}
    base = set(tokens) - {token for _, _, token in merges} | set(_used_early(merges)) | symbols & set(tokens)
    return Vocabulary(
        {token: tokens[token] for token in tokens if token in base},
        merges,
        specials,
        symbols=model.symbols(),
        whole_pieces=whole,
    )


def _used_early(merges: Iterable[Triple]) -> Iterator[int]:
    """Ids that a merge uses before any merge has made them; some published files have merges in such an order."""
    made: set[int] = set()
    for left, right, token in merges:
        yield from {left, right} - made
        made.add(token)
