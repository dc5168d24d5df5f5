"""Pages for three readers: a developer, a product manager, and a user of the agent.

The numbers are those of every other page, in words that fit the reader. A light claims what is shown: green that a share is at
least what the policy asks for, or `GOOD`; red that it is below `POOR`; both by the bounds of a gate, corrected for the number
of slices. Amber is what lies between, or cannot be said yet.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.main_number import AMOUNTS, scorer_meant
from proctor.core.parts import Tell
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.reports.compare import RunComparison
from proctor.reports.drawn import looked_at, part
from proctor.reports.pages import Block, Bullets, Paragraph, ReportPage, SectionBlock, TableBlock, Tone
from proctor.reports.verdicts import MetricRow, Outcome
from proctor.reports.versus import headline, signed, span
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line
from proctor_ci import delta_pages, failing, trend_pages
from proctor_ci import pages as gate_pages
from proctor_ci.delta import explain_delta
from proctor_ci.evidence import RuleEvidence, gather
from proctor_ci.gate import Decision, Gate, gate
from proctor_ci.policy import FILE, GatePolicy, PolicyRule, read_policy
from proctor_ci.trends import trends

Reader = Literal["developer", "product", "user"]
GOOD, POOR = 0.9, 0.7
ERROR = 0.05
MOST_SLICES = 12
LAST, EARLIER = 30, 5  # runs of a trend: drawn, and listed
SHOWN = 3
DECIDED: Mapping[Decision, tuple[Tone, Sentence]] = {
    "go": ("good", say("Ready: every condition for release is shown to be met.")),
    "no_go": ("bad", say("Not ready: a condition for release is shown to be missed.")),
    "inconclusive": ("open", say("Not decided: the evidence is too thin to say yes or no.")),
}
COMPARED: Mapping[Outcome, tuple[Tone, Sentence]] = {
    "better": ("good", say("The new version is shown to be better.")),
    "worse": ("bad", say("The new version is shown to be worse.")),
    "inconclusive": ("open", say("Neither version is shown to be better. That is no proof that they are alike.")),
}
RELIABLE: Mapping[Tone, tuple[Sentence, Sentence]] = {  # of the whole, and of kinds of requests
    "good": (say("You can rely on it for requests like these."), say("You can rely on it for:")),
    "open": (say("It may be wrong: check what matters."), say("Check what matters, or it is not known well enough:")),
    "bad": (say("Do not rely on it for requests like these."), say("Do not rely on it for:")),
    "": (say("Not known yet: too little was measured."), say("Not known yet:")),
}
AMOUNT_NAMES: Mapping[str, Sentence] = {"latency": say("time"), "cost": say("money"), "tokens": say("tokens")}


def run_page(run: Run, reader: Reader, lang: str, gate: Gate | None = None) -> ReportPage:
    """Return a run for a reader, with the decision of a gate where there is one."""
    words = ReportWords(lang)
    match reader:
        case "developer":
            blocks = [_number(run, words, _estimate), *failing.sections(run, words)]
        case "product":
            blocks = [*_decision(gate, words), *_for_product(run, None, words)]
        case "user":
            blocks = [*_card(run, words, gate)]
    title = words.t("{task}: {agent}", task=run.record.task, agent=run.record.agent)
    return _page(title, [run], blocks, words, [words.t("Run")])


def page_of_run(run: Run, reader: Reader, lang: str, tell: Tell) -> ReportPage:
    """Return the page of a run for a kind of reader, decided by this folder's policy if there is one; `tell` receives the policy's path."""
    return run_page(run, reader, lang, _decide(run, tell) if Path(FILE).is_file() else None)


def _decide(run: Run, tell: Tell) -> Gate | None:
    policy = read_policy(FILE)
    tell(say("Policy: {path}", path=FILE))
    try:
        return gate(run, policy=policy)
    except BadInput as error:
        tell(say("Nothing is decided: {problem}", problem=error.sentence))
        return None


def comparison_page(comparison: RunComparison, runs: tuple[Run, Run], reader: Reader, lang: str) -> ReportPage:
    words = ReportWords(lang)
    verdict = _verdict(comparison, words, is_short=reader != "user")
    match reader:
        case "developer":
            causes = delta_pages.sections(explain_delta(*runs, rescore=False), words, runs)
            blocks = [verdict, *failing.broken(comparison, runs, words), *causes]
        case "product":
            blocks = [verdict, _moved(comparison, words), *_spent(runs[1], runs[0], words), *_earlier(runs[1], words)]
        case "user":
            blocks = [verdict, *_card(runs[1], words, None)]
    first, second = (run.record for run in runs)
    names = (first.id, second.id) if first.agent == second.agent else (first.agent, second.agent)
    title = words.t("{task}: {second} after {first}", task=first.task, first=names[0], second=names[1])
    return _page(title, runs, blocks, words)


def gate_page(gate: Gate, run: Run, against: Run | None, reader: Reader, lang: str) -> ReportPage:
    words = ReportWords(lang)
    match reader:
        case "developer":
            blocks = [*gate_pages.sections(gate, words), *failing.sections(run, words)]
        case "product":
            blocks = [*_decision(gate, words), *_for_product(run, against, words)]
        case "user":
            blocks = [SectionBlock(words.t("May it be used?"), [_light(gate, words)]), *_card(run, words, gate)]
    title = words.t("{decision}: {run}", decision=words.t(gate_pages.DECISIONS[gate.decision]), run=run.id)
    return _page(
        title, [run, *([] if against is None else [against])], blocks, words, [words.t("Run"), words.t("Baseline")]
    )


def _page(
    title: str,
    runs: Sequence[Run],
    found: Sequence[SectionBlock],
    words: ReportWords,
    names: Sequence[str] = ("A", "B"),
) -> ReportPage:
    t = words.t
    facts = {name: f"{run.id} · {words.when(run.record.created)}" for name, run in zip(names, runs, strict=False)}
    notes = [
        t("The run {run} is {state}.", run=run.id, state=t(say(run.record.state)))
        for run in runs
        if run.record.state != "finished"
    ]
    notes += [
        t(note) for run in runs for note in looked_at(run.record, run.record.planned - sum(run.outcomes.values()))
    ]
    return ReportPage(title=title, facts=facts, notes=notes, sections=found, numbered=False)


def _number(run: Run, words: ReportWords, write: Callable[[Estimate, ReportWords], str]) -> SectionBlock:
    """Return the main number, in the words of a reader."""
    main = run.headline
    text = words.t("Nothing was scored.") if main is None or main.value is None else write(main, words)
    return SectionBlock(words.t("In short"), [Paragraph(text, strong=True)])


def _estimate(one: Estimate, words: ReportWords) -> str:
    scored = words.t("{scored} of {planned} scored", scored=words.count(one.scored), planned=words.count(one.planned))
    return f"{words.sentence(one, words.metric(one.name))} ({scored})"


def _of_100(one: Estimate, words: ReportWords) -> str:
    """Say a share in natural frequencies."""
    if one.unit != "share" or one.value is None:
        return words.sentence(one, words.metric(one.name))
    values = {name: _hundredth(value) for name, value in (("value", one.value), ("low", one.low), ("high", one.high))}
    if one.name.endswith("accuracy"):
        return words.t(
            "About {value} of 100 requests are handled right; the true number is probably between {low} and {high}.",
            **values,
        )
    return words.t(
        "It earns about {value} of 100 possible points; the true number is probably between {low} and {high}.", **values
    )


def _hundredth(value: float | None) -> str:
    return "?" if value is None else f"{100 * value:.0f}".replace("-", "−")


# For those who decide


def _light(gate: Gate, words: ReportWords) -> Paragraph:
    tone, text = DECIDED[gate.decision]
    return Paragraph(words.t(text), strong=True, tone=tone)


def _decision(gate: Gate | None, words: ReportWords) -> Iterator[SectionBlock]:
    """Yield the decision of the gate with its rules, and what would decide it."""
    t = words.t
    if gate is None:
        text = t("No policy says what is good enough, so nothing is decided: proctor init gate writes one.")
        yield SectionBlock(t("Decision"), [Paragraph(text, tone="open")])
        return
    rules, *rest = gate_pages.sections(gate, words)
    yield SectionBlock(t("Decision"), [_light(gate, words), *rules.blocks[1:]])
    yield from rest


def _for_product(run: Run, against: Run | None, words: ReportWords) -> Iterator[SectionBlock]:
    yield _number(run, words, _of_100)
    if risks := [*_risks(run, words)]:
        yield SectionBlock(words.t("Risks"), [Bullets(risks)])
    yield from _spent(run, against, words)
    yield from _earlier(run, words)


def _risks(run: Run, words: ReportWords) -> Iterator[str]:
    """Say what may go wrong: where it is weak, how often it fails, what was not measured."""
    t = words.t
    weak = [slice_ for slice_ in _slices(run, None) if slice_.value is not None and slice_.tone != "good"]
    for one in sorted(weak, key=lambda one: one.value or 0.0)[:SHOWN]:
        yield t("{slice}: {right}, from {count} samples", slice=one.name, right=one.text(words), count=one.samples)
    failed = _evidence(run, PolicyRule(metric="failed", at_most=0.0))
    if failed is not None and (bounds := failed.bounds(ERROR / 2)) is not None:
        low, high = words.percent(max(bounds.low, 0.0)), words.percent(min(bounds.high, 1.0))
        share = words.percent(failed.value)
        yield t(
            "{share} of trials failed without an answer (probably {low} to {high})", share=share, low=low, high=high
        )
    main = run.headline
    if main is not None and main.scored < main.planned:
        yield t(
            "{count} trials have no result; with them the number lies between {floor} and {ceiling}",
            count=words.count(main.planned - main.scored),
            floor=words.percent(main.floor),
            ceiling=words.percent(main.ceiling),
        )
    yield from (t(note) for note in part(run.record, {str(name): count for name, count in run.outcomes.items()}))


def _evidence(run: Run, rule: PolicyRule, against: Run | None = None) -> RuleEvidence | None:
    try:
        return next(gather(rule, run, against, GatePolicy(rules=(rule,))))
    except BadInput:  # the run has no such number
        return None


def _spent(run: Run, against: Run | None, words: ReportWords) -> Iterator[SectionBlock]:
    """Yield what a trial takes, with bounds; of two runs how much more or less."""
    t = words.t
    rows = []
    for metric in AMOUNTS:
        evidence = _evidence(run, PolicyRule(metric=metric, at_most=0.0))
        if evidence is None or not evidence.value:
            continue
        show = words.seconds if metric == "latency" else words.amount
        row = [t(AMOUNT_NAMES[metric]), _with_bounds(evidence, show), show(1000 * evidence.value)]
        if against is not None:
            row.append(_with_bounds(_evidence(run, PolicyRule(metric=metric, not_worse_by=0.1), against), _change))
        rows.append(row)
    if rows:
        columns = [t("What"), t("A request takes [95% bounds]"), t("1,000 requests, one by one")]
        columns += [t("Change [95% bounds]")] if against is not None else []
        yield SectionBlock(t("Money and time"), [TableBlock(columns, rows, right=range(1, len(columns)))])


def _change(share: float) -> str:
    return f"{100 * share:+.0f}%".replace("-", "−")


def _with_bounds(found: RuleEvidence | None, show: Callable[[float], str]) -> str:
    if found is None or found.value is None:
        return "–"
    bounds = found.sampled(ERROR / 2)
    return show(found.value) if bounds is None else f"{show(found.value)} [{show(bounds.low)}, {show(bounds.high)}]"


def _earlier(run: Run, words: ReportWords) -> Iterator[SectionBlock]:
    """Yield the trend of the agent on the task, where it has run before."""
    try:
        trend = trends(run.record.task, agent=run.record.agent, store=run.store, last=LAST)
    except BadInput:  # this run itself has not ended
        return
    if len(trend.points) > 1:
        yield from trend_pages.sections(trend, words, rows=EARLIER)


def _verdict(comparison: RunComparison, words: ReportWords, *, is_short: bool) -> SectionBlock:
    main = comparison.rows[0]
    tone, text = COMPARED[main.outcome]
    numbers_ = headline(comparison, words) + f" [{span(main)}]" if is_short else _change_of_100(main, words)
    return SectionBlock(words.t("In short"), [Paragraph(words.t(text), strong=True, tone=tone), Paragraph(numbers_)])


def _change_of_100(main: MetricRow, words: ReportWords) -> str:
    return words.t(
        "Of 100 requests the old version handled about {before} right, the new one about {after}; the change is probably between {low} and {high}.",
        before=_hundredth(main.first),
        after=_hundredth(main.second),
        low=_hundredth(main.difference.low),
        high=_hundredth(main.difference.high),
    )


def _moved(comparison: RunComparison, words: ReportWords) -> SectionBlock:
    """List the slices that lost most, and how many samples moved."""
    t = words.t
    main = comparison.rows[0].difference
    rows = sorted((row for row in comparison.rows if row.slice), key=lambda row: row.difference.value)
    texts = [
        t(
            "{slice}: {difference} points ({interval}), {verdict}",
            slice=one_line(row.slice),
            difference=signed(row.difference.value),
            interval=span(row),
            verdict=t(row.verdict),
        )
        for row in rows[:SHOWN]
        if row.difference.value < 0
    ]
    moved = {"count": words.count(main.pairs), "lost": words.count(main.losses), "won": words.count(main.wins)}
    texts.append(t("Of {count} samples {lost} are worse than before, and {won} are better.", **moved))
    return SectionBlock(t("Risks"), [Bullets(texts)])


# For those who use it


class _Slice(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of request with its light."""

    name: str
    tone: Tone
    value: float | None
    low: float | None
    high: float | None
    samples: int

    def text(self, words: ReportWords) -> str:
        values = {"value": self.value, "low": self.low, "high": self.high}
        said = {name: _hundredth(value) for name, value in values.items()}
        return words.t("{value} of 100 (probably {low} to {high})", **said)


