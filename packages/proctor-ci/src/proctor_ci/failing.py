"""Show a developer what fails, class by class, with the commands that show it and run it again."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from proctor.api.run import Run
from proctor.config import settings, store_url
from proctor.core.errors import BadInput
from proctor.core.tally import Case, tally
from proctor.core.trial import INFRASTRUCTURE
from proctor.reports.both import expected_text, made_text
from proctor.reports.build import HIDDEN, is_private
from proctor.reports.compare import RunComparison
from proctor.reports.pages import Block, Bullets, Code, HeadingBlock, Paragraph, SectionBlock, TableBlock
from proctor.reports.story import stored_story
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line
from proctor.stats.estimate import estimate
from proctor.stores import default_path
from proctor_ci.request import again, words_of
from proctor_ci.second_scores import Answers, read_answers

CLASSES = 8  # that are shown with examples
EXAMPLES = 3
TEXT = 120
BROKEN = 20


def sections(run: Run, words: ReportWords) -> Iterator[SectionBlock]:
    """Yield the sections on a run's failures: classes with examples and commands, what was not measured, and how to run it again."""
    t = words.t
    answers = read_answers(run, run.record.main_scorer) if run.record.scorers else {}
    counts = Counter(error for answer in answers.values() for error in _errors(answer).values())
    if counts:
        rows = [
            [words.error(name), words.count(count), _share(name, answers, words)]
            for name, count in counts.most_common()
        ]
        table = TableBlock([t("Class of error"), t("Trials"), t("Share [95% interval]")], rows, right=(1, 2))
        yield SectionBlock(t("What fails"), [table])
        blocks: list[Block] = []
        for name, _ in counts.most_common(CLASSES):
            keys = [
                (id, attempt)
                for id, answer in answers.items()
                for attempt, error in _errors(answer).items()
                if error == name
            ]
            blocks += [HeadingBlock(words.error(name)), *_of_samples(run, keys[:EXAMPLES], words)]
        yield SectionBlock(t("Look at it, and run it again"), blocks)
    else:
        yield SectionBlock(t("What fails"), [Paragraph(t("No sample failed."))])
    lost = {name: count for name, count in run.outcomes.items() if name in INFRASTRUCTURE or name == "skipped"}
    if lost:
        texts = [f"{words.outcome(name)}: {words.count(count)}" for name, count in lost.items()]
        resume = _command("run", f"--run={run.id}", "--retry-failed", *_store(run))
        yield SectionBlock(t("What was not measured"), [Bullets(texts), Paragraph(t("Run these again:")), Code(resume)])


def broken(comparison: RunComparison, runs: tuple[Run, Run], words: ReportWords) -> Iterator[SectionBlock]:
    """Yield the samples that the second run lost, with the commands that show them and run them again."""
    t = words.t
    lost = list(comparison.losses)[:BROKEN]
    if lost:
        keys = [(id, 0) for id in lost[:EXAMPLES]]
        some = t(
            "{count} samples are worse in B: {ids}",
            count=words.count(comparison.rows[0].difference.losses),
            ids=", ".join(map(one_line, lost)),
        )
        blocks: list[Block] = [Paragraph(some), *_of_samples(runs[1], keys, words, ids=lost)]
        yield SectionBlock(t("What B broke"), blocks)


def _errors(one: Answers) -> Mapping[int, str]:
    """Return the class of each attempt that earned less than all."""
    return {attempt: one.errors.get(attempt, "") for attempt, value in one.values.items() if value < 1}


def _share(name: str, answers: Mapping[str, Answers], words: ReportWords) -> str:
    figure = estimate(
        name,
        tally(
            Case(
                cluster=answer.cluster,
                values=tuple(
                    float(value < 1 and answer.errors.get(attempt, "") == name)
                    for attempt, value in answer.values.items()
                ),
                planned=len(answer.values),
            )
            for answer in answers.values()
            if answer.values
        ),
    )
    return f"{words.value(figure)} [{words.interval(figure)}]"


def _of_samples(
    run: Run, keys: Sequence[tuple[str, int]], words: ReportWords, ids: Sequence[str] = ()
) -> Iterator[Block]:
    """Yield a line for each trial, the commands that show them, and the one that runs these samples again."""
    t = words.t
    lines = []
    for id, attempt in keys:
        story = stored_story(run.store, run.id, id, attempt, characters=TEXT * 2)
        if story is None:
            continue
        values = {
            "sample": one_line(id, 60),
            "question": one_line(story.question, TEXT),
            "expected": one_line(expected_text(story), TEXT) or "–",
            "made": one_line(made_text(story), TEXT) or (words.t(story.failure.reason) if story.failure else "–"),
        }
        lines.append(t("{sample}: {question} → {made} (expected: {expected})", **values))
    yield Bullets(lines)
    shows = [
        _command("runs", "explain", *([f"--attempt={attempt + 1}"] if attempt else []), *_store(run), "--", run.id, id)
        for id, attempt in keys
    ]
    yield Code("\n".join([*shows, *_again(run, ids or [id for id, _ in keys])]))


def _again(run: Run, ids: Sequence[str]) -> list[str]:
    """Return the command that runs samples again under the same conditions; none for a run of Python objects."""
    try:
        asked = again(run.record)
    except BadInput:
        return []
    hidden = {
        name: {key: HIDDEN if is_private(key) else value for key, value in getattr(asked, name).items()}
        for name in ("task_options", "agent_options", "environment_options", "judge_options", "user_options")
    }
    asked = replace(asked, **hidden, ids=tuple(dict.fromkeys(ids)), limit=None, first=None, tags={})
    try:
        return [_command(*words_of(asked, run="", store=""))]
    except BadInput:
        return []


def _command(*words: str) -> str:
    return shlex.join(["proctor", *words])


def _store(run: Run) -> list[str]:
    """Return the flag that names the store, unless it is the usual one."""
    usual = {store_url(None, settings()), str(default_path())}
    return [] if run.store.url in usual else [f"--store={run.store.url}"]
