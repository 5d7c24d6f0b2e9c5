"""tokenizer.json of Hugging Face's tokenizers, for BPE models of bytes, or of characters as in Llama 2.

Other models, and pipeline components that are not implemented here, are refused by name. Post-processors, which add
tokens around a text (such as a first one), are ignored. A pipeline that only splits becomes a split pattern, any other
a `Preparation`. Of tokenizer_config.json in the same folder the model's name, the class and added tokens are used.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from bpe_core.errors import OptionError
from bpe_core.formats.file import LONGEST_TOKEN, TokenizerFile
from bpe_core.formats.huggingface import components
from bpe_core.formats.huggingface.writing import write
from bpe_core.formats.json_fields import LARGEST_ID, Fields, id_in, is_number, is_text
from bpe_core.patterns import splitter
from bpe_core.patterns.pattern import Else, one_after_another
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import Normalizer, Stripped
from bpe_core.tokenizer.preparation import (
    METASPACE,
    AddedToken,
    BytePieces,
    PrefixStep,
    Preparation,
    ReplaceStep,
    SplitStep,
    Step,
    found_at_once,
)
from bpe_core.utf8 import UNUSED_BYTES
from bpe_core.visible import quoted
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.vocabulary.symbols import (
    BYTE_OF,
    ByteSymbols,
    CharacterSymbols,
    Symbols,
    meant,
)

__all__ = ["WORDS", "configuration_of", "read", "recognizes", "tokenizer_of", "write"]

KEYS: Final = (
    "normalizer",
    "pre_tokenizer",
    "decoder",
)  # of tokenizer.json, for the pipeline without added tokens
_MODEL: Final = re.compile(rb'"model"\s*:\s*\{')
_CACHED: Final = re.compile(r"models--(.+)/snapshots")
WORDS: Final = f"{METASPACE}+[^{METASPACE}]*|[^{METASPACE}]+"  # before spaces, where merges never cross these


def recognizes(data: bytes) -> bool:
    return data.lstrip()[:1] == b"{" and _MODEL.search(data) is not None


def read(file: TokenizerFile, pattern: str | None = None) -> Tokenizer:
    return tokenizer_of(file.fields(), file, configuration_of(file), pattern)


def configuration_of(file: TokenizerFile) -> Fields:
    """The object in tokenizer_config.json beside `file`; empty if there is no such file."""
    beside = file.open_sibling("tokenizer_config.json")
    return beside.fields() if beside else Fields({}, file.where)


def tokenizer_of(
    fields: Fields, file: TokenizerFile, configured: Fields, pattern: str | None
) -> Tokenizer:
    """The tokenizer described by an object as in tokenizer.json; `pattern` replaces its splits."""
    described = fields.fields("model")
    kind = described.text("type", "BPE" if "merges" in described else "WordPiece")
    if kind != "BPE":
        fields.unsupported(f"the model {kind}", "BPE")
    if described.values.get("dropout"):
        fields.unsupported("dropout, which encodes at random,", "BPE without it")
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if affix := described.text(key, ""):
            fields.unsupported(
                f"the {key} {affix!r}", "BPE on bytes, and on characters with U+2581"
            )
    name = configured.values.get(
        "name_or_path"
    )  # else that of the path in the hub's cache, else of the folder
    if not name or not is_text(name):
        folder = file.path.absolute().parent
        cached = _CACHED.fullmatch(f"{folder.parent.parent.name}/{folder.parent.name}")
        name = cached[1].replace("--", "/") if cached else folder.name
    preparation, is_bytewise, joins_bytes = _preparation(fields, pattern)
    model = Model(described, is_bytewise, preparation.has_metaspace)
    added = tuple(_added(fields, configured, model.ids))
    splits = [
        step.splitter.tree for step in preparation.steps if isinstance(step, SplitStep)
    ]
    tree = one_after_another(splits)
    does_more = preparation.normalize or preparation.within or preparation.has_metaspace
    if len(splits) == len(preparation.steps) and not does_more and found_at_once(added):
        ordinary = [token for token in added if not token.special]
        if ordinary:
            tree = Else(tuple(token.text for token in ordinary), tree)
        return Tokenizer(model.vocabulary(added, ordinary), str(tree), name=name)
    if not splits and preparation.has_metaspace and model.keeps_words_apart:
        preparation = replace(
            preparation, steps=(*preparation.steps, SplitStep(splitter(WORDS)))
        )
    runs = frozenset(model.byte_ids.values() if joins_bytes else ())
    preparation = replace(preparation, added=added, replaces_runs=runs)
    return Tokenizer(
        model.vocabulary(added), str(tree), name=name, preparation=preparation
    )


def _preparation(fields: Fields, pattern: str | None) -> tuple[Preparation, bool, bool]:
    """(the pipeline without added tokens, whether it ends with pieces in the byte alphabet, whether the decoder joins
    byte-fallback tokens to characters). `pattern` replaces all splits if it is not None. Raises `FormatError`."""
    normalizers, pre_tokenizers, decoders = (
        list(components.in_sequence(fields.fields(key), parts)) if key in fields else []
        for key, parts in zip(
            KEYS, ("normalizers", "pretokenizers", "decoders"), strict=True
        )
    )
    steps: list[Step] = []
    within: list[SplitStep] | None = None  # splits of what is in the byte alphabet
    for step in chain.from_iterable(map(components.steps, pre_tokenizers)):
        if step is None:
            within = within or []
        elif within is None:
            steps.append(step)
        elif isinstance(step, SplitStep):
            within.append(step)
        else:
            fields.unsupported(
                "what stands behind ByteLevel in the pre-tokenizer", "splits alone"
            )
    rules = list(chain.from_iterable(map(components.rules, normalizers)))
    if PrefixStep(METASPACE, only_first=True) in steps and Stripped("start") in rules:
        # The library puts U+2581 only in front of a piece that begins where the text did before Strip.
        fields.unsupported(
            "the prepend_scheme first after the normalizer Strip", "always and never"
        )
    is_bytewise = within is not None
    description = {key: fields.values.get(key) for key in KEYS}
    if pattern is not None:
        del description["pre_tokenizer"]
        others: list[Step] = [step for step in steps if not isinstance(step, SplitStep)]
        description = {} if others else description
        steps, within = [*others, SplitStep(splitter(pattern))], None
    puts = ReplaceStep(" ", METASPACE) in steps
    puts |= any(components.replaces(part, " ", METASPACE) for part in normalizers)
    # In the byte alphabet U+2581 is three bytes, which stand for themselves.
    puts = puts and not is_bytewise
    takes = (
        part.text("type") == "Metaspace" or components.replaces(part, METASPACE, " ")
        for part in decoders
    )
    if not puts and any(takes):
        fields.unsupported(
            "a decoder that makes spaces of U+2581 where nothing makes U+2581 of spaces",
            "both",
        )
    preparation = Preparation(
        added=(),
        normalize=Normalizer(rules),
        steps=tuple(steps),
        has_metaspace=puts,
        drops_space=any(map(components.drops_space, decoders)),
        description=description,
        within=BytePieces(tuple(step.splitter for step in within)) if within else None,
    )
    return (
        preparation,
        is_bytewise,
        any(part.text("type") == "ByteFallback" for part in decoders),
    )


def _added(
    fields: Fields, configured: Fields, vocab: Mapping[str, int]
) -> Iterator[AddedToken]:
    """The added tokens of a file, and those that only the configuration has, merged as in transformers: one whose id
    the file gives to another text is ignored."""
    tokens = fields.objects("added_tokens", [])
    if "added_tokens" in fields and "added_tokens_decoder" in configured:
        known = {token.text("content") for token in tokens}
        taken = {
            number for token in tokens if is_number(number := token.values.get("id"))
        } | set(vocab.values())
        decoder = configured.fields("added_tokens_decoder")
        for digits in decoder.values:
            token = decoder.fields(digits)
            if (number := id_in(digits)) is None:
                decoder.fail(digits[:40], "the id of a token was expected")
            text = token.text("content")
            if text not in known and (vocab.get(text) == number or number not in taken):
                token.values["id"] = number
                tokens.append(token)
    name_of = {token: name for name, token in vocab.items()} if tokens else {}
    seen: dict[int, str] = {}
    for token in tokens:
        text, special = token.text("content"), token.flag("special", False)
        if not text:
            continue
        if len(text) > LONGEST_TOKEN:
            token.fail("content", f"it is longer than {LONGEST_TOKEN:,} characters")
        known_id = vocab.get(text)
        number = (
            token.number("id", largest=LARGEST_ID) if known_id is None else known_id
        )
        if known_id is None and number in name_of:
            token.fail("id", f"{number} is the id of {quoted(name_of[number])}")
        if seen.setdefault(number, text) != text:
            token.fail("id", f"{number} is the id of another added token")
        single_word, lstrip, rstrip = (
            token.flag(key, False) for key in ("single_word", "lstrip", "rstrip")
        )
        yield AddedToken(
            text,
            number,
            special,
            single_word,
            lstrip,
            rstrip,
            token.flag("normalized", not special),
        )


class Model:
    """A BPE model as in tokenizer.json, where tokens are identified by names: in the byte alphabet if `is_bytewise`,
    else text, in which U+2581 stands for a space if `has_metaspace`."""

    def __init__(self, fields: Fields, is_bytewise: bool, has_metaspace: bool) -> None:
        self.ids = fields.ids("vocab")  # name -> id
        self._is_bytewise, self._has_metaspace = is_bytewise, has_metaspace
        self._unknown = (
            self.ids.get(fields.text("unk_token")) if "unk_token" in fields else None
        )
        if "unk_token" in fields and self._unknown is None:
            fields.fail("unk_token", "it is not in the vocabulary")
        names = (
            (f"<0x{byte:02X}>" for byte in range(256))
            if fields.flag("byte_fallback", False)
            else ()
        )
        # Byte -> id of the token that stands for it in a character without a token.
        self.byte_ids = {
            byte: self.ids[name] for byte, name in enumerate(names) if name in self.ids
        }
        if self._unknown is not None and 0 < len(self.byte_ids) < 256:
            fields.unsupported(
                f"byte_fallback with {len(self.byte_ids)} of 256 bytes", "all of them"
            )
        self._merges = _merges(
            fields, self.ids
        )  # (left name, right name) -> id, in the order of ranks
        self._fuses_unknown = fields.flag("fuse_unk", False)
        self._looks_up_whole = fields.flag("ignore_merges", False)

    @property
    def keeps_words_apart(self) -> bool:
        """Whether no merge has U+2581 inside after other characters, so that a text can be split before each space. It
        can't if whole pieces are looked up: a split would make more of them."""
        if self._looks_up_whole:
            return False
        names = (left + right for left, right in self._merges)
        return METASPACE in self.ids and all(
            METASPACE not in name.lstrip(METASPACE) for name in names
        )

    def vocabulary(
        self, added: Sequence[AddedToken], pieces: Sequence[AddedToken] = ()
    ) -> Vocabulary:
        """The vocabulary with added tokens; `pieces` are those of them that are encoded as whole pieces."""
        ids = self.ids
        meant = {name: self._meant(name) for name in ids}
        for name in [
            one.text
            for one in added
            if self._is_bytewise and not one.text.isascii() and one.text in ids
        ]:
            if (byte := BYTE_OF.get(name)) is not None:
                if byte not in UNUSED_BYTES:
                    raise OptionError(
                        f"Of the added token {quoted(name)} the id {ids[name]} is that of a byte."
                    )
                meant[name] = None  # the text, as in DeepSeek's: the byte is in no text
        merges = [
            (ids[left], ids[right], token)
            for (left, right), token in self._merges.items()
            if meant[left] is not None and meant[right] is not None
        ]
        tokens = {
            token: name.encode() if (data := meant[name]) is None else data
            for name, token in ids.items()
        }
        tokens |= {token: bytes([byte]) for byte, token in self.byte_ids.items()}
        merged = set(chain.from_iterable(merges))
        specials = {token.text: token.token for token in added if token.special}
        tokens |= {
            token.token: token.text.encode()
            for token in added
            if token.token not in merged
        }
        for token in set(specials.values()) - merged:
            tokens.pop(token, None)
        looked_up = ids.items() if self._looks_up_whole else ()
        whole = {
            data: token
            for name, token in looked_up
            if (data := meant[name]) and token in tokens
        }
        whole |= {token.text.encode(): token.token for token in pieces}
        singles = {token for name, token in ids.items() if len(name) == 1} | set(
            self.byte_ids.values()
        )

        def made_by(merges: list[Triple]) -> Vocabulary:
            base, made = (
                (set(tokens) - {token for _, _, token in merges}) | singles,
                set[int](),
            )
            for (
                left,
                right,
                token,
            ) in (
                merges
            ):  # some published files have merges before those that make their parts
                base |= {left, right} - made
                made.add(token)
            in_base = {token: data for token, data in tokens.items() if token in base}
            return Vocabulary(
                in_base,
                merges,
                specials,
                symbols=self._symbols(meant),
                whole_pieces=whole,
            )

        vocabulary = made_by(merges)
        return (
            made_by(_ever_applied(vocabulary)) if vocabulary.has_repeats else vocabulary
        )

    def _meant(self, name: str) -> bytes | None:
        """The bytes that the token called `name` stands for in a piece; None if it can be in no piece."""
        if self._is_bytewise:
            return meant(name)
        if self._has_metaspace:
            return None if " " in name else name.replace(METASPACE, " ").encode()
        return name.encode()

    def _symbols(self, meant: Mapping[str, bytes | None]) -> Symbols:
        if self._is_bytewise:
            return ByteSymbols(
                {
                    data[0]: self.ids[name]
                    for name, data in meant.items()
                    if data and len(data) == 1
                }
            )
        singles = {name: token for name, token in self.ids.items() if len(name) == 1}
        if self._has_metaspace:
            singles = {
                name.replace(METASPACE, " "): token
                for name, token in singles.items()
                if name != " "
            }
        return CharacterSymbols(
            singles, self.byte_ids, self._unknown, fuse=self._fuses_unknown
        )


