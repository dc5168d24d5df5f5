"""Show how a race ended: on a terminal, as Markdown, HTML, JSON, or JUnit."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from proctor.core.run import Looked
from proctor.exports.junit import JUnitSuite, TestCase, TestResult
from proctor.reports.pages import Block, Bullets, Paragraph, ReportPage, SectionBlock, TableBlock
from proctor.reports.versus import between, signed
from proctor.reports.words import ReportWords
from proctor_ci.gate import Decision
from proctor_ci.pages import DECISIONS, STATUS, json_text, write_decision
from proctor_ci.race import Duel, Race


def page(race: Race, lang: str) -> ReportPage:
    words = ReportWords(lang)
    t = words.t
    first = race.runs[0].record
    return ReportPage(
        title=t("Race: {task}", task=first.task),
        facts={t("Task"): first.task, t("Question"): _question(race, words)},
        sections=sections(race, words),
        numbered=False,
    )


def sections(race: Race, words: ReportWords) -> list[SectionBlock]:
    """Return the parts of the page: the decision, the agents, and each pair of them."""
    t = words.t
    rows = [
        [
            run.record.agent,
            _value(race, number, words),
            words.count(sum(run.outcomes.values())),
            run.id,
            _place(race, number, words),
        ]
        for number, run in enumerate(race.runs)
    ]
    agents = TableBlock([t("Agent"), t("Value [95% interval]"), t("Trials"), t("Run"), t("Result")], rows, right=(1, 2))
    duels = [
        [_versus(race, duel), _difference(duel.looked), _steps(duel.looked, words), _verdict(race, duel, words)]
        for duel in race.duels
    ]
    pairs = TableBlock(
        [t("Pair"), t("Difference in points [bounds]"), t("Looked at"), t("Decision")], duels, right=(1, 2)
    )
    blocks: list[Block] = [Paragraph(conclusion(race, words), strong=True), agents]
    return [
        SectionBlock(_heading(race, words), blocks),
        SectionBlock(t("What it rests on"), [pairs, Bullets([*_remarks(race, words)])]),
    ]


def conclusion(race: Race, words: ReportWords) -> str:
    t = words.t
    names = [run.record.agent for run in race.runs]
    match race.decision:
        case None:
            return t("The race ended before it was decided.")
        case "futile":
            return t("It cannot be decided with these samples.")
    if len(race.runs) == 2 and race.rule.bound:
        values = {"second": names[1], "first": names[0], "points": f"{100 * race.rule.bound:g}"}
        if race.rule.kind == "not_worse_by":
            if race.decision == "go":
                return t("{second} is not worse than {first} by more than {points} points.", **values)
            return t("{second} is worse than {first} by more than {points} points.", **values)
        if race.decision == "go":
            return t("{second} is better than {first} by more than {points} points.", **values)
        return t("{second} is not better than {first} by more than {points} points.", **values)
    assert race.winner is not None
    others = ", ".join(name for number, name in enumerate(names) if number != race.winner)
    return t("{winner} is better than {others}.", winner=names[race.winner], others=others)


def as_json(race: Race) -> str:
    shown = {
        "decision": decision_of(race),
        "winner": None if race.winner is None else race.runs[race.winner].id,
        "rule": str(race.rule),
        "error": race.error,
        "saved": race.saved,
        "runs": [
            {
                "id": run.id,
                "agent": run.record.agent,
                "state": run.record.state,
                "trials": sum(run.outcomes.values()),
                "estimate": run.headline,
            }
            for run in race.runs
        ],
        "pairs": [
            {"first": race.runs[duel.first].id, "second": race.runs[duel.second].id, **msgspec.to_builtins(duel.looked)}
            for duel in race.duels
        ],
    }
    return json_text(msgspec.to_builtins(shown))


def write(race: Race, path: Path, lang: str) -> Path:
    """Write the race; the suffix says how: .md, .html, .json or .xml (JUnit).

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    words = ReportWords(lang)
    status = STATUS[decision_of(race)]
    message = "" if status == "passed" else conclusion(race, words)
    case = TestCase(
        classname=race.runs[0].record.task,
        name=str(race.rule),
        seconds=sum(run.record.seconds for run in race.runs),
        result=TestResult(status=status, message=message, type="race"),
    )
    suite = JUnitSuite(name=f"race · {race.runs[0].record.task}", cases=[case])
    return write_decision(path, page(race, lang), as_json(race), [suite], lang)


