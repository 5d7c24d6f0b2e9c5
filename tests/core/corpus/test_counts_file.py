"""Counts as a file: what comes back is what was counted, and parts that are merged are the whole."""

import json
import random
import tempfile
from contextlib import ExitStack, closing
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import Counts, FormatError, OptionError, Trainer, load, train
from bpe_core.cli.main import main
from bpe_core.corpus import counts as counting
from bpe_core.corpus import counts_file, find_files, spill
from bpe_core.corpus.counts import KEY, LARGEST_COUNT, MOST_DOCUMENTS
from bpe_core.corpus.reading import Reading
from bpe_core.corpus.spill import Spill
from bpe_core.tokenizer.tie_rules import TIES
from bpe_core.worker.job import Job

pa = pytest.importorskip(
    "pyarrow", reason="files of counts need pyarrow, of the extra [corpora]"
)
pq = pytest.importorskip("pyarrow.parquet")
fuzz_counts = pytest.importorskip("tests.attack.fuzz_counts")
pytestmark = pytest.mark.usefixtures("engine")

TEXTS = st.lists(
    st.text("ab \n.1é中😀\0'", max_size=40) | st.text(max_size=9),
    min_size=1,
    max_size=7,
)
PATTERNS = st.sampled_from(("gpt4", "gpt4o", "words", "none", r"(?<=a)b|\w+"))
WEIGHTS = st.lists(st.fractions("1/4", 4, max_denominator=6), min_size=7, max_size=7)


def everything(counts: Counts, *without: str) -> dict[str, Any]:
    """All that is known, order included."""
    known = vars(counts) | {
        "pieces": [*counts.pieces.items()],
        "n": counts.n_pieces,
        "few": counts.few_documents(),
    }
    for name in ("splitter", "spill", "table", "_pieces", *without):
        del known[name]
    return known | {"documents": frequencies(counts)}


def frequencies(counts: Counts) -> dict[str, int]:
    """In how many documents each piece occurs."""
    n, numbers = (
        len(counts.table),
        memoryview(counts.table.columns(0, len(counts.table))[1]).cast("Q")[1:],
    )
    return dict(zip(counts.pieces, numbers[2 * n : 3 * n], strict=True))


@given(
    TEXTS,
    PATTERNS,
    st.integers(0, 7),
    st.integers(0, 7),
    WEIGHTS | st.just([Fraction(1)] * 7),
)
@settings(max_examples=90, deadline=None)
def test_parts_that_are_merged_are_the_whole(
    texts: list[str], pattern: str, one: int, two: int, weights: list[Fraction]
) -> None:
    one, two = sorted((one, two))
    cut = texts[:one], texts[one:two], texts[two:]
    weighted = [
        (Counts.of(some, pattern), n) for some, n in zip(cut, weights, strict=False)
    ]
    whole = (
        Counts.of(texts, pattern) if set(weights) == {1} else Counts.weighted(weighted)
    )
    parts = [Counts.load(Counts.weighted([part]).to_bytes()) for part in weighted]
    assert everything(Counts.load(whole.to_bytes())) == everything(whole)
    left = Counts.load(parts[0].to_bytes()).merge(parts[1]).merge(parts[2])
    right = parts[0].merge(Counts.load(parts[1].merge(parts[2]).to_bytes()))
    assert everything(left) == everything(right) and everything(
        left, "sources"
    ) == everything(whole, "sources")
    split = [[piece for piece in Counts.of(text, pattern).pieces] for text in texts]
    assert frequencies(whole) == {
        piece: sum(piece in them for them in split) for piece in whole.pieces
    }


@pytest.mark.parametrize("ties", TIES)
def test_the_merges_are_those_of_the_texts(ties: Any) -> None:
    rng = random.Random(ties)
    texts = ["".join(rng.choices("abcd é", k=300)) for _ in range(4)]
    merged = Counts.of(texts[:1]).merge(Counts.load(Counts.of(texts[1:]).to_bytes()))
    assert list(Trainer(merged, vocab_size=320, ties=ties)) == list(
        Trainer(texts, vocab_size=320, ties=ties)
    )


