"""Draw estimates as plots: an SVG row for pages, a line of characters for terminals. The axis is 0 to 100 %.

An estimate that is no share has no place on it, and gets no plot.
"""

from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import NamedTuple

from proctor.core.run import Estimate
from proctor.reports.distribution import Distribution

STEPS = (0, 25, 50, 75, 100)
STEPS_OF_AXIS = (0.05, 0.1, 0.2)
BARS = "▁▂▃▄▅▆▇█"
HEIGHT, TOP, BOTTOM = 240, 18, 8  # of a timeline, in pixels


def row(estimate: Estimate, title: str) -> str:
    """Draw one estimate as inline SVG without scripts or addresses: band floor to ceiling, line interval, dot value.

    Places are in percent of the width, so that rows above each other share one axis. `title` must be escaped.
    """
    if estimate.unit == "number":
        return ""
    marks = [f'<line class="grid" x1="{x}%" x2="{x}%" y1="0" y2="26"/>' for x in STEPS]
    if (band := _span(estimate.floor, estimate.ceiling)) is not None and band[1] > band[0]:
        marks.append(f'<rect class="band" x="{band[0]}%" width="{round(band[1] - band[0], 2)}%" y="7" height="12"/>')
    if (interval := _span(estimate.low, estimate.high)) is not None:
        low, high = interval
        marks.append(f'<line class="interval" x1="{low}%" x2="{high}%" y1="13" y2="13"/>')
        marks += [f'<line class="interval" x1="{x}%" x2="{x}%" y1="9" y2="17"/>' for x in interval]
    if estimate.value is not None:
        marks.append(f'<circle class="dot" cx="{_place(estimate.value)}%" cy="13" r="4"/>')
    return f'<svg class="plot" role="img" aria-label="{title}" width="100%" height="26"><title>{title}</title>{"".join(marks)}</svg>'


def axis() -> str:
    """Draw the labels of the axis, for above rows of the same width."""
    labels = "".join(f'<text x="{x}%" y="12" text-anchor="middle">{x}</text>' for x in STEPS)
    return f'<svg class="plot" aria-hidden="true" width="100%" height="16">{labels}</svg>'


def line(estimate: Estimate, width: int = 25) -> str:
    """Draw one estimate in characters: the first is 0 %, the last 100 %.

    >>> line(Estimate(name="accuracy", value=0.5, low=0.4, high=0.6, floor=0.3, ceiling=0.9), 21)
    '      ╌╌├─●─┤╌╌╌╌╌╌  '
    """
    signs = [" "] * width
    if estimate.unit == "number":
        return "".join(signs)

    def draw(span: tuple[float, float] | None, inner: str, start: str, end: str) -> None:
        if span is not None:
            first, last = (round(percent / 100 * (width - 1)) for percent in span)
            signs[first : last + 1] = [start, *inner * (last - first - 1), end][: last - first + 1]

    band = _span(estimate.floor, estimate.ceiling)
    if band is not None and band[1] > band[0]:
        draw(band, "╌", "╌", "╌")
    draw(_span(estimate.low, estimate.high), "─", "├", "┤")
    if estimate.value is not None:
        signs[round(_place(estimate.value) / 100 * (width - 1))] = "●"
    return "".join(signs)


def difference_line(low: float | None, value: float, high: float | None, width: int) -> str:
    """Draw a difference in characters: zero in the middle, -0.5 and 0.5 at the ends.

    >>> difference_line(-0.1, 0.1, 0.3, 21)
    '        ├─┼─●───┤    '
    """
    signs = [" "] * width
    half = width // 2

    def at(number: float) -> int:
        return round(half + 2 * half * min(max(number, -0.5), 0.5))

    signs[half] = "│"
    if low is not None and high is not None:
        signs[at(low) : at(high) + 1] = "─" * (at(high) - at(low) + 1)
        signs[at(low)], signs[at(high)] = "├", "┤"
        if at(low) < half < at(high):
            signs[half] = "┼"
    signs[at(value)] = "●"
    return "".join(signs)


def difference_row(low: float | None, value: float, high: float | None, title: str) -> str:
    """Draw a difference as an SVG row: zero in the middle, -50 and +50 points at the ends. `title` must be escaped."""
    marks = ['<line class="grid" x1="50%" x2="50%" y1="0" y2="26"/>']
    if low is not None and high is not None:
        ends = [_place(0.5 + number) for number in (low, high)]
        marks.append(f'<line class="interval" x1="{ends[0]}%" x2="{ends[1]}%" y1="13" y2="13"/>')
        marks += [f'<line class="interval" x1="{x}%" x2="{x}%" y1="9" y2="17"/>' for x in ends]
    marks.append(f'<circle class="dot" cx="{_place(0.5 + value)}%" cy="13" r="4"/>')
    return f'<svg class="plot" role="img" aria-label="{title}" width="100%" height="26"><title>{title}</title>{"".join(marks)}</svg>'


def difference_axis() -> str:
    """Draw the labels of the axis of differences, for below rows of the same width."""
    marks = ((0, "start", "−50"), (50, "middle", "0"), (100, "end", "+50"))
    labels = "".join(f'<text x="{x}%" y="12" text-anchor="{anchor}">{label}</text>' for x, anchor, label in marks)
    return f'<svg class="plot" aria-hidden="true" width="100%" height="16">{labels}</svg>'


