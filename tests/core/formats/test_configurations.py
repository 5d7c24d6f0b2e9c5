"""tokenizer_config.json as the families of models write it: no field that is not used makes a folder unreadable."""

import json

import pytest

from bpe_core import FormatError, load
from bpe_core.vocabulary.byte_alphabet import BYTE_OF

NO_LIMIT = 1000000000000000019884624838656
"""What transformers writes for a text of any length: 10**30 as a float, as a whole number."""
TEMPLATE = "{% for message in messages %}{{ '<|' + message['role'] + '|>\\n' + message['content'] }}{% endfor %}"


def entry(text, special=True, **flags):
    plain = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    return {"content": text, **plain, "special": special, **flags}


def typed(text, **flags):
    """A special token as older versions wrote it."""
    return {"__type": "AddedToken", "normalized": True, **entry(text), **flags}


CONFIGURATIONS = {
    "GPT-2": {"model_max_length": 1024},
    "DialoGPT": {"errors": "replace", "unk_token": "<|endoftext|>", "tokenizer_class": "GPT2Tokenizer"},
    "OPT": {
        "errors": "replace",
        "unk_token": typed("</s>"),
        "add_prefix_space": False,
        "add_bos_token": True,
        "special_tokens_map_file": None,
        "name_or_path": "patrickvonplaten/opt-30b",
        "tokenizer_class": "GPT2Tokenizer",
    },
    "Pythia": {
        "add_prefix_space": False,
        "added_tokens_decoder": {
            "0": entry("<|endoftext|>"),
            "1": entry("<|padding|>"),
            **{str(50254 + n): entry(" " * (24 - n), special=False, normalized=True) for n in range(23)},
        },
        "clean_up_tokenization_spaces": False,
        "extra_special_tokens": {},
        "model_max_length": NO_LIMIT,
        "tokenizer_class": "GPTNeoXTokenizer",
    },
    "Falcon": {
        "add_prefix_space": False,
        "eos_token": "<|endoftext|>",
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": 2048,
        "special_tokens_map_file": None,
        "tokenizer_class": "PreTrainedTokenizerFast",
    },
    "StarCoder 2": {
        "add_prefix_space": False,
        "added_tokens_decoder": {str(n): entry(f"<fim_{n}>") for n in range(18)},
        "additional_special_tokens": [f"<fim_{n}>" for n in range(18)],
        "model_max_length": NO_LIMIT,
        "tokenizer_class": "GPT2Tokenizer",
        "vocab_size": 49152,
    },
    "RoBERTa": {"model_max_length": 512, "trim_offsets": True, "mask_token": typed("<mask>", lstrip=True)},
    "BART": {"model_max_length": 1024, "cls_token": "<s>", "sep_token": "</s>", "tokenizer_class": "BartTokenizer"},
    "Whisper": {
        "add_bos_token": False,
        "add_prefix_space": False,
        "bos_token": typed("<|endoftext|>"),
        "dropout": 0.1,
        "errors": "replace",
        "pad_token": None,
        "processor_class": "WhisperProcessor",
        "return_attention_mask": False,
        "tokenizer_class": "WhisperTokenizer",
    },
    "Phi-2": {
        "add_prefix_space": False,
        "added_tokens_decoder": {str(50257 + n): entry(" " * (31 - n), special=False) for n in range(30)},
        "return_token_type_ids": False,
        "tokenizer_class": "CodeGenTokenizer",
    },
    "BLOOM": {
        "unk_token": "<unk>",
        "merges_file": None,
        "padding_side": "left",
        "name_or_path": "bigscience/tokenizer",
        "tokenizer_class": "BloomTokenizerFast",
    },
    "Llama 2": {
        "add_bos_token": True,
        "added_tokens_decoder": {str(n): entry(text) for n, text in enumerate(("<unk>", "<s>", "</s>"))},
        "legacy": False,
        "model_max_length": NO_LIMIT,
        "pad_token": None,
        "sp_model_kwargs": {},
        "tokenizer_class": "LlamaTokenizer",
    },
    "Llama 3": {
        "added_tokens_decoder": {str(128000 + n): entry(f"<|reserved_special_token_{n}|>") for n in range(256)},
        "bos_token": "<|begin_of_text|>",
        "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": True,
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": 131072,
        "tokenizer_class": "PreTrainedTokenizerFast",
    },
    "Code Llama": {
        "add_prefix_space": None,
        "additional_special_tokens": ["▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>"],
        "model_max_length": NO_LIMIT,
        "spaces_between_special_tokens": False,
        "suffix_first": False,
        "use_default_system_prompt": False,
    },
    "Mistral": {
        "add_prefix_space": None,
        "added_tokens_decoder": {str(n): entry(f"[control_{n}]") for n in range(3, 770)},
        "chat_template": [{"name": "default", "template": TEMPLATE}, {"name": "tool_use", "template": TEMPLATE}],
        "model_max_length": NO_LIMIT,
        "tokenizer_class": "LlamaTokenizer",
    },
    "Qwen 2.5": {
        "add_prefix_space": False,
        "added_tokens_decoder": {
            "151643": entry("<|endoftext|>"),
            "151644": entry("<|im_start|>"),
            "151657": entry("<tool_call>", special=False),
        },
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>", "<|vision_start|>"],
        "bos_token": None,
        "errors": "replace",
        "model_max_length": 131072,
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
    },
    "DeepSeek R1": {
        "bos_token": typed("<｜begin▁of▁sentence｜>"),
        "pad_token": typed("<｜end▁of▁sentence｜>"),
        "legacy": True,
        "model_max_length": 16384,
        "sp_model_kwargs": {},
        "tokenizer_class": "LlamaTokenizerFast",
        "chat_template": TEMPLATE + "\ud83d",
    },
    "Gemma 2": {
        "added_tokens_decoder": {str(n): entry(f"<unused{n}>", special=False) for n in range(7, 106)},
        "model_max_length": NO_LIMIT,
        "sp_model_kwargs": {},
        "tokenizer_class": "GemmaTokenizer",
    },
    "Phi-3": {
        "added_tokens_decoder": {"32000": entry("<|endoftext|>"), "32001": entry("<|assistant|>", rstrip=True)},
        "legacy": False,
        "padding_side": "left",
        "tokenizer_class": "LlamaTokenizer",
    },
    "SmolLM 2": {
        "add_prefix_space": False,
        "added_tokens_decoder": {str(n): entry(f"<repo_{n}>") for n in range(17)},
        "model_max_length": 8192,
        "tokenizer_class": "GPT2Tokenizer",
        "vocab_size": 49152,
    },
    "Command R": {
        "add_prefix_space": False,
        "chat_template": [{"name": "rag", "template": TEMPLATE}],
        "legacy": True,
        "merges_file": None,
        "vocab_file": None,
        "model_max_length": NO_LIMIT,
        "tokenizer_class": "CohereTokenizerFast",
    },
    "GPT-OSS": {
        "added_tokens_decoder": {"199998": entry("<|startoftext|>"), "200002": entry("<|return|>")},
        "extra_special_tokens": {},
        "model_max_length": NO_LIMIT,
        "tokenizer_class": "PreTrainedTokenizerFast",
    },
    "MiniCPM": {
        "additional_special_tokens": [entry("<image>"), entry("</image>")],
        "auto_map": {"AutoTokenizer": ["tokenization_minicpmv.MiniCPMVTokenizer", None]},
        "tokenizer_class": "MiniCPMVTokenizer",
        "truncation_side": "right",
    },
    "written by transformers 5": {
        "backend": "tokenizers",
        "extra_special_tokens": ["<|a|>", "<|b|>"],
        "is_local": True,
        "model_max_length": NO_LIMIT,
        "tokenizer_class": "TokenizersBackend",
    },
    "written by Python": {"model_max_length": float("inf"), "temperature": float("nan"), "init_inputs": []},
}


