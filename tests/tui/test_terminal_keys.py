"""Keys as a terminal sends them, and as fast as it can: what simulated key presses do not show."""

import pytest
from terminal import terminal

from bpe_core.content.samples import editor_greeting, examples
from tui.disk import config


@pytest.mark.usefixtures("kept")
@pytest.mark.slow
def test_alt_and_a_letter_is_a_command_and_no_text() -> None:
    with terminal() as app:
        app.until_shown("Tokenizers")
        app.settle()
        app.type("\x1be")  # what terminals send for Alt+E
        app.until_shown("A model gets tokens")
        app.settle()
    assert config.load_text() == examples()[0].text


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
def test_keys_that_arrive_at_once_are_done_one_after_the_other() -> None:
    with terminal() as app:
        app.until_shown("Tokenizers")
        app.settle()
        home, delete, f2, f4 = "\x1b[1;5H", "\x1b[3~", "\x1bOQ", "\x1bOS"
        app.type(f"{home}abc\x7fd{home}XY{delete}Z")  # \x7f is what Backspace sends
        app.settle()
        app.type(f"{f2}{f4}e")  # in the corpus, e would put another text into the editor
        app.settle()
    assert config.load_text() == "XYZebd" + editor_greeting()
