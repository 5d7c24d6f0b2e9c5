"""What `audit`, `compare`, `measure` and `why` report: tables, JSON, Markdown for a model card, one page of HTML."""

import csv
import json
import math
import re
import shlex
import tarfile
from collections import Counter
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from shell import TEXT, Bpescope, in_a_shell

from bpe_core import Tokenizer, load, save, train
from bpe_core.metrics import renyi_efficiency
from bpe_core.metrics.morphemes import morphological_alignment
from bpe_core.report import ReportTable, Section, as_html
from bpe_core.utf8 import is_utf8

BOTH = "compare -t one.json -t two.json"
NASTY = "a|b`c <b> a|b`c <b> a|b`c <b> *x* *x* the theme of the other thesis\n" * 9


def objects(lines: str) -> list[dict[str, Any]]:
    return list(map(json.loads, lines.splitlines()))


def test_audit_as_a_table_as_json_lines_and_as_a_gate(bpescope: Bpescope) -> None:
    audit = "audit -t seed.json"
    code, out, _ = bpescope(f"{audit} --corpus seed.txt")
    assert code == 0 and "unused-byte  13" in out and "(--all shows them)" in out
    assert "scaffold" in out  # aaa was only ever a step to aaab
    code, out, _ = bpescope(f"{audit} --corpus seed.txt --jsonl")
    rows = objects(out)
    assert (
        code == 0
        and len([row for row in rows if row["kinds"] == ["unused-byte"]]) == 13
    )
    code, out, _ = bpescope(f"{audit} --corpus seed.txt --jsonl --all-tokens")
    verdicts = objects(out)
    assert (
        code == 0
        and [row["id"] for row in verdicts] == load("seed.json").vocabulary.ids()
    )
    assert list(rows[0]) == list(verdicts[0])
    assert list(rows[0])[:6] == ["id", "token", "text", "score", "severity", "kinds"]
    assert all(
        bytes.fromhex(row["token"]).decode(errors="backslashreplace") == row["text"]
        for row in rows
    )
    found = {(row["id"], kind) for row in verdicts for kind in row["kinds"]}
    assert found == {(row["id"], kind) for row in rows for kind in row["kinds"]}
    assert bpescope(f"{audit} --fail-on duplicate,unused-byte")[0] == 1
    assert bpescope(f"{audit} --fail-on duplicate")[0] == 0


def test_an_audit_takes_counts_where_it_takes_texts(bpescope: Bpescope) -> None:
    pytest.importorskip(
        "pyarrow", reason="files of counts need pyarrow, of the extra [corpora]"
    )
    for text in "seed", "text":
        assert bpescope(f"count {text}.txt --pattern none -o {text}.parquet")[0] == 0
    audits = (
        f"audit -t seed.json --jsonl --corpus seed.{kind} --reference text.{kind}"
        for kind in ("txt", "parquet")
    )
    texts, counts = map(bpescope, audits)
    assert texts[:2] == counts[:2] and "absent-from-reference" in counts[1]
    code, _, said = bpescope("audit -t seed.json --pattern gpt2 --corpus seed.parquet")
    assert (
        code == 2
        and "These counts were made with pattern 'none', not 'gpt2'; count the texts again."
        in said
    )


