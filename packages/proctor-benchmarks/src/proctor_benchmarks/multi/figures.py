"""The four pictures of the original's summary: bars by education, image and type, and a heat map of all questions.

Bars show the points to be had (light) and those earned (dark) on a logarithmic scale, the line the ratio in per cent.
The heat map has a cell for each question, 100 to a column, from top to bottom.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from proctor.core.installing import is_installed
from proctor.runtime.files import draft_of
from proctor_benchmarks.multi.tables import QuestionSums, Scored, by_slice

PICTURES = {"Education": "summary_education.png", "Image": "summary_image.png", "Type": "summary_type.png"}
HEATMAP = "heatmap.png"
_ROWS = 100
_TOTAL, _SCORE, _RATIO = "#a9d5ae", "#2f7d4f", "#1f4e9c"
_SIZE = (10, 6)


def can_draw() -> bool:
    """True if the extra `plots` is installed."""
    return is_installed("matplotlib")


def draw(rows: Sequence[Scored], folder: Path, name: str) -> list[Path]:
    """Draw the four pictures into `folder`; needs the extra `plots`. Only what has points is in a bar chart.

    Args:
        name: for the titles; letters beyond ASCII become '?', as not every font has them.
    """
    title = name.encode("ascii", "replace").decode()[:80].replace("$", "?")
    paths = [
        _save(folder / PICTURES[part], partial(_bars, by=by, title=f"{part}: {title}"))
        for part, by in by_slice(rows).items()
    ]
    return [*paths, _save(folder / HEATMAP, partial(_cells, rows=rows, title=f"Questions: {title}"))]


def _save(path: Path, paint: Callable[[object], None]) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="tight")  # without pyplot: nothing global, so threads may draw
    FigureCanvasAgg(figure)
    paint(figure.add_subplot())
    with draft_of(path) as draft:
        figure.savefig(draft, format="png", metadata={"Software": None})
    return path


def _bars(axes: Any, by: Mapping[str, QuestionSums], title: str) -> None:
    shown = {key: question_sums for key, question_sums in by.items() if question_sums.total}
    keys = list(shown)
    totals = [question_sums.total for question_sums in shown.values()]
    axes.bar(keys, totals, color=_TOTAL, label="points to be had")
    axes.bar(keys, [question_sums.score for question_sums in shown.values()], color=_SCORE, label="points earned")
    axes.set_yscale("log")
    axes.set_ylim(0.5, max(totals, default=1) * 2)
    axes.set_ylabel("points")
    ratio = axes.twinx()
    ratio.plot(
        keys, [question_sums.percent for question_sums in shown.values()], color=_RATIO, marker="o", label="ratio"
    )
    ratio.set_ylim(0, 105)
    ratio.set_ylabel("ratio, per cent")
    if keys:
        handles = [both for each in (axes, ratio) for both in each.get_legend_handles_labels()[0]]
        axes.legend(handles=handles, loc="lower left")
    axes.set_title(title)


def _cells(axes: Any, rows: Sequence[Scored], title: str) -> None:
    columns = max(-(-len(rows) // _ROWS), 1)
    cells = [[float("nan")] * columns for _ in range(min(len(rows), _ROWS) or 1)]
    for index, row in enumerate(rows):
        if row.total:
            cells[index % _ROWS][index // _ROWS] = row.score / row.total
    image = axes.imshow(cells, cmap="RdYlGn", interpolation="nearest", vmin=-0.25, vmax=1.25, aspect="auto")
    image.set_clim(-0.25, 1.25)
    axes.set_xlabel("hundreds of questions")
    axes.set_title(title)
