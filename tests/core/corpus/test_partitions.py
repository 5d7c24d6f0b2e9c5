"""A corpus in partitions, counted and encoded by functions that know nothing else, is the corpus in one piece."""

import pickle
import random

import pytest

from bpe_core import Counts, TextError, train
from bpe_core.corpus import find_files
from bpe_core.worker import cluster as cluster_module
from bpe_core.worker.cluster import count_partition, encode_partition, merge_counts

pq = pytest.importorskip(
    "pyarrow.parquet", reason="files of counts need pyarrow, of the extra [corpora]"
)
pytestmark = pytest.mark.usefixtures("engine")
WORDS = ["low", "lower", "中文", "naïve", "1,234", "😀", "\n\n", "'s", "x" * 30]


def texts_in(folder, sizes):
    rng = random.Random(1)
    for number, size in enumerate(sizes):
        text = " ".join(rng.choices(WORDS, k=size))
        (folder / f"{number:02}.txt").write_text(
            "\ufeff" * (number == 1) + text, "utf-8"
        )
    return find_files(folder).files


@pytest.mark.parametrize("pattern", ["gpt4", "none", r"(?<=a)b|\w+"])
def test_counts_of_partitions_are_byte_for_byte_those_of_the_whole(
    tmp_path, pattern, monkeypatch
):
    monkeypatch.setattr(cluster_module, "LARGEST", 1 << 17)
    texts_in(tmp_path, [3, 90_000, 0, 40_000, 10, 5, 9_000, 900])
    with open(tmp_path / "01.txt", "r+b") as file:
        file.seek(100_000)
        file.write(b"\xff")
    files, rng = find_files(tmp_path).files, random.Random(2)
    whole = Counts.read(files, pattern)
    assert [path.path.name for path in whole.skipped] == ["01.txt"]
    parts = cluster_module.partitions(files)
    assert 3 < len(parts) < len(files)
    for _ in range(3):  # trees of random shape, everything sent as to another process
        counts = [
            count_partition(pickle.loads(pickle.dumps(part)), pattern) for part in parts
        ]
        while len(counts) > 1:
            at = rng.randrange(len(counts) - 1)
            counts[at : at + 2] = [merge_counts(counts[at : at + 2])]
        assert Counts.load(counts[0]).skipped[0].reason == whole.skipped[0].reason
        whole.skipped = Counts.load(counts[0]).skipped  # whose paths are absolute
        assert counts == [whole.to_bytes()]


def test_errors_of_partitions_are_sentences_in_another_process(tmp_path):
    (tmp_path / "a").write_bytes(b"a" * 9000 + b"\xff")
    (part,) = cluster_module.partitions(find_files(tmp_path / "a").files)
    with pytest.raises(TextError, match=r"a cannot be read: byte 0xff") as caught:
        count_partition(part, "gpt4")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    (tmp_path / "a").unlink()
    with pytest.raises(
        TextError,
        match=r"a does not exist on .*; name it by a path that is the same on all",
    ):
        count_partition(part, "gpt4")


def test_ids_of_a_partition_are_those_of_its_documents(tmp_path):
    tokenizer = train(" ".join(WORDS) * 9, vocab_size=300, special_tokens=["<|end|>"])
    texts = ["low lower <|end|> low", "", "\ufeff中文 naïve 😀" * 5000]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text, "utf-8")
    (part,) = cluster_module.partitions(
        find_files(sorted(tmp_path.iterdir()), every_character=True).files
    )
    n = encode_partition(
        part, tokenizer, str(tmp_path / "ids.parquet"), allowed_special="all"
    )
    rows = pq.read_table(tmp_path / "ids.parquet").to_pylist()
    expected = [tokenizer.encode(text, allowed_special="all") for text in texts]
    assert rows == [
        {"source": f"{name}.txt", "ids": ids}
        for name, ids in zip("012", expected, strict=True)
    ]
    assert n == sum(map(len, expected))
