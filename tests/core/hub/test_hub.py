"""Tokenizers by name: what is in a cache is found without network and library; the rest is one sentence or a file."""

import hashlib
import socket
import sys
from types import ModuleType, SimpleNamespace

import pytest
from tiktoken.model import encoding_name_for_model

from bpe_core import hub
from bpe_core.errors import FetchError
from bpe_core.formats.known_files import KNOWN_FILES
from bpe_core.hub import all_cached, encoding_of, fetch, located

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


@pytest.fixture(autouse=True)
def empty_caches(tmp_path, monkeypatch):
    """No test looks into the caches of this computer."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)


def without(monkeypatch, name):
    """Importing it fails, as where the extra is not installed."""
    monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        *(
            (name, "o200k_base")
            for name in (
                "o200k_base",
                "gpt-4o",
                "gpt-4o-mini",
                "gpt-4.1",
                "gpt-5-nano",
                "o3-mini",
            )
        ),
        *(
            (name, "cl100k_base")
            for name in ("cl100k_base", "gpt-4", "gpt-4-turbo", "gpt-3.5-turbo-16k")
        ),
        *((name, "r50k_base") for name in ("gpt2", "davinci")),
        *(
            (name, None)
            for name in (
                "gpt-oss-20b",
                "gpt-3",
                "Qwen/Qwen3-8B",
                "mine.json",
                "adapt",
                "o1000",
                "",
            )
        ),
    ],
)
def test_a_model_has_the_encoding_that_tiktoken_gives_it(name, encoding):
    assert encoding_of(name) == encoding
    if encoding and name not in (encoding, "gpt2"):
        assert encoding_name_for_model(name) == encoding


def test_what_tiktoken_has_fetched_needs_neither_network_nor_tiktoken(
    tmp_path, monkeypatch
):
    without(monkeypatch, "tiktoken.load")
    data = b"whatever was published"
    monkeypatch.setitem(hub._DIGEST_OF, "o200k_base", hashlib.sha256(data).hexdigest())
    path = tmp_path / "tiktoken" / hashlib.sha1(ADDRESS.encode()).hexdigest()
    path.parent.mkdir()
    path.write_bytes(b"something else")
    with pytest.raises(FetchError):
        fetch("gpt-4o")
    path.write_bytes(data)
    assert located("gpt-4o") == path and list(all_cached()) == [("o200k_base", path)]


def test_what_the_hub_s_library_has_fetched_needs_neither_network_nor_library(
    tmp_path, monkeypatch
):
    without(monkeypatch, "huggingface_hub")
    model = tmp_path / "hf" / "hub" / "models--some--model"
    for commit in ("aaa", "bbb"):
        (model / "snapshots" / commit).mkdir(parents=True)
        (model / "snapshots" / commit / "tokenizer.json").write_text("{}")
    assert fetch("some/model").parent.name == "aaa"
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("bbb")
    assert fetch("some/model").parent.name == "bbb"
    with pytest.raises(FetchError):
        fetch("some/other")


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("gpt-4o", "tiktoken.load", "tiktoken"),
        ("some/model", "huggingface_hub", "huggingface-hub"),
    ],
)
def test_without_the_extra_a_sentence_names_what_pip_can_install(
    monkeypatch, name, module, package
):
    without(monkeypatch, module)
    told = []
    sentence = rf'^Fetching {name} needs {package}\. Install it with pip install "bpescope\[hub\]"\.$'
    with pytest.raises(FetchError, match=sentence):
        fetch(name, lambda *what: told.append(what))
    assert not told  # nothing was on its way yet


def test_a_cache_that_is_switched_off_is_named(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(FetchError, match="TIKTOKEN_CACHE_DIR is empty"):
        fetch("gpt2")


def fake_hub(monkeypatch, folder, files, error=None, asked=None):
    """A library that has one repository, or fails."""

    class HfApi:
        def model_info(self, name, timeout):
            if error and not asked:
                raise error
            return SimpleNamespace(
                sha="0123", siblings=[SimpleNamespace(rfilename=file) for file in files]
            )

    def hf_hub_download(name, file, revision):
        assert revision == "0123"
        if error:
            raise error
        (folder / file).write_text(files[file])
        return str(folder / file)

    library = ModuleType("huggingface_hub")
    library.HfApi, library.hf_hub_download = HfApi, hf_hub_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", library)


def test_a_repository_is_fetched_with_what_lies_beside_its_tokenizer(
    tmp_path, monkeypatch
):
    fake_hub(
        monkeypatch,
        tmp_path,
        {
            "tokenizer.json": "{}",
            "tokenizer_config.json": "{}",
            "vocab.json": "{}",
            "w": "",
        },
    )
    told = []
    assert (
        fetch("some/model", lambda *what: told.append(what))
        == tmp_path / "tokenizer.json"
    )
    assert told == [(0, 2, "tokenizer_config.json"), (1, 2, "tokenizer.json")]
    fake_hub(monkeypatch, tmp_path, {"merges.txt": "", "vocab.json": "{}"})
    assert (
        fetch("some/model").name == "vocab.json" and (tmp_path / "merges.txt").exists()
    )


def test_a_repository_without_a_tokenizer_is_one_sentence(tmp_path, monkeypatch):
    fake_hub(monkeypatch, tmp_path, {"README.md": ""})
    with pytest.raises(
        FetchError, match=r"^some/model has no supported tokenizer file"
    ):
        fetch("some/model")


def named_error(name, base=Exception, status=0):
    """An error as the library has it, known by its name alone, or by what the server answered."""
    error = type(name, (base,), {})("a long story\nof several lines")
    error.response = SimpleNamespace(status_code=status) if status else None
    return error


def fake_tiktoken(monkeypatch, read_file_cached):
    library = ModuleType("tiktoken.load")
    library.read_file_cached = read_file_cached
    monkeypatch.setitem(sys.modules, "tiktoken", ModuleType("tiktoken"))
    monkeypatch.setitem(sys.modules, "tiktoken.load", library)


def test_an_encoding_is_fetched_into_the_cache_of_tiktoken(tmp_path, monkeypatch):
    asked = []

    def read_file_cached(address, digest):
        asked.append((address, digest))
        place = tmp_path / "tiktoken" / hashlib.sha1(address.encode()).hexdigest()
        place.parent.mkdir()
        place.write_bytes(b"ranks")

    fake_tiktoken(monkeypatch, read_file_cached)
    assert fetch("gpt-4o").read_bytes() == b"ranks"
    assert asked == [
        (
            ADDRESS,
            next(
                digest
                for digest, known in KNOWN_FILES.items()
                if known.name == "o200k_base"
            ),
        )
    ]


NOT_FOUND = named_error("RepositoryNotFoundError")


@pytest.mark.parametrize(
    ("name", "error", "sentence"),
    [
        (
            "some/model",
            named_error("GatedRepoError", type(NOT_FOUND)),
            "its owner restricts access",
        ),
        ("some/model", NOT_FOUND, "shows you no such repository"),
        (
            "some/model",
            named_error("HFValidationError", ValueError),
            "shows you no such repository",
        ),
        (
            "some/model",
            named_error("OfflineModeIsEnabled", ConnectionError),
            "HF_HUB_OFFLINE",
        ),
        (
            "some/model",
            named_error("HfHubHTTPError", status=503),
            "the server returned status 503",
        ),
        ("some/model", named_error("ConnectError"), "no connection"),
        ("some/model", PermissionError(13, "no", "/cache"), "/cache cannot be written"),
        ("gpt-4o", ConnectionError("a long story"), "no connection"),
        (
            "gpt-4o",
            named_error("HTTPError", OSError, status=404),
            "the server returned status 404",
        ),
        ("gpt-4o", ValueError("Hash mismatch"), "differs from the published one"),
        ("gpt-4o", PermissionError(13, "no"), "cannot be written"),
    ],
)
@pytest.mark.parametrize("asked", [False, True])
def test_whatever_goes_wrong_in_a_library_is_one_sentence(
    tmp_path, monkeypatch, name, error, sentence, asked
):
    def read_file_cached(address, digest):
        raise error

    fake_hub(monkeypatch, tmp_path, {"tokenizer.json": "{}"}, error, asked)
    fake_tiktoken(monkeypatch, read_file_cached)
    with pytest.raises(
        FetchError, match=rf"^{name} cannot be fetched: .*{sentence}.*\.$"
    ):
        fetch(name)


@pytest.mark.parametrize(
    "name", ["gpt-4o", "some/model"]
)  # of tiktoken and of huggingface_hub
def test_the_real_libraries_without_a_network(monkeypatch, name):
    """Nothing is asked of the network: the name of its server is not even looked up."""

    def nowhere(*address, **options):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    with pytest.raises(
        FetchError, match=f"^{name} cannot be fetched: there is no connection to .*\\.$"
    ):
        fetch(name)
