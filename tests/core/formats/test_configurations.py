"""tokenizer_config.json as the families of models write it: no field that is not used makes a folder unreadable."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_files import gpt2, huggingface, put

from bpe_core import load

NO_LIMIT = 1000000000000000019884624838656
"""What transformers writes for a text of any length: 10**30 as a float, as a whole number."""
TEMPLATE = "{% for message in messages %}{{ '<|' + message['role'] + '|>\\n' + message['content'] }}{% endfor %}"


def entry(text, special=True, **flags):
    plain = {
        "lstrip": False,
        "normalized": False,
        "rstrip": False,
        "single_word": False,
    }
    return {"content": text, **plain, "special": special, **flags}


def typed(text, **flags):
    """A special token as older versions wrote it."""
    return {"__type": "AddedToken", "normalized": True, **entry(text), **flags}


ADDED = [
    {},
    {str(n): entry(text) for n, text in enumerate(("<unk>", "<s>", "</s>"))},
    {
        "0": entry("<|endoftext|>"),
        **{
            str(50254 + n): entry(" " * (24 - n), False, normalized=True)
            for n in range(23)
        },
    },
    {str(128000 + n): entry(f"<|reserved_special_token_{n}|>") for n in range(256)},
    {"151644": entry("<|im_start|>"), "151657": entry("<tool_call>", False)},
    {"32000": entry("<|endoftext|>"), "32001": entry("<|assistant|>", rstrip=True)},
]
"""Of Llama 2, Pythia, Llama 3, Qwen 2.5 and Phi-3."""
ANYTHING = [None, 5, "\ud800", [], {}, "", True]
FIELDS = {
    "model_max_length": [1024, NO_LIMIT, float("inf")],
    "temperature": [float("nan")],
    "dropout": [0.1],
    "vocab_size": [49152],
    "init_inputs": [[]],
    "errors": ["replace"],
    "add_prefix_space": [False, None],
    "add_bos_token": [True],
    "legacy": [True],
    "clean_up_tokenization_spaces": [True],
    "trim_offsets": [True],
    "padding_side": ["left"],
    "special_tokens_map_file": [None],
    "merges_file": [None],
    "extra_special_tokens": [{}, ["<|a|>", "<|b|>"]],
    "additional_special_tokens": [["▁<PRE>", "▁<MID>"], [entry("<image>")]],
    "unk_token": ["<unk>", typed("</s>")],
    "mask_token": [typed("<mask>", lstrip=True)],
    "pad_token": [None, typed("<｜end▁of▁sentence｜>")],
    "sp_model_kwargs": [{}],
    "auto_map": [{"AutoTokenizer": ["tokenization_minicpmv.MiniCPMVTokenizer", None]}],
    "chat_template": [
        TEMPLATE,
        TEMPLATE + "\ud83d",
        [{"name": "rag", "template": TEMPLATE}],
    ],
    "backend": ["tokenizers"],
    "name_or_path": ["bigscience/tokenizer", *ANYTHING],
    "tokenizer_class": [
        "GPT2Tokenizer",
        "GPTNeoXTokenizer",
        "WhisperTokenizer",
        "PreTrainedTokenizerFast",
        *ANYTHING,
    ],
    "added_tokens_decoder": ADDED,
}
CONFIGURATIONS = st.fixed_dictionaries(
    {}, optional={key: st.sampled_from(values) for key, values in FIELDS.items()}
)


@pytest.mark.parametrize(
    "files", [{"tokenizer.json": huggingface()}, gpt2()], ids=["whole", "two files"]
)
@given(configuration=CONFIGURATIONS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_folder_with_any_of_these_fields_opens(files, configuration, tmp_path):
    put(tmp_path, files | {"tokenizer_config.json": configuration})
    tokenizer = load(tmp_path)
    assert tokenizer.encode("abc ab")[0] == 258 - ("vocab.json" in files)
    name = configuration.get("name_or_path")
    assert tokenizer.name == (
        "bigscience/tokenizer" if name == "bigscience/tokenizer" else tmp_path.name
    )
    if "vocab.json" not in files:
        for digits, token in configuration.get("added_tokens_decoder", {}).items():
            if int(digits) > 258:  # what the vocabulary has not given away
                assert tokenizer.encode(token["content"], allowed_special="all") == [
                    int(digits)
                ]


def test_a_file_with_a_name_of_its_own_is_not_called_by_its_folder(tmp_path):
    put(tmp_path, {"tokenizer.json": huggingface(), "mine.json": huggingface()})
    assert load(tmp_path / "tokenizer.json").name == tmp_path.name
    assert load(tmp_path / "mine.json").name == ""
