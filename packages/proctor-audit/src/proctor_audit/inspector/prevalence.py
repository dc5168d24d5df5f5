"""Correct how frequent a kind of event is, by labels of people for a random draw of trials.

Rules miss events and report what is none. Where people labelled trials that were drawn at random, within those with a finding and
those without (`draw_trials`), their labels tell both errors (PPI, stratified):

    w1 · a + w0 · b        a, b: shares of events among labelled trials with and without a finding;
                           w1, w0: shares of trials with and without a finding

The interval is Wilson's for the number of trials that the standard error corresponds to; the errors of shares of labels are those
of (k + 0.7) / (n + 1.4), as no event among few labels does not mean that there are none. Where trials move together, such as
attempts at a sample, the error is that over clusters if it is greater. A contested trial may have been either.
The draw has to be labelled whole: an interval of a fixed number of labels does not hold where people stop when they like.

Source: prediction-powered inference, arXiv 2301.09633, stratified after arXiv 2406.04291. Coverage of 95 % in the settings of
`tests/audit/inspector/test_prevalence.py`: 95 to 96 %; where events are rare (shares of 1 and 2 %), it is wider than need be.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from proctor.core.digest import digest
from proctor.core.run import Estimate
from proctor.stats.rate import wilson

PPI = "PPI, stratified"
LEAST = 2  # labels among trials with and among those without a finding


class LabelCounts(msgspec.Struct, frozen=True):
    """Labelled trials: `hits` of `flagged` with a finding, and `misses` of `others` without one, have the event."""

    hits: int
    flagged: int
    misses: int
    others: int

    @property
    def hit(self) -> float:
        """Return the share of labelled trials with a finding that have the event."""
        return self.hits / self.flagged if self.flagged else 0.0

    @property
    def missed(self) -> float:
        """Return the share of labelled trials without a finding that have the event."""
        return self.misses / self.others


def correct_prevalence(
    flags: Mapping[str, bool],
    labels: Mapping[str, bool | None],
    clusters: Mapping[str, str] = {},
    level: float = 0.95,
) -> Estimate | None:
    """Return the corrected share of trials with an event; None where too few trials are labelled.

    Args:
        flags: of each trial, whether a check found something.
        labels: of the drawn ones, whether people say so; None where they disagree.
        clusters: of each trial, which others it moves together with, such as other attempts at its sample.
    """
    labels = {id: happened for id, happened in labels.items() if id in flags}
    agreed = {id: happened for id, happened in labels.items() if happened is not None}
    counts = _count(flags, agreed)
    if counts.others < LEAST or (counts.flagged < LEAST and any(flags.values())):
        return None
    estimate = _ppi(flags, agreed, clusters, level)
    ends = [estimate]
    if len(agreed) < len(labels):
        for happened in (False, True):
            every = {**dict.fromkeys(labels, happened), **agreed}
            ends.append(_ppi(flags, every, clusters, level))
    return msgspec.structs.replace(
        estimate, low=min(end.low or 0.0 for end in ends), high=max(end.high or 0.0 for end in ends)
    )


def draw_trials(flags: Mapping[str, bool], order: Sequence[str], count: int) -> list[str]:
    """Draw trials to label, the first of an order drawn at random: half with a finding, half without; more of one where the other has too few.

    They come in an order that does not show which have one.
    """
    flagged = [id for id in order if flags[id]]
    others = [id for id in order if not flags[id]]
    first = min(len(flagged), max(count // 2, count - len(others)))
    return sorted([*flagged[:first], *others[: count - first]], key=digest)


def _count(flags: Mapping[str, bool], labels: Mapping[str, bool]) -> LabelCounts:
    known = [(flags[id], happened) for id, happened in labels.items()]
    return LabelCounts(
        hits=sum(flag and happened for flag, happened in known),
        flagged=sum(flag for flag, _ in known),
        misses=sum(happened and not flag for flag, happened in known),
        others=sum(not flag for flag, _ in known),
    )


def _ppi(flags: Mapping[str, bool], labels: Mapping[str, bool], clusters: Mapping[str, str], level: float) -> Estimate:
    counts, trials = _count(flags, labels), len(flags)
    share = sum(flags.values()) / trials
    value = share * counts.hit + (1 - share) * counts.missed
    square = (1 - share) ** 2 * _square(counts.misses, counts.others)
    square += share * (1 - share) * (counts.hit - counts.missed) ** 2 / trials
    if counts.flagged:
        square += share**2 * _square(counts.hits, counts.flagged)
    square = max(square, _clustered(flags, labels, clusters, counts))
    size = max(value * (1 - value), 1 / (trials + 2) / 4) / square if square > 0 else float(trials)
    around = wilson(value, max(size, 1.0), level)
    return Estimate(
        name="corrected",
        value=value,
        low=around.low,
        high=around.high,
        level=level,
        method=PPI,
        scored=len(labels),
        planned=trials,
        clusters=len({clusters.get(id, id) for id in labels}),
        standard_error=math.sqrt(square),
    )


def _clustered(
    flags: Mapping[str, bool], labels: Mapping[str, bool], clusters: Mapping[str, str], counts: LabelCounts
) -> float:
    """Return the squared standard error where trials of a cluster move together; 0 for one cluster."""
    share = sum(flags.values()) / len(flags)
    value = share * counts.hit + (1 - share) * counts.missed
    pulls: dict[str, float] = defaultdict(float)
    for id, flag in flags.items():
        expected = counts.hit if flag else counts.missed
        pull = (expected - value) / len(flags)
        if id in labels:
            weight = share / counts.flagged if flag else (1 - share) / counts.others
            pull += weight * (labels[id] - expected)
        pulls[clusters.get(id, id)] += pull
    if len(pulls) < 2:
        return 0.0
    return sum(pull * pull for pull in pulls.values()) * len(pulls) / (len(pulls) - 1)


def _square(count: int, of: int) -> float:
    """Return the squared standard error of a share of labels."""
    share = (count + 0.7) / (of + 1.4)
    return share * (1 - share) / of
