"""Where the tests find real vocabularies: a folder beside the checkout, or the one named by BPESCOPE_VOCABS.

`tests/core/facts` has what is known of them where there are none; its `make.py` says what that is.
"""

import json
import lzma
import os
from pathlib import Path

import pytest

from bpe_core import load

FACTS = Path(__file__).parent / "facts"

FOLDERS = (
    os.environ.get("BPESCOPE_VOCABS"),
    Path(__file__).parents[3] / "shared" / "vocabs",
)


def real_file(name, tmp_path):
    """A published tokenizer file, unpacked; skips the test where there is none."""
    for folder in filter(None, FOLDERS):
        packed = Path(folder) / f"{name}.xz"
        if packed.is_file():
            path = tmp_path / name
            path.write_bytes(lzma.decompress(packed.read_bytes()))
            return path
    pytest.skip(
        f"{name} is not here; BPESCOPE_VOCABS names the folder that holds {name}.xz"
    )


def facts(name):
    """What tiktoken says of an encoding: the ids of some texts, digests of sample texts."""
    return json.loads((FACTS / f"{name}.json").read_text())


def real_part(name):
    """A tokenizer of a part of an encoding; it gives the texts in its `facts` the ids of the whole."""
    return load(FACTS / f"{name}.tiktoken", pattern=facts(name)["pattern"])
