"""Give the tests real vocabularies, from where `tests.attack.published` finds them.

`tests/core/facts` has what is known of them where there are none; its `make.py` says what that is.
"""

import json
from pathlib import Path

import pytest

from bpe_core import load
from tests.attack.published import content

FACTS = Path(__file__).parent / "facts"


def real_file(name, tmp_path):
    """Return the path of a published tokenizer file, or skip the test if the file is not found."""
    data = content(name)
    if not data:
        pytest.skip(
            f"no published {name}; set BPESCOPE_VOCABS to a folder that holds {name}.xz"
        )
    path = tmp_path / name
    path.write_bytes(data)
    return path


def facts(name):
    """What tiktoken says of an encoding: the ids of some texts, digests of sample texts."""
    return json.loads((FACTS / f"{name}.json").read_text())


def real_part(name):
    """A tokenizer of a part of an encoding; it gives the texts in its `facts` the ids of the whole."""
    return load(FACTS / f"{name}.tiktoken", pattern=facts(name)["pattern"])
