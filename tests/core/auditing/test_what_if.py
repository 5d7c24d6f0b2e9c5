"""What if a vocabulary stood behind another pattern or normalizer: the tokens that die, and how they are told."""

import pytest
from real import real_file

from bpe_core import Tokenizer, load, save, train
from bpe_core.auditing.reachability import changed, what_if
from bpe_core.cli.main import main
from bpe_core.errors import OptionError, PatternError
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.tokenizer.preparation import Preparation
from bpe_core.tokenizer.steps import PrefixStep, SplitStep

NUMBERS = train("100 100 100 20 20", vocab_size=259)
SINGLE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def test_single_digits_kill_numbers():
    lost = list(what_if(NUMBERS, pattern=r"\d|\D+"))
    assert [finding.token for finding in lost] == [b"10", b"100", b"20"]
    assert {(finding.kind, finding.evidence["cause"]) for finding in lost} == {("unreachable", "pattern")}
    assert list(what_if(NUMBERS, pattern="none")) == [] == list(what_if(NUMBERS, pattern="gpt4"))


def test_what_is_dead_already_is_not_told_again():
    assert list(what_if(changed(NUMBERS, pattern=r"\d|\D+"), pattern=r"\d|\D")) == []


def test_a_normalizer_kills_what_it_rewrites():
    tokenizer = train("Ab Ab ab ﬁ ﬁ ﬁ", vocab_size=262)
    capitals = {
        token for token in tokenizer.vocabulary.ids() if any(65 <= b <= 90 for b in tokenizer.token_bytes(token))
    }
    assert {finding.id for finding in what_if(tokenizer, normalizer="lowercase")} == capitals
    ligature = next(f for f in what_if(tokenizer, normalizer="NFKC") if f.token.decode().strip() == "ﬁ")
    assert ligature.evidence["cause"] == "normalizer" and "first changed into" in ligature.reason
    assert not any(finding.id > 255 for finding in what_if(tokenizer, normalizer="NFC"))


def test_the_rest_of_a_pipeline_stays():
    added = AddedToken("<tool>", 400)
    steps = (PrefixStep(" ", only_first=True), SplitStep(NUMBERS.splitter))
    preparation = Preparation((added,), None, steps, has_metaspace=False, drops_space=False, description={})
    tokenizer = Tokenizer(NUMBERS.vocabulary, NUMBERS.pattern, preparation=preparation)
    other = changed(tokenizer, pattern="none").preparation
    assert other is not None and other.added == (added,) and isinstance(other.steps[0], PrefixStep)
    assert other.steps[1].splitter.pattern == "none" and len(other.steps) == 2


def test_what_there_is_not_is_told():
    with pytest.raises(OptionError, match="NFKC"):
        what_if(NUMBERS, normalizer="nfx")
    with pytest.raises(PatternError):
        what_if(NUMBERS, pattern="[")


def test_the_command_tells_it(tmp_path, capsys):
    save(NUMBERS, tmp_path / "t.json")
    assert main(["audit", "-t", str(tmp_path / "t.json"), "--what-if", r"\d|\D+"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 tokens would become unreachable:" and len(lines) == 4
    assert main(["audit", "-t", str(tmp_path / "t.json"), "--what-if", "none", "--jsonl"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_cl100k_with_fewer_digits(tmp_path, capsys):
    """1,102 and 1,000: what a published model did to this vocabulary, and what pairs of digits would have done."""
    path = real_file("cl100k_base.tiktoken", tmp_path)
    tokenizer = load(path)
    pairs = SINGLE.replace(r"|\p{N}|", r"|\p{N}{1,2}|")
    assert sum(1 for _ in what_if(tokenizer, pattern=SINGLE)) == 1102
    assert sum(1 for _ in what_if(tokenizer, pattern=pairs)) == 1000
    assert main(["audit", "-t", str(path), "--what-if", "none"]) == 0
    assert "No token" in capsys.readouterr().out
