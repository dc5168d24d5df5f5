"""Generation tasks of lm-eval: `lmeval:TASK`, or `lmeval:./FILE.yaml`.

lm-eval has one prompt with fixed settings for each document, so a sample is that prompt, the trial is ours, and a worker only builds
the prompts and scores the replies.
"""

from collections.abc import Iterator, Mapping, Sequence
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
from proctor.core.sample import FreshTurn, Message, Sample, Turn
from proctor.core.sentence import say
from proctor.core.task import Agent, AgentChoice, Judged, Task
from proctor.isolation import WorkerProgram, WorkerRaised, Workers
from proctor_adapters.bridge.asked import is_model
from proctor_adapters.bridge.lmeval_scores import SUFFIX, LmEvalMetric, LmEvalScorer
from proctor_adapters.bridge.options import GuestOptions, read_options
from proctor_adapters.bridge.parity import FIRST, compare_lmeval
from proctor_adapters.bridge.program import program_of
from proctor_adapters.bridge.refusals import of_lmeval

PREFIX = "lmeval:"
PROGRAM = (
    Path(__file__).with_name("guests") / "lmeval_worker_program.py"
)  # imports lm-eval, so it is never imported here
USUAL_TOKENS = 256  # of lm-eval's models for an API
MOST_STOPS = 4  # what chat completions take; the others are cut afterwards


class LmEvalDocument(msgspec.Struct, frozen=True):
    """A document as the worker describes it."""

    id: str
    prompt: str
    settings: dict[str, Any] = {}
    repeats: int = 1
    target: Any = None


class LmEvalPlan(msgspec.Struct, frozen=True):
    """What a task holds, by the worker that loaded it."""

    documents: list[LmEvalDocument]
    metrics: list[LmEvalMetric]
    version: str = "0"
    few_shots: int = 0
    data: dict[str, Any] = {}


def task(called: str, **options: Any) -> Task:
    """Return a generation task of lm-eval, or that of a YAML file, whose prompts and verdicts come from a worker process.

    Raises:
        BadInput: it cannot be loaded, compares likelihoods, or needs what is not here.
    """
    name, given = f"{PREFIX}{called}", read_options(options)
    program, about = _program(name, given)
    plan = msgspec.convert(_called(name, program, "plan", about), LmEvalPlan)
    workers = _workers(program)
    settings = plan.documents[0].settings
    return Task(
        name=name,
        version=plan.version,
        samples=[_sample(one) for one in plan.documents],
        scorers=[LmEvalScorer(metric, workers, about, stops_of(settings), given.how.scales) for metric in plan.metrics],
        host=partial(_with_settings, settings),
        summarise=partial(_summarise, program, about),
        provenance={
            "samples": digest([one.prompt for one in plan.documents]),
            "few_shots": plan.few_shots,
            "settings": settings,
            "data": plan.data,
        },
        planned=len(plan.documents),
        notes=[say("lm-eval asks with {settings}.", settings=", ".join(f"{key}={settings[key]}" for key in settings))],
    )


def check_parity(called: str) -> Iterator[Checked]:
    """Compare a task played by lm-eval alone with the same task played by us, both with canned replies.

    Raises:
        BadInput: it cannot be loaded, or is no generation task.
    """
    name = f"{PREFIX}{called}"
    made = task(called)
    program, about = _program(name, read_options({}))
    yield from compare_lmeval(called, made, _called(name, program, "alone", about, first=FIRST))


def _program(name: str, given: GuestOptions) -> tuple[WorkerProgram, dict[str, Any]]:
    called = name.removeprefix(PREFIX)
    if called.endswith((".yaml", ".yml")):
        called = str(Path(called).expanduser().absolute())
    unsafe = {"unsafe": True} if given.how.unsafe else {}
    program = program_of(PROGRAM, "lm_eval", "lmeval", given.how, name)
    return program, {"task": called, "arguments": {**given.arguments, **unsafe}}


def _called(name: str, program: WorkerProgram, function: str, about: Mapping[str, Any], **more: object) -> Any:
    try:
        return run_in_loop(lambda _: _run(program, function, about, **more))
    except WorkerRaised as error:
        raise of_lmeval(name, error) from None


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


async def _run(program: WorkerProgram, function: str, about: Mapping[str, Any], **more: object) -> Any:
    async with _workers(program) as workers:
        return await workers.run(function, **about, **more)


def stops_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the texts at which a reply ends."""
    until = settings.get("until") or []
    return [until] if isinstance(until, str) else [str(one) for one in until if one]


def _with_settings(settings: Mapping[str, Any], agent: Agent, choice: AgentChoice) -> Agent:
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
    program: WorkerProgram, about: Mapping[str, Any], _: Sequence[Estimate], judged: Judged
) -> Sequence[Estimate]:
    values: dict[str, list[Any]] = {}
    for _sample_of, verdict in judged():
        raw = verdict.result.details.get("lmeval")
        if isinstance(raw, Mapping) and verdict.scorer.endswith(SUFFIX):
            values.setdefault(verdict.scorer.removesuffix(SUFFIX), []).append(raw["value"])
    if not values:
        return []
    try:
        found = run_in_loop(lambda _: _run(program, "totals", about, values=values))
    except WorkerRaised as error:
        note = say("lm-eval could not compute its figures: {error}", error=str(error))
        return [Estimate(name="official", value=None, note=note)]
    return [
        Estimate(
            name=f"{name} (lm-eval)",
            value=value,
            scored=len(values[name]),
            planned=len(values[name]),
            unit="number",
            method="lm-eval",
        )
        for name, value in found.items()
    ]


PART = TaskKindPart(task=task, check=check_parity)
