"""A store with a run whose trials have something to find: repeated calls, claims without a call, a hostile text, sound ones."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from example_runs import HOSTILE

from proctor.core.run import RunRecord, RunSpec
from proctor.core.sample import Message, Sample, Text, ToolCall, ToolResult
from proctor.core.score import Score
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Trial, Verdict
from proctor.stores import open_store

RUN = "orders"
LOOPS = 5
CLAIMS = 8
SOUND = 20
CLAIM = "I have cancelled order"


def write(folder: Path, also: Sequence[tuple[str, int]] = ()) -> Path:
    """Write the store, and return its path; `also` are more claims, by sample and attempt."""
    path = folder / "runs.db"
    asyncio.run(_fill(path, also))
    return path


async def _fill(path: Path, also: Sequence[tuple[str, int]]) -> None:
    store = open_store(str(path))
    trials = [
        *(_trial(f"loop-{number}", [_look("W1")] * 4, "Your order is paid.", 0) for number in range(LOOPS)),
        *(_trial(f"claim-{number}", [_look(f"W{number}")], f"{CLAIM} W{number}.", 1) for number in range(CLAIMS - 1)),
        _trial("claim-hostile", [_look("W9")], f"{CLAIM} {HOSTILE}.", 1),
        *(_trial(id, [_look("W")], f"{CLAIM} W.", 1, attempt) for id, attempt in also),
        *(_trial(f"sound-{number}", [_look(f"W{number}")], "Your order is paid.", 1) for number in range(SOUND)),
    ]
    record = RunRecord(
        id=RUN,
        spec=RunSpec(task="orders", agent="openai:small"),
        task="orders",
        task_version="1",
        agent="openai:small",
        scorers=("exact",),
        planned=len(trials),
        state="finished",
        created=1_790_000_000.0,
    )
    try:
        await store.begin(record)
        await store.plan(RUN, [*{sample.id: sample for sample, _, _ in trials}.values()])
        for sample, trial, verdict in trials:
            await store.add(trial, [verdict], sample)
        await store.end(record)
    finally:
        store.close()


def _look(order: str) -> ToolCall:
    return ToolCall(id=f"call-{order}", name="get_order", arguments={"id": order})


def _trial(
    id: str, calls: list[ToolCall], answer: str, points: float, attempt: int = 0
) -> tuple[Sample, Trial, Verdict]:
    sample = Sample.ask(id, f"Cancel my order, please. This is request {id}.", target="done")
    steps = []
    for call in calls:
        steps.append(Step(message=Message(role="assistant", parts=(call,))))
        result = ToolResult(id=call.id, name=call.name, content='{"status": "paid"}')
        steps.append(Step(message=Message(role="tool", parts=(result,))))
    steps.append(Step(message=Message(role="assistant", parts=(Text(text=answer),))))
    trajectory = Trajectory(steps=tuple(steps))
    trial = Trial(run_id=RUN, sample_id=id, attempt=attempt, outcome="scored", trajectory=trajectory)
    score = Score(points=points, answer=answer)
    verdict = Verdict(run_id=RUN, sample_id=id, attempt=attempt, scorer="exact", scorer_version="1", result=score)
    return sample, trial, verdict
