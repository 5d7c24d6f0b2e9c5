"""Counting: every piece of every document, in the order of first appearance, and where it came from."""

import hashlib
import random
from collections import Counter

import pytest

from bpe_core import PATTERNS, Counts, PatternError, TextError
from bpe_core.corpus import Source, find_files
from bpe_core.patterns import splitter

pytestmark = pytest.mark.usefixtures("engine")


def files(tmp_path, contents):
    for name, content in contents.items():
        (tmp_path / name).write_bytes(
            content.encode() if isinstance(content, str) else content
        )
    return find_files(tmp_path).files


def test_pieces_are_counted_in_the_order_of_first_appearance_and_each_text_is_a_document():
    counted = Counts.of("low low lower widest low", "words")
    assert list(counted.pieces.items()) == [("low", 3), ("lower", 1), ("widest", 1)]
    assert (counted.pattern, counted.n_documents, counted.n_pieces) == ("words", 1, 5)
    assert Counts.of(["ab", "cd"], "none").pieces == {"ab": 1, "cd": 1}
    assert Counts.of((text for text in ("a b", "a")), "gpt2").pieces == {
        "a": 2,
        " b": 1,
    }


def test_sizes_and_digests_are_those_of_the_text_in_utf_8(tmp_path):
    counted = Counts.read(files(tmp_path, {"a.txt": "\ufeffKäse", "b.txt": ""}), "gpt4")
    a, b = (hashlib.sha256(text.encode()).hexdigest() for text in ("Käse", ""))
    assert counted.sources == [
        Source(f"{tmp_path.name}/a.txt", 5, 4, a),
        Source(f"{tmp_path.name}/b.txt", 0, 0, b),
    ]
    assert (counted.n_documents, counted.n_bytes, counted.n_characters) == (2, 5, 4)
    names = [
        Counts.of(["a b", "e"], "words").name_of(1),
        *map(counted.name_of, range(2)),
    ]
    assert names == ["text 2", f"{tmp_path.name}/a.txt", f"{tmp_path.name}/b.txt"]


def test_no_text_is_no_piece_and_half_a_character_is_the_replacement_character():
    counted = Counts.of("a\ud800", "none")
    assert counted.pieces == {"a\ufffd": 1} and counted.n_bytes == 4
    for nothing in ("", [], [""]):
        assert Counts.of(nothing).pieces == {}
        assert Counts.of(nothing).few_documents() == {}


@pytest.mark.parametrize("pattern", [*PATTERNS, r"(\w+)|\W", r"(?<=a)b|\w+"])
def test_reading_in_blocks_gives_what_splitting_the_whole_gives(tmp_path, pattern):
    rng = random.Random(1)
    texts = {
        f"{n}.txt": "".join(rng.choices("ab \n.1é中😀", k=n)) for n in (0, 500, 70_000)
    }
    counted = Counts.read(files(tmp_path, texts), pattern)
    expected = Counter(
        piece for text in texts.values() for piece in splitter(pattern).split(text)
    )
    assert list(counted.pieces.items()) == list(expected.items())
    assert counted.n_pieces == expected.total()
    in_memory = Counts.of(texts.values(), pattern)
    assert in_memory.pieces == counted.pieces
    assert in_memory.few_documents() == counted.few_documents()


@pytest.mark.parametrize("pattern", ["words", "gpt2"])
def test_documents_of_pieces_equal_those_found_the_slow_way(pattern):
    rng = random.Random(2)
    for _ in range(25):
        texts = [
            " ".join(rng.choices("abcdefgh", k=rng.randint(0, 6)))
            for _ in range(rng.randint(1, 8))
        ]
        counted = Counts.of(texts, pattern)
        split = splitter(pattern).split
        where = {
            piece: tuple(n for n, text in enumerate(texts) if piece in split(text))
            for piece in counted.pieces
        }
        assert counted.few_documents() == {
            piece: them for piece, them in where.items() if len(them) <= 2
        }


def test_something_that_is_no_text_is_told():
    with pytest.raises(
        TextError, match="Text 2 is of type bytes, not str; decode it first"
    ):
        Counts.of(["fine", b"not fine"])
    with pytest.raises(PatternError):
        Counts.of("text", "(")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_proves_unreadable_leaves_no_trace(tmp_path, workers):
    found = files(
        tmp_path,
        {"a.txt": "a b", "broken.txt": b"b c " * 50_000 + b"\xff", "d.txt": "b d"},
    )
    counted = Counts.read(found, "words", workers=workers)
    assert counted.pieces == {"a": 1, "b": 2, "d": 1}
    assert counted.few_documents() == {"a": (0,), "b": (0, 1), "d": (1,)}
    assert [source.name[-5:] for source in counted.sources] == ["a.txt", "d.txt"]
    assert counted.n_bytes == 6
    assert [
        (skipped.path.name, skipped.reason[:30]) for skipped in counted.skipped
    ] == [("broken.txt", "byte 0xff at offset 200,000 is")]
    with pytest.raises(
        TextError, match=r"broken\.txt cannot be read: byte 0xff at offset 200,000"
    ):
        Counts.read(find_files(tmp_path / "broken.txt").files, workers=workers)
    with pytest.raises(
        TextError,
        match=r"None of the files could be read. The first one, .*: byte 0xff",
    ):
        Counts.read([found[1]], workers=workers)


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_is_told_in_bytes_on_disk(tmp_path, workers):
    found = files(tmp_path, {"a.txt": "a " * 100_000, "b.txt": "b " * 50_000})
    told = []
    Counts.read(found, progress=lambda *now: told.append(now), workers=workers)
    done, totals, names = zip(*told, strict=True)
    assert (
        list(done) == sorted(done) and done[-1] == 300_000 and set(totals) == {300_000}
    )
    assert list(dict.fromkeys(names)) == [
        f"{tmp_path.name}/a.txt",
        f"{tmp_path.name}/b.txt",
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_one_who_shows_progress_is_not_blamed_on_the_file(
    tmp_path, workers
):
    def gone(*_):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Counts.read(
            files(tmp_path, {"a.txt": "some words\n" * 9000}),
            progress=gone,
            workers=workers,
        )
