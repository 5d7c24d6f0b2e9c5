"""The same data in several formats: each can be read back, and tokens are those of the text."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest

from bpe_core import TextError, save, train
from bpe_core.cli.main import main
from bpe_core.metrics.economy import economy, read, written

ROWS = [{"name": "Ada, the first", "year": 1815, "known": True}, {"name": 'a "b" | c\nd', "year": None, "é": 1.5}]
LEARNED = train(json.dumps(ROWS) * 9, vocab_size=300)


def test_each_format_holds_the_data():
    texts = dict(written(ROWS))
    assert json.loads(texts["JSON"]) == json.loads(texts["JSON, pretty"]) == ROWS
    assert [json.loads(line) for line in texts["JSON lines"].splitlines()] == ROWS
    rows = list(csv.reader(io.StringIO(texts["CSV"], newline="")))
    assert rows[0] == ["name", "year", "known", "é"]
    assert rows[2] == ['a "b" | c\nd', "", "", "1.5"]
    assert len(texts["Markdown table"].splitlines()) == 4
    items = ElementTree.fromstring(texts["XML"]).findall("item")
    assert [item.findtext("name") for item in items] == [row["name"] for row in ROWS]


def test_yaml_comes_back():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    assert yaml.safe_load(dict(written(ROWS))["YAML"]) == ROWS
    assert read("a: 1\nb: [x, y]\n") == {"a": 1, "b": ["x", "y"]}
    with pytest.raises(TextError, match="neither JSON, nor YAML"):
        read("a: [1\nb: }")
    with pytest.raises(TextError, match="text and no data"):
        read("only some words")


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('[{"a": 1}]', [{"a": 1}]),
        ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ("a,b\n1,x\n2.5,true\n", [{"a": 1, "b": "x"}, {"a": 2.5, "b": True}]),
    ],
)
def test_what_is_given_is_recognized(text, data):
    assert read(text) == data


def test_what_is_no_table_has_none():
    for data in ({"a": 1}, [1, 2], [{"a": [1]}], "text"):
        assert not {"CSV", "TSV", "Markdown table"} & dict(written(data)).keys()


def test_xml_is_left_out_where_it_cannot_hold_the_data():
    assert "XML" not in dict(written(["\x00"]))
    assert "XML" in dict(written({"": "é"}))


def test_nothing_and_too_much_are_refused_in_a_sentence():
    with pytest.raises(TextError, match="no data"):
        read("  \n")
    data: object = 1
    for _ in range(200):
        data = [data]
    with pytest.raises(TextError, match="levels deep"):
        list(written(data))


def test_tokens_are_those_of_each_text():
    texts = dict(written(ROWS))
    found = economy(ROWS, [LEARNED, LEARNED.at(0)])
    assert {name: tokens for name, _, tokens in found} == {
        name: (len(LEARNED.encode(text)), len(text.encode())) for name, text in texts.items()
    }
    assert [tokens[0] for _, _, tokens in found] == sorted(tokens[0] for _, _, tokens in found)


def test_the_command_prints_a_table_and_json(tmp_path, capsys):
    save(LEARNED, tmp_path / "t.json")
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    words = ["economy", "-t", str(tmp_path / "t.json"), str(tmp_path / "rows.json")]
    assert main(words) == 0
    assert "Markdown table" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"JSON", "XML", "CSV"} <= {row["format"] for row in found["formats"]}
