"""Typing a well-known word under a well-known vocabulary: its tokens and what changed, key by key."""

from pathlib import Path

from real import real_file

from bpe_core import LiveText, load
from bpe_core.explain.pitfalls import Pitfalls
from bpe_core.explain.unstable import unstable

KEYS = (
    (".", "", ".", 0),
    ("D", ".", ".D", 0),
    ("e", ".D", ".De", 0),
    ("f", ".De", ".Def", 0),
    ("a", "", "a", 0),
    ("u", "a", "au", 0),
    ("l", "au", "aul", 0),
    ("t", ".Def|aul", ".Default", 3),
    ("C", "", "C", 0),
    ("e", "C", "Ce", 0),
    ("l", "Ce", "Cel", 0),
    ("l", "Cel", "Cell", 0),
    ("S", "", "S", 0),
    ("t", "S", "St", 0),
    ("y", "", "y", 0),
    ("l", "y", "yl", 0),
    ("e", ".Default|Cell|St|yl", ".DefaultCellStyle", 8),
)
"""Key, tokens that go, tokens that come, and how far from the key the farthest border moved."""


def test_default_cell_style(tmp_path: Path) -> None:
    tokenizer = load(real_file("cl100k_base.tiktoken", tmp_path))

    def words(ids: tuple[int, ...]) -> str:
        return "|".join(tokenizer.decode([token]) for token in ids)

    live = LiveText(tokenizer)
    for key, gone, come, ripple in KEYS:
        change = live.splice(live.n_characters, live.n_characters, key)
        assert (words(change.removed), words(change.inserted), change.ripple) == (gone, come, ripple)
        assert live.ids == tokenizer.encode_ordinary(live.text)
        if live.text == ".DefaultCellSty":
            assert words(tuple(live.ids)) == ".Default|Cell|St|y"
            end = unstable(live)
            assert end is not None and next(end.completions()).ids == (98518,)
            [pitfall] = Pitfalls(live).at_end(end)
            assert pitfall.reason == "The end is 4 tokens; .DefaultCellStyle would be 1."
    assert live.ids == [98518]
