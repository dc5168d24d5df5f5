"""The same questions as a run with everything: agent, scorer, store and numbers.

python -m bench.pipeline URL COUNT AT_ONCE STORE
"""

import sys
from collections.abc import Iterator

from bench.sums import question
from proctor import Sample, Task, evaluate


def main() -> None:
    """Read the arguments, and print how many answers were right."""
    url, count, at_once, store = sys.argv[1:]

    def samples() -> Iterator[Sample]:
        for number in range(int(count)):
            text, target = question(number)
            yield Sample.ask(str(number), text, target=target)

    run = evaluate(
        Task(name="sums", samples=samples, scorers=["exact"]),
        agent="openai:mock",
        agent_options={"base_url": url},
        concurrency=int(at_once),
        store=store,
    )
    assert run.outcomes == {"scored": int(count)}, run.outcomes
    print(round((run.estimate("accuracy").value or 0.0) * int(count)))


if __name__ == "__main__":
    main()