def test_an_audit_reads_what_count_reads(bpescope: Bpescope) -> None:
    seed = Path("seed.txt").read_text()
    rows = [{"body": seed, "text": "not this"}, {"body": 5}, {"body": "b"}]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("table.jsonl").write_text('{"body": "aab", "text": "no"}\n{"body": 5}\n')
    with tarfile.open("both.tar", "w") as archive:
        archive.add("seed.txt")
    audit = "audit -t seed.json"

    def counts_of(options: str) -> dict[int, float]:
        code, out, _ = bpescope(f"{audit} --jsonl --all-tokens {options}")
        assert code == 0
        return {row["id"]: row["evidence"].get("count") for row in objects(out)}

    alone = counts_of("--corpus seed.txt")
    assert counts_of("--corpus both.tar") == alone
    code, _, said = bpescope(f"{audit} --corpus rows.jsonl --field body")
    assert code == 2 and "line 2 has no text as 'body'" in said
    options = "--corpus rows.jsonl --field body --skip-bad"
    of_rows = counts_of(options)
    assert of_rows[ord("b")] == alone[ord("b")] + 1
    code, out, said = bpescope(f"{audit} {options} --reference table.jsonl")
    assert code == 0 and "no bad rows" in out
    assert (
        "Read 2 documents: " in said and "Read 1 document of the reference: 3" in said
    )
    thrice = counts_of("--corpus seed.txt --corpus text.txt --weight seed.txt=3")
    once = counts_of("--corpus seed.txt --corpus text.txt")
    assert all(
        thrice[token] == once[token] + 2 * alone[token]
        for token in alone
        if alone[token] is not None
    )
    code, _, said = bpescope(f"{audit} --corpus seed.txt --weight text.txt=3")
    assert code == 2 and "Unknown path 'text.txt' in a weight" in said
    code, out, said = bpescope(f"{audit} --corpus seed.txt --documents 1 --seed 2")
    assert code == 0 and "1 document, seed 2" in out
    texts = "--corpus seed.txt --corpus text.txt --corpus both.tar"
    code, out, _ = bpescope(f"{audit} --jsonl --all-tokens {texts} --documents 2")
    assert code == 0 and "document_frequency" not in out, "it would be that of all"
    code, out, _ = bpescope(f"{audit} --jsonl --all-tokens {texts}")
    assert code == 0 and "document_frequency" in out


def test_an_audit_reads_counts_as_they_are(bpescope: Bpescope) -> None:
    pytest.importorskip(
        "pyarrow", reason="files of counts need pyarrow, of the extra [corpora]"
    )
    assert bpescope("count seed.txt --pattern none -o seed.parquet")[0] == 0
    audit = "audit -t seed.json --corpus seed.parquet"
    code, _, said = bpescope(f"{audit} --weight seed.parquet=2")
    assert code == 2 and "Files of counts are read as they are." in said
    Path("rows.jsonl").write_text('{"body": "aab", "text": "not this"}\n')
    fields = "--reference rows.jsonl --field body --skip-bad"
    code, _, said = bpescope(f"{audit} {fields}")
    assert code == 0 and "Read 1 document of the reference: 3 bytes" in said


def test_a_text_is_called_as_its_file_is(bpescope: Bpescope) -> None:
    Path("__a_b__.txt").write_text("a b")
    assert "\n__a_b__.txt  " in bpescope(f"{BOTH} __a_b__.txt")[1]


def test_a_reference_corpus_shows_what_a_model_will_not_meet(
    bpescope: Bpescope,
) -> None:
    Path("text").write_text("SolidGoldMagikarp counts to infinity\n" * 50)
    Path("reference").write_text("counts to infinity\n" * 50)
    bpescope("train text -o out.json --vocab-size 300")
    code, out, _ = bpescope(
        "audit -t out.json --corpus text --reference reference --jsonl"
    )
    absent = [
        row["text"] for row in objects(out) if row["kinds"] == ["absent-from-reference"]
    ]
    assert code == 0 and "SolidGoldMagikarp" in absent


def test_markdown_keeps_its_tables_whatever_a_token_holds(bpescope: Bpescope) -> None:
    save(train(NASTY, vocab_size=300, pattern="none"), "small_one.json")
    Path("text.txt").write_text(NASTY)
    lines = bpescope("audit -t small_one.json --corpus text.txt --markdown --all")[
        1
    ].splitlines()
    assert lines[0] == r"# Audit of small\_one.json"
    rows = [line for line in lines if re.match(r"\| \d+ \| `", line)]
    assert rows and any(
        re.match(
            r"- Texts: text.txt \(1 text, [\d,]+ bytes, SHA-256 [0-9a-f]{16}\)\.", line
        )
        for line in lines
    )
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 5, row
    assert (
        any(line.startswith("| scaffold |") for line in lines)
        and "## How the score is made" in lines
    )
    Path("small_one.json").rename("a|b.json")
    for line in bpescope("compare -t 'a|b.json' -t two.json --markdown text.txt")[
        1
    ].splitlines():
        assert (
            not line.startswith("| text") or len(re.findall(r"(?<!\\)\|", line)) == 7
        ), "a name has a bar"


