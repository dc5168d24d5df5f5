"""Lay out the decision of a gate as a page: each rule on one axis, as its distance from its limit, and a comment to paste."""

import math
from collections.abc import Iterator

import msgspec

from proctor.reports.pages import ReportPage, markdown
from proctor.reports.words import ReportWords
from proctor_ci import pages
from proctor_ci.gate import Decision, Gate, Ruling
from proctor_ci.pull_request import defuse

SCALES = (5, 10, 20, 50, 100)  # how far the axis reaches on both sides of the limit


class RuleLine(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of a decision in words.

    Attributes:
        at, low, high: the value and its bounds on the axis, in percent of its width; the limit is at 50 and what is good lies right of it.
    """

    decision: Decision
    word: str
    rule: str
    observed: str
    counted: str
    at: float | None = None
    low: float = 0.0
    high: float = 100.0


class GatePage(msgspec.Struct, frozen=True, kw_only=True):
    """A decision as its page shows it; the axis reaches `reach` on both sides of the limit."""

    decision: Decision
    word: str
    meaning: str
    lines: tuple[RuleLine, ...]
    reach: int
    page: ReportPage
    explained: tuple[str, ...]
    comment: str


def lay_out(gate: Gate, lang: str, link: str) -> GatePage:
    """Return the page of a decision, with a comment in Markdown that leads to `link`."""
    words = ReportWords(lang)
    t = words.t
    shown = pages.page(gate, lang)
    distances = [_distances(ruling) for ruling in gate.rulings]
    furthest = max((abs(end) for line in distances if line for end in line if math.isfinite(end)), default=0.0)
    reach = next((scale for scale in SCALES if scale >= furthest), SCALES[-1])

    def place(distance: float) -> float:
        return 50 + 50 * min(max(distance / reach, -1.0), 1.0)

    def lines() -> Iterator[RuleLine]:
        for ruling, distance in zip(gate.rulings, distances, strict=True):
            line = RuleLine(
                decision=ruling.decision,
                word=t(pages.DECISIONS[ruling.decision]),
                rule=pages.rule_text(ruling, words),
                observed=pages.observed(ruling, words),
                counted=pages.counted(ruling, words),
            )
            if distance is not None:
                low, at, high = map(place, distance)
                line = msgspec.structs.replace(line, low=low, at=at, high=high)
            yield line

    return GatePage(
        decision=gate.decision,
        word=t(pages.DECISIONS[gate.decision]),
        meaning=t(pages.MEANINGS[gate.decision]),
        lines=tuple(lines()),
        reach=reach,
        page=shown,
        explained=tuple(pages.explain_bounds(gate, words)),
        comment=defuse(f"{markdown(shown, lang)}\n[{t('May it ship?')}]({link})\n"),
    )


def _distances(ruling: Ruling) -> tuple[float, float, float] | None:
    """Return how far the lower bound, the value and the upper bound lie on the good side of the limit; None without a value.

    Shares and differences are in points; other numbers are in percent of the limit.
    """
    if ruling.value is None:
        return None
    unit = 100.0
    if ruling.unit == "number":
        if not ruling.limit:
            return None
        unit = 100 / abs(ruling.limit)
    sign = 1 if ruling.higher else -1
    low = -math.inf if ruling.low is None else ruling.low
    high = math.inf if ruling.high is None else ruling.high
    ends = sorted(sign * unit * (end - ruling.limit) for end in (low, high))
    return ends[0], sign * unit * (ruling.value - ruling.limit), ends[1]
