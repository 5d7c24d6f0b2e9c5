"""The views of a comparison of tokenizers that have something to show."""

from dataclasses import replace
from typing import Final

from bpe_core.visible import counted
from tui.state import ComparisonRun
from tui.widgets.comparison_views.differences import (
    causes_view,
    disagreements_view,
    worst_lines_view,
)
from tui.widgets.comparison_views.metrics import metrics_view
from tui.widgets.comparison_views.parts import groups_view, texts_view
from tui.widgets.comparison_views.view import NOTHING, Aspect, Found, View

_TOO_SHORT: Final = "too short to compare. Type more (F4), or choose texts above."


def views(comparison: ComparisonRun, aspect: Aspect) -> list[View]:
    """Return the views that have something to show.

    Until the first summary arrives, that is only the table of texts. A summary may cover only the first texts.
    """
    if not comparison.texts:
        return [NOTHING]
    shown = [texts_view(comparison, aspect)]
    found = comparison.found
    if found is not None:
        most_tokens = max(found["total"]["tokens"])
        if most_tokens <= 1 and not comparison.running:
            # All other figures would be zero.
            caption = f"{counted(most_tokens, 'token')}: {_TOO_SHORT}"
            shown = [replace(shown[0], caption=caption)]
        else:
            shown += _views_of_summary(comparison, aspect, found)
    # The first tokenizer is compared with each of the others; for itself, show the second.
    other = max(1, aspect.tokenizer)
    if other in comparison.differences:
        shown.append(causes_view(comparison, other))
    return shown


def _views_of_summary(
    comparison: ComparisonRun, aspect: Aspect, found: Found
) -> list[View]:
    views = []
    for kind in ("folder", "script"):
        groups = found[f"{kind}s"]
        if kind == "script" or len(groups) > 1:
            views.append(groups_view(kind, groups, comparison, aspect))
    views.append(metrics_view(comparison, found))
    if found["pairs"]:
        index = aspect.tokenizer
        pair = found["pairs"][max(1, index) - 1]
        worst_lines = found["worst_lines"][index]
        views.append(worst_lines_view(comparison, worst_lines, index))
        views.append(disagreements_view(comparison, pair))
    n_texts = found["total"]["texts"]
    if n_texts == len(comparison.texts):
        return views
    known = f"first {counted(n_texts, 'text')}"
    return [replace(view, caption=f"{known} · {view.caption}") for view in views]
