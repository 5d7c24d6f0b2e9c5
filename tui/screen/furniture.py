"""What comes into the frames of the main screen once they are on it: all that needs the engine."""

from tui.panes.audit import AuditPane
from tui.panes.corpus import CorpusPane
from tui.panes.training import TrainingPane
from tui.screen.main import MainScreen
from tui.widgets.status_lines import Ledger
from tui.widgets.token_side import TokenSide
from tui.widgets.token_view import TokenView


async def furnish(screen: MainScreen) -> None:
    """Put each pane in the place of its frame, and beside the editor's text what tells of it; state flows down."""
    state, editor = MainScreen, screen.editor
    corpus = CorpusPane(id="corpus").data_bind(state.corpus, state.totals, state.kept, state.path, state.options)
    training = TrainingPane(id="training").data_bind(state.run, state.notice, state.step, state.options)
    audit = AuditPane(id="audit").data_bind(state.audit, state.tokenizer)
    side = TokenSide(editor.area, id="side").data_bind(state.audit, state.in_force)
    await screen.query("#corpus, #training, #audit").remove()
    await screen.query_one("#panes").mount(corpus, before=0)
    await screen.query_one("#work").mount(training, audit, before=0)
    await editor.furnish(TokenView(id="view"), side, Ledger(editor.area, id="ledger"))
