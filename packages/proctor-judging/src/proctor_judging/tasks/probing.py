"""Probe a judge: run the probes as a task, and read what was found."""

from collections.abc import Mapping, Sequence

import msgspec

from proctor.api import run_task
from proctor.api.numbers import judged_samples
from proctor.api.options import RunOptions, judge_of
from proctor.api.prepare import open_existing
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.task import Store
from proctor_judging.tasks.probe_findings import MARGIN, ProbeFinding, findings

AGENT = "baseline:null"  # the answers to judge are in the samples
TASK = "judge-probes"


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """A probed judge: its name, its rubric, the run, and the findings."""

    judge: str
    rubric: str
    run: Run
    findings: Sequence[ProbeFinding]

    @property
    def is_biased(self) -> bool:
        """True if a bias beyond the margin outlasts the correction for the number of probes."""
        return any(finding.verdict == "biased" for finding in self.findings)

    @property
    def is_unclear(self) -> bool:
        """True if the run broke off, or any probe needs more items."""
        return self.run.record.state != "finished" or any(finding.verdict == "unclear" for finding in self.findings)


class ProbeSet(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge is probed with.

    Attributes:
        rubric: by which it judges; a name or a file.
        items: a file with questions and answers; without it those that come with Proctor.
        probes, kinds: only these, such as position and pairs.
        limit: how many items to take from the start.
    """

    rubric: str = ""
    items: str = ""
    probes: Sequence[str] = ()
    kinds: Sequence[str] = ()
    limit: int | None = None

    def options(self) -> dict[str, object]:
        """Return the options of the task."""
        chosen = {"probes": list(self.probes), "kinds": list(self.kinds), "items": self.limit}
        return {name: value for name, value in chosen.items() if value}


def probe(
    judge: str | None = None,
    wanted: ProbeSet = ProbeSet(),  # noqa: B008 - frozen
    *,
    judge_options: Mapping[str, object] | None = None,
    margin: float = MARGIN,
    level: float = 0.95,
    **given: object,
) -> Probed:
    """Probe a judge for biases: changes of an answer that must not change its judgement.

    Args:
        judge: the model that judges, by name; without it that of the settings.
        margin: how large a bias matters: beyond it the judge is biased, within it fine.
        given: keyword arguments of `proctor.evaluate`, such as store, budget, concurrency, run_id and progress.

    Raises:
        BadInput: no judge, an unknown probe, or items that are malformed.
    """
    if not 0 < margin < 1:
        raise BadInput("The margin lies between 0 and 1; it is {margin}.", margin=margin)
    task, options = how_to_probe(judge, wanted, judge_options, **given)
    return read(run_task(task, options), margin=margin, level=level)


def how_to_probe(
    judge: str | None, wanted: ProbeSet, judge_options: Mapping[str, object] | None = None, **given: object
) -> tuple[str, RunOptions]:
    """Return the task and the options with which a judge is probed.

    Raises:
        BadInput: no judge is named, or the limit is below 1.
    """
    if wanted.limit is not None and wanted.limit < 1:
        raise BadInput("{name} must be at least 1, not {value}.", name="limit", value=wanted.limit)
    name, _ = judge_of(judge, judge_options, None)
    if name is None:
        raise BadInput(
            "Name the model to probe: proctor judge probe openai:MODEL, the variable PROCTOR_JUDGE, or judge in proctor.toml."
        )
    return f"{TASK}:{wanted.items}" if wanted.items else TASK, msgspec.structs.replace(
        RunOptions.of(given),
        agent=AGENT,
        options=wanted.options(),
        scorers=[f"probe:{wanted.rubric}" if wanted.rubric else "probe"],
        judge=name,
        judge_options=judge_options or {},
    )


def read(run: Run | str, *, store: str | Store | None = None, margin: float = MARGIN, level: float = 0.95) -> Probed:
    """Return what a stored run of probes found.

    Raises:
        BadInput: the run probes no judge.
    """
    if isinstance(run, str):
        opened = open_existing(store)
        run = Run(opened.run(run), opened)
    about = next(
        (judge for judge in run.record.provenance.get("judges", {}).values() if judge["kind"] == "probe"), None
    )
    if about is None:
        raise BadInput("The run '{run}' probes no judge.", run=run.id)
    options = run.record.spec.task_options
    probe_findings = findings(
        run.store.planned(run.id),
        judged_samples(run.record, run.store),
        probes=options.get("probes", ()),
        kinds=options.get("kinds", ()),
        margin=margin,
        level=level,
    )
    return Probed(judge=about["model"], rubric=about["rubric"], run=run, findings=probe_findings)
