"""The commands as a person or a script calls them: data on stdout, one sentence on stderr, a telling exit code."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from shell import in_a_shell

from bpe_core import load, save, train
from bpe_core.cli.main import main

SEED = "aaabdaaabac"
CORPUS = "low low low low low lower lower widest widest widest newest newest newest newest newest newest\n" * 20

Answer = tuple[int, str, str]
"""Exit code, stdout, stderr."""

Bpescope = Callable[..., Answer]


@pytest.fixture
def bpescope(capfd: pytest.CaptureFixture[str]) -> Bpescope:
    """`bpescope` with these arguments."""

    def call(*arguments: str | Path) -> Answer:
        code = main([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return call


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """A file with the textbook's example, no newline at its end."""
    path = tmp_path / "seed.txt"
    path.write_bytes(SEED.encode())
    return path


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """The tokenizer of three merges learned from it, with a special token."""
    path = tmp_path / "seed.json"
    save(train(SEED, vocab_size=260, pattern="none", special_tokens=["<end>"]), path)
    return path


def test_the_textbook_example_from_text_to_ids_and_back(bpescope: Bpescope, seed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    code, stdout, stderr = bpescope("train", seed, "-o", out, "--vocab-size", "259", "--pattern", "none")
    assert (code, stdout) == (0, "")
    assert "Learned 3 merges" in stderr and "vocabulary size reached" in stderr
    assert [load(out).token_bytes(token) for token in (256, 257, 258)] == [b"aa", b"aaa", b"aaab"]
    assert bpescope("encode", "-t", out, seed) == (0, "258 100 258 97 99\n", "")
    (tmp_path / "ids").write_text("258 100 258 97 99\n")
    assert bpescope("decode", "-t", out, tmp_path / "ids") == (0, SEED, "")


def test_training_options_reach_the_trainer(bpescope: Bpescope, tmp_path: Path) -> None:
    text, out = tmp_path / "text", tmp_path / "out.json"
    text.write_text(CORPUS)
    options = "--vocab-size 263 --pattern words --ties largest --id-layout specials-first --special <|endoftext|>"
    assert bpescope("train", text, "-o", out, *options.split())[0] == 0
    tokenizer = load(out)
    assert tokenizer.encode("newest") == [262, 261] and tokenizer.special_tokens == {"<|endoftext|>": 0}
    assert (
        bpescope("train", text, "-o", out, "--pattern", "none", "--min-count", "20", "--max-token-length", "3")[0] == 0
    )
    assert max(len(load(out).token_bytes(token)) for _, _, token in load(out).merges) == 3


def test_encode_prints_what_a_script_wants(bpescope: Bpescope, tokenizer: Path, seed: Path) -> None:
    assert bpescope("encode", "-t", tokenizer, seed, "--count") == (0, "5\n", "")
    code, stdout, _ = bpescope("encode", "-t", tokenizer, seed, "--json")
    assert (code, json.loads(stdout)) == (0, {"ids": [258, 100, 258, 97, 99]})


def test_a_special_token_in_a_text_needs_a_word(bpescope: Bpescope, tokenizer: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("a<end>")
    code, stdout, stderr = bpescope("encode", "-t", tokenizer, text)
    assert (code, stdout) == (2, "") and stderr.count("\n") == 1
    assert "'<end>' at offset 1" in stderr and "--allow-special" in stderr
    assert bpescope("encode", "-t", tokenizer, text, "--allow-special", "<end>")[1] == "97 259\n"
    assert bpescope("encode", "-t", tokenizer, text, "--allow-special", "all")[1] == "97 259\n"
    assert bpescope("encode", "-t", tokenizer, text, "--special-as-text")[1] == "97 60 101 110 100 62\n"
    assert bpescope("encode", "-t", tokenizer, text, "--allow-special", "<start>")[0] == 2


@pytest.mark.parametrize("form", ["", "--json"])
def test_what_goes_through_a_pipe_comes_out_byte_for_byte(form: str, tokenizer: Path, tmp_path: Path) -> None:
    data = "\ufeffa\r\nb\rc\n\n\x1b]0;title\x07 \0 é 😊 \u2028 ".encode()
    result = in_a_shell(f"bpescope encode -t seed.json {form} - | bpescope decode -t seed.json", tmp_path, data)
    assert (result.returncode, result.stdout, result.stderr) == (0, data, b"")


def test_nothing_comes_out_as_nothing(bpescope: Bpescope, tokenizer: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert bpescope("encode", "-t", tokenizer, tmp_path / "empty") == (0, "\n", "")
    assert bpescope("encode", "-t", tokenizer, "--json", tmp_path / "empty") == (0, '{"ids": []}\n', "")
    assert bpescope("decode", "-t", tokenizer, tmp_path / "empty") == (0, "", "")


def test_decode_names_what_is_no_number(bpescope: Bpescope, tokenizer: Path, tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("1 two 3")
    code, out, error = bpescope("decode", "-t", tokenizer, tmp_path / "ids")
    assert (code, out) == (2, "") and "behind 1 of them stands 'two'" in error and "int()" not in error


def test_decode_writes_bytes_that_are_no_text(tokenizer: Path, tmp_path: Path) -> None:
    assert in_a_shell("bpescope decode -t seed.json", tmp_path, b"255 0\n10").stdout == b"\xff\x00\n"


def test_count_counts_documents_of_a_folder(bpescope: Bpescope, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("Hello world")
    (tmp_path / "two.md").write_text("Hello 🤯")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\0\0\0")
    code, stdout, stderr = bpescope("count", tmp_path, "--pattern", "gpt2")
    rows = dict(line.rsplit(None, 1) for line in stdout.splitlines())
    assert code == 0
    assert rows == {"documents": "2", "bytes": "21", "characters": "18", "pieces": "4", "different pieces": "3"}
    assert "photo.jpg" in stderr


def test_a_folder_of_pictures_does_not_flood_the_terminal(bpescope: Bpescope, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("Hello world")
    for number in range(20):
        (tmp_path / f"{number}.jpg").write_bytes(b"\xff\xd8\0\0\0")
    stderr = bpescope("count", tmp_path)[2]
    assert stderr.count("Left out") == 6 and "15 more files" in stderr


def test_audit_as_a_table_as_json_lines_and_as_a_gate(bpescope: Bpescope, tokenizer: Path, seed: Path) -> None:
    code, stdout, _ = bpescope("audit", "-t", tokenizer, "--corpus", seed)
    assert code == 0 and "unused-byte  13" in stdout and "(--all shows them)" in stdout
    assert "scaffold" in stdout  # aaa was only ever a step to aaab

    code, stdout, _ = bpescope("audit", "-t", tokenizer, "--corpus", seed, "--jsonl")
    rows = [json.loads(line) for line in stdout.splitlines()]
    assert code == 0 and len([row for row in rows if row["kind"] == "unused-byte"]) == 13
    assert {"id", "token", "kind", "severity", "reason", "evidence"} <= rows[0].keys()

    code, stdout, _ = bpescope("audit", "-t", tokenizer, "--corpus", seed, "--jsonl", "--all-tokens")
    verdicts = [json.loads(line) for line in stdout.splitlines()]
    assert code == 0 and [row["id"] for row in verdicts] == load(tokenizer).vocabulary.ids()
    assert {"id", "token", "score", "kinds", "evidence"} <= verdicts[0].keys()
    assert {(row["id"], kind) for row in verdicts for kind in row["kinds"]} == {
        (row["id"], row["kind"]) for row in rows
    }
    assert bpescope("audit", "-t", tokenizer, "--all-tokens")[0] == 2

    assert bpescope("audit", "-t", tokenizer, "--fail-on", "duplicate,unused-byte")[0] == 1
    assert bpescope("audit", "-t", tokenizer, "--fail-on", "duplicate")[0] == 0
    code, _, stderr = bpescope("audit", "-t", tokenizer, "--fail-on", "nonsense")
    assert code == 2 and "nonsense" in stderr and "unused-byte" in stderr


def test_a_reference_corpus_shows_what_a_model_will_not_meet(bpescope: Bpescope, tmp_path: Path) -> None:
    text, reference, out = tmp_path / "text", tmp_path / "reference", tmp_path / "out.json"
    text.write_text("SolidGoldMagikarp counts to infinity\n" * 50)
    reference.write_text("counts to infinity\n" * 50)
    bpescope("train", text, "-o", out, "--vocab-size", "300")
    code, stdout, _ = bpescope("audit", "-t", out, "--corpus", text, "--reference", reference, "--jsonl")
    absent = [row["token"] for row in map(json.loads, stdout.splitlines()) if row["kind"] == "absent-from-reference"]
    assert code == 0 and "SolidGoldMagikarp" in absent


@pytest.fixture
def odd_files(tokenizer: Path, seed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with files that are not what commands want."""
    monkeypatch.chdir(tokenizer.parent)
    Path("photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF\0" * 99)
    Path("empty.txt").touch()
    Path("loop.txt").symlink_to("loop.txt")  # opening it is an error for everybody, root too
    Path("broken.json").write_text(tokenizer.read_text()[:200])
    Path("latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    Path("ids").write_text("97 99999")
    Path("tokens.json").write_text('{"tokens": [97]}')
    return tokenizer.parent


@pytest.mark.parametrize(
    "line",
    [
        "train missing.txt -o out.json",
        "train photo.jpg -o out.json",
        "train empty.txt -o out.json",
        "train loop.txt -o out.json",
        "train seed.txt -o out.json --vocab-size 256",
        "train seed.txt -o out.json --vocab-size many",
        "train seed.txt -o out.json --pattern ([",
        "train seed.txt -o out.json --ties none",
        "train seed.txt -o .",
        "train seed.txt -o ./seed.txt",
        "train seed.txt -o nowhere/out.json",
        "encode -t missing.json seed.txt",
        "encode -t broken.json seed.txt",
        "encode -t seed.json missing.txt",
        "encode -t seed.json latin.txt",
        "audit -t seed.txt",
        "decode -t seed.json seed.txt",
        "decode -t seed.json ids",
        "decode -t seed.json tokens.json",
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(line: str, bpescope: Bpescope, odd_files: Path) -> None:
    before = sorted(os.listdir())
    code, stdout, stderr = bpescope(*line.split())
    assert (code, stdout) == (2, "")
    assert stderr.startswith(("bpescope: ", "bpescope train: ")) and stderr.endswith(".\n") and stderr.count("\n") == 1
    assert "Unexpected" not in stderr and "Traceback" not in stderr
    assert sorted(os.listdir()) == before, "a refused command leaves nothing behind"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("train x -o y --vocab-size 257.5", "bpescope train: --vocab-size: '257.5' is no whole number"),
        ("train x -o y --min-count many", "bpescope train: --min-count: 'many' is no whole number"),
        (f"train x -o y --max-token-length {'9' * 5000}", "bpescope train: --max-token-length: '9999"),
        ("train x -o y --ties fair", "bpescope train: --ties: invalid choice: 'fair' (choose from 'first', "),
        ("train x -o", "bpescope train: -o/--output: expected one argument"),
        ("convert x -o y --format bpe", "bpescope convert: --format: invalid choice: 'bpe' (choose from 'native', "),
        ("compare x -t y --examples few", "bpescope compare: --examples: 'few' is no whole number"),
        ("encode x", "bpescope encode: the following arguments are required: -t/--tokenizer"),
        ("count x --fast", "bpescope: unrecognized arguments: --fast"),
        ("teach x", "bpescope: COMMAND: invalid choice: 'teach' (choose from 'train', "),
        ("", "bpescope: the following arguments are required: COMMAND"),
    ],
)
def test_wrong_usage_is_told_in_one_sentence(bpescope: Bpescope, line: str, sentence: str) -> None:
    code, stdout, stderr = bpescope(*line.split())
    assert (code, stdout) == (2, "")
    assert stderr.startswith(sentence) and stderr.endswith("--help says what there is.\n")
    assert stderr.count("\n") == 1 and len(stderr) < 800


def test_a_nasty_file_name_cannot_command_the_terminal(bpescope: Bpescope) -> None:
    for arguments in (
        ["count", "\x1b]0;owned\x07"],
        ["\x1b[2J"],
        ["count", "x", "--\x1b[2J"],
        ["encode", "-t", "\x1b[2J"],
    ):
        code, _, stderr = bpescope(*arguments)
        assert code == 2 and "\x1b" not in stderr and "\x07" not in stderr


def test_every_command_explains_itself_with_an_example(bpescope: Bpescope) -> None:
    code, overview, _ = bpescope("--help")
    assert code == 0
    for command in "train", "encode", "decode", "count", "audit", "convert":
        assert f"\n    {command} " in overview
        code, text, _ = bpescope(command, "--help")
        assert code == 0 and f"\n  bpescope {command} " in text.partition("for example:")[2]


def test_each_entrance_calls_itself_by_its_own_name(tmp_path: Path) -> None:
    assert in_a_shell("bpescope", tmp_path).stderr.startswith(b"python -m bpe_core: ")


def test_a_reader_who_has_enough_is_no_error(tokenizer: Path, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x" * 1_000_000)
    result = in_a_shell("bpescope encode -t seed.json long.txt | head -c 10", tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"120 120 12", b"")


def test_a_mistake_of_ours_is_one_sentence_and_a_trace_only_on_request(
    bpescope: Bpescope, tokenizer: Path, seed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: str, pattern: str | None) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("bpe_core.cli.encode.open_tokenizer", broken)
    code, _, stderr = bpescope("encode", "-t", tokenizer, seed)
    assert code == 2 and stderr.startswith("bpescope: Unexpected ZeroDivisionError: boom; please report")
    assert "Traceback" not in stderr
    assert "Traceback" in bpescope("encode", "-t", tokenizer, seed, "--debug")[2]
    monkeypatch.setenv("BPESCOPE_DEBUG", "1")
    assert "Traceback" in bpescope("encode", "-t", tokenizer, seed)[2]