def test_html_is_one_page_without_scripts_for_dark_and_light(
    bpescope: Bpescope,
) -> None:
    save(train(NASTY, vocab_size=300, pattern="none"), "small_one.json")
    Path("text.txt").write_text(NASTY)
    page = bpescope("audit -t small_one.json --corpus text.txt --html")[1]
    assert page.startswith("<!DOCTYPE html>") and "prefers-color-scheme: dark" in page
    assert not re.search(r"<script|<link|src=|@import|https?:", page)
    cells: list[str] = []

    class Reader(HTMLParser):
        inside = ""

        def handle_starttag(self, tag: str, attrs: object) -> None:
            assert tag != "b"  # a token's text is no markup
            self.inside = tag

        def handle_data(self, data: str) -> None:
            cells.extend([data] * (self.inside == "code"))
            self.inside = ""

    Reader().feed(page)
    assert (
        any("<b>" in cell for cell in cells)
        and len(re.findall("<tr class", page)) == len(cells) <= 50
    )


def test_json_tells_what_encoding_tells(bpescope: Bpescope) -> None:
    Path("b.txt").write_text("thought мир\n")
    code, out, _ = bpescope(f"{BOTH} text.txt b.txt --json")
    found, tokenizers = json.loads(out), [load("one.json"), load("two.json")]
    assert code == 0 and found["tokenizers"] == ["one.json", "two.json"]
    for text, content in zip(found["texts"], (TEXT, "thought мир\n"), strict=True):
        assert text["tokens"] == [
            len(tokenizer.encode(content)) for tokenizer in tokenizers
        ]
        assert text["bytes"] == len(content.encode())
    total = found["total"]
    assert total["tokens"] == [
        sum(text["tokens"][i] for text in found["texts"]) for i in (0, 1)
    ]
    assert sum(script["tokens"][0] for script in found["scripts"]) == total["tokens"][0]
    (pair,) = found["pairs"]
    assert (
        pair["vocabularies"]["only_first"] == 0
        and pair["vocabularies"]["same_merges"] == tokenizers[0].step
    )
    for example in pair["disagreements"]:
        assert bytes.fromhex("".join(example["tokens"][0])) == example["text"].encode()


def test_tables_tell_parity_of_the_sections_of_a_text(bpescope: Bpescope) -> None:
    Path("tale.txt").write_text(
        "One tale\n\n# English\n\nthe theme of it\n\n# Русский\n\nтема его\n"
    )
    code, out, _ = bpescope(f"{BOTH} --sections tale.txt")
    one = load("one.json")
    n = len(one.encode("тема его")) / len(one.encode("the theme of it"))
    assert code == 0 and all(
        part in out for part in ("English", "Русский", f"{n:.2f}", "Cyrillic")
    )
    assert re.search(r"\nscript +bytes +one.json +two.json\n", out), "no parity"


def test_only_numbers_of_four_digits_or_more_are_listed(bpescope: Bpescope) -> None:
    Path("numbers.txt").write_text("123 123 5678")
    out = bpescope("measure -t one.json --csv numbers.txt")[1]
    _, *rows = out.split("numbers of 4 digits and more")[1].splitlines()
    ways = [row.partition(",")[2].partition(" ")[0] for row in rows]
    assert [sum(map(int, way.split("+"))) for way in ways] == [4]


