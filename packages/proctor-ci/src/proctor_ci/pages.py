"""Show the decision of a gate: on a terminal, as Markdown for a pull request, HTML, JSON, or JUnit."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.exports.junit import JUnitSuite, TestCase, TestResult, write_suites
from proctor.reports.pages import Block, Bullets, Paragraph, ReportPage, SectionBlock, TableBlock
from proctor.reports.pages import write as write_page
from proctor.reports.versus import between, signed
from proctor.reports.words import ReportWords
from proctor.runtime.files import write_whole
from proctor_ci.gate import Decision, Gate, Ruling, Wanted

DECISIONS: Mapping[Decision, Sentence] = {
    "go": say("GO"),
    "no_go": say("NO-GO"),
    "inconclusive": say("INCONCLUSIVE"),
}
MEANINGS: Mapping[Decision, Sentence] = {
    "go": say("Every rule is shown to hold."),
    "no_go": say("At least one rule is shown to be broken."),
    "inconclusive": say("No rule is shown to be broken, but not all are shown to hold."),
}
STATUS: Mapping[Decision, Literal["passed", "failure", "skipped"]] = {
    "go": "passed",
    "no_go": "failure",
    "inconclusive": "skipped",
}
MOST_CHANGES = 20


def page(gate: Gate, lang: str) -> ReportPage:
    words = ReportWords(lang)
    t = words.t
    facts = {t("Run"): f"{gate.run.id} · {gate.run.agent}", t("Task"): gate.run.task}
    if gate.against is not None:
        facts[t("Baseline")] = f"{gate.against.id} · {gate.against.agent}"
    facts[t("Policy")] = gate.policy.path or t("the default one")
    return ReportPage(
        title=t("{decision}: {run}", decision=t(DECISIONS[gate.decision]), run=gate.run.id),
        facts=facts,
        notes=[t(note) for note in gate.notes],
        sections=sections(gate, words),
        numbered=False,
    )


def sections(gate: Gate, words: ReportWords) -> list[SectionBlock]:
    """Return the parts of the page: the decision with its rules, what would decide, and what changed."""
    t = words.t
    rows = [
        [t(DECISIONS[ruling.decision]), rule_text(ruling, words), observed(ruling, words), counted(ruling, words)]
        for ruling in gate.rulings
    ]
    columns = [t("Decision"), t("Rule"), t("Observed [bounds]"), t("Based on")]
    table: list[Block] = [
        Paragraph(t(MEANINGS[gate.decision]), strong=True),
        TableBlock(columns, rows, right=(2,)),
        *map(Paragraph, explain_bounds(gate, words)),
    ]
    blocks = [SectionBlock(t(DECISIONS[gate.decision]), table)]
    open_ = [*_open(gate, words)]
    if open_:
        blocks.append(SectionBlock(t("What would decide it"), [Bullets(open_), *map(Paragraph, _further(gate, words))]))
    if gate.changes:
        said = (
            t("These changes were accepted (--accept-changes):")
            if gate.accepted
            else t(
                "The runs did not measure the same, so they are not compared. Run the baseline again, or accept it with --accept-changes:"
            )
        )
        changes = [
            t("{name}: {before}, now {after}", name=change.name, before=change.before or "–", after=change.after or "–")
            for change in gate.changes[:MOST_CHANGES]
        ]
        blocks.append(SectionBlock(t("What changed"), [Paragraph(said), Bullets(changes)]))
    return blocks


def explain_bounds(gate: Gate, words: ReportWords) -> Iterator[str]:
    """Say how often the bounds of a decision err, and how they differ from the intervals of other pages."""
    t = words.t
    errors = sorted({ruling.error for ruling in gate.rulings})
    yield t(
        "Each bound is wrong with a chance of at most {error}; missing trials have moved it as far as they could. GO needs every rule; NO-GO by one is corrected for the number of rules ({count}, Holm).",
        error=", ".join(words.percent(error) for error in errors),
        count=len(gate.rulings),
    )
    if named := dict.fromkeys(ruling.rule.metric for ruling in gate.rulings if ruling.rule.by == "value"):
        names = ", ".join(named)
        yield t("Decided by the observed value alone, so it says nothing about other samples: {names}.", names=names)
    yield from _looks(gate, words)


def rule_text(one: Ruling, words: ReportWords) -> str:
    """Write a rule as a phrase."""
    t = words.t
    rule = one.rule
    metric = _metric(one, words)
    if rule.compares:
        margin = (
            words.percent(rule.bound) if one.unit == "change" else t("{points} points", points=f"{100 * rule.bound:g}")
        )
        if rule.kind == "not_worse_by":
            return t("{metric} not worse by more than {margin}", metric=metric, margin=margin)
        if rule.bound:
            return t("{metric} better by more than {margin}", metric=metric, margin=margin)
        return t("{metric} better", metric=metric)
    bound = _amount(rule.metric, rule.bound, one, words)
    if rule.kind == "at_least":
        return t("{metric} at least {bound}", metric=metric, bound=bound)
    return t("{metric} at most {bound}", metric=metric, bound=bound)


def as_json(gate: Gate) -> str:
    return json_text(as_data(gate))


def json_text(data: object) -> str:
    """Return plain data as JSON that people can read too."""
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_data(gate: Gate) -> dict[str, object]:
    plain = msgspec.to_builtins(gate)
    rulings = [
        {
            **{name: value for name, value in each.items() if name not in ("rule", "why")},
            "rule": {name: value for name, value in each["rule"].items() if value not in (None, "")},
            "why": None if ruling.why is None else str(ruling.why),
        }
        for each, ruling in zip(plain["rulings"], gate.rulings, strict=True)
    ]
    return {
        "decision": gate.decision,
        "run": {"id": gate.run.id, "task": gate.run.task, "agent": gate.run.agent},
        "against": None if gate.against is None else {"id": gate.against.id, "agent": gate.against.agent},
        "policy": {"path": gate.policy.path, "digest": gate.policy.digest, "error": gate.policy.error},
        "rules": rulings,
        "changes": plain["changes"],
        "accepted": gate.accepted,
        "notes": [str(note) for note in gate.notes],
    }


def write(gate: Gate, path: Path, lang: str, shown: ReportPage | None = None) -> Path:
    """Write the decision; the suffix says how: .md, .html, .json or .xml (JUnit). `shown` is another page of it, for a reader.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    return write_decision(path, shown or page(gate, lang), as_json(gate), [suite_of(gate, lang)], lang)


