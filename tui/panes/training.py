"""The training pane: options, controls, progress, the log of merges and the curve of sequence length."""

from collections.abc import Sequence
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import (
    Container,
    Horizontal,
    HorizontalGroup,
    Vertical,
    VerticalGroup,
)
from textual.events import DescendantFocus
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Button, Input, Label, ProgressBar, Static

from bpe_core.metrics import CurvePoint, training_curve
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merges
from bpe_core.visible import counted, duration, visible
from bpe_core.weighted import Count
from tui.commands.command import features_of, in_background
from tui.commands.keys import PartBindings
from tui.commands.table import FASTER, MORE_OPTIONS, SLOWER, STEP, STOP, TRAIN
from tui.drawing.token_labels import WRITINGS
from tui.state import (
    PACES,
    Run,
    RunCurve,
    StepExplained,
    TrainingOptions,
    pace_told,
)
from tui.table.search_field import SearchField
from tui.widgets.curve import Curve
from tui.widgets.kept_merges import KeptMerges
from tui.widgets.merge_log import MergeLog
from tui.widgets.option_fields import OptionFields
from tui.widgets.pane import Pane, button
from tui.widgets.why_panel import WhyPanel


class TrainingPane(Pane):
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Why and pairs")

    run: var[Run] = var(Run())
    notice: var[str] = var("")
    """Work that is being waited for, shown instead of the progress of the training; empty if there is none."""
    options: var[TrainingOptions] = var(TrainingOptions())
    """The options of the next training. The fields keep typed text for themselves until it is accepted."""
    step: var[int] = var(0)
    tokenizer: var[Tokenizer | None] = var[Tokenizer | None](None, always_update=True)
    explained: var[StepExplained] = var(StepExplained())
    """The explanation of the step that was asked about last."""
    curve_under: var[RunCurve | None] = var(None)
    """The curve of an earlier training, drawn under the present curve."""
    pace: var[int] = var(0)
    playing: var[bool] = var(False)
    goal: var[str] = var("")
    """The condition until which the user trains; empty for none."""

    fields = getters.query_one(OptionFields)
    log_of_merges = getters.query_one(MergeLog)
    curve = getters.query_one(Curve)
    why = getters.query_one(WhyPanel)

    def compose(self) -> ComposeResult:
        of = TrainingPane
        log = MergeLog(id="merge-log")
        curve = Curve(id="curve")
        curve.points = self._points
        with Horizontal(id="above-log"):
            with Vertical(id="settings"):
                with VerticalGroup(id="says"):
                    yield OptionFields(id="options").data_bind(of.options)
                    yield Static(id="status", markup=False)
                with HorizontalGroup(id="controls"):
                    go = button("▶ Train", "go", TRAIN)
                    # The button also pauses, so a method handles its presses.
                    go.action = None
                    yield go
                    yield button("▸ Step", "one", STEP)
                    yield button("■ Stop", "stop", STOP, disabled=True)
                    yield button("−", "slower", SLOWER)
                    yield Label(id="pace", markup=False)
                    yield button("+", "faster", FASTER)
                    yield button("More…", "more", MORE_OPTIONS)
                    progress = ProgressBar(
                        1.0, show_eta=False, show_percentage=False, id="progress"
                    )
                    progress.display = False
                    yield progress
            yield curve.data_bind(of.step, under=of.curve_under)
        with Container(id="log-and-why"):
            yield log.data_bind(of.step)
            yield WhyPanel(log, id="why-panel").data_bind(
                of.step, of.tokenizer, of.run, of.explained
            )
        yield SearchField(log, id="merge-search")

    def on_mount(self) -> None:
        self.border_subtitle = "[dim]w[/] why  [dim]b[/] bytes"

    def edit_options(self) -> None:
        """Go to the vocabulary size, the first of the options."""
        self.screen.set_focus(self.fields.first)

    def action_turn_why(self) -> None:
        seen = self.why.turn()
        self.set_class(seen, "-with-why")
        self.set_class(not seen, "-without-why")

    def action_turn_writing(self) -> None:
        following = WRITINGS.index(self.why.writing) + 1
        self.why.writing = WRITINGS[following % len(WRITINGS)]

    @on(DescendantFocus)
    def look_at_merges(self, event: DescendantFocus) -> None:
        """Explain the step if the log or the panel next to it has the focus; enlarge the curve if it has."""
        self.set_class(event.widget is self.curve, "-plotting")
        if event.widget in self.query("#log-and-why *"):
            self.why.ask()

    def parts(self) -> tuple[Widget, ...]:
        parts: list[Widget] = []
        if not self.run.busy:
            parts.append(self.fields.first)
        parts.append(self.log_of_merges)
        parts += self.why.parts()
        if self.curve.display:
            parts.append(self.curve)
        return tuple(parts)

    @on(Input.Blurred, "#merge-search")
    def hide_search(self, event: Input.Blurred) -> None:
        event.input.display = bool(event.value)

    @on(Input.Submitted)
    @on(Button.Pressed, "#go")
    def train_or_pause(self) -> None:
        in_background(self, features_of(self).training.train_or_pause())

    def begin(
        self, merges: Merges | KeptMerges, n_tokens: Count, n_bytes: Count
    ) -> None:
        """Show a new training before its first merge, or another tokenizer with all its merges."""
        self.log_of_merges.show(merges, n_bytes=n_bytes, n_tokens=n_tokens)
        self.curve.clear(n_tokens, n_bytes)
        self.curve.append(merges.n_tokens)
        self.why.begin()

    def learned(self, merges: Merges) -> None:
        log = self.log_of_merges.merges
        assert isinstance(log, Merges)
        log.extend(merges.columns)
        self.log_of_merges.arrived()
        self.curve.append(merges.n_tokens)

    def _points(self) -> Sequence[CurvePoint]:
        """Compute the whole curve of the training; it is empty if the tokenizer has no record."""
        if self.tokenizer is None or self.tokenizer.record is None:
            return ()
        return training_curve(self.tokenizer)

    def watch_options(self, old: TrainingOptions, options: TrainingOptions) -> None:
        if old.more != options.more:
            label = f"More {len(options.more)}" if options.more else "More…"
            self.query_one("#more", Button).label = label

    def watch_run(self, old: Run, run: Run) -> None:
        # This runs for each batch of merges, so lay out the screen only if the phase has changed.
        progress = self.query_one(ProgressBar)
        if old.phase != run.phase:
            self.watch_playing()
            self.query_one("#stop", Button).disabled = not run.busy
            if run.busy and self.fields.has_focus_within:
                # The fields would take the keys that control the replay.
                self.screen.set_focus(self.log_of_merges)
            self.fields.disabled = run.busy
            progress.display = run.busy
            self.query_one("#more").display = not run.busy
        self.fields.asked = run.asked if run.busy else None
        progress.update(progress=run.fraction)
        self.watch_notice()

    def watch_notice(self) -> None:
        self.query_one("#status", Static).update(visible(self._status), layout=False)

    watch_goal = watch_step = watch_notice

    @property
    def _status(self) -> str:
        """A line about the work that is being waited for, or else about the training."""
        if self.notice:
            return self.notice
        status = status_line(self.run)
        if self.run.phase not in ("merging", "showing"):
            return status
        if not self.playing:
            status = f"paused at {self.step:,} of {self.run.total:,}"
        return f"{status} · {self.goal}" if self.goal else status

    def watch_playing(self) -> None:
        label = "▶ Train"
        if self.run.busy:
            label = "‖ Pause" if self.playing else "▶ Go on"
        self.query_one("#go", Button).label = label
        self.watch_notice()

    def watch_pace(self, pace: int) -> None:
        self.query_one("#pace", Label).update(pace_told(pace))
        self.query_one("#slower").disabled = pace == PACES[0]
        self.query_one("#faster").disabled = pace == PACES[-1]


def status_line(run: Run) -> str:
    """Describe the progress of a training, its facts separated by dots."""
    remaining = ""
    if run.seconds_left is not None:
        remaining = f"{duration(run.seconds_left)} left"
    match run.phase:
        case "counting":
            rate = f"{run.rate / 1e6:,.1f} MB/s" if run.rate else ""
            facts = [f"counting {run.fraction:.0%}", rate, remaining]
        case "preparing":
            work = run.detail or "counting pairs"
            share = f"{run.fraction:.0%}" if run.total else "…"
            facts = [f"{work} {share}", remaining]
        case "merging":
            rate = f"{counted(round(run.rate), 'merge')}/s" if run.rate else ""
            facts = [f"learned {run.done:,} of {run.total:,}", rate, remaining]
        case "showing":
            merges = counted(run.done, "merge")
            facts = [f"{merges} learned. Press End here to jump to the last."]
        case _:
            facts = [run.detail]
    return " · ".join(visible(fact) for fact in facts if fact)
