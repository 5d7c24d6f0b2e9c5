"""Tokenizers that change a text before they split it: their tokens are seen, too, and what they stand for."""

import json
from pathlib import Path

import pytest
from scope import Opened

from tui.disk import config

PIECES = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁low", "lo", "low", "▁low"]
LLAMA = {
    "added_tokens": [{"id": 0, "content": "<unk>", "special": True}],
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    },
    "pre_tokenizer": None,
    "decoder": {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
    "model": {
        "type": "BPE",
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
        "vocab": {name: token for token, name in enumerate(PIECES)},
        "merges": ["l o", "lo w", "▁ low"],
    },
}
LOW = PIECES.index("▁low")


@pytest.fixture
def llama(home: Path) -> None:
    """A tokenizer as Llama-2's is, on the shelf."""
    folder = config.tokenizers_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(LLAMA))


@pytest.mark.usefixtures("llama")
@pytest.mark.slow
async def test_the_tokens_of_llama_2_are_seen_and_followed(opened: Opened) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        area = scope.area
        area.load("low lowß")
        area.focus()
        await scope.until(lambda: area.under_cursor, "a token is under the cursor")
        assert area.live is not None
        assert area.live.ids == [LOW, LOW, 1 + 0xC3, 1 + 0x9F]
        assert scope.shown("#totals-line").startswith("4 tokens  9 bytes  2.25 bytes/token  8 characters")
        assert [(span.start, span.end) for span in area.live.spans(0, 8)] == [(0, 3), (3, 7), (7, 8)]
        await scope.press("ctrl+t")
        assert " ".join(scope.rows("#story")[0].split()) == "␣low 1 token"
        await scope.press("ctrl+b", "ctrl+end", "backspace", "w")
        assert scope.shown("#edit-line").startswith("last edit  nothing → w  +1 token  +1 byte")
        assert "c3 9f → w" in scope.shown("#baseline-line").lower().replace("\\x", "").replace("·", " ")
        await scope.press("ctrl+t", "ctrl+l")
        assert area.live.text == "low loww"