def test_rare_pieces_are_left_out_and_what_that_does_to_a_count_is_bounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Counts.of("aba aba aba abab ab ab bbb", "words").save(tmp_path / "c")
    few = Counts.load(tmp_path / "c", least=2)
    assert few.pieces == {"aba": 3, "ab": 2} and few.n_pieces == 7
    assert few.sample.startswith(
        "without 2 pieces that occur less than 2 times, 2 in all: "
    )
    assert few.sample.endswith("or too low, by 5 at most")
    out = tmp_path / "o.json"
    assert (
        main(
            [
                "train",
                "--counts",
                str(tmp_path / "c"),
                "-o",
                str(out),
                "--vocab-size",
                "258",
            ]
        )
        == 0
    )
    assert load(out).merges == train(Counts.load(tmp_path / "c"), vocab_size=258).merges
    assert (
        main(
            [
                "train",
                "--counts",
                str(tmp_path / "c"),
                "--pattern",
                "gpt2",
                "-o",
                str(out),
            ]
        )
        == 2
    )
    least = ["-o", str(out), "--min-piece-count", "2"]
    assert main(["train", "--counts", str(tmp_path / "c"), *least]) == 0
    assert "The counts are not complete: without 2 pieces" in capsys.readouterr().err
    (tmp_path / "a.txt").write_text("low")
    assert main(["train", str(tmp_path / "a.txt"), *least]) == 2
    assert "name one with --counts" in capsys.readouterr().err


def test_one_long_document_spills_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_SHARES", (600, 600))
    (tmp_path / "a.txt").write_text("".join(f"word{n}\n" for n in range(90_000)))
    with closing(Spill(0, tmp_path)) as where:
        counts = Counts.read(find_files(tmp_path).files, spill=where, workers=1)
        assert len(counts.table.runs) > 8
        counts.save(tmp_path / "c")
    loaded = Counts.load(tmp_path / "c")
    assert frequencies(loaded) == dict.fromkeys(loaded.pieces, 1)


def test_what_a_table_holds_comes_before_the_runs_appended_to_it(
    tmp_path: Path,
) -> None:
    with closing(Spill(1 << 30, tmp_path)) as where:
        table, appended = where.table(), where.table()
        table.append(Counts.of("low er", "words").table, 0)
        appended.append(Counts.of("new", "words").table, 0)
        appended.to_runs()
        appended.append(Counts.of("est low", "words").table, 1)
        table.append(appended, 1)
        batches = list(where.batches(table, lambda done, total: None))
    pieces = [piece for batch in batches for piece in batch["piece"].to_pylist()]
    assert pieces == [b"low", b"er", b"new", b"est"]


def test_what_is_no_whole_file_of_counts_is_refused_in_one_sentence(
    tmp_path: Path,
) -> None:
    data, place = Counts.of(["low lower", "é low"]).to_bytes(), tmp_path / "c"
    flipped = bytearray(data)
    flipped[40] ^= 1
    pq.write_table(pa.table({"piece": ["a"]}), tmp_path / "other")
    for wrong in (
        b"",
        data[:9],
        data[:-9],
        data[99:],
        flipped,
        (tmp_path / "other").read_bytes(),
    ):
        place.write_bytes(wrong)
        with pytest.raises(
            FormatError, match=r"^[^\n]*c is not a complete file of counts [^\n]*\.$"
        ):
            Counts.load(place)
    with pytest.raises(FormatError, match="no such file"):
        Counts.load(tmp_path / "none")
    with pytest.raises(OptionError, match=r"with pattern 'words', not 'gpt4'"):
        Counts.of("a").merge(Counts.of("a", "words"))

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Counts.of("a b").save(place, stop)
    assert (
        place.read_bytes() == (tmp_path / "other").read_bytes()
        and len(list(tmp_path.iterdir())) == 2
    )


@given(
    st.integers(),
    st.sampled_from(("gpt4", r"\w+|\W")),
    st.integers(1, 2),
    st.lists(WEIGHTS, max_size=1),
)
@settings(max_examples=25, deadline=None)
def test_what_spills_is_what_does_not(
    seed: int, pattern: str, workers: int, weights: list[list[Fraction]]
) -> None:
    rng = random.Random(seed)
    with (
        tempfile.TemporaryDirectory() as name,
        pytest.MonkeyPatch.context() as patch,
        ExitStack() as small,
    ):
        patch.setattr(spill, "ROWS", rng.choice((3, 100)))
        patch.setattr(spill, "PARTS", 2)
        patch.setattr(counting, "_SHARES", (60, 60))
        folder = Path(name, "texts")
        folder.mkdir()
        for number in range(rng.randrange(1, 8)):
            alphabet, n = (
                rng.choice(("ab \n", "aé中😀 .\n", "abcdefgh ")),
                rng.choice((1, 9, 200, 500)),
            )
            text = "".join(rng.choices(alphabet, k=n))
            broken = b"a" * 9000 + b" \xff" if rng.random() < 0.2 else b""
            (folder / f"{number}.txt").write_bytes(text.encode() + broken)
        (folder / "z.txt").write_text("the end")
        files = find_files(folder).files
        where, again = (
            small.enter_context(closing(Spill(rng.choice((0, 1 << 17)), name)))
            for _ in range(2)
        )

        def count(to: Spill | None) -> Counts:
            if not weights:
                return Counts.read(files, pattern, workers=workers, spill=to)
            parts = zip(files, weights[0], strict=False)
            return Counts.weighted(
                [
                    (Counts.read([file], pattern, spill=to), weight)
                    for file, weight in parts
                ]
            )

        try:
            expected = count(None)
        except ValueError:  # a file that had to be readable
            return
        count(where).save(Path(name, "spilled"))
        assert everything(Counts.load(Path(name, "spilled"))) == everything(expected)
        both = [Counts.load(Path(name, "spilled"), again) for _ in range(2)]
        both[0].merge(both[1]).save(Path(name, "merged"))
        assert everything(Counts.load(Path(name, "merged"))) == everything(
            expected.merge(count(None))
        )
        assert sorted(place.name for place in Path(name).iterdir()) == [
            "merged",
            "spilled",
            "texts",
        ]


