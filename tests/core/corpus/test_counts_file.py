"""Counts as a file: what comes back is what was counted, and parts that are merged are the whole."""

import random
import tempfile
from contextlib import ExitStack, closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import Counts, FormatError, OptionError, Trainer, load, train
from bpe_core.cli.main import main
from bpe_core.corpus import counts as counting
from bpe_core.corpus import find_files, spill
from bpe_core.corpus.spill import Spill
from bpe_core.tokenizer.tie_rules import TIES

pa = pytest.importorskip(
    "pyarrow", reason="files of counts need pyarrow, of the extra [corpora]"
)
pq = pytest.importorskip("pyarrow.parquet")
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
    for name in ("splitter", "spill", "table", "_known", *without):
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
    assert "The counts are not of all: without 2 pieces" in capsys.readouterr().err
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
            FormatError, match=r"^[^\n]*c is not a whole file of counts [^\n]*\.$"
        ):
            Counts.load(place)
    with pytest.raises(FormatError, match="no such file"):
        Counts.load(tmp_path / "none")
    with pytest.raises(OptionError, match="cannot be merged"):
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
