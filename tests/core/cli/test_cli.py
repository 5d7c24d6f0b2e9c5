"""The commands as a person or a script calls them: data on stdout, one sentence on stderr, a telling exit code."""

import gzip
import json
import lzma
import os
from pathlib import Path

import pytest
from real import real_file
from shell import SEED, TEXT, Bpescope, in_a_shell

from bpe_core import load, save, train
from bpe_core.formats import WRITABLE
from tests.nasty import nasty_texts

CORPUS = (
    "low low low low low lower lower widest widest widest newest newest newest newest newest newest\n"
    * 20
)
IDS = "258 100 258 97 99\n"


def test_the_textbook_example_from_text_to_ids_and_back(bpescope: Bpescope) -> None:
    code, out, error = bpescope(
        "train seed.txt -o out.json --vocab-size 259 --pattern none"
    )
    assert (
        (code, out) == (0, "")
        and "Learned 3 merges" in error
        and "vocabulary size reached" in error
    )
    assert [load("out.json").token_bytes(token) for token in (256, 257, 258)] == [
        b"aa",
        b"aaa",
        b"aaab",
    ]
    assert bpescope("encode -t out.json seed.txt") == (0, IDS, "")
    assert bpescope("encode -t out.json seed.txt --count") == (0, "5\n", "")
    assert json.loads(bpescope("encode -t out.json seed.txt --json")[1]) == {
        "ids": [258, 100, 258, 97, 99]
    }
    Path("ids").write_text(IDS)
    assert bpescope("decode -t out.json ids") == (0, SEED, "")
    Path("ids").write_text('{"text": "x \'ids\': [97] y", "ids": [98, 99]}')
    assert bpescope("decode -t out.json ids") == (0, "bc", "")
    for name in (
        "ids.jsonl",
        "ids.csv",
    ):  # read as one text, and not as rows with a field
        Path(name).write_text('{"ids": [98, 99]}\n{"ids": [97]}\n')
        assert bpescope(f"decode -t out.json {name}") == (0, "bca", "")
    Path("ids").write_text("1 two 3")
    code, out, error = bpescope("decode -t seed.json ids")
    assert (code, out) == (2, "")
    assert (
        "Invalid token id 'two' (after 1 valid id): expected a whole number." in error
    )
    Path("ids").write_text('{"ids": ["98"]}')
    assert bpescope("decode -t seed.json ids") == (
        2,
        "",
        "bpescope: Invalid token id '\"98\"': expected a whole number.\n",
    )


def test_training_options_reach_the_trainer(bpescope: Bpescope) -> None:
    Path("text.txt").write_text(CORPUS)
    options = "--vocab-size 263 --pattern words --ties largest --id-layout specials-first --special '<|end|>'"
    assert bpescope(f"train text.txt -o out.json {options}")[0] == 0
    tokenizer = load("out.json")
    assert tokenizer.encode("newest") == [262, 261] and tokenizer.special_tokens == {
        "<|end|>": 0
    }
    assert (
        bpescope(
            "train text.txt -o out.json --pattern none --min-count 20 --max-token-length 3"
        )[0]
        == 0
    )
    assert (
        max(
            len(load("out.json").token_bytes(token))
            for _, _, token in load("out.json").merges
        )
        == 3
    )


def test_a_special_token_in_a_text_needs_a_word(bpescope: Bpescope) -> None:
    Path("text").write_text("a<end>")
    code, out, error = bpescope("encode -t seed.json text")
    assert (code, out) == (2, "") and error.count("\n") == 1
    assert "'<end>' at offset 1" in error and "--allow-special" in error
    for option, ids in (
        ("--allow-special '<end>'", "97 259\n"),
        ("--allow-special all", "97 259\n"),
    ):
        assert bpescope(f"encode -t seed.json text {option}")[1] == ids
    assert (
        bpescope("encode -t seed.json text --special-as-text")[1]
        == "97 60 101 110 100 62\n"
    )
    code, _, error = bpescope("encode -t seed.json text --allow-special '<start>'")
    assert code == 2 and "'<start>' is not a special token of seed.json" in error
    assert error.endswith("; choose from all, <end>.\n")