def test_an_audit_names_the_checks_that_need_more(bpescope: Bpescope) -> None:
    others = "whether other vocabularies have its tokens (needs --against)"
    embeddings = "whether embeddings look untrained (needs --embeddings)."
    save(load("one.json"), "one.tiktoken", format="tiktoken")
    out = bpescope("audit -t one.tiktoken --pattern gpt4")[1]
    counts = "how often tokens occur (needs --corpus)"
    assert f"\nNot checked: {counts}, {others}, {embeddings}\n" in out
    out = bpescope("audit -t one.json --corpus text.txt")[1]
    assert f"\nNot checked: {others}, {embeddings}\n" in out


@pytest.mark.slow
def test_stdin_is_a_text_by_itself(folder: Path) -> None:
    told = in_a_shell(f"bpescope {BOTH} --json", folder, TEXT.encode())
    assert (
        told.returncode == 0 and json.loads(told.stdout)["texts"][0]["name"] == "stdin"
    )


def test_texts_of_nothing(bpescope: Bpescope) -> None:
    Path("empty.txt").touch()
    Path("space.txt").write_text(" ")
    code, out, _ = bpescope(f"{BOTH} space.txt empty.txt")
    assert code == 0 and "Both tokenizers split these texts in the same places." in out
    Path("text.txt").write_text(TEXT)
    out = bpescope(f"{BOTH} text.txt --examples 0")[1]
    assert "disagree" not in out and "same places" not in out, (
        "what is not listed is not denied"
    )


def test_folders_are_languages_and_parity_relates_to_one_of_them(
    bpescope: Bpescope,
) -> None:
    for folder, text in (("de", "das thema der these"), ("en", TEXT), ("ru", "тема")):
        Path("texts", folder, "deeper").mkdir(parents=True)
        for name in ("a.txt", "deeper/b.txt"):
            Path("texts", folder, name).write_text(text)
    found = json.loads(bpescope(f"{BOTH} --reference en texts --json")[1])
    one, other = load("one.json"), load("two.json")
    assert [folder["folder"] for folder in found["folders"]] == ["de", "en", "ru"]
    n = [2 * len(one.encode("тема")), 2 * len(other.encode("тема"))]
    assert found["folders"][2]["tokens"] == n
    assert found["folders"][2]["parity"] == [
        n[0] / 2 / len(one.encode(TEXT)),
        n[1] / 2 / len(other.encode(TEXT)),
    ]
    assert "parity" not in found["texts"][0], "the reference is no text"
    out = bpescope(
        f"{BOTH} --reference en texts --metrics tokens,fertility,continued_words,parity"
    )[1]
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()[2:]] == [
        "de",
        "en",
        "ru",
    ]
    assert "fertility" in out
    found = json.loads(bpescope(f"{BOTH} texts/en --json")[1])
    assert [folder["folder"] for folder in found["folders"]] == ["en", "deeper"]


