"""The curve of sequence length: right at its ends, whatever its size, and the same however it was fed."""

from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from scope import alone, listen
from scope import drawn as lines
from textual.events import MouseMove
from textual.geometry import Size

from bpe_core import train
from bpe_core.metrics import CurvePoint, training_curve
from tui.state import RunCurve
from tui.widgets.curve import Curve
from tui.widgets.curve_values import braille, values

# 20 merges are 21 points: the length before the first and after each.
LENGTHS = [
    168,
    161,
    155,
    149,
    144,
    139,
    135,
    132,
    129,
    127,
    125,
    123,
    121,
    119,
    117,
    116,
    115,
    113,
    112,
    110,
    109,
]


def of_twenty() -> Curve:
    """A curve of `LENGTHS`, at its last step."""
    curve = Curve()
    curve.styles.height = "1fr"
    curve.clear(LENGTHS[0])
    curve.append(LENGTHS[1:])
    curve.step = 20
    return curve


def test_a_diagonal_and_a_cliff() -> None:
    assert braille([0, 1 / 3, 2 / 3, 1], 2, 1) == ["⠑⢄"]
    assert braille([0, 1], 1, 3) == ["⢱", "⢸", "⢸"], "a cliff has no gaps"
    assert braille([0, 0], 3, 2) == ["⠉  ", "   "]
    assert braille([], 3, 2) == ["   ", "   "]


async def test_the_axis_is_as_long_as_there_are_steps() -> None:
    async with alone(curve := of_twenty(), size=(60, 10)):
        curve.clear(LENGTHS[0])
        for n_steps, length in enumerate(LENGTHS[1:], 1):
            curve.append([length])
            shown = lines(curve)
            assert shown[-1].split() == [
                "0",
                f"{n_steps}",
                "steps" if n_steps > 1 else "step",
            ]
            assert len(shown[-2]) == 59, "it fills the width"


NUMBERS = st.integers() | st.integers(-5, 5) | st.integers(-(10**40), 10**40)


@given(
    st.lists(NUMBERS, min_size=1, max_size=50),
    st.lists(NUMBERS, max_size=5),
    st.integers(0, 130),
    st.integers(0, 12),
    st.booleans(),
)
@settings(deadline=None)
def test_no_numbers_and_no_size_make_it_fail(
    lengths: list[int], steps: list[int], width: int, height: int, logarithmic: bool
) -> None:
    """The lengths of a broken file, in any order and of any size, and steps that are none of theirs."""

    class Sized(Curve):
        size = Size(width, height)

        def get_component_rich_style(self, *names: str) -> Style:
            return Style()

        @property
        def screen(self) -> SimpleNamespace:
            screen = SimpleNamespace()
            listen(screen, lambda _, step: self._go_to(step))
            return screen

        def _go_to(self, step: int) -> None:
            assert 0 <= step < len(lengths)

    curve = Sized()
    curve.set_reactive(Curve.logarithmic, logarithmic)
    curve.clear(lengths[0])
    curve.append(lengths[1:])
    for step in (0, *steps, len(lengths)):
        curve.set_reactive(Curve.step, step)
        assert all(cell_len(curve.render_line(y).text) == width for y in range(height))
        for by in (-1, 1):
            curve.action_travel(by)


