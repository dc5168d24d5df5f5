import itertools
import math
import random
from xml.etree import ElementTree

import pytest

from proctor.reports import plot
from proctor.reports.distribution import summarise
from proctor.reports.words import ReportWords


@pytest.mark.parametrize(
    "values", [[1.0, 2.0], [0.0, 0.5, 900.0], [0.001, 3.0, 4000.0], [float(number) for number in range(5_000)]]
)
def test_every_value_is_in_one_bin(values: list[float]) -> None:
    found = summarise(values)
    assert found is not None
    assert sum(found.counts) == found.count == len(values)
    assert (found.edges[0], found.edges[-1]) == (min(values), max(values))
    assert all(one < other for one, other in itertools.pairwise(found.edges))


def test_times_that_differ_by_orders_of_magnitude_are_binned_by_ratios() -> None:
    found = summarise([0.01, 0.1, 1.0, 10.0, 100.0])
    assert found is not None
    assert found.is_logarithmic
    assert found.share(1.0) == pytest.approx(0.5)
    assert found.ticks() == [0.01, 0.1, 1.0, 10.0, 100.0]


def test_a_value_of_zero_has_no_place_on_an_axis_of_ratios() -> None:
    found = summarise([0.0, 1.0, 1000.0])
    assert found is not None
    assert not found.is_logarithmic


def test_equal_values_have_a_median_and_no_bins() -> None:
    found = summarise([2.0, 2.0, 2.0])
    assert found is not None
    assert (found.median, found.p95, found.counts) == (2.0, 2.0, ())


def test_a_histogram_is_well_formed_and_names_every_bin_with_trials() -> None:
    found = summarise([1.0, 1.1, 5.0])
    assert found is not None
    svg = ElementTree.fromstring(plot.histogram(found, "times &lt;b&gt;", ReportWords("en").seconds))
    bins = svg.findall("rect")
    assert len(bins) == sum(count > 0 for count in found.counts)
    assert [float(one.get("height") or "0") > 0 for one in bins] == [True] * len(bins)
    assert svg.get("aria-label") == "times <b>"
    assert "style" not in {name for one in svg.iter() for name in one.attrib}


def test_ticks_are_few_and_within_the_axis() -> None:
    for low, high in itertools.product([0.013, 1.0, 47.0], [48.0, 1e3, 3.7e6]):
        found = summarise([low, high])
        assert found is not None
        assert 0 < len(found.ticks()) <= 6
        assert all(low <= tick <= high for tick in found.ticks())


def test_the_intervals_of_median_and_95th_percentile_hold_the_true_ones() -> None:
    source = random.Random(1)
    true = math.log(2), -math.log(0.05)
    held = [0, 0]
    for _ in range(300):
        found = summarise([source.expovariate(1) for _ in range(60)])
        assert found is not None
        for at, (low, high) in enumerate((found.median_ends, found.p95_ends)):
            held[at] += (low is None or low <= true[at]) and (high is None or true[at] <= high)
    assert min(held) >= 0.93 * 300


def test_attempts_at_the_same_sample_are_no_further_samples() -> None:
    values = [float(n) for n in range(40) for _ in range(5)]
    alone, together = summarise(values), summarise(values, 40)
    assert alone is not None
    assert together is not None
    assert None not in (*alone.median_ends, *together.median_ends)
    widths = [each.median_ends[1] - each.median_ends[0] for each in (alone, together)]  # type: ignore[operator]
    assert widths[1] > 1.5 * widths[0]
    none = summarise(values, 0)
    assert none is not None
    assert none.median_ends == (None, None)
