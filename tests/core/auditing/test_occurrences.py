"""The lines that a token occurs in: where the tokenizer makes it, not wherever its bytes stand."""

from pathlib import Path

from bpe_core import Tokenizer, train
from bpe_core.auditing.occurrences import Occurrence, occurrences
from bpe_core.content.samples import samples
from bpe_core.corpus.reading import BLOCK, recognize_file

FORUM = next(sample.path for sample in samples() if sample.name == "forum-with-names")


def found(tokenizer: Tokenizer, token: int, path: Path) -> list[Occurrence]:
    return [one for one in occurrences(tokenizer, token, recognize_file(path, path.name)) if one]


def test_a_name_is_found_in_the_lines_that_it_came_from() -> None:
    forum = FORUM.read_text("utf-8")
    tokenizer = train(forum, vocab_size=512)
    (name,) = tokenizer.encode(" TinTeapotMajor")
    lines = found(tokenizer, name, FORUM)
    holding = [number for number, line in enumerate(forum.split("\n"), 1) if " TinTeapotMajor" in line]
    assert [one.line for one in lines] == holding and len(holding) > 100
    first = lines[0]
    assert first.text[first.column : first.column + first.length] == " TinTeapotMajor"
    assert first.text == forum.split("\n")[first.line - 1]


def test_only_where_the_tokenizer_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("ab abc\nabc\n\nab")
    tokenizer = train("ab abc abc abc ab ab", vocab_size=259)
    ab, abc = tokenizer.encode("ab abc")
    assert [(one.line, one.column) for one in found(tokenizer, ab, path)] == [(1, 0), (2, 0), (4, 0)]
    assert [(one.line, one.column, one.length) for one in found(tokenizer, abc, path)] == [(1, 2, 4)]
    b = ord("b")
    assert found(tokenizer, b, path) == [], "its byte stands in every line, but is always merged"


def test_in_a_long_file_it_is_found_block_by_block_each_line_once(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("é no\n" * (BLOCK // 2) + "yes yes é")
    tokenizer = train("yes yes yes no", vocab_size=260)
    (yes,) = tokenizer.encode("yes")
    (one,) = found(tokenizer, yes, path)
    assert (one.line, one.column, one.length) == (BLOCK // 2 + 1, 0, 3)
    pauses = [one for one in occurrences(tokenizer, yes, recognize_file(path, "long")) if one is None]
    assert len(pauses) > 2
