"""Tasks of Inspect for the tests of the bridge; Inspect loads this file in a worker."""

import asyncio
import os
import random
import socket
from enum import StrEnum
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import Sample, hf_dataset
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, GenerateConfig, get_model
from inspect_ai.scorer import SampleScore, Score, accuracy, match, mean, metric, model_graded_qa, scorer, stderr
from inspect_ai.solver import generate, solver, system_message, use_tools
from inspect_ai.tool import tool


def additions(count: int, metadata: dict[str, Any] | None = None) -> list[Sample]:
    return [
        Sample(id=f"s{n}", input=f"What is {n} + 3?", target=str(n + 3), metadata=metadata or {}) for n in range(count)
    ]


@task
def sums(count: int = 6) -> Task:
    solving = [system_message("Answer with the number only."), generate()]
    return Task(dataset=additions(count), solver=solving, scorer=match(numeric=True), epochs=2)


@task
def cold(count: int = 2) -> Task:
    config = GenerateConfig(temperature=0.0, max_tokens=5, stop_seqs=["END"], seed=7)
    return Task(dataset=additions(count), solver=generate(), scorer=match(numeric=True), config=config)


@scorer(metrics={"length": [mean(), stderr()], "digits": [mean()]})
def parts() -> Any:
    async def score(state: Any, target: Any) -> Score:
        text = state.output.completion
        return Score(value={"length": len(text), "digits": float(text.isdigit())}, explanation="counted")

    return score


@scorer(metrics=[accuracy()])
def moody() -> Any:
    async def score(state: Any, target: Any) -> Score:
        return Score(value=float("nan") if state.sample_id == "s0" else "P", explanation="no idea")

    return score


@task
def several() -> Task:
    return Task(dataset=additions(3), solver=generate(), scorer=[match(numeric=True), parts(), moody()])


@solver
def failing() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        if state.sample_id == "s1":
            raise ValueError("the tool of this sample is broken")
        if state.sample_id == "s2":
            for _ in range(20):
                state = await generate(state)
            return state
        return await generate(state)

    return solve


@task
def troubled() -> Task:
    return Task(dataset=additions(4), solver=failing(), scorer=match(numeric=True), message_limit=6)


@task
def graded() -> Task:
    return Task(dataset=additions(2), solver=generate(), scorer=model_graded_qa())


@solver
def asks_by_name() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        hint = await get_model("anthropic/claude-x").generate("A hint, please")
        state.messages[-1].content += f" Hint: {hint.completion}"
        return await generate(state)

    return solve


@task
def hinted() -> Task:
    return Task(dataset=additions(2), solver=asks_by_name(), scorer=match(numeric=True))


@tool
def add() -> Any:
    async def execute(x: int, y: int) -> int:
        """Add two numbers.

        Args:
            x: One number.
            y: Another.
        """
        return x + y

    return execute


@task
def calculator() -> Task:
    return Task(dataset=additions(2), solver=[use_tools(add()), generate()], scorer=match(numeric=True))


@tool
def nap() -> Any:
    async def execute(seconds: int) -> str:
        """Wait.

        Args:
            seconds: How long.
        """
        await asyncio.sleep(seconds)
        return "rested"

    return execute


@task
def napping() -> Task:
    return Task(dataset=additions(1), solver=[use_tools(nap()), generate()], scorer=match(numeric=True))


@scorer(metrics=[accuracy()])
def dawdling() -> Any:
    async def score(state: Any, target: Any) -> Score:
        await asyncio.sleep(60)
        return Score(value="C")

    return score


@task
def graded_slowly() -> Task:
    return Task(dataset=additions(1), solver=[use_tools(nap()), generate(tool_calls="none")], scorer=dawdling())


@task
def bounded() -> Task:
    return Task(dataset=additions(1), solver=generate(), scorer=match(numeric=True), working_limit=3)


@task
def fresh() -> Task:
    samples = [Sample(id=n, input=f"Say {random.random()}", target="x") for n in range(3)]
    return Task(dataset=samples, solver=generate(), scorer=match())


@task
def pictured() -> Task:
    """Images are written below the cache when the task is loaded, as tasks do with those of a data set."""
    folder = Path(os.environ["XDG_CACHE_HOME"], "inspect_evals")
    folder.mkdir(parents=True, exist_ok=True)
    samples = []
    for n in range(2):
        path = folder / f"{n}.png"
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes([n]))
        content = [ContentText(text=f"What is {n} + 3?"), ContentImage(image=str(path))]
        samples.append(Sample(id=f"s{n}", input=[ChatMessageUser(content=content)], target=str(n + 3)))
    return Task(dataset=samples, solver=generate(), scorer=match(numeric=True))


@task
def repeated() -> Task:
    epochs = Epochs(3, ["mean", "pass_at_2"])
    return Task(dataset=additions(2), solver=generate(), scorer=match(numeric=True), epochs=epochs)


class Level(StrEnum):
    low = "the low"
    high = "the high"


@metric
def share_of(level: Level) -> Any:
    def share(scores: list[SampleScore]) -> Any:
        return {f"{level!r}": sum(score.score.as_float() for score in scores) / len(scores)}

    return share


@scorer(metrics=[share_of(Level.low), share_of(Level.high)])
def levelled() -> Any:
    async def score(state: Any, target: Any) -> Score:
        return Score(value=float(state.output.completion == target.text))

    return score


@task
def levels() -> Task:
    return Task(dataset=additions(2), solver=generate(), scorer=levelled())


@task
def of_the_hub() -> Task:
    return Task(dataset=hf_dataset("someone/sums", split="test", revision="v1"), solver=generate(), scorer=match())


@scorer(metrics=[accuracy()])
def confined(port: int, key: str) -> Any:
    """Full marks where no secret is seen and nothing outside is reached."""

    async def score(state: Any, target: Any) -> Score:
        seen = [name for name, value in os.environ.items() if key in value]
        reached = []
        for host in ("127.0.0.1", "::1", "192.0.2.1"):
            try:
                socket.create_connection((host, port), timeout=1).close()
            except OSError:
                continue
            reached.append(host)
        return Score(value=0 if seen or reached else 1, explanation=f"{seen} {reached}")

    return score


@task
def looking_around(port: int, key: str) -> Task:
    return Task(dataset=additions(1), solver=generate(), scorer=confined(port, key))
