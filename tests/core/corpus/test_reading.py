"""Reading: every character as it was written, and one sentence about each file that is no text."""

import codecs
import gzip
import io
import lzma
import os
import socket
import tempfile
import zipfile
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest

from bpe_core import TextError
from bpe_core.corpus import find_files
from bpe_core.corpus.unpacking import BLOCK

NASTY = "\ufefftab\tCR\rCRLF\r\nLF\nNEL\x85 LS\u2028 VT\v FF\f ESC\x1b[2J NUL\0 end\x1a\ufeff e\u0301 😀 \U0010ffff"


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def names(found):
    return [file.name for file in found.files]


def text_of(path):
    (file,) = find_files(path).files
    return "".join(file.blocks())


def refusal(path):
    """The sentence told about a file that was named itself, after looking that it is one."""
    with pytest.raises(TextError) as told:
        text_of(path)
    sentence = str(told.value)
    assert sentence.endswith(".") and sentence.isprintable()
    return sentence


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(
            zipfile.ZipInfo("a.txt"), "é" * 20
        )  # not the time of day: each process collects the same
    return file.getvalue()


@pytest.mark.parametrize(
    "encoded",
    [
        b"x" + NASTY.encode(),
        codecs.BOM_UTF8 + NASTY.encode(),
        codecs.BOM_UTF16_LE + NASTY.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + NASTY.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + NASTY.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + NASTY.encode("utf-32-be"),
        gzip.compress(b"x" + NASTY.encode(), mtime=0),
        lzma.compress(b"x" + NASTY.encode()),
        gzip.compress(codecs.BOM_UTF16_LE + NASTY.encode("utf-16-le"), mtime=0),
    ],
)
def test_every_character_comes_as_it_was_written_without_mark_and_packing(
    tmp_path, encoded
):
    write(tmp_path, {"file": encoded})
    assert text_of(tmp_path / "file").removeprefix("x") == NASTY


def test_a_block_never_parts_a_character(tmp_path):
    text = "a" + "é" * BLOCK + "😀" * BLOCK
    write(
        tmp_path,
        {"utf8.txt": text, "utf16.txt": codecs.BOM_UTF16_LE + text.encode("utf-16-le")},
    )
    for file in find_files(tmp_path).files:
        blocks = list(file.blocks())
        assert max(map(len, blocks)) <= BLOCK
        assert "".join(blocks) == text


def test_the_reader_tells_where_it_is_on_the_disk(tmp_path):
    write(
        tmp_path, {"long.txt.gz": gzip.compress(os.urandom(3 * BLOCK).hex().encode())}
    )
    (file,) = find_files(tmp_path).files
    seen = []
    assert sum(map(len, file.blocks(seen.append))) == 6 * BLOCK
    assert seen == sorted(seen) and seen[-1] == file.size