def _slices(run: Run, gate: Gate | None) -> list[_Slice]:
    """Return the values of the tag by which the task is drawn, or of the first that has a few."""
    by = run.record.strata.by if run.record.strata is not None else ""
    if not by:
        counts = Counter(
            name.partition("=")[0] for name in {estimate.slice for estimate in run.estimates if estimate.slice}
        )
        by = next((key for key in sorted(counts) if 2 <= counts[key] <= MOST_SLICES), "")
    rule = PolicyRule(metric=run.record.main_scorer, at_least=0.0, each=by)
    try:
        gathered = [*gather(rule, run, None, GatePolicy(rules=(rule,)))] if by else []
    except BadInput:  # a scorer without a mean
        return []
    return [_lit(evidence, len(gathered), _good(run, gate)) for evidence in gathered]


def _good(run: Run, gate: Gate | None) -> float:
    """Return the share from which on it is good: what the policy asks for of the main number, else `GOOD`."""
    main = run.record.main_scorer
    rules = gate.policy.rules if gate is not None else ()
    asked = [
        rule.bound
        for rule in rules
        if rule.kind == "at_least" and scorer_meant(rule.metric, run.record) == main and not rule.slice
    ]
    return min(asked, default=GOOD)


def _lit(one: RuleEvidence, count: int, good: float) -> _Slice:
    bounds = None if one.why_not is not None else one.bounds(ERROR / 2 / count)
    tone: Tone = "" if bounds is None else "open"
    if bounds is not None and bounds.low >= good:
        tone = "good"
    elif bounds is not None and bounds.high < min(POOR, good):
        tone = "bad"
    return _Slice(
        name=one_line(one.slice.partition("=")[2]) or "–",
        tone=tone,
        value=one.value,
        low=None if bounds is None else max(bounds.low, 0.0),
        high=None if bounds is None else min(bounds.high, 1.0),
        samples=one.samples,
    )


