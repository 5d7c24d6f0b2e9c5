"""`bpescope lock` and `check`: sentences, exit codes, and the tokenizers of other libraries."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from shell import Bpescope, in_a_shell

from bpe_core import load, save
from bpe_core.difference import libraries

LOCK = "lock one.json -o one.lock"


def test_a_lock_is_written_and_checked(bpescope: Bpescope) -> None:
    code, out, error = bpescope(LOCK)
    assert (code, out) == (0, "")
    assert error.startswith("Wrote 3") and error.endswith(" to one.lock.\n")
    code, out, error = bpescope("check one.lock one.json")
    assert (code, error) == (0, "")
    assert out.startswith("one.json agrees with one.lock on 3")
    assert out.endswith(" probes.\nAll digests are equal.\n")
    save(load("one.json"), "tokenizer.json", format="huggingface")
    assert bpescope("check one.lock tokenizer.json")[0] == 0


def test_a_changed_pattern_is_named_and_shown(bpescope: Bpescope) -> None:
    bpescope(LOCK)
    code, out, _ = bpescope("check one.lock one.json --pattern words")
    first, second, third, lock, now = out.splitlines()
    assert code == 1
    assert first == "one.json does not agree with one.lock."
    assert second == "The split pattern changed."
    assert third.startswith("The shortest of 3")
    assert third.endswith(" probes that shows it: text ' '")
    assert (lock, now) == ("  lock      32", "  one.json  nothing")
    code, out, _ = bpescope("check one.lock one.json --pattern words --json")
    found = json.loads(out)
    assert (code, found["verdict"]) == (1, "different")
    assert found["witness"] == {"text": " ", "a": [32], "b": []}
    (cause,) = found["causes"]
    assert cause["part"] == "split pattern"
    assert found["tried"] > 300


def test_changed_data_without_a_witness_are_undecided(bpescope: Bpescope) -> None:
    bpescope(LOCK)
    content = json.loads(Path("one.lock").read_text())
    content["parts"]["merges"] = "0"
    Path("one.lock").write_text(json.dumps(content))
    code, out, _ = bpescope("check one.lock one.json")
    assert code == 3
    first, second = out.splitlines()
    assert first.startswith("one.json may differ from one.lock: its data differ")
    assert second == "The merges changed."


def test_a_lock_does_not_overwrite_its_tokenizer(bpescope: Bpescope) -> None:
    before = Path("one.json").read_bytes()
    code, _, error = bpescope("lock one.json -o ./one.json")
    assert code == 2
    assert (
        error
        == "bpescope: ./one.json is the tokenizer; name another file for the lock.\n"
    )
    assert Path("one.json").read_bytes() == before


def test_a_lock_does_not_overwrite_the_tokenizer_in_a_folder(
    bpescope: Bpescope,
) -> None:
    file = Path("model/tokenizer.json")
    file.parent.mkdir()
    save(load("one.json"), file, format="huggingface")
    before = file.read_bytes()
    code, _, error = bpescope("lock model -o model/tokenizer.json")
    assert code == 2 and "model/tokenizer.json is the tokenizer" in error
    assert file.read_bytes() == before
    assert bpescope("lock model -o model/tokenizer.lock")[0] == 0
    assert bpescope("check model/tokenizer.lock model")[0] == 0


def test_ids_that_moved_are_proved_by_the_digest(bpescope: Bpescope) -> None:
    bpescope(LOCK)
    content = json.loads(Path("one.lock").read_text())
    content["parts"]["ids"] = "0"
    Path("one.lock").write_text(json.dumps(content))
    code, out, _ = bpescope("check one.lock one.json")
    assert code == 1
    assert "the digest proves that some id has other bytes now" in out


@pytest.mark.parametrize("library", ["tiktoken", "tokenizers", "transformers"])
def test_a_library_is_held_to_a_lock(
    library: str, bpescope: Bpescope, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_VERBOSITY"):
        monkeypatch.setenv(name, "restored after the test")
    Path("model").mkdir()
    save(load("seed.json"), "model/tokenizer.json", format="huggingface")
    bpescope("lock model -o model.lock")
    code, out, error = bpescope(f"check model.lock model --with {library}")
    assert (code, error) == (0, "")
    assert f"{library} " in out.splitlines()[2] and out.count("agrees with") == 2
    content = json.loads(Path("model.lock").read_text())
    content["probes"][0]["ids"] = [7, 8]
    Path("model.lock").write_text(json.dumps(content))
    code, out, _ = bpescope(f"check model.lock model --with {library} --json")
    found = json.loads(out)["library"]
    assert code == 1
    assert found["verdict"] == "different"
    assert found["witness"]["a"] == [7, 8] and found["witness"]["b"] == [49]


def test_transformers_never_runs_code_of_a_folder(
    bpescope: Bpescope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This library need not be installed: a stand-in refuses a folder with code, as it does."""

    def from_pretrained(path: str, *, trust_remote_code: bool | None = None, **_: bool):
        if trust_remote_code is False:
            raise ValueError("This folder contains custom code.")
        Path("ran").touch()

    transformers = ModuleType("transformers")
    transformers.AutoTokenizer = SimpleNamespace(from_pretrained=from_pretrained)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_VERBOSITY"):
        monkeypatch.setenv(name, "restored after the test")
    bpescope(LOCK)
    code, _, error = bpescope("check one.lock one.json --with transformers")
    assert code == 2
    assert error.endswith("name a folder or its tokenizer.json.\n")
    Path("one.json").rename("tokenizer.json")
    code, _, error = bpescope("check one.lock tokenizer.json --with transformers")
    assert code == 2
    assert error.startswith("bpescope: transformers can't read ")
    assert error.endswith(": This folder contains custom code.\n")
    assert not Path("ran").exists()


