"""What runs say of the cases of a set: the last results turn by turn, their history, and an actual result made the expected one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import RunState
from proctor.core.sentence import say
from proctor_adapters.evalsets import cases, schema
from proctor_adapters.evalsets.outcomes import CaseOutcome, Status, TurnOutcome, outcome_of
from proctor_adapters.evalsets.read import set_id
from proctor_ci.request import RunRequest
from proctor_web import evalset_files as files
from proctor_web.authoring.editing import CaseGiven
from proctor_web.authoring.forms import with_calls
from proctor_web.evalset_files import History, OpenedEvalset, Saved, SetReference, folder_of
from proctor_web.runs.actions import Started, run_or_start, start_run
from proctor_web.runs.launcher import Launcher
from proctor_web.workspace import Found, NotFound, Workspace

MOST_RUNS = 30
MOST_SELECTED = 500
What = Literal["response", "calls", "both"]
WHAT: Mapping[str, What] = {"response": "response", "calls": "calls", "both": "both"}


class RunOfSet(msgspec.Struct, frozen=True, kw_only=True):
    """A run of the cases of a set; `is_current` if the file has not changed since, `spec` how the agent was named."""

    run: str
    agent: str
    state: RunState
    created: float
    is_current: bool
    selected: tuple[str, ...] = ()
    spec: str = ""


class CaseInRun(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a case in one run; None where it was not run."""

    run: RunOfSet
    status: Status | None = None
    scores: Mapping[str, float | None] = {}


class CaseResult(CaseGiven, frozen=True, kw_only=True):
    """A run whose result for a case is asked for."""

    run: str


class Accept(CaseResult, frozen=True, kw_only=True):
    """What of an actual result becomes the expectation; every turn if `turn` is None. `digest` is that of the case or the file."""

    digest: str
    what: What = "both"
    attempt: Annotated[int, msgspec.Meta(ge=0)] = 0
    turn: Annotated[int, msgspec.Meta(ge=0)] | None = None


class Selected(SetReference, frozen=True, kw_only=True):
    """Cases to run with an agent; all if none is named.

    Attributes:
        judge: the model for metrics that ask one, such as `openai:MODEL`.
        user: the model of the simulated user, for scenarios.
        store: the store to write, where several are open.
    """

    agent: str
    cases: tuple[str, ...] = ()
    judge: str = ""
    user: str = ""
    attempts: Annotated[int, msgspec.Meta(ge=1, le=100)] | None = None
    store: str = ""


def list_runs_of_set(workspace: Workspace, given: SetReference) -> list[RunOfSet]:
    """List the last runs of an eval-set file, the newest first."""
    return [run for _, run in runs_of(workspace, files.open_set(folder_of(workspace), given.file))]


def case_history(workspace: Workspace, given: CaseGiven) -> list[CaseInRun]:
    """List what became of a case in the last runs of its set, the newest first."""
    opened = files.open_set(folder_of(workspace), given.file)
    files.find_case(opened, given.case)
    return list(history_of(runs_of(workspace, opened), opened, given.case))


def history_of(runs: Sequence[tuple[Found, RunOfSet]], opened: OpenedEvalset, case_id: str) -> Iterator[CaseInRun]:
    """Yield what became of a case in each of some runs."""
    for workspace_run, run in runs:
        outcome = outcome_of(workspace_run.record, workspace_run.store, sample_id(workspace_run, opened, case_id))
        if outcome is None:
            yield CaseInRun(run=run)
        else:
            scores = {metric.name: metric.score for metric in outcome.metrics}
            yield CaseInRun(run=run, status=outcome.status, scores=scores)


def case_result(workspace: Workspace, given: CaseResult) -> CaseOutcome:
    """Show the result of a case in a run, turn by turn."""
    opened = files.open_set(folder_of(workspace), given.file)
    run = workspace.find_run(given.run)
    outcome = None
    if _is_of(run, opened):
        outcome = outcome_of(run.record, run.store, sample_id(run, opened, given.case))
    if outcome is None:
        raise NotFound("The run '{run}' has no result for '{case}'.", run=given.run, case=given.case)
    return outcome


def accept_result(workspace: Workspace, given: Accept, by: str = "") -> Saved:
    """Make what the agent did the expectation of a case: its response, its calls, or both."""
    outcome = case_result(workspace, given)

    def edit(eval_set: schema.EvalSet) -> schema.EvalSet:
        case = cases.find(eval_set, given.case)
        return cases.put(eval_set, given.case, accepted(case, outcome, given.what, given.attempt, given.turn))

    return files.change(
        folder_of(workspace),
        given.file,
        files.EvalsetChange(edit, say("{case}: result accepted", case=given.case), needed=[given.case]),
        expected_digest=given.digest,
        history=workspace.kept(History),
        by=by,
    )


def accepted(
    case: schema.EvalCase, outcome: CaseOutcome, what: What, attempt: int, turn: int | None = None
) -> schema.EvalCase:
    """Return a case that expects what the agent did, in one turn or in all.

    Raises:
        BadInput: the attempt has no such turn, or broke off in it; the case has another number of turns by now.
    """
    turns = [
        actual
        for actual in outcome.turns
        if actual.attempt == attempt and turn in (None, actual.place) and not actual.failure
    ]
    if not turns:
        raise BadInput("There is no such turn that ended well, so there is nothing to accept.")
    conversation = list(case.conversation or ())
    for actual in turns:
        if actual.place >= len(conversation):
            raise BadInput("The case has no turn {turn} any more.", turn=actual.place + 1)
        conversation[actual.place] = _accepted(conversation[actual.place], actual, what)
    return replace(case, conversation=conversation)


