"""The BPE model of a tokenizer.json: names of tokens, and merges of names."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from bpe_core.errors import OptionError
from bpe_core.formats.json_fields import Fields
from bpe_core.tokenizer.preparation import METASPACE, AddedToken
from bpe_core.utf8 import UNUSED_BYTES
from bpe_core.visible import quoted
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.paths import vocabulary_of
from bpe_core.vocabulary.symbols import (
    BYTE_OF,
    ByteSymbols,
    CharacterSymbols,
    Symbols,
    bytes_of_name,
)


class Model:
    """A BPE model, which identifies tokens by names.

    A name is in the byte alphabet if `is_bytewise`. Otherwise it is the text of the token, in which
    U+2581 means a space if `has_metaspace`.
    """

    def __init__(self, fields: Fields, is_bytewise: bool, has_metaspace: bool) -> None:
        """Read the object at "model".

        Raises:
            FormatError: The model is invalid or not supported.
        """
        self.ids = fields.ids("vocab")
        """Name -> id."""
        self.byte_ids = self._byte_fallback(fields)
        """Byte -> the token that represents it in a character without a token."""
        self._is_bytewise = is_bytewise
        self._has_metaspace = has_metaspace
        self._unknown = None
        if "unk_token" in fields:
            self._unknown = self.ids.get(fields.text("unk_token"))
            if self._unknown is None:
                fields.fail("unk_token", "it is not in the vocabulary")
        if self._unknown is not None and 0 < len(self.byte_ids) < 256:
            fields.unsupported(
                f"byte_fallback with {len(self.byte_ids)} of 256 bytes", "all of them"
            )
        self._merges = _merges(fields, self.ids)
        self._fuses_unknown = fields.flag("fuse_unk", False)
        self._looks_up_whole = fields.flag("ignore_merges", False)

    def _byte_fallback(self, fields: Fields) -> dict[int, int]:
        if not fields.flag("byte_fallback", False):
            return {}
        names = {byte: f"<0x{byte:02X}>" for byte in range(256)}
        return {
            byte: self.ids[name] for byte, name in names.items() if name in self.ids
        }

    @property
    def keeps_words_apart(self) -> bool:
        """Whether a text can be split before each space.

        It can if no merge has U+2581 after other characters. It can't if whole pieces are looked
        up, because a split would make more of them.
        """
        if self._looks_up_whole or METASPACE not in self.ids:
            return False
        names = (left + right for left, right in self._merges)
        return all(METASPACE not in name.lstrip(METASPACE) for name in names)

    def vocabulary(
        self, added: Sequence[AddedToken], pieces: Sequence[AddedToken] = ()
    ) -> Vocabulary:
        """Return the vocabulary.

        Args:
            added: The added tokens.
            pieces: Those among them that are encoded as whole pieces.

        Raises:
            OptionError: The merges or special tokens are invalid.
        """
        ids = self.ids
        data_of = self._bytes_of_names(added)
        merges = [
            (ids[left], ids[right], token)
            for (left, right), token in self._merges.items()
            if data_of[left] is not None and data_of[right] is not None
        ]
        special_tokens = {token.text: token.token for token in added if token.special}
        single = {token for name, token in ids.items() if len(name) == 1}
        single.update(self.byte_ids.values())
        tokens = self._tokens(data_of, merges, added, single)
        whole_pieces: dict[bytes, int] = {}
        if self._looks_up_whole:
            for name, token in ids.items():
                data = data_of[name]
                if data and token in tokens:
                    whole_pieces[data] = token
        for piece in pieces:
            whole_pieces[piece.text.encode()] = piece.token
        return vocabulary_of(
            tokens,
            merges,
            special_tokens,
            symbols=self._symbols(data_of),
            whole_pieces=whole_pieces,
        )

    def _bytes_of_names(self, added: Iterable[AddedToken]) -> dict[str, bytes | None]:
        """Return the bytes that each name means in a piece; None if it can be in no piece."""
        data_of = {name: self._bytes_of_name(name) for name in self.ids}
        if not self._is_bytewise:
            return data_of
        for token in added:
            name = token.text
            byte = None if name.isascii() else BYTE_OF.get(name)
            if byte is None or name not in self.ids:
                continue
            # The name may mean a byte, or be the text of the added token.
            if byte not in UNUSED_BYTES:
                raise OptionError(
                    f"The added token {quoted(name)} has the id {self.ids[name]}, which is the id of a byte."
                )
            data_of[name] = (
                None  # no text has that byte; DeepSeek's files have such tokens
            )
        return data_of

    def _bytes_of_name(self, name: str) -> bytes | None:
        if self._is_bytewise:
            return bytes_of_name(name)
        if self._has_metaspace:
            return None if " " in name else name.replace(METASPACE, " ").encode()
        return name.encode()

    def _tokens(
        self,
        data_of: Mapping[str, bytes | None],
        merges: Sequence[Triple],
        added: Iterable[AddedToken],
        single: set[int],
    ) -> dict[int, bytes]:
        """Return id -> bytes of all tokens, except those that are only special.

        A special token that is also one of the `single` bytes or characters is not only special: pieces begin as these.
        """
        tokens: dict[int, bytes] = {}
        for name, token in self.ids.items():
            data = data_of[name]
            tokens[token] = name.encode() if data is None else data
        for byte, token in self.byte_ids.items():
            tokens[token] = bytes([byte])
        in_merges = set(chain.from_iterable(merges))
        for added_token in added:
            if added_token.token not in in_merges:
                tokens[added_token.token] = added_token.text.encode()
        for added_token in added:
            token = added_token.token
            if added_token.special and token not in in_merges and token not in single:
                tokens.pop(token, None)
        return tokens

    def _symbols(self, data_of: Mapping[str, bytes | None]) -> Symbols:
        if self._is_bytewise:
            byte_ids = {
                data[0]: self.ids[name]
                for name, data in data_of.items()
                if data and len(data) == 1
            }
            return ByteSymbols(byte_ids)
        characters: dict[str, int] = {}
        for name, token in self.ids.items():
            if len(name) == 1 and self._has_metaspace:
                if name != " ":
                    characters[name.replace(METASPACE, " ")] = token
            elif len(name) == 1:
                characters[name] = token
        return CharacterSymbols(
            characters, self.byte_ids, self._unknown, fuse=self._fuses_unknown
        )


def _merges(fields: Fields, ids: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return (left name, right name) -> id of the merges, in the order of their ranks."""
    pairs: list[tuple[str, str]] = []
    for index, row in enumerate(fields.items("merges")):
        match row.split(" ") if isinstance(row, str) else row:
            case [str() as left, str() as right] if left and right:
                pairs.append((left, right))
            case _:
                fields.fail(
                    f"merges[{index}]", 'expected two tokens, as "a b" or ["a", "b"]'
                )
        if left not in ids or right not in ids or left + right not in ids:
            names = (left, right, left + right)
            name = next(name for name in names if name not in ids)
            fields.fail(
                f"merges[{index}]", f"the token {quoted(name)} is not in the vocabulary"
            )
    # Of equal merges the last one counts.
    last_ones = reversed(dict.fromkeys(reversed(pairs)))
    return {(left, right): ids[left + right] for left, right in last_ones}