def test_a_special_token_with_a_semicolon_is_named_whole(bpescope: Bpescope) -> None:
    save(train(SEED, vocab_size=260, special_tokens=["<a;b>"]), "odd.json")
    Path("text").write_text("1<a;b>")
    error = bpescope("encode -t odd.json text")[2]
    assert "special token '<a;b>' at offset 1; allow it with --allow-special" in error


def test_what_goes_through_a_pipe_comes_out_byte_for_byte(folder: Path) -> None:
    data = "\ufeffa\r\nb\rc\n\n\x1b]0;title\x07 \0 é 😊 \u2028 ".encode()
    through = "bpescope encode -t seed.json --json - | bpescope decode -t seed.json"
    for line, given, expected in (
        (through, data, data),
        ("bpescope decode -t seed.json", b"255 0\n10", b"\xff\x00\n"),
    ):
        ended = in_a_shell(line, folder, given)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, expected, b"")


def test_a_text_has_the_same_ids_alone_and_beside_another(bpescope: Bpescope) -> None:
    Path("mark.txt").write_text("\ufeff" + TEXT)
    Path("wide.txt").write_bytes(TEXT.encode("utf-16"))
    Path("empty.txt").touch()
    Path("packed.gz").write_bytes(gzip.compress(TEXT.encode()))
    Path("packed.xz").write_bytes(lzma.compress(TEXT.encode()))
    names = [
        "text.txt",
        "mark.txt",
        "wide.txt",
        "empty.txt",
        "packed.gz",
        "packed.xz",
        "text.txt",
    ]
    alone = [bpescope(f"encode -t one.json {name}")[1] for name in names]
    assert bpescope(f"encode -t one.json {' '.join(names)}") == (0, "".join(alone), "")
    assert alone[0] == alone[2] == alone[4] == alone[5] and alone[3] == "\n"
    mark = train(TEXT, vocab_size=280).encode("\ufeff")
    assert (
        alone[1] == f"{' '.join(map(str, mark))} {alone[0]}"
    )  # the mark is a character of the text
    assert bpescope("encode -t one.json --json empty.txt") == (0, '{"ids": []}\n', "")
    assert bpescope("decode -t one.json empty.txt") == (0, "", "")


@pytest.mark.slow
def test_a_pipe_of_the_shell_is_read_and_a_device_is_not(folder: Path) -> None:
    line = "bpescope encode -t one.json <(printf 'the theme') | bpescope decode -t one.json <(cat)"
    assert in_a_shell(line, folder).stdout == b"the theme"
    assert in_a_shell("bpescope encode -t one.json /dev/null", folder).stdout == b"\n"
    for line in (
        "encode -t one.json /dev/zero",
        "decode -t one.json /dev/zero",
        "count /dev/zero",
    ):
        ended = in_a_shell(f"ulimit -v 2000000; bpescope {line}", folder)
        assert (
            ended.returncode == 2
            and b"it is a device" in ended.stderr
            and ended.stderr.count(b"\n") == 1
        )
    ended = in_a_shell(
        "mkfifo pipe; cat text.txt > pipe & bpescope audit -t one.json --corpus pipe",
        folder,
    )
    assert ended.returncode == 0 and b"Read 1 document:" in ended.stderr


@pytest.mark.parametrize("command", ["encode", "measure"])
def test_a_pipe_next_to_other_texts_is_refused(
    bpescope: Bpescope, command: str
) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    pipe = f"/dev/fd/{reading}"
    code, out, error = bpescope(f"{command} -t one.json text.txt {pipe}")
    os.close(reading)
    assert (code, out) == (2, "")
    assert error.startswith(f"bpescope: {pipe} can't be combined with other inputs;")


def test_count_counts_documents_of_a_folder_and_does_not_flood_the_terminal(
    bpescope: Bpescope,
) -> None:
    Path("texts").mkdir()
    Path("texts/one.txt").write_text("Hello world")
    Path("texts/two.md").write_text("Hello 🤯")
    for number in range(20):
        Path(f"texts/{number}.jpg").write_bytes(b"\xff\xd8\0\0\0")
    code, out, error = bpescope("count texts --pattern gpt2")
    rows = dict(line.rsplit(None, 1) for line in out.splitlines())
    assert (
        code == 0
        and error.count("Skipped") == 6
        and ".jpg" in error
        and "15 more files" in error
    )
    assert rows == {
        "documents": "2",
        "bytes": "21",
        "characters": "18",
        "pieces": "4",
        "different pieces": "3",
    }
    assert bpescope("compare -t one.json -t two.json texts")[2].count("Skipped") == 6


