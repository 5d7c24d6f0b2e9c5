"""QuestionLine: the question of a lesson, and the field for the answer."""

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup
from textual.reactive import var
from textual.widgets import Input, Label

from tui.commands.command import features_of, in_background, main_screen
from tui.commands.keys import HasCommands, PartBindings
from tui.terminal.guards import Field


class QuestionLine(HasCommands, HorizontalGroup):
    """Takes the focus when a question is asked. Esc gives it back to the pane, and leaves the question open."""

    BINDINGS = PartBindings("Question")

    question: var[str] = var("", init=False)
    """The question; "" if nothing is asked."""

    def compose(self) -> ComposeResult:
        yield Label(id="question", markup=False)
        yield Field(id="answer", compact=True, placeholder="type, then Enter")

    def watch_question(self, question: str) -> None:
        field = self.query_one(Input)
        had_focus = field.has_focus
        self.query_one(Label).update(question)
        self.screen.set_class(bool(question), "-asking")
        field.value = ""
        if question:
            self.screen.set_focus(field)
        elif had_focus:
            self.action_leave()

    def action_leave(self) -> None:
        screen = main_screen(self)
        screen.action_show(screen.active)

    @on(Input.Submitted)
    def judge(self, event: Input.Submitted) -> None:
        event.stop()
        event.input.clear()
        if event.value.strip():
            in_background(self, features_of(self).tour.judge(event.value.strip()))
