"""Write a run as the official tool does: one `results.json` for each domain, which it loads and evaluates again."""

import datetime
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trial import Outcome, Trial
from proctor.runtime.files import write_whole
from proctor_benchmarks.tau2 import dataset
from proctor_benchmarks.tau2.progress import EndRules, rules_of
from proctor_benchmarks.tau2.scorer import ended_of

REASON_BY_OUTCOME: dict[Outcome, str] = {
    "agent_failed": "agent_error",
    "user_failed": "user_error",
    "provider_failed": "infrastructure_error",
    "environment_failed": "infrastructure_error",
    "awaiting_approval": "infrastructure_error",
    "undecided": "infrastructure_error",
}


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the result files below `folder`, one folder for each domain, and say which.

    Trials that broke are written as the official tool would end them; those that were skipped are left out.

    Raises:
        BadInput: a sample that is not of tau2, or nothing to write.
    """
    tasks: dict[str, dict[str, object]] = {}
    runs: dict[str, list[dict[str, object]]] = {}
    rules = EndRules()
    for sample, trial in trials:
        domain = sample.meta.get("domain")
        if domain not in dataset.DOMAINS:
            raise BadInput("The sample '{id}' is not of tau2.", id=sample.id)
        if trial.outcome == "scored" or trial.outcome in REASON_BY_OUTCOME:
            tasks.setdefault(domain, {})[sample.meta["task"]["id"]] = sample.meta["task"]
            runs.setdefault(domain, []).append(_simulation(sample, trial))
            rules = rules_of(sample)
    if not runs:
        raise BadInput("The run holds no scored trial to export.")
    return [
        write_whole(folder / domain / "results.json", _text(domain, tasks[domain], simulations, model, rules))
        for domain, simulations in runs.items()
    ]


def _text(domain: str, tasks: dict[str, object], simulations: list[dict[str, Any]], model: str, rules: EndRules) -> str:
    info = {
        "git_commit": dataset.COMMIT,
        "num_trials": 1 + max(simulation["trial"] for simulation in simulations),
        "max_steps": rules.max_steps,
        "max_errors": rules.max_errors,
        "user_info": {"implementation": "dummy_user" if rules.solo else "user_simulator"},
        "agent_info": {"implementation": "llm_agent_solo" if rules.solo else "llm_agent", "llm": model},
        "environment_info": {"domain_name": domain, "policy": ""},
    }
    whole = {"timestamp": simulations[0]["start_time"], "info": info, "tasks": [*tasks.values()], "simulations": simulations}  # fmt: skip
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _simulation(sample: Sample, trial: Trial) -> dict[str, object]:
    ended = ended_of(dataset.parsed(sample.meta["task"]), trial.trajectory, rules_of(sample))
    return {
        "id": f"{trial.run_id}-{sample.id}-{trial.attempt}",
        "task_id": sample.meta["task"]["id"],
        "start_time": _time(trial.started),
        "end_time": _time(trial.started + trial.seconds),
        "duration": trial.seconds,
        "termination_reason": REASON_BY_OUTCOME.get(trial.outcome, ended.reason),
        "agent_cost": trial.usage.cost,
        "messages": [{"turn_idx": index, **message} for index, message in enumerate(ended.messages)],
        "trial": trial.attempt,
    }


def _time(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(tzinfo=None).isoformat()
