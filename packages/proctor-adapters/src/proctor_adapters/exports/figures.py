"""Draw runs, comparisons, plans and trends with matplotlib, for notebooks, articles and slides; the extra `plots`.

Figures are made without `pyplot`, so nothing global is changed and threads may draw. Texts are never read as formulas. Chinese takes a
font that has it; without one the figure is in English, and a warning says so.
"""

import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.core.errors import BadInput, needs
from proctor.core.run import Estimate
from proctor.i18n import language, speak
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line
from proctor.stats.paired import Difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 60
CHINESE_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "Microsoft YaHei", "PingFang SC", "Hiragino Sans GB",
    "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "SimHei", "Heiti SC", "STHeiti", "Noto Sans CJK JP", "Arial Unicode MS",
)  # fmt: skip
LATIN_FONT = "DejaVu Sans"  # comes with matplotlib
INK, BAND = "#1f4e9c", "#c9d6ea"
COLOURS = {"better": "#2f7d4f", "worse": "#b3261e"}
MARKS = {"better": "^", "worse": "v"}  # so that no reader needs the colour


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


def draw_comparison(
    differences: Sequence[tuple[Difference, str]],
    runs: tuple[str, str],
    texts: Callable[[ReportWords], tuple[str, Sequence[str]]],
    lang: str | None,
) -> "Figure":
    """Draw the paired differences with their intervals, in points.

    Args:
        differences: each with its mark: `better`, `worse` or nothing.
        runs: the names of the first and the second run.
        texts: the title, and the label of each difference.
        lang: en or zh; None for that of the environment.

    Raises:
        BadInput: matplotlib is not installed.
    """
    words = _words(lang)
    title, labels = texts(words)
    figure, axes = _new_figure(_height(len(differences)))
    axes.axvline(0, color="0.6", linewidth=1)
    for at, (difference, mark) in enumerate(differences[:MOST_ROWS]):
        _interval(axes, difference.low, difference.value, difference.high, at, mark)
    old, new = map(_short, runs)
    axes.set_xlabel(words.t("Points by which {new} differs from {old}", new=new, old=old))
    return _with_rows(figure, axes, labels, title)


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


def draw_trend(
    points: Sequence[tuple[Estimate, float, str]], baseline: Estimate | None, title: str, lang: str | None
) -> "Figure":
    """Draw estimates with their intervals over time, and the baseline with its own.

    Args:
        points: each estimate with the time it was made (Unix) and its mark: `better`, `worse` or nothing.
        baseline: drawn as a line; none if None.
        title: that of the figure.
        lang: en or zh; None for that of the environment.

    Raises:
        BadInput: matplotlib is not installed, or no point has a value.
    """
    from datetime import datetime

    words = _words(lang)
    shown = [point for point in points if point[0].value is not None]
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
    axes.plot(
        [100 * (estimate.value or 0.0) for estimate, _, _ in shown], color=INK, linewidth=0.8, alpha=0.5, zorder=0
    )
    every = -(-len(shown) // 8)
    days = [datetime.fromtimestamp(created).astimezone().strftime("%Y-%m-%d") for _, created, _ in shown]
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
