"""The experiment picky on the command line: trained, told, listed, resumed; what cannot be told of it is refused."""

from pathlib import Path

import pytest

from bpe_core import load, save
from bpe_core.cli.events import Merges
from bpe_core.cli.main import main
from bpe_core.cli.training_arguments import first_vocabulary, last_rules, training_arguments
from bpe_core.cli.wire import parse, to_line
from bpe_core.picky.vocabulary import PickyVocabulary
from bpe_core.trainer import Trainer
from bpe_core.visible import token_label

TEXT = (Path(__file__).parents[3] / "sample_texts" / "forum-clean.txt").read_text(encoding="utf-8")[:8000]


def test_picky_trains_tells_lists_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, out = tmp_path / "a.txt", tmp_path / "out.json"
    text.write_text(TEXT, encoding="utf-8")
    command = ["train", str(text), "-o", str(out), "--vocab-size", "420", "--experiment", "picky=0.8"]
    assert main(command) == 0
    whole = load(out)
    assert isinstance(whole.vocabulary, PickyVocabulary) and whole.n_vocab == 420 and whole.record
    removed = whole.vocabulary.removed
    assert removed and f"and removed {len(removed)} tokens" in capsys.readouterr().err
    assert main(["export", "removed", str(out)]) == 0
    listed = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(int(step), int(token), bytes.fromhex(data)) for step, token, _, data in listed] == removed
    assert main(["export", "merges", str(out)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [tuple(map(int, row[1:4])) for row in rows] == [row[:3] for row in whole.vocabulary.history]
    assert main(["encode", "-t", str(out), str(text)]) == 0
    assert list(map(int, capsys.readouterr().out.split())) == whole.encode(TEXT)
    for arguments in (["show", "-t", str(out), str(text)], ["export", "curve", str(out)], ["audit", "-t", str(out)]):
        assert main(arguments) == 0
    for step in (1, whole.step - 1):
        save(whole.at(step), tmp_path / "out.json.checkpoint")
        assert main([*command, "--resume"]) == 0
        again = load(out)
        assert again.vocabulary.history == whole.vocabulary.history and again.record
        assert again.record.steps == whole.record.steps
    capsys.readouterr()
    gone = whole.vocabulary.removed[0]
    assert main(["why", "-t", str(out), "--step", str(gone.step), str(text)]) == 0
    assert f"It removes {token_label(gone.bytes)}:" in capsys.readouterr().out
    save(whole.at(5), tmp_path / "out.json.checkpoint")
    for arguments, said in (
        ([*command[:-1], "picky=0.7", "--resume"], "was learned with the experiment"),
        (["train", str(text), "-o", str(tmp_path / "x.json"), "--extend", str(out)], "removed while it learned"),
        (
            ["convert", str(out), "-o", str(tmp_path / "x"), "--format", "huggingface"],
            "keep this tokenizer in bpescope's",
        ),
    ):
        assert main(arguments) == 2
        assert said in capsys.readouterr().err


def test_what_a_worker_tells_gives_the_same_vocabulary(tmp_path: Path) -> None:
    asked = [str(tmp_path), "--vocab-size", "420", "--experiment", "picky=0.8", "--special", "<s>"]
    rules = last_rules(training_arguments(asked), None)
    trainer = Trainer([TEXT], **rules.arguments())
    event = parse(to_line(Merges.of(trainer)))
    assert isinstance(event, Merges)
    merges = event.merges()
    rows = [(merge.left, merge.right, merge.token, *merge.removed) for merge in merges]
    vocabulary = first_vocabulary(rules, None).extended(rows)
    assert vocabulary.history == trainer.vocabulary.history
    assert any(merge.removed for merge in merges) and vocabulary.special_tokens == {"<s>": 419}
