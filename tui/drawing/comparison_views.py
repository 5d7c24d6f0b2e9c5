"""The views of a comparison of tokenizers, in the order in which the keys turn to them."""

from tui.drawing.comparison_parts import of_groups, of_texts
from tui.drawing.comparison_places import of_disagreements, of_worst_lines
from tui.drawing.comparison_totals import of_metrics, of_vocabularies
from tui.drawing.comparison_view import Choices, View
from tui.state.comparison import Comparison


def views(comparison: Comparison, choices: Choices) -> list[View]:
    """The views that there is something to show in; those of all texts once these have been encoded."""
    if not comparison.texts:
        return []
    found = [of_texts(comparison, choices)]
    if (everything := comparison.found) is None:
        return found
    if len(everything["folders"]) > 1:
        found.append(of_groups("folder", everything["folders"], comparison, choices))
    found.append(of_groups("script", everything["scripts"], comparison, choices))
    found.append(of_metrics(comparison, everything, choices))
    if everything["pairs"]:
        pair = everything["pairs"][max(0, min(choices.tokenizer, len(everything["pairs"])) - 1)]
        found.append(of_worst_lines(comparison, everything, choices))
        found.append(of_disagreements(comparison, pair))
        found.append(of_vocabularies(comparison, pair))
    return found
