"""The same questions as a run with everything: agent, scorer, store and numbers.

    python -m bench.pipeline URL COUNT AT_ONCE STORE

With `-` as URL the agent is a function that answers at once. Prints how many answers were right, and the peak of
resident memory in MB.
"""

import resource
import sys
from collections.abc import Iterator
from typing import Any

from bench.sums import question
from proctor import Sample, Task, evaluate


def main() -> None:
    """Read the arguments, and run."""
    url, count, at_once, store = sys.argv[1:]

    def samples() -> Iterator[Sample]:
        for number in range(int(count)):
            text, target = question(number)
            yield Sample.ask(str(number), text, target=target)

    task = Task(name="sums", samples=samples, scorers=["exact"])
    how: dict[str, Any] = (
        {"agent": right} if url == "-" else {"agent": "openai:mock", "agent_options": {"base_url": url}}
    )
    run = evaluate(task, concurrency=int(at_once), store=store, **how)
    assert run.outcomes == {"scored": int(count)}, run.outcomes
    share = run.estimate("accuracy").value or 0.0
    print(round(share * int(count)), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


async def right(text: str) -> str:
    """An agent that is right at once."""
    return question(int(text.partition(".")[0].removeprefix("Sample ")))[1]


if __name__ == "__main__":
    main()
