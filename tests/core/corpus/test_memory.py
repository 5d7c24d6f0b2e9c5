"""Every form of corpus under a limit of address space: memory does not follow what a row, a member or a file holds."""

import csv
import gzip
import io
import json
import random
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bpe_core.corpus import Counts, find_files, unpacking
from bpe_core.corpus.reading import Unreadable

MEGABYTE = 1 << 20
MEMORY = 256 * MEGABYTE
ROOM = 192 * MEGABYTE
"""What counting may add to the address space."""
READ = """
import resource, sys
import pyarrow, pyarrow.ipc, pyarrow.parquet
from bpe_core.corpus import Counts, find_files
from bpe_core.errors import TextError
Counts.of("low lower", "gpt4")
path, memory, room = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
pages = int(open("/proc/self/statm").read().split()[0])
size = pages * resource.getpagesize() + room
resource.setrlimit(resource.RLIMIT_AS, (size, size))
try:
    files = find_files(path, memory=memory).files
    counts = Counts.read(files, "gpt4", workers=1)
    print(counts.n_documents, counts.n_bytes, *[one.reason for one in counts.skipped])
except TextError as error:
    print(error)
"""

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the size of a process is in /proc"
)
pa = pytest.importorskip("pyarrow", reason="the extra corpora is not installed")
parquet = pytest.importorskip("pyarrow.parquet")
R = random.Random(1)


def text_of(n_bytes: int) -> str:
    """A text that packs to about a seventieth."""
    lines = [f"{R.randbytes(500).hex()}\n" * 40 for _ in range(n_bytes // 40_000)]
    return "".join(lines)


def long_text() -> str:
    """200 MB."""
    return text_of(MEGABYTE) * 200


def row_texts() -> list[str]:
    """A thousand rows of 200 KB."""
    texts = [text_of(200_000) for _ in range(50)]
    return texts * 20


def write_parquet(path: Path) -> None:
    table = pa.table({"text": row_texts()})
    parquet.write_table(
        table, path, compression="zstd", use_dictionary=False, write_batch_size=8
    )


def write_sorted_parquet(path: Path) -> None:
    """Short rows, and then long ones."""
    table = pa.table({"text": ["short"] * 100_000 + row_texts()})
    parquet.write_table(
        table, path, compression="zstd", use_dictionary=False, write_batch_size=8
    )


def write_arrow(path: Path) -> None:
    table = pa.table({"text": row_texts()})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=50)


def write_tar(path: Path) -> None:
    data = long_text().encode()
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        member = tarfile.TarInfo("long.txt")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("long.txt", long_text())


def write_warc(path: Path) -> None:
    data = long_text().encode()
    head = f"WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\nContent-Length: {len(data)}\r\n\r\n"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head.encode() + data + b"\r\n\r\n")


def write_packed_parquet(path: Path) -> None:
    inner = path.with_name("inner")
    parquet.write_table(
        pa.table({"text": row_texts()}), inner, compression="none", use_dictionary=False, write_batch_size=8
    )  # fmt: skip
    path.write_bytes(gzip.compress(inner.read_bytes(), 1))
    inner.unlink()


def write_zipped_parquet(path: Path) -> None:
    write_parquet(path.with_name("inner"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(path.with_name("inner"))
    path.with_name("inner").unlink()


def write_jsonl(path: Path) -> None:
    rows = "".join(json.dumps({"text": text}) + "\n" for text in row_texts())
    path.write_bytes(gzip.compress(rows.encode(), 1))


def write_table(path: Path) -> None:
    lines = io.StringIO(newline="")
    delimiter = "\t" if "tsv" in path.name else ","
    rows = csv.writer(lines, delimiter=delimiter)
    rows.writerows([["n", "text"], *enumerate(row_texts())])
    path.write_bytes(gzip.compress(lines.getvalue().encode(), 1))


def write_long_line(path: Path) -> None:
    line = json.dumps({"text": long_text()}) + "\n" + json.dumps({"text": "end"})
    path.write_bytes(gzip.compress(line.encode(), 1))


def write_long_row(path: Path) -> None:
    row = f'n,text\n1,"{long_text()}"\n'
    path.write_bytes(gzip.compress(row.encode(), 1))


def write_long_page(path: Path) -> None:
    """As pyarrow writes long rows by default: in one page."""
    table = pa.table({"text": row_texts()})
    parquet.write_table(table, path, compression="snappy", use_dictionary=False)


def write_repeated_parquet(path: Path) -> None:
    """A text of 1 MB that 8,000 rows share."""
    texts = pa.array([text_of(MEGABYTE)])
    table = pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0] * 8000), texts)})  # fmt: skip
    parquet.write_table(table, path)


def write_repeated_arrow(path: Path) -> None:
    texts = pa.array([text_of(MEGABYTE)])
    table = pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0] * 8000), texts)})  # fmt: skip
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def write_packed_arrow(path: Path) -> None:
    """One batch that unpacks to 200 MB."""
    table = pa.table({"text": ["a" * (200 * MEGABYTE)]})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(path, table.schema, options=options) as writer:
        writer.write_table(table)


def write_many_bombs(path: Path) -> None:
    bomb = gzip.compress(b"a " * (8 * MEGABYTE))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"{number}.gz", bomb)


def write_long_name(path: Path) -> None:
    """A tar archive with a member whose name has 200 MB."""
    name = "a" * (200 * MEGABYTE)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        archive.addfile(tarfile.TarInfo(name))


