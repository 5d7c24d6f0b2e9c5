"""Keys as a terminal sends them, and as fast as it can: what simulated key presses do not show."""

import pytest
from terminal import terminal

from bpe_core.content.samples import examples
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
