"""Where the tests find real vocabularies: a folder beside the checkout, or the one named by BPESCOPE_VOCABS."""

import lzma
import os
from pathlib import Path

import pytest

FOLDERS = (os.environ.get("BPESCOPE_VOCABS"), Path(__file__).parents[3] / "shared" / "vocabs")


def real_file(name, tmp_path):
    """A published tokenizer file, unpacked; skips the test where there is none."""
    for folder in filter(None, FOLDERS):
        packed = Path(folder) / f"{name}.xz"
        if packed.is_file():
            path = tmp_path / name
            path.write_bytes(lzma.decompress(packed.read_bytes()))
            return path
    pytest.skip(f"{name} is not here; BPESCOPE_VOCABS names the folder that holds {name}.xz")