def test_a_text_outside_the_named_folder_counts_for_its_own_folder(
    bpescope: Bpescope, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("here/deeper/a.txt", "other/b.txt"):
        Path(path).parent.mkdir(parents=True)
        Path(path).write_text(TEXT)
    monkeypatch.chdir("here")
    out = bpescope("measure -t ../one.json . ../other/b.txt --json")[1]
    folders = json.loads(out)["folders"]
    assert [folder["folder"] for folder in folders] == ["deeper", "other"]


def test_the_worst_lines_of_each_tokenizer_are_told_with_their_places(
    bpescope: Bpescope,
) -> None:
    Path("a.txt").write_text("plain\n" + TEXT + "\nthrough and through\n")
    worst, _ = json.loads(bpescope(f"{BOTH} a.txt --json --lines 2")[1])["worst_lines"]
    assert (
        len(worst) == 2
        and worst[0]["excess"] == worst[0]["tokens"][0] - worst[0]["tokens"][1]
    )
    assert (worst[0]["text"], worst[0]["place"], worst[0]["count"]) == (
        TEXT.splitlines()[0],
        [0, 2, 0],
        9,
    )
    assert "a.txt:2" in bpescope(f"{BOTH} a.txt")[1]


def test_each_tokenizer_has_its_own_pattern(bpescope: Bpescope) -> None:
    out = bpescope(
        "compare -t one.json -t one.json text.txt --json --pattern '' --pattern none"
    )[1]
    n_tokens = [
        len(load("one.json", pattern=pattern).encode(TEXT))
        for pattern in (None, "none")
    ]
    assert json.loads(out)["total"]["tokens"] == n_tokens


def test_measures_are_told_with_their_units(bpescope: Bpescope) -> None:
    Path("words.txt").write_text("th+ing\nth+eme\n")
    measure = "measure -t one.json --morphemes words.txt text.txt"
    code, out, _ = bpescope(measure)
    rows = {line[:30].split("  ")[0]: line.split() for line in out.splitlines()}
    assert code == 0 and rows["tokens"][1:] == [
        f"{len(load('one.json').encode(TEXT)):,}",
        "tokens",
    ]
    assert (
        rows["morpheme recall"][-2:] == ["of", "boundaries"]
        and "numbers of 4 digits" in out
    )
    found = json.loads(bpescope(f"{measure} --json")[1])
    recall = morphological_alignment(
        load("one.json"), [("th", "ing"), ("th", "eme")]
    ).recall
    assert found["total"]["morpheme_recall"] == [recall]
    Path("words.txt").write_text("thing\tth eme\n")
    code, _, error = bpescope(measure)
    assert code == 2 and "words.txt, line 1" in error


def test_sennrichs_example_is_printed_step_by_step(bpescope: Bpescope) -> None:
    """The table, the choice among ties, the words before and after, as the article prints them."""
    code, told, _ = bpescope("why --preset S2")
    assert code == 0
    assert (
        "  s + t      9          tied\n  e + s      9          tied\n  w + e      8"
        in told
    )
    assert (
        "Step 1: s + t → st (id 257)\n  2 pairs occur 9 times; the tie rule 'largest' takes this one:"
        in told
    )
    assert "    first      e + s\n" in told and "    largest    s + t ●\n" in told
    assert "       6 × n e w e s t → n e w e st\n" in told
    assert "  e + st      9      +9\n  w + e       8\n" in told, "one pair is not tied"
    assert (
        "9 uses when made, 0 left at the end\n    step 2: 9 became part of est\n"
        in told
    )
    assert told.count("\nAfter step") == 6


def test_why_of_one_step_of_a_kept_tokenizer(bpescope: Bpescope) -> None:
    code, told, _ = bpescope("why -t one.json --step 1 text.txt")
    assert (
        code == 0 and told.startswith("Step 1: ") and "text.txt:1: [t·h]e theme" in told
    )
    body = json.loads(bpescope("why -t one.json --step 2 --json text.txt")[1])
    assert body["step"] == 2 and body["places"][0]["name"].endswith("text.txt")


def test_tables_of_a_comparison_for_a_paper_say_what_their_numbers_are_of(
    bpescope: Bpescope,
) -> None:
    Path("mixed.txt").write_text(
        "a_b & c " + "the 100% thing " * 500 + "\n東京は日本\n"
    )
    out = bpescope(f"{BOTH} --csv mixed.txt")[1]
    tables = [list(csv.reader(table.splitlines())) for table in out.split("\n\n")]
    assert all(len({len(row) for row in table}) == 1 for table in tables)
    sizes, totals = (
        dict(zip(*tables[0], strict=True)),
        {row[0]: row[1:] for row in tables[2]},
    )
    assert (
        sizes["text"] == "mixed.txt"
        and int(sizes["bytes"]) == Path("mixed.txt").stat().st_size
    )
    found = json.loads(bpescope(f"{BOTH} --json mixed.txt")[1])
    for index, file in enumerate(("one.json", "two.json")):
        entropy = found["total"]["renyi_entropy"][index]
        n_used = found["total"]["utilization"][index] * load(file).n_tokens
        for title, most, unit in (
            ("", n_used, "of occurring"),
            (" by |V|", load(file).n_tokens, "of all tokens"),
        ):
            row = totals[f"Rényi efficiency{title}"]
            assert (
                float(row[index]) == pytest.approx(entropy / math.log2(most), abs=1e-4)
                and row[2] == unit
            )
    latex = bpescope(f"{BOTH} --latex mixed.txt")[1]
    assert latex.count("\\begin{tabular}") == latex.count("\\bottomrule") == len(tables)
    assert not re.search(r"(?<!\\)[%#_$]", latex)
    for form in ("", "--markdown"):
        told = bpescope(f"{BOTH} {form} mixed.txt")[1]
        assert "Han, Hiragana: written without spaces" in told
        assert "(precision)" in told and "(recall)" in told
        (only,) = re.findall("first tokens only in two.json: (.*)", told)
        assert only.split()[:8] == [
            "␣thr",
            "␣through",
            "12",
            "123",
            "45",
            "␣t",
            "␣ti",
            "␣time",
        ]
        assert "without spaces" not in bpescope(f"{BOTH} {form} text.txt")[1]


def test_the_worst_lines_are_compared_with_all_other_tokenizers(
    bpescope: Bpescope,
) -> None:
    Path("lines.txt").write_text("plain\n" + TEXT)
    for asked, best in (
        (BOTH, "the other"),
        (f"{BOTH} -t one.json", "the best of the others"),
    ):
        out = bpescope(f"{asked} lines.txt")[1]
        assert f"lines with the most extra tokens, compared with {best}" in out


def test_a_comparison_needs_a_tokenizer(bpescope: Bpescope) -> None:
    code, _, said = bpescope("compare text.txt")
    assert code == 2 and "-t" in said


def test_numbers_in_a_page_are_aligned() -> None:
    table = ReportTable(["name", "bytes"], [["a", "1"]], numbers=[1])
    page = as_html("Title", [Section(table=table)])
    assert "<th>name<th class=n>bytes" in page


def tables_of(out: str) -> list[list[list[str]]]:
    return [list(csv.reader(table.splitlines())) for table in out.split("\n\n")]


@pytest.mark.parametrize(
    "named",
    [
        "a/one.json b/one.json",
        "one.json one.json one.json",
        "bytes text unit",
        "./one.json one.json",
    ],
)
def test_no_two_columns_have_the_same_name(bpescope: Bpescope, named: str) -> None:
    for place in named.split():
        Path(place).parent.mkdir(exist_ok=True)
        Path(place).write_bytes(Path("one.json").read_bytes())
    given = " ".join(f"-t {place}" for place in named.split())
    for metrics in (
        "tokens,bytes_per_token,fertility",
        "fertility",
        "fertility,fertility,parity",
    ):
        tables = tables_of(
            bpescope(f"compare {given} --csv --metrics {metrics} text.txt")[1]
        )
        assert len(tables) >= 4
        for head, *_ in tables:
            assert len(set(head)) == len(head)
    head = bpescope(f"compare {given} --metrics fertility text.txt")[1].splitlines()[0]
    columns = re.split("  +", head)
    assert len(set(columns)) == len(columns) == 2 + len(named.split())


def test_tokenizers_of_one_name_are_told_apart_by_what_differs(
    bpescope: Bpescope,
) -> None:
    for folder in "ab":
        Path(folder).mkdir()
        named = Tokenizer(load("one.json").vocabulary, "gpt4", name="one")
        save(named, f"{folder}/mine.json")
    one, other = "-t a/mine.json", "-t b/mine.json"
    patterns = "--pattern '' --pattern none"
    labels = {
        f"{one} {one} {patterns}": ["one", "one (none)"],
        f"{one} {other}": ["one (a)", "one (b)"],
        f"{one} {other} {patterns}": ["one (a)", "one (b, none)"],
        f"{one} {one}": ["one (1)", "one (2)"],
        f"{one} -t two.json {patterns}": ["one", "two.json"],
    }
    for given, (first, second) in labels.items():
        for command in "compare", "measure":
            call = f"{command} {given} text.txt"
            assert json.loads(bpescope(f"{call} --json")[1])["labels"] == [
                first,
                second,
            ]
            tables = tables_of(bpescope(f"{call} --csv")[1])
            assert ["all texts", first, second, "unit"] in [
                table[0] for table in tables
            ]
            head = f"| all texts | {first} | {second} | unit |"
            assert head in bpescope(f"{call} --markdown")[1]
            assert (
                f"all texts & {first} & {second} & unit"
                in bpescope(f"{call} --latex")[1]
            )
        out = bpescope(f"compare {given} text.txt --metrics fertility,strr")[1]
        head = f"{first} fertility +whole +{second} fertility +whole"
        assert re.search(head.replace("(", r"\(").replace(")", r"\)"), out)
        assert f"\n{first} and {second}\n" in out


def test_long_names_of_tokenizers_stay_different_columns(bpescope: Bpescope) -> None:
    long = "a-tokenizer-with-a-name-that-is-longer-than-a-column"
    for end in "xy":
        Path(f"{long}-{end}.json").write_bytes(Path("one.json").read_bytes())
    out = bpescope(f"compare -t {long}-x.json -t {long}-y.json text.txt")[1]
    columns = re.split("  +", out.splitlines()[0])
    assert columns[2].endswith("-x.json") and columns[4].endswith("-y.json")


def test_one_call_prints_whole_words_and_entropies_of_each_language(
    bpescope: Bpescope,
) -> None:
    texts = {"English": "the theme of the thing", "Русский": "тема его и мир"}
    sections = [f"# {title}\n{text}\n" for title, text in texts.items()]
    Path("tale.txt").write_text("".join(sections))
    for title, text in texts.items():
        Path("languages", title).mkdir(parents=True)
        Path("languages", title, "text.txt").write_text(text)
    keys = "strr,renyi_efficiency,utilization"
    for kind, source in (("text", "--sections tale.txt"), ("folder", "languages")):
        out = bpescope(f"{BOTH} --csv --metrics {keys} {source}")[1]
        (table,) = [table for table in tables_of(out) if table[0][0] == kind]
        rows = {row[0]: dict(zip(table[0], row, strict=True)) for row in table[1:]}
        for title, text in texts.items():
            for name in "one.json", "two.json":
                tokenizer = load(name)
                words = text.split()
                whole = [
                    len(tokenizer.encode(f" {word}" if number else word)) == 1
                    for number, word in enumerate(words)
                ]
                counts = Counter(tokenizer.encode(text)).values()
                utilization = len(counts) / tokenizer.n_tokens
                row = rows[title]
                assert row[f"{name} whole"] == f"{sum(whole) / len(words):.1%}"
                efficiency = f"{renyi_efficiency(counts):.4f}"
                assert row[f"{name} Rényi efficiency"] == efficiency
                assert row[f"{name} utilization"] == f"{utilization:.2%}"


def test_a_text_that_looks_like_a_number_stays_as_it_is_in_csv(
    bpescope: Bpescope,
) -> None:
    Path("1,234,567").write_text("+1,234.5\n" + "other text " * 200)
    out = bpescope(f"{BOTH} --csv --examples 0 1,234,567 text.txt")[1]
    tables = tables_of(out)
    (texts,) = [table for table in tables if table[0][0] == "text"]
    assert texts[1][:2] == ["1,234,567", "2209"]
    assert not any("," in cell for row in texts[1:] for cell in row[1:])
    places_of_worst_lines = [
        row[3] for table in tables if table[0][0] == "more" for row in table[1:]
    ]
    assert "1,234,567:2" in places_of_worst_lines
    number = train("1,234,567 " * 9, vocab_size=264, pattern="none")
    save(number, "number.json")
    save(number.at(0), "digits.json")
    Path("number.txt").write_text("1,234,567\n" * 1200)
    out = bpescope("compare -t digits.json -t number.json --csv number.txt")[1]
    *_, disagreements, lines = tables_of(out)
    digits = "1 , 2 3 4 , 5 6 7"
    assert disagreements[1] == ["1200", digits, "1,234,567", "number.txt:1"]
    assert lines[1] == ["+8", "10", "2", "number.txt:1", "1,234,567"]


ODD_NAME = "[*]<b>x_`q`|$a$~^#"


@pytest.fixture
def oddly_named(folder: Path) -> str:
    """The name of a copy of text.txt, and without `.txt` that of a copy of one.json."""
    Path(f"{ODD_NAME}.json").write_bytes(Path("one.json").read_bytes())
    Path("odd").mkdir()
    Path("odd", ODD_NAME).write_text(TEXT)
    return ODD_NAME


def test_names_of_files_are_no_markup_in_any_report(
    bpescope: Bpescope, oddly_named: str
) -> None:
    own, text = shlex.quote(f"{oddly_named}.json"), shlex.quote(f"odd/{oddly_named}")
    in_markdown = r"\[\*\]\<b\>x\_\`q\`\|\$a\$\~^\#"
    title = bpescope(f"show -t {own} --markdown {text}")[1].splitlines()[0]
    assert title == f"### {in_markdown}.json"
    both = bpescope(f"show -t {own} -t two.json --markdown {text}")[1].splitlines()[0]
    assert both == f"### {in_markdown}.json · two.json"
    calls = {
        "show": f"show -t {own} {text}",
        "audit": f"audit -t {own} --corpus {text}",
        "compare": f"compare -t {own} -t two.json {text}",
        "measure": f"measure -t {own} {text}",
    }
    for command in "audit", "compare", "measure":
        told = bpescope(f"{calls[command]} --markdown")[1]
        assert in_markdown in told
        assert oddly_named not in told
    for command in "show", "audit":
        told = bpescope(f"{calls[command]} --html")[1]
        assert escape(oddly_named) in told
        assert oddly_named not in told
    drawing = ElementTree.fromstring(bpescope(f"{calls['show']} --svg")[1])
    assert oddly_named in "".join(drawing.itertext())
    told = bpescope(f"{calls['compare']} --latex")[1]
    assert r"{[}{*}]\textless{}b\textgreater{}x\_`q`" in told
    assert r"\textbar{}\$a\$\textasciitilde{}\textasciicircum{}\#" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", ["measure -t one.json", "compare -t one.json -t two.json"]
)
@pytest.mark.parametrize("source", ["long.txt", "- < long.txt", "--sections long.txt"])
def test_the_memory_does_not_follow_the_length_of_a_text(
    folder: Path, command: str, source: str
) -> None:
    with open("long.txt", "w") as file:
        file.write("# A title\n")
        for _ in range(200):
            file.write(TEXT * 100)
    ended = in_a_shell(f"ulimit -v 400000; bpescope {command} --json {source}", folder)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    n_lines = 200 * 100 * TEXT.count("\n")
    title = 0 if "sections" in source else 10
    end = 1 if "sections" in source else 0
    assert (
        found["total"]["bytes"]
        == n_lines * len(TEXT.splitlines()[0] + "\n") + title - end
    )
    n_tokens = len(load("one.json").encode(TEXT))
    assert found["total"]["tokens"][0] == pytest.approx(20_000 * n_tokens, abs=20)


def test_audit_prints_tokens_for_other_programs_the_highest_score_first(
    bpescope: Bpescope,
) -> None:
    audit = "audit -t seed.json --corpus seed.txt"
    rows = objects(bpescope(f"{audit} --jsonl")[1])
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    ids = list(map(int, bpescope(f"{audit} --ids --all")[1].split()))
    assert ids and set(ids) == {row["id"] for row in rows}
    worst = {row["id"] for row in rows if row["severity"] != "note"}
    assert set(map(int, bpescope(f"{audit} --ids")[1].split())) == worst
    texts = list(map(json.loads, bpescope(f"{audit} --texts --all")[1].splitlines()))
    tokens = [load("seed.json").token_bytes(token) for token in ids]
    assert texts == [token.decode() for token in tokens if is_utf8(token)]
    garak = json.loads(bpescope(f"{audit} --format garak --all")[1])
    assert garak == {"glitch": {"glitch_tokens": texts}}