@pytest.mark.parametrize("format", WRITABLE)
def test_from_any_format_into_another_and_back(format: str, bpescope: Bpescope) -> None:
    texts = nasty_texts(150)
    tokenizer = train(texts, vocab_size=400, pattern="gpt2", special_tokens=["<|end|>"])
    save(tokenizer, "mine.json")
    code, out, warning = bpescope(f"convert mine.json -o vocab.json --format {format}")
    assert (code, out, bool(warning)) == (0, "", format == "tiktoken")
    assert bpescope(
        "convert vocab.json -o back.json --format native --pattern gpt2"
    ) == (0, "", "")
    again = load("back.json")
    assert again.merges == tokenizer.merges
    assert all(
        again.encode_ordinary(text) == tokenizer.encode_ordinary(text) for text in texts
    )


def test_special_tokens_that_a_file_of_ranks_has_no_place_for_are_told(
    bpescope: Bpescope, tmp_path: Path
) -> None:
    for specials, left_out in (
        ([], None),
        (
            ["<|end|>"],
            "so '<|end|>' (300) is left out. Pass them to the program that reads the file",
        ),
        (
            ["<\x1b[2J>", "b", "c"],
            "so '<␛[2J>' (300) and 2 more are left out. Pass them",
        ),
    ):
        learned = train(nasty_texts(150), vocab_size=300, pattern="gpt2")
        save(
            learned.with_special_tokens(
                {text: 300 + n for n, text in enumerate(specials)}
            ),
            "mine.json",
        )
        code, out, warning = bpescope(
            "convert mine.json -o mine.tiktoken --format tiktoken"
        )
        assert (code, out) == (0, "") and warning.count("\n") == len(specials[:1])
        if left_out:
            assert warning.startswith(
                f"A file of ranks has no place for special tokens, {left_out}"
            )
            assert warning.endswith(
                "or keep them with the format huggingface or native.\n"
            )
    published = real_file("r50k_base.tiktoken", tmp_path)
    assert bpescope(f"convert {published} -o same.tiktoken --format tiktoken") == (
        0,
        "",
        "",
    )
    assert load("same.tiktoken").special_tokens == {"<|endoftext|>": 50256}


