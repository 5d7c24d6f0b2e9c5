"""Whatever a person does in any order: what the app lists, copies, exports and deletes is what a model says.

The model (`app_model.py`) knows the tokenizers, the texts and their marks, the lanes, and how lists are sorted and
filtered. Keys go in; the cells of lists, the clipboard and files come out. Workers run in this process, so that a step
takes a tenth of a second.
"""

import asyncio
import csv
import io
import json
import os
import random
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from app_model import (
    LOG_CHOICES,
    MOST_LANES,
    SEVERITIES,
    VOCAB_SIZE,
    Known,
    Model,
    words,
)
from rich.text import Text
from scope import Opened, Scope, drawn
from terminal import at_work
from textual import events
from textual.widgets import Static

from bpe_core import Tokenizer, load, save, train
from bpe_core.formats import WRITABLE
from bpe_core.patterns import splitter
from bpe_core.runs import exported
from bpe_core.visible import token_label, visible
from tests.attack.monkey.deeds import FILES
from tui.dialogs.ask import Ask
from tui.dialogs.ask_path import AskPath
from tui.dialogs.ask_pattern import AskPattern
from tui.dialogs.confirm import Confirm
from tui.dialogs.lanes import AskLanes
from tui.disk import config
from tui.disk.config import Configuration, save_configuration
from tui.state import LaneChoice, TrainingOptions
from tui.state import Opened as OpenedBefore
from tui.widgets.comparison_table import ComparisonTable
from tui.widgets.merge_log import MergeLog
from tui.widgets.token_table import TokenTable
from tui.widgets.tokenizer_lists import TokenizerList, TokenizerPicker

IDLE = 60
"""Turns without any work after which something is said never to come."""
MOST_TURNS = 5_000
"""Turns after which it is, whatever is at work."""
TEXTS = (
    "they thought through the thesis",
    "low lower lowest\nnewer, newest: 12345",
    "naïve café 日本語 👩‍👩‍👧‍👦",
    "",
)
"""What is typed into the editor."""
PREVIEWED = 600
"""Characters of a text that are split to be seen."""
SOUGHT = ("th", "the", "260", "zzz")
"""What is searched for among tokens."""


@pytest.fixture
def model(home: Path) -> Model:
    """A home folder with texts and tokenizers, and the model of an app that was used there before."""
    texts = [home / name for name in ("book.txt", "tale.txt", "words.txt")]
    for path in texts:
        path.write_text(FILES[path.name], "utf-8", newline="")
    book, tale, mixed = (path.read_text("utf-8") for path in texts)
    shelf = config.tokenizers_folder()
    save(train(book, vocab_size=280), shelf / "alpha.json")
    special = train(mixed + tale, vocab_size=300, special_tokens=("<|end|>",))
    save(special, shelf / "beta.json")
    for age, name in enumerate(("alpha", "beta"), 1):
        os.utime(shelf / f"{name}.json", (age * 10**6, age * 10**6))
    for name, size in ("gamma", 284), ("delta", 270):
        one = train(tale, vocab_size=size, pattern="gpt2")
        save(one, home / f"{name}.json", format="huggingface")
    own = [Known(shelf / f"{name}.json", name, True) for name in ("beta", "alpha")]
    opened = [Known(home / f"{name}.json", name, False) for name in ("gamma", "delta")]
    save_configuration(
        Configuration(
            tokenizer=str(own[1].path),
            opened=tuple(OpenedBefore(str(one.path)) for one in opened),
            corpus=tuple(map(str, texts)),
            pace=0,
            options=TrainingOptions(vocab_size=VOCAB_SIZE),
        )
    )
    current = own[1].tokenizer
    return Model(
        home, own, opened, own[1], current, current.step, texts, listed_texts=[*texts]
    )