@pytest.mark.parametrize(
    "text",
    [
        "a\0b",
        "\x1b[31mred\x1b[0m\n",
        "\0\0\0\0",
        "%PDF- is how they begin",
        "GIF89a",
        "MZ",
    ],
)
def test_odd_characters_do_not_make_a_text_binary(tmp_path, text):
    write(tmp_path, {"odd.txt": text})
    assert text_of(tmp_path / "odd.txt") == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            "Käse\n".encode("latin-1"),
            "byte 0xe4 at offset 1 is not UTF-8; it looks like WINDOWS-1252: convert",
        ),
        ("“Käse” is cheese\n".encode("cp1252"), "iconv -f WINDOWS-1252 -t UTF-8"),
        (
            "日本語の文章です。\n".encode("shift-jis"),
            "byte 0x93 at offset 0 is not UTF-8: convert it first",
        ),
        (
            "plain text\n".encode("utf-16-le"),
            "byte 0x00 at offset 1 is NUL; it looks like UTF-16LE: convert it first",
        ),
        ("plain text\n".encode("utf-16-be"), "iconv -f UTF-16BE -t UTF-8"),
        ("中文 текст é\n".encode("utf-16-le"), "it looks like UTF-16LE"),
        (
            codecs.BOM_UTF16_LE + b"a\0\0\xd8b\0",
            "byte 0x00 at offset 4 is not UTF-16, although the file begins with",
        ),
        (b"fine so far, then \xff", "byte 0xff at offset 18 is not UTF-8"),
        ("cut in the middle of é".encode()[:-1], "byte 0xc3 at offset 21 is not UTF-8"),
        (b"surrogate \xed\xa0\x80", "byte 0xed at offset 10"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "it is a PNG image, not text"),
        (zipped(), "it is a ZIP archive"),
        (b"\x7fELF\2\1\1" + bytes(100), "it is a program, not text"),
        (bytes(1000), "it is binary, not text (byte 0x00 at offset 0)"),
        (bytes(range(256)), "it is binary, not text (byte 0x80 at offset 128)"),
        (
            gzip.compress(gzip.compress(b"text", mtime=0), mtime=0),
            "it is packed by gzip once more",
        ),
        (gzip.compress(b"text" * 100, mtime=0)[:-9], "the compressed data is cut off"),
        (
            gzip.compress(b"text", mtime=0)[:-8] + bytes(8),
            "it is damaged, or cannot be reached (",
        ),
        (
            b"\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff\xff",
            "it is damaged, or cannot be reached (",
        ),
        (lzma.compress(b"text" * 100)[:-20], "the compressed data is cut off"),
        (
            b"\xfd7zXZ\0" + b"nonsense, nonsense",
            "it is damaged, or cannot be reached (lzma: ",
        ),
    ],
)
def test_what_is_no_text_is_refused_with_the_reason_and_what_to_do(
    tmp_path, content, reason
):
    write(tmp_path, {"file": content, "fine.txt": "fine"})
    assert reason in refusal(tmp_path / "file")
    found = find_files(tmp_path)
    assert names(found) == [f"{tmp_path.name}/fine.txt"]
    assert [skipped.path.name for skipped in found.skipped] == ["file"]
    assert reason in found.skipped[0].reason


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, 2 * BLOCK + 1])
def test_a_bad_byte_far_inside_is_found_with_its_place(tmp_path, n):
    write(
        tmp_path,
        {"long.txt": b"a" * n + b"\xe4\xe4", "cut.txt": b"a" * n + "😀".encode()[:3]},
    )
    assert f"byte 0xe4 at offset {n:,} is not UTF-8" in refusal(tmp_path / "long.txt")
    assert f"byte 0xf0 at offset {n:,} is not UTF-8" in refusal(tmp_path / "cut.txt")
    (tmp_path / "long.gz").write_bytes(
        gzip.compress(os.urandom(n // 2).hex().encode())[:-8] + b"checksum"
    )
    assert "it is damaged, or cannot be reached (" in refusal(tmp_path / "long.gz")


def test_pipes_sockets_and_devices_are_not_even_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as endpoint, chdir(tmp_path):
        endpoint.bind("socket")
    assert refusal(tmp_path / "pipe") == "pipe cannot be read: it is a named pipe."
    assert "it is a socket" in refusal(tmp_path / "socket")
    assert "it is a device" in refusal("/dev/zero")
    write(tmp_path, {"fine.txt": "fine"})
    assert [skipped.reason for skipped in find_files(tmp_path).skipped] == [
        "it is a named pipe",
        "it is a socket",
    ]


def test_what_is_not_there_is_one_sentence(tmp_path):
    assert "gone.txt cannot be read: there is no such file or folder." in refusal(
        tmp_path / "gone.txt"
    )
    assert "no path can hold a NUL character" in refusal("a\0b")
    write(tmp_path, {"file": "x"})
    assert "not a directory" in refusal(tmp_path / "file" / "below")
    (file,) = find_files(tmp_path / "file").files
    (tmp_path / "file").unlink()
    with pytest.raises(
        TextError, match="file cannot be read: there is no such file or folder"
    ):
        list(file.blocks())


def test_what_is_forbidden_is_one_sentence():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        write(folder, {"a.txt": "a", "b.txt": "b", "c/c.txt": "c"})
        (folder / "b.txt").chmod(0)
        (folder / "c").chmod(0)
        with _as_nobody():
            assert (
                refusal(folder / "b.txt")
                == "b.txt cannot be read: you don't have permission to read it."
            )
            assert "you don't have permission" in refusal(folder / "c")
            found = find_files(folder)
        (folder / "c").chmod(0o700)
    assert names(found) == [f"{folder.name}/a.txt"]
    assert sorted(skipped.path.name for skipped in found.skipped) == ["b.txt", "c"]


@contextmanager
def _as_nobody():
    """The superuser may read everything; step down for a moment."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_folder_is_read_in_the_order_of_its_names_without_what_is_hidden_or_made(
    tmp_path,
):
    hidden = (
        ".hidden",
        ".git/config",
        "a/__pycache__/c.pyc",
        "node_modules/left.js",
        "lib/site-packages/x.py",
    )
    write(
        tmp_path / "corpus",
        dict.fromkeys(("b.txt", "a/2.md", "a/10.md", "c.py", *hidden), "text"),
    )
    found = find_files([tmp_path / "corpus"])
    assert names(found) == [
        "corpus/a/10.md",
        "corpus/a/2.md",
        "corpus/b.txt",
        "corpus/c.py",
    ]
    assert found.skipped == ()
    assert names(find_files(tmp_path / "corpus" / ".hidden")) == [".hidden"], (
        "what is named is read"
    )
    assert names(find_files(tmp_path / "corpus" / "lib" / "site-packages")) == [
        "site-packages/x.py"
    ]


def test_paths_keep_their_order_a_file_reached_twice_counts_once_and_every_folder_has_a_name(
    tmp_path, monkeypatch
):
    write(tmp_path, {"z.txt": "z", "more/a.txt": "a"})
    (tmp_path / "more" / "z-again.txt").symlink_to(tmp_path / "z.txt")
    found = find_files(
        [tmp_path / "z.txt", tmp_path / "more", tmp_path / "more" / "a.txt"]
    )
    assert names(found) == ["z.txt", "more/a.txt"]
    write(tmp_path, {"corpus/a.txt": "a", "corpus/below/b.txt": "b"})
    monkeypatch.chdir(tmp_path / "corpus" / "below")
    assert names(find_files(".")) == ["below/b.txt"]
    assert names(find_files("..")) == ["corpus/a.txt", "corpus/below/b.txt"]


def test_links_that_lead_in_a_circle_or_nowhere_do_no_harm(tmp_path):
    write(tmp_path, {"fine.txt": "fine"})
    (tmp_path / "nowhere").symlink_to("gone")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "up").symlink_to("..")
    found = find_files(tmp_path)
    assert names(found) == [f"{tmp_path.name}/fine.txt"]
    reasons = {skipped.path.name: skipped.reason for skipped in found.skipped}
    assert (
        "no such file" in reasons["nowhere"] and "a link to a folder" in reasons["up"]
    )
    assert "symbolic links" in reasons["self"] and "symbolic links" in refusal(
        tmp_path / "self"
    )


@pytest.mark.parametrize(
    "name", ["caf\udce9.txt", "\x1b[2J.txt", "line\nbreak.txt", "\u202egpj.txt"]
)
def test_a_file_name_cannot_harm_the_screen(tmp_path, name):
    write(tmp_path, {name: "text", "bad\x1b\udce9": b"\xff"})
    found = find_files(tmp_path)
    assert [file.name.isprintable() for file in found.files] == [True]
    assert "".join(found.files[0].blocks()) == "text"
    assert "bad␛� cannot be read" in refusal(tmp_path / "bad\x1b\udce9")


def test_an_empty_file_is_a_document_but_nothing_to_ask_for(tmp_path):
    write(
        tmp_path,
        {
            "empty.txt": "",
            "mark.txt": codecs.BOM_UTF8,
            "packed.gz": gzip.compress(b""),
            "a.txt": "a",
        },
    )
    assert len(find_files(tmp_path).files) == 4
    for name in ("empty.txt", "mark.txt", "packed.gz"):
        assert refusal(tmp_path / name).endswith(
            f"{name}: it is empty, or everything in it is hidden."
        )
    with pytest.raises(TextError, match=r"No text found in .*: it is empty"):
        find_files([tmp_path / "empty.txt", tmp_path / "mark.txt"])


def test_a_folder_without_any_text_is_told(tmp_path):
    with pytest.raises(TextError, match="name at least one"):
        find_files([])
    with pytest.raises(TextError, match="it is empty, or everything in it is hidden"):
        find_files(tmp_path)
    write(tmp_path, {"a.bin": bytes(1000)})
    with pytest.raises(
        TextError, match=r"a\.bin and the like cannot be read \(it is binary"
    ):
        find_files(tmp_path)
