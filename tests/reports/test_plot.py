import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.run import Estimate
from proctor.reports import plot
from proctor.reports.words import ReportWords

shares = st.one_of(st.none(), st.floats(-1, 2))


@given(shares, shares, shares, shares, shares)
def test_a_row_stays_within_its_axis(
    value: float | None, low: float | None, high: float | None, floor: float | None, ceiling: float | None
) -> None:
    if low is not None and high is not None:
        low, high = min(low, high), max(low, high)
    if floor is not None and ceiling is not None:
        floor, ceiling = min(floor, ceiling), max(floor, ceiling)
    estimate = Estimate(name="x", value=value, low=low, high=high, floor=floor, ceiling=ceiling)
    drawn = plot.row(estimate, "x")
    places = [float(part.split('"')[1].removesuffix("%")) for part in drawn.split("cx=")[1:]]
    assert all(0 <= place <= 100 for place in places)
    assert len(plot.line(estimate, 25)) == 25
    HTMLParser().feed(drawn)


def test_a_row_has_a_role_a_title_and_nothing_from_elsewhere() -> None:
    drawn = plot.row(Estimate(name="x", value=0.5, low=0.4, high=0.6, floor=0.3, ceiling=0.7), "x: 50.0%")
    assert 'role="img"' in drawn
    assert "<title>x: 50.0%</title>" in drawn
    assert 'cx="50.0%"' in drawn
    assert 'class="band" x="30.0%" width="40.0%"' in drawn
    assert not [word for word in ("http", "href", "script", "url(") if word in drawn]


@pytest.mark.parametrize(
    ("estimate", "line"),
    [
        (Estimate(name="x", value=None), "           "),
        (Estimate(name="x", value=None, floor=0.0, ceiling=1.0), "╌╌╌╌╌╌╌╌╌╌╌"),
        (Estimate(name="x", value=0.0, low=0.0, high=0.3, floor=0.0, ceiling=0.0), "●──┤       "),
        (Estimate(name="x", value=1.0, low=0.7, high=1.0), "       ├──●"),
        (Estimate(name="x", value=0.5, low=0.5, high=0.5), "     ●     "),
        (Estimate(name="x", value=0.5, low=0.4, high=0.6, floor=0.2, ceiling=0.9), "  ╌╌├●┤╌╌╌ "),
    ],
)
def test_a_line_of_signs(estimate: Estimate, line: str) -> None:
    assert plot.line(estimate, 11) == line


def test_a_number_that_is_no_share_has_no_plot_and_no_percent() -> None:
    steps = Estimate(name="steps", value=3.9, low=2.7, high=5.1, unit="number")
    assert plot.row(steps, "steps") == ""
    assert plot.line(steps, 9) == " " * 9
    words = ReportWords("en")
    assert (words.value(steps), words.interval(steps), words.bounds(steps)) == ("3.9", "2.7–5.1", "–")
    assert words.sentence(steps, "steps") == "steps: 3.9, interval 2.7–5.1"


def test_a_timeline_cuts_its_axis_to_what_is_there_and_marks_what_moved() -> None:
    dots = [
        plot.Dot(
            Estimate(name="accuracy", value=value, low=value - 0.1, high=value + 0.1), mark, f"/r{at}", f"run {at}"
        )
        for at, (value, mark) in enumerate(((0.72, ""), (0.48, "worse"), (0.8, "better")))
    ]
    drawn = plot.timeline(dots, Estimate(name="accuracy", value=0.7, low=0.6, high=0.8), "over time")
    assert re.findall(r'<text x="0" y="[^"]*">(\d+)</text>', drawn) == ["20", "40", "60", "80", "100"]
    assert [drawn.count(f'"dot {mark}"') for mark in ("worse", "better", "")] == [1, 1, 1]
    assert drawn.count('class="trend"') == 2
    assert re.findall(r'href="(/r\d)"', drawn) == ["/r0", "/r1", "/r2"]
    for one in (plot.timeline([], None, "none"), plot.timeline(dots[:0], Estimate(name="a", value=1.0), "one")):
        assert one.startswith("<svg")
    same = plot.timeline([plot.Dot(Estimate(name="a", value=0.5), "", "/", "t")] * 2, None, "t")
    assert 'cy="' in same
