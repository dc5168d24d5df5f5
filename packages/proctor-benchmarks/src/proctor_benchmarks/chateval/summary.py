"""Compute the official accuracies, with intervals, and the agreement beyond chance.

    single_accuracy           over items, by the sum of both orders, of the first referee
    average_accuracy          over items, by the sum of both orders, of all referees
    adversarial_accuracy      over items and orders, each order by itself
    majority_vote_accuracy    over items, by the votes of the referees
    kappa, kappa_of_votes     of the first and the last of these, as Cohen's

Which of them apply depends on the names of the answers. An item without a label, or of which one order was not scored, is
left out, where the official code would have ended.
"""

from collections import defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.core.task import Judged
from proctor.stats.estimate import estimate
from proctor_benchmarks.chateval import verdicts
from proctor_benchmarks.chateval.dataset import FORWARD, REVERSED
from proctor_judging.stats.agreement import cohen_kappa


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:  # noqa: ARG001 - they are of single orders
    """Return the official figures over the first attempts."""
    labels: dict[str, str] = {}
    speeches: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    numbers: dict[str, int] = {}
    for sample, verdict in judged():
        if verdict.attempt == 0 and isinstance(verdict.result, Score) and isinstance(sample.target, str):
            item = sample.cluster or sample.id
            labels[item] = sample.target
            speeches[item][sample.meta["pair"]["order"]] = verdict.result.details["speeches"]
            numbers[item] = sample.meta["pair"]["number"]
    items = sorted((item for item in speeches if len(speeches[item]) == 2), key=numbers.__getitem__)
    if not items:
        return []
    note = say("{count} items without both orders are left out", count=len(speeches) - len(items)) if len(speeches) > len(items) else ""  # fmt: skip
    known = [labels[item] for item in items]
    forward, backward = ([speeches[item][order] for item in items] for order in (FORWARD, REVERSED))
    made: list[Estimate] = []
    for method in _methods(known, forward):
        predicted = verdicts.predictions(method, forward, backward)
        wanted, clusters = (known * 2, items * 2) if method == "adversarial" else (known, items)
        made.append(_accuracy(method, predicted, wanted, clusters, note))
        if method in ("single", "majority_vote") and len(predicted) == len(wanted):
            agreed = cohen_kappa(predicted, wanted)
            made.append(_named(agreed, "kappa" if method == "single" else "kappa_of_votes"))
    return made


def _methods(labels: Sequence[str], forward: Sequence[Sequence[str]]) -> list[verdicts.Method]:
    """Return the methods that know these labels; votes are counted where a speech ends in one."""
    pairwise = set(labels) <= {verdicts.FIRST[0], verdicts.SECOND[0]}
    methods: list[verdicts.Method] = ["average", "adversarial"] if pairwise else ["single"]
    if any("Answer: " in text.rpartition("\n")[2] for texts in forward for text in texts):
        methods.append("majority_vote")
    return methods


def _accuracy(
    method: str, predicted: Sequence[str], labels: Sequence[str], clusters: Sequence[str], note: Sentence | str
) -> Estimate:
    """Estimate a share of labels; a label without a prediction, as after a score of nan, is missed."""
    padded = [*predicted, *[""] * (len(labels) - len(predicted))]
    cases = [
        Case(cluster=cluster, values=(float(won == label),), planned=1)
        for cluster, won, label in zip(clusters, padded, labels, strict=True)
    ]
    return _named(estimate("", tally(cases)), f"{method}_accuracy", note)


def _named(one: Estimate, name: str, note: Sentence | str = "") -> Estimate:
    return replace(one, name=name, note=note or one.note)
