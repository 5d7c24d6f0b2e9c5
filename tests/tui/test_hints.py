"""Whatever has the focus says in a line what it is; the words of the screen are in the help."""

from collections.abc import Mapping

import pytest
from rich.cells import cell_len
from rich.console import Console

from bpe_core.auditing.findings import KINDS
from bpe_core.content.presets import PRESETS
from bpe_core.content.samples import samples
from bpe_core.patterns import PATTERNS
from bpe_core.trainer import TIES
from tui import glossary
from tui.dialogs.help import sections
from tui.glossary import LONGEST, PATTERN_MEANINGS, TIE_MEANINGS, WORDS
from tui.widgets import merge_log, token_table

SENTENCES: Mapping[str, Mapping[str, str]] = {
    "options": glossary.FIELDS,
    "patterns": {**PATTERN_MEANINGS, "": glossary.ANOTHER_PATTERN, "own": glossary.OWN_PATTERN},
    "ties": TIE_MEANINGS,
    **{f"words of {pane}": words for pane, words in WORDS.items()},
    "kinds": KINDS,
    "presets": {name: preset.reason for name, preset in PRESETS.items()},
    "samples": {sample.name: sample.reason for sample in samples()},
}


@pytest.mark.parametrize("of", SENTENCES)
def test_each_sentence_is_read_whole_in_a_terminal_of_80(of: str) -> None:
    for name, sentence in SENTENCES[of].items():
        assert cell_len(sentence) <= LONGEST and sentence.endswith("."), f"{name}: {sentence}"


def test_each_pattern_and_each_tie_rule_is_explained() -> None:
    assert PATTERN_MEANINGS.keys() == PATTERNS.keys()
    assert tuple(TIE_MEANINGS) == TIES


def test_the_help_knows_the_words_and_columns_of_the_screen() -> None:
    console = Console(width=66)  # what a dialog has in a terminal of 80
    with console.capture() as captured:
        console.print(*sections("Corpus", ()))
    names = {line.partition("  ")[0] for line in captured.get().splitlines()}
    columns = {column.heading for column in (*merge_log.COLUMNS, *token_table.COLUMNS) if column.heading.strip()}
    assert {"rank", "step", "ratio", "pattern", "piece", "vocabulary", *KINDS, *columns} <= names
