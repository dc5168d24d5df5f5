"""Score a conversation: the intent, which calls the backend got, and how faults were handled."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.core.declared import scorer
from proctor.core.sample import JsonObject, Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.customer_service.dataset import NO_FAULT

VERSION = "1"
Finding = tuple[str, Sentence]


@scorer(version=VERSION)
def intent(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Full points if the intent that was recorded last is the customer's."""
    if trajectory.state is None:
        return _no_state()
    recorded, wanted = str(trajectory.state.get("intent", "")), sample.target["intent"]
    if recorded == wanted:
        return Score(points=1, answer=recorded)
    reason = say("The intent is '{wanted}'.", wanted=wanted) if recorded else say("No intent was recorded.")
    return Score(points=0, answer=recorded, reason=reason, details={"error_class": recorded or "no_intent"})


@scorer(version=VERSION)
def backend(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Full points if the right things were looked up, changed and named, and nothing else was changed; of samples without a fault."""
    if sample.tags["fault"] != NO_FAULT:
        return Unscored(why="not_applicable", reason=say("A fault was injected, which is scored as robustness."))
    return _score(sample, trajectory)


@scorer(version=VERSION)
def robustness(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Full points if all is right in spite of a fault: done once where that was possible, else left alone and handed over."""
    if sample.tags["fault"] == NO_FAULT:
        return Unscored(why="not_applicable", reason=say("No fault was injected."))
    return _score(sample, trajectory)


def _score(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    if trajectory.state is None:
        return _no_state()
    finding = next(_findings(sample.target, trajectory.state, trajectory), None)
    if finding is None:
        return Score(points=1)
    error_class, reason = finding
    return Score(points=0, reason=reason, details={"error_class": error_class})


def _findings(target: JsonObject, state: JsonObject, trajectory: Trajectory) -> Iterator[Finding]:
    """Yield what is wrong, the gravest first."""
    wanted = target["state"]
    done, right = list(state.get("refunds", ())), list(wanted["refunds"])
    for order in done:
        if order in right:
            right.remove(order)
        elif order in wanted["refunds"]:
            yield "refunded_twice", say("{order} was refunded more than once.", order=order)
        else:
            yield "wrongly_refunded", say("{order} must not be refunded.", order=order)
    for number, order in wanted["orders"].items():
        now = state.get("orders", {}).get(number, {})
        for key in dict.fromkeys((*order, *now)):
            if _plain(now.get(key)) != _plain(order.get(key)):
                values = {"order": number, "key": key, "now": now.get(key), "wanted": order.get(key)}
                yield "wrong_order", say("{order}: {key} is '{now}', and should be '{wanted}'.", **values)
    if right:
        yield "not_refunded", say("{order} was not refunded.", order=", ".join(right))
    if wanted["handed_over"] and not state.get("handed_over"):
        yield "not_handed_over", say("The conversation was not handed over.")
    if state.get("handed_over") and not wanted["handed_over"]:
        yield "handed_over", say("The conversation was handed over without need.")
    made = [[call.name, _plain(call.arguments)] for call in trajectory.calls()]
    for name, arguments in target["reads"]:
        if [name, _plain(arguments)] not in made:
            yield "not_looked_up", say("{tool} was not called with {arguments}.", tool=name, arguments=str(arguments))
    for words in target["says"]:
        if _plain(words) not in _plain(trajectory.answer):
            yield "not_named", say("The answer does not name '{words}'.", words=words)


def _plain(value: object) -> Any:
    """Return a value with its texts in lower case and without whitespace, as nobody would call that a difference."""
    match value:
        case str():
            return re.sub(r"\s", "", unicodedata.normalize("NFKC", value)).casefold()
        case Mapping():
            return {key: _plain(entry) for key, entry in value.items()}
        case Sequence():
            return [_plain(item) for item in value]
    return value


def _no_state() -> Unscored:
    return Unscored(why="no_evidence", reason=say("The state of the backend was not recorded."))
