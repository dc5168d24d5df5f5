"""Show one attempt at one sample: how it went, what scorers and judges said, and how the sample went in other runs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from statistics import fmean

import msgspec
from msgspec.structs import replace

from proctor.core.annotation import Annotation
from proctor.core.run import RunState
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Stop, Usage
from proctor.core.trial import FailedRequest, Outcome, Trial, TrialFailure, Verdict
from proctor.engine.judge_figures import about
from proctor.reports.pairs import CallRows
from proctor.reports.step_costs import TrialCosts, step_costs
from proctor.reports.story import StoryFinding, cut, finding, sides
from proctor.stores.blobs import encode
from proctor_web.operations import RunReference
from proctor_web.samples.conversation import PAGE, Conversation, ConversationEntry, Match
from proctor_web.samples.evidence import Note, notes_on
from proctor_web.samples.timing import Timing, timing
from proctor_web.workspace import Found, NotFound, Workspace

OTHER_RUNS = 20
TEXT_CHARACTERS = 6_000  # of the expected and the made answer
DETAIL_CHARACTERS = 3_000  # of the details of a verdict
SHOWN_ELSEWHERE = ("replies", "comparisons", "judges", "sides", "reasons")  # among the details


class SampleAttempt(RunReference, frozen=True, kw_only=True):
    """An attempt at a sample of a run; attempts count from 0."""

    sample: str
    attempt: int = 0


class SampleStep(SampleAttempt, frozen=True, kw_only=True):
    """An attempt at a sample, and the entry of its conversation that is to be shown."""

    step: int = 0


class SampleSearch(SampleAttempt, frozen=True, kw_only=True):
    """A text to be found in an attempt at a sample."""

    text: str


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of a scorer: `judge` is the model it asked, `details` what else it noted, as JSON; `labels` what people say instead."""

    finding: StoryFinding
    judge: str = ""
    usage: Usage | None = None
    seconds: float = 0.0
    details: str = ""
    labels: tuple[Annotation, ...] = ()


class AttemptValue(msgspec.Struct, frozen=True, kw_only=True):
    """How an attempt ended, and its value by the first scorer of the run; None if it has none."""

    attempt: int
    outcome: Outcome
    value: float | None = None


class OfferedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the sample offers to the agent."""

    name: str
    description: str = ""
    parameters: str = ""


class SampleView(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a sample of a run.

    Attributes:
        run: the reference of the run.
        expected, made, pairs: what was expected next to what was made; calls are in `pairs`.
        entries: the part of the conversation around the step that was asked for, out of `count`.
        first: the number of the first of these.
        state: the last state of the environment, as JSON.
        marks: who marked the attempt for review.
        asks_judges: some of its scorers asked a model.
        notes: what scorers found in the shown entries.
        costs: the cost of each step among the entries, and of the whole trial.
    """

    run: str
    run_id: str
    run_state: RunState
    task: str
    agent: str
    sample: str
    attempt: int
    attempts: tuple[AttemptValue, ...]
    outcome: Outcome
    stop: Stop
    failure: TrialFailure | None = None
    started: float = 0.0
    seconds: float = 0.0
    usage: Usage = Usage()
    retries: tuple[FailedRequest, ...] = ()
    tags: Mapping[str, str] = {}
    cluster: str = ""
    judged: tuple[Judged, ...] = ()
    pairs: tuple[CallRows, ...] = ()
    expected: str = ""
    made: str = ""
    entries: tuple[ConversationEntry, ...] = ()
    first: int = 0
    count: int = 0
    steps: int = 0
    turns: int = 0
    tools: tuple[OfferedTool, ...] = ()
    timing: Timing
    state: str = ""
    marks: tuple[Annotation, ...] = ()
    asks_judges: bool = False
    notes: tuple[Note, ...] = ()
    costs: TrialCosts

    @property
    def error(self) -> tuple[str, str]:
        """Return the class and type of the first error that a scorer found."""
        errors = (one.finding for one in self.judged if one.finding.value is not None and not one.finding.passed)
        return next(((finding.error_class, finding.error_type) for finding in errors), ("", ""))


class SampleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All that the store has of an attempt, unchanged."""

    sample: Sample | None
    trial: Trial
    verdicts: tuple[Verdict, ...]
    annotations: tuple[Annotation, ...]


class OtherRun(msgspec.Struct, frozen=True, kw_only=True):
    """The same sample in another run of the task; `value` is the mean of its attempts by a scorer, None without one."""

    run: str
    run_id: str
    agent: str
    created: float
    scorer: str = ""
    value: float | None = None
    attempts: int = 0
    outcome: Outcome = "scored"
    is_same: bool = True


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a judge: role and text of each message."""

    judge: str
    messages: tuple[tuple[str, str], ...]


class JudgeExchange(msgspec.Struct, frozen=True, kw_only=True):
    """What a scorer asked its judges, and what they replied; `why_not` is why the requests are not known."""

    scorer: str
    prompts: tuple[Prompt, ...] = ()
    replies: tuple[str, ...] = ()
    why_not: Sentence | None = None


