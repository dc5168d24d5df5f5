"""What commands that judge share: what judges would be asked, runs that are resumed, what is printed of them at the end."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import click
import msgspec

from proctor import api
from proctor.api import resolve
from proctor.api.options import RunOptions, judge_of
from proctor.api.prepare import no_judge, prepare
from proctor.api.rehearse import Judged, requests_of
from proctor.api.resolve import TaskLike
from proctor.api.run import Run
from proctor.cli import output
from proctor.cli.dry_run import print_messages
from proctor.cli.words import lang, t
from proctor.core.around import JudgeRequest
from proctor.core.errors import BadInput
from proctor.core.judge import JudgeChoice
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.engine.scoring import BoundScorer
from proctor.reports import pages

COUNTED = 1_000  # samples whose requests are counted; those of more are estimated from them


class Rehearsal(msgspec.Struct, frozen=True, kw_only=True):
    """The requests that a run would send to its judges.

    Attributes:
        requests: to all judges together, where every reply can be read at once and none is in the cache.
        is_exact: the requests of all samples were counted; else they are estimated.
        first: the first sample that a judge is asked about, '' for none; `asked` is the request about it.
    """

    samples: int
    requests: int
    is_exact: bool
    first: str
    asked: tuple[JudgeRequest, ...]


def rehearse(task: TaskLike, options: RunOptions) -> Rehearsal:
    """Return the requests that the judges of a run would get, for answers that come with the samples.

    Raises:
        BadInput: whatever `run_task` would refuse, or no scorer that asks a judge.
    """
    if not options.run_id:
        options = msgspec.structs.replace(options, store=":memory:")
    job = prepare(task, options).job
    answers = ((sample, Trajectory.of(sample.known.recorded or "")) for sample in job.samples())
    return _rehearsed(job.scorers, answers)


def rehearse_again(
    run: Run, scorers: Sequence[str | Scorer], *, judge: str | None, judge_options: Mapping[str, object] | None
) -> Rehearsal:
    """Return the requests that the judges among the scorers would get for the stored answers of a run.

    Raises:
        BadInput: no such scorer, or none that asks a judge.
    """
    model, options = judge_of(judge, judge_options, run.record)
    bound = resolve.scorers(scorers, JudgeChoice(model=model, options=options))
    return _rehearsed(bound, _answers(run))


def _answers(run: Run) -> Iterator[Judged]:
    for trial in run.store.trials(run.id):
        sample = run.store.sample(run.id, trial.sample_id)
        if trial.outcome == "scored" and sample is not None:
            yield sample, trial.trajectory


def _rehearsed(bound: Sequence[BoundScorer], answers: Iterable[Judged]) -> Rehearsal:
    judges = [scorer for scorer in bound if resolve.judges_of([scorer])]
    if not judges:
        raise no_judge()
    rest = iter(answers)
    counted = list(islice(rest, COUNTED))
    if not counted:
        raise BadInput("There is no answer to judge.")
    lists = requests_of(judges, counted)
    requests, more = sum(map(len, lists)), sum(1 for _ in rest)
    number = next((index for index, asked in enumerate(lists) if asked), None)
    return Rehearsal(
        samples=len(counted) + more,
        requests=requests + round(requests / len(counted) * more),
        is_exact=not more,
        first="" if number is None else counted[number][0].id,
        asked=() if number is None else tuple(lists[number]),
    )


def show_rehearsal(rehearsal: Rehearsal, *, as_json: bool) -> None:
    """Print what judges would be asked."""
    if as_json:
        shown = {"samples": rehearsal.samples, "requests": rehearsal.requests, "exact": rehearsal.is_exact}
        asked = [{"judge": request.judge, "prompt": [*request.messages]} for request in rehearsal.asked]
        output.print_json({**shown, "first": rehearsal.first, "asked": asked})
        return
    values = {"samples": f"{rehearsal.samples:,}", "requests": f"{rehearsal.requests:,}"}
    if rehearsal.is_exact:
        output.line(t("{samples} samples, {requests} requests to judges; more where a reply cannot be read", **values))
    else:
        output.line(
            t("{samples} samples, about {requests} requests to judges; more where a reply cannot be read", **values)
        )
    if not rehearsal.asked:
        output.line(t("No judge has to be asked about any of them."))
        return
    judges = ", ".join(dict.fromkeys(request.judge for request in rehearsal.asked))
    output.line(t("Judges: {names}", names=judges))
    output.line(t("First prompt ({id}), one of {count}:", id=rehearsal.first, count=len(rehearsal.asked)))
    print_messages(rehearsal.asked[0].messages)


def resume(how: RunOptions) -> Run:
    """Resume a stored run of judgements; its judge stays, its budget may change."""
    names = ("judge", "judge_options", "concurrency", "budget", "accept_changes", "progress")
    task, stored = api.resumable(str(how.run_id), how.store)
    return api.run_task(task, stored.changed({name: getattr(how, name) for name in names}))


def print_judged(ctx: click.Context, run: Run, *, as_json: bool, reports: Sequence[str]) -> None:
    """Print the numbers of a judged run, write its reports, and exit with 3 if too little was judged."""
    for path in reports:
        output.message(t("Wrote {path}.", path=run.report(path, lang=lang())))
    if not as_json:
        output.look_closer(run)
    output.print_run(run, as_json=as_json)
    if run.record.state == "inconclusive":
        ctx.exit(3)


def write_page(path: str, title: str, sections: Sequence[pages.SectionBlock]) -> None:
    """Write a page and say so.

    Raises:
        BadInput: the file is neither Markdown nor HTML by its name, or cannot be written.
    """
    page = pages.ReportPage(title=title, sections=sections, numbered=False)
    output.message(t("Wrote {path}.", path=pages.write(Path(path), page, lang())))
