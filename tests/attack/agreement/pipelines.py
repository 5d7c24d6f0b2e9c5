"""Tokenizers as Hugging Face's library builds, trains and writes them: every way to prepare a text that is read here.

They are put together as published models are, and trained on the spot, so that nothing has to be fetched.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

_GPT4: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN: Final = _GPT4.replace("{1,3}", "")
_GPT4O: Final = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]
)
_CHINESE: Final = "[一-龥぀-ゟ゠-ヿ]+"
_SIGNS: Final = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"
    r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s+"
)
_BYTES: Final = [f"<0x{byte:02X}>" for byte in range(256)]
_SPECIAL: Final = ["<|endoftext|>", "<s>", "</s>"]
_ADDED: Final = [
    *(AddedToken(" " * n, normalized=False) for n in (2, 4, 8)),
    AddedToken("World", single_word=True),
    AddedToken("----", lstrip=True),
    AddedToken("//x", rstrip=True, normalized=False),
    AddedToken("русский", normalized=True),
    AddedToken("{}", lstrip=True, rstrip=True, special=True),
    AddedToken("[MASK]", lstrip=True, special=True),
]

Maker = Callable[[Sequence[str]], Tokenizer]
"""Texts to learn from in, a tokenizer out."""


def _byte_level(*, prefix: bool = False, split: bool = True) -> Any:
    return pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=split)


def _isolated(*patterns: str) -> Any:
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    return pre_tokenizers.Sequence([*splits, _byte_level(split=False)])


def _then_bytes(*steps: Any, split: bool = True) -> Any:
    return pre_tokenizers.Sequence([*steps, _byte_level(split=split)])


def bytewise(
    pre_tokenizer: Any,
    normalizer: Any = None,
    added: Sequence[AddedToken] = (),
    **options: Any,
) -> Maker:
    """One whose pieces are bytes in the end."""

    def make(texts: Sequence[str]) -> Tokenizer:
        made = Tokenizer(models.BPE(**options))
        made.pre_tokenizer = pre_tokenizer
        made.decoder = decoders.ByteLevel()
        if normalizer:
            made.normalizer = normalizer
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        _train(made, texts, _SPECIAL, initial_alphabet=alphabet)
        made.add_tokens(list(added))
        return made

    return make


def characterwise(
    pre_tokenizer: Any = None,
    normalizer: Any = None,
    decoder: Any = None,
    **options: Any,
) -> Maker:
    """One whose pieces are characters, and unknown ones their bytes or a token that says so."""
    options = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True} | options

    def make(texts: Sequence[str]) -> Tokenizer:
        made = Tokenizer(models.BPE(**options))
        for part, value in (
            ("pre_tokenizer", pre_tokenizer),
            ("normalizer", normalizer),
            ("decoder", decoder),
        ):
            if value:
                setattr(made, part, value)
        _train(made, texts, ["<unk>", *_SPECIAL, *_BYTES], limit_alphabet=1500)
        described = json.loads(made.to_str())
        described["added_tokens"] = [
            row for row in described["added_tokens"] if row["content"] not in _BYTES
        ]
        return Tokenizer.from_str(json.dumps(described))

    return make


def _train(
    tokenizer: Tokenizer, texts: Sequence[str], special: list[str], **options: Any
) -> None:
    trainer = trainers.BpeTrainer(
        vocab_size=6000, show_progress=False, special_tokens=special, **options
    )
    tokenizer.train_from_iterator(texts, trainer)


_LLAMA2: Final = normalizers.Sequence(
    [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
)
_LLAMA2_DECODER: Final = decoders.Sequence(
    [
        decoders.Replace("▁", " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    ]
)
_GEMMA_DECODER: Final = decoders.Sequence(
    [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
)

PIPELINES: Final[Mapping[str, Maker]] = {
    "as GPT-2": bytewise(_byte_level()),
    "as RoBERTa, a space put first": bytewise(_byte_level(prefix=True)),
    "as Llama 3, whole pieces first": bytewise(_isolated(_GPT4), ignore_merges=True),
    "as Qwen, NFC": bytewise(_isolated(_QWEN), normalizers.NFC()),
    "as GPT-4o": bytewise(_isolated(_GPT4O)),
    "as DeepSeek, four splits": bytewise(_isolated(r"\p{N}{1,3}", _CHINESE, _SIGNS)),
    "as StarCoder, digits alone": bytewise(
        _then_bytes(pre_tokenizers.Digits(individual_digits=True))
    ),
    "as Falcon, signs and digits": bytewise(
        _then_bytes(
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
        )
    ),
    "as GPT-NeoX, runs of spaces added": bytewise(
        _byte_level(), normalizers.NFC(), _ADDED[:3]
    ),
    "as Llama 2": characterwise(None, _LLAMA2, _LLAMA2_DECODER),
    "as Gemma": characterwise(
        pre_tokenizers.Split(" ", "merged_with_previous"),
        normalizers.Replace(" ", "▁"),
        _GEMMA_DECODER,
    ),
    "Metaspace, always": characterwise(
        pre_tokenizers.Metaspace(prepend_scheme="always"),
        None,
        decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]),
    ),
    "Metaspace, first": characterwise(
        pre_tokenizers.Metaspace(prepend_scheme="first"), byte_fallback=False
    ),
    "Metaspace, never, unsplit": characterwise(
        pre_tokenizers.Metaspace(prepend_scheme="never", split=False),
        byte_fallback=False,
        fuse_unk=False,
    ),
    "characters of words": characterwise(
        pre_tokenizers.Whitespace(), byte_fallback=False
    ),
    "NFD and no accents": bytewise(
        _byte_level(),
        normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
    ),
    "NFKC and lower case": bytewise(
        _byte_level(prefix=True),
        normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
    ),
    "NFKD, stripped, replaced": bytewise(
        _byte_level(),
        normalizers.Sequence(
            [
                normalizers.NFKD(),
                normalizers.Strip(),
                normalizers.Replace(Regex(r"\s+"), " "),
                normalizers.Prepend("@"),
            ]
        ),
    ),
    "tokens added": bytewise(_byte_level(), None, _ADDED),
    "tokens added and normalized": bytewise(
        _byte_level(prefix=True),
        normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
        _ADDED,
    ),
    "white space": bytewise(_then_bytes(pre_tokenizers.WhitespaceSplit(), split=False)),
    "words of \\w": bytewise(_then_bytes(pre_tokenizers.Whitespace(), split=False)),
    "as BERT splits": bytewise(
        _then_bytes(pre_tokenizers.BertPreTokenizer(), split=False)
    ),
    "between signs": bytewise(
        _then_bytes(pre_tokenizers.Punctuation("isolated"), split=False)
    ),
    "before and behind": bytewise(
        _then_bytes(
            pre_tokenizers.Split(Regex(r"\s"), "merged_with_previous"),
            pre_tokenizers.Split(Regex("[aeiou]"), "merged_with_next"),
            split=False,
        )
    ),
    "removed": bytewise(_then_bytes(pre_tokenizers.Split(Regex("[,.]|ab"), "removed"))),
    "all else removed": bytewise(
        _then_bytes(
            pre_tokenizers.Split(Regex(r"\w+|x"), "removed", invert=True), split=False
        )
    ),
    "by lines": bytewise(_isolated(r"^ +|\s+$|\w+")),
}
"""Name -> what makes it."""