def share_bar(share: float) -> str:
    """Draw a share as a bar; the number is in the text next to it."""
    return f'<svg class="share" aria-hidden="true" width="100%" height="9"><rect width="{_place(share)}%" height="9"/></svg>'


def histogram(found: Distribution, title: str, label: Callable[[float], str]) -> str:
    """Draw the bins of a distribution, with lines at its median and its 95th percentile. `title` must be escaped.

    Args:
        found: a distribution that has bins.
        title: describes the plot to readers who cannot see it.
        label: writes a value of the axis.
    """
    floor, most = 78, max(found.counts)
    marks = []
    for value in found.ticks():
        x = _place(found.share(value))
        anchor = "start" if x < 4 else "end" if x > 96 else "middle"
        marks.append(f'<line class="grid" x1="{x}%" x2="{x}%" y1="0" y2="{floor}"/>')
        marks.append(f'<text x="{x}%" y="{floor + 15}" text-anchor="{anchor}">{label(value)}</text>')
    width = round(100 / len(found.counts), 3)
    for at, count in enumerate(found.counts):
        height = round((floor - 6) * count / most, 1)
        if count:
            height = max(height, 1.5)  # a single trial far out stays visible
            span = f"{label(found.edges[at])}–{label(found.edges[at + 1])}: {count:,}"
            marks.append(
                f'<rect class="bin" x="{round(at * width, 3)}%" width="{width}%" y="{floor - height}" height="{height}"><title>{span}</title></rect>'
            )
    marks.append(f'<line class="axis" x1="0" x2="100%" y1="{floor}" y2="{floor}"/>')
    for name, value in (("median", found.median), ("p95", found.p95)):
        x = _place(found.share(value))
        marks.append(f'<line class="{name}" x1="{x}%" x2="{x}%" y1="0" y2="{floor}"/>')
    return f'<svg class="plot" role="img" aria-label="{title}" width="100%" height="{floor + 20}"><title>{title}</title>{"".join(marks)}</svg>'


class Dot(NamedTuple):
    """An estimate of a timeline: its mark (`better`, `worse` or none), address ('' for none) and title, both escaped.

    `begins` is true of one that measures otherwise than the one before, so that no line joins them.
    """

    estimate: Estimate
    mark: str
    address: str
    title: str
    begins: bool = False


def timeline(dots: Sequence[Dot], baseline: Estimate | None, title: str) -> str:
    """Draw estimates side by side with their intervals, each a link, and a baseline with its interval. `title` must be escaped.

    The axis is cut to what is there.
    """
    every = [*(dot.estimate for dot in dots), *([baseline] if baseline else [])]
    ends = [end for estimate in every for end in (estimate.low, estimate.value, estimate.high) if end is not None]
    least, most = (min(ends), max(ends)) if ends else (0.0, 1.0)
    step = next(step for step in STEPS_OF_AXIS if most - least <= 5 * step)
    low, high = floor(least / step) * step, min(ceil(most / step) * step, 1.0)
    low, high = (low, high) if low < high else (max(low - step, 0.0), min(high + step, 1.0))

    def y(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low), 1)

    ticks = [low + step * number for number in range(round((high - low) / step) + 1)]
    marks = [
        f'<line class="grid" x1="4%" x2="100%" y1="{y(at)}" y2="{y(at)}"/><text x="0" y="{y(at) + 4}">{100 * at:.0f}</text>'
        for at in ticks
    ]
    if baseline is not None and baseline.value is not None:
        if baseline.low is not None and baseline.high is not None:
            tall = round(y(baseline.low) - y(baseline.high), 1)
            marks.append(f'<rect class="band" x="4%" width="96%" y="{y(baseline.high)}" height="{tall}"/>')
        marks.append(f'<line class="baseline" x1="4%" x2="100%" y1="{y(baseline.value)}" y2="{y(baseline.value)}"/>')
    last: tuple[float, float] | None = None
    drawn_dots = []
    for at, dot in enumerate(dots):
        if dot.estimate.value is None:
            continue
        x, middle = round(6 + 92 * (at + 0.5) / len(dots), 2), y(dot.estimate.value)
        if last is not None and not dot.begins:
            marks.append(f'<line class="trend" x1="{last[0]}%" x2="{x}%" y1="{last[1]}" y2="{middle}"/>')
        last = x, middle
        top = middle
        drawn = f"<title>{dot.title}</title>"
        if dot.estimate.low is not None and dot.estimate.high is not None:
            top = y(dot.estimate.high)
            drawn += f'<line class="interval" x1="{x}%" x2="{x}%" y1="{y(dot.estimate.low)}" y2="{top}"/>'
        sign = {"better": "▲", "worse": "▼"}.get(dot.mark, "")
        drawn += f'<circle class="dot {dot.mark}" cx="{x}%" cy="{middle}" r="4.5"/>'
        drawn += f'<text class="{dot.mark}" x="{x}%" y="{top - 6}" text-anchor="middle">{sign}</text>' if sign else ""
        link = f'<a href="{dot.address}" aria-label="{dot.title}">{drawn}</a>'
        drawn_dots.append(link if dot.address else f"<g>{drawn}</g>")
    return f'<svg class="plot timeline" role="group" aria-label="{title}" width="100%" height="{HEIGHT}">{"".join([*marks, *drawn_dots])}</svg>'


def _span(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (_place(low), _place(high))


def _place(value: float) -> float:
    return round(100 * min(max(value, 0.0), 1.0), 2)