def decision_of(race: Race) -> Decision:
    """Return the decision as that of a gate: where it was asked which agent is better, GO if one is."""
    if race.decision in (None, "futile"):
        return "inconclusive"
    return "go" if race.winner is not None or race.decision == "go" else "no_go"


def _heading(race: Race, words: ReportWords) -> str:
    decision = decision_of(race)
    if decision == "inconclusive" or (len(race.runs) == 2 and race.rule.bound):
        return words.t(DECISIONS[decision])
    return words.t("Decided")


def _question(race: Race, words: ReportWords) -> str:
    t = words.t
    if len(race.runs) > 2:
        return t("which of {count} agents is better than all others", count=len(race.runs))
    if not race.rule.bound:
        return t("which of two agents is better")
    points = f"{100 * race.rule.bound:g}"
    if race.rule.kind == "not_worse_by":
        return t("is the second agent not worse than the first by more than {points} points", points=points)
    return t("is the second agent better than the first by more than {points} points", points=points)


def _place(race: Race, number: int, words: ReportWords) -> str:
    if race.winner == number:
        return words.t("better")
    looked = race.runs[number].record.looked
    is_out = looked is not None and looked.decision == "no_go" and not race.rule.bound
    if not is_out and race.winner is None:
        return ""
    return words.t("worse") if len(race.runs) == 2 else words.t("not the best")


def _value(race: Race, number: int, words: ReportWords) -> str:
    headline = race.runs[number].headline
    return (
        "–" if headline is None or headline.value is None else f"{words.value(headline)} [{words.interval(headline)}]"
    )


def _versus(race: Race, one: Duel) -> str:
    return " → ".join(race.runs[number].record.agent for number in (one.first, one.second))


def _difference(looked: Looked) -> str:
    if looked.low is None or looked.high is None:
        return "–"
    value = "–" if looked.value is None else signed(looked.value)
    return f"{value} [{between(looked.low, looked.high)}]"


def _steps(looked: Looked, words: ReportWords) -> str:
    return words.t("{steps} of {most}", steps=words.count(looked.steps), most=words.count(looked.most))


def _verdict(race: Race, one: Duel, words: ReportWords) -> str:
    t = words.t
    match one.looked.decision:
        case "go" if len(race.runs) > 2:
            return t("the first is out")
        case "no_go" if len(race.runs) > 2:
            return t("the second is out")
        case "go":
            return t("GO") if race.rule.bound else t("the second is better")
        case "no_go":
            return t("NO-GO") if race.rule.bound else t("the first is better")
        case "futile":
            return t("not decided")
        case None:
            return t("left open")


def _remarks(race: Race, words: ReportWords) -> Iterator[str]:
    t = words.t
    planned = sum(run.record.planned for run in race.runs)
    yield t(
        "{saved} of {planned} trials were not needed ({share}).",
        saved=words.count(race.saved),
        planned=words.count(planned),
        share=words.percent(race.saved / planned),
    )
    yield t(
        "Method: {method}, on the same samples in the same random order.",
        method=t(race.duels[0].looked.method),
    )
    if race.rule.bound:
        yield t("GO is wrong with a chance of at most {error}, and so is NO-GO.", error=words.percent(race.error))
    elif len(race.runs) == 2:
        yield t("The chance that this verdict is wrong is at most {error}.", error=words.percent(race.error))
    else:
        yield t(
            "The chance that an agent is named better than all others and is not is at most {error}, that one which is out is the best {half}. Those that are out are not ranked.",
            error=words.percent(race.error),
            half=words.percent(race.error / 2),
        )
    yield t("All intervals hold for any number of looks.")