def write_decision(path: Path, page: ReportPage, json_text: str, suites: Iterable[JUnitSuite], lang: str) -> Path:
    """Write a decision in the form that the suffix names."""
    match path.suffix:
        case ".md" | ".html":
            return write_page(path, page, lang)
        case ".json":
            return write_whole(path, json_text)
        case ".xml":
            return write_suites(path, suites)[0]
        case _:
            raise BadInput("A decision is written as .md, .html, .json or .xml, not '{name}'.", name=path.name)


def suite_of(gate: Gate, lang: str) -> JUnitSuite:
    """Return the decision as a suite of JUnit, with a case for each rule."""
    return JUnitSuite(name=f"gate · {gate.run.task} · {gate.run.agent}", cases=_cases(gate, ReportWords(lang)))


def _cases(gate: Gate, words: ReportWords) -> Iterator[TestCase]:
    t = words.t
    for ruling in gate.rulings:
        parts = f"{observed(ruling, words)}; {counted(ruling, words)}"
        status = STATUS[ruling.decision]
        result = TestResult(
            status=status,
            message="" if status == "passed" else f"{t(DECISIONS[ruling.decision])}: {parts}",
            type=ruling.rule.kind,
        )
        yield TestCase(classname=gate.run.task, name=rule_text(ruling, words), seconds=0.0, result=result)


def _metric(one: Ruling, words: ReportWords) -> str:
    t = words.t
    rule = one.rule
    name = {"failed": t("failed share"), "latency": t("latency"), "cost": t("cost of a trial"), "tokens": t("tokens of a trial")}.get(
        rule.metric
    ) or (words.metric(rule.metric) if rule.metric else t("main metric"))  # fmt: skip
    name = f"{name} p{100 * rule.quantile:g}" if rule.quantile is not None else name
    return f"{name} [{one.slice}]" if one.slice else name


def observed(one: Ruling, words: ReportWords) -> str:
    """Write what was observed, with its bounds."""
    t = words.t
    if one.value is None:
        return "–"
    change = ""
    if one.before is not None and one.now is not None:
        pair = [_amount(one.rule.metric, value, one, words) for value in (one.before, one.now)]
        change = f"{pair[0]} → {pair[1]}: "
    value = _number(one.value, one, words)
    if one.rule.quantile is not None and not one.rule.compares:
        value = t("{share} within", share=value)
    if one.low is None and one.high is None:
        return f"{change}{value}"
    if one.unit == "points":
        return f"{change}{value} [{between(one.low, one.high)}]"
    if one.unit == "share" and one.low is not None and one.high is not None:
        return f"{change}{value} [{words.span(max(one.low, 0.0), min(one.high, 1.0))}]"
    low, high = ("–" if end is None else _number(end, one, words) for end in (one.low, one.high))
    return f"{change}{value} [{low} … {high}]"


def _number(value: float, one: Ruling, words: ReportWords) -> str:
    match one.unit:
        case "share":
            return words.percent(min(max(value, 0.0), 1.0))
        case "points":
            return signed(value)
        case "change":
            return f"{signed(value)}%"
        case _:
            return _amount(one.rule.metric, value, one, words)


def _amount(metric: str, value: float, one: Ruling, words: ReportWords) -> str:
    if metric == "latency":
        return words.seconds(value)
    return words.amount(value) if metric in ("cost", "tokens") or one.unit == "number" else words.percent(value)