async def test_keys_clicks_and_drags_travel_along_the_curve() -> None:
    async with alone(curve := of_twenty(), size=(60, 10)) as (pilot, chosen):
        last = next(line for line in lines(curve) if "●" in line)
        assert last.index("●") == sum(curve._track) - 1, "at the end of the axis"
        await pilot.click(Curve, offset=(5, 4))
        await pilot.click(Curve, offset=(58, 4))
        await pilot.press("left", "home", "end", "right")
        assert chosen == [0, 20, 19, 0, 1, 20], (
            "at least one step; home and end ask for the start (0) and the last merge (1)"
        )
        curve.step = 4
        linear = next(line.index("●") for line in lines(curve) if "●" in line)
        await pilot.press("z")
        logarithmic = next(line.index("●") for line in lines(curve) if "●" in line)
        assert logarithmic > 2 * linear and "log scale" in lines(curve)[-1], (
            "the first merges have more room"
        )
        chosen.clear()
        left, width = curve._track
        for is_logarithmic, button, x in (
            (False, 0, 4),
            (False, 1, width // 2),
            (True, 1, width // 2),
            (True, 1, -2),
        ):
            curve.logarithmic = is_logarithmic
            pilot.app.post_message(
                MouseMove(None, left + x, 3, 0, 0, button, False, False, False)
            )
            await pilot.pause()
        assert chosen == [10, 4], "the middle of a logarithmic axis is its square root"
        curve.logarithmic = False
        curve.clear(200_000)
        curve.append(range(199_999, 0, -1))
        curve.step = 100_000
        await pilot.press("right")
        assert 100_000 + 1_000 < chosen[-1] < 100_000 + 3_000, (
            "the next dot, where a step is less than one"
        )


async def test_other_quantities_take_turns_as_far_as_they_are_known() -> None:
    tokenizer = train("the theme of the other thesis, the thing " * 9, vocab_size=276)
    points = training_curve(tokenizer)
    async with alone(curve := of_twenty(), size=(76, 10)) as (pilot, _):
        curve.clear(
            points[0].n_tokens, tokenizer.record.n_bytes if tokenizer.record else 0
        )
        curve.append(point.n_tokens for point in points[1:])
        curve.points = lambda: points
        curve.step = 7
        curve.focus()
        here = points[7]
        for name, told in (
            ("tokens", f"{here.n_tokens} tokens"),
            ("ratio", f"{here.bytes_per_token:.2f} bytes/token"),
            ("saved", f"{here.saved} saved"),
            ("use", f"{here.utilization:.1%} used"),
            ("efficiency", f"Rényi {here.renyi_efficiency:.3f}"),
        ):
            assert curve.quantity == name and f"{told} at step 7" in curve.hint
            await pilot.press("m")
            await pilot.pause()
        assert curve.quantity == "tokens"
        assert values("use", [point.n_tokens for point in points], 0, points) == [
            point.utilization for point in points
        ]
        curve.points = tuple
        await pilot.press("m", "m", "m")
        assert curve.quantity == "tokens", "what is not known takes no turn"
        await pilot.press("m")
        curve.append([points[-1].n_tokens - 1])
        assert curve.quantity == "ratio" and len(curve._drawn) == len(points) + 1


def run_curve(lengths: list[int], n_bytes: int = 168) -> RunCurve:
    points = [
        CurvePoint(step, 256 + step, n, 0, n_bytes / n, None, None, None)
        for step, n in enumerate(lengths)
    ]
    return RunCurve("other.json", "other", n_bytes, points)


async def test_another_training_lies_under_it_with_its_numbers() -> None:
    async with alone(curve := of_twenty(), size=(60, 10)) as (pilot, chosen):
        by_itself = lines(curve)
        curve.step = 10
        curve.under = run_curve([168, *range(166, 106, -2)])
        shown = lines(curve)
        assert shown[0].endswith("125 tokens at step 10") and shown[1].endswith(
            "○ 148 other"
        )
        assert shown[-1].split() == ["0", "30", "steps"], (
            "the axis is as long as the longer of both"
        )
        column = {
            line.index(sign) for line in shown for sign in "●○" if sign in line[:40]
        }
        assert len(column) == 1, (
            "both are marked at the step in force, one above the other"
        )
        assert any(line[min(column)] == "│" for line in shown)
        await pilot.click(Curve, offset=(58, 4))
        assert chosen == [20], "there are no steps of this one behind its last"
        curve.step = 20
        curve.under = run_curve([168, 160, 150])
        assert lines(curve)[1].endswith("○ ends at 2 other")
        curve.under = None
        assert lines(curve) == by_itself
