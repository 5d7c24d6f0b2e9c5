"""Where tests and attacks find published vocabularies, and what they print if there are none."""

import hashlib
from pathlib import Path

import pytest

from tests.attack import __main__ as attacks
from tests.attack import published

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"


def test_what_tiktoken_has_fetched_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "_TIKTOKEN_CACHE", tmp_path)
    (tmp_path / hashlib.sha1(ADDRESS.encode()).hexdigest()).write_bytes(b"YQ== 0")
    nowhere = tmp_path / "nowhere"
    assert published.content("cl100k_base.tiktoken", nowhere) == b"YQ== 0"
    assert published.content("r50k_base.tiktoken", nowhere) == b""


@pytest.mark.parametrize(
    ("missing", "last_lines"),
    [
        ("", ["No attack has found a defect."]),
        (
            "Not attacked: gpt2.",
            [
                "No attack has found a defect in what was attacked.",
                "Not attacked: gpt2.",
            ],
        ),
    ],
)
def test_the_attacks_name_the_vocabularies_that_they_lack(
    missing: str,
    last_lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(attacks, "SIZES", {})
    monkeypatch.setattr(attacks, "not_attacked", lambda: missing)
    monkeypatch.setattr("sys.argv", ["attack"])
    assert attacks.main() == 0
    assert capsys.readouterr().out.splitlines() == last_lines


def test_encodings_that_are_missing_are_named() -> None:
    assert published.not_attacked(list(published.ENCODINGS)) == ""
    named = published.not_attacked(["gpt2", "r50k_base", "cl100k_base", "o200k_base"])
    assert named.startswith("Not attacked: p50k_base. Set BPESCOPE_VOCABS")