def run_cases(workspace: Workspace, given: Selected, by: str = "", lang: str = "en") -> Started:
    """Run cases of a set with an agent, as a process of its own."""
    opened = files.open_set(folder_of(workspace), given.file)
    request = RunRequest(
        task=task_of(opened, given.cases),
        agent=given.agent.strip(),
        judge=given.judge.strip(),
        task_options={"user": given.user.strip()} if given.user.strip() else {},
        attempts=given.attempts,
        store=given.store,
    )
    if not request.agent:
        raise BadInput("Choose an agent to run the cases with.")
    return start_run(workspace, request, by=by, lang=lang)


def is_starting(workspace: Workspace, reference: str) -> bool:
    """True if the process of a run was started here and lives, even if it has not written anything yet."""
    try:
        store, run = run_or_start(workspace, reference)
    except BadInput:
        return False
    return workspace.kept(Launcher).is_alive(store, run)


def runs_of(workspace: Workspace, opened: OpenedEvalset) -> list[tuple[Found, RunOfSet]]:
    """Return the last runs of a file, or of a folder that it is in."""
    pairs = []
    for workspace_run in workspace.runs()[0]:
        if not _is_of(workspace_run, opened):
            continue
        run = RunOfSet(
            run=workspace_run.reference,
            agent=workspace_run.record.agent,
            state=workspace_run.record.state,
            created=workspace_run.record.created,
            is_current=_digest(workspace_run, opened) == opened.digest,
            selected=_path(workspace_run.record.spec.task)[1],
            spec=workspace_run.record.spec.agent,
        )
        pairs.append((workspace_run, run))
        if len(pairs) == MOST_RUNS:
            break
    return pairs


def _is_of(found: Found, opened: OpenedEvalset) -> bool:
    """True of a run of a file, or of a folder that it is in."""
    path = _path_of(found, opened)
    if path is None:  # made in Python
        return _digest(found, opened) is not None and found.record.task == opened.eval_set.eval_set_id
    return path == opened.path or path in opened.path.parents


def _path_of(found: Found, opened: OpenedEvalset) -> Path | None:
    """Return the file or folder that a run was made of: as it was typed, from here or from the folder that the run was started in."""
    path, _ = _path(found.record.spec.task)
    if path is None or path.exists() or _digest(found, opened) is None:
        return path
    typed = path.relative_to(Path.cwd()).parts if path.is_relative_to(Path.cwd()) else ()
    above = (opened.path, *opened.path.parents)
    return next((candidate for candidate in above if typed and candidate.parts[-len(typed) :] == typed), path)


def _digest(found: Found, opened: OpenedEvalset) -> object:
    """Return the digest that the file had when it was run, None if the run does not know it."""
    digests: Any = found.record.provenance.get("files", {})
    return digests.get(opened.path.name) if isinstance(digests, Mapping) else None


def sample_id(found: Found, opened: OpenedEvalset, case_id: str) -> str:
    """Return the sample that a case is in a run of its file, or of a folder that it is in."""
    path = _path_of(found, opened)
    if path is None or path == opened.path:
        return case_id
    inside = opened.path.relative_to(path)
    return f"{(inside.parent / set_id(inside)).as_posix()}/{case_id}"


def task_of(opened: OpenedEvalset, selected: Sequence[str]) -> str:
    """Return the task that runs some cases of a file, all if none is named.

    Raises:
        BadInput: an id that a command cannot name, or too many.
    """
    if not selected:
        return str(opened.path)
    if len(selected) > MOST_SELECTED:
        raise BadInput("At most {most} cases can be selected; run them all instead.", most=MOST_SELECTED)
    for case_id in selected:
        files.find_case(opened, case_id)
        if "," in case_id or case_id != case_id.strip():
            raise BadInput(
                "The case '{case}' cannot be run alone, as its id has a comma or a space at an end. Run all cases, or give it another id.",
                case=case_id,
            )
    return f"{opened.path}:{','.join(selected)}"


def _path(task: str) -> tuple[Path | None, tuple[str, ...]]:
    """Return the file or folder of a task, and the cases that were selected; None for what is no path."""
    path, colon, ids = task.partition(".json:")
    if colon:
        path = f"{path}.json"
    if not path or "\0" in path or not (path.endswith(".json") or "/" in path or "\\" in path):
        return None, ()
    try:
        return Path(path).expanduser().resolve(), tuple(id for id in ids.split(",") if id)
    except (OSError, RuntimeError):
        return None, ()


def _accepted(turn: schema.Invocation, actual: TurnOutcome, what: What) -> schema.Invocation:
    changed = turn
    if what in ("response", "both"):
        old = turn.final_response
        others = [part for part in (old.parts if old is not None else None) or () if part.text is None or part.thought]
        parts = [*others, schema.Part(text=actual.response)]
        content = replace(old, parts=parts) if old is not None else schema.Content(role="model", parts=parts)
        changed = replace(changed, final_response=content if actual.response else None)
    if what in ("calls", "both"):
        calls = [_call(call, turn.intermediate_data, position) for position, call in enumerate(actual.calls)]
        data = with_calls(turn.intermediate_data, calls)
        changed = replace(changed, intermediate_data=data if data is not None else schema.IntermediateData())
    return changed


def _call(actual: Mapping[str, Any], data: schema.IntermediateData | None, place: int) -> schema.FunctionCall:
    """Return an actual call as an expected one; one that is expected already stays as it is."""
    before = data.calls() if data is not None else []
    same = [call for call in before if call.name == actual["name"] and call.args == actual["args"]]
    if place < len(before) and before[place] in same:
        return before[place]
    return same[0] if same else schema.FunctionCall(name=actual["name"], args=actual["args"])