def _card(run: Run, words: ReportWords, gate: Gate | None) -> Iterator[SectionBlock]:
    """Yield a card: a light for the whole, what it can and cannot do, and how that is known."""
    t = words.t
    good, main = _good(run, gate), run.headline
    evidence = _evidence(run, PolicyRule(metric=run.record.main_scorer, at_least=0.0))
    whole = None if evidence is None else _lit(evidence, 1, good)
    tone: Tone = "" if whole is None else whole.tone
    blocks: list[Block] = [Paragraph(t(RELIABLE[tone][0]), strong=True, tone=tone or "open")]
    if main is not None and whole is not None:  # with the bounds that missing trials have moved
        blocks.append(Paragraph(_of_100(replace(main, low=whole.low, high=whole.high), words)))
    yield SectionBlock(t("How far to rely on it"), blocks)
    slices = sorted(_slices(run, gate), key=lambda one: -(one.value or 0.0))[:MOST_SLICES]
    kinds: list[Block] = []
    for tone, (_, text) in RELIABLE.items():
        if of_tone := [slice_ for slice_ in slices if slice_.tone == tone]:
            values = [
                {
                    "slice": slice_.name,
                    "right": slice_.text(words),
                    "count": words.count(slice_.samples),
                }
                for slice_ in of_tone
            ]
            kinds += [
                Paragraph(t(text), strong=True),
                Bullets([t("{slice}: {right}, tried on {count}", **each) for each in values]),
            ]
    if kinds:
        yield SectionBlock(t("What it can and cannot do"), kinds)
    yield SectionBlock(t("How this is known"), [Bullets([*_how_known(evidence, good, words)])])


def _how_known(evidence: RuleEvidence | None, good: float, words: ReportWords) -> Iterator[str]:
    """Yield what was tried, what gave no result, and what a reader may conclude from that."""
    t, count = words.t, words.count
    if evidence is not None:
        yield t("It was tried on {count} requests, and each answer was checked.", count=count(evidence.samples))
        if evidence.missing:
            yield t(
                "{count} tries gave no result, for reasons that are not its own; the ranges allow for them.",
                count=count(evidence.missing),
            )
    yield t(
        "You can rely on it where it is shown to be right at least {good} times in 100, not where it is less than {poor}.",
        good=_hundredth(good),
        poor=_hundredth(min(POOR, good)),
    )
    yield t("“Probably”: in 19 of 20 such tests. Requests of another kind may go otherwise.")
