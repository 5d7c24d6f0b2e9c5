"""`bpescope why`: the founding examples step by step, one step of a kept tokenizer, and the worker of the app."""

import io
import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from bpe_core import save, train
from bpe_core.cli import why
from bpe_core.cli.events import Event, Failed
from bpe_core.cli.main import _parser, main
from bpe_core.cli.result_events import Explained, Places
from bpe_core.cli.wire import parse
from bpe_core.corpus import Counts
from bpe_core.errors import TextError
from bpe_core.explain.merge_choice import explain
from bpe_core.explain.pair_counts import PairCounts

TEXT = "low low low lower lowest\nnewest newest widest\n" * 3


@pytest.fixture(autouse=True)
def same_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of the app lowers its priority, which cannot be raised again."""
    monkeypatch.setattr("os.nice", lambda _: 0)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text(TEXT)
    return path


def test_sennrichs_example_is_printed_step_by_step(capfd: pytest.CaptureFixture[str]) -> None:
    """The table, the choice among ties, the words before and after, as the article prints them."""
    assert main(["why", "--preset", "S2"]) == 0
    told = capfd.readouterr().out
    assert "  s + t      9          tied\n  e + s      9          tied\n  w + e      8" in told
    assert "Step 1: s + t → st (id 257)\n  2 pairs occur 9 times; 'largest' takes this one:" in told
    assert "    first      e + s\n" in told and "    largest    s + t ●\n" in told
    assert "       6 × n e w e s t → n e w e st\n" in told
    assert "9 uses when made, 0 left in the end\n    step 2 est absorbed 9\n" in told
    assert told.count("\nAfter step") == 6


def test_one_step_of_a_kept_tokenizer(corpus: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept = corpus.with_suffix(".json")
    save(train(TEXT, vocab_size=266), kept)
    assert main(["why", "-t", str(kept), "--step", "1", str(corpus)]) == 0
    told = capfd.readouterr().out
    assert told.startswith("Step 1: ") and "words.txt:1: [l·o]w low" in told
    assert main(["why", "-t", str(kept), "--step", "2", "--json", str(corpus)]) == 0
    body = json.loads(capfd.readouterr().out)
    assert body["step"] == 2 and body["places"][0]["name"].endswith("words.txt")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "Name the tokenizer with -t"),
        ("-t gpt.json", "Name the texts"),
        ("--preset S2 --step 7", "There is no step 7; this vocabulary has the steps 0 to 6."),
        ("-t gpt.json missing.txt", "no such file"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(
    arguments: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save(train(TEXT, vocab_size=266), "gpt.json")
    assert main(["why", *arguments.split()]) == 2
    error = capfd.readouterr().err
    assert sentence in error and error.count("\n") == 1


def test_a_worker_answers_while_a_vocabulary_grows(corpus: Path) -> None:
    """It is told the merges as they are learned, and answers as `explain` does of the whole."""
    tokenizer = train(TEXT, vocab_size=270, ties="largest", pattern="gpt4")
    rows = [",".join(map(str, row)) for row in tokenizer.merges]
    questions = ["step 0", f"merges {' '.join(rows[:5])}", "step 5", f"merges {' '.join(rows[5:])}", "step 9", "step 2"]
    learning = ["--learning", "--ties", "largest", str(corpus)]
    command = [sys.executable, "-m", "bpe_core", "why", "--stream", *learning]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin and process.stdout
        process.stdin.write("".join(f"{question}\n" for question in questions))
        process.stdin.flush()
        events: list[Event] = []
        while not (events and _is_last(events[-1])):
            events.append(parse(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(60) == 0
    counts = PairCounts(tokenizer, Counts.of(TEXT).pieces)
    told = [event.body for event in events if isinstance(event, Explained)]
    assert told == [json.loads(json.dumps(explain(counts, step, "largest").to_json())) for step in (0, 5, 9, 2)]


def _is_last(event: Event) -> bool:
    """Where the pair of step 2 stands: nobody waits for an answer then, so the texts are read for it."""
    return isinstance(event, Places) and event.step == 2


def test_a_worker_refuses_what_would_take_too_long(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"MOST_ON_DISK": "of texts", "MOST_IN_PIECES": "of different pieces", "MOST_UNSPLIT": "in long pieces"}
    monkeypatch.setattr(why, "_LONG", 5)
    for limit, what in limits.items():
        usual = getattr(why, limit)
        monkeypatch.setattr(why, limit, (10, 10))
        with pytest.raises(TextError, match=what):
            why.run(_options(corpus))
        monkeypatch.setattr(why, limit, usual)


def _options(corpus: Path) -> Namespace:
    return _parser("bpescope").parse_args(["why", "--stream", "--learning", str(corpus)])


def test_nonsense_on_stdin_is_told(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("merges 1,2\n"))
    assert main(["why", "--preset", "S2", "--stream"]) == 2
    event = parse(capfd.readouterr().out.splitlines()[-1])
    assert isinstance(event, Failed) and "Not a question" in event.message