def pipeline():
    names = [*sorted(BYTE_OF, key=ord), "ab"]
    return {
        "added_tokens": [],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "model": {"type": "BPE", "vocab": {name: token for token, name in enumerate(names)}, "merges": ["a b"]},
    }


def two_files(folder):
    whole = pipeline()
    (folder / "vocab.json").write_text(json.dumps(whole["model"]["vocab"]), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\na b\n", encoding="utf-8")


def configured(folder, configuration):
    (folder / "tokenizer_config.json").write_text(json.dumps(configuration), encoding="utf-8")


@pytest.mark.parametrize("family", CONFIGURATIONS)
def test_a_folder_with_such_a_configuration_opens(family, tmp_path):
    configuration = CONFIGURATIONS[family]
    configured(tmp_path, configuration)
    (tmp_path / "tokenizer.json").write_text(json.dumps(pipeline()), encoding="utf-8")
    tokenizer = load(tmp_path)
    assert tokenizer.encode("abc ab")[0] == 256
    added = configuration.get("added_tokens_decoder", {})
    for digits, token in added.items():  # what the vocabulary has not given away
        if int(digits) > 256:
            assert tokenizer.encode(token["content"], allowed_special="all") == [int(digits)]
    assert tokenizer.name == configuration.get("name_or_path", tmp_path.name)


@pytest.mark.parametrize("family", CONFIGURATIONS)
def test_the_two_files_open_beside_it_too(family, tmp_path):
    configured(tmp_path, CONFIGURATIONS[family])
    two_files(tmp_path)
    tokenizer = load(tmp_path)
    assert tokenizer.encode("abc ab")[0] == 256
    assert tokenizer.pattern == ("qwen2" if family == "Qwen 2.5" else tokenizer.pattern)


def test_twenty_families():
    assert len(CONFIGURATIONS) >= 20


@pytest.mark.parametrize("value", [None, 5, "\ud800", [], {}, ""])
@pytest.mark.parametrize("key", ["name_or_path", "tokenizer_class", "add_prefix_space", "model_max_length"])
def test_a_field_of_any_kind(key, value, tmp_path):
    configured(tmp_path, {key: value})
    two_files(tmp_path)
    assert load(tmp_path).encode("ab") == [256]
    assert load(tmp_path).name == tmp_path.name


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda whole: whole.update(added_tokens=[{"id": [], "content": {}}]), "in added_tokens.0..content, a text"),
        (
            lambda whole: whole.update(added_tokens=[{"id": {}, "content": "<x>"}]),
            "in added_tokens.0..id, a whole number",
        ),
        (lambda whole: whole["model"]["vocab"].update(x=[]), "the id of 'x' is not a whole number"),
        (lambda whole: whole["model"].update(vocab=[["a", 0.5]], type="Unigram"), "the model Unigram is not supported"),
    ],
)
def test_what_is_broken_in_the_file_beside_it_is_said_of_that(change, problem, tmp_path):
    whole = pipeline()
    change(whole)
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole), encoding="utf-8")
    configured(tmp_path, {"added_tokens_decoder": {"900": entry("<q>")}})
    with pytest.raises(FormatError, match=problem) as raised:
        load(tmp_path)
    assert "tokenizer.json" in str(raised.value)


def test_only_what_is_no_object_is_refused(tmp_path):
    two_files(tmp_path)
    for content in ("[", "[]", "[" * 100_000, '"\xff'):
        (tmp_path / "tokenizer_config.json").write_text(content, encoding="latin-1")
        with pytest.raises(FormatError, match=r"tokenizer_config\.json is broken"):
            load(tmp_path)
