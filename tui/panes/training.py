"""The training pane: options, controls, progress, the log of merges and the curve of sequence length."""

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, HorizontalGroup, Vertical
from textual.events import DescendantFocus
from textual.reactive import var
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Button, Input, Label, ProgressBar, Static

from bpe_core.metrics.training_curve import CurvePoint, TrainingCurve
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merge
from bpe_core.visible import counted, visible
from tui.commands import bindings, tooltip
from tui.disk.tokenizer_files import KeptMerges
from tui.state import PACES, Run, RunCurve, StepExplained, TrainingOptions, pace_told
from tui.widgets.curve import Curve
from tui.widgets.merge_log import MergeLog, MergeSearch
from tui.widgets.option_fields import OptionFields
from tui.widgets.pane import Pane
from tui.widgets.why_panel import WhyPanel

_SLOWER: Final = "Fewer merges a second, down to one; - in the merge log."
_FASTER: Final = "More merges a second, up to all that the machine can make; + in the merge log."
_PACE: Final = "How many merges a second a training makes at most: + and - in the merge log."
_MORE: Final = "Longest token, word ends, ids, a sample, a start; how many set."
_PASSING: Final = 0.2
"""Seconds from one step that log and curve show to the next, while the steps pass by in the editor."""


class TrainingPane(Pane):
    """How a vocabulary is learned, as it is learned."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Why and pairs")

    run: var[Run] = var(Run())
    notice: var[str] = var("")
    """What is being waited for; it is told in the place of the training while there is something."""
    options: var[TrainingOptions] = var(TrainingOptions())
    """Of the next training, as far as they are known: what is typed into the fields is theirs until it is taken."""
    step: var[int] = var(0)
    followed: var[int] = var(0)
    """The step that log and curve show: `step`, but a few a second of those that are dragged or played through."""
    playing: var[int] = var(0)
    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None)
    explained: var[StepExplained] = var(StepExplained())  # why merges were chosen, as far as somebody has asked
    curve_under: var[RunCurve | None] = var(None)
    """The training whose curve is drawn under that of the tokenizer on the screen."""
    pace: var[int] = var(0)

    _soon: Timer | None = None  # until log and curve show the step in force

    def compose(self) -> ComposeResult:
        curve = Curve(id="curve").data_bind(step=TrainingPane.followed, under=TrainingPane.curve_under)
        curve.points = self._points
        with Horizontal(id="above-log"):
            with Vertical(id="settings"):
                yield OptionFields(self.options).data_bind(TrainingPane.options)
                with HorizontalGroup(id="controls"):
                    yield _button("▶ Train", "go", "train", "train_or_pause")
                    yield _button("⏭ Step", "one", "step_once")
                    yield _button("⏹ Stop", "stop", "stop")
                    progress = ProgressBar(1.0, show_eta=False, show_percentage=False, id="progress")
                    progress.display = False
                    yield Button(
                        "−", id="slower", compact=True, action="screen.do('training.change_pace', -1)", tooltip=_SLOWER
                    )
                    yield Label(id="pace", markup=False)
                    yield Button(
                        "+", id="faster", compact=True, action="screen.do('training.change_pace', 1)", tooltip=_FASTER
                    )
                    yield Button(
                        "More …", id="more", compact=True, action="screen.do('corpus.ask_more_options')", tooltip=_MORE
                    )
                    yield progress
                yield Static(id="status", markup=False)
            yield curve
        log = MergeLog(id="merge-log").data_bind(step=TrainingPane.followed)
        with Container(id="log-and-why"):
            yield log
            state = TrainingPane
            yield WhyPanel(log, id="why-panel").data_bind(state.step, state.tokenizer, state.run, state.explained)
        yield MergeSearch(log, id="merge-search")

    def on_mount(self) -> None:
        self.border_subtitle = "[dim]w[/] why, pairs  [dim]b[/] bytes"

    def watch_step(self) -> None:
        if self._soon is not None:
            return
        if self.playing or self.app.mouse_captured is not None:
            self._soon = self.set_timer(_PASSING, self._follow)
        else:
            self.followed = self.step

    def _follow(self) -> None:
        self._soon = None
        self.followed = self.step

    def action_turn_why(self) -> None:
        """Beside the log: why the merge, the pairs, neither."""
        seen = self.query_one(WhyPanel).turn()
        self.set_class(seen, "-with-why")
        self.set_class(not seen, "-without-why")

    def action_turn_writing(self) -> None:
        """Tokens beside the log as text, bytes, ids."""
        self.query_one(WhyPanel).turn_writing()

    @on(DescendantFocus)
    def look_at_merges(self, event: DescendantFocus) -> None:
        """Whoever goes to the log or to what is beside it wants to know why; in a small terminal that gets the room.

        The curve is drawn large for whoever goes to it, where the pane is alone on the screen.
        """
        self.set_class(event.widget is self.query_one(Curve), "-plotting")
        looks = event.widget in self.query("#log-and-why *")
        self.set_class(looks or event.widget is self.query_one(MergeSearch), "-reading")
        if looks:
            self.query_one(WhyPanel).ask()

    @property
    def fields(self) -> OptionFields:
        """The options of the next training."""
        return self.query_one(OptionFields)

    @property
    def log_of_merges(self) -> MergeLog:
        """The list of merges."""
        return self.query_one(MergeLog)

    def parts(self) -> tuple[Widget, ...]:
        begins = (self.fields.first,) if not self.run.busy else ()
        return (
            *begins,
            self.log_of_merges,
            *self.query_one(WhyPanel).parts(),
            *(curve for curve in self.query(Curve) if curve.display),
        )

    @on(Input.Submitted)
    async def begin_training(self, event: Input.Submitted) -> None:
        event.stop()
        await self.run_action("screen.do('training.train_or_pause')")

    def begin(self, n_tokens: int, n_bytes: int) -> None:
        """A new training, or another tokenizer: empty log and curve."""
        self.log_of_merges.clear(n_bytes=n_bytes, n_tokens=n_tokens)
        self.query_one(Curve).clear(n_tokens, n_bytes)
        self.query_one(WhyPanel).begin(n_tokens or n_bytes)

    def learned(self, merges: list[Merge]) -> None:
        """Show these, which the log has already."""
        self.log_of_merges.arrived()
        if merges and merges[0].n_tokens:  # a file from elsewhere does not tell how long its corpus was
            self.query_one(Curve).append([merge.n_tokens for merge in merges])

    def _points(self) -> Sequence[CurvePoint]:
        """The whole curve of the training that the tokenizer on the screen came from; empty if it has no record."""
        tokenizer = self.tokenizer
        if tokenizer is None or tokenizer.record is None:
            return ()
        return TrainingCurve.of(tokenizer).points

    def show(self, merges: KeptMerges) -> None:
        """All merges of a kept tokenizer."""
        self.log_of_merges.show(merges, merges.length_of)
        self.query_one(Curve).append(merges.n_tokens())

    def watch_options(self, old: TrainingOptions, options: TrainingOptions) -> None:
        if old.more != options.more:
            self.query_one("#more", Button).label = f"More {len(options.more)}" if options.more else "More …"

    def watch_run(self, old: Run, run: Run) -> None:
        # This runs for every batch of merges: nothing here may lay out the screen unless the phase has changed.
        if old.phase != run.phase:
            self._phase_changed(run)
        self.fields.asked = run.asked if run.busy else None
        self.query_one(ProgressBar).update(progress=run.fraction)
        self._tell()

    def watch_pace(self, pace: int) -> None:
        label = self.query_one("#pace", Label)
        label.update(pace_told(pace))
        label.tooltip = _PACE
        self.query_one("#slower").disabled = pace == PACES[0]
        self.query_one("#faster").disabled = pace == PACES[-1]

    def watch_notice(self) -> None:
        self._tell()

    def _tell(self) -> None:
        self.query_one("#status", Static).update(self.notice or status_line(self.run), layout=False)

    def _phase_changed(self, run: Run) -> None:
        labels = dict.fromkeys(("counting", "preparing", "merging"), "⏸ Pause") | {"paused": "▶ Run"}
        self.query_one("#go", Button).label = labels.get(run.phase, "▶ Train")
        self.query_one("#stop", Button).disabled = not run.busy
        self.fields.enable(not run.busy)
        self.query_one(ProgressBar).display = run.busy
        self.query_one("#more").display = not run.busy


def _button(label: str, id: str, command: str, action: str = "") -> Button:
    """For a deed of the training; `action` does it, if it is another."""
    do = f"screen.do('training.{action or command}')"
    return Button(label, id=id, compact=True, action=do, tooltip=tooltip(f"training.{command}"), disabled=id == "stop")


def status_line(run: Run) -> str:
    """Its phase and how far it is, with the time that is left."""
    if run.pausing:
        return "pausing …"
    left = run.seconds_left
    remaining = "" if left is None else f"{duration(left)} left"
    match run.phase:
        case "counting":
            facts = [f"counting {run.fraction:.0%}", f"{run.rate / 1e6:,.1f} MB/s" if run.rate else "", remaining]
        case "preparing":
            facts = [f"{run.detail or 'counting pairs'} {run.fraction:.0%}", remaining]
        case "merging":
            remaining = f"until {run.goal}" if run.goal else remaining
            facts = [f"{run.fraction:.0%}", f"{counted(round(run.rate), 'merge')}/s" if run.rate else "", remaining]
        case "paused":
            counts_still = run.tokens_at_start == 0  # and what is done are bytes, or pieces: a number would mislead
            facts = [
                f"counting, paused at {run.fraction:.0%}"
                if counts_still
                else f"paused at {run.done:,} of {run.total:,}",
                f"reached {run.detail}" if run.detail and not counts_still else "",
            ]
        case _:
            facts = [run.detail]
    return " · ".join(visible(fact) for fact in facts if fact)


def duration(seconds: float) -> str:
    """A time for reading, never longer than it is exact.

    >>> duration(0.4), duration(75), duration(7300)
    ('under 1 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 1:
        return "under 1 s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
