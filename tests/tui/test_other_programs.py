"""Tokenizers that other programs left on the computer are found where those programs keep them."""

import hashlib
from pathlib import Path

import pytest

from bpe_core import hub
from tui.disk.tokenizer_files import found


def test_a_model_of_the_hub_is_listed_by_its_name(tmp_path: Path) -> None:
    snapshot = tmp_path / "hub" / "models--some--model-7b" / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    (snapshot / "vocab.json").write_text("{}")
    (snapshot / "tokenizer.json").write_text("{}")
    (tmp_path / "hub" / "models--empty--one" / "snapshots" / "1").mkdir(parents=True)
    (tmp_path / "hub" / "datasets--not--this").mkdir()
    (model,) = found((), {"HF_HOME": str(tmp_path), "TIKTOKEN_CACHE_DIR": str(tmp_path / "none")})
    assert (model.name, Path(model.path).name, model.origin) == ("some/model-7b", "tokenizer.json", "found")


def test_a_rank_file_is_known_by_its_place_and_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(hub._DIGEST_OF, "cl100k_base", hashlib.sha256(b"test").hexdigest())
    for name in ("cl100k_base", "o200k_base"):
        address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
        (tmp_path / hashlib.sha1(address.encode()).hexdigest()).write_bytes(b"test")
    listed = found((), {"HF_HOME": str(tmp_path / "none"), "TIKTOKEN_CACHE_DIR": str(tmp_path)})
    assert [tokenizer.name for tokenizer in listed] == ["cl100k_base"]


def test_without_any_cache_nothing_is_found(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert found((), {"HF_HOME": nowhere, "TIKTOKEN_CACHE_DIR": nowhere}) == ()
