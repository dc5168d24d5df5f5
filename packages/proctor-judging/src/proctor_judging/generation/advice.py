"""Draw the conclusion from the evidence: a verdict in one sentence, what to improve, what to do next."""

from collections.abc import Iterator, Sequence

from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor_judging.generation.quality import COUNTED, Quality, QualityCheck
from proctor_judging.judges.calibrate import WANTED_LABELS

NAMED = 5


def conclusion(found: Quality) -> Sentence:
    """Return the conclusion in one sentence: good, not good, or not enough evidence."""
    checks = found.checks
    unknown = sum(check.verdict == "unknown" for check in checks)
    match found.verdict:
        case "missed":
            return say("The data is not good enough: at least one threshold is missed at 95 %.")
        case "met" if not unknown:
            return say("The data is good: every threshold is met at 95 %.")
        case "met":
            return say(
                "As far as it was measured the data is good: {met} thresholds are met at 95 %, {unknown} were not measured.",
                met=len(checks) - unknown,
                unknown=unknown,
            )
    if all(check.verdict == "unknown" for check in checks[:-1]):
        return say("There is not enough evidence: nobody has judged the data yet.")
    return say("There is not enough evidence: at least one threshold cannot be decided with what was measured.")


def reasons(found: Quality) -> Iterator[Sentence]:
    """Check by check what the conclusion rests on."""
    for check in found.checks:
        yield reason(check)
    yield from caveats(found)
    for part, failure in found.failures.items():
        yield say("The part {part} failed and is missing here: {reason}", part=part, reason=failure)


def caveats(found: Quality) -> Iterator[Sentence]:
    """Yield which figures of a judge are uncalibrated, and why."""
    if found.judged is not None and found.held is None:
        yield say("The judge was not checked against people: its figures are uncalibrated.")
    elif found.held is not None and not found.held.calibrated:
        yield say("The judge is uncalibrated: {calibration}.", calibration=found.held.calibration)
    if found.compared is not None:
        yield say("The verdicts on pairs were not checked against people: the win rate is uncalibrated.")


def suggestions(found: Quality, lang: str) -> list[Sentence]:
    """Return what to improve, from the items that did worst."""
    told = [
        *_from_judge(found, lang),
        *_from_answers(found),
        *_from_novelty(found),
        *_from_form(found),
        *_from_topics(found),
    ]
    return told or [say("Nothing stands out. Keep the prompt, and look at some items yourself.")]


def next_steps(found: Quality) -> Iterator[Sentence]:
    people = found.people.labelled if found.people is not None else 0
    needs_labels = any(check.needs == "labels" for check in found.checks)
    if people < (found.items if needs_labels else min(WANTED_LABELS, found.items)):
        yield say(
            "Have people verify items: proctor judge review {path} --draw {wanted} ({labelled} of {items} are done; about {wanted} give corrected figures that are narrow enough to use).",
            path=found.data,
            labelled=people,
            items=found.items,
            wanted=WANTED_LABELS,
        )
    if found.judged is None:
        yield say(
            "Judge the items: proctor data generate {generator} --evaluate {path} --judge openai:MODEL",
            generator=found.wish.generator,
            path=found.data,
        )
    if found.compared is None:
        yield say("Compare the items with real ones: name them with --reference FILE.")
    undecided = [check.name for check in found.checks if check.needs == "items"]
    if undecided:
        yield say(
            "Generate and judge more items: four times as many halve the interval of {checks}.",
            checks=_listed(undecided),
        )
    for run in (part.run for part in (found.judged, found.compared, found.solved) if part is not None):
        yield say("Look at single verdicts: proctor show {run} · proctor runs report {run}", run=run)
    if found.verdict == "met":
        yield say("The data can be used; keep this report beside it.")


def shown(number: Estimate | None) -> str:
    """Return a number with its interval, for a table."""
    from proctor.reports.words import ReportWords

    if number is None or number.value is None:
        return "–"
    if number.method == COUNTED:
        return f"{round(number.value * number.scored):,} / {number.scored:,}"
    words = ReportWords("en")
    interval = words.interval(number)
    return words.value(number) if interval == "–" else f"{words.value(number)} [{interval}]"