@pytest.fixture
def odd_files(folder: Path) -> None:
    """Files that are not what commands want."""
    Path("photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF\0" * 99)
    Path("empty.txt").touch()
    Path("loop.txt").symlink_to(
        "loop.txt"
    )  # opening it is an error for everybody, root too
    Path("broken.json").write_text(Path("seed.json").read_text()[:200])
    Path("latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    Path("ids").write_text("97 99999")
    Path("tokens.json").write_text('{"tokens": [97]}')
    Path("no_rows.csv").write_text("text\n")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        *(
            (f"train {path} -o out.json", "")
            for path in ("missing.txt", "photo.jpg", "empty.txt", "loop.txt")
        ),
        ("train seed.txt -o out.json --vocab-size 256", ""),
        ("train seed.txt -o out.json --pattern ([", ""),
        ("train seed.txt -o .", ""),
        ("train seed.txt -o ./seed.txt", ""),
        ("train seed.txt -o nowhere/out.json", ""),
        ("encode -t missing.json seed.txt", ""),
        ("encode -t broken.json seed.txt", ""),
        ("encode -t seed.json missing.txt", ""),
        ("encode -t seed.json latin.txt", ""),
        ("audit -t seed.txt", ""),
        ("audit -t seed.json --all-tokens", "--all-tokens needs --jsonl"),
        (
            "audit -t seed.json --fail-on nonsense",
            "unknown kind of finding 'nonsense'; choose from unreachable, ",
        ),
        ("decode -t seed.json seed.txt", ""),
        ("decode -t seed.json ids", ""),
        ("decode -t seed.json tokens.json", ""),
        ("convert seed.json -o seed.json --format tiktoken", "name another file"),
        ("convert none -o x --format native", "cannot be read"),
        ("convert seed.json -o no/x --format native", "cannot be written"),
        ("compare -t one.json text.txt", "compare needs two tokenizers"),
        ("compare -t one.json -t two.json --sections text.txt", "leave out --sections"),
        ("encode -t one.json text.txt -", "stdin can't be combined with other inputs"),
        (
            "encode -t one.json text.txt --dask local",
            "--dask and -o IDS only work together",
        ),
        ("encode -t one.json text.txt -o ids", "--dask and -o IDS only work together"),
        (
            "encode -t one.json text.txt --dask local -o ids --count",
            "leave out --json and --count",
        ),
        (
            "encode -t one.json --dask local -o ids",
            "encodes files and folders, not stdin",
        ),
        (
            "compare -t one.json -t two.json - text.txt",
            "stdin can't be combined with other inputs",
        ),
        ("compare -t one.json -t two.json text.none", "text.none cannot be read"),
        (
            "compare -t one.json -t two.json no_rows.csv::text",
            "no_rows.csv::text has no rows; name other texts.",
        ),
        ("compare -t one.json -t text.txt text.txt", "text.txt"),
        (
            "compare -t one.json -t two.json --reference de text.txt",
            "no text or folder is called 'de'; choose from text.txt",
        ),
        (
            "compare -t one.json -t two.json --morphemes text.none text.txt",
            "text.none cannot be read",
        ),
        (
            f"compare -t one.json -t two.json {'--pattern gpt2 ' * 3} text.txt",
            "2 tokenizers and 3 patterns",
        ),
        ("show -t seed.json --svg --ids seed.txt", "leave out --ids"),
        ("why", "why needs a tokenizer; name one with -t"),
        ("why -t one.json", "why needs texts to count the pairs in; name the texts"),
        (
            "why --preset S2 --step 7",
            "Step 7 does not exist; this vocabulary has the steps 0 to 6.",
        ),
        ("why -t one.json missing.txt", "no such file"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    line: str, sentence: str, bpescope: Bpescope, odd_files: None
) -> None:
    before = sorted(os.listdir())
    code, out, error = bpescope(line)
    assert (code, out) == (2, "") and sentence in error
    assert (
        error.startswith("bpescope: ")
        and error.endswith(".\n")
        and error.count("\n") == 1
    )
    assert "Unexpected" not in error and "Traceback" not in error
    assert sorted(os.listdir()) == before, "a refused command leaves nothing behind"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "train x -o y --vocab-size 257.5",
            "bpescope train: --vocab-size: '257.5' is not a whole number",
        ),
        (
            f"train x -o y --max-token-length {'9' * 5000}",
            "bpescope train: --max-token-length: '9999",
        ),
        (
            "train x -o y --ties fair",
            "bpescope train: --ties: invalid choice: 'fair' (choose from 'first', ",
        ),
        ("train x -o", "bpescope train: -o/--output: expected one argument"),
        (
            "convert x -o y --format tekken",
            "bpescope convert: --format: invalid choice: 'tekken' (choose from ",
        ),
        ("why x -t y --rows -5", "bpescope why: --rows: '-5' is below 0"),
        (
            "compare x -t y --examples few",
            "bpescope compare: --examples: 'few' is not a whole number",
        ),
        (
            "compare x -t y --metrics tokens,length",
            "bpescope compare: --metrics: unknown metric 'length'; choose from tokens, ",
        ),
        (
            "audit -t x --html --markdown",
            "bpescope audit: --markdown: not allowed with argument --html",
        ),
        (
            "encode x",
            "bpescope encode: the following arguments are required: -t/--tokenizer",
        ),
        ("diff", "bpescope diff: the following arguments are required: A, B;"),
        ("count x --fast", "bpescope count: unrecognized arguments: --fast"),
        (
            "train x -o y --min-frequency 2",
            "bpescope train: unrecognized arguments: --min-frequency 2 (it is called --min-c",
        ),
        (
            "train x -o y --special-tokens=<s>",
            "bpescope train: unrecognized arguments: --special-tokens=<s> (it is called ",
        ),
        (
            "train x -o y --initial-alphabet a",
            "bpescope train: unrecognized arguments: --initial-alphabet a (leave it out",
        ),
        (
            "teach x",
            "bpescope: COMMAND: invalid choice: 'teach' (choose from 'train', ",
        ),
        ("", "bpescope: the following arguments are required: COMMAND"),
    ],
)
def test_wrong_usage_is_told_in_one_sentence(
    bpescope: Bpescope, line: str, sentence: str
) -> None:
    code, out, error = bpescope(line)
    assert (code, out) == (2, "")
    assert error.startswith(sentence) and error.endswith(" --help.\n")
    assert error.count("\n") == 1 and len(error) < 800


