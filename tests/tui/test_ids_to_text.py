"""Ids in, text out: what is typed or pasted is decoded as one types, and told where it is none; F4 leads on with it."""

import pytest
from scope import Opened
from textual.events import Paste
from textual.widgets import Static

from bpe_core import train
from bpe_core.explain.decoding import decoded_spans
from tui.dialogs.ids_to_text import IdsToText
from tui.text.views import lay_out
from tui.widgets.colored_rows import DecodedView

BYTES = train("", vocab_size=257, pattern="none")


def rows(text: str | list[int], width: int) -> list[list[tuple[str, int, bool]]]:
    ids = list(text.encode()) if isinstance(text, str) else text
    spans = list(decoded_spans(BYTES, ids))
    found: list[list[tuple[str, int, bool]]] = []
    for _ in lay_out(spans, [index % 6 for index in range(len(spans))], BYTES.token_bytes, width, found):
        pass
    return [[tuple(part) for part in row] for row in found]


@pytest.mark.parametrize(
    ("ids", "width", "shown"),
    [
        ("ab cd", 80, ["ab cd"]),
        ("abcdef", 4, ["abcd", "ef"]),
        ("a\nb\n", 80, ["a↵", "b↵"]),
        ("\n\n", 80, ["↵", "↵"]),
        ("a\tb\x1b", 80, ["a⇥b␛"]),
        ("é", 80, ["é×2"]),
        ([104, 128, 105], 80, ["h\\x80i"]),
        ([104, 999, 105], 80, ["h?999?i"]),
        ([], 80, []),
    ],
)
def test_decoded_ids_are_laid_out_in_rows(ids: str | list[int], width: int, shown: list[str]) -> None:
    assert ["".join(text for text, _, _ in row) for row in rows(ids, width)] == shown


def test_invalid_bytes_are_brought_out_and_what_is_no_token_has_no_color() -> None:
    assert rows([104, 128, 999], 80) == [[("h", 0, False), ("\\x80", 1, True), ("?999?", -1, False)]]


@pytest.mark.slow
async def test_ids_are_decoded_as_they_are_typed_and_the_editor_takes_their_text(opened: Opened, kept: object) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()

        def about() -> str:
            return str(scope.app.screen.query_one("#about-decoded", Static).render())

        await scope.press("alt+i")
        dialog = await scope.asked(IdsToText)
        await scope.until(lambda: "No ids yet" in about(), "it asks for ids")
        await scope.press(*"128")
        await scope.until(lambda: "ef bf bd" in about(), "it tells what encoding gives")
        assert "gives 3 ids" in about() and "1 invalid place" in about()
        dialog._area.load("")
        dialog._area.post_message(Paste('{"ids": [' + ", ".join(["116", "104", "101"] * 4_000) + ", 5000]}"))
        await scope.until(lambda: "12,001 ids" in about(), "it decodes what was pasted")
        await scope.until(lambda: "Not in this vocabulary: 5000 at place 12,001" in about(), "and misses one")
        view = dialog.query_one(DecodedView)
        await scope.until(lambda: len(view.rows) * view.room >= 12_000, "all of it can be read")
        dialog._area.load("[116, 104, 101, two]")
        await scope.until(lambda: "'two' behind 3 ids" in about(), "and what is no id")
        await scope.press("escape")
        await scope.back()
        text = scope.area.text
        await scope.press("alt+i")
        await scope.asked(IdsToText)
        await scope.until(lambda: "3 ids" in about(), "what was typed is there again")
        await scope.press("f4")
        await scope.back()
        assert scope.area.text == "the" and scope.screen.active == "editor"
        await scope.press("ctrl+z")
        assert scope.area.text == text