def outcome(path: Path, field: str = "") -> str:
    command = [sys.executable, "-c", READ, f"{path}{field}", str(MEMORY), str(ROOM)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "write", "n_documents"),
    [
        ("a.parquet", write_parquet, 1000),
        ("sorted.parquet", write_sorted_parquet, 101_000),
        ("a.arrow", write_arrow, 1000),
        ("a.jsonl.gz", write_jsonl, 1000),
        ("a.csv.gz", write_table, 1000),
        ("a.tsv.gz", write_table, 1000),
        ("a.tar.gz", write_tar, 1),
        ("a.zip", write_zip, 1),
        ("a.warc.gz", write_warc, 1),
        ("a.parquet.gz", write_packed_parquet, 1000),
        ("parquet.zip", write_zipped_parquet, 1000),
    ],
)
def test_a_corpus_larger_than_memory_is_read(
    name: str, write: Callable[[Path], None], n_documents: int, tmp_path: Path
) -> None:
    write(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 12 * MEGABYTE
    field = "::text" if name == "parquet.zip" else ""
    found, n_bytes, *skipped = outcome(tmp_path / name, field).split()
    assert (found, skipped) == (str(n_documents), []), (n_bytes, skipped)
    assert int(n_bytes) > 190_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "write", "sentence"),
    [
        ("a.jsonl.gz", write_long_line, "line 1 has more than 8,388,608 bytes, too many for the memory; make it a file"),
        ("a.csv.gz", write_long_row, "the row that begins in line 2 has more than 8,388,608 bytes, too many"),
        ("page.parquet", write_long_page, "bytes, more than the 33,554,432 that may be in memory"),
        ("a.parquet", write_repeated_parquet, "it unpacks to more than 100 times its size"),
        ("repeated.arrow", write_repeated_arrow, "it unpacks to more than 100 times its size"),
        ("packed.arrow", write_packed_arrow, "it unpacks to more than 100 times its size"),
        ("a.zip", write_many_bombs, "it unpacks to more than 100 times its size"),
        ("a.tar.gz", write_long_name, "a name of 209,715,2"),
    ],
)  # fmt: skip
def test_what_is_too_large_for_memory_is_refused_in_one_sentence(
    name: str, write: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    write(tmp_path / name)
    said = outcome(tmp_path / name)
    assert said.startswith(f"{name} cannot be read: ") and sentence in said
    assert "\n" not in said


def test_a_line_that_is_too_long_is_left_out_with_the_bad_ones(tmp_path: Path) -> None:
    rows = ["low", "x" * 9_000_000, "lower"]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}) for text in rows))
    (file,) = find_files(path, skip_bad=True, memory=MEMORY).files
    counts = Counts.read([file], "gpt4")
    assert counts.pieces == {"low": 1, "lower": 1}
    assert "line 2 has more than 8,388,608 bytes" in counts.skipped[0].reason
    assert Counts.read(find_files(path).files, "gpt4").n_documents == 3


def test_a_member_that_proves_to_be_no_text_late_is_left_out_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bpe_core.corpus.archives._HELD", 1000)
    text = "low lower\n" * 20_000
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bad.txt", text.encode() + b"\xff")
        archive.writestr("good.txt", text)
    counts = Counts.read(find_files(tmp_path / "a.zip").files, "gpt4")
    assert (counts.n_documents, counts.n_bytes) == (1, len(text))
    assert "bad.txt is not read (byte 0xff at offset 200,000" in counts.skipped[0].reason  # fmt: skip


def test_the_members_of_an_archive_share_one_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_SMALL", 1 << 20)
    with tarfile.open(tmp_path / "a.tar.xz", "w:xz") as archive:
        for number in range(5):
            data = gzip.compress(b"low lower\n" * 60_000)
            member = tarfile.TarInfo(f"{number}.txt.gz")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    with pytest.raises(
        Unreadable, match=r"a\.tar\.xz cannot be read: it unpacks to more"
    ):
        Counts.read(find_files(tmp_path / "a.tar.xz").files)


def test_an_encrypted_archive_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("secret.txt", "low")
    data = bytearray(path.read_bytes())
    for place in (6, data.index(b"PK\1\2") + 8):
        data[place] |= 1
    path.write_bytes(data)
    with pytest.raises(
        Unreadable,
        match=r"a\.zip cannot be read: secret\.txt in it is encrypted; unpack it first, with",
    ):
        Counts.read(find_files(path).files)


def test_the_limit_of_the_csv_module_is_put_back(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"text\n{'long ' * 100_000}\nlow\n")
    first, second = find_files(tmp_path).files
    assert csv.field_size_limit() == before
    documents = first.documents()
    next(documents)
    assert len(list(second.documents())) == 2
    assert len(list(documents)) == 1
    assert csv.field_size_limit() == before


def test_a_page_that_the_memory_has_no_room_for_is_refused(tmp_path: Path) -> None:
    text = random.Random(2).randbytes(2 * MEGABYTE // 2).hex()
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": [text]}), path, use_dictionary=False)
    with pytest.raises(
        Unreadable, match=r"a page of it has 2,\d+,\d+ bytes, more than the 1,048,576"
    ):
        find_files(path, memory=8 * MEGABYTE)
    (file,) = find_files(path, memory=MEMORY).files
    assert ["".join(document) for document in file.documents()] == [text]


def test_long_texts_of_columns_come_in_blocks(tmp_path: Path) -> None:
    text = "käse \u4e2d\n" * 30_000
    table = pa.table({"text": [text, "", None, "low"], "in": [[{"a": text}]] * 4})
    parquet.write_table(table, tmp_path / "a.parquet")
    (file,) = find_files(tmp_path / "a.parquet", skip_bad=True).files
    blocks = [list(document) for document in file.documents()]
    assert ["".join(one) for one in blocks] == [text, "", "low"]
    assert max(len(block) for one in blocks for block in one) <= unpacking.BLOCK
    (file,) = find_files(f"{tmp_path / 'a.parquet'}::/in/-1/a").files
    assert ["".join(document) for document in file.documents()] == [text] * 4