@pytest.mark.parametrize("number", [0, 1])
def test_a_file_with_a_flipped_bit_loads_as_it_was_or_is_refused(number: int) -> None:
    n_bits = 8 * len(fuzz_counts.sound_files()[number])
    bits = random.Random(number).sample(range(n_bits), 400)
    outcomes = {bit: fuzz_counts.outcome_of_flip(number, bit) for bit in bits}
    assert set(outcomes.values()) == {"refused", "equal"}, outcomes


def test_a_file_with_a_wrong_value_and_the_right_digest_adds_up_or_is_refused() -> None:
    outcomes = {
        number: fuzz_counts.outcome_of_forgery(
            fuzz_counts.forged(random.Random(number))
        )
        for number in range(300)
    }
    assert set(outcomes.values()) == {"refused", "sound"}, outcomes


class Written:
    """A file of the pieces "a" and "b" in one text of four bytes, with some values changed."""

    def __init__(self) -> None:
        counts = Counts.of(["aaab"], r"\w")
        data = BytesIO(counts.to_bytes())
        with pq.ParquetFile(data) as file:
            self.about = json.loads(file.metadata.metadata[KEY])
            self.rows = file.read().to_pydict()

    def save(self, path: Path) -> None:
        with open(path, "wb") as file:
            batch = pa.RecordBatch.from_pydict(self.rows, counts_file.SCHEMA)
            counts_file.write_rows(self.about, [batch], file)


ABOUT = [
    ("scale", 0, "its scale is not a whole number from 1 to 1,000,000"),
    ("scale", 10**9, "its scale is not a whole number from 1 to 1,000,000"),
    ("scale", True, "its scale is not a whole number"),
    ("n_pieces", -1, "its n_pieces is not a whole number from 0 to"),
    ("n_pieces", 2**64, "its n_pieces is not a whole number from 0 to"),
    ("n_pieces", 3, "its counts do not add up to its n_pieces"),
    ("n_pieces", 5, "its counts do not add up to its n_pieces"),
    ("n_documents", 2, "its texts do not add up to its documents"),
    ("n_documents", 2**31, "its n_documents is not a whole number from 0 to"),
    ("version", 1, "it is of version 1, not 2"),
    ("pattern", None, "its pattern is not a text"),
    ("scale", 2, "its counts do not add up to its n_pieces"),
]
SOURCE = [
    ("bytes", 3, "its pieces are longer than its texts"),
    ("bytes", 2**63 - 1, ""),
    ("bytes", 2**63, "its bytes is not a whole number from 0 to"),
    ("weight", "0", "its weight of a text is not a number above 0"),
    ("weight", "-1", "its weight of a text is not a number above 0"),
    ("weight", "1/0", "its weight of a text is not a number above 0"),
    ("sha256", None, "its sha256 is not a text"),
    ("documents", -1, "its documents is not a whole number from 0 to"),
]
ROWS = [
    ("count", -3, "a count is below 1"),
    ("count", 0, "a count is below 1"),
    ("count", 2, "its counts do not add up to its n_pieces"),
    ("count", 4, "its pieces are longer than its texts"),
    ("count", 2**63 - 1, "its pieces are longer than its texts"),
    ("documents", 0, "a piece is in a document that does not exist"),
    ("documents", 2, "a piece is in a document that does not exist"),
    ("first_document", -1, "a piece is in a document that does not exist"),
    ("first_document", 1, "a piece is in a document that does not exist"),
    ("last_document", 1, "a piece is in a document that does not exist"),
    ("piece", b"", "a piece is empty"),
    ("piece", b"b", "it contains a piece twice"),
    ("piece", b"\xff", "UTF"),
]


