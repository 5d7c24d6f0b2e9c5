"""Deeds that end an app of Textual's own do not end this one; and for each, whether Textual still needs the guard.

A test marked `guarded=False` shows the crash in a plain app. Where one fails, Textual has mended it: the guard can go.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from scope import Alone, Opened, events_of_click, key
from terminal import terminal
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult, ScreenStackError
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.css.query import NoMatches
from textual.events import Click, Event, MouseEvent
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Label, OptionList
from textual.widgets._toast import Toast

from tui.app import BpeScope
from tui.disk import config
from tui.features.feature import guarded
from tui.terminal.driver import _replacing
from tui.terminal.guards import (
    Dialog,
    Field,
    GuardedPalette,
    PagedOptionList,
    leads_nowhere,
)

both = pytest.mark.parametrize(
    "guarded",
    [
        pytest.param(True, id="guarded"),
        pytest.param(False, marks=pytest.mark.slow, id="plain"),
    ],
)
"""Of the plain apps a crash costs a second each, and tells of Textual, not of us."""


@asynccontextmanager
async def running(
    app: App[None], error: type[Exception] | None, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Pilot[None]]:
    """`app`, which must end with `error`; None: it must not end."""
    ended: Exception | None = None
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            await pilot.pause()
            yield pilot
            await pilot.pause()
    except (ScreenStackError, KeyError, AttributeError) as raised:
        ended = raised
    if error is None:
        assert ended is None
    else:
        assert isinstance(ended, error), (
            "Textual bears it now: the guard is needed no longer"
        )


class Asks(App[None]):
    """Has a dialog in front: one that is guarded, or one as it comes."""

    def __init__(self, guarded: bool) -> None:
        super().__init__()
        base: type[ModalScreen[str]] = Dialog if guarded else ModalScreen

        class Question(base):
            def compose(self) -> ComposeResult:
                yield Input("answer")

            def on_input_submitted(self, event: Input.Submitted) -> None:
                self.dismiss(event.value)

        self.question: ModalScreen[str] = Question()
        self.answers: list[str | None] = []

    def on_mount(self) -> None:
        self.push_screen(self.question, self.answers.append)


@both
@pytest.mark.slow
async def test_enter_twice_in_a_dialog(guarded: bool) -> None:
    app = Asks(guarded)
    async with running(app, None if guarded else ScreenStackError):
        for event in (key("enter"), key("enter")):
            app.post_message(event)
    assert not guarded or app.answers == ["answer"]


async def test_an_answer_below_the_palette_leaves_both_as_they_are() -> None:
    app = Asks(guarded=True)
    async with running(app, None):
        app.action_command_palette()
        app.question.dismiss("late")
        assert (
            isinstance(app.screen, CommandPalette)
            and app.question in app.screen_stack
            and not app.answers
        )


class HasPalette(App[None]):
    """Opens a palette: one that is guarded, or one as it comes."""

    def __init__(self, guarded: bool, **palette: object) -> None:
        super().__init__()
        self.palette = (GuardedPalette if guarded else CommandPalette)(**palette)

    def on_mount(self) -> None:
        self.push_screen(self.palette)


async def listed(app: HasPalette) -> OptionList:
    """Wait until the palette lists its commands."""
    commands = app.palette.query_one(OptionList)
    while not commands.option_count:
        await asyncio.sleep(0.01)
    return commands


@both
async def test_a_second_click_beside_the_palette(guarded: bool) -> None:
    app = HasPalette(guarded)
    async with running(app, None if guarded else ScreenStackError):
        await listed(app)
        for _ in range(2):
            app.palette.post_message(
                Click(app.palette, 1, 1, 0, 0, 1, False, False, False)
            )


@both
async def test_a_page_turned_in_a_palette_without_room(guarded: bool) -> None:
    app = HasPalette(guarded)
    async with running(app, None if guarded else KeyError, size=(80, 4)) as pilot:
        await listed(app)
        await pilot.press("down", "pagedown", "pageup")


@both
async def test_a_page_turned_in_a_list_without_room(guarded: bool) -> None:
    options = PagedOptionList() if guarded else OptionList()
    app = Alone(options)
    async with running(app, None if guarded else KeyError) as pilot:
        options.styles.height = 0
        options.styles.border = ("none", "red")
        options.focus()
        await pilot.pause()
        options.add_options(["one", "two"])
        options.highlighted = 0
        app.post_message(key("pagedown"))
        await pilot.pause()
        app.post_message(key("pageup"))


class Named(Provider):
    """Two commands; the first is not the one that is typed."""

    async def discover(self) -> Hits:
        for name in ("first", "second"):
            yield DiscoveryHit(name, lambda name=name: self.app.notify(name))

    async def search(self, query: str) -> Hits:
        await asyncio.sleep(0.05)
        if query == "second":
            yield Hit(1, query, lambda: self.app.notify(query))


@both
async def test_enter_right_behind_a_name_runs_what_has_that_name(guarded: bool) -> None:
    app = HasPalette(guarded, providers=[Named])
    async with running(app, None) as pilot:
        await listed(app)
        for event in (*map(key, "second"), key("enter")):
            app.post_message(event)
        while app.screen is app.palette:
            await asyncio.sleep(0.01)
        await pilot.pause()
        told = [toast.render().plain for toast in app.query(Toast)]
        assert told == (["second"] if guarded else ["first"])


@both
@pytest.mark.parametrize("then", ["click", "move"])
async def test_a_click_on_what_has_just_been_removed(guarded: bool, then: str) -> None:
    class Removes(Alone):
        async def on_event(self, event: Event) -> None:
            mouse = isinstance(event, MouseEvent) and not event.is_forwarded
            if guarded and mouse and leads_nowhere(self.screen, event):
                return
            await super().on_event(event)

    app = Removes(label := Label("x" * 50))
    async with running(app, None if guarded else AttributeError):
        label.remove()
        while label.parent is not None:
            await asyncio.sleep(0)
        for event in events_of_click(3, 0):
            app.post_message(event)


INVALID = b"a\xff\xc3(b"
"""Two bytes in it are no UTF-8."""


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
def test_a_byte_that_is_no_utf_8_is_a_character_like_another() -> None:
    with terminal() as app:
        app.until_shown("Tokenizers")
        app.settle()
        app.type(INVALID)
        app.until(lambda: "b" in app.text, "it is typed")
        app.settle()
    assert (config.load_text() or "").startswith("a\ufffd\ufffd(b")


@pytest.mark.slow
def test_a_byte_that_is_no_utf_8_ends_an_app_of_textuals_own(home: Path) -> None:
    (home / "plain.py").write_text("from textual.app import App\nApp().run()\n")
    with terminal(program=("plain.py",)) as app:
        app.until(lambda: b"\x1b[?1004h" in app.sent, "it has begun")
        app.settle()
        app.type(INVALID)
        app.until(
            lambda: "UnicodeDecodeError" in app.text,
            "it ends: Textual bears it now, and needs no guard",
        )


ALT_KEYS = "\x1bq\x1bZ\x1b,"
"""Alt with three characters, as a terminal sends them if they are pressed quickly."""


@both
def test_alt_and_letters_that_are_read_at_once_are_commands_and_no_text(
    guarded: bool,
) -> None:
    keys = ALT_KEYS
    if guarded:
        keys = _replacing("utf-8")().decode(ALT_KEYS.encode())
    parser = XTermParser()
    pressed = [event.key for event in (*parser.feed(keys), *parser.feed(""))]
    if guarded:
        assert pressed == ["alt+q", "alt+shift+z", "alt+comma"]
    else:
        assert "alt+comma" not in pressed and "q" in pressed


@pytest.mark.parametrize(
    "typed", ["q", "\x1b", "\x1bOP", "\x1b[15~", "\x1bb", "\x1bä", "\x1bqx", "ä\x1bq"]
)
def test_other_keys_reach_the_parser_as_they_were_sent(typed: str) -> None:
    assert _replacing("utf-8")().decode(typed.encode()) == typed


async def test_what_comes_late_does_no_harm_and_a_crash_has_its_exit_code(
    opened: Opened, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as scope:
        app = scope.app
        app.post_message(events.Paste("x\0y"))
        await scope.until(
            lambda: scope.area.text.startswith("x\0y"), "the paste is there"
        )
        await scope.settle()
        assert any("␀" in row for row in scope.rows("#text"))

        # Two sizes one soon after the other, of which the second is the terminal's.
        n_laid_out, lay_out = 0, Screen._on_resize

        async def counting(screen: Screen[object], event: events.Resize) -> None:
            nonlocal n_laid_out
            n_laid_out += 1
            assert n_laid_out < 50, "each brings the other back"
            await lay_out(screen, event)

        with monkeypatch.context() as sizes:
            sizes.setattr(Screen, "_on_resize", counting)
            for size in Size(80, 24), app.size:
                app.main.post_message(events.Resize(size, size))
                app.main.call_later(lambda: None)
            await scope.settle()
        assert app.main.size == app.size

        # A key that is on its way when the app leaves.
        stack = app._screen_stacks[app._current_mode]
        screens = stack[:]
        stack.clear()
        late = key("escape")
        late._set_forwarded()
        try:
            await app.on_event(late)
            with pytest.raises(ScreenStackError):
                await super(BpeScope, app).on_event(late)
        finally:
            stack.extend(screens)

        async def work() -> None:  # it outlives the widgets
            app.main.query_one("#gone")

        with pytest.raises(NoMatches):
            await guarded(app.main, work, app.main.say)
        app._running = False  # as it is while the widgets go
        try:
            await guarded(app.main, work, app.main.say)
        finally:
            app._running = True
        app.panic("the thread that reads the keys has ended")
    assert app.return_code == 1
    assert app.deliver_screenshot() is None, "nobody is there to get it"


ODD = "a\u202eb\x1b日\u200b\tc"
"""Characters that turn a line around, command a terminal, or show nothing."""


@both
async def test_a_line_to_type_into_draws_no_character_that_acts_on_a_terminal(
    guarded: bool,
) -> None:
    field = Field() if guarded else Input()
    async with running(Alone(field), None) as pilot:
        field.value = ODD
        await pilot.pause()
        drawn = field.render_line(0).text
        assert drawn.isprintable() is guarded, (
            "Textual draws glyphs now: the guard is needed no longer"
        )
        if guarded:
            assert drawn.startswith("a¬b␛日·␉c ") and field.value == ODD
            left = (
                field.cursor_screen_offset.x - len("a¬b␛日·␉c") - 2
            )  # one of them is wide; behind all is the cursor
            assert [field._cell_offset_to_index(cell) for cell in range(10)] == [
                0,
                1,
                2,
                3,
                4,
                4,
                5,
                6,
                7,
                8,
            ]
            for column, cell in enumerate((0, 1, 2, 3, 4, 6, 7, 8)):
                field.cursor_position = column
                assert field.cursor_screen_offset.x == left + cell
