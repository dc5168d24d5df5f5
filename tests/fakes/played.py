"""Talk to an agent as the engine does, and look at what it did."""

from collections.abc import Sequence

from proctor.core.sample import Message, Sample, ToolResult, Turn
from proctor.core.task import Agent, Task
from proctor.core.trajectory import Step, Trajectory

SAMPLE = Sample.ask("one", "Hello?")


async def played(agent: Agent, *texts: str, system: str = "") -> list[Sequence[Step]]:
    """The steps of each turn of one conversation."""
    first = (Message.of("system", system),) if system else ()
    async with agent.open(SAMPLE, None) as session:
        return [
            await session.send(Turn(messages=(*(first if number == 0 else ()), Message.of("user", text))))
            for number, text in enumerate(texts)
        ]


def outline(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """Author and content of each step, in brief: calls as `name(arguments)#id`, results as `name -> content#id`."""
    return [(step.author, _brief(step)) for step in steps]


def answer(steps: Sequence[Step]) -> str:
    """The answer of a turn."""
    return Trajectory(steps=tuple(steps)).answer


def conversations(count: int, turns: int = 2) -> Task:
    """So many samples of so many turns each, scored by whether there is an answer."""
    samples = [
        Sample(
            id=f"sample-{number}",
            turns=tuple(Turn(messages=(Message.of("user", f"question {number}.{turn}"),)) for turn in range(turns)),
            target=f"question {number}.{turns - 1}",
        )
        for number in range(count)
    ]
    return Task(name="conversations", samples=samples, scorers=["exact:contains"])


def _brief(step: Step) -> str:
    message = step.message
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    if results:
        return ", ".join(
            f"{part.name} -> {'error: ' if part.is_error else ''}{part.content}#{part.id}" for part in results
        )
    calls = ", ".join(f"{call.name}({call.arguments_text()})#{call.id}" for call in message.calls)
    return " ".join(filter(None, (message.text, calls)))