class Attempt:
    """What a store has of one attempt, read once."""

    def __init__(self, workspace: Workspace, given: SampleAttempt) -> None:
        """Read it.

        Raises:
            NotFound: there is no such run, or no such attempt in it.
        """
        self.found: Found = workspace.find_run(given.run)
        store, run_id = self.found.store, self.found.record.id
        trial: Trial | None = None
        self.outcomes: dict[int, Outcome] = {}  # of all attempts, by number
        for played in store.trials(run_id, sample_id=given.sample):
            self.outcomes[played.attempt] = played.outcome
            if played.attempt == given.attempt:
                trial = played
        if trial is None:
            raise NotFound(
                "The run {run} has no attempt {number} at the sample '{sample}'; perhaps it was not run yet.",
                run=self.found.reference,
                number=given.attempt + 1,
                sample=given.sample[:200],
            )
        self.trial = trial
        self.sample = store.sample(run_id, given.sample)
        self.of_all_attempts = list(store.verdicts(run_id, sample_id=given.sample))
        self.verdicts = [verdict for verdict in self.of_all_attempts if verdict.attempt == given.attempt]
        said = store.annotations(run_id, sample_id=given.sample)
        self.annotations = [annotation for annotation in said if annotation.attempt == given.attempt]

    def conversation(self) -> Conversation:
        return Conversation(self.sample, self.trial.trajectory, [verdict.result.known for verdict in self.verdicts])


def show_sample(workspace: Workspace, given: SampleStep) -> SampleView:
    """Return one attempt at a sample, with the part of its conversation around a step."""
    attempt = Attempt(workspace, given)
    record, trial, sample = attempt.found.record, attempt.trial, attempt.sample
    conversation = attempt.conversation()
    first = min(max(given.step, 0), max(len(conversation) - 1, 0)) // PAGE * PAGE
    matched, expected, answer = sides(sample, trial.trajectory, attempt.verdicts)
    if all(pair.kind == "free" for pair in matched):  # nothing was expected of calls, and the conversation shows them
        matched = ()
    judged = tuple(_judged(attempt, verdict) for verdict in _in_order(attempt))
    entries = conversation.entries(first)
    shown, costs = {entry.step for entry in entries}, step_costs(record, trial)
    notes = notes_on(conversation, trial.trajectory, matched, [each.finding for each in judged])
    return SampleView(
        run=attempt.found.reference,
        run_id=record.id,
        run_state=record.state,
        task=record.task,
        agent=record.agent,
        sample=trial.sample_id,
        attempt=trial.attempt,
        attempts=tuple(_attempts(attempt)),
        outcome=trial.outcome,
        stop=trial.trajectory.stop,
        failure=trial.failure,
        started=trial.started,
        seconds=trial.seconds,
        usage=trial.usage,
        retries=trial.retries,
        tags=sample.tags if sample is not None else {},
        cluster=(sample.cluster or "") if sample is not None else "",
        judged=judged,
        pairs=matched,
        expected=cut(expected, TEXT_CHARACTERS),
        made=cut(answer, TEXT_CHARACTERS),
        entries=entries,
        first=first,
        count=len(conversation),
        steps=len(trial.trajectory.steps),
        turns=conversation.turns,
        tools=tuple(_tools(sample)),
        timing=timing(trial, conversation.number_of_step, attempt.verdicts),
        state=_json(trial.trajectory.state, TEXT_CHARACTERS) if trial.trajectory.state else "",
        marks=tuple(mark for mark in attempt.annotations if mark.kind == "review"),
        asks_judges=any(about(record, verdict.scorer) is not None for verdict in attempt.verdicts),
        notes=tuple(note for note in notes if first <= note.number < first + PAGE),
        costs=replace(costs, steps=tuple(step for step in costs.steps if step.number in shown)),
    )


def sample_record(workspace: Workspace, given: SampleAttempt) -> SampleRecord:
    """Return all that the store has of one attempt at a sample."""
    attempt = Attempt(workspace, given)
    return SampleRecord(
        sample=attempt.sample,
        trial=attempt.trial,
        verdicts=tuple(attempt.verdicts),
        annotations=tuple(attempt.annotations),
    )


def find_in_sample(workspace: Workspace, given: SampleSearch) -> tuple[Match, ...]:
    """Find a text in the conversation of one attempt."""
    return Attempt(workspace, given).conversation().find(given.text) if given.text.strip() else ()


def list_other_runs(workspace: Workspace, given: SampleAttempt) -> tuple[OtherRun, ...]:
    """Return how the same sample went in the newest other runs of the task."""
    here = workspace.find_run(given.run)
    own = here.store.sample(here.record.id, given.sample)
    runs, _ = workspace.runs()
    others = (run for run in runs if run.record.task == here.record.task and run.reference != here.reference)
    rows = (_other_run(run, given.sample, own) for run in islice(others, 5 * OTHER_RUNS))
    return tuple(islice((row for row in rows if row is not None), OTHER_RUNS))


