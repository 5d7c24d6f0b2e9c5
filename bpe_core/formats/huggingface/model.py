"""The "model" of tokenizer.json: its vocabulary, its merges, and how unknown characters are encoded."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, groupby
from operator import itemgetter

from bpe_core.errors import OptionError
from bpe_core.formats.file import Fields
from bpe_core.tokenizer.preparation import METASPACE, AddedToken
from bpe_core.utf8 import UNUSED_BYTES
from bpe_core.visible import quoted
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.symbols import BYTE_OF, ByteSymbols, CharacterSymbols, Symbols, meant


class Model:
    """A BPE model as in tokenizer.json, where tokens are identified by names.

    Names are in the byte alphabet if `is_bytewise`, else text, in which U+2581 stands for a space if `has_metaspace`.
    """

    def __init__(self, fields: Fields, is_bytewise: bool, has_metaspace: bool) -> None:
        self.ids = fields.ids("vocab")  # name -> id
        self._is_bytewise, self._has_metaspace = is_bytewise, has_metaspace
        self._unknown = self.ids.get(fields.text("unk_token")) if "unk_token" in fields else None
        if "unk_token" in fields and self._unknown is None:
            fields.fail("unk_token", "it is not in the vocabulary")
        names = (f"<0x{byte:02X}>" for byte in range(256)) if fields.flag("byte_fallback", False) else ()
        # Byte -> id of the token that stands for it in a character without a token.
        self.byte_ids = {byte: self.ids[name] for byte, name in enumerate(names) if name in self.ids}
        if self._unknown is not None and 0 < len(self.byte_ids) < 256:
            fields.unsupported(f"byte_fallback with {len(self.byte_ids)} of 256 bytes", "all of them")
        self._merges = _merges(fields, self.ids)  # (left name, right name) -> id, in the order of ranks
        self._fuses_unknown = fields.flag("fuse_unk", False)
        self._looks_up_whole = fields.flag("ignore_merges", False)

    @property
    def keeps_words_apart(self) -> bool:
        """Whether no merge has U+2581 inside after other characters, so that a text can be split before each space."""
        names = (left + right for left, right in self._merges)
        return METASPACE in self.ids and all(METASPACE not in name.lstrip(METASPACE) for name in names)

    def vocabulary(self, added: Sequence[AddedToken], pieces: Sequence[AddedToken] = ()) -> Vocabulary:
        """The vocabulary with added tokens; `pieces` are those of them that are encoded as whole pieces.

        Raises `OptionError` for an added token with the id of a byte that texts have, or if ids collide.
        """
        ids = self.ids
        meant = {name: self._meant(name) for name in ids}
        for name in [one.text for one in added if self._is_bytewise and not one.text.isascii() and one.text in ids]:
            if (byte := BYTE_OF.get(name)) is not None:
                if byte not in UNUSED_BYTES:
                    raise OptionError(f"Of the added token {quoted(name)} the id {ids[name]} is that of a byte.")
                meant[name] = None  # the text, as in DeepSeek's: the byte is in no text
        merges = [
            (ids[left], ids[right], token)
            for (left, right), token in self._merges.items()
            if meant[left] is not None and meant[right] is not None
        ]
        tokens = {token: name.encode() if (data := meant[name]) is None else data for name, token in ids.items()}
        tokens |= {token: bytes([byte]) for byte, token in self.byte_ids.items()}
        merged = set(chain.from_iterable(merges))
        specials = {token.text: token.token for token in added if token.special}
        tokens |= {token.token: token.text.encode() for token in added if token.token not in merged}
        for token in set(specials.values()) - merged:
            tokens.pop(token, None)
        looked_up = ids.items() if self._looks_up_whole else ()
        whole = {data: token for name, token in looked_up if (data := meant[name]) and token in tokens}
        whole |= {token.text.encode(): token.token for token in pieces}
        singles = {token for name, token in ids.items() if len(name) == 1} | set(self.byte_ids.values())

        def made_by(merges: list[Triple]) -> Vocabulary:
            base, made = (set(tokens) - {token for _, _, token in merges}) | singles, set[int]()
            for left, right, token in merges:  # some published files have merges before those that make their parts
                base |= {left, right} - made
                made.add(token)
            in_base = {token: data for token, data in tokens.items() if token in base}
            return Vocabulary(in_base, merges, specials, symbols=self._symbols(meant), whole_pieces=whole)

        vocabulary = made_by(merges)
        return made_by(_ever_applied(vocabulary)) if vocabulary.has_repeats else vocabulary

    def _meant(self, name: str) -> bytes | None:
        """The bytes that the token called `name` stands for in a piece; None if it can be in no piece."""
        if self._is_bytewise:
            return meant(name)
        if self._has_metaspace:
            return None if " " in name else name.replace(METASPACE, " ").encode()
        return name.encode()

    def _symbols(self, meant: Mapping[str, bytes | None]) -> Symbols:
        if self._is_bytewise:
            return ByteSymbols({data[0]: self.ids[name] for name, data in meant.items() if data and len(data) == 1})
        singles = {name: token for name, token in self.ids.items() if len(name) == 1}
        if self._has_metaspace:
            singles = {name.replace(METASPACE, " "): token for name, token in singles.items() if name != " "}
        return CharacterSymbols(singles, self.byte_ids, self._unknown, fuse=self._fuses_unknown)


def _ever_applied(vocabulary: Vocabulary) -> list[Triple]:
    """The merges without those that are never applied, in files that list each way to split a token, as Llama 3's does.

    If the merges of a token stand together, and its bytes become two tokens by all merges before them, these two are
    what any text has of it then (see `bpe_core.vocabulary.merge_loop`), so no other merge of it is ever applied.
    """
    groups = [list(group) for _, group in groupby(vocabulary.merges, itemgetter(2))]
    if len(groups) > len({group[0][2] for group in groups}):
        return list(vocabulary.merges)
    encoder, bytes_of, applied, step = vocabulary.compiled, vocabulary.bytes_of, list[Triple](), 0
    for group in groups:
        data, parts = bytes_of[group[0][2]], tuple[int, ...]()
        with suppress(LookupError):  # a character without a token
            parts = encoder.part(data, step) if encoder else vocabulary.at(step).join(data)
        applied += [merge for merge in group if merge[:2] == parts] or group
        step += len(group)
    return applied


def _merges(fields: Fields, ids: Mapping[str, int]) -> dict[tuple[str, str], int]:
    pairs: list[tuple[str, str]] = []
    for index, row in enumerate(fields.items("merges")):
        match row.split(" ") if isinstance(row, str) else row:
            case [str() as left, str() as right] if left and right:
                pairs.append((left, right))
            case _:
                fields.fail(f"merges[{index}]", 'two tokens were expected, as "a b" or ["a", "b"]')
        if left not in ids or right not in ids or left + right not in ids:
            name = next(name for name in (left, right, left + right) if name not in ids)
            fields.fail(f"merges[{index}]", f"there is no token {quoted(name)}")
    last_ones = reversed(dict.fromkeys(reversed(pairs)))  # of equal merges the last one counts
    return {(left, right): ids[left + right] for left, right in last_ones}
