"""What published rank files do not contain themselves: their split patterns, special tokens and normalization.

A file is identified by the SHA-256 of its content. Patterns and ids are those of the publishers' own code: tiktoken
0.14 (`tiktoken_ext/openai_public.py`), openai-whisper 20250625 (`whisper/tokenizer.py`), llama-models 0.3.0
(`tokenizer.py` of llama3 and llama4) and dashscope 2.0 (`qwen_tokenizer.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

_END: Final = "<|endoftext|>"
_LANGUAGES: Final = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml "
    "cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am "
    "yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su"
)
"""Of Whisper, in the order of their ids; large-v3 has one more behind them, which moves the later ids by one."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    name: str  # of its encoding
    pattern: str  # a name in `PATTERNS`
    special_tokens: Mapping[str, int]
    normalization: Literal["NFC"] | None = None  # that a text is put into before it is split


def _numbered(first: int, *names: str) -> dict[str, int]:
    """Text -> id, ascending from `first`, of special tokens whose names are separated by spaces."""
    return {f"<|{name}|>": token for token, name in enumerate(" ".join(names).split(), first)}


def _reserved(of: str, first: int, end: int) -> str:
    """The names that Meta gives to the special tokens without a task."""
    return " ".join(f"{of}reserved_special_token_{number}" for number in range(first, end))


_WHISPER: Final = _numbered(
    50257,
    f"endoftext startoftranscript {_LANGUAGES}",
    "translate transcribe startoflm startofprev nospeech notimestamps",
    " ".join(f"{number * 0.02:.2f}" for number in range(1501)),
)
_LLAMA_3: Final = _numbered(
    128000,
    "begin_of_text end_of_text reserved_special_token_0 reserved_special_token_1",
    "finetune_right_pad_id step_id start_header_id end_header_id eom_id eot_id python_tag image",
    _reserved("", 2, 246),
)
_LLAMA_4: Final = _numbered(
    200000,
    "begin_of_text end_of_text fim_prefix fim_middle fim_suffix header_start header_end eom eot step",
    _reserved("text_post_train_", 0, 6),
    "python_start python_end finetune_right_pad",
    _reserved("text_post_train_", 8, 69),
    "image_start image_end",
    _reserved("vision_", 0, 2),
    "tile_x_separator tile_y_separator",
    _reserved("vision_", 2, 6),
    "image",
    _reserved("vision_", 6, 7),
    "patch",
    _reserved("vision_", 7, 1048),
    _reserved("reasoning_", 0, 8),
    "reasoning_thinking_start reasoning_thinking_end",
    _reserved("", 0, 2048 - 1144),  # 2,048 in all
)
_QWEN: Final = _numbered(151643, "endoftext im_start im_end", " ".join(f"extra_{number}" for number in range(205)))
_GPT_4: Final = _numbered(100257, "endoftext fim_prefix fim_middle fim_suffix") | {"<|endofprompt|>": 100276}
_GPT_4O: Final = {_END: 199999, "<|endofprompt|>": 200018}

KNOWN_FILES: Final[Mapping[str, KnownFile]] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": KnownFile("r50k_base", "gpt2", {_END: 50256}),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": KnownFile("p50k_base", "gpt2", {_END: 50256}),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": KnownFile("cl100k_base", "gpt4", _GPT_4),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": KnownFile("o200k_base", "gpt4o", _GPT_4O),
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": KnownFile("whisper", "gpt2", _WHISPER),
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": KnownFile("llama3", "llama3", _LLAMA_3),
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": KnownFile("llama4", "gpt4o", _LLAMA_4),
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": KnownFile("qwen", "qwen2", _QWEN, "NFC"),
}
"""SHA-256 of the content, in hexadecimal digits -> the file.

One file may serve several encodings: GPT-2's is the English one of Whisper too, o200k_base that of gpt-oss, which
adds special tokens; Llama 3's is that of 3.1, 3.2 and 3.3, whose names of special tokens are given.
"""
