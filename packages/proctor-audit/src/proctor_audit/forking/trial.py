"""Fork a trial: play its recorded steps again up to one of them, and go on from there with another model, prompt or reply."""

from functools import partial

from msgspec.structs import replace

from proctor.agents.openai import ChatAgent
from proctor.api import resolve
from proctor.api.loop import run_in_loop
from proctor.api.options import RunOptions
from proctor.api.prepare import prepare
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.run import RunFork, RunRecord
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trajectory import Step
from proctor.core.trial import Trial
from proctor.engine.evaluate import evaluate
from proctor.engine.job import Job
from proctor.engine.progress import Progress
from proctor.reports.explanation import read_trial
from proctor.stores.blobs import encode
from proctor_audit.forking.agent import ForkedAgent, ForkedPrefix


def fork_trial(parent: Run, fork: RunFork, options: RunOptions) -> Run:
    """Play a trial again from one of its steps on, and return what followed as a run of its own.

    Args:
        options: the agent, its options, the attempts and the name of the new run; what is None is as in the parent.

    Raises:
        BadInput: there is no such trial or step; it cannot be played again faithfully, and why; a tool's result differs now.
    """
    trial = read_trial(parent.record, parent.store, fork.sample, fork.attempt)
    if options.run_id is not None and any(record.id == options.run_id for record in parent.store.runs()):
        raise BadInput("There is a run '{run}' already; a fork is a run of its own.", run=options.run_id)
    _check_parent(parent.record, trial)
    _check_step(trial, fork)
    if parent.record.fork is not None and fork.prompt is None:
        fork = replace(fork, prompt=parent.record.fork.prompt)
    prepared = prepare(parent.record.spec.task, _options_of(parent, fork, options))
    job = prepared.job
    _check_task(job.task)
    is_other = job.record.spec.agent != parent.record.spec.agent
    agent = _forked(job, trial, fork, drops_reasoning=is_other)
    _check_sample(job, parent, fork)
    job = replace(job, agent=agent, record=_record(job.record, agent.name, fork))
    progress = options.progress or Progress()
    record = run_in_loop(partial(evaluate, job, prepared.store, progress))
    return Run(record, prepared.store)


def _options_of(parent: Run, fork: RunFork, options: RunOptions) -> RunOptions:
    """Return the options of the parent for one sample, with those of the fork."""
    usual = RunOptions.of_run(replace(parent.record, fork=None), parent.store)
    agent, before = options.agent or parent.record.spec.agent, parent.record.spec
    is_kind = isinstance(agent, str) and agent.partition(":")[0] == before.agent.partition(":")[0]
    kept = before.agent_options if is_kind else {}  # those of another kind of model are not its own
    return replace(
        usual,
        agent=agent,
        agent_options={**kept, **(options.agent_options or {})},
        run_id=options.run_id,
        attempts=options.attempts or 1,
        ids=(fork.sample,),
        limit=None,
        first=None,
        tags=None,
        until=None,
        shard=None,
        workers=None,
        on=None,
        budget=options.budget,
        progress=options.progress,
    )


def _check_parent(record: RunRecord, trial: Trial) -> None:
    """Refuse trials that cannot be played again from their record."""
    why = None
    if record.is_imported:
        why = say("another program made it, so there is nothing that could go on")
    elif "continue_from" in record.provenance:
        why = say("it was made from Python objects, which only Python can give again")
    elif not isinstance(resolve.agent(record.spec.agent, record.spec.agent_options)[0], ChatAgent):
        why = say(
            "{agent} asks its model itself, so its conversation cannot begin in the middle; forks are for chat models, such as openai:MODEL",
            agent=record.spec.agent,
        )
    elif record.spec.user is not None or any(step.author == "user" for step in trial.trajectory.steps):
        why = say("a simulated user took part, whose words would be others now")
    elif record.spec.perturb is not None or trial.trajectory.faults:
        why = say("faults were put into its calls, and would be put into others now")
    elif trial.trajectory.tools == "text" and trial.trajectory.calls():
        why = say("its model wrote calls as text, of which only the calls are recorded")
    if why is not None:
        raise BadInput("The run {run} cannot be forked: {why}.", run=record.id, why=why)


def _check_step(trial: Trial, fork: RunFork) -> None:
    """Refuse steps that there are not, and results of tools where nothing replaces them."""
    steps = trial.trajectory.steps
    own = [number for number, step in enumerate(steps, 1) if step.message.role == "assistant"]
    if steps and steps[-1].message.role == "tool":
        own.append(len(steps) + 1)  # what the agent would have said next
    shown = ", ".join(map(str, own)) or "-"
    if not 1 <= fork.step <= len(steps) + 1 or (fork.step == len(steps) + 1 and fork.step not in own):
        raise BadInput(
            "The trial of '{sample}' has {count} steps, so there is none to fork at {step}. Steps of the agent: {own}",
            sample=fork.sample,
            count=len(steps),
            step=fork.step,
            own=shown,
        )
    if fork.step not in own and fork.reply is None:
        raise BadInput(
            "Step {step} is the result of a tool. Give another one with --reply, or choose a step of the agent: {own}",
            step=fork.step,
            own=shown,
        )


def _check_task(task: Task) -> None:
    if task.user is not None or task.host is not None:
        raise BadInput("The task {task} plays its own conversation with the agent, so it cannot be forked.", task=task.name)  # fmt: skip


def _check_sample(job: Job, parent: Run, fork: RunFork) -> None:
    """Refuse a sample that is no longer the one that was played."""
    played = parent.store.sample(parent.id, fork.sample)
    now = next((sample for sample in job.samples() if sample.id == fork.sample), None)
    if now is None or encode(now) != encode(played):  # the store knows no tuples
        raise BadInput("The sample '{sample}' has changed since the run {run}, so its steps belong to another question.", sample=fork.sample, run=parent.id)  # fmt: skip


def _forked(job: Job, trial: Trial, fork: RunFork, *, drops_reasoning: bool) -> ForkedAgent:
    if not isinstance(job.agent, ChatAgent):
        raise BadInput(
            "{agent} cannot go on from the middle of a conversation; a fork needs a chat model, such as openai:MODEL.",
            agent=job.agent.name,
        )
    steps: tuple[Step, ...] = trial.trajectory.steps[: fork.step - 1]
    is_result = fork.step <= len(trial.trajectory.steps) and trial.trajectory.steps[fork.step - 1].message.role == "tool"  # fmt: skip
    changes = {"changes_result": is_result, "drops_reasoning": drops_reasoning}
    prefix = ForkedPrefix(steps=steps, prompt=fork.prompt, reply=fork.reply, **changes)
    return ForkedAgent(job.agent, prefix, name=f"{job.agent.name} (fork of {fork.run} at {fork.step})")


def _record(record: RunRecord, agent: str, fork: RunFork) -> RunRecord:
    warning = say(
        "A fork of {run}: the sample {sample} from step {step} on. Its numbers are of that sample alone, and are in no number of {run}.",
        run=fork.run,
        sample=fork.sample,
        step=fork.step,
    )
    return replace(record, agent=agent, fork=fork, warnings=(*record.warnings, warning))
