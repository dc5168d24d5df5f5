"""Show why a number moved: on a terminal, as Markdown, HTML or JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.api.run import Run
from proctor.core.sentence import Sentence, say
from proctor.reports.both import made_text
from proctor.reports.pages import Block, Bullets, Paragraph, ReportPage, SectionBlock, TableBlock, write
from proctor.reports.story import Story, stored_story
from proctor.reports.versus import between, signed
from proctor.reports.words import ReportWords
from proctor.runtime.files import write_whole
from proctor.runtime.visible import one_line
from proctor_ci.delta import OTHERS, Cause, Delta, DeltaPart
from proctor_ci.delta_samples import CHANGED

NAMES: Mapping[Cause, Sentence] = {
    "agent": say("The agent: other outcomes of the same samples"),
    "scorer": say("The scorer or judge: another verdict on the same answers"),
    "unknown": say("The agent or the scorer: not known apart"),
    "infrastructure": say("Infrastructure: samples that failed in one run"),
    "missing": say("Samples that have no score in one run"),
    "samples": say("Samples that only one run has"),
    "shares": say("Shares of the slices"),
}
MOST_SLICES = 20
MOST_CHANGES = 20
SHOWN = 6  # samples with both answers
ANSWER = 160


def page(delta: Delta, lang: str, runs: tuple[Run, Run] | None = None) -> ReportPage:
    """Return the explanation as a page; with the `runs`, it shows some samples with both answers."""
    words = ReportWords(lang)
    t = words.t
    facts = {
        "A": f"{delta.first.id} · {delta.first.agent}",
        "B": f"{delta.second.id} · {delta.second.agent}",
        t("Task"): delta.first.task,
        t("Scorer"): delta.scorer,
    }
    title = t(
        "Why {metric} moved: {before} → {after} ({difference} points)",
        metric=words.metric(delta.metric),
        before=words.percent(delta.before),
        after=words.percent(delta.after),
        difference=signed(delta.value),
    )
    notes = [t(note) for note in delta.notes]
    return ReportPage(title=title, facts=facts, notes=notes, sections=[*sections(delta, words, runs)], numbered=False)


def sections(delta: Delta, words: ReportWords, runs: tuple[Run, Run] | None = None) -> Iterator[SectionBlock]:
    t = words.t
    points = t("Points [95% interval]")
    rows = [
        [_cause(cause, delta, words), _points(cause), words.count(cause.samples) if cause.samples else ""]
        for cause in delta.causes
    ]
    whole = DeltaPart(cause="agent", value=delta.value, low=delta.low, high=delta.high)
    rows.append([t("Together"), _points(whole), words.count(delta.common)])
    about = t(
        "The parts sum to the difference. Both runs scored {count} samples; an interval that holds 0 means that the part may be chance, and it is for each part by itself.",
        count=words.count(delta.common),
    )
    yield SectionBlock(
        t("Where the difference comes from"),
        [TableBlock([t("Part"), points, t("Samples")], rows, right=(1, 2)), Paragraph(about)],
    )
    agent = [part for part in delta.parts if part.cause == "agent"]
    if agent:
        yield SectionBlock(t("The agent, by class of error"), [_classes(agent, points, words)])
    if len(delta.slices) > 1:
        by_size = sorted(delta.slices, key=lambda one: -abs(one.value))[:MOST_SLICES]
        rows = [[one_line(part.name) or "–", _points(part), words.count(part.samples)] for part in by_size]
        columns = [delta.by, points, t("Samples that moved")]
        yield SectionBlock(t("The agent, by {tag}", tag=delta.by), [TableBlock(columns, rows, right=(1, 2))])
    others = [part for part in delta.parts if part.cause not in ("agent", "scorer", "unknown")]
    if others:
        rows = [[_other(part, delta, words), _points(part), words.count(part.samples), _ids(part)] for part in others]
        columns = [t("Part"), points, t("Samples"), t("For example")]
        yield SectionBlock(t("Samples and their shares"), [TableBlock(columns, rows, right=(1, 2))])
    if runs is not None and (shown := [*_examples(delta, runs, words)]):
        columns = [t("Sample"), t("Part"), "A", "B"]
        commands = t(
            "The whole story of a sample: {first} or {second}",
            first=f"proctor runs explain {delta.first.id} {t('SAMPLE')}",
            second=f"proctor runs explain {delta.second.id} {t('SAMPLE')}",
        )
        yield SectionBlock(t("Examples"), [TableBlock(columns, shown), Paragraph(commands)])
    if delta.changes:
        changes = [
            t("{name}: {before}, now {after}", name=change.name, before=one_line(change.before or "–", 120), after=one_line(change.after or "–", 120))
            for change in delta.changes[:MOST_CHANGES]
        ]  # fmt: skip
        blocks: list[Block] = [Bullets(changes)]
        if len(delta.changes) > MOST_CHANGES:
            blocks.append(Paragraph(t("… and {count} more", count=len(delta.changes) - MOST_CHANGES)))
        yield SectionBlock(t("What differs in how the runs were made"), blocks)


def as_data(delta: Delta) -> dict[str, object]:
    """Return the explanation as plain data, for programs."""
    side = {
        name: {"id": record.id, "task": record.task, "agent": record.agent}
        for name, record in (("first", delta.first), ("second", delta.second))
    }
    plain: dict[str, object] = msgspec.to_builtins(delta)
    return {**plain, **side, "notes": [str(note) for note in delta.notes]}


def write_delta(delta: Delta, path: Path, lang: str, runs: tuple[Run, Run]) -> Path:
    """Write the explanation; the suffix says how: .md, .html or .json.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    if path.suffix == ".json":
        return write_whole(path, msgspec.json.format(msgspec.json.encode(as_data(delta)), indent=2).decode() + "\n")
    return write(path, page(delta, lang, runs), lang)


