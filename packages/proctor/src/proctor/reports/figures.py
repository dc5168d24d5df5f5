"""Draw runs, comparisons, plans and trends with matplotlib, for notebooks, articles and slides; the extra `plots`.

Figures are made without `pyplot`, so nothing global is changed and threads may draw. Texts are never read as formulas. Chinese takes a
font that has it; without one the figure is in English, and a warning says so.
"""

import logging
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proctor.core.errors import BadInput, needs
from proctor.core.run import Estimate
from proctor.i18n import language, speak
from proctor.reports import versus
from proctor.reports.compare import RunComparison
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DatedEstimate", "Figure", "draw_comparison", "draw_estimates", "draw_power", "draw_trend"]

MOST_ROWS = 60
CHINESE_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "Microsoft YaHei", "PingFang SC", "Hiragino Sans GB",
    "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "SimHei", "Heiti SC", "STHeiti", "Noto Sans CJK JP", "Arial Unicode MS",
)  # fmt: skip
LATIN_FONT = "DejaVu Sans"  # comes with matplotlib
INK, BAND = "#1f4e9c", "#c9d6ea"
COLOURS = {"better": "#2f7d4f", "worse": "#b3261e"}
MARKS = {"better": "^", "worse": "v"}  # so that no reader needs the colour


class DatedEstimate(NamedTuple):
    """An estimate of a trend, when it was made (Unix time), and what it is marked as: `better`, `worse`, or nothing."""

    estimate: Estimate
    created: float
    mark: str


def draw_estimates(estimates: Sequence[Estimate], title: str, lang: str | None) -> "Figure":
    """Draw shares with their intervals, one below the other, over the band from floor to ceiling.

    Raises:
        BadInput: matplotlib is not installed, or none of the estimates is a share with a value.
    """
    words = _words(lang)
    shown = [estimate for estimate in estimates if estimate.unit == "share" and estimate.value is not None]
    if not shown:
        raise BadInput("There is nothing to plot: no share was scored.")
    figure, axes = _new_figure(_height(len(shown)))
    for at, estimate in enumerate(shown[:MOST_ROWS]):
        if estimate.floor is not None and estimate.ceiling is not None and estimate.ceiling > estimate.floor:
            axes.barh(at, 100 * (estimate.ceiling - estimate.floor), left=100 * estimate.floor, height=0.5, color=BAND)
        _interval(axes, estimate.low, estimate.value or 0.0, estimate.high, at, "")
    left = f" (+{len(shown) - MOST_ROWS})" if len(shown) > MOST_ROWS else ""
    axes.set_xlim(-2, 102)
    figure.supxlabel(words.t("Percent; lines are intervals, shaded is what missing trials leave open"), fontsize=10)
    labels = [" · ".join(filter(None, (estimate.slice, words.metric(estimate.name)))) for estimate in shown]
    return _with_rows(figure, axes, labels, title + left)


def draw_comparison(comparison: RunComparison, lang: str | None) -> "Figure":
    """Draw the paired differences with their intervals, in points; what is shown to be better or worse is marked.

    Raises:
        BadInput: matplotlib is not installed.
    """
    words, rows = _words(lang), comparison.rows
    figure, axes = _new_figure(_height(len(rows)))
    axes.axvline(0, color="0.6", linewidth=1)
    for at, row in enumerate(rows[:MOST_ROWS]):
        mark = row.outcome if row.p_adjusted is not None else ""
        _interval(axes, row.difference.low, row.difference.value, row.difference.high, at, mark)
    axes.set_xlabel(
        words.t(
            "Points by which {new} differs from {old}",
            new=_short(comparison.second.id),
            old=_short(comparison.first.id),
        )
    )
    return _with_rows(figure, axes, [versus.label(row, words) for row in rows], versus.headline(comparison, words))


def draw_power(
    curve: Sequence[tuple[int, float]], wanted: float, best: int | None, title: str, lang: str | None
) -> "Figure":
    """Draw the chance that a question is decided by the number of samples.

    Args:
        curve: samples and power.
        wanted: the power asked for.
        best: the samples that reach it.

    Raises:
        BadInput: matplotlib is not installed.
    """
    words = _words(lang)
    figure, axes = _new_figure(3.6)
    axes.plot([count for count, _ in curve], [100 * power for _, power in curve], color=INK, marker="o")
    axes.axhline(100 * wanted, color="0.6", linewidth=1, linestyle="--")
    if best is not None:
        axes.axvline(best, color=COLOURS["better"], linewidth=1)
        axes.annotate(f" {words.count(best)}", (best, 4), color=COLOURS["better"])
    axes.set_ylim(0, 103)
    axes.set_xlim(left=0)
    axes.set_xlabel(words.t("Samples"))
    axes.set_ylabel(words.t("Power (%)"))
    axes.set_title(_short(title, 72), fontsize=11)
    return _finished(figure)


