"""Tasks of Inspect: `inspect:PACKAGE/TASK`, or `inspect:./FILE.py@TASK`."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.api import evaluate
from proctor.api.loop import run_in_loop
from proctor.core.declared import ScorerInfo, declared
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.parts import TaskKindPart
from proctor.core.run import Estimate
from proctor.core.sample import JsonObject, Message, Sample, Turn
from proctor.core.sentence import Sentence, say
from proctor.core.task import Agent, AgentChoice, Host, Judged, Task
from proctor.isolation import TalkingWorker, WorkerProgram
from proctor_adapters.bridge.asked import AskedModels
from proctor_adapters.bridge.data import GuestSource, pulled
from proctor_adapters.bridge.host import GuestHost
from proctor_adapters.bridge.options import GuestHow, GuestOptions, read_options
from proctor_adapters.bridge.parity import FIRST, MESSAGES, CannedModels, compare_inspect, never
from proctor_adapters.bridge.program import program_of
from proctor_adapters.bridge.refusals import of_loading
from proctor_adapters.bridge.scoring import SUFFIX, cost, doubtful, official, planned_of, rows_of, scorers_of
from proctor_adapters.bridge.worker import Guest, GuestRaised, first_line
from proctor_adapters.imports._messages import message

PREFIX = "inspect:"
PROGRAM = (
    Path(__file__).with_name("guests") / "inspect_worker_program.py"
)  # imports Inspect, so it is never imported here
ALONE = PROGRAM.with_name("inspect_alone_program.py")
AT_ONCE = 10_000  # of the worker; the run decides how many it feeds


class GuestSample(msgspec.Struct, frozen=True):
    """A sample as the worker describes it."""

    id: str
    digest: str
    input: str | list[dict[str, object]] = ""
    target: Any = None
    choices: list[object] | None = None
    metadata: dict[str, object] | None = None


class GuestPlan(msgspec.Struct, frozen=True):
    """What a task holds, by the worker that loaded it."""

    samples: list[GuestSample]
    scorers: list[dict[str, object]]
    epochs: int = 1
    sandboxes: dict[str, int] = {}
    images: int = 0  # samples whose sandbox is an image or a compose file
    limits: dict[str, object] = {}
    roles: list[str] = []
    version: object = 0
    package: str = ""
    data: list[GuestSource] = []


class LoadedTask(msgspec.Struct, frozen=True):
    """A task with what its worker needs."""

    name: str
    given: GuestOptions
    program: WorkerProgram
    about: dict[str, object]
    plan: GuestPlan


def task(called: str, **options: object) -> Task:
    """Return the task `PACKAGE/TASK` or `FILE.py@TASK` of Inspect, whose solver, tools and scorers run in a worker process.

    Raises:
        BadInput: it cannot be loaded, or needs what is not here.
    """
    loaded = _load(f"{PREFIX}{called}", options)
    return _task(loaded, partial(_host, loaded))


def check_parity(called: str) -> Iterator[Checked]:
    """Compare a task played by Inspect alone with the same task played by us, both with canned replies.

    Raises:
        BadInput: it cannot be loaded, or needs what is not here.
    """
    loaded = _load(f"{PREFIX}{called}", {})
    names = [declared(ScorerInfo, scorer).name for scorer in scorers_of(loaded.plan.scorers, {})]
    how = GuestHow(scale={name.removesuffix(SUFFIX): "none" for name in names})  # values are compared, not points
    loaded = replace(loaded, given=replace(loaded.given, how=how), about={**loaded.about, "message_limit": MESSAGES})
    models, refuse = CannedModels(), partial(of_loading, loaded.name)
    guest = Guest(loaded.program, loaded.about, None, refuse, how.seconds)
    played = _task(loaded, lambda agent, _: GuestHost(agent, models, guest))
    run = evaluate(played, agent=never, first=FIRST, attempts=loaded.plan.epochs, store=":memory:")
    request = {**loaded.about, "roles": sorted(models.roles), "first": FIRST}
    program = replace(loaded.program, path=ALONE)
    try:
        alone = run_in_loop(lambda _: _once(program, {"alone": request}, how.seconds))["alone"]
    except GuestRaised as error:
        raise refuse(error) from None
    yield from compare_inspect(called, run, models.asked, alone)


def pull(called: str, **options: object) -> Sentence:
    """Load a task with the network and the files of the user, so that its package fetches its data, and return what it read."""
    name = f"{PREFIX}{called}"
    plan = _load(name, options, confined=False).plan
    return pulled(name, len(plan.samples), _digest(plan), plan.data)


def _digest(plan: GuestPlan) -> str:
    return digest([sample.digest for sample in plan.samples])


def _load(name: str, options: Mapping[str, object], *, confined: bool | None = None) -> LoadedTask:
    given = read_options(options, confined=confined)
    called = _absolute(name.removeprefix(PREFIX))
    program = program_of(PROGRAM, "inspect_ai", "inspect-tasks", given.how, name)
    about = {
        "task": called,
        "arguments": given.arguments,
        "roles": [*given.roles],
        "at_once": AT_ONCE,
        "sandbox": given.how.sandbox,
    }
    _check_sandbox(given.how)
    return LoadedTask(name, given, program, about, _plan(program, about, name, given.how.seconds))


def _task(loaded: LoadedTask, host: Host) -> Task:
    plan, given = loaded.plan, loaded.given
    return Task(
        name=loaded.name,
        version=f"{plan.version}",
        samples=[_sample(sample) for sample in plan.samples],
        scorers=scorers_of(plan.scorers, given.how.scales),
        host=host,
        summarise=partial(_summarise, loaded),
        provenance={
            "inspect_ai": plan.package,
            "samples": _digest(plan),
            "data": msgspec.to_builtins(plan.data),
            "limits": plan.limits,
            "roles": {**given.roles},
            "models": {**given.models},
        },
        planned=len(plan.samples),
        notes=_notes(plan, given),
    )


def _absolute(called: str) -> str:
    """Return the name of a task with the whole path of its file; the worker has another folder."""
    path, at, wanted = called.rpartition("@") if "@" in called else (called, "", "")
    if not path.endswith(".py"):
        return called
    file = Path(path).expanduser().absolute()
    if not file.is_file():
        raise BadInput("There is no file {path}.", path=path)
    return f"{file}{at}{wanted}"


def _check_sandbox(how: GuestHow) -> None:
    if how.sandbox not in (None, "local"):
        raise BadInput(
            "--set bridge.sandbox takes 'local' only, not '{name}'; else the task's own is used.", name=how.sandbox
        )
    if how.sandbox == "local" and not how.confined:
        raise BadInput(
            "--set bridge.sandbox=local together with bridge.confined=false would let a model run commands on this machine, with its network and your files. Leave one out."
        )


def _plan(program: WorkerProgram, about: Mapping[str, object], name: str, seconds: float) -> GuestPlan:
    try:
        heard = run_in_loop(lambda _: _once(program, {"plan": about}, seconds))
    except GuestRaised as error:
        raise of_loading(name, error) from None
    plan = msgspec.convert(heard["plan"], GuestPlan)
    if not plan.samples:
        raise BadInput("{task} has no samples.", task=name)
    if not plan.scorers:
        raise BadInput("{task} has no scorer, so there is nothing to measure.", task=name)
    if about["sandbox"] is not None and plan.images:
        raise BadInput(
            "{task} names an image or a compose file in {n} of {m} samples, which the worker is not: --set bridge.sandbox=local would score what happens somewhere else.",
            task=name,
            n=plan.images,
            m=len(plan.samples),
        )
    if "docker" in plan.sandboxes and program.confined and about["sandbox"] is None:
        raise BadInput(
            "{task} needs Docker (sandbox docker in {n} of {m} samples), which a worker without network and files cannot reach. Where a daemon answers: --set bridge.confined=false",
            task=name,
            n=plan.sandboxes["docker"],
            m=len(plan.samples),
        )
    return plan


async def _once(program: WorkerProgram, request: Mapping[str, object], seconds: float) -> Any:
    worker = TalkingWorker(program)
    try:
        return await first_line(worker, request, seconds)
    finally:
        await worker.__aexit__()


def _sample(one: GuestSample) -> Sample:
    asked = [Message.of("user", one.input)] if isinstance(one.input, str) else [message(raw) for raw in one.input]
    target = one.target[0] if isinstance(one.target, list) and len(one.target) == 1 else one.target
    options = {"options": one.choices} if one.choices else {}
    return Sample(
        id=one.id,
        turns=(Turn(messages=tuple(asked), reference=target),),
        target=target,
        meta={"metadata": one.metadata or {}, "digest": one.digest, **options},
    )


def _host(loaded: LoadedTask, agent: Agent, choice: AgentChoice) -> Agent:
    models = AskedModels(agent, choice, loaded.given, loaded.name)
    check = partial(_check, models, loaded)
    seconds = loaded.given.how.seconds
    return GuestHost(
        agent, models, Guest(loaded.program, loaded.about, check, partial(of_loading, loaded.name), seconds)
    )


def _check(models: AskedModels, loaded: LoadedTask, ready: JsonObject) -> None:
    """Refuse what a run would stumble over, before the first call and each time the task is loaded again.

    Raises:
        BadInput: nothing says who answers for a model or a role; the samples are others than those of the plan.
    """
    plan, heard = loaded.plan, ready["rehearsed"]
    for kind in ("role", "model"):
        for asked in heard.get(kind, ()):
            models.model_name(kind, asked)
    digests = ready["digests"]
    differ = sum(digests.get(sample.id) != sample.digest for sample in plan.samples)
    if differ:
        raise BadInput(
            "{task} gives other samples each time it is loaded ({n} of {m} differ), so that a run could not be resumed. An argument of the task may fix that, such as --set shuffle=false.",
            task=loaded.name,
            n=differ,
            m=len(plan.samples),
        )


def _summarise(loaded: LoadedTask, estimates: Sequence[Estimate], judged: Judged) -> Sequence[Estimate]:
    rows = rows_of(judged)
    if not rows:
        return []
    request, seconds = {"totals": {**loaded.about, "rows": rows}}, loaded.given.how.seconds
    try:
        heard = run_in_loop(lambda _: _once(loaded.program, request, seconds))
    except GuestRaised as error:
        return [
            Estimate(
                name="official",
                value=None,
                note=say("Inspect could not compute its metrics: {error}", error=error.sentence),
            )
        ]
    doubts = doubtful(loaded.plan.scorers, loaded.given.how.scales, rows)
    return [*official(heard["totals"], rows, planned_of(estimates, len(rows))), *doubts, *cost(rows)]


def _notes(plan: GuestPlan, given: GuestOptions) -> list[Sentence]:
    notes = []
    if plan.epochs > 1:
        notes.append(say("The task asks for {count} attempts at each sample: --attempts {count}", count=plan.epochs))
    if given.how.sandbox == "local":
        notes.append(say("What the task does in its sandbox runs in the worker process itself."))
    if not given.how.confined:
        notes.append(
            say(
                "The worker of this task has the network and your files, and so what is stored in them, such as a token of the hub; it has none of your environment variables."
            )
        )
    return notes


PART = TaskKindPart(task=task, check=check_parity, pull=pull)