def _cause(one: DeltaPart, delta: Delta, words: ReportWords) -> str:
    name = words.t(NAMES[one.cause])
    if one.cause == "shares" and delta.by:
        return f"{name} ({one_line(delta.by)})"
    if one.cause == "scorer" and delta.versions is not None:
        return f"{name} ({' → '.join(version[:8] for version in delta.versions)})"
    return name


def _points(one: DeltaPart) -> str:
    interval = "" if one.low is None or one.high is None else f" [{between(one.low, one.high)}]"
    return f"{signed(one.value)}{interval}"


def _classes(parts: Sequence[DeltaPart], points: str, words: ReportWords) -> TableBlock:
    t = words.t
    columns = [t("Class of error"), t("It cost A"), t("It cost B"), points, t("Samples that moved"), t("For example")]
    rows = [
        [
            t("all others") if part.name == OTHERS else words.error(part.name),
            words.percent(part.before),
            words.percent(part.after),
            _points(part),
            words.count(part.samples),
            _ids(part),
        ]
        for part in parts
    ]
    return TableBlock(columns, rows, right=(1, 2, 3, 4))


def _other(one: DeltaPart, delta: Delta, words: ReportWords) -> str:
    t = words.t
    if one.cause == "shares":
        return t("share of {slice}", slice=f"{delta.by}={one_line(one.name)}" if delta.by else t("all"))
    letter = "A" if one.side == "first" else "B"
    if not one.name:
        return t("only in {letter}", letter=letter)
    if one.name == CHANGED:
        return t("in {letter}; another question or expected answer than in the other run", letter=letter)
    lacking = "B" if one.side == "first" else "A"
    return t("without a score in {letter}: {why}", letter=lacking, why=words.left_out(one.name))


def _ids(one: DeltaPart) -> str:
    return ", ".join(one_line(example.sample, 40) for example in one.examples)


def _examples(delta: Delta, runs: tuple[Run, Run], words: ReportWords) -> Iterator[list[str]]:
    """Yield rows of samples that moved, of each part the first, then the second, and so on."""
    parts = [part for part in delta.parts if part.cause in ("agent", "scorer", "unknown") and part.value]
    listed = [(part, at) for at in range(max((len(part.examples) for part in parts), default=0)) for part in parts]
    seen: set[str] = set()
    for part, at in listed:
        if len(seen) >= SHOWN or at >= len(part.examples) or part.examples[at].sample in seen:
            continue
        example = part.examples[at]
        seen.add(example.sample)
        name = words.error(part.name) if part.cause == "agent" and part.name != OTHERS else words.t(NAMES[part.cause])
        values = (example.first, example.second)
        answers = [_answer(run, example.sample, value, words) for run, value in zip(runs, values, strict=True)]
        yield [one_line(example.sample), name, *answers]


def _answer(run: Run, sample: str, value: float | None, words: ReportWords) -> str:
    attempts: Iterable[Story | None] = (
        stored_story(run.store, run.id, sample, attempt, characters=ANSWER)
        for attempt in range(run.record.spec.attempts)
    )
    shown = next((story for story in attempts if story is not None), None)
    text = "" if shown is None else made_text(shown) or (words.t(shown.failure.reason) if shown.failure else "")
    return f"{words.percent(value)}: {one_line(text, ANSWER)}" if text else words.percent(value)
