"""Weights and samples: a text that weighs three is a text that is there three times; a sample is part of a corpus."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

from bpe_core import OptionError, Trainer, load
from bpe_core.auditing.usage import Usage
from bpe_core.cli.main import main
from bpe_core.corpus import Counts, find_files
from bpe_core.corpus.sampling import STRETCH, Sample, files_by_weight, parsed_weights
from bpe_core.patterns import splitter
from bpe_core.tokenizer.tie_rules import TIES

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three texts in two folders."""
    r = random.Random(2)
    for name in ("a/one.txt", "a/two.txt", "b.txt"):
        place = tmp_path / "texts" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            " ".join("".join(r.choices("abcde", k=r.randint(1, 6))) for _ in range(80))
        )
    return tmp_path / "texts"


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("weight", "times", "scale"), [("2.5", 5, 2), ("1/3", 1, 3)])
def test_a_text_of_weight_three_is_a_text_that_is_there_three_times(
    ties: str, weight: str, times: int, scale: int, folder: Path, tmp_path: Path
) -> None:
    """The slow way: 2.5 beside 1 is five times beside twice, the texts in their order, and each count is a half."""
    out = tmp_path / "out.json"
    paths = [str(folder / "a"), str(folder / "b.txt")]
    command = [
        "train",
        *paths,
        "-o",
        str(out),
        "--vocab-size",
        "300",
        "--ties",
        ties,
        "--min-count",
        "7",
    ]
    assert main([*command, "--weight", f"{paths[0]}={weight}"]) == 0
    one, two, b = (
        (folder / name).read_text() for name in ("a/one.txt", "a/two.txt", "b.txt")
    )
    texts = [one, two, b] + [one, two] * (times - 1) + [b] * (scale - 1)
    trainer = Trainer(texts, vocab_size=300, ties=ties, min_count=7 * scale)
    expected = [
        (
            m.left,
            m.right,
            m.token,
            Fraction(m.count, scale),
            m.ties,
            Fraction(m.n_tokens, scale),
        )
        for m in trainer
    ]
    learned = load(out)
    assert (record := learned.record)
    assert [
        (*merge, *step)
        for merge, step in zip(learned.merges, record.steps, strict=True)
    ] == expected
    assert [source.weight for source in record.sources] == [Fraction(weight)] * 2 + [1]
    assert (record.n_bytes, record.weights) == (
        Fraction(sum(map(len, texts)), scale),
        f"a={weight}",
    )
    assert [Fraction(n, scale) for n in trainer.record.first_counts] == [
        *record.first_counts
    ]
    assert [type(n) is int for n, _, _ in record.steps] == [
        n.denominator == 1 for _, _, _, n, _, _ in expected
    ]
    usage = Usage.of(
        learned,
        Counts.weighted(
            [
                (Counts.of(t, "gpt4"), Fraction(w))
                for t, w in ((one, weight), (two, weight), (b, 1))
            ]
        ),
    )
    assert usage.of_training and usage.n_tokens == record.steps[-1][2]
    assert main([*command, "--weight", f"{paths[0]}={weight}", "--resume"]) == 0
    assert main([*command, "--resume"]) == 2, "other weights are another corpus"


def test_the_longest_path_says_the_weight(folder: Path) -> None:
    files = find_files([folder]).files
    weights = {
        str(folder): Fraction(1, 3),
        str(folder / "a" / "two.txt"): Fraction(1, 2),
    }
    assert [
        ([file.path.name for file in some], weight)
        for some, weight in files_by_weight(files, weights)
    ] == [
        (["one.txt"], Fraction(1, 3)),
        (["two.txt"], Fraction(1, 2)),
        (["b.txt"], Fraction(1, 3)),
    ]


def test_weights_that_are_none() -> None:
    for wrong in ("a", "a=", "a=0", "a=-1", "a=x", "a=1/0", "a=1e9", "c=2"):
        with pytest.raises(OptionError, match="weight"):
            parsed_weights([wrong], ["a", "b"])
    for wrong, sentence in (
        (2_000_000, "too far apart"),
        (10**30, "too far apart"),
        (0, "above 0"),
        (None, "one part"),
    ):
        with pytest.raises(OptionError, match=sentence):
            Counts.weighted(
                [] if wrong is None else [(Counts.of("a"), Fraction(wrong))]
            )


def test_a_sample_is_made_of_whole_pieces_in_their_order(tmp_path: Path) -> None:
    r = random.Random(3)
    text = "\n".join(
        "".join(r.choices("abcdefgh  ", k=60)) for _ in range(STRETCH // 12)
    )
    (tmp_path / "large.txt").write_text(text)
    for number in range(40):
        (tmp_path / f"small{number:02}.txt").write_text(
            text[number * 4000 : number * 4000 + 5000]
        )
    files = find_files([tmp_path]).files
    whole = Counts.read(files, "gpt4")
    assert Sample(Fraction(1)).documents(files, splitter("gpt4")) == list(files)

    def read(seed: int, workers: int = 1) -> Counts:
        return Counts.read(
            Sample(Fraction(1, 5), seed).documents(files, splitter("gpt4")),
            "gpt4",
            workers=workers,
        )

    samples = [read(seed) for seed in (0, 0, 1)]
    assert list(samples[0].pieces.items()) == list(samples[1].pieces.items())
    assert samples[0].sources == samples[1].sources != samples[2].sources
    known = whole.pieces
    for counts in samples:
        assert all(n <= known[piece] for piece, n in counts.pieces.items()), (
            "no piece is cut"
        )
        assert (
            1 / 5
            <= counts.n_bytes / whole.n_bytes
            < 1 / 5 + 2 * STRETCH / whole.n_bytes
        )
    assert list(read(0, workers=2).pieces.items()) == list(samples[0].pieces.items()), (
        "whatever the number of workers"
    )
    least = Sample(Fraction(1, 10**6)).documents(files, splitter("gpt4"))
    assert 0 < sum(document.size for document in least) < 2 * STRETCH, (
        "at least one stretch"
    )


@pytest.mark.parametrize(
    ("share", "n"), [("1/4", 1), ("1/2", 2), ("51/100", 3), ("1", 4)]
)
def test_a_sample_ends_as_soon_as_it_has_its_share(
    share: str, n: int, tmp_path: Path
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text("a" * STRETCH)
    assert (
        len(
            Sample(Fraction(share)).documents(
                find_files([tmp_path]).files, splitter("gpt4")
            )
        )
        == n
    )


def test_a_share_that_is_none(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong in ("0", "2", "x", "-1/2", "1e-9"):
        assert (
            main(
                [
                    "train",
                    str(folder),
                    "-o",
                    str(tmp_path / "o.json"),
                    f"--sample={wrong}",
                ]
            )
            == 2
        )
        problem = capsys.readouterr().err
        assert "Invalid --sample" in problem or "A sample is either a share" in problem
