"""The views of a comparison of tokenizers that have something to show."""

from dataclasses import replace
from typing import Final

from bpe_core.visible import counted
from tui.state import ComparisonRun
from tui.widgets.comparison_views.differences import (
    causes_view,
    disagreements_view,
    vocabularies_view,
    worst_lines_view,
)
from tui.widgets.comparison_views.metrics import metrics_view
from tui.widgets.comparison_views.parts import PartsView, amounts_of
from tui.widgets.comparison_views.view import NOTHING, Aspect, Found, View

_TOO_SHORT: Final = "too short to compare. Type more (F4), or choose texts above."


def views(comparison: ComparisonRun, aspect: Aspect) -> list[View]:
    """Return the views that have something to show.

    Until the first summary arrives, that is only the table of texts. A summary may cover only the first texts.
    """
    if not comparison.texts:
        return [NOTHING]
    amounts = [text.amounts for text in comparison.texts]
    texts = PartsView("text", amounts, comparison, aspect).view()
    causes = []
    other = max(1, aspect.tokenizer)
    if other in comparison.differences:
        causes = [causes_view(comparison, other)]
    found = comparison.found
    if found is None:
        return [texts, *causes]
    most_tokens = max(found["total"]["tokens"])
    if most_tokens <= 1 and not comparison.running:
        # All other figures would be zero.
        caption = f"{counted(most_tokens, 'token')}: {_TOO_SHORT}"
        return [replace(texts, caption=caption), *causes]
    others = _views_of_summary(comparison, aspect, found)
    n_texts = found["total"]["texts"]
    if n_texts < len(comparison.texts):
        known = f"first {counted(n_texts, 'text')}"
        for number, view in enumerate(others):
            others[number] = replace(view, caption=f"{known} · {view.caption}")
    return [texts, *others, *causes]


def _views_of_summary(
    comparison: ComparisonRun, aspect: Aspect, found: Found
) -> list[View]:
    """Return the views of a summary. `aspect.tokenizer` is the number of the tokenizer under the cursor."""
    views = []
    vocabularies = found["vocabularies"]
    if len(found["folders"]) > 1:
        folders = amounts_of("folder", found["folders"], vocabularies)
        views.append(PartsView("folder", folders, comparison, aspect).view())
    scripts = amounts_of("script", found["scripts"], vocabularies)
    views.append(PartsView("script", scripts, comparison, aspect).view())
    views.append(metrics_view(comparison, found))
    pairs = found["pairs"]
    if pairs:
        # `pairs` compares tokenizer A with each of the others: A and B, then A and C. For A itself, take A and B.
        other = max(1, min(aspect.tokenizer, len(pairs)))
        pair = pairs[other - 1]
        index = min(aspect.tokenizer, len(comparison.tokenizers) - 1)
        worst_lines = found["worst_lines"][index]
        views.append(worst_lines_view(comparison, worst_lines, index))
        views.append(disagreements_view(comparison, pair))
        views.append(vocabularies_view(comparison, pair))
    return views
