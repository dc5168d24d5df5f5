"""Runs made by hand for tests of reports and exports: a BFCL-like one with every outcome, and a hostile one."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from memory_store import MemoryStore

from proctor.core.run import Estimate, RunRecord, RunSpec
from proctor.core.sample import Message, Reasoning, Sample, Text, ToolCall, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.trial import FailedRequest, Trial, TrialFailure, Verdict
from proctor.stats.estimate import metrics

HOSTILE = (
    "</pre><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)> \x1b[31mred\x1b[0m \u202egnp.exe\u202c"
    " \x00 [a](javascript:alert(1)) ![b](http://evil.example/b.png) ``` | \ud800 {n} [bold]markup[/bold]"
)
TOKENS = Usage(input_tokens=412, output_tokens=37, requests=1)


def record(id: str, **given: Any) -> RunRecord:
    spec = RunSpec(task=given.get("task", "bfcl"), agent="openai:small", **given.pop("spec", {}))
    values: dict[str, Any] = {
        "task": "bfcl",
        "task_version": "2026.3.23",
        "agent": "openai:small",
        "scorers": ("bfcl",),
        "state": "finished",
        "created": 1_790_000_000.0,
        "seconds": 83.4,
        "proctor_version": "0.1.0",
    }
    return RunRecord(id=id, spec=spec, **(values | given))


async def fill(
    store: MemoryStore,
    run: RunRecord,
    played: Sequence[tuple[Sample, Trial, Sequence[Verdict]]],
    planned: int | None = None,
) -> list[Estimate]:
    """Put a run into a store, and give the estimates that the API would."""
    await store.begin(run)
    await store.plan(run.id, list({sample.id: sample for sample, _, _ in played}.values()))
    for sample, trial, verdicts in played:
        await store.add(trial, verdicts, sample)
    await store.end(run)
    several = len(run.scorers) > 1
    return [
        one
        for scorer in run.scorers
        for slice, tally in store.tallies(run.id, scorer).items()
        for one in metrics(tally, slice=slice, prefix=f"{scorer}." if several else "")
    ]


def played(
    run_id: str,
    sample: Sample,
    result: Score | Unscored | None = None,
    *,
    calls: Sequence[ToolCall] = (),
    answer: str = "",
    scorer: str = "bfcl",
    **given: Any,
) -> tuple[Sample, Trial, list[Verdict]]:
    """A sample with its trial and, unless it was not scored, a verdict."""
    parts = (*((Text(text=answer),) if answer else ()), *calls)
    steps = (Step(message=Message(role="assistant", parts=parts), usage=TOKENS),) if parts else ()
    values: dict[str, Any] = {
        "outcome": "scored",
        "seconds": 0.8,
        "usage": TOKENS,
        "trajectory": Trajectory(steps=steps, tools="native", stop=given.pop("stop", "done")),
    }
    trial = Trial(run_id=run_id, sample_id=sample.id, **(values | given))
    if result is None:
        return sample, trial, []
    verdict = Verdict(run_id=run_id, sample_id=sample.id, attempt=trial.attempt, scorer=scorer, result=result)
    return sample, trial, [verdict]


def question(id: str, text: str, answers: Sequence[Mapping[str, Any]] | None, *, group: str = "non_live") -> Sample:
    category = id.rpartition("_")[0]
    return Sample(
        id=id,
        turns=(Turn(messages=(Message.of("user", text),), reference=answers),),
        target=answers,
        tags={"category": category, "group": group},
    )


async def small_run(store: MemoryStore) -> tuple[RunRecord, list[Estimate]]:
    """Seven samples, one for each way a trial can end that a report tells apart."""
    run = record(
        "small",
        planned=7,
        spec={"task_options": {"mode": "native"}, "agent_options": {"temperature": 0, "api_key": "sk-very-secret"}},
        provenance={"package": "bfcl-eval", "version": "2026.3.23", "warnings": ["A file differs."]},
    )
    area = [{"geometry.area": {"base": [10], "height": [5], "unit": ["cm", ""]}}]
    wrong = Score(
        points=0,
        reason=say("Expected {target}, got {answer}.", target="5", answer="50"),
        details={
            "error_class": "wrong_param_value",
            "error_type": "value_error:others",
            "function": "geometry.area",
            "parameter": "height",
            "parameter_accuracy": 0.5,
        },
    )
    right = Score(points=1, details={"parameter_accuracy": 1.0})
    missing = Score(
        points=0,
        reason="The second call is missing.",
        details={"error_class": "missing_call", "error_type": "parallel:wrong_count"},
    )
    two = [{"play": {"artist": ["Bach"], "minutes": [20]}}, {"play": {"artist": ["Brahms"], "minutes": [15]}}]
    estimates = await fill(
        store,
        run,
        [
            played(
                run.id,
                question("simple_python_0", "Area of a triangle, base 10, height 5?", area),
                right,
                calls=[_area(5)],
            ),
            played(run.id, question("simple_python_1", "The same, in cm?", area), wrong, calls=[_area(50)]),
            played(
                run.id,
                question("parallel_0", "Play 20 minutes of Bach and 15 of Brahms.", two),
                missing,
                calls=[ToolCall(name="play", arguments={"artist": "Brahms", "minutes": 15})],
            ),
            played(
                run.id,
                question("irrelevance_0", "What is the weather?", None),
                Score(points=0, reason="A call was made.", details={"error_class": "unnecessary_call"}),
                calls=[_area(1)],
            ),
            played(
                run.id,
                question("irrelevance_1", "Who are you?", None),
                outcome="agent_failed",
                failure=TrialFailure(kind="raised", reason="The agent raised ValueError: no"),
            ),
            played(
                run.id,
                question("parallel_1", "Play again.", two),
                outcome="provider_failed",
                failure=TrialFailure(kind="status_503", reason="The endpoint answered 503 four times."),
                retries=(FailedRequest(cause="status", status=503, waited_seconds=1.5),),
            ),
            played(
                run.id,
                question("simple_python_2", "And now?", area),
                Unscored(why="scorer_failed", reason="The scorer raised KeyError: 'x'"),
                answer="I do not know.",
                stop="length",
            ),
        ],
    )
    official = [
        Estimate(
            name="overall",
            value=None,
            floor=0.05,
            ceiling=0.8,
            scored=5,
            planned=7,
            note=say("not run: {categories}", categories="live, agentic"),
        ),
        Estimate(
            name="official_overall",
            value=0.0417,
            note=say("counted as 0, as the official tool does: {categories}", categories="live, agentic"),
        ),
    ]
    return run, [*official, *estimates]


async def hostile_run(store: MemoryStore) -> tuple[RunRecord, list[Estimate]]:
    """A run in which every text that a model, an agent or a data set can choose is hostile."""
    run = record(
        "hostile",
        planned=3,
        task=HOSTILE,
        agent=HOSTILE,
        task_version=HOSTILE,
        scorers=(HOSTILE,),
        provenance={HOSTILE: HOSTILE, "warnings": [HOSTILE]},
        spec={"agent_options": {HOSTILE: HOSTILE}},
    )
    details = {"error_class": HOSTILE, "error_type": HOSTILE, "function": HOSTILE, "parameter": HOSTILE}
    wrong = Score(
        points=0,
        answer=HOSTILE,
        reason=say("Expected {target}, got {answer}.", target=HOSTILE, answer=HOSTILE),
        details=details,
    )
    sample = Sample(
        id=HOSTILE,
        turns=(Turn(messages=(Message.of("system", HOSTILE), Message.of("user", HOSTILE))),),
        target=[{HOSTILE: {HOSTILE: [HOSTILE]}}],
        tags={"category": HOSTILE, HOSTILE: HOSTILE},
    )
    thinking = Step(message=Message(role="assistant", parts=(Reasoning(text=HOSTILE), Text(text=HOSTILE))))
    failed = played(
        run.id,
        Sample.ask("failed", HOSTILE),
        outcome="agent_failed",
        failure=TrialFailure(
            kind=HOSTILE, reason=say("The agent raised {kind}: {error}", kind=HOSTILE, error=HOSTILE), detail=HOSTILE
        ),
        trajectory=Trajectory(steps=(thinking,)),
    )
    lost = played(
        run.id,
        Sample.ask("lost", HOSTILE, target=HOSTILE),
        Unscored(why="judge_failed", reason=HOSTILE),
        scorer=HOSTILE,
        answer=HOSTILE,
    )
    call = ToolCall(name=HOSTILE, arguments={HOSTILE: HOSTILE, "other": [HOSTILE]})
    estimates = await fill(
        store, run, [played(run.id, sample, wrong, calls=[call], answer=HOSTILE, scorer=HOSTILE), failed, lost]
    )
    return run, [Estimate(name=HOSTILE, value=0.5, note=HOSTILE), *estimates]


async def large_run(store: MemoryStore, count: int = 1_200, seed: int = 1) -> tuple[RunRecord, list[Estimate]]:
    """Many samples over six categories, with plausible errors: to look at, and to measure with."""
    draw = random.Random(seed)
    rates = {
        "simple_python": 0.86,
        "simple_java": 0.62,
        "multiple": 0.81,
        "parallel": 0.55,
        "live_simple": 0.7,
        "live_multiple": 0.66,
    }
    errors = ["wrong_param_value", "missing_param", "wrong_function", "format_error", "missing_call", "extra_call"]
    rows = []
    for number in range(count):
        category = list(rates)[number % len(rates)]
        group = "live" if category.startswith("live") else "non_live"
        answers = [{"find_route": {"start": ["Ulm"], "end": ["Bonn"], "by": ["train", ""], "stops": [[1, 2]]}}]
        sample = question(f"{category}_{number}", f"Route number {number} from Ulm to Bonn?", answers, group=group)
        call = ToolCall(
            name="find_route", arguments={"start": "Ulm", "end": "Bonn" if number % 3 else "Born", "stops": [1, 2]}
        )
        lucky, seconds = draw.random(), draw.lognormvariate(0, 0.5)
        if lucky < rates[category]:
            rows.append(played("large", sample, Score(points=1, details={"f1": 1.0}), calls=[call], seconds=seconds))
        elif draw.random() < 0.06:
            failure = TrialFailure(kind="timeout", reason="No reply within 60 seconds.")
            rows.append(played("large", sample, outcome="provider_failed", failure=failure, seconds=60.0))
        else:
            kind = draw.choices(errors, weights=[9, 5, 4, 3, 2, 1])[0]
            details = {"error_class": kind, "error_type": f"checker:{kind}", "parameter": "end", "f1": 0.5}
            reason = say("Expected {target}, got {answer}.", target="end = 'Bonn'", answer="'Born'")
            rows.append(
                played("large", sample, Score(points=0, reason=reason, details=details), calls=[call], seconds=seconds)
            )
    run = record("large", planned=count)
    return run, await fill(store, run, rows)


def _area(height: int) -> ToolCall:
    return ToolCall(name="geometry.area", arguments={"base": 10, "height": height})
