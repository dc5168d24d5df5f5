"""Define the comparison that `proctor.compare` returns: one that notebooks show, and that can be drawn."""

from typing import TYPE_CHECKING

from proctor.i18n import language
from proctor.reports import compare

if TYPE_CHECKING:
    from proctor.reports.figures import Figure


class Comparison(compare.RunComparison, frozen=True, kw_only=True):
    __doc__ = compare.RunComparison.__doc__

    def plot(self, *, lang: str | None = None) -> "Figure":
        """Return a figure of matplotlib with the paired differences and their intervals; needs the extra `plots`."""
        from proctor.reports.figures import draw_comparison

        return draw_comparison(self, lang)

    def _repr_html_(self) -> str:
        from proctor.reports.notebook import comparison_html

        return comparison_html(self, language())
