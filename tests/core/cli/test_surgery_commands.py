"""`prune`, `graft` and `unite`: each way to choose tokens, the files they write, and what they refuse."""

import csv
import json
import os
import signal
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest
import tiktoken
import tokenizers
from shell import TEXT, Bpescope
from tiktoken.load import load_tiktoken_bpe

from bpe_core import Counts, Tokenizer, audit, load, save, train
from bpe_core.auditing.findings import Finding
from bpe_core.auditing.matrix import open_matrix
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import verdicts
from bpe_core.errors import Stopped
from bpe_core.patterns import PATTERNS
from bpe_core.surgery.pruning import prune
from bpe_core.vocabulary.symbols import BYTE_OF
from bpe_core.worker.inputs import compare_on_files
from bpe_core.worker.job import Job
from bpe_core.worker.surgery import latest_tokens

FLAGS = dict.fromkeys(("lstrip", "rstrip", "normalized", "single_word"), False)
LOW = "low low low lower lower lowest newest newest widest " * 9


@pytest.fixture
def low(folder: Path) -> Tokenizer:
    """`low.json`, a small tokenizer in the native format with two special tokens, and `texts/`."""
    tokenizer = train(LOW, vocab_size=274, special_tokens=["<end>", "<pad>"])
    save(tokenizer, "low.json")
    Path("texts").mkdir()
    Path("texts/low.txt").write_text(LOW)
    return tokenizer


def token(tokenizer: Tokenizer, text: str) -> int:
    return tokenizer.vocabulary.id_by_bytes[text.encode()]


def save_rows(rows: np.ndarray) -> None:
    """Write `a.safetensors` with a matrix of float64 and float32."""
    dtype = {"<f8": "F64", "<f4": "F32"}[rows.dtype.str]
    matrix = {"dtype": dtype, "shape": rows.shape, "data_offsets": [0, rows.nbytes]}
    header = json.dumps({"wte.weight": matrix}).encode()
    content = len(header).to_bytes(8, "little") + header + rows.tobytes()
    Path("a.safetensors").write_bytes(content)


def saved_rows() -> np.ndarray:
    return np.array(open_matrix("b.safetensors").data)


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*.*")}


def report(bpescope: Bpescope, line: str) -> dict:
    code, out, error = bpescope(f"{line} --json --no-audit")
    assert code == 0, error
    return json.loads(out)


def removed(bpescope: Bpescope, choice: str, options: str = "") -> set[int]:
    rows = report(bpescope, f"prune low.json -o out.json {choice} {options}")
    return {row["id"] for row in rows["removed"]}


