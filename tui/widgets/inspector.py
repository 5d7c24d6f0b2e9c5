"""Inspector: one token, looked at closely: its bytes, the merge that made it, what it is made of and goes into."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from bpe_core.auditing.findings import Severity
from bpe_core.plurals import counted
from bpe_core.visible import token_label
from tui.drawing.info_lines import InfoLine, info_strip
from tui.drawing.token_labels import INKS, MARKS
from tui.drawing.token_tree import branches

if TYPE_CHECKING:
    from bpe_core.auditing.verdicts import Verdict
    from bpe_core.tokenizer import Tokenizer

HINT: Final = "Move the cursor onto a token to see its bytes, the merge that made it and what it is built from."


@dataclass(frozen=True, slots=True)
class InspectedToken:
    """What the inspector looks at."""

    tokenizer: "Tokenizer"
    token: int
    verdict: "Verdict | None"
    place: tuple[InfoLine, ...]
    knows_merges: bool = True
    """False while the merges of a rank file are being recovered."""


class Inspector(Widget):
    """The token under the cursor."""

    DEFAULT_CSS = """
    Inspector {
        background: $surface;
        &> .inspector--token { color: $text; text-style: bold; }
        &> .inspector--text { color: $text; }
        &> .inspector--muted { color: $text-muted; }
        &> .inspector--lines { color: $text-disabled; }
        &> .inspector--accent { color: $text-accent; }
        &> .inspector--warning { color: $text-warning; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"inspector--{ink}" for ink in ["token", "text", "muted", "lines", "accent", "warning"]
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.token_style: Callable[[int], Style | None] | None = None
        """Style of a token by its id, where the tokens have colors elsewhere on the screen."""
        self.hint = HINT
        """What it says while there is no token to show."""
        self._shown: InspectedToken | None = None
        self._lines: tuple[object, list[InfoLine]] = (None, [])

    @property
    def token(self) -> int | None:
        """The id shown."""
        return self._shown.token if self._shown else None

    def show(
        self,
        tokenizer: "Tokenizer",
        token: int,
        *,
        verdict: "Verdict | None" = None,
        place: Iterable[InfoLine] = (),
    ) -> None:
        """Look at a token of `tokenizer` as it is at its step.

        `verdict` is what an audit says of it, and `place` what there is to say about the place it was found at, such
        as that it is one of several tokens of one character.
        """
        shown = InspectedToken(tokenizer, token, verdict, tuple(place), tokenizer.vocabulary.knows_merges)
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def clear(self) -> None:
        """Look at nothing."""
        self._shown = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A line of what is known, cut to the width."""
        width, height = self.size
        key = (self._shown, width, height)
        if self._lines[0] != key:
            self._lines = (key, describe(self._shown, self.hint, max(1, width - 2), height))
        lines = self._lines[1]
        text = self._ink("text")
        if y >= len(lines):
            return Strip.blank(width, text)
        line = lines[y]
        if line.ink == "token" and self.token_style and self._shown:
            line = replace(line, left=Text().append(str(line.left), self.token_style(self._shown.token)))
        return info_strip(line, width, self._ink, self.app.console)

    def _ink(self, name: str) -> Style:
        return self.get_component_rich_style(f"inspector--{name}")


def describe(shown: InspectedToken | None, hint: str, width: int, height: int) -> list[InfoLine]:
    """All there is to say in `height` lines of `width` cells; blank lines between the parts where there is room."""
    if shown is None:
        return [InfoLine(text, ink="muted") for text in wrap(hint, width)]
    vocabulary, token = shown.tokenizer.vocabulary, shown.token
    if token not in vocabulary:
        text = f"The token {token:,} is made by a later merge than step {shown.tokenizer.step:,}."
        return [InfoLine(text, ink="muted") for text in wrap(text, width)]
    if not shown.knows_merges:
        waiting = wrap("The merges of this vocabulary are being recovered from its ranks.", width)
        return [*_identity(shown, width, height), *(InfoLine(text, ink="muted") for text in waiting)][:height]
    head = [*_identity(shown, width, height), *_origin(shown, width)]
    notes = [*_notes(shown, width)]
    children = [*_children(shown, width, short=height - len(head) - len(notes) < 6)]
    room = height - len(head) - len(notes) - len(children)
    gaps = 1 + bool(notes) + bool(children)
    tree = branches(vocabulary, token, width, room - gaps) or branches(vocabulary, token, width, room)
    built = [InfoLine(branch.label, branch.note, "text", branch.lines) for branch in tree]
    parts = [part for part in (head, notes, built, children) if part]
    loose = sum(map(len, parts)) + len(parts) - 1 <= height
    lines: list[InfoLine] = []
    for part in parts:
        lines += [InfoLine(), *part] if lines and loose else part
    return lines[:height]


def _identity(shown: InspectedToken, width: int, height: int) -> Iterator[InfoLine]:
    token = shown.tokenizer.vocabulary.token_bytes(shown.token)
    yield InfoLine(token_label(token), f"id {shown.token:,}", "token")
    size = counted(len(token), "byte")
    most = 3 if height >= 14 else 1
    rows = wrap(token[: width * most].hex(" "), max(8, width - len(size) - 2))
    for number, row in enumerate(rows[:most]):
        cut = number == most - 1 and len(rows) > most
        yield InfoLine(row + (" …" if cut else ""), "" if number else size, "muted")


def _origin(shown: InspectedToken, width: int) -> Iterator[InfoLine]:
    vocabulary, record = shown.tokenizer.vocabulary, shown.tokenizer.record
    parents = vocabulary.parents(shown.token)
    if shown.token in vocabulary.special_tokens.values():
        yield InfoLine("a special token: outside the merges", ink="muted")
    elif parents is None:
        one = len(vocabulary.token_bytes(shown.token)) == 1
        yield InfoLine("a single byte" if one else "not made by a merge", ink="muted")
    else:
        step = vocabulary.step_of(shown.token)
        pair = " + ".join(token_label(vocabulary.token_bytes(parent)) for parent in parents)
        made = f"step {step:,}"
        if cell_len(pair) + 1 + len(made) <= width:
            yield InfoLine(pair, made)
        else:
            yield InfoLine(pair)
            yield InfoLine("", made)
        if record is not None and step <= len(record.steps):
            count, ties, _ = record.steps[step - 1]
            yield InfoLine(f"occurred {counted(count, 'time')}", f"{ties:,} tied" if ties > 1 else "", "muted")
    left = shown.verdict.evidence.get("count") if shown.verdict else None
    if left is not None:
        yield InfoLine("left in the corpus", f"{left:,}", "muted")


def _notes(shown: InspectedToken, width: int) -> Iterator[InfoLine]:
    yield from shown.place
    if shown.verdict is None:
        return
    for kind in shown.verdict.kinds:
        about = shown.verdict.evidence[kind]
        severity = Severity[about["severity"].upper()]
        yield InfoLine(kind, lead=f"{MARKS[severity]} ", ink=INKS[severity])
        for text in wrap(about["reason"], max(8, width - 2), max_lines=3, placeholder=" …"):
            yield InfoLine(text, lead="  ", ink="muted")


def _children(shown: InspectedToken, width: int, *, short: bool) -> Iterator[InfoLine]:
    vocabulary = shown.tokenizer.vocabulary
    children = vocabulary.children(shown.token)
    if not children:
        return
    first = "  ".join([token_label(vocabulary.token_bytes(child)) for child in children[:width]])
    count = counted(len(children), "token")
    if short:
        yield InfoLine(f"goes into {first}", count, "muted")
    else:
        yield InfoLine("goes into", count, "muted")
        yield InfoLine(first)