def list_judge_requests(workspace: Workspace, given: SampleAttempt) -> tuple[JudgeExchange, ...]:
    """Return what judges were asked about one attempt, and what they replied."""
    from proctor.api.rehearse import exchanges  # slow to load
    from proctor.api.run import Run

    attempt = Attempt(workspace, given)
    spec = attempt.found.record.spec
    names = dict.fromkeys((*spec.scorers, *(verdict.scorer for verdict in attempt.verdicts)))
    safe = tuple(name for name in names if _is_our_judge(name)) if _is_our_model(spec.judge) else ()
    record = replace(attempt.found.record, spec=replace(spec, scorers=safe))
    return tuple(
        JudgeExchange(
            scorer=exchange.scorer,
            prompts=tuple(
                Prompt(judge=asked.judge, messages=tuple((message.role, message.text) for message in asked.messages))
                for asked in exchange.asked
            ),
            replies=exchange.replies,
            why_not=exchange.why_not if exchange.scorer in safe else _not_from_here(given),
        )
        for exchange in exchanges(Run(record, attempt.found.store), given.sample, given.attempt)
    )


def _not_from_here(given: SampleAttempt) -> Sentence:
    return say(
        "This scorer is code of yours, which the server does not run. In a terminal: {command}",
        command=f"proctor runs explain {given.run.partition('@')[0]} {given.sample} --attempt {given.attempt + 1}",
    )


def _is_our_judge(name: str) -> bool:
    """True for a judge that comes with Proctor and reads no file: to make it runs no code of others."""
    from proctor.registry import JUDGES
    from proctor_judging.judges.rubric import known

    kind, _, argument = name.partition(":")
    return JUDGES.knows(kind) and (kind not in ("rubric", "jury") or argument in known())


def _is_our_model(name: str | None) -> bool:
    """True for models of kinds that Proctor knows, several for a jury; those of a path are code of the user."""
    from proctor.registry import MODELS

    return all(MODELS.knows(model.strip().partition(":")[0]) for model in (name or "").split(",") if model.strip())


def _in_order(one: Attempt) -> Sequence[Verdict]:
    """Return the verdicts in the order of the run's scorers."""
    rank = {name: number for number, name in enumerate(one.found.record.scorers)}
    return sorted(one.verdicts, key=lambda verdict: rank.get(verdict.scorer, len(rank)))


def _attempts(one: Attempt) -> Iterator[AttemptValue]:
    scorers = one.found.record.scorers
    scores = {
        verdict.attempt: verdict.result.value
        for verdict in one.of_all_attempts
        if isinstance(verdict.result, Score) and verdict.scorer == (scorers[0] if scorers else verdict.scorer)
    }
    for number, outcome in sorted(one.outcomes.items()):
        yield AttemptValue(attempt=number, outcome=outcome, value=scores.get(number))


def _judged(one: Attempt, verdict: Verdict) -> Judged:
    asked = about(one.found.record, verdict.scorer)
    details = {key: value for key, value in verdict.result.details.items() if key not in SHOWN_ELSEWHERE}
    return Judged(
        finding=finding(verdict),
        judge=asked.model if asked is not None else "",
        usage=verdict.usage,
        seconds=verdict.seconds,
        details=_json(details, DETAIL_CHARACTERS) if details else "",
        labels=tuple(label for label in one.annotations if label.kind == "label" and label.name == verdict.scorer),
    )


def _tools(sample: Sample | None) -> Iterator[OfferedTool]:
    tools = {tool.name: tool for turn in (sample.turns if sample is not None else ()) for tool in turn.tools}
    for tool in tools.values():
        yield OfferedTool(
            name=tool.name,
            description=cut(tool.description, DETAIL_CHARACTERS),
            parameters=_json(tool.parameters, DETAIL_CHARACTERS) if tool.parameters else "",
        )


def _other_run(run: Found, sample_id: str, own: Sample | None) -> OtherRun | None:
    """Return a row; None where the run has not played the sample."""
    store, record = run.store, run.record
    verdicts = list(store.verdicts(record.id, sample_id=sample_id))
    row = OtherRun(run=run.reference, run_id=record.id, agent=record.agent, created=record.created)
    if not verdicts:
        trial = next(iter(store.trials(record.id, sample_id=sample_id)), None)
        return None if trial is None else replace(row, outcome=trial.outcome, attempts=1)
    scorer = next(
        (name for name in record.scorers if any(verdict.scorer == name for verdict in verdicts)), verdicts[0].scorer
    )
    of_scorer = [verdict for verdict in verdicts if verdict.scorer == scorer]
    values = [one.result.value for one in of_scorer if isinstance(one.result, Score)]
    return replace(
        row,
        scorer=scorer,
        value=fmean(values) if values else None,
        attempts=len(of_scorer),
        is_same=own is None or store.sample(record.id, sample_id) == own,
    )


def _json(value: object, characters: int) -> str:
    return cut(msgspec.json.format(encode(value), indent=2).decode(errors="replace"), characters)
