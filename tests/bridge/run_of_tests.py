"""Run a task of the guest that stands in for Inspect: `python run_of_tests.py URL STORE ATTEMPTS`; tests kill it."""

import sys
from pathlib import Path

import proctor
from proctor.isolation import WorkerProgram
from proctor_adapters.bridge import inspect as bridged


def main() -> None:
    url, store, attempts = sys.argv[1:]
    bridged.program_of = lambda *_: WorkerProgram(path=Path(__file__).with_name("guest_program_of_tests.py"))  # type: ignore[attr-defined]
    run = proctor.evaluate(
        "inspect:sums",
        agent="openai:m",
        agent_options={"base_url": url, "retries": 0},
        attempts=int(attempts),
        concurrency=8,
        store=store,
        run_id="killed",
        retry_failed=True,
        cache=True,
    )
    print(dict(run.outcomes))


if __name__ == "__main__":
    main()