class Session:
    """The app in a person's hands, and the model that must agree with it after each step."""

    def __init__(self, scope: Scope, model: Model, seed: random.Random) -> None:
        self.scope, self.model, self.random = scope, model, seed

    # What must agree

    def seen(self) -> dict[str, object]:
        """What the app shows."""
        scope = self.scope
        editor = scope.area.edited
        title = drawn(scope.screen.query_one("TitleLine"))[0]
        seen: dict[str, object] = {
            "title": title[title.find("F10") :].partition("   ")[2].strip(),
            "steps": re.findall(
                r"step +(\d+) of (\d+)", drawn(scope.screen.query_one("#steps"))[0]
            ),
            "tokenizers": [
                words(row)
                for row in drawn(scope.screen.query_one(TokenizerList))
                if row.strip()
            ],
            "texts": [
                words(row)
                for row in drawn(scope.tree)[1 : 1 + len(self.model.listed_texts)]
            ],
            "totals": self.shown_totals(),
            "text": scope.area.text,
            "ids": [
                list(lane.live.ids) if lane.live else None for lane in editor.lanes
            ],
            "log": self.shown_log(),
        }
        return seen

    def shown_log(self) -> list[str]:
        """The rows of the log; a label that is cut is taken for the whole, if it is the beginning of that."""
        log = self.scope.screen.query_one(MergeLog)
        rows = [words(row) for row in drawn(log)[1 : 1 + log.page_rows] if row.strip()]
        whole = self.expected_log()
        return [whole_row(*pair) for pair in zip_longest(rows, whole, fillvalue="")]

    def shown_totals(self) -> list[str]:
        lines = []
        for line in self.scope.shown("#totals").splitlines():
            share = re.fullmatch(r"(\S+) .* ([\d.]+%)", line)
            lines.append(f"{share[1]} {share[2]}" if share else words(line))
        pieces = re.search(r"different +([\d,]+)", self.scope.shown("#pieces"))
        return [*lines, f"{pieces[1]} different"] if pieces else lines

    def expected(self) -> dict[str, object]:
        """What it must show."""
        model = self.model
        tokenizer, record = model.tokenizer, model.tokenizer.record
        facts = [
            model.names.get(model.current.path, model.current.path.stem),
            f"{tokenizer.n_tokens} tokens",
            f"pattern {tokenizer.pattern or 'none'}",
        ]
        if record is not None:
            facts.append(f"ties {record.ties}")
        tokenizers = []
        for one in model.known:
            mark = "● " if one is model.current else ""
            tokenizers.append(f"{mark}{one.name} {one.tokenizer.n_tokens}")
        texts = []
        for path in model.listed_texts:
            mark = (
                "✓ "
                if path in model.corpus
                else "≠ "
                if path in model.reference
                else ""
            )
            weight = (
                f"×{model.weights[path]} "
                if path in model.weights and path in model.corpus
                else ""
            )
            texts.append(
                f"{mark}{path.name} {weight}{path.stat().st_size / 1000:.1f} kB"
            )
        totals = [
            "Space chooses a text, F6 trains on it; r marks a reference for the audit."
        ]
        if model.corpus:
            totals = [*model.totals(), f"{model.different_pieces():,} different"]
        lanes = [model.in_force, *map(model.lane_tokenizer, model.lanes)]
        return {
            "title": " · ".join(facts),
            "steps": [(str(model.step), str(tokenizer.step))],
            "tokenizers": tokenizers,
            "texts": texts,
            "totals": totals,
            "text": model.text,
            "ids": [lane.encode_ordinary(model.text) for lane in lanes],
            "log": self.expected_log(),
        }

    def expected_log(self) -> list[str]:
        """The rows of the log that are in sight, wherever it is scrolled to."""
        model, log = self.model, self.scope.screen.query_one(MergeLog)
        top = log.scroll_offset.y
        steps = model.log_rows()[top : top + log.page_rows]
        return [model.log_row(step) for step in steps] or ["There are no such merges."]

    async def agree(self) -> None:
        """Wait until the app shows what the model says; fail where it comes to rest with something else."""
        with suppress(AssertionError):
            await self.until(lambda: self.seen() == self.expected(), "they agree")
        assert self.seen() == self.expected()

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until something is so; fail where nothing is at work any more and it is not."""
        idle = 0
        for _ in range(MOST_TURNS):
            if holds():
                return
            idle = 0 if at_work(os.getpid(), but=os.getpid()) else idle + 1
            if idle > IDLE:
                break
            await asyncio.sleep(0.01)
            await self.scope.settle()
        raise AssertionError(f"it did not come about that {what}")

    async def asked(self, dialog: type[Any]) -> Any:
        """Wait for a question."""
        await self.until(
            lambda: (
                isinstance(self.scope.app.screen, dialog)
                and self.scope.app.screen.focused
            ),
            f"{dialog.__name__} is asked",
        )
        return self.scope.app.screen

    async def answer(self, dialog: type[Any], text: str) -> None:
        """Answer a question by a text."""
        shown = await self.asked(dialog)
        await self.scope.answer(text)
        await self.until(
            lambda: self.scope.app.screen is not shown, f"{text!r} is taken"
        )

    # What a person does

    async def list_row(self, one: Known) -> None:
        """Go to a tokenizer of the list."""
        await self.scope.press(
            "f4", "f2", "f2", "home", *["down"] * self.model.known.index(one)
        )

    async def text_row(self, path: Path) -> None:
        """Go to a text of the tree."""
        place = 1 + self.model.listed_texts.index(path)
        await self.scope.press("f4", "f2", "home", *["down"] * place)

    async def use_a_tokenizer(self) -> None:
        one = self.random.choice(self.model.known)
        await self.list_row(one)
        await self.scope.press("enter")
        self.model.use(one)

    async def travel(self) -> None:
        by = self.random.choice((-10, -1, -1, 1, 3))
        key = "alt+left" if by < 0 else "alt+right"
        await self.scope.press(*[key] * abs(by))
        self.model.step = max(0, min(self.model.step + by, self.model.tokenizer.step))

    async def type_a_text(self) -> None:
        text = self.random.choice(TEXTS)
        await self.scope.press("f4", "alt+a", "delete")
        if text:
            await self.scope.batch(events.Paste(text))
        self.model.type(text)

    async def show_an_example(self) -> None:
        await self.scope.press("f4", "alt+e")
        self.model.next_example()

    async def bring_my_text_back(self) -> None:
        await self.scope.press("alt+z")
        self.model.bring_back()

    async def mark_a_text(self) -> None:
        path = self.random.choice(self.model.listed_texts)
        key = self.random.choice(("space", "r", "o"))
        await self.text_row(path)
        await self.scope.press(key)
        if key == "o":
            self.model.choose_only(path)
        else:
            self.model.mark(path, "corpus" if key == "space" else "reference")

    async def weigh_a_text(self) -> None:
        if not self.model.corpus:
            return
        path = self.random.choice(self.model.corpus)
        weight = self.random.choice(("3", "1/2", "1"))
        await self.text_row(path)
        await self.scope.press("number_sign")
        await self.answer(Ask, weight)
        self.model.weights.pop(path, None)
        if weight != "1":
            self.model.weights[path] = weight

    async def look_at_a_text(self) -> None:
        """Its first pieces are in the preview."""
        path = self.random.choice(self.model.listed_texts)
        await self.text_row(path)
        text = path.read_bytes().decode()[:PREVIEWED]
        preview = self.scope.screen.query_one("#preview", Static)

        def pieces() -> list[str]:
            """The stretches of the preview in one color each, however its lines end."""
            shown = preview.content
            assert isinstance(shown, Text)
            return [
                shown.plain[span.start : span.end].rstrip("\n") for span in shown.spans
            ]

        heading = f"Pieces  {path.name}"
        expected = [
            visible(piece.replace("\n", "↵")).replace("↵", "↵\n").rstrip("\n")
            for piece in splitter(self.model.pattern).split(text)
        ]
        await self.until(
            lambda: (
                self.scope.shown("#preview-heading") == heading and pieces() == expected
            ),
            f"the pieces of {path.name} are shown",
        )

    async def turn_lanes(self) -> None:
        model = self.model
        await self.scope.press("f4", "alt+l")
        dialog = await self.asked(AskLanes)
        before = list(model.lanes)
        offers = model.offered_lanes()
        keys = ["home"]
        place = 0
        for wanted in self.random.sample(
            range(len(offers)), self.random.choice((1, 2))
        ):
            keys += ["down" if wanted > place else "up"] * abs(wanted - place)
            keys.append("space")
            place = wanted
            lane = offers[wanted]
            if lane in model.lanes:
                model.lanes.remove(lane)
            elif len(model.lanes) < MOST_LANES:
                model.lanes.append(lane)
        is_kept = self.random.random() < 0.8
        if not is_kept:
            model.lanes = before
        for path, _ in model.lanes:
            if path and path not in model.lane_tokenizers:
                (one,) = (one for one in model.known if str(one.path) == path)
                model.lane_tokenizers[path] = one.tokenizer
        kept = {path for path, _ in model.lanes}
        model.lane_tokenizers = {
            path: one for path, one in model.lane_tokenizers.items() if path in kept
        }
        await self.scope.press(*keys, "enter" if is_kept else "escape")
        await self.until(lambda: self.scope.app.screen is not dialog, "the dialog goes")

    async def rename_a_tokenizer(self) -> None:
        one = self.random.choice(self.model.known)
        one.name = f"name {self.random.randrange(10**6)}"
        self.model.names[one.path] = one.name
        await self.list_row(one)
        await self.scope.press("n")
        await self.answer(Ask, one.name)

    async def delete_a_tokenizer(self) -> None:
        """One that was trained here goes with its file, any other leaves the list alone."""
        model = self.model
        used = {model.current.path, *(Path(path) for path, _ in model.lanes if path)}
        some = [one for one in model.known if one.path not in used]
        if not some:
            return
        one = self.random.choice(some)
        is_meant = not one.is_own or self.random.random() < 0.6
        await self.list_row(one)
        await self.scope.press("delete")
        if one.is_own:
            question = await self.asked(Confirm)
            await self.scope.press("y" if is_meant else "n")
            await self.until(
                lambda: self.scope.app.screen is not question, "it is answered"
            )
        if is_meant:
            (model.own if one.is_own else model.opened).remove(one)
            model.names.pop(one.path, None)
        await self.agree()
        assert one.path.exists() == (not one.is_own or not is_meant)

    async def split_in_another_way(self) -> None:
        one = self.random.choice(self.model.known)
        if any(path == str(one.path) for path, _ in self.model.lanes):
            return
        in_file = load(one.path).pattern
        now = in_file if one.pattern is None else one.pattern
        pattern = self.random.choice(
            [name for name in ("gpt2", "gpt4", "none") if name != now]
        )
        await self.list_row(one)
        await self.scope.press("p")
        await self.answer(AskPattern, pattern)
        one.pattern = None if pattern == in_file else pattern
        self.model.use(one)

    async def train(self) -> None:
        model = self.model
        if not model.corpus:
            return
        before = {one.path for one in model.own}
        expected = model.trained()
        await self.scope.press("f6")
        await self.until(lambda: not self.scope.screen.run.busy, "all is learned")
        files = set(config.tokenizers_folder().glob("*.json"))
        new = files - before
        assert len(new) <= 1 and not before - files
        if new:
            (path,) = new
            one = Known(path, path.stem, True)
            model.own.insert(0, one)
        else:  # it has been learned before
            (one,) = (one for one in model.own if is_same(one.tokenizer, expected))
        assert is_same(one.tokenizer, expected)
        if one is not model.current or new:
            model.show(one, one.tokenizer)
        model.step = model.tokenizer.step
        model.log_choice = ""

    async def filter_the_log(self) -> None:
        model = self.model
        await self.scope.press("f4", "f3", "f3")
        await self.go_to(MergeLog)
        by = self.random.choice((1, -1, 2))
        choices = LOG_CHOICES
        if model.tokenizer.record is None:
            choices = ("", "longest", "partial")
        await self.scope.press(*["right" if by > 0 else "left"] * abs(by))
        place = choices.index(model.log_choice) if model.log_choice in choices else -by
        model.log_choice = choices[(place + by) % len(choices)]

    async def go_to(self, kind: type[Any]) -> None:
        """Press Tab until a widget has the focus."""
        widget = self.scope.screen.query_one(kind)
        for _ in range(30):
            if widget.has_focus:
                return
            await self.scope.press("tab")
        raise AssertionError(f"no Tab leads to {kind.__name__}")

    # What is taken out of the app

    async def copy_the_log(self) -> None:
        model = self.model
        await self.scope.press("f4", "f3")
        await self.go_to(MergeLog)
        await self.scope.press("C")
        head = "step\tleft\tright\ttoken\tid\tcount\tties\ttokens"
        lines = [head, *map(model.log_line, model.log_rows())]
        if len(lines) > 1:
            assert self.scope.app.clipboard == "\n".join(lines)

    async def copy_ids(self) -> None:
        await self.scope.press("f4")
        self.scope.area.move_cursor((0, 0))
        ids = self.model.in_force.encode_ordinary(self.model.text)
        await self.scope.press("alt+c")
        assert self.scope.app.clipboard == str(ids)
        excerpts = self.scope.screen.features.excerpts
        excerpts.copy_ids()
        assert self.scope.app.clipboard == " ".join(map(str, ids))
        excerpts.copy_text()
        assert self.scope.app.clipboard == self.model.text

    def new_file(self, suffix: str) -> Path:
        self.model.n_files += 1
        return self.model.folder / f"exported-{self.model.n_files}{suffix}"

    async def written(self, path: Path) -> str:
        """Answer where a file is to be saved; what is in it."""
        await self.answer(AskPath, str(path))
        await self.until(
            lambda: any(str(path) in said for said in self.scope.said), "it is saved"
        )
        return path.read_bytes().decode()

    async def export(self) -> None:
        """The merges, the curve, the record."""
        model = self.model
        whats = (
            ["merges"]
            if model.tokenizer.record is None
            else ["merges", "curve", "record"]
        )
        for what in whats:
            screen = self.scope.screen
            screen.run_in_background(screen.features.texts.export(what))
            expected = exported(what, [model.tokenizer], [model.current.path.stem])
            assert await self.written(self.new_file(".txt")) == "".join(expected)

    async def convert(self) -> None:
        """The tokenizer in force, for another library, gives the same ids."""
        model = self.model
        form = self.random.choice(("huggingface", "native"))
        assert form in WRITABLE
        screen = self.scope.screen
        screen.run_in_background(screen.features.texts.convert())
        await self.answer(Ask, form)
        path = self.new_file(".json")
        await self.written(path)
        assert is_same(load(path), model.in_force)

    async def save_the_text(self) -> None:
        await self.scope.press("f4", "ctrl+s")
        assert await self.written(self.new_file(".txt")) == self.model.text

    async def replace_a_file(self) -> None:
        """It is replaced only if that is meant."""
        path = self.new_file(".txt")
        path.write_text("as it was")
        is_meant = self.random.random() < 0.5
        await self.scope.press("f4", "ctrl+s")
        await self.answer(AskPath, str(path))
        question = await self.asked(Confirm)
        await self.scope.press("y" if is_meant else "n")
        await self.until(
            lambda: self.scope.app.screen is not question, "it is answered"
        )
        await self.scope.settle()
        if is_meant:
            await self.until(
                lambda: any(str(path) in said for said in self.scope.said), "saved"
            )
        assert path.read_bytes().decode() == (
            self.model.text if is_meant else "as it was"
        )

    async def put_ids_in(self) -> None:
        """Ids in, text out."""
        ids = self.model.in_force.encode_ordinary("other things, theirs")
        await self.scope.press("f4", "end", "alt+i")
        dialog = await self.asked(object)
        await self.scope.press("alt+a", "delete")
        await self.scope.batch(events.Paste(str(ids)))
        await self.scope.press("f4")
        await self.until(lambda: self.scope.app.screen is not dialog, "the dialog goes")
        self.model.put(self.model.in_force.decode(ids))

    # The audit

    async def audit(self) -> None:
        """Sort, filter and search the tokens, and export what is shown."""
        model, scope = self.model, self.scope
        table = scope.screen.query_one(TokenTable)
        await scope.press("f5")
        await self.until(
            lambda: (
                scope.screen.audit.subject
                and not scope.screen.audit.running
                and not table.is_working
            ),
            "it is audited",
        )
        if model.findings is None:
            model.audit()
        await self.go_to(TokenTable)
        for _ in range(3):
            await self.look_otherwise(table)
        suffix = self.random.choice((".jsonl", ".csv", ".md"))
        await scope.press("x")
        content = await self.written(self.new_file(suffix))
        self.check_export(content, suffix)
        await scope.press("f3")

    async def look_otherwise(self, table: TokenTable) -> None:
        model, scope, view = self.model, self.scope, self.model.tokens
        deed = self.random.choice(("s", "S", "right", "left", "v", "search"))
        if deed == "search":
            view.search = self.random.choice(("", *SOUGHT))
            await scope.press("slash", "ctrl+u", *view.search, "enter")
        else:
            heads = drawn(table)[0].replace("↓", " ").replace("↑", " ").split()
            await scope.press(deed)
        if deed == "s":
            keys = [head.replace("documents", "document_frequency") for head in heads]
            keys = [
                key
                for key in keys
                if key not in ("reason", "+", "Token", "Lines", "Kinds", "w")
            ]
            if "in" in keys:
                keys[keys.index("in") : keys.index("in") + 2] = ["largest_share"]
            view.sort = keys[(keys.index(view.sort) + 1) % len(keys)]
            view.is_reverse = False
        elif deed == "S":
            view.is_reverse = not view.is_reverse
        elif deed in ("right", "left"):
            kinds = model.token_kinds()
            by = 1 if deed == "right" else -1
            view.kind = kinds[(kinds.index(view.kind) + by) % len(kinds)]
        elif deed == "v":
            view.severity = (view.severity + 1) % SEVERITIES
        await self.until(lambda: not table.is_working, "they are listed")
        ids = model.token_ids()
        assert [table.rows.ids[row] for row in table.order] == ids
        top = table.scroll_offset.y
        rows = [row for row in drawn(table)[1 : 1 + table.page_rows] if row.strip()]
        for token, row in zip(ids[top : top + table.page_rows], rows, strict=False):
            label = token_label(model.tokenizer.token_bytes(token))
            assert f" {token:,}  {label[:5]}" in row
            one = model.findings and model.findings.verdicts.get(token)
            if one:
                assert f" {one.score:.2f} " in row and one.kinds[0][:8] in row
        if not ids:
            assert rows[0].strip().startswith("No token")

    def check_export(self, content: str, suffix: str) -> None:
        model, findings = self.model, self.model.findings
        assert findings is not None
        ids = model.token_ids(unfolded=True)
        if suffix == ".jsonl":
            rows = [json.loads(line) for line in content.splitlines()]
            assert [row["id"] for row in rows] == ids
            for row in rows:
                one = findings.verdicts.get(row["id"])
                assert row["score"] == (one.score if one else 0)
                assert one is None or row == json.loads(json.dumps(one.to_json()))
        elif suffix == ".csv":
            table = list(csv.DictReader(io.StringIO(content, newline="")))
            assert [int(row["id"]) for row in table] == ids
            for row in table:
                token = int(row["id"])
                one = findings.verdicts.get(token)
                severity = one.severity.word if one and one.severity else ""
                assert bytes.fromhex(row["bytes"]) == model.tokenizer.token_bytes(token)
                assert (float(row["score"]), row["severity"]) == (
                    one.score if one else 0,
                    severity,
                )
                assert row["kinds"].split() == list(one.kinds if one else ())
                for name, column in findings.measures.items():
                    assert row[name] == str(column.get(token, ""))
        else:
            lines = content.splitlines()[2:]
            assert [int(line.split("|")[1]) for line in lines] == ids

    # The comparison

    async def compare(self) -> None:
        """Mark tokenizers, compare them on the chosen texts, export the counts."""
        model, scope = self.model, self.scope
        picker = scope.screen.query_one(TokenizerPicker)
        await scope.press("f10")
        await self.until(
            lambda: not scope.screen.comparison.running, "what is seen at first ends"
        )
        await scope.press("a")
        await self.go_to(TokenizerPicker)
        for one in self.random.sample(model.known, self.random.choice((0, 1, 2))):
            await scope.press("home", *["down"] * model.known.index(one), "space")
            model.mark_compared(one)
        letters = dict(zip((one.path for one in model.compared), "ABCD", strict=False))
        rows = [
            row.split()[0:1] + row.split()[1:2]
            for row in drawn(picker)[1 : 1 + len(model.known)]
        ]
        expected = [
            f"[{letters[one.path]}]" if one.path in letters else "["
            for one in model.known
        ]
        assert [row[0] for row in rows] == expected
        await scope.press("enter")
        compared, texts = model.compared, model.corpus
        if not compared or not texts:
            await self.until(
                lambda: "is chosen" in scope.said[-1], "it says what is missing"
            )
            await scope.press("f3")
            return
        await self.until(
            lambda: (
                scope.screen.comparison.texts and not scope.screen.comparison.running
            ),
            "all is compared",
        )
        table = scope.screen.query_one(ComparisonTable)
        await self.until(lambda: not table._arranging.is_working, "it is listed")
        await scope.press("f4", "f10")
        await self.go_to(ComparisonTable)
        while table.choice != "texts":
            await scope.press("left")
        await scope.press("x")
        head, *found = csv.reader(
            (await self.written(self.new_file(".csv"))).splitlines()
        )
        names = [
            f"{one.name} ({one.pattern})" if one.pattern else one.name
            for one in compared
        ]
        if len(names) > 1:
            names = [
                f"{letter} {name}" for letter, name in zip("ABCD", names, strict=False)
            ]
        assert head[: 2 + len(names)] == ["text", "bytes", *names]
        for path, row in zip(texts, found, strict=True):
            data = path.read_bytes()
            counts = [
                len(one.tokenizer.encode_ordinary(data.decode())) for one in compared
            ]
            assert [cell.replace(",", "") for cell in row[: 2 + len(counts)]] == [
                path.name,
                str(len(data)),
                *map(str, counts),
            ]
        await scope.press("f3")

    # At the end

    def check_remembered(self) -> None:
        """What comes back at the next start."""
        model, kept = self.model, config.load_configuration()
        assert kept.tokenizer == str(model.current.path)
        assert [one.path for one in kept.opened] == [
            str(one.path) for one in model.opened
        ]
        assert [one.n_vocab for one in kept.opened] == [
            one.tokenizer.n_tokens for one in model.opened
        ]
        assert kept.names == {str(path): name for path, name in model.names.items()}
        assert kept.corpus == tuple(map(str, model.corpus))
        assert kept.reference == tuple(map(str, model.reference))
        assert kept.options.weights == {
            str(path): one for path, one in model.weights.items()
        }
        assert kept.lanes == tuple(LaneChoice(*lane) for lane in model.lanes)
        assert list(kept.texts) == model.texts_aside


STEPS = (
    *(
        Session.use_a_tokenizer,
        Session.travel,
        Session.type_a_text,
        Session.show_an_example,
    ),
    *(
        Session.bring_my_text_back,
        Session.mark_a_text,
        Session.mark_a_text,
        Session.weigh_a_text,
    ),
    *(
        Session.look_at_a_text,
        Session.turn_lanes,
        Session.turn_lanes,
        Session.rename_a_tokenizer,
    ),
    *(
        Session.delete_a_tokenizer,
        Session.split_in_another_way,
        Session.train,
        Session.filter_the_log,
    ),
    *(Session.filter_the_log, Session.copy_the_log, Session.copy_ids, Session.export),
    *(
        Session.convert,
        Session.save_the_text,
        Session.replace_a_file,
        Session.put_ids_in,
    ),
    *(Session.audit, Session.compare, Session.use_a_tokenizer, Session.travel),
)


def whole_row(row: str, expected: str) -> str:
    """`expected`, if some fields of `row` are the beginnings of its fields, followed by an ellipsis."""
    fields, whole = row.split(), expected.split()
    if len(fields) != len(whole):
        return row
    for field, one in zip(fields, whole, strict=True):
        if field != one and not (field.endswith("…") and one.startswith(field[:-1])):
            return row
    return expected


def is_same(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers give the same ids."""
    return (one.merges, one.pattern, one.special_tokens) == (
        other.merges,
        other.pattern,
        other.special_tokens,
    )


@pytest.mark.usefixtures("workers_in_thread")
@pytest.mark.parametrize(
    "number",
    [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 4))],
)
async def test_the_app_does_what_the_model_says(
    number: int, opened: Opened, model: Model
) -> None:
    """Each step once in an order of its own, with the app left and opened again half way."""
    draw = random.Random(number)
    steps = draw.sample(STEPS, len(STEPS))
    half = len(steps) // 2
    done: list[str] = []
    for some in steps[:half], steps[half:]:
        async with opened(size=(150, 44)) as scope:
            session = Session(scope, model, draw)
            await scope.press("f2", "home")
            await session.agree()
            for step in some:
                done.append(step.__name__)
                print(step.__name__)
                await step(session)
                await session.agree()
        session.check_remembered()
        model.begin_again()