def test_options_may_come_between_paths(bpescope: Bpescope) -> None:
    line = "diff one.json one.json --pattern none --pattern words text.txt --lines 1 seed.txt"
    assert " of 10 lines " in bpescope(line)[1]


@pytest.mark.parametrize(
    "line",
    ["count '\x1b]0;owned\x07'", "\x1b[2J", "count x --\x1b[2J", "encode -t \x1b[2J"],
)
def test_a_nasty_file_name_cannot_command_the_terminal(
    line: str, bpescope: Bpescope
) -> None:
    code, _, error = bpescope(line)
    assert code == 2 and "\x1b" not in error and "\x07" not in error


def test_every_command_explains_itself_with_an_example(bpescope: Bpescope) -> None:
    code, overview, _ = bpescope("--help")
    assert code == 0
    for command in "encode", "decode", "count", "audit", "convert", "train":
        assert f"\n    {command} " in overview
        code, text, _ = bpescope(f"{command} --help")
        assert (
            code == 0 and f"\n  bpescope {command} " in text.partition("examples:")[2]
        )
    assert all(
        value in text
        for value in ("--pattern PATTERN", "--special SPECIAL", "--min-share SHARE")
    )


@pytest.mark.slow
def test_a_reader_who_has_enough_is_no_error_and_each_entrance_has_its_own_name(
    folder: Path,
) -> None:
    Path("long.txt").write_text("x" * 1_000_000)
    ended = in_a_shell(
        "bpescope; bpescope encode -t seed.json long.txt | head -c 10", folder
    )
    assert (ended.returncode, ended.stdout) == (0, b"120 120 12")
    assert (
        ended.stderr.startswith(b"python -m bpe_core: ")
        and ended.stderr.count(b"\n") == 1
    )


def test_a_mistake_of_ours_is_one_sentence_and_a_trace_only_on_request(
    bpescope: Bpescope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: str, pattern: str | None) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("bpe_core.cli.encode.open_tokenizer", broken)
    code, _, error = bpescope("encode -t seed.json seed.txt")
    assert code == 2 and error.startswith(
        "bpescope: Unexpected ZeroDivisionError: boom; please report"
    )
    assert (
        "Traceback" not in error
        and "Traceback" in bpescope("encode -t seed.json seed.txt --debug")[2]
    )
    monkeypatch.setenv("BPESCOPE_DEBUG", "1")
    assert "Traceback" in bpescope("encode -t seed.json seed.txt")[2]


def test_weighted_bytes_are_shown_as_the_fractions_that_they_are(
    bpescope: Bpescope,
) -> None:
    Path("nine.txt").write_text("x" * 9)
    for weight, shown in ("1/2", "4.5"), ("1/7", "1 2/7"), ("2", "18"):
        _, _, said = bpescope(f"count nine.txt seed.txt --weight nine.txt={weight}")
        assert f"nine.txt: 9 bytes (weighted: {shown}), " in said


def test_a_folder_with_nothing_but_the_output_is_one_sentence(
    bpescope: Bpescope, tmp_path: Path
) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "out.json").write_text("from the last run")
    code, out, said = bpescope("train texts -o texts/out.json")
    assert (code, out) == (2, "")
    assert said == (
        "bpescope: The only files found are those that this command writes; name the texts to read.\n"
    )


@pytest.mark.parametrize(
    "command", ["count seed.txt", "train seed.txt -o new.json", "train --preset S0"]
)
def test_alpha_needs_several_paths(bpescope: Bpescope, command: str) -> None:
    code, out, said = bpescope(f"{command} --alpha 1/2")
    assert (code, out) == (2, "") and not Path("new.json").exists()
    assert said.startswith(
        "bpescope: --alpha needs several paths to balance, and there is only one"
    )