def test_a_list_of_tokens_has_ids_hex_and_texts(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    lower, new = token(low, " lower"), token(low, " new")
    est, widest = token(low, "est"), token(low, " widest")
    listed = f"{lower}\n\n{b' new'.hex()}\n"
    Path("list").write_text(listed)
    # Without 0x it is a text.
    code, _, error = bpescope("prune low.json -o out.json --tokens list")
    assert code == 2 and "list, line 3: the tokenizer has no token '206e6577'" in error
    Path("list").write_text(f'\ufeff lower\r\n0x206e6577\n"est"\n {widest} \n')
    assert removed(bpescope, "--tokens list", "--with-descendants") >= {
        lower,
        new,
        est,
        widest,
    }
    after = load("out.json")
    assert after.decode(after.encode(" lower new")) == " lower new"
    assert lower not in after.encode(LOW) and lower not in after.vocabulary


def test_a_number_in_quotation_marks_is_a_text(bpescope: Bpescope) -> None:
    numbers = train("12 12 12 12", vocab_size=258, pattern="none")
    save(numbers, "low.json")
    Path("list").write_text('"12"')
    assert removed(bpescope, "--tokens list", "--with-descendants") >= {
        token(numbers, "12")
    }


def test_tokens_with_findings(bpescope: Bpescope, low: Tokenizer) -> None:
    counts = Counts.of([LOW], low.pattern)
    rows = verdicts(AuditSubject(low, counts=counts), audit(low, counts=counts))
    scaffold = {row.id for row in rows if "scaffold" in row.kinds}
    score = sorted(row.score for row in rows if row.id in scaffold)[len(scaffold) // 2]
    some = {row.id for row in rows if row.id in scaffold and row.score >= score}
    assert some and some < scaffold
    choice = f"--audit scaffold,few-documents --corpus texts/ --score {score}"
    chosen = removed(bpescope, choice, "--with-descendants")
    few = {
        row.id for row in rows if "few-documents" in row.kinds and row.score >= score
    }
    expected = prune(low, some | few, unreachable="with-descendants")
    assert chosen == set(expected.removed)


@pytest.mark.parametrize("counted", [False, True])
def test_tokens_that_texts_do_not_have(
    counted: bool, bpescope: Bpescope, low: Tokenizer
) -> None:
    Path("texts/low.txt").write_text("low lower lower newest")
    source = "texts/"
    if counted:
        assert bpescope("count texts/ -o low.parquet")[0] == 0
        source = "low.parquet"
    ids = low.encode("low lower lower newest")
    made = {token for _, _, token in low.merges}
    for least, option in ((1, ""), (2, " --fewer-than 2")):
        unused = {token for token in made if ids.count(token) < least}
        expected = prune(low, unused, unreachable="with-descendants")
        choice = f"--unused-in {source}{option}"
        assert removed(bpescope, choice, "--with-descendants") == set(expected.removed)
        kept = prune(low, unused, unreachable="keep-parents")
        line = f"prune low.json -o out.json {choice} --keep-parents"
        facts = report(bpescope, line)
        assert [row["id"] for row in facts["removed"]] == list(kept.removed)
        assert [row["id"] for row in facts["kept"]] == sorted(kept.kept)
    assert len(kept.removed) < len(expected.removed)


def test_the_latest_tokens_go_until_the_size_is_reached(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    size = low.n_tokens - 5
    latest = {token for _, _, token in low.merges[-5:]}
    assert removed(bpescope, f"--size {size}") == latest
    assert load("out.json").n_tokens == size
    assert load("out.json").encode(LOW) == low.at(low.step - 5).encode(LOW)


@pytest.mark.usefixtures("folder")
def test_the_latest_token_that_nothing_is_built_on_goes_first() -> None:
    # The file lists a merge before the one that makes its part.
    vocabulary = load_with_merges(["x y", "xy z", "a b"])
    assert [vocabulary.decode([t]) for t in latest_tokens(vocabulary, 257)] == [
        "ab",
        "xyz",
    ]
    late_part = load_with_merges(["a bc", "b c", "x y"])
    chosen = [late_part.decode([t]) for t in latest_tokens(late_part, 256)]
    assert chosen == ["xy", "abc", "bc"]
    # An added token is found before merging, also if merges make it.
    added = {"id": late_part.vocabulary.id_by_bytes[b"xy"], "content": "xy"}
    with_added = load_with_merges(
        ["a bc", "b c", "x y"], added_tokens=[{**FLAGS, **added, "special": False}]
    )
    chosen = [with_added.decode([t]) for t in latest_tokens(with_added, 257)]
    assert chosen == ["abc", "bc"]


def load_with_merges(merges: list[str], **more: object) -> Tokenizer:
    """A tokenizer.json of the bytes and these merges, with further fields."""
    vocab = {name: byte for name, byte in BYTE_OF.items()}
    for merge in merges:
        vocab.setdefault(merge.replace(" ", ""), len(vocab))
    flags = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    content = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "ByteLevel",
            **flags,
        },
        "post_processor": None,
        "decoder": {"type": "ByteLevel", **flags},
        "model": {
            "type": "BPE",
            "vocab": vocab,
            "merges": merges,
            "ignore_merges": False,
        },
    }
    Path("tokenizer.json").write_text(json.dumps({**content, **more}))
    return load("tokenizer.json")


def test_everything_else_in_a_tokenizer_json_stays(bpescope: Bpescope) -> None:
    added = {"id": 259, "content": "<pad>", "special": True, **FLAGS}
    padding = {
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 259,
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }
    load_with_merges(
        ["t h", "th e", "a b"],
        added_tokens=[added],
        padding=padding,
        odd_field={"a": [1, None]},
        truncation=None,
    )
    before = json.loads(Path("tokenizer.json").read_text())
    Path("list").write_text("ab\n")
    Path("words").write_text("theab\n")
    rows = report(bpescope, "prune tokenizer.json -o p.json --tokens list")
    assert rows["format"] == "huggingface"
    report(bpescope, "graft tokenizer.json -o g.json --words words")
    for name in ("p.json", "g.json"):
        after = json.loads(Path(name).read_text())
        for field in ("vocab", "merges"):
            assert after["model"].pop(field) != before["model"][field]
        kept = {"type": "BPE", "ignore_merges": False}
        assert after == {**before, "model": kept}
        # The library refuses unknown fields.
        content = json.loads(Path(name).read_text())
        del content["odd_field"]
        library = tokenizers.Tokenizer.from_str(json.dumps(content))
        ours = load(name)
        for text in ("the theab ab thea", "<pad> ab"):
            ids = ours.encode(text, allowed_special="all")
            assert library.encode(text, add_special_tokens=False).ids == ids


def test_ranks_stay_ranks_and_tiktoken_reads_them(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    assert bpescope("convert low.json -o low.tiktoken --format tiktoken")[0] == 0
    line = "prune low.tiktoken --pattern gpt4 -o out.tiktoken --size 268"
    code, _, error = bpescope(line)
    assert code == 0 and "read it with the pattern 'gpt4'" in error
    ranks = load_tiktoken_bpe("out.tiktoken")
    after = load("out.tiktoken", pattern="gpt4")
    encoding = tiktoken.Encoding(
        "out",
        pat_str=PATTERNS["gpt4"],
        mergeable_ranks=ranks,
        special_tokens={},
    )
    for text in (LOW, TEXT, "lowest 123 lowlow"):
        assert encoding.encode_ordinary(text) == after.encode_ordinary(text)


def test_a_token_that_is_still_looked_up_needs_a_decision_too(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    assert bpescope("convert low.json -o low.tiktoken --format tiktoken")[0] == 0
    Path("list").write_text(" lowe\n")
    line = "prune low.tiktoken --pattern gpt4 -o out.tiktoken --tokens list --no-audit"
    code, _, error = bpescope(line)
    assert code == 2 and "could not be merged any more, such as" in error
    code, out, _ = bpescope(f"{line} --with-descendants")
    assert code == 0 and "Found only as whole pre-tokens now  1" in out
    code, _, error = bpescope(f"{line} --keep-parents")
    assert code == 2 and "Nothing can be removed" in error


def test_renumbering_writes_the_mapping_and_moves_the_rows(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    rows = np.arange(3 * low.n_vocab, dtype="<f4").reshape(low.n_vocab, 3)
    save_rows(rows)
    Path("list").write_text(" lower\n")
    facts = report(
        bpescope,
        "prune low.json -o out.json --tokens list --renumber --with-descendants --embeddings a.safetensors b.safetensors",
    )
    mapping = json.loads(Path("out.json.mapping.json").read_text())
    gone = {row["id"] for row in facts["removed"]}
    left = [old for old in low.vocabulary.ids() if old not in gone]
    assert mapping == {str(old): new for new, old in enumerate(left)}
    new_rows = saved_rows()
    after = load("out.json")
    assert len(new_rows) == after.n_vocab == len(left)
    for old, new in mapping.items():
        assert (new_rows[new] == rows[int(old)]).all()
        assert after.token_bytes(new) == low.token_bytes(int(old))


def test_rows_of_grafted_words_are_the_mean_of_what_they_were(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    rows = np.random.default_rng(1).normal(size=(low.n_vocab, 4))
    save_rows(rows)
    Path("words").write_text(" slower\nwidening\n")
    facts = report(
        bpescope,
        "graft low.json -o out.json --words words --embeddings a.safetensors b.safetensors",
    )
    after, new_rows = load("out.json"), saved_rows()
    assert len(new_rows) == after.n_vocab and (new_rows[: low.n_vocab] == rows).all()
    for made in range(low.n_vocab, after.n_vocab):
        parts = low.encode(after.decode([made]))
        assert new_rows[made] == pytest.approx(rows[parts].mean(axis=0), abs=1e-15)
    assert [word["ids"] for word in facts["words"]] == [
        low.encode(" slower"),
        low.encode("widening"),
    ]


def test_words_that_save_most_come_until_the_size_is_reached(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    text = " slower slower slower flowest flowest lowing"
    Path("texts/low.txt").write_text(text)
    size = low.n_tokens + 6
    line = f"graft low.json texts/ -o out.json --from texts/ --size {size}"
    facts = report(bpescope, line)
    after = load("out.json")
    assert facts["words"][0]["text"] == "␣slower"
    assert low.n_tokens < after.n_tokens <= size
    saved = sum(word["saving"] for word in facts["words"])
    assert saved == len(low.encode(text)) - len(after.encode(text)) > 0
    n_before, n_after = facts["texts"]["tokens"]
    assert n_before - n_after == saved


def test_the_table_of_two_tokenizers(bpescope: Bpescope, low: Tokenizer) -> None:
    other = train("slow slower lowest " * 9, vocab_size=268, special_tokens=["<eot>"])
    save(other, "other.json")
    line = "unite low.json other.json -o out.json --table table.csv"
    facts = report(bpescope, line)
    after = load("out.json")
    with Path("table.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    outcomes = ("same", "new", "part", "impossible")
    assert len(rows) == sum(len(facts[outcome]) for outcome in outcomes)
    of_other = [row for row in rows if row["id_b"]]
    assert {int(row["id_b"]) for row in of_other} == set(other.vocabulary.ids())
    for row in of_other:
        data = other.token_bytes(int(row["id_b"]))
        assert row["token"] == data.hex()
        if row["outcome"] == "impossible":
            assert row["reason"] and not row["id"]
            continue
        assert after.token_bytes(int(row["id"])) == data
        assert (int(row["id"]) in low.vocabulary) == (row["outcome"] == "same")
    special = [row for row in of_other if row["token"] == b"<eot>".hex()]
    assert [row["outcome"] for row in special] == ["impossible"]
    new = {int(row["id"]) for row in rows if row["outcome"] in ("new", "part")}
    assert new == set(range(low.n_vocab, after.n_vocab))


def test_the_report_counts_texts_and_findings(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    Path("texts/low.txt").write_text("wide\nlower lower\n\nnew lower\nhi")
    Path("list").write_text(" lower\n")
    line = "prune low.json texts/ -o out.json --tokens list --with-descendants"
    _, out, _ = bpescope(f"{line} --renumber --json")
    renumbered = json.loads(out)
    code, out, error = bpescope(line)
    after = load("out.json")
    text = Path("texts/low.txt").read_text()
    n_before, n_after = len(low.encode(text)), len(after.encode(text))
    assert code == 0 and "Saved in out.json." in error
    assert "Different lines: 2 of 5." in out
    assert f"Tokens of the texts: {n_before} before, {n_after} after." in out
    becomes = " + ".join(
        f"“{after.decode([t])}”" for t in after.encode(" lower")
    ).replace(" lo", "␣lo")
    assert any(line.endswith(becomes) for line in out.splitlines())
    code, out, _ = bpescope(f"{line} --json")
    found = json.loads(out)
    assert found.pop("notes") != renumbered.pop("notes")
    assert found == renumbered  # with the old ids
    old = Tokenizer(low.vocabulary, low.pattern)  # without the training record
    assert found["findings_before"] == audit(old).kinds()
    assert found["findings_after"] == audit(after).kinds()
    gone = {(f.id, f.kind) for f in audit(old)} - {(f.id, f.kind) for f in audit(after)}
    left = {(row["id"], row["kind"]) for row in found["findings_gone"]}
    assert left == {(i, kind) for i, kind in gone if i in after.vocabulary}


def test_lines_of_a_text_in_parts_are_counted_once(
    low: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [token(low, " lower")]
    pruned = prune(low, chosen, unreachable="with-descendants")
    # The first line has several blocks, and is changed in each of them.
    lines = ["low lower " * 20_000 + "\n", "wide newest " * 9, "\n", "a lower\n", "end"]
    text = "".join(lines)
    Path("texts/low.txt").write_text(text)
    job = Job()
    try:
        for size in (1 << 18, 1 << 12):
            monkeypatch.setattr("bpe_core.metrics.text_parts.PART", size)
            found = compare_on_files(low, pruned.tokenizer, ["texts"], job)
            assert (found.n_lines, found.n_different_lines) == (4, 2)
            assert found.n_bytes == len(text)
            n_after = len(pruned.tokenizer.encode(text))
            assert found.n_tokens == (len(low.encode(text)), n_after)
        job.stop("stopped")
        with pytest.raises(Stopped):
            compare_on_files(low, pruned.tokenizer, ["texts"], job)
    finally:
        job.close()


REFUSED = {
    "prune low.json -o out.json --tokens none": "No token that can be removed is chosen; choose others.",
    "prune low.json -o out.json --tokens unknown": "unknown, line 1: the tokenizer has no token '99999'",
    "prune low.json -o out.json --tokens missing": "missing",
    "prune low.json -o out.json --tokens byte": "it is the byte 0x6C, and each byte needs a token",
    "prune low.json -o out.json --tokens special": "it is a special token; leave it out.",
    "prune low.json -o out.json --tokens nothex": "line 1: the tokenizer has no token '0xlow'",
    "prune low.json -o out.json --tokens notjson": "is not a JSON string",
    "prune low.json -o out.json --tokens lower": "Add --with-descendants to also remove those that",
    "prune low.json -o out.json --tokens lower --score 1": "--score needs --audit; add --audit, or leave out --score.",
    "prune low.json -o out.json --unused-in low.txt --fewer-than 0": "No token that can be removed is chosen",
    "prune low.json -o out.json --tokens lower --fewer-than 0": "--fewer-than needs --unused-in; add --unused-in",
    "prune low.json -o out.json --size 999": "choose a smaller --size.",
    "prune low.json -o out.json --size 9": "Only 16 tokens can be removed; choose a --size of 258 or more.",
    "prune low.json -o out.json --audit odd": "--audit: unknown kind of finding 'odd'",
    "prune low.json -o out.json --audit duplicate": "No token that can be removed is chosen",
    "prune low.json -o low.json --size 260": "two are the same file; name another one to write.",
    "prune low.json -o out.json --size 260 --embeddings a.safetensors b.safetensors": "add --renumber, or leave out",
    "prune low.json -o out.json --size 260 --renumber --embeddings a.safetensors a.safetensors": "two are the same file",
    "prune low.json -o out.json --size 260 --renumber --embeddings a.safetensors b.safetensors": "has 3 rows, and",
    "prune low.json -o no/out.json --size 260": "there is no folder",
    "prune low.json missing.txt -o out.json --size 260": "missing.txt",
    "graft low.json -o out.json --words none": "There are no words to add; give at least one.",
    "graft low.json -o out.json --words low.txt": "None of the words can become a token.",
    "graft low.json -o out.json --words lower --size 300": "--from and --size N only work together",
    "graft low.json -o out.json --from texts/ --size 9": "choose a larger --size.",
    "unite low.json ended.json -o out.json": "marks the ends of words",
    "prune ended.json -o out.json --size 257": "marks the ends of words",
    "prune low.json -o out.json --size 260 --format tiktoken --embeddings a b --renumber": "a is not a .safetensors",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused_in_one_sentence_and_nothing_written(
    line: str, bpescope: Bpescope, low: Tokenizer
) -> None:
    contents = {
        "none": "\n\n",
        "unknown": "99999\n",
        "byte": '"l"\n',
        "special": "<end>\n",
        "nothex": "0xlow\n",
        "notjson": '"a"b"\n',
        "lower": "low\n",
        "low.txt": "low\ntwo words\n",
    }
    for name, content in contents.items():
        Path(name).write_text(content)
    save_rows(np.zeros((3, 2)))
    save(train("low low", vocab_size=258, end_of_word="</w>"), "ended.json")
    before = files()
    code, out, error = bpescope(line)
    assert (code, out) == (2, ""), out
    sentence = error.splitlines()[-1]
    assert REFUSED[line] in sentence and sentence.startswith("bpescope: ")
    assert files() == before


def test_a_choice_is_needed(bpescope: Bpescope) -> None:
    code, _, error = bpescope("prune seed.json -o out.json")
    assert (
        code == 2
        and "one of the arguments --tokens --audit --unused-in --size" in error
    )


def test_a_format_that_is_only_read_is_not_chosen(bpescope: Bpescope) -> None:
    words = " ".join(b64encode(bytes([byte])).decode() for byte in range(256))
    content = {
        "pat_str": r"\S+|\s+",
        "special_tokens": {},
        "bpe_ranks": f"! 0 {words} YWI=",
    }
    Path("old.json").write_text(json.dumps(content))
    code, _, error = bpescope("prune old.json -o out.json --size 256")
    assert code == 2 and "which bpescope only reads; choose another for" in error


def test_embeddings_are_not_left_behind_if_the_tokenizer_is_refused(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    save_rows(np.zeros((low.n_vocab, 2)))
    Path("words").write_text("slow\n")
    before = files()
    line = "graft low.json -o out.model --words words --format minbpe --embeddings a.safetensors b.safetensors"
    code, _, error = bpescope(line)  # the special tokens come before the new ids
    assert code == 2 and "cannot be written for minbpe" in error
    assert files() == before


def test_another_pattern_is_written_to_a_new_file(bpescope: Bpescope) -> None:
    load_with_merges(["t h", "th e", "a b"], odd_field=1)
    line = "prune tokenizer.json -o out.json --size 258 --pattern gpt4 --no-audit"
    assert bpescope(line)[0] == 0
    given = load("tokenizer.json", pattern="gpt4")
    assert load("out.json") == prune(given, [token(given, "ab")]).tokenizer


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_nothing_is_written_if_the_embeddings_can_not_be(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    save_rows(np.zeros((low.n_vocab, 2)))
    before = files()
    line = "prune low.json -o out.json --size 270 --renumber --no-audit --embeddings a.safetensors /dev/full"
    code, out, error = bpescope(line)
    assert (code, out) == (2, "") and "/dev/full cannot be written" in error
    assert files() == before


def test_long_lists_are_cut_in_the_report_and_whole_as_json(bpescope: Bpescope) -> None:
    line = "prune one.json -o out.json --size 256 --no-audit"
    code, out, _ = bpescope(line)
    assert (
        code == 0
        and "Removed tokens  24" in out
        and "  and 4 more (--json prints all)\n" in out
    )
    assert len(json.loads(bpescope(f"{line} --json")[1])["removed"]) == 24


def test_interrupted_it_writes_nothing(
    bpescope: Bpescope, low: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(subject: AuditSubject) -> list[Finding]:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            subject.progress(0, 1, "checking")

    monkeypatch.setattr("bpe_core.worker.surgery.examine", interrupt)
    before = files()
    code, out, error = bpescope("prune low.json -o out.json --size 270")
    assert (code, out, error) == (130, "", "bpescope: Interrupted.\n")
    assert files() == before


def test_new_tokens_are_only_mentioned_if_there_are_any(
    bpescope: Bpescope, low: Tokenizer
) -> None:
    out = bpescope("unite low.json one.json -o out.json --no-audit")[1]
    assert "A model has not seen the new tokens" in out
    out = bpescope("unite out.json one.json -o same.json --no-audit")[1]
    assert " 0 are new and" in out and "A model has" not in out