def draw_trend(points: Sequence[DatedEstimate], baseline: Estimate | None, title: str, lang: str | None) -> "Figure":
    """Draw estimates with their intervals over time, and the baseline with its own.

    Raises:
        BadInput: matplotlib is not installed, or no point has a value.
    """
    from datetime import datetime

    words = _words(lang)
    shown = [point for point in points if point.estimate.value is not None]
    if not shown:
        raise BadInput("There is nothing to plot: no share was scored.")
    figure, axes = _new_figure(3.6)
    if baseline is not None and baseline.value is not None:
        axes.axhline(100 * baseline.value, color="0.5", linewidth=1, label=words.t("Baseline"))
        if baseline.low is not None and baseline.high is not None:
            axes.axhspan(100 * baseline.low, 100 * baseline.high, color="0.9")
        axes.legend(loc="lower left", frameon=False)
    for at, (estimate, _, mark) in enumerate(shown):
        colour = COLOURS.get(mark, INK)
        if estimate.low is not None and estimate.high is not None:
            axes.plot([at, at], [100 * estimate.low, 100 * estimate.high], color=colour, linewidth=1.5)
        axes.plot(at, 100 * (estimate.value or 0.0), marker=MARKS.get(mark, "o"), color=colour, linestyle="none")
    axes.plot([100 * (point.estimate.value or 0.0) for point in shown], color=INK, linewidth=0.8, alpha=0.5, zorder=0)
    every = -(-len(shown) // 8)
    days = [datetime.fromtimestamp(point.created).astimezone().strftime("%Y-%m-%d") for point in shown]
    axes.set_xticks(range(0, len(shown), every), days[::every], rotation=30, ha="right")
    axes.set_ylabel(words.t("Percent"))
    axes.set_title(_short(title, 72), fontsize=11)
    return _finished(figure)


def _words(lang: str | None) -> ReportWords:
    """Return the words of the language that can be drawn here."""
    wanted = lang or language()
    if wanted != "zh" or _chinese_font() is not None:
        return ReportWords(wanted)
    warnings.warn(
        speak("No font with Chinese was found, so the figure is in English. Install one, such as Noto Sans CJK.", "zh"),
        stacklevel=3,
    )
    return ReportWords("en")


@cache
def _chinese_font() -> str | None:
    """Return the name of a font that has Chinese; None where there is none."""
    _check_installed()
    from matplotlib import font_manager

    # Fonts with Chinese often come in one weight, and each figure would say on the standard error that it took that.
    logging.getLogger(font_manager.__name__).addFilter(lambda record: "font weight" not in record.getMessage())
    for _ in range(2):
        names = {font.name for font in font_manager.fontManager.ttflist}
        if (chosen := next((name for name in CHINESE_FONTS if name in names), None)) is not None:
            return chosen
        for path in font_manager.findSystemFonts():  # the list may be older than the font
            if any(part in Path(path).name.lower() for part in ("cjk", "wqy", "sanssc", "hansans", "simhei", "msyh")):
                font_manager.fontManager.addfont(path)
    return None


def _check_installed() -> None:
    with needs("plots", "plot"):
        import matplotlib  # noqa: F401


def _new_figure(height: float) -> "tuple[Figure, Axes]":
    _check_installed()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure that a notebook shows by itself, whether or not `pyplot` was imported."""

        def _repr_png_(self) -> bytes:
            from io import BytesIO

            file = BytesIO()
            self.savefig(file, format="png", dpi=110)
            return file.getvalue()

    figure = ShownFigure(figsize=(7.5, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _height(rows: int) -> float:
    return 1.3 + 0.32 * min(rows, MOST_ROWS)


def _interval(axes: "Axes", low: float | None, value: float, high: float | None, at: int, mark: str) -> None:
    colour = COLOURS.get(mark, INK)
    if low is not None and high is not None:
        axes.plot([100 * low, 100 * high], [at, at], color=colour, linewidth=2, marker="|")
    axes.plot(100 * value, at, color=colour, marker=MARKS.get(mark, "o"))


def _with_rows(figure: "Figure", axes: "Axes", labels: Iterable[str], title: str) -> "Figure":
    named = [_short(label) for label in labels][:MOST_ROWS]
    axes.set_yticks(range(len(named)), named)
    axes.set_ylim(len(named) - 0.4, -0.6)  # the first one on top
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    figure.suptitle(_short(title, 72), fontsize=11)
    return _finished(figure)


def _short(text: str, characters: int = 40) -> str:
    return one_line(text, characters)


def _finished(figure: "Figure") -> "Figure":
    """Let no text be a formula, and each be drawn in fonts that have it, with a mark for what none has."""
    from matplotlib.text import Text

    latin, chinese = _characters(LATIN_FONT), _chinese_font()
    known = latin | (_characters(chinese) if chinese else frozenset())
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_parse_math(False)
        drawn = "".join(each if ord(each) in known or each == "\n" else "�" for each in text.get_text())
        text.set_text(drawn)
        if chinese and not latin.issuperset(map(ord, drawn)):
            text.set_fontfamily([LATIN_FONT, chinese])
    return figure


@cache
def _characters(font: str) -> frozenset[int]:
    """Return what a font has."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=font))).get_charmap())
