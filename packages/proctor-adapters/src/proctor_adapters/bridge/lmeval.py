"""Generation tasks of lm-eval: `lmeval:TASK`, or `lmeval:./FILE.yaml`.

lm-eval has one prompt with fixed settings for each document, so a sample is that prompt, the trial is ours, and a worker only builds
the prompts and scores the replies.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from proctor import registry
from proctor.api.loop import run_in_loop
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.parts import TaskKindPart
from proctor.core.run import Estimate
from proctor.core.sample import FreshTurn, JsonObject, Message, Sample, Turn
from proctor.core.sentence import Sentence, say
from proctor.core.task import Agent, AgentChoice, Judged, Task
from proctor.isolation import WorkerProgram, WorkerRaised, Workers
from proctor_adapters.bridge.asked import is_model
from proctor_adapters.bridge.data import GuestSource, pulled
from proctor_adapters.bridge.lmeval_scores import LmEvalMetric, LmEvalScorer, is_undeclared, values_of
from proctor_adapters.bridge.options import GuestOptions, read_options
from proctor_adapters.bridge.parity import FIRST, compare_lmeval
from proctor_adapters.bridge.program import program_of
from proctor_adapters.bridge.refusals import of_lmeval
from proctor_adapters.bridge.scoring import Scales, of_planned, planned_of

PREFIX = "lmeval:"
PROGRAM = (
    Path(__file__).with_name("guests") / "lmeval_worker_program.py"
)  # imports lm-eval, so it is never imported here
USUAL_TOKENS = 256  # of lm-eval's models for an API
SENT = ("until", "max_gen_toks", "temperature", "top_p", "do_sample")
MOST_STOPS = 4  # what chat completions take; the others are cut afterwards


class LmEvalDocument(msgspec.Struct, frozen=True):
    """A document as the worker describes it."""

    id: str
    prompt: str
    settings: dict[str, object] = {}
    repeats: int = 1
    target: Any = None


class LmEvalPlan(msgspec.Struct, frozen=True):
    """What a task holds, by the worker that loaded it."""

    documents: list[LmEvalDocument]
    metrics: list[LmEvalMetric]
    version: str = "0"
    few_shots: int = 0
    data: dict[str, Any] = {}
    sources: list[GuestSource] = []


class LmEvalFigure(msgspec.Struct, frozen=True):
    """An official figure; None is NaN, or what could not be computed."""

    value: float | None = None
    error: str = ""


def task(called: str, **options: object) -> Task:
    """Return a generation task of lm-eval, or that of a YAML file, whose prompts and verdicts come from a worker process.

    Raises:
        BadInput: it cannot be loaded, compares likelihoods, or needs what is not here.
    """
    name, given = f"{PREFIX}{called}", read_options(options)
    program, about = _program(name, given)
    plan = _plan(name, program, about)
    workers = _workers(program)
    settings = _same_settings(name, plan.documents)
    return Task(
        name=name,
        version=plan.version,
        samples=[_sample(document) for document in plan.documents],
        scorers=_scorers(plan.metrics, workers, about, stops_of(settings), given.how.scales),
        host=partial(_with_settings, settings),
        summarise=partial(
            _summarise, partial(_run, program, "totals", about), [metric.shown for metric in plan.metrics]
        ),
        provenance={
            "samples": _digest(plan),
            "few_shots": plan.few_shots,
            "settings": settings,
            "data": {**plan.data, "sources": msgspec.to_builtins(plan.sources)},
        },
        planned=len(plan.documents),
        notes=[_note(settings), *_undeclared(plan.metrics, given.how.scales)],
    )


def check_parity(called: str) -> Iterator[Checked]:
    """Compare a task played by lm-eval alone with the same task played by us, both with canned replies.

    Raises:
        BadInput: it cannot be loaded, or is no generation task.
    """
    name = f"{PREFIX}{called}"
    loaded_task = task(called)
    program, about = _program(name, read_options({}))
    yield from compare_lmeval(called, loaded_task, _called(name, program, "alone", about, first=FIRST))


def pull(called: str, **options: object) -> Sentence:
    """Load a task with the network and the files of the user, so that lm-eval fetches its data, and return what it read."""
    name, given = f"{PREFIX}{called}", read_options(options, confined=False)
    plan = _plan(name, *_program(name, given))
    return pulled(name, len(plan.documents), _digest(plan), plan.sources)


def _plan(name: str, program: WorkerProgram, about: Mapping[str, object]) -> LmEvalPlan:
    return msgspec.convert(_called(name, program, "plan", about), LmEvalPlan)


def _digest(plan: LmEvalPlan) -> str:
    return digest([document.prompt for document in plan.documents])


def _program(name: str, given: GuestOptions) -> tuple[WorkerProgram, dict[str, object]]:
    called = name.removeprefix(PREFIX)
    if called.endswith((".yaml", ".yml")):
        called = str(Path(called).expanduser().absolute())
    unsafe = {"unsafe": True} if given.how.unsafe else {}
    program = program_of(PROGRAM, "lm_eval", "lmeval", given.how, name)
    return program, {"task": called, "arguments": {**given.arguments, **unsafe}}


def _called(name: str, program: WorkerProgram, function: str, about: Mapping[str, object], **more: object) -> Any:
    try:
        return run_in_loop(lambda _: _run(program, function, about, **more))
    except WorkerRaised as error:
        raise of_lmeval(name, error) from None


def _same_settings(name: str, documents: Sequence[LmEvalDocument]) -> Mapping[str, object]:
    """Return the settings with which a task asks.

    Raises:
        BadInput: they differ between its documents, and a run has one agent with one set.
    """
    settings = documents[0].settings
    differ = sum(document.settings != settings for document in documents)
    if differ:
        raise BadInput(
            "{task} asks with other settings for {n} of {m} documents than for the first, which a run cannot do.",
            task=name,
            n=differ,
            m=len(documents),
        )
    return settings


def _scorers(
    metrics: Sequence[LmEvalMetric], workers: Workers, about: Mapping[str, object], stops: Sequence[str], scales: Scales
) -> list[LmEvalScorer]:
    """Return a scorer for each metric and filter; the first of a filter keeps the values of metrics that are not listed."""
    scorers = []
    seen: set[str] = set()
    for metric in metrics:
        names = None if metric.filter in seen else [each.name for each in metrics if each.filter == metric.filter]
        scorers.append(LmEvalScorer(metric, workers, about, stops, scales, names))
        seen.add(metric.filter)
    return scorers


def _undeclared(metrics: Sequence[LmEvalMetric], scales: Scales) -> list[Sentence]:
    """Name the metrics whose values are no scores, as nothing says whether more is better in them."""
    names = [metric.shown for metric in metrics if is_undeclared(metric, scales)]
    if not names:
        return []
    return [
        say(
            "No scores, but official figures only: {names}, as lm-eval does not say whether more is better in them. If it is, name the range of each: --set bridge.scale.NAME=LOW:HIGH",
            names=", ".join(names),
        )
    ]


def _note(settings: Mapping[str, object]) -> Sentence:
    """Say which of the settings of lm-eval reach a model."""
    shown = ", ".join(f"{key}={value}" for key, value in settings.items())
    unsent = [key for key in settings if key not in SENT]
    unsent += ["until[4:]"] if len(stops_of(settings)) > MOST_STOPS else []
    return say(
        "lm-eval asks with {settings}. Not sent: {unsent}; replies are cut at all stops. An agent that is no model is asked without any.",
        settings=shown or "-",
        unsent=", ".join(unsent) or "-",
    )


def _sample(one: LmEvalDocument) -> Sample:
    """Return a document as a sample; each repeat is a conversation of its own, as filters vote over them."""
    messages = (Message.of("user", one.prompt),)
    turns = (
        Turn(messages=messages, reference=one.target),
        *(FreshTurn(messages=messages) for _ in range(one.repeats - 1)),
    )
    return Sample(id=one.id, turns=turns, target=one.target)


def _workers(program: WorkerProgram) -> Workers:
    return Workers(
        program.path,
        paths=program.paths,
        size=1,
        limits=program.limits,
        variables=program.variables,
        confined=program.confined,
        python=program.python,
    )


async def _run(program: WorkerProgram, function: str, about: Mapping[str, object], **more: object) -> object:
    async with _workers(program) as workers:
        return await workers.run(function, **about, **more)


def stops_of(settings: JsonObject) -> list[str]:
    """Return the texts at which a reply ends."""
    until = settings.get("until") or []
    return [until] if isinstance(until, str) else [str(stop) for stop in until if stop]


def _with_settings(settings: Mapping[str, object], agent: Agent, choice: AgentChoice) -> Agent:
    """Return the agent with the settings of the task, those that the user gives before them; an agent that is no model unchanged."""
    if choice.name is None or not is_model(choice.name):
        return agent
    kind, _, argument = choice.name.partition(":")
    part = registry.AGENTS.find(kind)
    greedy = not settings.get("do_sample", False)
    wanted = {
        "temperature": settings.get("temperature", 0.0 if greedy else 1.0),
        "top_p": settings.get("top_p"),
        "max_tokens": settings.get("max_gen_toks", USUAL_TOKENS),
        "stop": stops_of(settings)[:MOST_STOPS] or None,
    }
    fields = part.options.__struct_fields__ if part.options is not None else ()
    missing = [key for key, value in wanted.items() if value is not None and key not in fields]
    if missing:
        raise BadInput(
            "The task asks for {what}, which {agent} does not take.", what=", ".join(missing), agent=choice.name
        )
    known = {key: value for key, value in wanted.items() if value is not None}
    return part.make(argument, {**known, **choice.options})


def _summarise(
    totals: Callable[..., Coroutine[Any, Any, Any]],
    listed: Sequence[str],
    estimates: Sequence[Estimate],
    judged: Judged,
) -> Sequence[Estimate]:
    values: dict[str, list[object]] = {}
    for _sample_of, verdict in judged():
        for name, value in values_of(verdict):
            values.setdefault(name, []).append(value)
    if not values:
        return []
    try:
        figures = msgspec.convert(run_in_loop(lambda _: totals(values=values)), dict[str, LmEvalFigure])
    except WorkerRaised as error:
        note = say("lm-eval could not compute its figures: {error}", error=str(error))
        return [Estimate(name="official", value=None, note=note)]
    return [
        _estimate(name, figures[name], len(of), planned_of(estimates, len(of)), is_listed=name in listed)
        for name, of in values.items()
    ]


def _estimate(name: str, figure: LmEvalFigure, scored: int, planned: int, *, is_listed: bool) -> Estimate:
    note = of_planned(scored, planned)
    if figure.value is None:
        note = say("lm-eval has no figure here: {error}", error=figure.error or "NaN")
    elif not is_listed and not note:
        note = say("The task does not list this metric, so it is no score: lm-eval takes the mean of its values.")
    return Estimate(
        name=f"{name} (lm-eval)",
        value=figure.value,
        scored=scored,
        planned=planned,
        unit="number",
        method="lm-eval",
        note=note,
    )


PART = TaskKindPart(task=task, check=check_parity, pull=pull)