def test_what_a_library_adds_around_a_text_is_left_out(bpescope: Bpescope) -> None:
    pytest.importorskip("tokenizers")
    save(load("seed.json"), "tokenizer.json", format="huggingface")
    content = json.loads(Path("tokenizer.json").read_text())
    content["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<end>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"<end>": {"id": "<end>", "ids": [259], "tokens": ["<end>"]}},
    }
    Path("tokenizer.json").write_text(json.dumps(content))
    bpescope("lock tokenizer.json -o a.lock")
    code, out, _ = bpescope("check a.lock tokenizer.json --with tokenizers")
    assert code == 0
    assert "agrees with a.lock" in out


def test_a_missing_library_is_named(
    bpescope: Bpescope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(libraries, "import_module", missing)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_VERBOSITY"):
        monkeypatch.setenv(name, "restored after the test")
    bpescope(LOCK)
    for library in libraries.LIBRARIES:
        code, _, error = bpescope(f"check one.lock one.json --with {library}")
        assert code == 2
        assert error == (
            f"bpescope: --with {library} needs the library {library}. Install it with pip "
            f"install {library}.\n"
        )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("check text.txt one.json", "text.txt cannot be used: it is not a lock that"),
        ("check gone.lock one.json", "gone.lock cannot be read"),
        ("lock one.json -o gone/one.lock", "there is no folder"),
        (
            "check one.lock one.json --with tokenizers --pattern gpt2",
            "leave out --pattern",
        ),
        ("check one.lock one.json --with tokenizers", "tokenizers can't read one.json"),
    ],
)
def test_wrong_input_is_refused_in_a_sentence(
    line: str, sentence: str, bpescope: Bpescope
) -> None:
    if "--with" in line:
        pytest.importorskip("tokenizers")
    bpescope(LOCK)
    code, out, error = bpescope(line)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert sentence in error


def test_the_installed_command_knows_both(folder: Path) -> None:
    line = f"bpescope {LOCK} && bpescope check one.lock one.json"
    assert in_a_shell(line, folder).returncode == 0
