r"""No text reaches the terminal as a command: the byte stream of the real app, with hostile texts in every place.

A text that holds ESC ] 0 ; ... BEL would change the terminal's title, and worse can be written. Everything that is
shown goes through `bpe_core.visible`; here the bytes themselves are looked at.
"""

from pathlib import Path

import pytest
from terminal import AppTerminal, terminal

from bpe_core import save, train
from tui.disk import config

PAYLOAD = "\x1b]0;pwned\x07 \x1b[6n \x00nul\x00 \x9b31m \x9d0;pwned\x9c \x90pwned\x9c \x7f \u202epwned \x1b_pwned\x1b\\ end"
"""A title, a question to the terminal, NUL, the one-character forms of both, DEL, a right-to-left override."""


def innocent(app: AppTerminal) -> None:
    """Nothing of the payload was sent as it is."""
    for sequence in app.controls():
        assert b"pwned" not in sequence and not sequence.endswith(b"[6n"), sequence
    for raw in (
        b"\x00",
        b"\x7f",
        "\u202e".encode(),
        *(chr(code).encode() for code in range(0x80, 0xA0)),
    ):
        assert raw not in app.sent, raw
    assert b"\x1b]0;" not in app.sent and b"\x1b_" not in app.sent


def test_the_eye_of_these_tests_is_open() -> None:
    app = AppTerminal(0, 0)
    for part in PAYLOAD.split():
        app.sent = bytearray(part.encode())
        if any(raw in part for raw in "\x00\x1b\x7f\x9b\x9d\x90\u202e"):
            with pytest.raises(AssertionError):
                innocent(app)


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_a_hostile_text_as_corpus_and_preview_and_token(home: Path) -> None:
    (home / "hostile.txt").write_text((PAYLOAD + "\n") * 20)
    with terminal(
        "--full-speed", "hostile.txt"
    ) as app:  # and the first start: nothing was kept before
        app.until_shown("768")
        app.settle()
        app.type("\x1bOQ")  # F2: the corpus
        app.settle()
        app.type("\x1b[H\x1b[B")  # the cursor on the text, so that it is previewed
        app.until(lambda: "pwned" in app.text, "it is previewed")
        app.type(
            "\x1b[17~"
        )  # F6: train, so that the merge log, the curve and the editor are full of it
        app.until_shown("hostile.txt-gpt4")
        app.settle()
        app.type("\x1b[15~")  # F5: the audit
        app.until(lambda: "suspicious" in app.text, "it is audited")
        app.settle()
        app.type("\r")
        app.settle()
        app.type("\x0f")  # Ctrl+O: into the editor
        app.until_shown("Which text")
        app.type("hostile.txt\r")
        app.until_shown("pwned")
        app.settle()
        innocent(app)


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
def test_a_hostile_paste(home: Path) -> None:
    with terminal() as app:
        app.until_shown("Tokenizers")
        app.settle()
        app.paste(PAYLOAD)  # into the editor
        app.until_shown("pwned")
        app.type("\x1bOR")  # F3: the training, whose last field takes special tokens
        app.settle()
        app.paste(PAYLOAD)
        app.settle()
        app.type("\x1b[Z\x1b[Z\x1b[Z\x1b[Z")
        app.settle()
        app.paste(PAYLOAD)
        app.settle()
        app.type("\x10")  # Ctrl+P: the palette
        app.settle()
        app.paste(PAYLOAD)
        app.settle()
        app.type("\x1b")
        app.settle()
        app.type("\x0f")  # Ctrl+O: a path
        app.until_shown("Which text")
        app.paste(PAYLOAD)
        app.type("\r")
        app.until_shown("Not found")
        app.settle()
        app.type("\x1b")
        app.settle()
        innocent(app)

    config.save_text(PAYLOAD)
    with terminal() as app:  # and as the text that comes back at the next start
        app.until_shown("pwned")
        app.settle()
        innocent(app)


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_a_hostile_file_name(home: Path) -> None:
    name = PAYLOAD.replace("/", "").replace("\x00", "")
    (home / name).mkdir()
    (home / name / name).write_text("an innocent text " * 50)
    save(train("aaa", vocab_size=257), config.tokenizers_folder() / f"{name}.json")
    with terminal(home / name) as app:
        app.until_shown("pwned")
        app.settle()
        app.type("\x1b[17~")  # F6: train, and name the result after it
        app.until_shown("pwned-")
        app.type("\x1bOQ")  # F2
        app.settle()
        for _ in range(3):
            app.type("\r\x1b[B")  # open what is under the cursor, go down
            app.settle()
        innocent(app)