@pytest.mark.parametrize(
    ("place", "name", "value", "reason"),
    [("about", *one) for one in ABOUT]
    + [("source", *one) for one in SOURCE]
    + [("rows", *one) for one in ROWS],
)
def test_a_value_out_of_range_is_named(
    place: str, name: str, value: Any, reason: str, tmp_path: Path
) -> None:
    written = Written()
    if place == "about":
        written.about[name] = value
    elif place == "source":
        written.about["sources"][0][name] = value
    else:
        written.rows[name][0] = value
    written.save(tmp_path / "c")
    if not reason:
        Counts.load(tmp_path / "c")
        return
    with pytest.raises(FormatError) as refused:
        Counts.load(tmp_path / "c")
    assert str(refused.value).startswith(f"{tmp_path / 'c'} is not a complete file of")
    assert reason in str(refused.value)
    assert str(refused.value).endswith("; count the texts again.")


def test_counts_that_are_too_large_together_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = Written()
    written.rows["count"][0] = 2**62
    written.about["n_pieces"] = 2**62 + 1
    written.about["sources"][0]["bytes"] = 2**62 + 1
    for name in "ab":
        written.save(tmp_path / name)
    paths = [str(tmp_path / name) for name in "ab"]
    assert main(["counts", "merge", *paths, "-o", str(tmp_path / "c")]) == 2
    assert (
        f"{paths[1]} cannot be merged: The counts could get as large as "
        "9,223,372,036,854,775,810, which is above 2^63; merge fewer of them"
    ) in capsys.readouterr().err
    assert not (tmp_path / "c").exists()
    assert main(["counts", "merge", paths[0], "-o", str(tmp_path / "c")]) == 0
    one = Counts.load(tmp_path / "c")
    assert one.pieces == {"a": 2**62, "b": 1}
    with pytest.raises(OptionError, match=r"above 2\^63; .* smaller weights"):
        Counts.weighted([(one, Fraction(2))])
    with pytest.raises(OptionError, match=r"above 2\^63; .* smaller weights"):
        one.merge(Counts.of("a", r"\w"), Fraction(1, 2))
    assert one.pieces == {"a": 2**62, "b": 1} and one.scale == 1
    assert one.weighted_bytes <= LARGEST_COUNT


def test_the_progress_of_a_merge_ends_at_the_number_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(tmp_path / name) for name in "abc"]
    for path in paths:
        Counts.of(path, "words").save(path)
    progress: list[tuple[int, int, str]] = []

    def note(_: Job, phase: str, done: int, total: int, name: str = "") -> None:
        progress.append((done, total, name))

    monkeypatch.setattr(Job, "progress", note)
    assert main(["counts", "merge", *paths, "-o", str(tmp_path / "all")]) == 0
    assert progress[:2] == [
        (1, 2, f"merging {paths[1]}"),
        (2, 2, f"merging {paths[2]}"),
    ]


def test_counting_takes_half_of_the_memory_by_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1 << 20}
    monkeypatch.setattr(spill.os, "sysconf", sizes.__getitem__)
    assert spill.parsed_memory("") == 2 << 30


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("400000000", 4 * 10**8),
        ("500M", 5 * 10**8),
        ("1.5 gb", 15 * 10**8),
        ("2GiB", 2 << 30),
        ("400000ki", 400_000 * 1024),
    ],
)
def test_a_size_of_memory_has_decimal_or_binary_units(text: str, n_bytes: int) -> None:
    assert spill.parsed_memory(text) == n_bytes


def test_more_documents_than_counts_can_number_are_refused(tmp_path: Path) -> None:
    written = Written()
    written.about["n_documents"] = MOST_DOCUMENTS
    written.about["sources"][0]["documents"] = MOST_DOCUMENTS
    written.save(tmp_path / "c")
    most = Counts.load(tmp_path / "c")
    (tmp_path / "a.txt").write_text("a")
    files = find_files(tmp_path / "a.txt").files
    for add in (
        lambda: most.merge(Counts.of("a", r"\w")),
        lambda: most.add(files, Reading(files, None)),
    ):
        with pytest.raises(OptionError, match="2,147,483,648 documents"):
            add()
        assert most.n_documents == MOST_DOCUMENTS and most.n_pieces == 4


def test_counts_without_rare_pieces_are_saved_and_merged(tmp_path: Path) -> None:
    Counts.of("aba aba bbb", "words").save(tmp_path / "c")
    few = Counts.load(tmp_path / "c", least=2)
    again = Counts.load(few.to_bytes())
    assert everything(again) == everything(few) and again.lacks_rare
    both = Counts.load(Counts.of("aba", "words").merge(again).to_bytes())
    assert both.pieces == {"aba": 3} and both.n_pieces == 4 and both.lacks_rare


def test_rows_that_are_not_those_of_the_digest_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(counts_file._Digest, "add", lambda digest, batch: None)
        Counts.of("a b").save(tmp_path / "c")
    with pytest.raises(FormatError, match="it is damaged: its digest does not"):
        Counts.load(tmp_path / "c")