def threshold(check: QualityCheck) -> str:
    """Return the threshold in the unit of its number."""
    return f"{check.threshold:g}" if check.threshold > 1 else f"{check.threshold:.0%}"


def reason(check: QualityCheck) -> Sentence:
    """Return the result of one check, and the reason."""
    values = {"name": check.name, "number": shown(check.number), "threshold": threshold(check)}
    match check.verdict:
        case "met" if check.is_counted:
            return say("{name}: {number}, all of them.", **values)
        case "missed" if check.is_counted:
            return say("{name}: {number}, not all of them.", **values)
        case "met":
            return say("{name}: {number}, at least {threshold} at 95 %.", **values)
        case "missed":
            return say("{name}: {number}, below {threshold} at 95 %.", **values)
        case "unknown":
            return say("{name}: not measured (threshold {threshold}).", name=check.name, threshold=threshold(check))
    if check.why is not None:
        return say("{name}: {number} says nothing about {threshold}: {why}.", **values, why=check.why)
    return say("{name}: {number}, which may lie on either side of {threshold}.", **values)


def _from_judge(found: Quality, lang: str) -> Iterator[Sentence]:
    judged = found.judged
    if judged is None:
        return
    means = {
        name: estimate
        for name in judged.dimensions
        if (estimate := judged.estimates.get(name)) and estimate.value is not None
    }
    if means and judged.weakest:
        lowest = min(means, key=lambda name: means[name].value or 0.0)
        yield say(
            "Lowest dimension: {name}, {number}. Say in the prompt what is expected there.",
            name=judged.title(lowest, lang),
            number=shown(means[lowest]),
        )
        yield say(
            "Weakest items: {items}. The table below has their text, and what the judge says of them.",
            items=_named([f"{item.id} ({item.mean:.2f})" for item in judged.weakest]),
        )
    if judged.failed:
        yield say("{count} items have no verdict: judge the run again, or with another judge.", count=judged.failed)


def _from_answers(found: Quality) -> Iterator[Sentence]:
    if found.solved is not None and found.solved.doubts:
        yield say(
            "The solver found other answers than stated: {items}. Check them first.",
            items=_named([f"{doubt.id} ({doubt.stated} / {doubt.found[:30]})" for doubt in found.solved.doubts]),
        )
    if found.doubts:
        yield say(
            "The solution ends in another answer than the one stated: {items}.",
            items=_named([f"{doubt.id} ({doubt.stated} / {doubt.found[:30]})" for doubt in found.doubts]),
        )


def _from_novelty(found: Quality) -> Iterator[Sentence]:
    if found.new is None:
        return
    if found.new.copies:
        yield say(
            "{count} items are copies of the reference set: {items}. Take them out.",
            count=len(found.new.copies),
            items=_named([f"{id} = {like.id}" for id, like in found.new.copies]),
        )
    if found.new.repeated:
        yield say(
            "{count} items repeat an earlier one: {items}. Take them out, or name more topics.",
            count=len(found.new.repeated),
            items=_named([f"{id} = {like.id}" for id, like in found.new.repeated]),
        )


def _from_form(found: Quality) -> Iterator[Sentence]:
    if found.faulty:
        yield say(
            "{count} items do not fit the schema, for example {id}: {reason}",
            count=len(found.faulty),
            id=found.faulty[0].id,
            reason=found.faulty[0].reason,
        )


def _from_topics(found: Quality) -> Iterator[Sentence]:
    told = {topic.casefold() for topic, _ in found.topics}
    absent = [topic for topic in found.kind.topics if topic.casefold() not in told]
    if found.topics and absent and found.items >= 2 * len(found.kind.topics):
        yield say("No item is about: {topics}.", topics=", ".join(absent))


def _listed(names: Sequence[Sentence]) -> Sentence:
    if len(names) == 1:
        return names[0]
    return say("{first}, {rest}", first=names[0], rest=_listed(names[1:]))


def _named(items: Sequence[str]) -> str:
    return ", ".join(items[:NAMED]) + (" …" if len(items) > NAMED else "")