def _ever_applied(vocabulary: Vocabulary) -> list[Triple]:
    """The merges without those that are never applied, in files that list each way to split a token, as Llama 3's does.
    If the merges of a token stand together, and its bytes become two tokens by all merges before them, these two are
    what any text has of it then (see `bpe_core.vocabulary.merge_loop`), so no other merge of it is ever applied."""
    groups = [list(group) for _, group in groupby(vocabulary.merges, itemgetter(2))]
    if len(groups) > len({group[0][2] for group in groups}):
        return list(vocabulary.merges)
    encoder, bytes_of, applied, step = (
        vocabulary.encoding.compiled,
        vocabulary.bytes_of,
        list[Triple](),
        0,
    )
    for group in groups:
        data, parts = bytes_of[group[0][2]], tuple[int, ...]()
        with suppress(LookupError):  # a character without a token
            parts = (
                encoder.part(data, step) if encoder else vocabulary.at(step).join(data)
            )
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
                fields.fail(
                    f"merges[{index}]",
                    'two tokens were expected, as "a b" or ["a", "b"]',
                )
        if left not in ids or right not in ids or left + right not in ids:
            name = next(name for name in (left, right, left + right) if name not in ids)
            fields.fail(f"merges[{index}]", f"there is no token {quoted(name)}")
    last_ones = reversed(
        dict.fromkeys(reversed(pairs))
    )  # of equal merges the last one counts
    return {(left, right): ids[left + right] for left, right in last_ones}
