"""A function of the user answers a task of Inspect, played by Inspect itself: `python in_inspect_agent.py`."""

import tempfile

from proctor import inspect_agent


def doubled(question: str) -> str:
    return str(2 * int(question.rsplit(maxsplit=1)[-1]))


def main() -> None:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import match

    samples = [Sample(input=f"Double {n}", target=str(2 * n)) for n in range(4)]
    samples.append(Sample(input="Double 5", target="11"))
    with tempfile.TemporaryDirectory() as folder:
        task = Task(dataset=samples, scorer=match(numeric=True))
        (log,) = evaluate(task, solver=inspect_agent(doubled), model=None, log_dir=folder, display="none")
    assert log.status == "success", log.error
    print(log.results.scores[0].metrics["accuracy"].value)


if __name__ == "__main__":
    main()
