"""Define the comparison that `proctor.compare` returns: one that notebooks show, and that can be drawn."""

from typing import TYPE_CHECKING

from proctor.i18n import language
from proctor.registry import offered
from proctor.reports import compare, versus
from proctor.reports.words import ReportWords

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(compare.RunComparison, frozen=True, kw_only=True):
    __doc__ = compare.RunComparison.__doc__

    def plot(self, *, lang: str | None = None) -> "Figure":
        """Return a figure of matplotlib with the paired differences and their intervals; needs the extra `plots`."""

        def texts(words: ReportWords) -> tuple[str, list[str]]:
            return versus.headline(self, words), [versus.label(row, words) for row in self.rows]

        marked = [(row.difference, row.outcome if row.p_adjusted is not None else "") for row in self.rows]
        figure: Figure = offered("views", "draw_comparison", needed_for="plot")(
            marked, (self.first.id, self.second.id), texts, lang
        )
        return figure

    def _repr_html_(self) -> str:
        from proctor.reports.notebook import comparison_html

        return comparison_html(self, language())