def counted(one: Ruling, words: ReportWords) -> str:
    """Format the number of samples that decided a rule, and how many are missing."""
    t = words.t
    parts = [t("{count} samples", count=words.count(one.samples))]
    if one.clusters and one.clusters < one.samples:
        parts.append(t("{count} clusters", count=words.count(one.clusters)))
    if one.missing:
        parts.append(t("{count} missing", count=words.count(one.missing)))
    if one.left_out:
        parts.append(t("{count} only in one run", count=words.count(one.left_out)))
    return ", ".join(parts)


def _open(gate: Gate, words: ReportWords) -> Iterator[str]:
    """Say of each open rule why it is open, and what would decide it."""
    t = words.t
    for ruling in gate.rulings:
        if ruling.decision != "inconclusive":
            continue
        rule = rule_text(ruling, words)
        if ruling.why is not None:
            yield t("{rule}: {why}.", rule=rule, why=t(ruling.why))
        elif ruling.wanted is None or ruling.wanted.samples is None:
            yield t(
                "{rule}: what was observed is so near the limit that no reasonable number of samples decides; another limit would.",
                rule=rule,
            )
        else:
            yield _wanted(ruling, rule, words)


def _wanted(one: Ruling, rule: str, words: ReportWords) -> str:
    t = words.t
    wanted = one.wanted
    assert wanted is not None
    spent = [t("{count} trials", count=words.count(wanted.calls))]
    if wanted.money is not None:
        spent.append(t("about {money} in money", money=words.amount(wanted.money)))
    if wanted.tokens is not None:
        spent.append(t("{tokens} tokens", tokens=words.amount(wanted.tokens)))
    if wanted.minutes is not None and wanted.minutes >= 0.05:
        spent.append(words.seconds(60 * wanted.minutes))
    values = {"rule": rule, "more": _more(wanted, words), "spent": ", ".join(spent)}
    if wanted.assumed == "equal":
        text = t(
            "{rule}: if both agents are equally good, {more} would show it in four of five cases ({spent}).", **values
        )
    else:
        text = t(
            "{rule}: if the truth is just as observed, {more} would show it in four of five cases ({spent}).", **values
        )
    if wanted.attempts is not None:
        text += t(" Or {attempts} more attempts at each sample.", attempts=wanted.attempts)
    return text


def _more(wanted: Wanted, words: ReportWords) -> str:
    """Write how many more samples are needed, with the range that these can tell."""
    t = words.t
    low, high = (words.count(end) if end is not None else "" for end in (wanted.low, wanted.high))
    count = words.count(wanted.samples or 0)
    if not high:
        return t("{count} more samples ({low} or many more, as far as these can tell)", count=count, low=low or count)
    if low == high:
        return t("{count} more samples", count=count)
    return t("{count} more samples ({low} to {high}, as far as these can tell)", count=count, low=low, high=high)


def _looks(gate: Gate, words: ReportWords) -> Iterator[str]:
    """Say which look this is, and how its bounds differ from the intervals of other pages."""
    t = words.t
    if gate.second:
        yield t(
            "This is the first of two looks that the policy allows: of the error, {error} is kept for a second gate once the run has drawn more samples.",
            error=", ".join(words.percent(error) for error in sorted({*gate.second})),
        )
    elif 0 < gate.look < gate.policy.looks:
        yield t(
            "This is the second look: the run drew more samples after it had ended. The first had the rest of the error, {error} in all.",
            error=words.percent(gate.policy.error),
        )
    if any(ruling.rule.compares for ruling in gate.rulings):
        yield t(
            "proctor compare shows the same difference with a two-sided 95% interval, which leaves out 2.5% on each side on average. A bound here errs in no case more often than it says, so it may lie further out."
        )


def _further(gate: Gate, words: ReportWords) -> Iterator[str]:
    """Say how to get more samples without erring more often."""
    t = words.t
    wanted = [
        ruling.wanted.samples
        for ruling in gate.rulings
        if ruling.wanted is not None and ruling.wanted.samples is not None
    ]
    if not wanted:
        return
    if not gate.second:
        yield t(
            "More samples of these agents take a new run and a new decision: GO by either is then wrong with a chance of at most {error}.",
            error=words.percent(min(2 * max(ruling.error for ruling in gate.rulings), 1.0)),
        )
        return
    least = len(gate.run.strata.sizes) if gate.run.strata else 1  # of each stratum one
    commands = [f"proctor run --run {gate.run.id} --more {min(max(*wanted, least), gate.left)}"]
    if gate.against is not None and gate.against.spec.selection.limit is not None:
        commands.append(commands[0].replace(gate.run.id, gate.against.id))
    yield t("Draw them, then ask again: {command}", command="; ".join(commands))
    if max(wanted) > gate.left:
        yield t("The task has {count} samples left.", count=words.count(gate.left))
