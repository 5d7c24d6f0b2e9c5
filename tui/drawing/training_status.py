"""What a training is doing, in a few words."""

from bpe_core.plurals import counted
from bpe_core.visible import visible
from tui.state.training import Run


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
