"""The pages: what was generated, and the comprehensive report of all evidence in seven sections."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from proctor.core.judge import JudgeInfo
from proctor.core.sentence import Sentence, say
from proctor.engine.judge_figures import CORRECTED, marked
from proctor.reports import pages
from proctor.reports.pages import Block, Bullets, HeadingBlock, Paragraph, Phrase, ReportPage, SectionBlock, TableBlock
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line
from proctor_judging.generation import advice
from proctor_judging.generation.advice import shown
from proctor_judging.generation.evidence_gathering import topics as topics_of
from proctor_judging.generation.files import write
from proctor_judging.generation.generation_plan import Generated
from proctor_judging.generation.generator import Generator, as_text, generator
from proctor_judging.generation.quality import Quality
from proctor_judging.review.dimensions import TITLES

FIRST = 10
CELL = 160
GENERATORS = {  # those that come with Proctor, whose titles are in the catalogues
    "aime": say("Problems in the style of the AIME"),
    "code": say("Programming tasks"),
    "dialogue": say("Dialogues with customer support"),
    "document": say("Technical documents"),
    "scenario": say("Scenarios for a simulated user"),
}
MARK = {"met": say("met"), "missed": say("missed"), "open": say("not enough evidence"), "unknown": say("not measured")}
WORDS = ReportWords("en")


def write_report(
    folder: str | Path, found: Quality, lang: str, *, suffixes: Sequence[str] = (".md", ".html")
) -> list[Path]:
    """Write `comprehensive_report` with each suffix into a folder; an older one there is replaced.

    Raises:
        BadInput: it cannot be written.
    """
    page = report(found, lang)
    texts = {".md": pages.markdown, ".html": pages.html}
    return [
        write(Path(folder) / f"comprehensive_report{suffix}", texts[suffix](page, lang), replace=True)
        for suffix in suffixes
    ]


def report(found: Quality, lang: str) -> ReportPage:
    """Return all evidence of the quality of data, in seven sections."""
    return ReportPage(
        title=say("{title}: quality report", title=_title(found.kind)),
        notes=[advice.conclusion(found), *advice.caveats(found)],
        sections=[
            SectionBlock(say("Basic information"), list(_basics(found))),
            SectionBlock(say("Topic distribution and novelty"), list(_topics(found))),
            SectionBlock(say("Dimensions, by judge and people"), list(_dimensions(found, lang))),
            SectionBlock(say("Win rate"), list(_win_rate(found))),
            SectionBlock(say("Conclusion"), list(_conclusion(found))),
            SectionBlock(say("Suggestions for improvement"), list(_suggestions(found, lang))),
            SectionBlock(say("Next steps"), [Bullets(list(advice.next_steps(found)), numbered=True)]),
        ],
    )


def write_generation_report(path: Path, found: Generated, lang: str) -> Path:
    """Write the report of a generation: topics, answers, the first items, and the slots that stayed empty."""
    kind = generator(found.plan.generator)
    sections = [SectionBlock(say("Topic distribution"), [_topic_table(topics_of(found.items, kind), len(found.items))])]
    answers = [item[kind.answer] for item in found.items if kind.answer and isinstance(item.get(kind.answer), int)]
    if answers:
        told = say(
            "Mean {mean}, lowest {low}, highest {high}.",
            mean=f"{sum(answers) / len(answers):.1f}",
            low=min(answers),
            high=max(answers),
        )
        sections.append(SectionBlock(say("Answers"), [Paragraph(told)]))
    columns: list[Phrase] = ["id", *kind.main, *([kind.answer] if kind.answer else [])]
    first = [[one_line(as_text(item.get(str(name), "")), CELL) for name in columns] for item in found.items[:FIRST]]
    sections.append(SectionBlock(say("The first items"), [TableBlock(columns, first)]))
    if found.missing:
        counts = Counter(gap.kind for gap in found.missing)
        rows: list[list[Phrase]] = [
            [kind_, f"{count:,}", next(gap.reason for gap in found.missing if gap.kind == kind_)]
            for kind_, count in counts.most_common()
        ]
        sections.append(
            SectionBlock(
                say("Places that stayed empty"),
                [TableBlock([say("Kind"), say("Count"), say("Example")], rows, right=(1,))],
            )
        )
    page = ReportPage(
        title=say("{title}: what was generated", title=_title(kind)),
        facts={
            say("Generated at").text: _moment(found.run.record.created),
            say("Items").text: say("{made} of {planned}", made=len(found.items), planned=found.plan.count),
            say("Agent").text: found.run.record.agent,
            say("Run").text: found.run.id,
            say("Time").text: WORDS.seconds(found.run.record.seconds),
        },
        sections=sections,
    )
    return write(path, pages.markdown(page, lang))


def _basics(found: Quality) -> Iterator[Block]:
    rows: list[list[Phrase]] = [
        [say("Date"), _moment(found.created)],
        [say("Data"), found.data],
        [say("Items"), f"{found.items:,}"],
        [say("Generator"), found.wish.generator],
        [say("Reference set"), found.reference or "–"],
    ]
    if found.judged is not None:
        rows.append(
            [
                say("Judge"),
                say(
                    "{judge}, rubric {rubric}, run {run}",
                    judge=found.judged.judge,
                    rubric=found.judged.rubric,
                    run=found.judged.run,
                ),
            ]
        )
    if found.compared is not None:
        rows.append(
            [say("Judge of pairs"), say("{judge}, run {run}", judge=found.compared.judge, run=found.compared.run)]
        )
    if found.solved is not None:
        rows.append(
            [
                say("Solver"),
                say(
                    "{solver}, {votes} tries each, run {run}",
                    solver=found.solved.solver,
                    votes=found.solved.votes,
                    run=found.solved.run,
                ),
            ]
        )
    if found.people is not None:
        rows.append([say("Labels"), f"{found.people.path} ({found.people.labelled:,})"])
    yield TableBlock([say("What"), say("Value")], rows)
    if found.failures:
        yield HeadingBlock(say("Parts that failed"))
        yield TableBlock([say("Part"), say("Reason")], [[part, reason] for part, reason in found.failures.items()])
    if found.faulty:
        yield HeadingBlock(say("Items that do not fit the schema"))
        yield TableBlock(["id", say("Reason")], [[item.id, item.reason] for item in found.faulty[:FIRST]])


def _topics(found: Quality) -> Iterator[Block]:
    if found.topics:
        yield _topic_table(found.topics, found.items)
    if found.new is None:
        return
    yield HeadingBlock(say("Novelty"))
    rows: list[list[Phrase]] = [
        [say("Items that are new"), WORDS.value(found.new.share)],
        [say("Repeats within the data"), f"{len(found.new.repeated):,}"],
    ]
    if found.new.compared:
        copies = say("Copies of the reference set ({count} items)", count=found.new.compared)
        rows.insert(1, [copies, f"{len(found.new.copies):,}"])
    if found.new.typical is not None:
        rows.append([say("Wording shared with the nearest reference item (median)"), WORDS.percent(found.new.typical)])
    yield TableBlock([say("What"), say("Value")], rows, right=(1,))
    yield Paragraph(say("These are counts of all items of this data, not of a sample, so they have no interval."))


def _dimensions(found: Quality, lang: str) -> Iterator[Block]:
    if found.judged is None:
        yield Paragraph(_why_not(found, "judge", say("No judge was asked.")))
    else:
        yield from _judged(found, lang)
    if found.solved is not None or found.doubts or "solver" in found.failures:
        yield from _answers(found)
    if found.people is not None:
        yield from _people(found, lang)


def _judged(found: Quality, lang: str) -> Iterator[Block]:
    judged, held = found.judged, found.held
    assert judged is not None
    corrected = (
        {estimate.name.removesuffix(CORRECTED): estimate for estimate in held.corrected} if held is not None else {}
    )
    names = [
        name
        for name in ("average", "pass_rate", "excellent_rate", *judged.dimensions, "unknown_rate")
        if name in judged.estimates
    ]
    columns: list[Phrase] = [say("Figure"), say("The judge says"), say("95% interval"), say("Judged / items")]
    rows: list[list[Phrase]] = []
    for name in names:
        estimate = judged.estimates[name]
        title = judged.title(name, lang) if name in judged.dimensions else _metric(name)
        rows.append(
            [title, WORDS.value(estimate), WORDS.interval(estimate), f"{estimate.scored:,} / {estimate.planned:,}"]
        )
        if corrected:
            rows[-1].append(shown(corrected.get(name)))
    yield TableBlock([*columns, *([say("Corrected by people")] if corrected else [])], rows, right=(1, 2, 3, 4))
    low, high = judged.scale
    yield Paragraph(say("The scale goes from {low} to {high}.", low=f"{low:g}", high=f"{high:g}"))
    note = next((estimate.note for estimate in judged.estimates.values() if estimate.note), "")
    if held is not None:
        note = marked(JudgeInfo(model=judged.judge, calibration=held.calibration, calibrated=held.calibrated))
    if note:
        yield Paragraph(note)


def _people(found: Quality, lang: str) -> Iterator[Block]:
    people = found.people
    assert people is not None
    yield HeadingBlock(say("People"))
    rows: list[list[Phrase]] = [[say("approved"), shown(people.approved), f"{people.labelled:,} / {found.items:,}"]]
    titles = found.judged.titles.get(lang, {}) if found.judged is not None else {}
    rows += [
        [titles.get(name) or _metric(name), shown(estimate), f"{estimate.scored:,} / {found.items:,}"]
        for name, estimate in people.estimates.items()
    ]
    yield TableBlock([say("Figure"), say("People say"), say("Labelled / items")], rows, right=(1, 2))
    if people.others:
        yield Paragraph(
            say("{count} labels are of items that the data does not have; they are left out.", count=people.others)
        )
    agreement = people.agreement
    if agreement is None:
        return
    for title, lines in (
        (say("Agreement between people"), agreement.between_people),
        (say("Agreement of the judge with people"), found.held.rows if found.held is not None else ()),
    ):
        if lines:
            yield HeadingBlock(title)
            yield TableBlock(
                [say("Dimension"), say("Items"), say("The same"), "alpha", say("Verdict")],
                [
                    [
                        titles.get(line.name) or _metric(line.name),
                        f"{line.alpha.scored:,}",
                        shown(line.equal),
                        shown(line.alpha),
                        line.verdict,
                    ]
                    for line in lines
                ],
                right=(1, 2, 3),
            )


def _answers(found: Quality) -> Iterator[Block]:
    yield HeadingBlock(say("Answers solved again"))
    if found.solved is None:
        yield Paragraph(_why_not(found, "solver", say("No solver was asked.")))
    else:
        solved = found.solved
        rows: list[list[Phrase]] = [
            [
                say("stated answer found by the solver"),
                shown(solved.confirmed),
                f"{solved.confirmed.scored:,} / {solved.confirmed.planned:,}",
            ],
            [say("without an answer of the majority"), f"{len(solved.unsolved):,}", ""],
        ]
        yield TableBlock([say("Figure"), say("Value"), say("Solved / items")], rows, right=(1, 2))
    doubts = [*(found.solved.doubts if found.solved is not None else ()), *found.doubts]
    if doubts:
        yield TableBlock(
            ["id", say("Stated"), say("Found")],
            [[doubt.id, one_line(doubt.stated, 60), one_line(doubt.found, 60)] for doubt in doubts[:FIRST]],
        )


def _win_rate(found: Quality) -> Iterator[Block]:
    if found.compared is None:
        usual = say("No reference set was named.") if found.reference is None else say("No judge was asked.")
        yield Paragraph(_why_not(found, "win_rate", usual))
        return
    names = (
        "win_rate",
        "loss_rate",
        "tie_rate",
        "decisive_win_rate",
        "consistency",
        "first_place_rate",
        "unknown_rate",
    )
    rows: list[list[Phrase]] = [
        [_metric(name), WORDS.value(estimate), WORDS.interval(estimate), f"{estimate.scored:,} / {estimate.planned:,}"]
        for name in names
        if (estimate := found.compared.estimates.get(name)) is not None
    ]
    yield TableBlock([say("Figure"), say("Value"), say("95% interval"), say("Compared / items")], rows, right=(1, 2, 3))
    yield Paragraph(
        say(
            "Each pair is judged in both orders; only who wins both times has won. About 50% wins among decided pairs means as good as the reference set."
        )
    )
    yield Paragraph(say("judged by {judge}, uncalibrated", judge=found.compared.judge))
    if found.compared.notes:
        yield Bullets(found.compared.notes)


def checks_table(found: Quality) -> TableBlock:
    """Return every threshold with its number and the verdict."""
    rows: list[list[Phrase]] = [
        [check.name, shown(check.number), advice.threshold(check), MARK[check.verdict]] for check in found.checks
    ]
    return TableBlock([say("Figure"), say("Value"), say("Threshold"), say("Verdict")], rows, right=(1, 2))


def _conclusion(found: Quality) -> Iterator[Block]:
    yield Paragraph(advice.conclusion(found), strong=True)
    yield checks_table(found)
    yield Bullets(list(advice.reasons(found)))


def _suggestions(found: Quality, lang: str) -> Iterator[Block]:
    yield Bullets(advice.suggestions(found, lang))
    if found.judged is not None and found.judged.weakest:
        yield HeadingBlock(say("Weakest items"))
        yield TableBlock(
            ["id", say("Text"), say("Mean"), say("Points"), say("What the judge says")],
            [
                [
                    item.id,
                    item.text,
                    f"{item.mean:.2f}",
                    ", ".join(
                        f"{found.judged.title(name, lang)} {'?' if points is None else f'{points:g}'}"
                        for name, points in item.points.items()
                    ),
                    one_line(item.comment, 300),
                ]
                for item in found.judged.weakest
            ],
            right=(2,),
        )


def _why_not(found: Quality, part: str, usual: Sentence) -> Sentence:
    failure = found.failures.get(part)
    return usual if failure is None else say("It failed: {reason}", reason=failure)


def _topic_table(topics: Sequence[tuple[str, int]], total: int) -> TableBlock:
    rows: list[list[Phrase]] = [
        [one_line(topic, 80) or "–", f"{count:,}", f"{count / total:.1%}"] for topic, count in topics
    ]
    return TableBlock([say("Topic"), say("Count"), say("Share")], rows, right=(1, 2))


def _title(kind: Generator) -> Phrase:
    known = GENERATORS.get(kind.name)
    return known if known is not None and known.text == kind.title else kind.title or kind.name


def _metric(name: str) -> Phrase:
    return TITLES.get(name) or WORDS.metric(name).replace("_", " ")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")
