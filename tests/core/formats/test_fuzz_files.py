"""Broken files by the hundred, as `python -m tests.attack.fuzz_files` makes them by the ten thousand."""

from collections import Counter

import pytest

from bpe_core import Tokenizer, load, save
from bpe_core.formats import FORMATS, ranks
from bpe_core.vocabulary import Vocabulary
from tests.attack.fuzz_files.__main__ import judged
from tests.attack.fuzz_files.sound import KINDS, sound_files
from tests.attack.fuzz_files.verdict import Unsound, verdict


def put(folder, files):
    for name, data in files.items():
        (folder / name).write_bytes(data)


def test_every_format_is_fuzzed():
    assert {*FORMATS} <= {*KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_files_to_begin_with_are_sound(kind, tmp_path):
    for sound in sound_files(kind):
        folder = tmp_path / sound.shape.replace("\\", "")
        folder.mkdir()
        put(folder, sound.files)
        assert verdict(folder / sound.mutated[0], sound.pattern, most=20) == "sound", (
            sound.shape
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_file_is_refused_in_a_sentence_or_makes_a_sound_tokenizer(kind):
    outcomes = Counter()
    for number in range(1, 15):
        try:
            outcomes[judged(kind, 0, number)] += 1
        except Exception as error:
            error.add_note(
                f"python -m tests.attack.fuzz_files --format {kind} --number {number}"
            )
            raise
    assert outcomes.keys() == {"refused", "sound"}


def test_what_is_unsound_is_found_out(monkeypatch, tmp_path):
    base = {byte: bytes([byte]) for byte in range(256)}
    save(
        Tokenizer(Vocabulary(base, [(97, 97, 257), (97, 98, 256)]), "none"),
        tmp_path / "a.json",
    )
    assert load(tmp_path / "a.json").encode("aab") == [257, 98]
    assert verdict(tmp_path / "a.json", None) == "sound"
    with monkeypatch.context() as careless:
        careless.setattr(ranks, "_check_equivalence", lambda *_: None)
        with pytest.raises(
            Unsound, match="what was written as tiktoken gives other ids"
        ):
            verdict(tmp_path / "a.json", None)
