"""Files whose rows or members are documents: whatever holds the documents, counts and merges are the same."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import random
import re
import sys
import tarfile
import zipfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from bpe_core import Counts, Trainer, load
from bpe_core.cli.main import main
from bpe_core.corpus import counts as counts_module
from bpe_core.corpus import find_files, tables
from bpe_core.corpus.reading import Skipped, Unreadable
from bpe_core.corpus.recognition import NotText
from bpe_core.corpus.sampling import Sample
from bpe_core.corpus.unpacking import Limits
from bpe_core.errors import OptionError, TextError
from bpe_core.patterns import splitter
from bpe_core.worker.weights import tempered

R = random.Random(1)
WORDS = (
    "the ",
    "theme ",
    "other\n",
    "Käse ",
    "中文",
    "😀 ",
    '"quoted" ',
    "1,2\r\n",
    "\u2028",
    "\t",
    "  ",
)
DOCUMENTS = [
    "".join(R.choices(WORDS, k=R.choice((0, 1, 5, 50, 400)))) for _ in range(40)
] + ["".join(R.choices(WORDS, k=30_000))]
LINES = "".join(
    json.dumps(
        {"id": n, "title": f"t{n}", "text": one, "meta": {"a/b": [n, one]}},
        ensure_ascii=n % 2 == 0,
    )
    + "\n"
    for n, one in enumerate(DOCUMENTS)
).encode()
PLAIN = [
    "jsonl",
    "jsonl.gz",
    "jsonl.bz2",
    "jsonl.xz",
    "csv",
    "tsv",
    "tar",
    "tar.gz",
    "zip",
    "warc",
    "wet.gz",
]
OF_EXTRAS = [
    "jsonl.zst",
    "tar.zst",
    "parquet",
    "parquet.gz",
    "file.arrow",
    "stream.arrow",
    "in.zip",
]


def arrow():  # type: ignore[no-untyped-def]
    return pytest.importorskip("pyarrow", reason="the extra corpora is not installed")


def content(form: str) -> bytes:
    """A file of this form that holds the documents."""
    out, text = io.BytesIO(), io.StringIO(newline="")
    if form.endswith((".gz", ".bz2", ".xz")):
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[
            form.rpartition(".")[2]
        ]
        return pack(content(form.rpartition(".")[0]))
    if form.endswith(".zst"):
        whole = content(form[:-4])  # in two frames
        return b"".join(
            arrow().compress(part, codec="zstd", asbytes=True)
            for part in (whole[:999], whole[999:])
        )
    if form in ("parquet", "file.arrow", "stream.arrow"):
        pa = arrow()
        titles = [f"t{n}" for n in range(len(DOCUMENTS))]
        table = pa.table(
            {"id": range(len(DOCUMENTS)), "title": titles, "text": DOCUMENTS}
        )
        if form == "parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, out, row_group_size=9)
            return out.getvalue()
        new = pa.ipc.new_file if form == "file.arrow" else pa.ipc.new_stream
        with new(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=7)
    elif form in ("csv", "tsv"):
        rows = csv.writer(text, delimiter="," if form == "csv" else "\t")
        rows.writerows(
            [("title", "text"), *((f"t{n}", one) for n, one in enumerate(DOCUMENTS))]
        )
        return text.getvalue().encode()
    elif form == "tar":
        with tarfile.open(fileobj=out, mode="w") as archive:
            for number, one in enumerate(DOCUMENTS):
                member = tarfile.TarInfo(f"../a/{number}.txt")
                member.size = len(one.encode())
                archive.addfile(member, io.BytesIO(one.encode()))
    elif form in ("zip", "in.zip"):
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            texts = {f"/{number}.txt": one for number, one in enumerate(DOCUMENTS)}
            for name, data in (
                texts.items()
                if form == "zip"
                else {"a.parquet": content("parquet")}.items()
            ):
                archive.writestr(name, data)
    elif form in ("warc", "wet"):
        kind = "resource" if form == "warc" else "conversion"
        for one in ["WARC-Type: warcinfo", *DOCUMENTS]:
            body = one.encode()
            which = kind if one in DOCUMENTS else "warcinfo"
            head = f"WARC/1.0\r\nWARC-Type: {which}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
            out.write(head.encode() + body + b"\r\n\r\n")
    else:
        return LINES
    return out.getvalue()


def everything(counts: Counts) -> object:
    columns = counts.table.columns(0, len(counts.table))[1]
    return list(counts.pieces.items()), counts.n_documents, counts.n_bytes, columns


@pytest.mark.parametrize("form", [*PLAIN, *OF_EXTRAS])
def test_the_same_documents_give_the_same_counts_and_merges(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / f"a.{form}").write_bytes(whole := content(form))
    expected = Counts.of(DOCUMENTS, "gpt4")
    for share in (1 << 18, 300):
        monkeypatch.setattr(counts_module, "_SHARES", (share, share))
        for workers in (1, 2):
            named = f"{path}::text" if form == "in.zip" else path
            counts = Counts.read(find_files(named).files, "gpt4", workers=workers)
            assert everything(counts) == everything(expected)
            (source,) = counts.sources
            assert (source.sha256, source.documents) == (
                expected.sources[0].sha256,
                len(DOCUMENTS),
            )
    assert [*Trainer(counts, vocab_size=300)] == [*Trainer(DOCUMENTS, vocab_size=300)]
    # Cut anywhere, it is read as a whole or not at all; but for CSV, which has no end.
    (tmp_path / "fine.txt").write_text("fine")
    cuts = random.Random(form)
    for _ in range(0 if form in ("csv", "tsv") else 3):
        path.write_bytes(whole[: cuts.randrange(len(whole) // 3, len(whole) * 2 // 3)])
        with pytest.raises(TextError, match=rf"a\.{form} cannot be read: .*\.$"):
            Counts.read(find_files(path).files, "gpt4")
        rest = find_files(tmp_path)
        left = Counts.read(rest.files, "gpt4")
        assert left.pieces == {"fine": 1} and len([*rest.skipped, *left.skipped]) == 1


def test_the_field_is_guessed_or_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"key": "a", "note": "the longest text"}\n\n{"key": "b", "note": "", "at": {"x/y": ["deep"]}}\n'
    )
    (file,) = find_files(path).files
    assert (file.field, file.fields) == ("note", ("key", "note"))
    assert Counts.read(find_files(f"{path}::key").files).pieces == {"a": 1, "b": 1}
    for wrong, sentence in (
        ("nope", "line 1 has no text as 'nope'"),
        ("/at/x~1y/0", "line 1 has no text as"),
    ):
        with pytest.raises(Unreadable, match=sentence):
            Counts.read(find_files(f"{path}::{wrong}").files)
    lenient = Counts.read(find_files(f"{path}::/at/x~1y/0", skip_bad=True).files)
    assert lenient.pieces == {"deep": 1} and lenient.skipped[0].reason.startswith(
        "1 left out"
    )
    (tmp_path / "a.txt").write_bytes(path.read_bytes())
    assert (
        Counts.read(find_files(f"{tmp_path / 'a.txt'}::key").files).n_documents == 2
    ), "JSON lines by another name"
    out = str(tmp_path / "o.json")
    assert main(["train", str(path), "-o", out, "--vocab-size", "258"]) == 0
    assert (
        "Reading the field note of a.jsonl, not key; to read another, name PATH::FIELD."
        in capsys.readouterr().err
    )
    assert (
        main(
            [
                "train",
                str(path),
                "--column",
                "key",
                "--weight",
                f"{path}=2",
                "-o",
                out,
                "--vocab-size",
                "258",
            ]
        )
        == 0
    )
    assert (record := load(out).record) and [
        (one.name, one.weight) for one in record.sources
    ] == [("a.jsonl::key", 2)]


def test_a_bad_row_is_named_or_left_out_and_counted(tmp_path: Path) -> None:
    bad = b'{"text": "a"}\nno\n[1]\nnull\n{"text": 3}\n{"text": "\xff"}\n{"text": "\\ud800"}\n{"text": "b'
    (tmp_path / "a.jsonl").write_bytes(bad)
    with pytest.raises(
        Unreadable,
        match=r"a.jsonl cannot be read: line 2 is not JSON \(Expecting value",
    ):
        Counts.read(find_files(tmp_path / "a.jsonl").files)
    counts = Counts.read(
        find_files([tmp_path / "a.jsonl", tmp_path / "a.jsonl"], skip_bad=True).files,
        "none",
    )
    assert counts.pieces == {"a": 1, "\ufffd": 1}
    (skipped,) = counts.skipped
    assert skipped.reason.startswith("6 left out, 2 read: line 2 is not JSON")
    (tmp_path / "b.csv").write_text("text,n\none,1\ntwo\n")
    with pytest.raises(Unreadable, match="row 2 has 1 field, and the first line 2"):
        Counts.read(find_files(tmp_path / "b.csv").files)


@pytest.mark.parametrize(
    "name, data, sentence",
    [
        (
            "a.jsonl",
            b'{"text": "a"}\n{"text": null}\n',
            "line 2 has no text as 'text'; train, count and audit leave such rows out with --skip-bad",
        ),
        (
            "a.jsonl",
            b'{"text": "\xe9"}\n' * 3,
            "its first row is not JSON ('utf-8' codec",
        ),
        ("a.jsonl", b"\n\n", "it has no rows, or"),
        (
            "a.csv",
            b'text,n\na,1\n\n"b,2\nc,3\nd,4\n',
            "the row that begins in line 4 is damaged (unexpected end of data)",
        ),
        (
            "a.csv",
            b"text,text\na,b\n",
            "it has several columns 'text'; rename one of them",
        ),
    ],
)
def test_what_a_row_lacks_is_said_with_its_place_and_what_to_do(
    name: str, data: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(
        Unreadable, match=re.escape(f"{name} cannot be read: {sentence}")
    ):
        Counts.read(find_files(tmp_path / name).files)


def test_why_searches_what_was_counted_and_not_what_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder := tmp_path / "texts").mkdir()
    (folder / "a.jsonl").write_text('{"text": "low lower"}\n{"text": 3}\n')
    (folder / "b.txt").write_text("low lower\n")
    out = str(tmp_path / "o.json")
    assert main(["train", str(folder), "-o", out, "--vocab-size", "258"]) == 0
    assert main(["why", str(folder), "-t", out, "--step", "1"]) == 0
    assert "b.txt:1" in (said := capsys.readouterr().out) and "a.jsonl" not in said


def test_a_path_that_is_empty_is_not_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("low")
    monkeypatch.chdir(tmp_path)
    for empty in ("", "::text"):
        with pytest.raises(TextError, match="A path is empty; name a file or a folder"):
            find_files(empty)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_text_within_a_column_is_read(form: str, tmp_path: Path) -> None:
    pa, path = arrow(), tmp_path / f"a.{form}"
    table = pa.table(
        {"chat": [[{"said": one}] for one in DOCUMENTS], "text": DOCUMENTS}
    )
    if form == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    inner = Counts.read(find_files(f"{path}::/chat/0/said").files, "gpt4")
    assert everything(inner) == everything(Counts.of(DOCUMENTS, "gpt4"))


def test_a_packed_file_that_is_cut_short_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl.zst"
    with arrow().CompressedOutputStream(str(path), "zstd") as out:
        out.write(LINES * 99)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(Unreadable, match="get it again"):
        Counts.read(find_files(path).files)


def test_members_that_are_no_texts_are_left_out_and_bombs_refused(
    tmp_path: Path,
) -> None:
    members = {
        "/abs/a.txt": b"a",
        "../b.txt": b"b",
        ".c": b"c",
        "d.png": b"\x89PNG\r\n",
        "e.zip": b"PK\x03\x04",
    }
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    counts = Counts.read(find_files(tmp_path).files, "none")
    assert counts.pieces == {"a": 1, "b": 1} and counts.skipped[0].reason.startswith(
        "2 left out"
    )
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"a " * (1 << 25))
    with pytest.raises(Unreadable, match="unpacks to more than 100 times its size"):
        Counts.read(find_files(tmp_path / "a.zip").files)


def test_a_column_that_is_no_text_and_a_data_set_on_disk(tmp_path: Path) -> None:
    arrow()
    (tmp_path / "a.parquet").write_bytes(content("parquet"))
    with pytest.raises(
        Unreadable,
        match="it has no column 'id' of texts; choose one of: 'title', 'text'",
    ):
        Counts.read(find_files(f"{tmp_path / 'a.parquet'}::id").files)
    (tmp_path / "a.parquet").rename(tmp_path / "a.txt")
    (tmp_path / "data-0.arrow").write_bytes(content("stream.arrow"))
    (tmp_path / "dataset_info.json").write_text("{}")
    (tmp_path / "state.json").write_text("{}")
    found = find_files(tmp_path)
    assert [(file.path.name, file.form) for file in found.files] == [
        ("a.txt", "parquet"),
        ("data-0.arrow", "arrow"),
    ]


def test_what_fsspec_opens_and_what_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra corpora is not installed")
    memory = fsspec.filesystem("memory")
    memory.pipe(
        {
            "/room/a.jsonl.gz": gzip.compress(LINES),
            "/room/b.txt": b"b",
            "/room/.c": b"c",
        }
    )
    assert everything(
        Counts.read(find_files("memory://room/a.jsonl.gz::text").files)
    ) == everything(Counts.of(DOCUMENTS))
    assert [file.name for file in find_files("memory://room").files] == [
        "room/a.jsonl.gz",
        "room/b.txt",
    ]
    for address, sentence in (
        ("memory://x", "no such file or folder"),
        ("foo://x", "Protocol not known: foo"),
    ):
        with pytest.raises(Unreadable, match=sentence):
            find_files(address)
    memory.rm("/room", recursive=True)

    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    for path, library in (
        ("memory://x", "fsspec"),
        (str(tmp_path / "a.parquet"), "pyarrow.parquet"),
    ):
        monkeypatch.setitem(sys.modules, library, None)
        name = library.partition(".")[0]
        with pytest.raises(
            Unreadable,
            match=rf'needs {name}\. Install it with pip install "bpescope\[corpora\]"\.$',
        ):
            find_files(path)


def test_a_file_that_changes_while_it_is_read_is_not_counted(tmp_path: Path) -> None:
    (path := tmp_path / "a.jsonl").write_bytes(LINES)
    with pytest.raises(Unreadable, match="it changed while it was being read"):
        Counts.read(find_files(path).files, progress=lambda *_: os.utime(path, (1, 1)))


def test_samples_of_documents_and_documents_that_are_there_before(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.jsonl").write_text(
        "".join(f'{{"text": "{n % 60}"}}\n' for n in range(90))
    )
    for number in range(10):
        (tmp_path / f"b{number}.txt").write_text(f"{number + 55}")
    files, split = find_files(tmp_path).files, splitter("none")

    def read(**how: object) -> Counts:
        left_out = list[Skipped]()
        counts = Counts.read(
            Sample(**how).documents(files, split, None, left_out), "none"
        )  # type: ignore[arg-type]
        counts.skipped += left_out
        return counts

    once = read(dedupe=True)
    assert set(once.pieces.values()) == {1} and len(once.pieces) == 65
    assert len(once.skipped) == 6 and once.skipped[0].reason.startswith(
        "30 of its documents are repeats: 61, 62, 63, …"
    )
    ten = [read(n_documents=10, seed=seed) for seed in range(60)]
    assert {one.n_documents for one in ten} == {10} and ten[3].pieces == read(
        n_documents=10, seed=3
    ).pieces
    drawn = sum((Counter(one.pieces) for one in ten), Counter())
    assert 6 * 0.7 < drawn.total() / 100 < 6.1 and len(drawn) == 65, (
        "each document is as likely as any other"
    )
    assert read(n_documents=99, dedupe=True).n_documents == 65
    quarter = read(share=Fraction(1, 4))
    assert (
        8 < quarter.sources[0].documents < 40
        and quarter.pieces == read(share=Fraction(1, 4)).pieces
    )
    assert len(Sample(n_documents=1).documents(files, split)) == 1
    for how in (
        {"share": Fraction(1, 3), "seed": -2},
        {"n_documents": 5, "dedupe": True},
        {"skip_bad": True},
    ):
        assert Sample.parsed(str(Sample(**how))) == Sample(**how)  # type: ignore[arg-type]
    assert str(Sample()) == "", "by default, no row is skipped"
    with pytest.raises(OptionError):
        Sample(Fraction(1, 2), n_documents=3)


def test_rows_are_documents_for_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path := tmp_path / "a.jsonl").write_text(
        '{"text": "low low"}\n{"text": "er\\nlow lower"}\n'
    )
    (tmp_path / "b.txt").write_text("low er " * 20)
    paths, out = [str(path), str(tmp_path / "b.txt")], str(tmp_path / "o.json")
    asked = ["--vocab-size", "260", "--pattern", "words", "--alpha", "1/2", "-o", out]
    assert main(["train", *paths, *asked]) == 0
    err = capsys.readouterr().err
    assert (
        "a.jsonl::text: 19 bytes (weighted: 51.49), 26.9% of the total." in err
        and "b.txt: 140 bytes, 73.1% of the total." in err
    )
    assert (record := load(out).record) and record.weights == "a.jsonl=2.71 b.txt=1"
    assert tempered([(400, Fraction(1)), (0, Fraction(3))], Fraction(0)) == {1: 1, 3: 1}
    assert main(["encode", "-t", out, "--count", *paths]) == 0
    assert capsys.readouterr().out.splitlines()[-1:] == ["45 total"]
    assert main(["why", "-t", out, "--step", "1", *paths]) == 0
    assert "a.jsonl row 2" in (shown := capsys.readouterr().out) or "b.txt:1" in shown
    assert main(["compare", "-t", out, "-t", out, "--json", str(path)]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["texts"]] == [
        "a.jsonl row 1",
        "a.jsonl row 2",
    ]
    assert (
        main(["audit", "-t", out, "--corpus", str(path), "--jsonl", "--all-tokens"])
        == 0
    )
    assert main(["train", *paths, *asked, "--weight", f"{path}=2"]) == 2


def test_a_table_with_very_many_columns_does_not_list_them_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"column{number}" for number in range(10_000)]
    path = tmp_path / "wide.csv"
    path.write_text(f"{','.join(names)}\n{','.join(names)}\n")
    out = str(tmp_path / "o.json")
    assert main(["train", str(path), "-o", out, "--vocab-size", "258"]) == 0
    said = capsys.readouterr().err
    assert "Reading the field column1000 of wide.csv, not column0, column1" in said
    assert len(said) < 2000


@pytest.mark.parametrize("end", [b"", b"\n", b"\n[]\n"])
def test_a_row_of_exactly_the_greatest_length_is_read(end: bytes) -> None:
    limits = Limits(memory=1000 << 5, size=10**6)

    def first_record(n_bytes: int) -> object:
        row = b'"' + b"x" * (n_bytes - 2) + b'"'
        return next(tables._json_records(io.BytesIO(row + end), limits))

    assert first_record(1000) == "x" * 998
    assert isinstance(first_record(1001), NotText)
